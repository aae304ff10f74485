"""Rates: the log of counts in totals, rates now, rates over time."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median
from typing import Final

from fyke.pipeline.live.batch_counts import BatchCounts, CountsLog, Position
from fyke.pipeline.results.outcome import Rate, Streamed
from fyke.pipeline.watching import Pulse

WINDOW_S: Final = 10.0
"""Seconds up to now of which the current rates are."""
RATES_MAX: Final = 60


@dataclass(slots=True)
class Totals:
    """Of some entries."""

    batches: int = 0
    events: int = 0
    refused: int = 0
    matches: int = 0
    notifications: int = 0

    def add(self, entry: BatchCounts) -> None:
        self.batches += 1
        self.events += entry.events
        self.refused += entry.refused
        self.matches += entry.matches
        self.notifications += entry.notifications


class Now:
    """A log that is followed while it grows: all of it in totals, what is new in rates."""

    def __init__(self, counts_log: CountsLog) -> None:
        self.totals = Totals()
        self._log = counts_log
        self._place = Position()
        self._recent: deque[BatchCounts] = deque()
        for entry in counts_log.read(self._place):
            self.totals.add(entry)

    def look(self) -> Pulse:
        for entry in self._log.read(self._place):
            self.totals.add(entry)
            self._recent.append(entry)
            while entry.ended - self._recent[0].began > WINDOW_S and len(self._recent) > 2:
                self._recent.popleft()
        return self._pulse()

    def _pulse(self) -> Pulse:
        if not self._recent:
            return Pulse()
        recent, last = list(self._recent), self._recent[-1]
        busy = max(sum(entry.duration_s for entry in recent), 1e-9)
        passed = max(last.ended - recent[0].began, 1e-9)
        return Pulse(
            batch=last.batch,
            version=last.version,
            events=self.totals.events,
            refused=self.totals.refused,
            matches=self.totals.matches,
            arriving_per_s=_arriving(recent),
            processed_per_s=sum(e.events for e in recent) / busy,
            matches_per_s=sum(e.matches for e in recent) / passed,
            latency_s=last.duration_s,
        )


def _arriving(entries: list[BatchCounts]) -> float:
    """Return events a second; a batch holds what arrived since the one before it began."""
    first, *others = entries
    waited = others[-1].began - first.began if others else 0.0
    if waited <= 0:
        others, waited = entries, max(first.duration_s, 1e-9)
    return sum(entry.events for entry in others) / waited


def summarize(counts_log: CountsLog) -> tuple[Totals, Streamed | None]:
    """Sum up a whole log; None where no batch was done."""
    totals, began, durations = Totals(), array("d"), array("d")
    running, last = 0.0, None
    for entry in counts_log.entries():
        totals.add(entry)
        durations.append(entry.duration_s)
        if last is None or last.start != entry.start:
            began.append(entry.began)
            running += entry.duration_s
        else:
            running += entry.ended - last.ended
        last = entry
    if last is None:
        return totals, None
    return totals, Streamed(
        batches=totals.batches,
        starts=len(began),
        version=last.version,
        running_s=running,
        latency_s=median(durations),
        latency_max_s=max(durations),
        rates=_rates(counts_log.entries(), began[0], last.ended),
        restarts_s=tuple(moment - began[0] for moment in began[1:]),
    )


def _rates(entries: Iterable[BatchCounts], start: float, end: float) -> tuple[Rate, ...]:
    """Return the time of a stream in equal stretches, at least a second each.

    The events of a batch count for the time from its beginning to that of the next.
    """
    width = max((end - start) / RATES_MAX, 1.0)
    count = max(1, -int(-(end - start) // width))
    events, matches = [0.0] * count, [0.0] * count
    latencies: list[list[float]] = [[] for _ in range(count)]
    for entry, following in pairwise(chain(entries, [None])):
        assert entry is not None
        since, until = (entry.began - start) / width, (_end(entry, following) - start) / width
        for at, share in _shares(since, until, count):
            events[at] += share * entry.events
            matches[at] += share * entry.matches
        latencies[_place(since, count)].append(entry.duration_s)
    return tuple(
        Rate(at * width, width, events[at], matches[at], median(found) if found else None)
        for at, found in enumerate(latencies)
    )


def _end(entry: BatchCounts, following: BatchCounts | None) -> float:
    """Return the time when the next batch began; if that is much later, when this one ended."""
    if following is None or following.start != entry.start:
        return entry.ended
    return following.began if following.began - entry.ended < WINDOW_S else entry.ended


def _shares(since: float, until: float, count: int) -> Iterator[tuple[int, float]]:
    """Return the share of a stretch of time that falls to each place."""
    first, last = _place(since, count), _place(until, count)
    if first == last or until <= since:
        yield last, 1.0
        return
    for at in range(first, last + 1):
        begins, ends = (since if at == first else at), (until if at == last else at + 1)
        yield at, (ends - begins) / (until - since)


def _place(at: float, count: int) -> int:
    return min(max(int(at), 0), count - 1)
