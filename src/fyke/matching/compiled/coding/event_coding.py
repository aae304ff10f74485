"""Coding: events as int32 codes, one per axis.

A list has several codes on an axis: its least and greatest stand in `lows` and `highs`, all of them
in `lists` as a run (axis, size, codes...); the runs of an event start at wide[event] and end with
an axis of -1. An event without such lists has -1 there. A list of one element is that element, and
the empty list is there (presence) without a value.
On a TEXT axis the code is a row of `accepted`: the symbols of the patterns that accept the string.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

import numpy as np

from fyke.events.event import Event
from fyke.events.value import Kind, Scalar, kind
from fyke.filters.texts.wording import wording
from fyke.matching.compiled.boxes.box_table import Words
from fyke.matching.compiled.coding.axes import AttributeAxes
from fyke.matching.compiled.coding.codes import (
    EXACT_MAX,
    MAGNITUDE,
    MISSING,
    NUMBER_REST,
    NUMBER_SHIFT,
    OTHER,
    number_code,
    scalar_key,
    string_code,
    timestamp_code,
)
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.kernels.frames import EventBases, Frame
from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.kernels.lanes import base, long_word, put, word

NO_LIST: Final = -1


@dataclass(frozen=True, slots=True)
class Codes:
    """Coded events: matrices of events by axes."""

    lows: Words
    highs: Words
    """The same array as `lows` where no event holds a list."""
    wide: Words
    lists: Words
    accepted_at: Words
    accepted: Words
    edition: tuple[int, ...] = ()
    """The edition of the vocabulary when a batch was coded."""
    frame: Frame = field(init=False)

    def __post_init__(self) -> None:
        lows = base(self.lows)
        group = EventBases(
            lows=lows,
            highs=base(self.highs) if self.is_wide else lows,
            axes=self.lows.shape[1],
            wide=_base_of(self.wide),
            lists=_base_of(self.lists),
            accepted_at=_base_of(self.accepted_at),
            accepted=_base_of(self.accepted),
            is_wide=int(self.is_wide),
        )
        object.__setattr__(self, "frame", Frame(group))

    @property
    def is_wide(self) -> bool:
        return self.highs is not self.lows

    @property
    def events(self) -> int:
        return len(self.wide)


_NOTHING: Final = np.zeros(1, np.int32)
_NARROW: Final = np.full(1, NO_LIST, np.int32)
_BASES: Final = {id(each): base(each) for each in (_NOTHING, _NARROW)}


def _base_of(words: Words) -> Any:
    known = _BASES.get(id(words))
    return base(words) if known is None else known


def code_event(event: Event, vocabulary: Vocabulary) -> Codes:
    """Return one event, coded."""
    return EventCoder(vocabulary).code(event)


class EventCoder:
    """Codes one event at a time, into the same arrays: codes are good until the next event."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._fit(vocabulary.blank)
        self._highs: array[int] | None = None
        self._lists: list[int] = []
        self._accepted: list[Words] = []

    def _fit(self, blank: array[int]) -> None:
        """Make arrays for all axes that there are by now."""
        size = len(blank)
        self._lows = array("i", blank)
        self._numbers = array("d", bytes(8 * size))
        self._places = array("i", bytes(4 * size))
        lows = np.frombuffer(self._lows, np.int32).reshape(1, -1)
        self._narrow = Codes(lows, lows, _NARROW, _NOTHING, _NOTHING, _NOTHING)
        self._with_texts = self._narrow
        self._number_bases = (
            base(np.frombuffer(self._numbers, np.int64)),
            base(np.frombuffer(self._places, np.int32)),
            base(lows),
        )

    def code(self, event: Event) -> Codes:
        while True:
            try:
                return self._code(event)
            except IndexError:  # an axis was added meanwhile
                self._highs, self._lists, self._accepted = None, [], []

    def _code(self, event: Event) -> Codes:
        vocabulary = self._vocabulary
        blank = vocabulary.blank
        if len(self._lows) != len(blank):
            self._fit(blank)
        lows, numbers, places = self._lows, self._numbers, self._places
        lows[:] = blank
        attributes = vocabulary.attributes
        count = 0
        for name, value in event.attributes.items():
            axes = attributes.get(name)
            if axes is None:
                continue
            cls = value.__class__
            if cls is float or (cls is int and -EXACT_MAX <= value <= EXACT_MAX):  # type: ignore[operator]
                if axes.number >= 0:
                    numbers[count] = value  # type: ignore[assignment]
                    places[count] = axes.number
                    count += 1
                if axes.presence >= 0:
                    lows[axes.presence] = axes.presence_symbol
                if axes.value >= 0:
                    lows[axes.value] = axes.symbols.get(value, OTHER)
            elif cls is str and axes.string < 0 and axes.text < 0:
                if axes.value >= 0:
                    lows[axes.value] = axes.symbols.get(value, OTHER)
                if axes.presence >= 0:
                    lows[axes.presence] = axes.presence_symbol
            elif cls is not tuple:
                self._scalar(axes, value)  # type: ignore[arg-type]
            else:
                self._list(axes, value)  # type: ignore[arg-type]
        if count:
            bits, at, codes = self._number_bases
            place_numbers(bits, at, count, codes)
        if vocabulary.types:
            self._types(event)
        if vocabulary.wording is not None and vocabulary.wording.text >= 0:
            lows[vocabulary.wording.text] = self._row(vocabulary.wording, wording(event))
        return self._codes() if self._highs is not None or self._accepted else self._narrow

    def _scalar(self, axes: AttributeAxes, value: Scalar) -> None:
        lows = self._lows
        cls = value.__class__
        if axes.presence >= 0:
            lows[axes.presence] = axes.presence_symbol
        if axes.value >= 0:
            lows[axes.value] = axes.symbols.get(
                value if cls is not bool else scalar_key(value), OTHER
            )
        if cls is str:
            if axes.string >= 0:
                lows[axes.string] = string_code(value)  # type: ignore[arg-type]
            if axes.text >= 0:
                lows[axes.text] = self._row(axes, value)  # type: ignore[arg-type]
        elif cls is datetime:
            if axes.timestamp >= 0:
                lows[axes.timestamp] = timestamp_code(value)  # type: ignore[arg-type]
        elif axes.number >= 0 and cls is not bool and value is not None:
            lows[axes.number] = number_code(value)

    def _list(self, axes: AttributeAxes, elements: tuple[Scalar, ...]) -> None:
        if len(elements) == 1:
            self._scalar(axes, elements[0])
            return
        if axes.presence >= 0:
            self._lows[axes.presence] = axes.presence_symbol
        if not elements:
            return
        symbols = axes.symbols
        self._run(axes.value, (symbols.get(scalar_key(each), OTHER) for each in elements))
        by_kind = {shared: [] for shared in Kind}  # type: dict[Kind, list[Scalar]]
        for each in elements:
            by_kind[kind(each)].append(each)
        self._run(axes.number, map(number_code, by_kind[Kind.NUMBER]))
        self._run(axes.timestamp, map(timestamp_code, by_kind[Kind.TIMESTAMP]))  # type: ignore[arg-type]
        self._run(axes.string, map(string_code, by_kind[Kind.STRING]))  # type: ignore[arg-type]
        if axes.text >= 0:
            rows = [self._row(axes, each) for each in dict.fromkeys(by_kind[Kind.STRING])]  # type: ignore[arg-type]
            self._run(axes.text, rows)

    def _run(self, axis: int, codes: Iterable[int]) -> None:
        """Write the codes of a list on one axis."""
        if axis < 0:
            return
        distinct = sorted(set(codes))
        if not distinct:
            return
        self._lows[axis] = distinct[0]
        if len(distinct) > 1:
            if self._highs is None:
                self._highs = array("i", [MISSING]) * len(self._lows)
            self._highs[axis] = distinct[-1]
            self._lists += (axis, len(distinct), *distinct)

    def _row(self, axes: AttributeAxes, text: str) -> int:
        assert axes.patterns is not None
        self._accepted.append(axes.patterns.accepted(text))
        return len(self._accepted) - 1

    def _types(self, event: Event) -> None:
        declared = event.attributes.get("type")
        names = declared if isinstance(declared, tuple) else (declared,)
        for name in (*names, *event.supertypes):
            if name.__class__ is str and name in self._vocabulary.types:
                axis, symbol = self._vocabulary.types[name]
                self._lows[axis] = symbol

    def _codes(self) -> Codes:
        """Return the codes of an event with lists or with strings that patterns look at."""
        with_texts = self._searched()
        if self._highs is None:
            return with_texts
        lows = self._narrow.lows
        highs = np.frombuffer(self._highs, np.int32).reshape(1, -1)
        highs = np.where(highs == MISSING, lows, highs)
        lists = np.array([*self._lists, NO_LIST], np.int32)
        self._highs, self._lists = None, []
        return Codes(lows, highs, _NOTHING, lists, with_texts.accepted_at, with_texts.accepted)

    def _searched(self) -> Codes:
        """Return the codes with the patterns that accept the event's strings, string by string."""
        end = 0
        ends = [0]
        for each in self._accepted:
            end += len(each)
            ends.append(end)
        codes = self._with_texts
        if len(codes.accepted) <= end or len(codes.accepted_at) < len(ends):
            room = [np.zeros(2 * size + 8, np.int32) for size in (len(ends), end)]
            codes = self._with_texts = replace(self._narrow, accepted_at=room[0], accepted=room[1])
        codes.accepted_at[: len(ends)] = ends
        if end:
            np.concatenate(self._accepted, out=codes.accepted[:end])
        self._accepted = []
        return codes


@kernel
def place_numbers(bits: Any, places: Any, count: int, lows: Any) -> None:
    """Write the `codes.number_code` of numbers that are float64, given by their bits."""
    for number in range(count):
        key = long_word(bits, number)
        if key < 0:
            key = -(key & MAGNITUDE)
        code = key >> NUMBER_SHIFT << 1
        if key & NUMBER_REST != 0:
            code |= 1
        put(lows, word(places, number), code)
