"""The symbols of a vocabulary as tables that kernels search.

Beside each dictionary of symbols stand tables of the same symbols (`symbol_tables`), made when the
first column asks for them; that of its texts, the largest, may come from a snapshot. They catch up
with their dictionary before each search: it only grows, so what is new are its last items.
"""

from __future__ import annotations

import threading
from datetime import datetime
from itertools import islice
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from fyke.events.value import canonical
from fyke.matching.compiled.boxes.box_table import Words
from fyke.matching.compiled.coding.axes import AttributeAxes
from fyke.matching.compiled.coding.codes import EPOCH, MICROSECOND, OTHER
from fyke.matching.compiled.coding.symbol_tables import EMPTY, KeyTable, TextTable, find_floats
from fyke.matching.compiled.coding.vocabulary import Vocabulary


class ValueSymbols:
    """The symbols of one attribute's values."""

    def __init__(self, symbols: dict[object, int], texts: TextTable | None = None) -> None:
        """Take a dictionary of symbols; `texts` is a table of the strings in it."""
        self.by_value = symbols
        self.texts = TextTable() if texts is None else texts
        self.moments = KeyTable()
        self.booleans = [OTHER, OTHER]
        self.rounded: list[float] = []
        """The nearest float64 of each number that is no float64 itself."""
        self._integers = KeyTable()
        self._floats = KeyTable()
        self._seen = 0
        self._lock = threading.Lock()
        if texts is not None:
            self._add([item for item in symbols.items() if item[0].__class__ is not str])
            self._seen = len(symbols)

    def catch_up(self) -> None:
        """Take in what the dictionary has learned."""
        if self._seen < len(self.by_value):
            with self._lock:
                self._add(_newest(self.by_value, self._seen))

    def _add(self, items: list[tuple[Any, int]]) -> None:
        texts: dict[str, int] = {}
        moments: dict[int, int] = {}
        numbers: dict[Any, int] = {}
        for key, symbol in items:
            cls = key.__class__
            if cls is str:
                texts[key] = symbol
            elif cls is tuple:
                self.booleans[key[1]] = symbol
            elif cls is datetime:
                moments[(key - EPOCH) // MICROSECOND] = symbol
            elif key is not None:
                numbers[canonical(key)] = symbol
        self.texts.add(texts)
        self.moments.add(moments)
        if numbers:
            self._add_numbers(numbers)
        self._seen += len(items)

    def _add_numbers(self, numbers: dict[Any, int]) -> None:
        self._integers.add({key: numbers[key] for key in numbers if key.__class__ is int})
        floats = [key for key in numbers if key.__class__ is float]
        bits = np.array(floats, np.float64).view(np.int64).tolist()
        self._floats.add(dict(zip(bits, map(numbers.__getitem__, floats), strict=True)))
        self.rounded += (float(key) for key in numbers if float(key) != key)

    def find_numbers(self, numbers: np.ndarray[Any, Any], out: Words, column: int) -> None:
        """Write the symbol of each int64 or float64, or OTHER."""
        integers, floats = self._integers, self._floats
        if numbers.dtype == np.int64:
            integers.find(numbers, out, column)
        elif len(integers) or len(floats):
            bits = numbers.view(np.int64)
            find_floats(numbers, bits, integers.slots, floats.slots, out, column)
            if integers.symbol_of_empty != OTHER:
                out[numbers == EMPTY, column] = integers.symbol_of_empty
        else:
            out[:, column] = OTHER


class TypeSymbols:
    """The symbols of types, by name."""

    def __init__(self, types: dict[str, tuple[int, int]]) -> None:
        self.texts = TextTable()
        self._types = types
        self._seen = 0
        self._lock = threading.Lock()

    def catch_up(self) -> None:
        if self._seen < len(self._types):
            with self._lock:
                items = _newest(self._types, self._seen)
                self.texts.add({name: symbol for name, (_, symbol) in items})
                self._seen += len(items)


def _newest(grown: dict[Any, Any], seen: int) -> list[tuple[Any, Any]]:
    """Return all items but the first `seen`; another thread may be adding more."""
    while True:
        count = len(grown)
        try:
            items = list(islice(reversed(grown.items()), count - seen))
        except RuntimeError:  # it grew while it was read
            continue
        if len(grown) == count:
            return items


class ColumnSymbols:
    """The tables of one vocabulary."""

    def __init__(self) -> None:
        self._values: dict[str, ValueSymbols] = {}
        self._types: TypeSymbols | None = None
        self._lock = threading.Lock()

    def load(self, axes: AttributeAxes, texts: TextTable) -> None:
        """Take the table of an attribute's texts from a snapshot."""
        self._values[axes.name] = ValueSymbols(axes.symbols, texts)

    def of_values(self, axes: AttributeAxes) -> ValueSymbols:
        found = self._values.get(axes.name)
        if found is None or found.by_value is not axes.symbols:
            with self._lock:
                found = self._values[axes.name] = ValueSymbols(axes.symbols)
        found.catch_up()
        return found

    def of_types(self, vocabulary: Vocabulary) -> TypeSymbols:
        with self._lock:
            if self._types is None:
                self._types = TypeSymbols(vocabulary.types)
        self._types.catch_up()
        return self._types


_TABLES: Final[WeakKeyDictionary[Vocabulary, ColumnSymbols]] = WeakKeyDictionary()
_LOCK: Final = threading.Lock()


def column_symbols(vocabulary: Vocabulary) -> ColumnSymbols:
    with _LOCK:
        found = _TABLES.get(vocabulary)
        if found is None:
            found = _TABLES[vocabulary] = ColumnSymbols()
        return found
