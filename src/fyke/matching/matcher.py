"""Matcher: subscriptions in, an event in, the ids of those that accept it out.

The Matcher keeps what users know (ids, filters, statistics, snapshots) and leaves the search to an
engine, chosen by name. Whatever the engine, the verdicts are those of the scan. Ids and filters lie
packed in a catalog, which needs numpy; it is imported when the first Matcher is made.

Threads. Any number may match while others add and remove. Searching takes no lock; what changed
while a search ran is looked at again before ids are handed out.

    matcher = Matcher()
    matcher.add("alice", "price < 10 and symbol starts with 'OT'")
    matcher.match({"symbol": "OTE", "price": 8.4})              ["alice"]

Schema. With one, enumerations compare in their order and text of a timestamp is read as one, in
filters as in events; `timestamps` names such attributes without a schema. Nothing else is checked.

With `self_check`, a share of the events is matched again by evaluating every filter; a difference
is counted in `stats()` and the scan's answer is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fyke.errors import FykeError
from fyke.events.event import Document, Event, as_event
from fyke.filters.explanation import Explanation, explain
from fyke.filters.filter import Filter
from fyke.limits import DEFAULT_LIMITS, Limits
from fyke.matching.engines.contract import Engine, Learning, Reordering, Work
from fyke.matching.filter_reader import FilterReader
from fyke.matching.inspection import Inspection
from fyke.matching.near_misses import NearMisses, near_misses
from fyke.matching.searcher import Searcher
from fyke.matching.statistics import Statistics
from fyke.matching.subscription_set import SubscriptionSet

if TYPE_CHECKING:
    import pyarrow as pa

    from fyke.events.columns import Columns
    from fyke.events.schema import Schema
    from fyke.matching.lines import LineMatches


@dataclass(frozen=True, slots=True)
class Stats:
    """The size of a matcher, and counts of the work that it has done."""

    engine: str
    subscriptions: int
    unguarded: int
    events: int
    matches: int
    work: Work
    self_checks: int
    self_check_failures: int
    read_slowly: int = 0
    """Texts that `match_json` and `match_ndjson` could not read the quick way."""


class Matcher:
    """A set of standing queries.

    Matches come in the order in which subscriptions were added, except that a new subscription may
    take the place of one that was removed.
    """

    def __init__(
        self,
        engine: str = "compiled",
        *,
        schema: Schema | None = None,
        timestamps: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
        self_check: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._schema = _with_timestamps(schema, timestamps)
        self._filters = FilterReader(self._schema, schema, limits)
        self._inspection = Inspection(self_check, seed)
        self._hold(SubscriptionSet(engine, self._schema))

    def _hold(self, subscriptions: SubscriptionSet) -> None:
        self._subscriptions = subscriptions
        self._searcher = Searcher(subscriptions, self._inspection)

    @property
    def engine(self) -> Engine:
        """The engine that searches at the moment."""
        engine: Engine = getattr(self._subscriptions.engine, "serving", self._subscriptions.engine)
        return engine

    @property
    def schema(self) -> Schema | None:
        """The declared facts about events: the order of enumerations, and which text is a time."""
        return self._schema

    @property
    def revision(self) -> int:
        """The number of changes so far: two equal numbers mean that nothing has changed."""
        return self._subscriptions.log.position

    # --- subscriptions

    def add(self, id: str, filter: Filter | object, *, dialect: str = "fyke") -> None:
        """Add a subscription; it sees the next event. The filter may be given in any dialect.

        A FilterWarning says where a text probably means something else, as `symbol = "A"` does.
        """
        self._subscriptions.add(id, self._filters.read(filter, dialect))

    def add_many(
        self,
        pairs: Iterable[tuple[str, Filter | object] | tuple[str, Filter | object, str]],
        *,
        dialect: str = "fyke",
    ) -> None:
        """Add (id, filter) pairs, or (id, filter, dialect) where a filter has its own dialect.

        Those before one that is refused stay added.
        """
        self._subscriptions.add_many(self._filters.read_pairs(pairs, dialect))

    def remove(self, id: str) -> None:
        """Remove a subscription; it does not see the next event."""
        self._subscriptions.remove(id)

    def replace(self, id: str, filter: Filter | object, *, dialect: str = "fyke") -> None:
        """Give a subscription another filter; nothing changes where that filter is refused."""
        self._subscriptions.replace(id, self._filters.read(filter, dialect))

    def filter(self, id: str) -> Filter:
        """Return the filter of a subscription."""
        return self._subscriptions.filter(id)

    def items(self) -> Iterator[tuple[str, Filter]]:
        """Yield ids and filters, in the order in which matches come."""
        for id in self:
            yield id, self.filter(id)

    # --- events

    def match(self, event: Event | Document) -> list[str]:
        """Return the ids of the subscriptions that accept the event.

        Of one that came as JSON (`Event.from_json`) what subscriptions read is read.
        """
        if event.__class__ is dict and self._schema is None:
            event = Event(event)
        elif event.__class__ is not Event or self._schema is not None:
            if isinstance(event, Event) and (text := event.unread) is not None:
                return self.match_json(text)
            event = self._event(event)
        return self._searcher.ids(event)  # type: ignore[return-value]  # it came by no door

    def match_json(self, text: bytes | str, *, strict: bool = False) -> list[str]:
        """Return the ids of the subscriptions that accept the event of a JSON object.

        Only what subscriptions read is read of it, and checked; all else must be well-formed. With
        `strict`, all of it is checked, and a key that occurs twice in one object is refused.
        """
        if not strict:
            return self._searcher.ids_of_json(text)
        from fyke.events.documents import read_document

        event = read_document(text if isinstance(text, str) else bytes(text), self._schema)
        return self._searcher.ids(event)  # type: ignore[return-value]

    def match_cloudevents(self, text: bytes | str, *, strict: bool = False) -> list[list[str]]:
        """Return the ids for each CloudEvent of a JSON text: an object, or an array as a batch.

        The context is read as `events.cloudevents` says; of data, as of JSON, what subscriptions
        read, or all of it with `strict`. An event that is refused refuses its batch.
        """
        if not strict and self._schema is None:
            return self._searcher.ids_of_cloudevents(text)
        from fyke.events.cloudevents import decode_all

        return [self.match(event) for event in decode_all(text)]

    def match_batch(self, table: Any) -> pa.Table:
        """Return the matches of a pyarrow Table or RecordBatch, or of documents.

        A table with a row for each match: `event`, the number of the row, and `subscription`, the
        id; ordered by event.

        The columns of a table are attributes; a null cell is a missing one. Documents have the
        verdicts of `match`, null is a value there. They are JSON lines (a text, bytes or an open
        file; blank lines are counted, but are no events), a pyarrow array of JSON texts, or any
        iterable of events, dictionaries and JSON texts.
        """
        import pyarrow as pa

        from fyke.matching.batch import batches

        read = batches(table, self._schema)
        parts: Any = [self._searcher.rows(first, columns) for first, columns in read]
        events = pa.chunked_array([part[0] for part in parts], pa.int64())
        ids = pa.chunked_array([part[1] for part in parts], pa.string())
        return pa.table({"event": events, "subscription": ids})

    def match_columns(self, columns: Columns) -> pa.Table:
        """Return the matches of events in columns, which `fyke.events.columns.read` makes.

        A table as `match_batch` has it, but `subscription` is a dictionary array: its indices stay
        the same for an id as long as it is there. Several matchers share one reading of the events.
        """
        import pyarrow as pa

        from fyke.matching.batch import batches

        (read,) = batches(columns)
        events, ids = self._searcher.rows(*read, is_coded=True)  # type: ignore[misc]
        return pa.table({"event": events, "subscription": ids})

    def match_ndjson(self, source: Any) -> LineMatches:
        """Return the matches of JSON lines: bytes, a text, a path, or a file open for bytes.

        Lines are read as `match_json` reads one, block by block. A line that is no event is in
        `refused` and harms no other.
        """
        from fyke.matching.lines import blocks, joined, opened

        with opened(source) as read:
            return joined([self.match_lines(block.lines, block.first) for block in blocks(read)])

    def match_lines(
        self, lines: Sequence[bytes] | None, first: int = 0, *, is_coded: bool = False
    ) -> LineMatches:
        """Return the matches of one block of JSON lines, whose numbers begin with `first`.

        None stands for a line that is too long to be read (`matching.lines.blocks`). With
        `is_coded` the ids are a dictionary array, as in `match_columns`.
        """
        return self._searcher.ids_of_lines(lines, first, is_coded=is_coded)

    # --- why

    def explain(self, event: Event | Document, id: str) -> Explanation:
        """Return each predicate of a subscription, with the value it saw and its verdict."""
        return explain(self.filter(id), self._event(event))

    def why_not(self, event: Event | Document, limit: int = 10) -> NearMisses:
        """Return the subscriptions that nearly accepted the event, and the clauses that failed.

        Printed, they are a table. Among very many subscriptions, those that the engine guesses to
        be nearest are looked at.
        """
        return near_misses(self._subscriptions, self._event(event), limit)

    def _event(self, event: Event | Document) -> Event:
        """Return the event as the schema reads it."""
        event = as_event(event)
        return event if self._schema is None else self._schema.read(event)

    # --- the whole

    def learn(self, sample: Statistics | Iterable[Event | Document] | Any) -> None:
        """Say what events are like: some of them, a pyarrow table, or statistics made elsewhere.

        An engine that chooses under what to file a subscription heeds it from now on; `compact`
        files again what is there already. Verdicts do not depend on it.
        """
        known = sample if isinstance(sample, Statistics) else Statistics.of(sample)
        if isinstance(self._subscriptions.engine, Learning):
            self._subscriptions.engine.learn(known)

    def watch(self, seen: Callable[[Event], None] | None, share: float = 0.01) -> None:
        """Hand a share of the events that are matched from now on to a function; None ends it."""
        with self._subscriptions.lock:
            self._inspection.watch(seen, share)

    def compact(self) -> None:
        """File all subscriptions anew, by what is known about events by now, in one piece.

        Takes about as long as adding them did; events are matched and subscriptions change
        meanwhile. An engine that has nothing to gain does nothing.
        """
        engine = self._subscriptions.engine
        if isinstance(engine, Learning):
            engine.compact()
        if isinstance(engine, Reordering):
            engine.reorder()

    def stats(self) -> Stats:
        """Return what this matcher holds and has done."""
        held, searched, inspected = self._subscriptions, self._searcher, self._inspection
        return Stats(
            engine=held.engine_name,
            subscriptions=len(self),
            unguarded=held.engine.unguarded,
            events=searched.events,
            matches=searched.matches,
            work=replace(held.engine.work),
            self_checks=inspected.checks,
            self_check_failures=inspected.failures,
            read_slowly=held.read_slowly,
        )

    def save(self, path: str | Path) -> None:
        """Write a snapshot: a folder that appears whole or not at all."""
        from fyke.matching import snapshot

        with self._subscriptions.lock:
            snapshot.save(Path(path), *self._subscriptions.save())

    def sizes(self) -> dict[str, int]:
        """Return the bytes of each array of a snapshot, by name: `ids.*`, `filters.*`, `index.*`.

        An engine that is made anew when a snapshot is opened has no arrays in it.
        """
        with self._subscriptions.lock:
            _, arrays = self._subscriptions.save()
            return {name: array.nbytes for name, array in arrays.items()}

    @classmethod
    def open(cls, path: str | Path, engine: str | None = None) -> Matcher:
        """Return the matcher that was saved; FykeError where the snapshot is not whole.

        The snapshot is mapped into memory, not read; it may be replaced while this matcher lives.
        """
        from fyke.matching import snapshot

        facts, arrays = snapshot.load(Path(path))
        matcher = cls(str(facts.get("engine")) if engine is None else engine)
        try:
            subscriptions = SubscriptionSet.load(matcher._subscriptions.engine_name, facts, arrays)
        except FykeError as refused:
            raise FykeError(f"the snapshot {path} is corrupt: {refused}") from None
        schema = matcher._schema = subscriptions.schema
        matcher._filters = FilterReader(schema, schema, DEFAULT_LIMITS)
        matcher._hold(subscriptions)
        return matcher

    def __len__(self) -> int:
        return len(self._subscriptions.catalog)

    def __contains__(self, id: object) -> bool:
        return self._subscriptions.catalog.slot(id) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._subscriptions.catalog)

    def __repr__(self) -> str:
        many, engine = len(self), self._subscriptions.engine_name
        return f"Matcher({many:,} subscription{'' if many == 1 else 's'}, {engine!r})"


def _with_timestamps(schema: Schema | None, timestamps: Iterable[str]) -> Schema | None:
    if schema is None and timestamps == ():
        return None
    from fyke.events.schema import Schema

    return (schema or Schema()).with_timestamps(timestamps)
