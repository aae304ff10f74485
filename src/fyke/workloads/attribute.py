"""Attributes of generated events: dictionaries of words and whole numbers, each value a code.

A word's code is its rank of popularity, a number's code is the number.

    Words("s100", 100)            s100 = 's100-36'            Zipf (s = 1), also in the filters
    Number("n1", 1_000_000, w)    n1 between 7000 and 80123   uniform; widths are drawn from `w`
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from fyke.filters.predicate import In, Predicate, Range
from fyke.workloads.draw import Bits, Choice, Codes, RandomStream, Ranges, popularity, scale

_SCATTER: Final = 7_919
"""Prime to every size in use: popular words are spread over the dictionary's order."""


@dataclass(frozen=True, slots=True)
class CodedAttribute(ABC):
    """A name, and codes from 0 up to but excluding `size`."""

    is_word: ClassVar[bool]

    name: str
    size: int

    @abstractmethod
    def codes(self, halves: Bits) -> Codes:
        """Return the codes in events on which 32 random bits fall."""

    @abstractmethod
    def value(self, code: int) -> str | int:
        """Return the value of a code in an event."""

    @abstractmethod
    def column(self, codes: Codes) -> pa.Array:
        """Return the values of many codes."""

    @abstractmethod
    def ends(self, stream: RandomStream, rows: Codes) -> tuple[Codes, Codes]:
        """Draw the lowest and the highest codes that filters' predicates accept."""

    @abstractmethod
    def predicate(self, low: int, high: int) -> Predicate:
        """Return the predicate that accepts the codes from `low` to `high`."""

    @abstractmethod
    def predicate_texts(self, low: Codes, high: Codes) -> pa.Array:
        """Return the texts of many predicates."""


@dataclass(frozen=True, slots=True)
class Words(CodedAttribute):
    """A dictionary of strings; filters ask for one of them."""

    is_word: ClassVar[bool] = True

    def codes(self, halves: Bits) -> Codes:
        return zipf(self.size).pick(halves)

    def value(self, code: int) -> str:
        return f"{self.name}-{(code * _SCATTER + 17) % self.size}"

    def column(self, codes: Codes) -> pa.Array:
        return _dictionary(self).take(codes)

    def ends(self, stream: RandomStream, rows: Codes) -> tuple[Codes, Codes]:
        codes = self.codes(stream.half(rows, 0))
        return codes, codes

    def predicate(self, low: int, high: int) -> Predicate:
        return In(self.name, (self.value(low),))

    def predicate_texts(self, low: Codes, high: Codes) -> pa.Array:
        return pc.binary_join_element_wise(f"{self.name} = '", self.column(low), "'", "")


@dataclass(frozen=True, slots=True)
class Number(CodedAttribute):
    """Whole numbers, uniform; filters ask for an interval of `widths` numbers."""

    is_word: ClassVar[bool] = False

    widths: Ranges

    def codes(self, halves: Bits) -> Codes:
        return scale(halves, self.size)

    def value(self, code: int) -> int:
        return code

    def column(self, codes: Codes) -> pa.Array:
        return pa.array(codes)

    def ends(self, stream: RandomStream, rows: Codes) -> tuple[Codes, Codes]:
        width = self.widths.pick(stream.half(rows, 0), stream.half(rows, 1))
        low = stream.below(rows, 2, self.size - width + 1)
        return low, low + width - 1

    def predicate(self, low: int, high: int) -> Predicate:
        return Range(self.name, low, high)

    def predicate_texts(self, low: Codes, high: Codes) -> pa.Array:
        ends = [pa.array(each).cast(pa.string()) for each in (low, high)]
        return pc.binary_join_element_wise(f"{self.name} between ", ends[0], " and ", ends[1], "")


@lru_cache(maxsize=64)
def zipf(size: int) -> Choice:
    """Return the choice in which rank k, counted from 1, weighs 1 / k."""
    return popularity(size, flat=1)


@lru_cache(maxsize=64)
def _dictionary(words: Words) -> pa.Array:
    return pa.array(map(words.value, range(words.size)), pa.string())


def geometric_widths(low: int, high: int, steps: int = 64) -> Ranges:
    """Return widths from `low` to `high`, log-uniform.

    The steps grow by one ratio and are equally likely; inside a step widths are uniform. Ends are
    whole roots, so that every machine has the same.
    """
    ends = [root(low ** (steps - step) * high**step, steps) for step in range(steps + 1)]
    ends[-1] += 1
    return Ranges(ends, [1] * steps)


def root(power: int, degree: int) -> int:
    """Return the largest integer whose power of `degree` is at most `power`, by Newton's method."""
    if power == 0:
        return 0
    guess = 1 << -(-power.bit_length() // degree)
    while True:
        better = ((degree - 1) * guess + power // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess
        guess = better
