"""The tree of an expression. `x != y` is read as `NOT x = y`, which is how CESQL defines it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from fyke.filters.dialects.cesql.values import Primitive

NOT_AN_ATTRIBUTE: Final = "data"
"""The one name that is never a context attribute: CESQL does not see an event's data."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A node; `depth` counts the levels below and including it."""

    depth: int = field(init=False, repr=False, compare=False, default=1)

    def __post_init__(self) -> None:
        deepest = max((child.depth for child in self.children), default=0)
        object.__setattr__(self, "depth", deepest + 1)

    @property
    def children(self) -> tuple[Expression, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    value: Primitive


@dataclass(frozen=True, slots=True)
class Variable(Expression):
    name: str


@dataclass(frozen=True, slots=True)
class ExistsTest(Expression):
    name: str


@dataclass(frozen=True, slots=True)
class _Unary(Expression):
    operand: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class LogicNot(_Unary):
    pass


@dataclass(frozen=True, slots=True)
class Negate(_Unary):
    """Minus."""


@dataclass(frozen=True, slots=True)
class LikeTest(_Unary):
    pattern: str


@dataclass(frozen=True, slots=True)
class IsIn(_Unary):
    items: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.operand, *self.items)


@dataclass(frozen=True, slots=True)
class _Binary(Expression):
    operator: str
    left: Expression
    right: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class Arithmetic(_Binary):
    """+ - * / %"""


@dataclass(frozen=True, slots=True)
class Comparison(_Binary):
    """= < <= > >="""


@dataclass(frozen=True, slots=True)
class Logic(Expression):
    """AND, OR, XOR of two or more operands, folded from the left."""

    operator: str
    operands: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.operands


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function's name in capitals, and its arguments."""

    name: str
    arguments: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.arguments


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield every node, parents first."""
    todo = [expression]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(reversed(node.children))


def names(expression: Expression) -> frozenset[str]:
    """Return the attributes that evaluation may look at."""
    return frozenset(
        node.name
        for node in walk(expression)
        if isinstance(node, (Variable, ExistsTest)) and node.name != NOT_AN_ATTRIBUTE
    )


# --- back to text ---------------------------------------------------------------------------------


def to_text(expression: Expression) -> str:
    """Return text that reads back as the same tree."""
    match expression:
        case Literal(value):
            return quoted(value) if isinstance(value, str) else str(value).upper()
        case Variable(name):
            return name
        case ExistsTest(name):
            return f"EXISTS {name}"
        case LogicNot(operand):
            return f"NOT {_operand(operand)}"
        case Negate(operand):
            return f"- {_operand(operand)}"
        case LikeTest(operand, pattern):
            return f"{_operand(operand)} LIKE {quoted(pattern)}"
        case IsIn(operand, items):
            return f"{_operand(operand)} IN ({', '.join(map(to_text, items))})"
        case Logic(operator, operands):
            return f" {operator} ".join(map(_operand, operands))
        case Call(name, arguments):
            return f"{name}({', '.join(map(to_text, arguments))})"
        case _Binary(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"
    raise TypeError(f"no text for {type(expression).__name__}")


def _operand(expression: Expression) -> str:
    text = to_text(expression)
    return text if isinstance(expression, (Literal, Variable, Call)) else f"({text})"


def quoted(content: str) -> str:
    """Quote the content of a string literal so that it reads back the same."""
    single = "'" + content.replace("'", "\\'") + "'"
    return single if _closes(single) else '"' + content.replace('"', '\\"') + '"'


def _closes(literal: str) -> bool:
    """Return True if the last quote is the first one without a backslash before it."""
    at = 1
    while literal[at] != "'":
        at += 2 if literal[at] == "\\" else 1
        if at >= len(literal):
            return False
    return at == len(literal) - 1
