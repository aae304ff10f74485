"""The outcome of a run: plain values, for the summary, the report and `summary.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the run: what it handled, and how long that took."""

    name: str
    rows: int
    unit: str
    duration_s: float

    @property
    def rate(self) -> float:
        """Rows a second."""
        return self.rows / max(self.duration_s, 1e-9)


@dataclass(frozen=True, slots=True)
class Busy:
    """A subscription or a subscriber with many matches."""

    name: str
    matches: int
    filter: str | None = None
    subscriber: str | None = None


@dataclass(frozen=True, slots=True)
class Class:
    """A class of subscriptions and how often events match one of it."""

    name: str
    subscriptions: int
    matches: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why rows were refused: one of their reasons, and how many have one like it."""

    example: str
    rows: int


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """Statistics of the journal of matching."""

    events_by_size: tuple[tuple[int, int], ...] = ()
    """(number of matches, events with that number), ascending."""
    subscriptions_by_matches: tuple[tuple[int, int], ...] = ()
    """(k, subscriptions with 2**k to 2**(k+1) - 1 matches); k is -1 for those without any."""
    events_by_step: tuple[tuple[float, int], ...] = ()
    """(second of matching, events that were done in the step that begins there)."""
    busiest: tuple[Busy, ...] = ()
    busiest_subscribers: tuple[Busy, ...] = ()
    classes: tuple[Class, ...] = ()
    selectivities: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """For each attribute the shares of events that predicates on it accept, from a sample."""
    refusals: tuple[Reason, ...] = ()
    """The commonest reasons why events were refused."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A stretch of time in a stream: seconds since it began, and what was done in it."""

    at_s: float
    width_s: float
    events: float
    matches: float
    latency_s: float | None
    """The median of the batches that began in it."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """A stream over all its starts, as the log of counts has it."""

    batches: int
    starts: int
    version: int
    """The newest one that a batch saw."""
    running_s: float
    """From its first batch to its last, for each start."""
    latency_s: float
    """Of a batch, the median."""
    latency_max_s: float
    rates: tuple[Rate, ...]
    restarts_s: tuple[float, ...]
    """When it was started again, in seconds since it began."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The whole run."""

    events: int
    events_refused: int
    subscriptions: int
    subscriptions_refused: int
    matches: int
    notifications: int
    subscribers: int
    """The number of those that got something."""
    stages: tuple[Stage, ...]
    statistics: RunStatistics
    stream: Streamed | None = None
    tables: str | None = None
    """The place of the tables, if they are not in the folder of results."""

    @property
    def duration_s(self) -> float:
        return sum(stage.duration_s for stage in self.stages)

    @property
    def events_matched(self) -> int:
        return sum(events for size, events in self.statistics.events_by_size if size)

    def document(self) -> dict[str, Any]:
        """Return it as in JSON."""
        return asdict(self)
