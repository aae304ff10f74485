"""Values: what an expression in a closure stands for, for all events at once.

    s                   Subject: the object of the event, or a record inside of it
    s.price             Read: an attribute that events show as the closure will see it (`truth`)
    self                Own: the filter object itself
    10, LIMIT           Known: the same for all events, until something that is watched changes
    s.price < 10        Verdict: nothing but when it is true, and when false
    s.price * 2         PLAIN: a value of the standard library; to look at it changes nothing
    clock.now()         FOREIGN: anything; even to compare it may run code that nobody read

Invariant. A value stands for at least what Python may find there. In doubt it is FOREIGN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from fyke.filters.filter import Filter
from fyke.typed.closures.captured import is_plain
from fyke.typed.closures.truth import Read, Truth
from fyke.typed.description import Description


@dataclass(frozen=True, slots=True)
class Known:
    """A value that is the same for all events."""

    value: Any


@dataclass(frozen=True, slots=True)
class Subject:
    """The event's object, or a record inside of it."""

    description: Description
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Own:
    """The filter object itself, and the attributes that its methods change."""

    value: Any
    changing: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a test; nothing but its truth is known."""

    truth: Truth


class Plain:
    """A value of the standard library that is not known; looking at it is pure."""


class Foreign:
    """Anything; even to compare it may call code that is not known."""


PLAIN: Final = Plain()
FOREIGN: Final = Foreign()
Abstract: TypeAlias = Known | Subject | Own | Verdict | Read | Plain | Foreign
Path: TypeAlias = tuple[Filter, ...]
"""The conditions that must have been true to come here, as a conjunction of covers."""


def is_looked_at(value: Abstract) -> bool:
    """Return True if operators and functions of the standard library only look at a value."""
    if isinstance(value, Known):
        return is_plain(value.value)
    return isinstance(value, Read | Verdict | Plain)


def join(one: Abstract, other: Abstract) -> Abstract:
    """Return the abstract value of a variable that has one value or the other."""
    alike = all(isinstance(each, Read | Verdict | Plain) for each in (one, other))
    return PLAIN if alike else FOREIGN
