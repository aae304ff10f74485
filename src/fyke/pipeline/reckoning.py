"""What the ledger of a stream adds up to: totals, rates now, rates over time."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from fyke.pipeline.ledger import Entry, Ledger, Place
from fyke.pipeline.outcome import Rate, Streamed
from fyke.pipeline.watching import Pulse

WINDOW_S: Final = 10.0
"""Rates now are those of the last so many seconds."""
RATES_MAX: Final = 60


@dataclass(slots=True)
class Totals:
    """Of some entries."""

    batches: int = 0
    events: int = 0
    refused: int = 0
    matches: int = 0
    notifications: int = 0

    def add(self, entry: Entry) -> None:
        self.batches += 1
        self.events += entry.events
        self.refused += entry.refused
        self.matches += entry.matches
        self.notifications += entry.notifications


@dataclass(slots=True)
class Now:
    """A ledger that is followed while it grows."""

    ledger: Ledger
    totals: Totals = field(default_factory=Totals)
    _place: Place = field(default_factory=Place)
    _recent: deque[Entry] = field(default_factory=deque)

    def look(self) -> Pulse:
        for entry in self.ledger.read(self._place):
            self.totals.add(entry)
            if self._recent and self._recent[-1].start != entry.start:
                self._recent.clear()
            self._recent.append(entry)
            while entry.ended - self._recent[0].began > WINDOW_S and len(self._recent) > 2:
                self._recent.popleft()
        return self._pulse()

    def _pulse(self) -> Pulse:
        if not self._recent:
            return Pulse()
        recent, last = list(self._recent), self._recent[-1]
        # A batch holds what arrived since the one before it began.
        arrived = recent[1:]
        waited = last.began - recent[0].began
        busy = max(sum(entry.duration_s for entry in recent), 1e-9)
        passed = max(last.ended - recent[0].began, 1e-9)
        return Pulse(
            batch=last.batch,
            version=last.version,
            events=self.totals.events,
            refused=self.totals.refused,
            matches=self.totals.matches,
            arriving_per_s=sum(e.events for e in arrived) / waited if waited > 0 else 0.0,
            processed_per_s=sum(e.events for e in recent) / busy,
            matches_per_s=sum(e.matches for e in recent) / passed,
            latency_s=last.duration_s,
        )


def streamed(ledger: Ledger) -> Streamed | None:
    """All of a ledger; None where no batch was done."""
    began: list[float] = []
    running, first, last = 0.0, None, None
    durations = array("d")
    for entry in ledger.entries():
        if first is None or last is None or entry.start != last.start:
            began.append(entry.began)
            running += entry.duration_s
        else:
            running += entry.ended - last.ended
        first, last = first or entry, entry
        durations.append(entry.duration_s)
    if first is None or last is None:
        return None
    return Streamed(
        batches=len(durations),
        starts=len(began),
        version=last.version,
        running_s=running,
        latency_s=median(durations),
        latency_max_s=max(durations),
        rates=_rates(ledger.entries(), first.began, last.ended),
        restarts_s=tuple(moment - first.began for moment in began[1:]),
    )


def _rates(entries: Iterable[Entry], start: float, end: float) -> tuple[Rate, ...]:
    """The time of a stream in equal stretches, at least a second each."""
    width = max((end - start) / RATES_MAX, 1.0)
    count = max(1, -int(-(end - start) // width))
    events, matches = [0] * count, [0] * count
    latencies: list[list[float]] = [[] for _ in range(count)]
    for entry in entries:
        at = min(max(int((entry.began - start) / width), 0), count - 1)
        events[at] += entry.events
        matches[at] += entry.matches
        latencies[at].append(entry.duration_s)
    return tuple(
        Rate(
            at * width,
            width,
            events[at],
            matches[at],
            median(latencies[at]) if latencies[at] else None,
        )
        for at in range(count)
    )
