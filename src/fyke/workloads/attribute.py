"""Attributes of generated events: dictionaries of words and whole numbers, each value a code.

A word's code is its rank of popularity, a number's code is the number. What is drawn for one row
stands next to its twin for many rows; both give the same codes.

    Words("s100", 100)            s100 = 's100-36'            Zipf (s = 1), also in the filters
    Number("n1", 1_000_000, w)    n1 between 7000 and 80123   uniform; widths are drawn from `w`
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from fyke.filters.predicate import In, Predicate, Range
from fyke.workloads.draw import HALF, Choice, Ranges, Stream, popularity

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from fyke.workloads.vector_draw import Words as Draws

_SCATTER: Final = 7_919
"""Prime to every size in use: popular words are spread over the dictionary's order."""


@dataclass(frozen=True, slots=True)
class Attribute(ABC):
    """A name, and codes from 0 up to but excluding `size`."""

    is_word: ClassVar[bool]

    name: str
    size: int

    @abstractmethod
    def code(self, half: int) -> int:
        """The code on which 32 random bits fall, in an event."""

    @abstractmethod
    def codes(self, halves: Draws) -> NDArray[np.int64]:
        """`code` for many rows."""

    @abstractmethod
    def value(self, code: int) -> str | int:
        """What stands in an event for a code."""

    @abstractmethod
    def column(self, codes: NDArray[np.int64]) -> pa.Array:
        """`value` for many rows."""

    @abstractmethod
    def ends(self, stream: Stream, row: int) -> tuple[int, int]:
        """The lowest and the highest code that a filter's predicate accepts."""

    @abstractmethod
    def ends_of(self, stream: Stream, rows: Draws) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`ends` for many rows."""

    @abstractmethod
    def predicate(self, low: int, high: int) -> Predicate:
        """The predicate that accepts the codes from `low` to `high`."""

    @abstractmethod
    def predicate_texts(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> pa.Array:
        """The text of `predicate` for many rows."""


@dataclass(frozen=True, slots=True)
class Words(Attribute):
    """A dictionary of strings; filters ask for one of them."""

    is_word: ClassVar[bool] = True

    def code(self, half: int) -> int:
        return zipf(self.size).pick(half)

    def codes(self, halves: Draws) -> NDArray[np.int64]:
        from fyke.workloads.vector_draw import pick

        return pick(zipf(self.size), halves)

    def value(self, code: int) -> str:
        return f"{self.name}-{(code * _SCATTER + 17) % self.size}"

    def column(self, codes: NDArray[np.int64]) -> pa.Array:
        return _dictionary(self).take(codes)

    def ends(self, stream: Stream, row: int) -> tuple[int, int]:
        code = self.code(stream.half(row, 0))
        return code, code

    def ends_of(self, stream: Stream, rows: Draws) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        from fyke.workloads.vector_draw import half

        codes = self.codes(half(stream, rows, 0))
        return codes, codes

    def predicate(self, low: int, high: int) -> Predicate:
        return In(self.name, (self.value(low),))

    def predicate_texts(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> pa.Array:
        import pyarrow.compute as pc

        return pc.binary_join_element_wise(f"{self.name} = '", self.column(low), "'", "")


@dataclass(frozen=True, slots=True)
class Number(Attribute):
    """Whole numbers, uniform; filters ask for an interval of `widths` numbers."""

    is_word: ClassVar[bool] = False

    widths: Ranges

    def code(self, half: int) -> int:
        return (half * self.size) >> HALF

    def codes(self, halves: Draws) -> NDArray[np.int64]:
        from fyke.workloads.vector_draw import scale

        return scale(halves, self.size).astype("int64")

    def value(self, code: int) -> int:
        return code

    def column(self, codes: NDArray[np.int64]) -> pa.Array:
        import pyarrow as pa

        return pa.array(codes)

    def ends(self, stream: Stream, row: int) -> tuple[int, int]:
        width = self.widths.pick(stream.half(row, 0), stream.half(row, 1))
        low = stream.below(row, 2, self.size - width + 1)
        return low, low + width - 1

    def ends_of(self, stream: Stream, rows: Draws) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        from fyke.workloads.vector_draw import half, pick_within, scale

        width = pick_within(self.widths, half(stream, rows, 0), half(stream, rows, 1))
        low = scale(half(stream, rows, 2), self.size + 1 - width)
        return low.astype("int64"), (low + width - 1).astype("int64")

    def predicate(self, low: int, high: int) -> Predicate:
        return Range(self.name, low, high)

    def predicate_texts(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        ends = [pa.array(each).cast(pa.string()) for each in (low, high)]
        return pc.binary_join_element_wise(f"{self.name} between ", ends[0], " and ", ends[1], "")


@lru_cache(maxsize=64)
def zipf(size: int) -> Choice:
    """Rank k, counted from 1, weighs 1 / k."""
    return popularity(size, flat=1)


@lru_cache(maxsize=64)
def _dictionary(words: Words) -> pa.Array:
    import pyarrow as pa

    return pa.array(map(words.value, range(words.size)), pa.string())


def geometric_widths(low: int, high: int, steps: int = 64) -> Ranges:
    """Widths from `low` to `high`, log-uniform: each of the steps, which grow by one ratio, is as
    likely, and uniform inside.

    Ends are whole roots, so that every machine has the same.
    """
    ends = [root(low ** (steps - step) * high**step, steps) for step in range(steps + 1)]
    ends[-1] += 1
    return Ranges(ends, [1] * steps)


def root(power: int, degree: int) -> int:
    """The largest integer whose power of `degree` is at most `power`, by Newton's method."""
    if power == 0:
        return 0
    guess = 1 << -(-power.bit_length() // degree)
    while True:
        better = ((degree - 1) * guess + power // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess
        guess = better
