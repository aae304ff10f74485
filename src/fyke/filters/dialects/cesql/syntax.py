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
class Attribute(Expression):
    name: str


@dataclass(frozen=True, slots=True)
class Exists(Expression):
    name: str


@dataclass(frozen=True, slots=True)
class _Unary(Expression):
    operand: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Not(_Unary):
    pass


@dataclass(frozen=True, slots=True)
class Negate(_Unary):
    """Minus."""


@dataclass(frozen=True, slots=True)
class Like(_Unary):
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
class Compare(_Binary):
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
    """Every node, parents first."""
    todo = [expression]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(reversed(node.children))


def names(expression: Expression) -> frozenset[str]:
    """The attributes that evaluation may look at."""
    return frozenset(
        node.name
        for node in walk(expression)
        if isinstance(node, (Attribute, Exists)) and node.name != NOT_AN_ATTRIBUTE
    )


# --- back to text ---------------------------------------------------------------------------------


def to_text(expression: Expression) -> str:
    """Text that reads back as the same tree."""
    match expression:
        case Literal(value):
            return quoted(value) if isinstance(value, str) else str(value).upper()
        case Attribute(name):
            return name
        case Exists(name):
            return f"EXISTS {name}"
        case Not(operand):
            return f"NOT {_operand(operand)}"
        case Negate(operand):
            return f"- {_operand(operand)}"
        case Like(operand, pattern):
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
    return text if isinstance(expression, (Literal, Attribute, Call)) else f"({text})"


def quoted(content: str) -> str:
    """The content of a string literal, with the quotes in which it reads back the same."""
    single = "'" + content.replace("'", "\\'") + "'"
    return single if _closes(single) else '"' + content.replace('"', '\\"') + '"'


def _closes(literal: str) -> bool:
    """Whether the last quote is the first one that no backslash stands in front of."""
    at = 1
    while literal[at] != "'":
        at += 2 if literal[at] == "\\" else 1
        if at >= len(literal):
            return False
    return at == len(literal) - 1
