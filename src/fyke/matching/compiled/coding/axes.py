"""Axes: the ways in which the index sees an attribute, and the symbols on them.

An event has one int32 code on each *axis* (a list has several).

    VALUE       the scalar itself, as a symbol: equality, sets, null, booleans
    NUMBER      the number, timestamp or string in its order (`codes`): ranges
    TIMESTAMP
    STRING
    PRESENCE    the attribute's symbol if it is there at all: exists
    TYPE        the type's symbol if the event is of that type or a subtype
    TEXT        the string, as the row of its accepted patterns in a table beside the events;
                one such axis is for the wording of the whole event (`filters.wording`)

A *symbol* is an even number above OTHER that stands for "this attribute has this value", "this
attribute is there", "the event is of this type" or "this pattern accepts this attribute". Symbols
are what subscriptions are filed under: an event leads to the clusters of its symbols.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from fyke.events.value import Kind
from fyke.filters.texts.glob import Glob
from fyke.matching.compiled.coding.codes import OTHER
from fyke.matching.compiled.patterns.pattern_set import PatternSet

FIRST_SYMBOL: Final = OTHER + 2
SYMBOL_STEP: Final = 2


class AxisKind(IntEnum):
    VALUE = 0
    NUMBER = 1
    TIMESTAMP = 2
    STRING = 3
    PRESENCE = 4
    TYPE = 5
    TEXT = 6


ORDER: Final = {
    Kind.NUMBER: AxisKind.NUMBER,
    Kind.TIMESTAMP: AxisKind.TIMESTAMP,
    Kind.STRING: AxisKind.STRING,
}
KEYED: Final = frozenset({AxisKind.VALUE, AxisKind.PRESENCE, AxisKind.TYPE, AxisKind.TEXT})
"""Axes whose codes are symbols (TEXT leads to some), under which subscriptions can be filed."""


@dataclass(slots=True)
class AttributeAxes:
    """The axes of one attribute; -1 where nobody looks at it in that way."""

    name: str
    value: int = -1
    number: int = -1
    timestamp: int = -1
    string: int = -1
    presence: int = -1
    text: int = -1
    symbols: dict[object, int] = field(default_factory=dict)
    """By `scalar_key`, the symbols of the values that are mentioned."""
    presence_symbol: int = OTHER
    patterns: PatternSet | None = None
    pattern_symbols: dict[tuple[Glob, bool], int] = field(default_factory=dict)
