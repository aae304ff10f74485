"""Meaning of an expression: the events that make it true, and those that make it false."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fyke.filters.dialects.cesql import functions
from fyke.filters.dialects.cesql.syntax import (
    NOT_AN_ATTRIBUTE,
    Arithmetic,
    Call,
    Expression,
    IsIn,
    Literal,
    Logic,
    LogicNot,
    Negate,
    Variable,
    to_text,
)
from fyke.filters.dialects.cesql.text_forms import present
from fyke.filters.dialects.cesql.values import Type
from fyke.filters.filter import FALSE, Filter, conjunction, negation
from fyke.filters.residual import Residual


@dataclass(frozen=True, slots=True)
class Meaning:
    """The events on which an expression is true, and those on which it is false.

    `needs`, where it is known, names the attributes whose presence is all it takes for there to be
    no error; `leaves` counts the operands below.
    """

    true: Filter
    false: Filter
    needs: frozenset[str] | None = None
    leaves: int = 1

    def inverse(self) -> Meaning:
        return Meaning(self.false, self.true, self.needs, self.leaves)


ALWAYS_WRONG: Final = Meaning(FALSE, FALSE)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pending(Filter):
    """Stands for a residual while the tree is built; only those that stay are written out."""

    expression: Expression

    def key(self) -> tuple[object, ...]:
        return (id(self.expression),)

    def settled(self) -> Filter:
        return Residual("cesql", to_text(self.expression))


def residual(expression: Expression) -> Filter:
    """Return the exact check that an expression is true."""
    return Pending(expression)


def sure(attribute: str, true: Filter) -> Meaning:
    """Return the meaning of an operand that is an error only if the attribute is missing."""
    return Meaning(true, present(attribute) & negation(true), frozenset({attribute}))


def unsure(attribute: str, true: Filter, expression: Expression) -> Meaning:
    """Return the meaning of an operand with a known `true` that may fail for other reasons."""
    false = conjunction([present(attribute), negation(true), residual(LogicNot(expression))])
    return Meaning(true, false)


def type_of(expression: Expression) -> Type | None:
    """Return the type that an expression always has; None if it has no fixed type."""
    match expression:
        case Literal(value):
            return type(value)
        case Variable():
            return None
        case Negate() | Arithmetic():
            return int
        case Call(name, arguments):
            function = functions.find(name, len(arguments))
            return bool if function is None else function.returns
    return bool


def checked(expression: Expression) -> Meaning:
    """Return the meaning of any Boolean expression: its interpreter, behind what it reads."""
    read = surely_read(expression)
    if NOT_AN_ATTRIBUTE in read:
        return ALWAYS_WRONG
    there = [present(name) for name in sorted(read)]
    return Meaning(
        conjunction([*there, residual(expression)]),
        conjunction([*there, residual(LogicNot(expression))]),
    )


def surely_read(expression: Expression) -> frozenset[str]:
    """Return the attributes without which every evaluation is an error."""
    match expression:
        case Variable(name):
            return frozenset({name})
        case Logic("AND" | "OR", operands):
            return surely_read(operands[0])
        case IsIn(inner, items):
            return surely_read(inner) | surely_read(items[0])
    return frozenset().union(*map(surely_read, expression.children))
