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

import heapq
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fyke.errors import FilterWarning, FykeError, printable, shown, warn_outside
from fyke.events.event import Document, Event, as_event
from fyke.filters.dialects import parse
from fyke.filters.explanation import Explanation, explain
from fyke.filters.filter import FALSE, And, Filter
from fyke.filters.remarks import may_be_quoted, remarks
from fyke.filters.resolution import resolve_strictly
from fyke.limits import DEFAULT_LIMITS, Limits
from fyke.matching.arrays import Arrays
from fyke.matching.change_log import ChangeLog
from fyke.matching.engines.contract import Engine, Learning, Persistent, Reordering, Scouting, Work
from fyke.matching.engines.scan import ScanEngine
from fyke.matching.statistics import Statistics

if TYPE_CHECKING:
    import pyarrow as pa

    from fyke.events.columns import Columns
    from fyke.events.door import Door
    from fyke.events.schema import Schema
    from fyke.matching.asked import Asked
    from fyke.matching.catalog import Catalog
    from fyke.matching.lines import LineMatches


FilterOf: TypeAlias = Callable[[int], Filter]
"""The filter of a slot, for an engine that does not keep filters itself."""


def _loaded(module: str, name: str, **chosen: object) -> Callable[[FilterOf], Engine]:
    """Make an engine whose module, and numpy with it, is imported when the engine is wanted."""

    def make(filter_of: FilterOf) -> Engine:
        engine: Engine = getattr(import_module(f"fyke.matching.engines.{module}"), name)(**chosen)
        return engine

    return make


def _compiled(filter_of: FilterOf) -> Engine:
    """Return the compiled engine itself where its kernels are loaded."""
    from fyke.matching.compiled.kernels.compiling import is_loaded

    if is_loaded():
        from fyke.matching.compiled.engine import CompiledEngine

        return CompiledEngine(filter_of)
    from fyke.matching.engines.deferred import DeferredEngine

    return DeferredEngine(filter_of)


ENGINES: Final[dict[str, Callable[[FilterOf], Engine]]] = {
    "compiled": _compiled,
    "scan": lambda filter_of: ScanEngine(),
    "counting": _loaded("counting", "CountingEngine"),
    "boolean": _loaded("boolean", "BooleanEngine"),
    "interval": _loaded("interval", "IntervalEngine"),
    "tree": _loaded("tree", "TreeEngine"),
}
"""The engines by name."""
_CONFIGURED: Final = {"interval": "IntervalEngine", "tree": "TreeEngine"}
"""The engines that take parameters, which `interval_parameters` explains."""

SUSPECTS_MIN: Final = 2_000
"""Subscriptions that `why_not` looks at, at least, if there are as many."""
REMARKED_MAX: Final = 100
"""Texts of filters that one matcher warns of; a file in a wrong dialect would fill the screen."""
CHUNK: Final = 1_000
"""Subscriptions after which `add_many` releases the lock."""


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


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A subscription that refused an event, with the clauses that failed."""

    id: str
    failed: tuple[Explanation, ...]
    held: int


class NearMisses(list[NearMiss]):
    """Near misses, the nearest first; as text they are a table."""

    def __str__(self) -> str:
        """Return a row for each clause that failed, with what it saw."""
        from fyke.filters.drawing import columns, seen_in

        rows = [("subscription", "held", "failed", "seen")]
        for miss in self:
            first = (printable(miss.id), str(miss.held))
            for clause in miss.failed:
                parts = str(clause.filter), seen_in(clause.leaves())
                rows.append((*first, *map(printable, parts)))  # type: ignore[arg-type]
                first = ("", "")
        return columns(rows)


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
        if not 0 <= self_check <= 1:
            raise FykeError(f"self_check is {shown(self_check)}; expected a share from 0 to 1")
        self._engine_name = engine
        self._make = _maker(engine)
        self._lock = threading.RLock()
        self._schema = _schema(schema, timestamps)
        self._declared = schema
        self._limits = limits
        self._self_check = self_check
        self._random = random.Random(seed)
        self._remarked: set[str] = set()
        self._hold(_catalog())
        self._events = self._matches = self._self_checks = self._self_check_failures = 0
        self._watch: Callable[[Event], None] | None = None
        self._watched = 0.0

    def _hold(self, catalog: Catalog) -> None:
        """Take over subscriptions.

        What searches them knows the catalog and not this matcher, so that the memory of a matcher
        that nobody uses is free at once.
        """
        filter_of = partial(_filter_at, catalog, self._lock)
        self._catalog = catalog
        self._engine = self._make(filter_of)
        self._log = ChangeLog(filter_of)
        self._asked: Asked | None = None
        """The paths that the subscriptions read, once JSON has come."""

    @property
    def engine(self) -> Engine:
        """The engine that searches at the moment."""
        engine: Engine = getattr(self._engine, "serving", self._engine)
        return engine

    @property
    def schema(self) -> Schema | None:
        """The declared facts about events: the order of enumerations, and which text is a time."""
        return self._schema

    @property
    def revision(self) -> int:
        """The number of changes so far: two equal numbers mean that nothing has changed."""
        return self._log.position

    # --- subscriptions

    def add(self, id: str, filter: Filter | object, *, dialect: str = "fyke") -> None:
        """Add a subscription; it sees the next event. The filter may be given in any dialect.

        A FilterWarning says where a text probably means something else, as `symbol = "A"` does.
        """
        read = self._read(filter, dialect)
        with self._lock:
            self._enter(self._catalog.add(id, read), read)

    def add_many(
        self,
        pairs: Iterable[tuple[str, Filter | object] | tuple[str, Filter | object, str]],
        *,
        dialect: str = "fyke",
    ) -> None:
        """Add (id, filter) pairs, or (id, filter, dialect) where a filter has its own dialect.

        Those before one that is refused stay added.
        """
        read = self._read_pairs(pairs, dialect)
        while self._insert(islice(read, CHUNK)):
            pass

    def remove(self, id: str) -> None:
        """Remove a subscription; it does not see the next event."""
        with self._lock:
            if self._asked is not None:
                self._asked.remove(self._catalog.filter(self._catalog.known(id)))
            slot = self._catalog.remove(id)
            try:
                self._engine.remove(slot)
            finally:
                self._log.note(slot)

    def replace(self, id: str, filter: Filter | object, *, dialect: str = "fyke") -> None:
        """Give a subscription another filter; nothing changes where that filter is refused."""
        with self._lock:
            slot = self._catalog.known(id)
            old, new = self._catalog.filter(slot), self._read(filter, dialect)
            self._catalog.replace(id, new)
            try:
                self._engine.remove(slot)
                self._engine.add(slot, new)
            except BaseException:
                self._catalog.replace(id, old)
                self._engine.add(slot, old)
                raise
            finally:
                self._log.note(slot, is_replaced=True)
            if self._asked is not None:
                self._asked.add(new)
                self._asked.remove(old)

    def filter(self, id: str) -> Filter:
        """Return the filter of a subscription."""
        with self._lock:
            return self._catalog.filter(self._catalog.known(id))

    def items(self) -> Iterator[tuple[str, Filter]]:
        """Yield ids and filters, in the order in which matches come."""
        for id in self:
            yield id, self.filter(id)

    def _read(self, filter: Filter | object, dialect: str = "fyke") -> Filter:
        filter = getattr(filter, "filter", filter)  # a condition on the fields of a class has one
        if isinstance(filter, Filter):
            return filter if self._schema is None else resolve_strictly(filter, self._schema)
        read = parse(filter, dialect, schema=self._schema, limits=self._limits)
        if self._declared is not None or (type(filter) is str and may_be_quoted(filter)):
            self._remark(str(filter), read)
        return read

    def _remark(self, text: str, read: Filter) -> None:
        """Warn of what was probably not meant: once for each text, of a limited number of them."""
        if text in self._remarked or len(self._remarked) >= REMARKED_MAX:
            return
        if found := remarks(read, self._declared):
            sentences = " ".join(map(str, found))
            warn_outside(f"the filter {shown(text)}: {sentences}", FilterWarning)
            self._remarked.add(text)

    def _read_pairs(
        self, pairs: Iterable[Sequence[Any]], dialect: str
    ) -> Iterator[tuple[str, Filter]]:
        for pair in pairs:
            try:
                id, filter, *named = pair
                (spoken,) = named or [dialect]
            except (TypeError, ValueError):
                raise FykeError(f"{shown(pair)} is no pair of an id and a filter") from None
            yield id, self._read(filter, spoken)

    def _insert(self, pairs: Iterable[tuple[str, Filter]]) -> int:
        """Add some subscriptions. Return how many there were."""
        added = 0
        with self._lock:
            for slot, filter in self._catalog.add_many(pairs):
                self._enter(slot, filter)
                added += 1
        return added

    def _enter(self, slot: int, filter: Filter) -> None:
        """Hand a new subscription to the engine; it is forgotten where the engine refuses it."""
        try:
            self._engine.add(slot, filter)
        except BaseException:
            self._catalog.remove(self._catalog.id(slot))
            raise
        self._log.note(slot)
        if self._asked is not None:
            self._asked.add(filter)

    # --- events

    def match(self, event: Event | Document) -> list[str]:
        """Return the ids of the subscriptions that accept the event."""
        if event.__class__ is dict and self._schema is None:
            event = Event(event)
        elif event.__class__ is not Event or self._schema is not None:
            event = self._event(event)
        return self._match(event, None)  # type: ignore[return-value]

    def match_json(self, text: bytes | str, *, strict: bool = False) -> list[str]:
        """Return the ids of the subscriptions that accept the event of a JSON object.

        Only what subscriptions read is read of it, and checked; all else must be well-formed. With
        `strict`, all of it is checked, and a key that occurs twice in one object is refused.
        """
        ids = self._match(self._strictly(text), None) if strict else None
        while ids is None:
            door = self._door()
            ids = self._match(door.event(text), door)
        return ids

    def match_cloudevents(self, text: bytes | str) -> list[list[str]]:
        """Return the ids for each CloudEvent of a JSON text: an object, or an array as a batch.

        Events are read as `events.cloudevents` says, whole and strictly; one that is refused
        refuses its batch.
        """
        from fyke.events.cloudevents import decode_all

        return [self.match(event) for event in decode_all(text)]

    def _match(self, event: Event, door: Door | None) -> list[str] | None:
        """Return the ids; None if the event came by a door that is out of date."""
        self._log.running.append(None)
        try:
            while True:
                since = self._log.position
                slots = self._engine.match(event)
                with self._lock:
                    if since != self._log.position:
                        settled = self._log.settle(slots, event, since)
                        if settled is None:
                            continue
                        slots = settled
                    if door is not None and door is not self._door():
                        return None
                    self._events += 1
                    if self._self_check and self._random.random() < self._self_check:
                        slots = self._checked(event, slots)
                    if self._watch is not None and self._random.random() < self._watched:
                        self._watch(event)
                    self._matches += len(slots)
                    return self._catalog.names(slots) if slots else []
        finally:
            self._log.running.pop()

    def _strictly(self, text: bytes | str) -> Event:
        from fyke.events.documents import read_document

        return read_document(text if isinstance(text, str) else bytes(text), self._schema)

    def _door(self) -> Door:
        """Return the door that reads JSON for the subscriptions that there are now."""
        with self._lock:
            if self._asked is None:
                from fyke.matching.asked import Asked

                filters = (filter for _, filter in self._catalog.filters())
                self._asked = Asked(filters, self._schema)
            return self._asked.door

    def _event(self, event: Event | Document) -> Event:
        """Return the event as the schema reads it."""
        event = as_event(event)
        return event if self._schema is None else self._schema.read(event)

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
        parts: Any = [self._match_rows(first, columns) for first, columns in read]
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
        events, ids = self._match_rows(*read, is_coded=True)  # type: ignore[misc]
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
        from fyke.matching.lines import line_matches, too_long

        if lines is None:
            return too_long(first)
        while True:
            door = self._door()
            block = door.block(lines)
            parts = [
                self._match_rows(first + places, each, door, is_coded=is_coded)
                for places, each in block.parts
            ]
            if None not in parts:
                return line_matches(block, first, parts)  # type: ignore[arg-type]

    def _match_rows(
        self, numbers: Any, columns: Columns, door: Door | None = None, is_coded: bool = False
    ) -> tuple[pa.Array, pa.Array] | None:
        """Return row numbers and ids of all matches; `numbers` may be the first one alone.

        None if the rows came by a door that is out of date.
        """
        import numpy as np
        import pyarrow as pa

        from fyke.matching.batch import match_columns

        with self._searching() as since:
            offsets, slots = match_columns(self._engine, columns)
            with self._lock:
                if door is not None and door is not self._door():
                    return None
                rows = np.repeat(np.arange(columns.rows), np.diff(offsets))
                rows, slots = self._log.settle_rows(rows, slots, columns, since)
                if self._self_check:
                    rows, slots = self._checked_rows(rows, slots, columns)
                self._events += columns.rows
                self._matches += len(slots)
                if self._watch is not None:
                    for row in range(columns.rows):
                        if self._random.random() < self._watched:
                            self._watch(columns.event(row))
                if is_coded:
                    ids = self._catalog.coded_ids(slots)
                else:
                    ids = self._catalog.ids(slots).cast(pa.string())
        if isinstance(numbers, int):
            return pa.array(rows + numbers if numbers else rows), ids
        return pa.array(numbers[rows]), ids

    @contextmanager
    def _searching(self) -> Iterator[int]:
        """Keep the log of changes for a batch. Yield the position where it begins."""
        with self._lock:
            since = self._log.begin()
        try:
            yield since
        finally:
            with self._lock:
                self._log.end()

    def _checked(self, event: Event, slots: list[int]) -> list[int]:
        right = [slot for slot, filter in self._catalog.filters() if filter.matches(event)]
        self._self_checks += 1
        self._self_check_failures += right != sorted(slots)
        return right

    def _checked_rows(self, rows: Any, slots: Any, columns: Columns) -> tuple[Any, Any]:
        """Return the same with a share of the rows checked."""
        import numpy as np

        for row in range(columns.rows):
            if self._random.random() < self._self_check:
                begin, end = np.searchsorted(rows, [row, row + 1])
                right = self._checked(columns.event(row), slots[begin:end].tolist())
                rows = np.concatenate([rows[:begin], np.full(len(right), row), rows[end:]])
                slots = np.concatenate([slots[:begin], right, slots[end:]]).astype(slots.dtype)
        return rows, slots

    def explain(self, event: Event | Document, id: str) -> Explanation:
        """Return each predicate of a subscription, with the value it saw and its verdict."""
        return explain(self.filter(id), self._event(event))

    def why_not(self, event: Event | Document, limit: int = 10) -> NearMisses:
        """Return the subscriptions that nearly accepted the event, and the clauses that failed.

        Printed, they are a table. Among very many subscriptions, those that the engine guesses to
        be nearest are looked at.
        """
        event = self._event(event)
        with self._lock:
            misses = (self._miss(*each, event) for each in self._suspects(event, limit))
            nearest = heapq.nsmallest(
                limit,
                (miss for miss in misses if miss is not None),
                key=lambda miss: (len(miss.failed), -miss.held),
            )
        return NearMisses(nearest)

    def _suspects(self, event: Event, limit: int) -> Iterable[tuple[int, Filter]]:
        if len(self) <= SUSPECTS_MIN or not isinstance(self._engine, Scouting):
            return self._catalog.filters()
        slots = self._engine.nearest(event, max(SUSPECTS_MIN, 10 * limit))
        return ((slot, self._catalog.filter(slot)) for slot in slots)

    def _miss(self, slot: int, filter: Filter, event: Event) -> NearMiss | None:
        clauses = filter.children if isinstance(filter, And) else (filter,)
        failed = [clause for clause in clauses if not clause.matches(event)]
        if not failed:
            return None
        explained = tuple(explain(clause, event) for clause in failed)
        return NearMiss(self._catalog.id(slot), explained, len(clauses) - len(failed))

    # --- the whole

    def learn(self, sample: Statistics | Iterable[Event | Document] | Any) -> None:
        """Say what events are like: some of them, a pyarrow table, or statistics made elsewhere.

        An engine that chooses under what to file a subscription heeds it from now on; `compact`
        files again what is there already. Verdicts do not depend on it.
        """
        known = sample if isinstance(sample, Statistics) else Statistics.of(sample)
        if isinstance(self._engine, Learning):
            self._engine.learn(known)

    def watch(self, seen: Callable[[Event], None] | None, share: float = 0.01) -> None:
        """Hand a share of the events that are matched from now on to a function; None ends it."""
        if not 0 <= share <= 1:
            raise FykeError(f"share is {shown(share)}; expected a share from 0 to 1")
        with self._lock:
            self._watch, self._watched = seen, share

    def compact(self) -> None:
        """File all subscriptions anew, by what is known about events by now, in one piece.

        Takes about as long as adding them did; events are matched and subscriptions change
        meanwhile. An engine that has nothing to gain does nothing.
        """
        if isinstance(self._engine, Learning):
            self._engine.compact()
        if isinstance(self._engine, Reordering):
            self._engine.reorder()

    def stats(self) -> Stats:
        """Return what this matcher holds and has done."""
        return Stats(
            engine=self._engine_name,
            subscriptions=len(self),
            unguarded=self._engine.unguarded,
            events=self._events,
            matches=self._matches,
            work=replace(self._engine.work),
            self_checks=self._self_checks,
            self_check_failures=self._self_check_failures,
            read_slowly=0 if self._asked is None else self._asked.slow,
        )

    def save(self, path: str | Path) -> None:
        """Write a snapshot: a folder that appears whole or not at all."""
        from fyke.matching import snapshot

        with self._lock:
            snapshot.save(Path(path), *self._snapshot())

    def sizes(self) -> dict[str, int]:
        """Return the bytes of each array of a snapshot, by name: `ids.*`, `filters.*`, `index.*`.

        An engine that is made anew when a snapshot is opened has no arrays in it.
        """
        with self._lock:
            return {name: array.nbytes for name, array in self._snapshot()[1].items()}

    def _snapshot(self) -> tuple[dict[str, object], Arrays]:
        facts: dict[str, object] = {"engine": self._engine_name, "subscriptions": len(self)}
        if self._schema is not None:
            facts["schema"] = self._schema.to_document()
        arrays = self._catalog.arrays()
        if isinstance(self._engine, Persistent):
            index, details = self._engine.save()
            if index:
                facts["index"] = details
            arrays |= index
        return facts, arrays

    @classmethod
    def open(cls, path: str | Path, engine: str | None = None) -> Matcher:
        """Return the matcher that was saved; FykeError where the snapshot is not whole.

        The snapshot is mapped into memory, not read; it may be replaced while this matcher lives.
        """
        from fyke.matching import snapshot

        facts, arrays = snapshot.load(Path(path))
        matcher = cls(str(facts.get("engine")) if engine is None else engine)
        try:
            matcher._schema = matcher._declared = schema_in(facts)
            matcher._take_up(facts, arrays)
        except FykeError as refused:
            raise FykeError(f"the snapshot {path} is corrupt: {refused}") from None
        return matcher

    def _take_up(self, facts: dict[str, Any], arrays: Arrays) -> None:
        self._hold(_catalog(arrays))
        has_index = facts["engine"] == self._engine_name and "index" in facts
        if has_index and isinstance(self._engine, Persistent):
            index = {name: each for name, each in arrays.items() if name.startswith("index.")}
            self._engine.load(index, facts["index"], self._catalog.slots())
            return
        for slot, filter in self._catalog.filters():
            self._engine.add(slot, filter)

    def __len__(self) -> int:
        return len(self._catalog)

    def __contains__(self, id: object) -> bool:
        return self._catalog.slot(id) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalog)

    def __repr__(self) -> str:
        many = len(self)
        return f"Matcher({many:,} subscription{'' if many == 1 else 's'}, {self._engine_name!r})"


def warm() -> None:
    """Compile the kernels of the compiled engine now, unless it was done, and load them.

    Takes about half a minute the first time on a machine. Without it they are compiled in the
    background, and matchers answer more slowly until then. For images, and before a clock starts.
    """
    from fyke.matching.compiled.kernels import compiling

    compiling.warm()


def _maker(engine: str) -> Callable[[FilterOf], Engine]:
    """Return the maker of an engine, given its name, and behind a colon its parameters."""
    name, colon, rest = engine.partition(":")
    if name not in ENGINES:
        raise FykeError(f"unknown engine {shown(name)}; expected one of {', '.join(ENGINES)}")
    if not colon:
        return ENGINES[name]
    if name not in _CONFIGURED:
        raise FykeError(f"the engine {name} takes no parameters, {shown(rest)} are given")
    from fyke.matching.engines.interval_parameters import Parameters

    return _loaded(name, _CONFIGURED[name], parameters=Parameters.read(rest))


def _schema(schema: Schema | None, timestamps: Iterable[str]) -> Schema | None:
    if schema is None and timestamps == ():
        return None
    from fyke.events.schema import Schema

    return (schema or Schema()).with_timestamps(timestamps)


def schema_in(facts: dict[str, Any]) -> Schema | None:
    """Return the schema among the facts of a snapshot."""
    if "schema" not in facts:
        return None
    from fyke.events.schema import Schema

    return Schema.from_document(facts["schema"])


def _filter_at(catalog: Catalog, lock: threading.RLock, slot: int) -> Filter:
    """Return the filter of a slot; FALSE where the slot was given up meanwhile."""
    with lock:
        return catalog.filter(slot) if catalog.is_taken(slot) else FALSE


def _catalog(arrays: Arrays | None = None) -> Catalog:
    from fyke.matching.catalog import Catalog

    return Catalog() if arrays is None else Catalog.of(arrays)
