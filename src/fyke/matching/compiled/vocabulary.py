"""Vocabulary: which axes the index has, and which symbols are known on them.

An *axis* is an attribute seen in one way; an event has one int32 code on it (a list has several).

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

A vocabulary only grows, until another one takes its place (`renewal`). Axes and symbols are shared
by all segments, so an event is coded once. Beside each symbol stands what was expected of it when
it was given out (`expectation`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count
from typing import Final

from fyke.events.value import Kind, Scalar
from fyke.filters.glob import Glob, glob
from fyke.matching.compiled.codes import MISSING, OTHER, scalar_key
from fyke.matching.compiled.expectation import UNKNOWN, Expectations, Expected, Given, Source
from fyke.matching.compiled.patterns.pattern_set import PatternSet

_numbers: Final = count()
FIRST_SYMBOL: Final = OTHER + 2
SYMBOL_STEP: Final = 2
AXIS_SIZE: Final = 16
"""An axis counts like so many symbols."""


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


class Vocabulary:
    """The axes and symbols of one engine."""

    def __init__(self, source: Source | None = None) -> None:
        self._number = next(_numbers)
        self.attributes: dict[str, AttributeAxes] = {}
        self.wording: AttributeAxes | None = None
        """The patterns that look at the wording of events, as if it were an attribute."""
        self.types: dict[str, tuple[int, int]] = {}
        """By name, the axis and the symbol."""
        self.axes: list[tuple[AxisKind, str]] = []
        self.texts: set[int] = set()
        """The TEXT axes."""
        self.next_symbol = FIRST_SYMBOL
        self.blank = array("i", [MISSING])
        """The codes of an event without attributes."""
        self.symbol_axes = array("i", [-1])
        """The axis of each symbol, by half the symbol."""
        self.expectations = Expectations(Given() if source is None else source)

    @property
    def edition(self) -> tuple[int, int, int]:
        """Another one for each vocabulary and each time that it grows."""
        return self._number, self.next_symbol, len(self.axes)

    @property
    def size(self) -> int:
        """How much it knows: symbols, and axes, which cost every event a code."""
        return len(self.symbol_axes) + AXIS_SIZE * len(self.axes)

    # --- growing

    def value(self, attribute: str, value: Scalar) -> tuple[int, int]:
        """The axis and the symbol of a value."""
        axes = self.attribute(attribute)
        key = value if value.__class__ is str else scalar_key(value)
        symbol = axes.symbols.get(key)
        if symbol is None:
            if axes.value < 0:
                axes.value = self.add_axis(AxisKind.VALUE, attribute)
            expected = self.expectations.source.value(attribute, key)
            symbol = axes.symbols[key] = self._symbol(axes.value, expected)
        return axes.value, symbol

    def order(self, attribute: str, kind: Kind) -> int:
        """The axis of an ordered kind."""
        axes = self.attribute(attribute)
        name = ORDER[kind].name.lower()
        axis: int = getattr(axes, name)
        if axis < 0:
            axis = self.add_axis(ORDER[kind], attribute)
            setattr(axes, name, axis)
        return axis

    def presence(self, attribute: str) -> tuple[int, int]:
        axes = self.attribute(attribute)
        if axes.presence < 0:
            axes.presence = self.add_axis(AxisKind.PRESENCE, attribute)
            expected = self.expectations.source.presence(attribute)
            axes.presence_symbol = self._symbol(axes.presence, expected)
        return axes.presence, axes.presence_symbol

    def type(self, name: str) -> tuple[int, int]:
        if name not in self.types:
            axis = self.add_axis(AxisKind.TYPE, name)
            self.types[name] = axis, self._symbol(axis, self.expectations.source.type(name))
        return self.types[name]

    def pattern(self, attribute: str, pattern: Glob, ignore_case: bool) -> tuple[int, int]:
        return self._pattern(self.attribute(attribute), pattern, ignore_case)

    def holding(self, attribute: str, text: str) -> tuple[int, int]:
        """The pattern of all strings that hold a folded text, in any case."""
        return self.pattern(attribute, glob(("", text, "")), True)

    def needle(self, text: str) -> tuple[int, int]:
        """The axis and the symbol of a text that is looked for in the wording of events."""
        if self.wording is None:
            self.wording = AttributeAxes("")
        return self._pattern(self.wording, glob(("", text, "")), True)

    def pattern_sets(self) -> Iterator[PatternSet]:
        for axes in (*self.attributes.values(), self.wording):
            if axes is not None and axes.patterns is not None:
                yield axes.patterns

    def _pattern(self, axes: AttributeAxes, pattern: Glob, ignore_case: bool) -> tuple[int, int]:
        if axes.patterns is None:
            axes.patterns = PatternSet()
            axes.text = self.add_axis(AxisKind.TEXT, axes.name)
        symbol = axes.pattern_symbols.get((pattern, ignore_case))
        if symbol is None:
            expected = self._expected(axes, pattern, ignore_case)
            symbol = self._symbol(axes.text, expected)
            axes.pattern_symbols[(pattern, ignore_case)] = symbol
            axes.patterns.add(symbol, pattern, ignore_case)
        return axes.text, symbol

    def _expected(self, axes: AttributeAxes, pattern: Glob, ignore_case: bool) -> Expected:
        if axes is self.wording:
            return UNKNOWN
        return self.expectations.source.pattern(axes.name, pattern, ignore_case)

    def attribute(self, name: str) -> AttributeAxes:
        axes = self.attributes.get(name)
        if axes is None:
            axes = self.attributes[name] = AttributeAxes(name)
        return axes

    def add_axis(self, kind: AxisKind, name: str) -> int:
        self.axes.append((kind, name))
        if kind is AxisKind.TEXT:
            self.texts.add(len(self.axes) - 1)
        self.blank = array("i", [MISSING]) * len(self.axes)
        return len(self.axes) - 1

    def _symbol(self, axis: int, expected: Expected) -> int:
        symbol = self.next_symbol
        self.symbol_axes.append(axis)
        self.expectations.append(expected)
        self.next_symbol += SYMBOL_STEP
        return symbol

    def expect(self, source: Source) -> None:
        """Asks another source about all symbols, those given out already too.

        What it does not know stays as it is.
        """
        expectations = self.expectations
        expectations.source = source
        for name, (_, symbol) in self.types.items():
            expectations.correct(symbol // SYMBOL_STEP, source.type(name))
        for name, axes in self.attributes.items():
            for key, symbol in axes.symbols.items():
                expectations.correct(symbol // SYMBOL_STEP, source.value(name, key))
            for (pattern, ignore_case), symbol in axes.pattern_symbols.items():
                expected = source.pattern(name, pattern, ignore_case)
                expectations.correct(symbol // SYMBOL_STEP, expected)
            if axes.presence >= 0:
                expectations.correct(axes.presence_symbol // SYMBOL_STEP, source.presence(name))
