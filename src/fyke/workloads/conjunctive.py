"""W1 to W3: flat events of words and numbers, and filters that are conjunctions over them.

    w1          five dictionaries of 10 to 100,000 words, Zipf; five numbers below a million,
                uniform. Filters of three to five predicates: equalities and intervals come as
                (1, 2), (1, 3), (2, 1), (2, 2) or (2, 3), each as likely; an interval is 1 % to 15 %
                of the numbers wide, log-uniform. An event matches about six of 100,000
                subscriptions.
    w2_3, w2_10 three or ten numbers; filters of three intervals, each 10 % to 30 % wide. An event
                matches about eight of a thousand subscriptions.
    w3          twenty dictionaries, four of each size; filters of five equalities. An event matches
                about three of ten million subscriptions.

A conjunctive workload is a list of attributes and a table of templates, no more. Besides what all
workloads have, it gives events as codes and filters as matrices over these codes, for references
that take arrays.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fyke.filters.filter import Filter, conjunction
from fyke.workloads.attribute import CodedAttribute, Number, Words, geometric_widths
from fyke.workloads.draw import Codes, RandomStream, Ranges, row_numbers
from fyke.workloads.predicates import Conjunctions, PredicateSource, Templates
from fyke.workloads.workload import ColumnarWorkload


@dataclass(frozen=True, slots=True)
class FlatWorkload(ColumnarWorkload):
    """Events of `attributes`, each of which is in every event."""

    attributes: ClassVar[tuple[CodedAttribute, ...]]
    family: ClassVar[str]
    """Names the streams: workloads of one family have the same events."""

    def columns(self, count: int, start: int = 0) -> pa.Table:
        codes = zip(self.attributes, self._codes(count, start), strict=True)
        return pa.table({attribute.name: attribute.column(column) for attribute, column in codes})

    def codes(self, count: int, start: int = 0) -> NDArray[np.int32]:
        """Draw `count` events from number `start` on: a row per event, a column per attribute."""
        return np.column_stack([codes.astype(np.int32) for codes in self._codes(count, start)])

    def _codes(self, count: int, start: int) -> Iterator[Codes]:
        rows = row_numbers(count, start)
        streams = _streams(type(self), self.seed)
        for attribute, stream in zip(self.attributes, streams, strict=True):
            yield attribute.codes(stream.half(rows, 0))


@lru_cache(maxsize=16)
def _streams(kind: type[FlatWorkload], seed: int) -> tuple[RandomStream, ...]:
    return tuple(
        RandomStream(seed, f"{kind.family} {attribute.name}") for attribute in kind.attributes
    )


@dataclass(frozen=True, slots=True)
class ConjunctiveWorkload(FlatWorkload):
    """Filters that are conjunctions; an equality of a word, or an interval of a number."""

    @classmethod
    @abstractmethod
    def templates(cls) -> Templates:
        """Return the sets of attributes that a filter may speak about; always the same object."""

    def make_filters(self, count: int, start: int) -> Iterable[Filter]:
        source = _source(type(self), self.seed)
        return map(conjunction, source.predicates(self.conjunctions(count, start)))

    def conjunctions(self, count: int, start: int = 0) -> Conjunctions:
        """Draw the filters of `count` subscriptions from number `start` on, over `codes`."""
        return _source(type(self), self.seed).draw(row_numbers(count, start))

    def text_column(self, count: int, start: int = 0) -> pa.Array:
        return self.texts_of(row_numbers(count, start))

    def texts_of(self, numbers: Codes) -> pa.Array:
        """Return the texts of the subscriptions with these numbers."""
        source = _source(type(self), self.seed)
        places = source.texts(source.draw(numbers))
        return pc.binary_join_element_wise(*places, " and ", null_handling="skip")


@lru_cache(maxsize=16)
def _source(kind: type[ConjunctiveWorkload], seed: int) -> PredicateSource:
    return PredicateSource(seed, f"{kind.family} filters", kind.attributes, kind.templates())


# --- w1 -------------------------------------------------------------------------------------------

NUMBERS: Final = 1_000_000
SIZES: Final = {"s10": 10, "s100": 100, "s1k": 1_000, "s10k": 10_000, "s100k": 100_000}
SHAPES: Final = ((1, 2), (1, 3), (2, 1), (2, 2), (2, 3))
"""The numbers of equalities and of intervals."""

_WIDTHS: Final = geometric_widths(NUMBERS // 100, NUMBERS * 15 // 100)
WORD_ATTRIBUTES: Final = tuple(Words(name, size) for name, size in SIZES.items())
NUMBER_ATTRIBUTES: Final = tuple(Number(f"n{at}", NUMBERS, _WIDTHS) for at in range(1, 6))


@dataclass(frozen=True, slots=True)
class MixedWorkload(ConjunctiveWorkload):
    """Conjunctions of equalities and intervals."""

    name: ClassVar[str] = "w1"
    family: ClassVar[str] = "w1"
    attributes: ClassVar[tuple[CodedAttribute, ...]] = WORD_ATTRIBUTES + NUMBER_ATTRIBUTES

    @classmethod
    def templates(cls) -> Templates:
        return _mixed_templates()


@lru_cache(maxsize=1)
def _mixed_templates() -> Templates:
    return Templates(template for shape in SHAPES for template in _of_shape(*shape))


def _of_shape(equalities: int, intervals: int) -> Iterator[tuple[int, ...]]:
    """Yield a hundred templates for any shape: there are 50 or 100 different ones."""
    words = combinations(range(5), equalities)
    different = [a + b for a, b in product(words, combinations(range(5, 10), intervals))]
    for _ in range(100 // len(different)):
        yield from different


# --- w2 -------------------------------------------------------------------------------------------

INTERVALS: Final = 3

_WIDE: Final = Ranges((NUMBERS // 10, NUMBERS * 3 // 10 + 1), (1,))
_WIDE_ATTRIBUTES: Final = tuple(Number(f"n{at}", NUMBERS, _WIDE) for at in range(1, 11))


@dataclass(frozen=True, slots=True)
class ThreeIntervalsWorkload(ConjunctiveWorkload):
    """Conjunctions over all of three attributes."""

    name: ClassVar[str] = "w2_3"
    family: ClassVar[str] = "w2_3"
    attributes: ClassVar[tuple[CodedAttribute, ...]] = _WIDE_ATTRIBUTES[:3]

    @classmethod
    def templates(cls) -> Templates:
        return _combinations(len(cls.attributes), INTERVALS)


@dataclass(frozen=True, slots=True)
class ThreeOfTenIntervalsWorkload(ThreeIntervalsWorkload):
    """Conjunctions over three attributes of ten."""

    name: ClassVar[str] = "w2_10"
    family: ClassVar[str] = "w2_10"
    attributes: ClassVar[tuple[CodedAttribute, ...]] = _WIDE_ATTRIBUTES


# --- w3 -------------------------------------------------------------------------------------------

EQUALITIES: Final = 5


@dataclass(frozen=True, slots=True)
class EqualitiesWorkload(ConjunctiveWorkload):
    """Conjunctions of equalities."""

    name: ClassVar[str] = "w3"
    family: ClassVar[str] = "w3"
    attributes: ClassVar[tuple[CodedAttribute, ...]] = tuple(
        Words(name + letter, SIZES[name]) for letter, name in product("abcd", SIZES)
    )

    @classmethod
    def templates(cls) -> Templates:
        return _combinations(len(cls.attributes), EQUALITIES)


@lru_cache(maxsize=3)
def _combinations(attributes: int, size: int) -> Templates:
    return Templates(combinations(range(attributes), size))
