"""Matcher: subscriptions in, an event in, the ids of those that accept it out.

The Matcher keeps what users know (ids, filters, statistics, snapshots) and leaves the search to an
engine, chosen by name. Whatever the engine, the verdicts are those of the scan.

    matcher = Matcher()
    matcher.add("alice", "price < 10 and symbol starts with 'OT'")
    matcher.match({"symbol": "OTE", "price": 8.4})              ["alice"]

With `self_check`, a share of the events is matched again by evaluating every filter; a difference
is counted in `stats()` and the scan's answer is returned.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError, shown
from fyke.events.event import Document, Event, as_event
from fyke.filters.dialects import parse
from fyke.filters.explanation import Explanation, explain
from fyke.filters.filter import And, Filter
from fyke.limits import DEFAULT_LIMITS, Limits
from fyke.matching import snapshot
from fyke.matching.engine import Engine, Work
from fyke.matching.scan import ScanEngine

if TYPE_CHECKING:
    from fyke.events.schema import Schema


def _loaded(module: str, name: str) -> Callable[[], Engine]:
    """Makes an engine whose module, and numpy with it, is imported when the engine is wanted."""

    def make() -> Engine:
        engine: Engine = getattr(import_module(f"fyke.matching.{module}"), name)()
        return engine

    return make


ENGINES: Final[dict[str, Callable[[], Engine]]] = {
    "scan": ScanEngine,
    "counting": _loaded("counting", "CountingEngine"),
    "boolean": _loaded("boolean", "BooleanEngine"),
    "interval": _loaded("interval", "IntervalEngine"),
    "tree": _loaded("tree", "TreeEngine"),
}
"""The engines by name."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What a matcher holds and what it has done."""

    engine: str
    subscriptions: int
    unguarded: int
    events: int
    matches: int
    work: Work
    self_checks: int
    self_check_failures: int


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A subscription that refused an event, with the clauses that failed."""

    id: str
    failed: tuple[Explanation, ...]
    held: int


class Matcher:
    """A set of standing queries. Matches come in the order in which subscriptions were added."""

    def __init__(
        self,
        engine: str = "scan",
        *,
        schema: Schema | None = None,
        limits: Limits = DEFAULT_LIMITS,
        self_check: float = 0.0,
        seed: int = 0,
    ) -> None:
        if engine not in ENGINES:
            raise FykeError(f"unknown engine {shown(engine)}; expected one of {', '.join(ENGINES)}")
        if not 0 <= self_check <= 1:
            raise FykeError(f"self_check is {shown(self_check)}; expected a share from 0 to 1")
        self._engine_name = engine
        self._engine = ENGINES[engine]()
        self._schema = schema
        self._limits = limits
        self._self_check = self_check
        self._random = random.Random(seed)
        self._slots: dict[str, int] = {}
        self._ids: dict[int, str] = {}
        self._filters: dict[int, Filter] = {}
        self._next_slot = 0
        self._events = self._matches = self._self_checks = self._self_check_failures = 0

    # --- subscriptions

    def add(self, id: str, filter: Filter | object, *, dialect: str = "fyke") -> None:
        """Adds a subscription; it sees the next event. The filter may be given in any dialect."""
        if not isinstance(id, str):
            raise FykeError(f"a subscription id is a string, not {type(id).__name__}")
        if id in self._slots:
            raise FykeError(f"the subscription id {shown(id)} is taken; use replace")
        self._insert(id, self._read(filter, dialect))

    def add_many(self, pairs: Iterable[tuple[str, Filter | object]]) -> None:
        """Adds (id, filter) pairs; those before one that is refused stay added."""
        for id, filter in pairs:
            self.add(id, filter)

    def remove(self, id: str) -> None:
        """Removes a subscription; it does not see the next event."""
        slot = self._slot(id)
        self._engine.remove(slot)
        del self._slots[id], self._ids[slot], self._filters[slot]

    def replace(self, id: str, filter: Filter | object, *, dialect: str = "fyke") -> None:
        """Gives a subscription another filter; nothing changes where that filter is refused."""
        self._slot(id)
        parsed = self._read(filter, dialect)
        self.remove(id)
        self._insert(id, parsed)

    def filter(self, id: str) -> Filter:
        """The filter of a subscription."""
        return self._filters[self._slot(id)]

    def _read(self, filter: Filter | object, dialect: str) -> Filter:
        if isinstance(filter, Filter):
            return filter
        return parse(filter, dialect, schema=self._schema, limits=self._limits)

    def _insert(self, id: str, filter: Filter) -> None:
        slot = self._next_slot
        self._engine.add(slot, filter)
        self._next_slot += 1
        self._slots[id], self._ids[slot], self._filters[slot] = slot, id, filter

    def _slot(self, id: str) -> int:
        try:
            return self._slots[id]
        except (KeyError, TypeError):
            raise FykeError(f"there is no subscription {shown(id)}") from None

    # --- events

    def match(self, event: Event | Document) -> list[str]:
        """The ids of the subscriptions that accept the event."""
        event = as_event(event)
        slots = self._engine.match(event)
        self._events += 1
        if self._self_check and self._random.random() < self._self_check:
            slots = self._checked(event, slots)
        self._matches += len(slots)
        ids = self._ids
        return [ids[slot] for slot in slots]

    def _checked(self, event: Event, slots: list[int]) -> list[int]:
        right = [slot for slot, filter in self._filters.items() if filter.matches(event)]
        self._self_checks += 1
        self._self_check_failures += right != slots
        return right

    def explain(self, event: Event | Document, id: str) -> Explanation:
        """Each predicate of a subscription, with the value it saw and its verdict."""
        return explain(self.filter(id), event)

    def why_not(self, event: Event | Document, limit: int = 10) -> list[NearMiss]:
        """The subscriptions that nearly accepted the event, and the clauses that failed."""
        event = as_event(event)
        misses = (self._miss(slot, event) for slot in self._filters)
        return heapq.nsmallest(
            limit,
            (miss for miss in misses if miss is not None),
            key=lambda miss: (len(miss.failed), -miss.held),
        )

    def _miss(self, slot: int, event: Event) -> NearMiss | None:
        filter = self._filters[slot]
        clauses = filter.children if isinstance(filter, And) else (filter,)
        failed = [clause for clause in clauses if not clause.matches(event)]
        if not failed:
            return None
        explained = tuple(explain(clause, event) for clause in failed)
        return NearMiss(self._ids[slot], explained, len(clauses) - len(failed))

    # --- the whole

    def stats(self) -> Stats:
        """What this matcher holds and has done."""
        return Stats(
            engine=self._engine_name,
            subscriptions=len(self),
            unguarded=self._engine.unguarded,
            events=self._events,
            matches=self._matches,
            work=replace(self._engine.work),
            self_checks=self._self_checks,
            self_check_failures=self._self_check_failures,
        )

    def save(self, path: str | Path) -> None:
        """Writes a snapshot: a folder that appears whole or not at all."""
        pairs = ((id, self._filters[slot]) for id, slot in self._slots.items())
        snapshot.save(Path(path), self._engine_name, pairs)

    @classmethod
    def open(cls, path: str | Path, engine: str | None = None) -> Matcher:
        """The matcher that was saved; FykeError where the snapshot is not whole."""
        saved_engine, pairs = snapshot.load(Path(path))
        matcher = cls(engine or saved_engine)
        for id, filter in pairs:
            matcher._insert(id, filter)
        return matcher

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, id: object) -> bool:
        return id in self._slots

    def __iter__(self) -> Iterator[str]:
        return iter(self._slots)
