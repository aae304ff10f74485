"""Vocabulary: the axes that the index has, and the symbols that are known on them (`axes`).

A vocabulary only grows, until another one takes its place (`rebuild`). Axes and symbols are shared
by all segments, so an event is coded once. Beside each symbol stands how often events have it
(`frequencies`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import count
from typing import Final

from fyke.events.value import Kind, Scalar
from fyke.filters.texts.glob import Glob, glob
from fyke.matching.compiled.coding.axes import (
    FIRST_SYMBOL,
    ORDER,
    SYMBOL_STEP,
    AttributeAxes,
    AxisKind,
)
from fyke.matching.compiled.coding.codes import MISSING, scalar_key
from fyke.matching.compiled.coding.frequencies import (
    UNKNOWN,
    Frequencies,
    Prior,
    SampleSource,
    Source,
)
from fyke.matching.compiled.patterns.pattern_set import PatternSet

_numbers: Final = count()
AXIS_SIZE: Final = 16
"""Size of an axis, in symbols."""


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
        self.frequencies = Frequencies(self.axes, SampleSource() if source is None else source)

    @property
    def edition(self) -> tuple[int, int, int]:
        """A value that differs between vocabularies, and changes whenever one grows."""
        return self._number, self.next_symbol, len(self.axes)

    @property
    def size(self) -> int:
        """The number of symbols, plus AXIS_SIZE for each axis: an axis costs every event a code."""
        return len(self.symbol_axes) + AXIS_SIZE * len(self.axes)

    # --- growing

    def value(self, attribute: str, value: Scalar) -> tuple[int, int]:
        """Return the axis and the symbol of a value."""
        axes = self.attribute(attribute)
        key = value if value.__class__ is str else scalar_key(value)
        symbol = axes.symbols.get(key)
        if symbol is None:
            if axes.value < 0:
                axes.value = self.add_axis(AxisKind.VALUE, attribute)
            prior = self.frequencies.source.value(attribute, key)
            symbol = axes.symbols[key] = self._symbol(axes.value, prior)
        return axes.value, symbol

    def order(self, attribute: str, kind: Kind) -> int:
        """Return the axis of an ordered kind."""
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
            prior = self.frequencies.source.presence(attribute)
            axes.presence_symbol = self._symbol(axes.presence, prior)
        return axes.presence, axes.presence_symbol

    def type(self, name: str) -> tuple[int, int]:
        if name not in self.types:
            axis = self.add_axis(AxisKind.TYPE, name)
            self.types[name] = axis, self._symbol(axis, self.frequencies.source.type(name))
        return self.types[name]

    def pattern(self, attribute: str, pattern: Glob, ignore_case: bool) -> tuple[int, int]:
        return self._pattern(self.attribute(attribute), pattern, ignore_case)

    def holding(self, attribute: str, text: str) -> tuple[int, int]:
        """Return the pattern of all strings that hold a folded text, in any case."""
        return self.pattern(attribute, glob(("", text, "")), True)

    def needle(self, text: str) -> tuple[int, int]:
        """Return the axis and the symbol of a text that is looked for in the wording of events."""
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
            prior = self._prior(axes, pattern, ignore_case)
            symbol = self._symbol(axes.text, prior)
            axes.pattern_symbols[(pattern, ignore_case)] = symbol
            axes.patterns.add(symbol, pattern, ignore_case)
        return axes.text, symbol

    def _prior(self, axes: AttributeAxes, pattern: Glob, ignore_case: bool) -> Prior:
        if axes is self.wording:
            return UNKNOWN
        return self.frequencies.source.pattern(axes.name, pattern, ignore_case)

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

    def _symbol(self, axis: int, prior: Prior) -> int:
        symbol = self.next_symbol
        self.symbol_axes.append(axis)
        self.frequencies.append(prior)
        self.next_symbol += SYMBOL_STEP
        return symbol

    def expect(self, source: Source) -> None:
        """Ask another source about all symbols, those given out already too.

        What it does not know stays as it is.
        """
        known = self.frequencies
        known.source = source
        for name, (_, symbol) in self.types.items():
            known.correct(symbol, source.type(name))
        for name, axes in self.attributes.items():
            for key, symbol in axes.symbols.items():
                known.correct(symbol, source.value(name, key))
            for (pattern, ignore_case), symbol in axes.pattern_symbols.items():
                known.correct(symbol, source.pattern(name, pattern, ignore_case))
            if axes.presence >= 0:
                known.correct(axes.presence_symbol, source.presence(name))
