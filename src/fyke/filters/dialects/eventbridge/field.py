"""A field of a pattern: a path, and conditions of which one value at the path must meet one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fyke.events.value import Scalar
from fyke.filters.dialects.eventbridge.complexity import too_complex
from fyke.filters.dialects.eventbridge.operators import (
    Condition,
    Presence,
    Refusing,
    read_expression,
    refuse,
    wildcard_segments,
)
from fyke.filters.dialects.eventbridge.source import Json, Object, write_source
from fyke.filters.predicate import In


@dataclass(frozen=True, slots=True)
class Field:
    """The conditions on one path. `text` is its array in JSON; path and text identify the field."""

    path: str
    text: str
    conditions: tuple[Condition, ...] = field(compare=False, repr=False)
    segments: tuple[str, ...] = field(compare=False, repr=False)

    @property
    def size(self) -> int:
        """Predicates in it."""
        return sum(len(c.predicates) if isinstance(c, Refusing) else 1 for c in self.conditions)

    @property
    def accepts_any(self) -> bool:
        return Presence.PRESENT in self.conditions

    @property
    def accepts_none(self) -> bool:
        return Presence.ABSENT in self.conditions

    def test(self) -> Callable[[Scalar], bool]:
        """Return a function that tests if one value of the event meets a condition."""
        if self.accepts_any:
            return lambda value: True
        tests = [c.accepts() for c in self.conditions if not isinstance(c, Presence)]
        return lambda value: any(accepts(value) for accepts in tests)


def _check_complexity(path: str, values: list[Json]) -> None:
    texts = {
        operand: None
        for value in values
        if isinstance(value, Object)
        for operator, operand in value.pairs
        if operator == "wildcard" and isinstance(operand, str)
    }
    if too_complex(wildcard_segments(path, text) for text in texts):
        refuse(path, "the wildcards are too complex together", "fewer of them, or fewer stars")


def read_field(path: str, values: list[Json]) -> Field:
    """Read the field that an array describes; FilterError if it is not valid."""
    if not values:
        refuse(path, "the array is empty", "at least one value")
    exact: list[Scalar] = []
    conditions: list[Condition] = []
    for value in values:
        if isinstance(value, Object):
            conditions.append(read_expression(path, value))
        elif isinstance(value, list):
            refuse(path, "an array within the array", "a string, number, true, false or null")
        else:
            exact.append(value)
    _check_complexity(path, values)
    if exact:
        conditions.insert(0, In(path, tuple(exact)))
    return Field(path, write_source(values), tuple(conditions), tuple(path.split(".")))
