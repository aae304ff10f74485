"""Coding columns: a batch of events as codes, column by column.

`code_event` of every row is the definition: here are the same codes, made by kernels that go over
the Arrow arrays themselves. Values become symbols in hash tables (`column_symbols`), numbers and
strings become ordered codes from their bits (`column_codes`, `column_texts`); patterns are searched
once in each distinct string. A column of strings that is coded by a dictionary is looked up by the
words of the dictionary.

A kernel writes into a column of the matrix of events by axes. Where a column has nulls it writes
beside, and the codes are put where they belong; where rows hold several values, at one path or in
several columns, the codes are sorted by row (`code_lists`).

Cost. One pass per axis: about 1 ns for a number in its order, 10 for a number or short string that
is looked up, 30 to 70 for a long string or a value in a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from fyke.events.arrow.decimals import read_decimals
from fyke.events.columns import Column, Columns
from fyke.filters.texts.wording import wording
from fyke.matching.compiled.boxes.box_table import Places, Words
from fyke.matching.compiled.coding.axes import AttributeAxes
from fyke.matching.compiled.coding.code_lists import Runs, gather, write_lists
from fyke.matching.compiled.coding.codes import MISSING, OTHER
from fyke.matching.compiled.coding.column_codes import decimal_codes, moment_codes, number_codes
from fyke.matching.compiled.coding.column_symbols import ValueSymbols, column_symbols
from fyke.matching.compiled.coding.column_texts import Texts, frozen, string_codes, texts
from fyke.matching.compiled.coding.event_coding import NO_LIST, Codes
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.patterns.pattern_set import PatternSet

Coder: TypeAlias = Callable[[Column, Words, int], None]
"""A function that writes a code for each value of a column, into a column of a matrix."""


def code_columns(columns: Columns, vocabulary: Vocabulary) -> Codes:
    """Return a batch of events, coded. Those that could not be read have no attributes."""
    coding = _ColumnCoding(columns, vocabulary)
    for path, parts in columns.paths.items():
        axes = vocabulary.attributes.get(path)
        if axes is not None:
            coding.attribute(axes, parts)
    if vocabulary.types:
        coding.types((*columns.paths.get("type", ()), *columns.supertypes))
    if vocabulary.wording is not None:
        coding.wordings(vocabulary.wording, columns)
    return coding.codes()


class _ColumnCoding:
    def __init__(self, columns: Columns, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._symbols = column_symbols(vocabulary)
        self._bad = np.fromiter(columns.bad, np.int64, len(columns.bad))
        self._axes = len(vocabulary.axes)
        """Number of axes; those that are added from now on are not coded."""
        self._lows: Words = np.full((columns.rows, max(self._axes, 1)), MISSING, np.int32)
        self._runs: list[Runs] = []
        self._accepted_at: list[Places] = [np.zeros(1, np.int64)]
        self._accepted: list[Words] = []

    # --- attributes

    def attribute(self, axes: AttributeAxes, parts: tuple[Column, ...]) -> None:
        if self._is_coded(axes.presence):
            for part in parts:
                present = slice(None) if part.present is None else part.present
                self._lows[present, axes.presence] = axes.presence_symbol
        parts = tuple(part for part in parts if len(part.values))
        if self._is_coded(axes.value):
            symbols = self._symbols.of_values(axes)
            self._code(axes.value, parts, lambda *place: _write_symbols(symbols, *place))
        if self._is_coded(axes.number):
            self._code(axes.number, _of(parts, "number", "decimal"), _write_numbers)
        if self._is_coded(axes.timestamp):
            self._code(axes.timestamp, _of(parts, "timestamp"), _write_moments)
        if self._is_coded(axes.string):
            self._code(axes.string, _of(parts, "string"), _write_strings)
        if self._is_coded(axes.text):
            self._text(axes, _of(parts, "string"))

    def _is_coded(self, axis: int) -> bool:
        return 0 <= axis < self._axes

    def _code(self, axis: int, parts: tuple[Column, ...], write: Coder) -> None:
        if len(parts) == 1 and parts[0].rows is None:
            write(parts[0], self._lows, axis)
        elif parts:
            self._put(axis, parts, _codes(parts, write))

    def _put(self, axis: int, parts: tuple[Column, ...], codes: Words) -> None:
        """Put the codes of all values of some parts where they belong."""
        rows = self._rows(parts)
        if len(parts) == 1 and parts[0].is_list is None:
            self._lows[rows, axis] = codes
            return
        runs = gather(axis, rows, codes, self._lows)
        if runs is not None:
            self._runs.append(runs)

    def _rows(self, parts: tuple[Column, ...]) -> Any:
        """Return the row of each value."""
        if len(parts) == 1 and parts[0].rows is None:
            return slice(None) if parts[0].is_list is None else np.arange(len(self._lows))
        everywhere = np.arange(len(self._lows))
        return np.concatenate([everywhere if part.rows is None else part.rows for part in parts])

    def _text(self, axes: AttributeAxes, parts: tuple[Column, ...]) -> None:
        if not parts or axes.patterns is None:
            return
        distinct, places = _distinct(parts)
        first = self._search(axes.patterns, distinct.to_pylist())
        self._put(axes.text, parts, places.astype(np.int32) + np.int32(first))

    def _search(self, patterns: PatternSet, strings: list[str]) -> int:
        """Store the patterns that accept some strings. Return the row of the first string."""
        bounds, accepted = patterns.accepted_many(strings)
        first = sum(map(len, self._accepted_at)) - 1
        self._accepted_at.append(bounds[1:] + self._accepted_at[-1][-1])
        self._accepted.append(accepted)
        return first

    def wordings(self, axes: AttributeAxes, columns: Columns) -> None:
        """Code the wording of all events: it spans all columns, so the rows become events."""
        if not self._is_coded(axes.text) or axes.patterns is None:
            return
        rows = [row for row in range(columns.rows) if row not in columns.bad]
        first = self._search(axes.patterns, [wording(columns.event(row)) for row in rows])
        self._lows[rows, axes.text] = np.arange(first, first + len(rows))

    def types(self, parts: tuple[Column, ...]) -> None:
        symbols = self._symbols.of_types(self._vocabulary)
        axis_of = self._vocabulary.symbol_axes
        for part in _of(parts, "string"):
            found = _codes((part,), lambda *place: _write_texts(symbols.texts.find, *place))
            known = np.flatnonzero(found != OTHER)
            distinct, which = np.unique(found[known], return_inverse=True)
            axes = np.array([axis_of[symbol // 2] for symbol in distinct.tolist()], np.int64)[which]
            rows = known if part.rows is None else part.rows[known]
            self._lows[rows, axes] = found[known]

    # --- the whole

    def codes(self) -> Codes:
        lows, rows = self._lows, len(self._lows)
        wide, lists = np.full(rows, NO_LIST, np.int32), np.zeros(1, np.int32)
        if len(self._bad):
            lows[self._bad] = MISSING
            is_event = np.ones(rows, np.bool_)
            is_event[self._bad] = False
            self._runs = [each.within(is_event) for each in self._runs]
        runs = [each for each in self._runs if len(each.rows)]
        highs = lows
        if runs:
            highs = lows.copy()
            lists = write_lists(runs, highs, wide)
        accepted_at = np.concatenate(self._accepted_at).astype(np.int32)
        accepted = np.concatenate([*self._accepted, np.zeros(1, np.int32)])
        return Codes(lows, highs, wide, lists, accepted_at, accepted)


def _of(parts: Iterable[Column], *kinds: str) -> tuple[Column, ...]:
    return tuple(part for part in parts if part.kind in kinds and len(part.values))


def _codes(parts: tuple[Column, ...], write: Coder) -> Words:
    """Return the codes of all values of some parts, end to end."""
    codes = np.empty((sum(len(part.values) for part in parts), 1), np.int32)
    end = 0
    for part in parts:
        start, end = end, end + len(part.values)
        write(part, codes[start:end], 0)
    return codes[:, 0]


# --- coders --------------------------------------------------------------------------------------


def _write_symbols(symbols: ValueSymbols, part: Column, out: Words, column: int) -> None:
    match part.kind:
        case "string":
            _write_texts(symbols.texts.find, part, out, column)
        case "number":
            symbols.find_numbers(part.numbers(), out, column)
        case "timestamp":
            symbols.moments.find(part.numbers(), out, column)
        case "bool":
            is_true = part.values.to_numpy(zero_copy_only=False)
            out[:, column] = np.array(symbols.booleans, np.int32)[is_true.view(np.int8)]
        case "null":
            out[:, column] = symbols.by_value.get(None, OTHER)
        case "decimal":
            _write_decimal_symbols(symbols, part, out, column)


def _write_decimal_symbols(symbols: ValueSymbols, part: Column, out: Words, column: int) -> None:
    """Look closer at decimals whose nearest float64 is that of a value with a symbol."""
    rounded = frozen(part.numbers())
    symbols.find_numbers(rounded, out, column)
    is_near = out[:, column] != OTHER
    if symbols.rounded:
        is_near |= np.isin(rounded, symbols.rounded)
    exact = read_decimals(part.values).item
    for place in np.flatnonzero(is_near).tolist():
        out[place, column] = symbols.by_value.get(exact(place), OTHER)


def _write_numbers(part: Column, out: Words, column: int) -> None:
    if part.kind == "decimal":
        decimal_codes(part.values, frozen(part.numbers()), out, column)
    else:
        number_codes(part.numbers(), out, column)


def _write_moments(part: Column, out: Words, column: int) -> None:
    moment_codes(part.numbers(), out, column)


def _write_strings(part: Column, out: Words, column: int) -> None:
    def write(strings: Texts, out: Words, column: int) -> None:
        string_codes(*strings.parts, out, column)

    _write_texts(write, part, out, column)


def _write_texts(
    write: Callable[[Texts, Words, int], None], part: Column, out: Words, column: int
) -> None:
    """Code strings, or the words of their dictionary."""
    values = part.values
    if not pa.types.is_dictionary(values.type):
        write(texts(values), out, column)
    elif len(values.dictionary) > len(values):
        write(texts(values.dictionary_decode()), out, column)
    else:
        codes = np.empty((len(values.dictionary), 1), np.int32)
        write(texts(values.dictionary), codes, 0)
        out[:, column] = codes[values.indices.to_numpy(), 0]


def _distinct(parts: tuple[Column, ...]) -> tuple[Any, Places]:
    """Return the distinct strings of some parts, and which of them each value is."""
    if len(parts) == 1 and pa.types.is_dictionary(parts[0].values.type):
        values = parts[0].values
        indices = values.indices.to_numpy()
        is_used = np.zeros(len(values.dictionary), np.bool_)
        is_used[indices] = True
        return values.dictionary.filter(pa.array(is_used)), (np.cumsum(is_used) - 1)[indices]
    plain = [_plain(part.values) for part in parts]
    coded = (plain[0] if len(plain) == 1 else pa.concat_arrays(plain)).dictionary_encode()
    return coded.dictionary, coded.indices.to_numpy()


def _plain(values: Any) -> Any:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values.cast(pa.large_string())
