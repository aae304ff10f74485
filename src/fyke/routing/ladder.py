"""Ladder: numbers at cuts, and which of them stand between two cuts, while they come and go.

Cuts that were met are kept in a dictionary; their order is made when it is first asked for and kept
from then on, in rungs of limited length, so that an update moves few of them.
Cost. A dictionary's as long as nobody asks for a range; then O(sqrt n) words moved an update.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import Final

from fyke.filters.intervals import Cut

_RUNG_MAX: Final = 1_000


class Ladder:
    """Numbers at cuts of one kind."""

    __slots__ = ("_at", "_rungs")

    def __init__(self) -> None:
        self._at: dict[Cut, dict[int, None]] = {}
        self._rungs: list[list[Cut]] | None = None
        """In order, none empty."""

    def add(self, cut: Cut, number: int) -> None:
        held = self._at.get(cut)
        if held is not None:
            held[number] = None
            return
        self._at[cut] = {number: None}
        if self._rungs is not None:
            self._insert(self._rungs, cut)

    def discard(self, cut: Cut, number: int) -> None:
        """Whether it stands there or not."""
        held = self._at.get(cut)
        if held is None:
            return
        held.pop(number, None)
        if held:
            return
        del self._at[cut]
        if self._rungs is not None:
            at = self._rung(self._rungs, cut)
            rung = self._rungs[at]
            del rung[bisect_left(rung, cut)]
            if not rung:
                del self._rungs[at]

    def at(self, cut: Cut) -> dict[int, None]:
        return self._at.get(cut, {})

    def between(self, low: Cut, high: Cut) -> Iterator[int]:
        """The numbers at cuts from `low` to `high`, both included."""
        rungs = self._ordered()
        for at in range(self._rung(rungs, low), len(rungs)):
            rung = rungs[at]
            if rung[0] > high:
                return
            for cut in rung[bisect_left(rung, low) : bisect_right(rung, high)]:
                yield from self._at[cut]

    def estimate(self, low: Cut, high: Cut) -> int:
        """About how many cuts stand between."""
        rungs = self._ordered()
        first, last = self._rung(rungs, low), self._rung(rungs, high)
        if first >= len(rungs):
            return 0
        start = bisect_left(rungs[first], low)
        if first == last:
            return bisect_right(rungs[first], high) - start
        return (last - first) * _RUNG_MAX // 2 + len(rungs[first]) - start

    def __bool__(self) -> bool:
        return bool(self._at)

    def _ordered(self) -> list[list[Cut]]:
        if self._rungs is None:
            cuts, half = sorted(self._at), _RUNG_MAX // 2
            self._rungs = [cuts[start : start + half] for start in range(0, len(cuts), half)]
        return self._rungs

    @staticmethod
    def _rung(rungs: list[list[Cut]], cut: Cut) -> int:
        """The first one that ends at a cut or behind it."""
        return bisect_left(rungs, cut, key=lambda rung: rung[-1])

    def _insert(self, rungs: list[list[Cut]], cut: Cut) -> None:
        if not rungs:
            rungs.append([cut])
            return
        at = min(self._rung(rungs, cut), len(rungs) - 1)
        rung = rungs[at]
        insort(rung, cut)
        if len(rung) > _RUNG_MAX:
            rungs[at : at + 1] = [rung[: len(rung) // 2], rung[len(rung) // 2 :]]
