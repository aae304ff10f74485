"""Watching: predicates are counted while a matcher matches, on a share of its events.

    watching = Watching(matcher, share=0.01)
    ...                                             the matcher is used as always
    plan = fyke.prune(matcher, statistics=watching.statistics())

Idea. Events that were drawn wait in a buffer; when it is full, all predicates of the matcher are
counted on them at once (`PredicateCounts`), which costs less than one by one. What was counted
before a restart, or by another process, is given as `known` and added to.
Invariant. A predicate that came later than some of the events counts as not counted: its share is
estimated, from the values that the events had. With `known` it is the same.
Cost. `BUFFER` events are held; counting them takes some milliseconds.
"""

from __future__ import annotations

from typing import Final

from fyke.events.event import Event
from fyke.matching.matcher import Matcher
from fyke.matching.statistics import Statistics
from fyke.pruning.predicate_statistics import PredicateStatistics, digest, leaves_of

BUFFER: Final = 1_000


class Watching:
    """Counts a share of the events that a matcher sees from now on."""

    def __init__(
        self, matcher: Matcher, share: float = 0.01, known: PredicateStatistics | None = None
    ) -> None:
        self._matcher = matcher
        self._known = known or PredicateStatistics(schema=digest(matcher.schema))
        self._known.check_schema(matcher.schema)
        self._events: list[Event] = []
        matcher.watch(self._saw, share)

    def _saw(self, event: Event) -> None:
        self._events.append(event)
        if len(self._events) >= BUFFER:
            self.statistics()

    def statistics(self) -> PredicateStatistics:
        """Return what was counted up to now."""
        if self._events:
            events, self._events = self._events, []
            leaves = leaves_of(filter for _, filter in self._matcher.items())
            counted = PredicateStatistics.of(events, leaves, schema=self._matcher.schema)
            values = Statistics.of(events)
            self._known += PredicateStatistics(
                counted.events, counted.satisfied, values, counted.schema
            )
        return self._known

    def stop(self) -> None:
        """Watch no longer; what was counted stays."""
        self._matcher.watch(None)
