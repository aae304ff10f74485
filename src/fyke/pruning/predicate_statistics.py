"""PredicateStatistics: in how many events each predicate held (PRU-13).

    PredicateStatistics.of(events, leaves_of(matcher))      counts a sample
    first + second                                          parts add up, over processes and days
    PredicateStatistics.read(json.load(file))               as data: `document`, `read`

A predicate is counted once per event, however many subscriptions share it. One that was counted and
never held has the share (0 + 1/2) / (events + 1), so that rare titles are not taken for impossible
ones. One that was not counted is estimated (`estimating`), and said to be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from fyke.errors import FykeError, shown
from fyke.events.number import INT_MAX
from fyke.filters.filter import Constant, Filter, Not, walk
from fyke.filters.language.parser import parse_text
from fyke.filters.predicate import Predicate
from fyke.filters.residual import Residual
from fyke.matching.statistics import Statistics
from fyke.pruning.estimating import estimate

if TYPE_CHECKING:
    from fyke.events.schema import Schema

SEEN_AT_LEAST: Final = 0.5
"""A predicate that never held is taken to have held this often."""
_KEYS: Final = frozenset({"events", "predicates", "values", "schema"})


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the events, and whether it is only an estimate."""

    value: float
    is_estimate: bool = False

    def __str__(self) -> str:
        return f"{'about ' * self.is_estimate}{self.value:.3g}"


@dataclass(frozen=True, slots=True)
class PredicateStatistics:
    """Counts of predicates over some events; a value."""

    events: int = 0
    satisfied: Mapping[Filter, int] = field(default_factory=dict)
    """By predicate or residual; those that were not asked for are not in it."""
    values: Statistics = field(default_factory=Statistics)
    """Statistics of values, for predicates that were not counted."""
    schema: str | None = None
    """A digest of the schema that events were read with."""

    @classmethod
    def of(
        cls, events: Any, leaves: Iterable[Filter], *, schema: Schema | None = None
    ) -> PredicateStatistics:
        """Count events, given as for `Matcher.match_batch`; those of a table lose nothing."""
        from fyke.matching.batch import batches
        from fyke.matching.predicate_counts import PredicateCounts

        asked = list(dict.fromkeys(leaves))
        counter = PredicateCounts(asked)
        for _, columns in batches(events, schema):
            counter.count(columns)
        counter.settle()
        counts = dict(zip(asked, counter.satisfied.tolist(), strict=True))
        return cls(counter.events, counts, schema=digest(schema))

    def share(self, literal: Filter) -> Share:
        """Return the share of the events that satisfy a leaf, or do not satisfy a negated one."""
        if isinstance(literal, Not):
            found = self.share(literal.child)
            return Share(1.0 - found.value, found.is_estimate)
        if isinstance(literal, Constant):
            return Share(float(literal.value))
        count = self.satisfied.get(literal)
        if count is None or not self.events:
            return Share(estimate(literal, self.values), is_estimate=True)
        if not count:
            return Share(SEEN_AT_LEAST / (self.events + 1))
        return Share(count / self.events)

    def __add__(self, other: PredicateStatistics) -> PredicateStatistics:
        """Add what others counted; only what both counted stays counted."""
        if self.schema != other.schema:
            raise FykeError("the statistics are of events that were read with different schemas")
        if not self.events or not other.events:
            return self if self.events else other
        both = self.satisfied.keys() & other.satisfied.keys()
        counts = {leaf: self.satisfied[leaf] + other.satisfied[leaf] for leaf in both}
        events = self.events + other.events
        return PredicateStatistics(events, counts, self.values + other.values, self.schema)

    def check_schema(self, schema: Schema | None) -> None:
        """Raise FykeError where events were read with another schema than this one."""
        if self.events and self.schema != digest(schema):
            raise FykeError(
                "the statistics are of events that were read with another schema: count them "
                "again, or give the matcher the schema that they were counted with"
            )

    # --- as data

    @property
    def document(self) -> dict[str, object]:
        """The statistics as data that JSON can say."""
        predicates = [[str(leaf), count] for leaf, count in self.satisfied.items()]
        return {
            "events": self.events,
            "predicates": predicates,
            "values": self.values.document,
            "schema": self.schema,
        }

    @classmethod
    def read(cls, document: Any) -> PredicateStatistics:
        """Return the statistics that some data says; FykeError tells what is wrong with it."""
        if not isinstance(document, Mapping) or not document.keys() <= _KEYS:
            expected = ", ".join(sorted(_KEYS))
            raise FykeError(f"statistics: {shown(document)}; expected an object with {expected}")
        events = _count(document.get("events"), "events", INT_MAX)
        pairs = document.get("predicates", [])
        if not isinstance(pairs, list | tuple):
            raise FykeError(f"predicates: {shown(pairs)}; expected a list of pairs")
        schema = document.get("schema")
        if schema is not None and not isinstance(schema, str):
            raise FykeError(f"schema: {shown(schema)}; expected a text")
        values = Statistics.read(document.get("values") or {"events": 0})
        return cls(events, dict(_read_pair(pair, events) for pair in pairs), values, schema)


def _read_pair(pair: Any, events: int) -> tuple[Filter, int]:
    if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
        raise FykeError(f"predicates: {shown(pair)} is no pair of a predicate and a number")
    return parse_text(pair[0]), _count(pair[1], f"predicates: {shown(pair[0])}", events)


def _count(number: Any, what: str, most: int) -> int:
    if type(number) is not int or not 0 <= number <= most:
        raise FykeError(f"{what} is {shown(number)}; expected a number from 0 to {most}")
    return number


def digest(schema: Schema | None) -> str | None:
    """Return a short text that is the same for equal schemas."""
    if schema is None:
        return None
    text = json.dumps(schema.to_document(), sort_keys=True)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def leaves_of(filters: Iterable[Filter]) -> Iterator[Filter]:
    """Yield the predicates and residuals of some filters; the same one may come again."""
    for filter in filters:
        yield from (leaf for leaf in walk(filter) if isinstance(leaf, Predicate | Residual))
