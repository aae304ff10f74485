"""Ladder: who stands at which cut, and who between two cuts, while they come and go.

The order of the cuts is made when it is first asked for and kept from then on, in rungs of limited
length, so that an update moves few of them.
Cost. A dictionary's as long as nobody asks for a range; then O(sqrt n) words moved an update.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, Generic, TypeVar

from fyke.filters.intervals import Cut
from fyke.routing.covering.crowds import Crowds

T = TypeVar("T", bound=Hashable)

_RUNG_MAX: Final = 1_000
_FEW: Final = 8


class Ladder(Generic[T]):
    """Over cuts of one kind of values."""

    __slots__ = ("_crowds", "_rungs")

    def __init__(self) -> None:
        self._crowds: Crowds[Cut, T] = Crowds()
        self._rungs: list[list[Cut]] | None = None
        """All cuts in order, no rung empty; None before they were asked for."""

    def add(self, cut: Cut, one: T) -> None:
        if self._crowds.add(cut, one) and self._rungs is not None:
            _insert(self._rungs, cut)

    def remove(self, cut: Cut, one: T) -> None:
        if self._crowds.remove(cut, one) and self._rungs is not None:
            _delete(self._rungs, cut)

    def at(self, cut: Cut) -> Iterable[T]:
        return self._crowds.at(cut)

    def size(self, cut: Cut) -> int:
        return self._crowds.size(cut)

    def all(self) -> Iterator[T]:
        return self._crowds.all()

    def between(self, low: Cut, high: Cut) -> Iterator[T]:
        """Those at cuts from `low` to `high`, both included."""
        rungs = self._ordered()
        for at in range(_rung(rungs, low), len(rungs)):
            rung = rungs[at]
            if rung[0] > high:
                return
            for cut in rung[bisect_left(rung, low) : bisect_right(rung, high)]:
                yield from self._crowds.at(cut)

    def estimate(self, low: Cut, high: Cut) -> float:
        """About how many stand between; if they stand at few cuts, how many."""
        rungs = self._ordered()
        first, last = _rung(rungs, low), _rung(rungs, high)
        if first >= len(rungs):
            return 0
        start = bisect_left(rungs[first], low)
        if first == last:
            end = bisect_right(rungs[first], high)
            if end - start <= _FEW:
                return sum(map(self._crowds.size, rungs[first][start:end]))
            cuts = end - start
        else:
            cuts = (last - first) * _RUNG_MAX // 2 + len(rungs[first]) - start
        return cuts * self._crowds.total / len(self._crowds)

    def total(self) -> int:
        return self._crowds.total

    def __len__(self) -> int:
        """How many cuts there are."""
        return len(self._crowds)

    def _ordered(self) -> list[list[Cut]]:
        if self._rungs is None:
            cuts, half = sorted(self._crowds), _RUNG_MAX // 2
            self._rungs = [cuts[start : start + half] for start in range(0, len(cuts), half)]
        return self._rungs


def _rung(rungs: list[list[Cut]], cut: Cut) -> int:
    """The first one that ends at a cut or behind it."""
    return bisect_left(rungs, cut, key=_last)


def _last(rung: list[Cut]) -> Cut:
    return rung[-1]


def _insert(rungs: list[list[Cut]], cut: Cut) -> None:
    if not rungs:
        rungs.append([cut])
        return
    at = min(_rung(rungs, cut), len(rungs) - 1)
    rung = rungs[at]
    insort(rung, cut)
    if len(rung) > _RUNG_MAX:
        rungs[at : at + 1] = [rung[: len(rung) // 2], rung[len(rung) // 2 :]]


def _delete(rungs: list[list[Cut]], cut: Cut) -> None:
    at = _rung(rungs, cut)
    rung = rungs[at]
    del rung[bisect_left(rung, cut)]
    if not rung:
        del rungs[at]
