"""A draw of one row or of many: one sentence about a workload serves both.

    def price(draw: Draw[Code]) -> Code:
        return 500 * (950 + draw.below(1, 101)) // 1_000

    price(Row(stream, 7))                   512
    price(Rows(stream, numbers(3, 7)))      [512 478 521]

Idea. A row's codes are integers, those of many rows arrays of int64 (`rows.Rows`); sums, products,
comparisons and look-ups are written the same for either.
Invariant. Position i of what `Rows` gives is what `Row` gives for number i: whoever writes only
what both have cannot break it. Products must stay within 63 bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from fyke.workloads.draw import HALF, Choice, Ranges, Stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Code = TypeVar("Code", int, "NDArray[np.int64]")


class Draw(ABC, Generic[Code]):
    """The random numbers of a stream's row, by column; see `draw`."""

    __slots__ = ("number", "stream")

    def __init__(self, stream: Stream, number: Code) -> None:
        self.stream = stream
        self.number: Code = number

    @abstractmethod
    def below(self, column: int, limit: int) -> Code:
        """From 0 up to but excluding `limit`, which is at most 2**32."""

    @abstractmethod
    def pick(self, choice: Choice, column: int) -> Code:
        """One of a choice."""

    @abstractmethod
    def pick_by(self, choices: tuple[Choice, ...], key: Code, column: int) -> Code:
        """One of the choice that stands at `key`."""

    @abstractmethod
    def chance(self, per_mille: Code, column: int) -> Code:
        """1 in so many of a thousand rows, 0 in the others."""

    @abstractmethod
    def inside(self, ranges: Ranges, at: Code, column: int) -> Code:
        """A number of the range that stands at `at`."""

    @abstractmethod
    def look_up(self, table: tuple[int, ...], at: Code) -> Code:
        """What stands in a table."""

    @abstractmethod
    def seek(self, number: Code, stream: Stream | None = None) -> Draw[Code]:
        """The draw at another number, of the same stream or another."""

    def within(self, ranges: Ranges, which: int, inside: int) -> Code:
        """A number of the ranges; two columns decide."""
        return self.inside(ranges, self.pick(ranges.choice, which), inside)


class Row(Draw[int]):
    """The draws of one row."""

    __slots__ = ()

    def below(self, column: int, limit: int) -> int:
        return self.stream.below(self.number, column, limit)

    def pick(self, choice: Choice, column: int) -> int:
        return choice.pick(self.stream.half(self.number, column))

    def pick_by(self, choices: tuple[Choice, ...], key: int, column: int) -> int:
        return self.pick(choices[key], column)

    def chance(self, per_mille: int, column: int) -> int:
        return int(self.below(column, 1_000) < per_mille)

    def inside(self, ranges: Ranges, at: int, column: int) -> int:
        half = self.stream.half(self.number, column)
        return ranges.starts[at] + ((half * ranges.widths[at]) >> HALF)

    def look_up(self, table: tuple[int, ...], at: int) -> int:
        return table[at]

    def seek(self, number: int, stream: Stream | None = None) -> Row:
        return Row(stream or self.stream, number)


class Sketch(Protocol):
    """What is drawn of a row: codes by name."""

    def __call__(self, draw: Draw[Code], /) -> dict[str, Code]: ...


class Which(Protocol):
    """Which of several kinds a row is."""

    def __call__(self, draw: Draw[Code], /) -> Code: ...
