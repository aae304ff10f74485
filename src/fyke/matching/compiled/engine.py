"""CompiledEngine: boxes of codes in immutable segments, searched by kernels.

Adding. A filter first stands in a short list and is evaluated as it is. When the list is full, or a
batch comes, its filters are boxed. Boxes stand in a *memtable* at first, which compares them one by
one. When these are many, or have been compared with many events, they are *frozen* into a small
segment. Segments are merged when the newer of two is not much smaller than the older, so their
number grows with the logarithm of the subscriptions and each subscription is rewritten a few times.
Merges of many subscriptions run in the background: matching goes on with the old segments until the
new one takes their place.
Removing. The subscription's entry in its segment becomes a tombstone. Merging leaves it behind, and
a segment with many tombstones is rewritten.
Rebuilding. All is boxed again from the filters, with a new vocabulary (`rebuild`): when asked, and
when more subscriptions were removed than there are and most symbols seem to be theirs. So memory
follows the subscriptions there are, and each removal pays a constant part of the next rebuild.
Kernels. They are loaded before an engine is made: `engines.deferred` answers until then.
Reading. A single event is matched without a lock while nothing changes and there is no memtable:
all that a search needs stands in one immutable `View`.

Law. The verdict is that of `filter.matches`: found without doubt by boxes that are exact, decided
by a program, or by the filter itself.
Cost. An update costs its own coding plus an amortised logarithm; an event the clusters it visits.
Source. Access predicates: Le Subscribe (Fabret et al., SIGMOD 2001). Segments: log-structured merge
trees (O'Neil et al., 1996).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple

from fyke.errors import FykeError
from fyke.events.columns import Columns
from fyke.events.event import Event
from fyke.filters.filter import Filter, Test
from fyke.matching.arrays import Arrays
from fyke.matching.compiled.boxes.box_table import Places, Words
from fyke.matching.compiled.boxes.nearness import nearest
from fyke.matching.compiled.coding.column_coding import code_columns
from fyke.matching.compiled.coding.event_coding import Codes, EventCoder, code_event
from fyke.matching.compiled.coding.frequencies import ObservedSource, SampleSource
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.memory import RELEASE_SIZE_MIN, give_back
from fyke.matching.compiled.rebuild import Rebuild
from fyke.matching.compiled.search.exact_check import EventOf, ExactCheck
from fyke.matching.compiled.search.results import Lists, join
from fyke.matching.compiled.search.search import (
    search,
    search_event,
    search_event_memtable,
    search_memtable,
    tiles,
)
from fyke.matching.compiled.search.workspace import Workspace
from fyke.matching.compiled.segment.compaction import Merge
from fyke.matching.compiled.segment.layout import TREE_FROM
from fyke.matching.compiled.segment.memtable import Memtable
from fyke.matching.compiled.segment.memtable_writer import MemtableWriter
from fyke.matching.compiled.segment.segment import Segment
from fyke.matching.compiled.segment.segment_of_slot import SegmentOfSlot
from fyke.matching.compiled.segment.storage import Index, read_index, write_index
from fyke.matching.engines.contract import Work
from fyke.matching.statistics import Statistics

UNBOXED_MAX: Final = 32
"""Filters that are evaluated as they are."""
MEMTABLE_SIZE_MAX: Final = 2_000
"""Subscriptions of a memtable."""
COMPARED_EVENTS_MAX: Final = 20_000
"""Comparing a subscription with as many events, in batches, costs as much as freezing it."""
SINGLE_EVENT_COST: Final = 32
"""Cost of one single search, in batched events."""
SIZE_RATIO_MIN: Final = 4
"""Size of a segment, in sizes of the next newer one."""
SMALL_SEGMENT_MAX: Final = 512
"""Size up to which a segment costs each event more than rewriting it does."""
FOREGROUND_SIZE_MAX: Final = 2_000
"""Subscriptions of a merge that is not left to the background."""
TOMBSTONE_SHARE_MAX: Final = 0.25
"""Share of tombstones up to which a segment is left as it is."""
VOCABULARY_SIZE_KEPT: Final = 8_192
"""Size of a vocabulary that is kept, whether anybody uses it or not."""
OBSERVED_EVERY: Final = 32
"""Single events of which one is observed."""


class View(NamedTuple):
    """A vocabulary, what is written in it, and the tests of filters that are not boxed yet."""

    vocabulary: Vocabulary
    segments: tuple[Segment, ...]
    memtable: Memtable | None
    unboxed: tuple[tuple[int, Test], ...]


class _Scratch(NamedTuple):
    """The workspace of one thread; codes of another vocabulary mean something else."""

    vocabulary: Vocabulary
    workspace: Workspace
    coder: EventCoder


class CompiledEngine:
    """The default engine. `filter_of` gives the filter of a slot, where kernels cannot decide."""

    def __init__(
        self,
        filter_of: Callable[[int], Filter],
        *,
        tree_from: int = TREE_FROM,
    ) -> None:
        self.work = Work()
        self._vocabulary = Vocabulary()
        self._sample = SampleSource()
        self._filter_of = filter_of
        self._tree_from = tree_from
        self._unboxed: dict[int, Filter] = {}
        self._writer = MemtableWriter(self._vocabulary)
        self._compared = 0
        """Comparisons of a subscription of the memtable with an event."""
        self._segments: tuple[Segment, ...] = ()
        self._segment_of_slot = SegmentOfSlot()
        self._lock = threading.RLock()
        self._background = threading.Lock()
        """Held while segments are merged or rebuilt without the other lock; taken before it."""
        self._rebuilding: Rebuild | None = None
        self._removed = 0
        """Boxed subscriptions that were removed since the last rebuild."""
        self._needed = 0.0
        """Size of the vocabulary for each subscription at that time."""
        self._scratches = threading.local()
        self._worker: threading.Thread | None = None
        self._merging: set[int] = set()
        """The segments that are being merged in the background."""
        self._observe_in = 1
        self._steady: View | None = None
        """A view that stays true until something changes: it is read without a lock."""

    @property
    def unguarded(self) -> int:
        with self._lock:
            self._freeze()
            return sum(segment.unguarded for segment in self._segments)

    # --- subscriptions

    def add(self, slot: int, filter: Filter) -> None:
        with self._lock:
            self._steady = None
            self._unboxed[slot] = filter
            if self._rebuilding is not None:
                self._rebuilding.add(slot, filter)
            if len(self._unboxed) > UNBOXED_MAX:
                self._box_all()

    def remove(self, slot: int) -> None:
        with self._lock:
            self._steady = None
            if self._rebuilding is not None:
                self._rebuilding.remove(slot)
            if self._unboxed.pop(slot, None) is None:
                if len(self._writer) > FOREGROUND_SIZE_MAX:
                    self._freeze()
                self._removed += 1
                segment = self._segment_of_slot.remove(slot)
                if segment is None:
                    self._writer.remove(slot)
                elif _has_many_tombstones(segment):
                    self._merge_due()

    def _box_all(self) -> None:
        """Box the filters that are not boxed yet."""
        self._steady = None
        for slot in list(self._unboxed):
            self._writer.add(slot, self._unboxed[slot])
            del self._unboxed[slot]

    def freeze(self) -> None:
        """Make segments of all that was added."""
        with self._lock:
            self._freeze()

    def _freeze(self) -> None:
        """Make a segment of the memtable and of the filters that are not boxed yet."""
        self._box_all()
        size = len(self._writer)
        if size:
            self._freeze_writer()
            self._merge_due()
            if size >= RELEASE_SIZE_MIN:
                give_back()

    def _freeze_writer(self) -> None:
        """Make a segment of the memtable, together with small segments."""
        writer, self._writer = self._writer, MemtableWriter(self._vocabulary)
        self._compared = 0
        due = self._mergeable(len(writer))
        merge = Merge(due, writer)
        merge.run(self._vocabulary, self._tree_from)
        self._install(merge.result(), due)

    def _mergeable(self, new: int) -> tuple[Segment, ...]:
        """Return the newest segments, as far as they are small enough to be rewritten at once."""
        due: list[Segment] = []
        size = new
        for segment in reversed(self._segments):
            together = size + segment.live
            is_near = segment.live < SIZE_RATIO_MIN * size or together <= SMALL_SEGMENT_MAX
            if not is_near or together > FOREGROUND_SIZE_MAX or id(segment) in self._merging:
                break
            due.insert(0, segment)
            size = together
        return tuple(due)

    # --- rebuilding

    def compact(self) -> None:
        """Make one segment of all, boxed afresh and filed by what is known about events.

        Not under a lock that `filter_of` takes.
        """
        with self._background:
            self._rebuild()

    def _rebuild(self) -> None:
        """Put a new vocabulary and new segments in the place of the old ones."""
        with self._lock:
            self._freeze()
            source = ObservedSource(self._vocabulary, self._sample)
            rebuild = self._rebuilding = Rebuild(self._segments, source, self._tree_from)
            self._merging = set(map(id, self._segments))
        try:
            rebuild.box_all(self._filter_of)
            while not self._finish(rebuild):
                pass
        finally:
            with self._lock:
                self._rebuilding = None
                self._merging = set()

    @property
    def _live(self) -> int:
        return len(self._writer) + sum(segment.live for segment in self._segments)

    def _is_stale(self) -> bool:
        """Return True if most of the vocabulary seems to be that of subscriptions that are gone."""
        if self._rebuilding is not None or self._removed <= self._live:
            return False
        return self._vocabulary.size > VOCABULARY_SIZE_KEPT + 2 * self._needed * self._live

    def _finish(self, rebuild: Rebuild) -> bool:
        """Box what was added meanwhile. If it is little, install the rebuild and return True."""
        with self._lock:
            added = rebuild.take_added()
            if len(added) <= UNBOXED_MAX:
                rebuild.box_added(added)
                self._install_rebuild(rebuild)
                return True
        rebuild.box_added(added)
        return False

    def _install_rebuild(self, rebuild: Rebuild) -> None:
        self._steady = None
        self._segments = rebuild.segments()
        self._vocabulary = rebuild.vocabulary
        if self._sample is not rebuild.sample:
            self._vocabulary.expect(self._sample)
        self._unboxed = {}
        self._writer = MemtableWriter(self._vocabulary)
        self._compared = 0
        self._segment_of_slot = SegmentOfSlot()
        for segment in self._segments:
            self._segment_of_slot.move((), segment)
        self._scratches = threading.local()
        self._removed = 0
        self._needed = self._vocabulary.size / max(self._live, 1)

    # --- segments

    def _install(self, new: Segment, old: tuple[Segment, ...]) -> None:
        """Put a segment in the place of others, or behind all."""
        self._steady = None
        segments = list(self._segments)
        place = segments.index(old[0]) if old else len(segments)
        segments[place : place + len(old)] = [new] if new.live else []
        self._segment_of_slot.move(old, new)
        self._segments = tuple(segments)

    def _merge_due(self) -> None:
        """Merge what is due: few subscriptions at once, many in the background."""
        for due in self._due():
            if sum(segment.live for segment in due) <= FOREGROUND_SIZE_MAX:
                merge = Merge(due)
                merge.run(self._vocabulary, self._tree_from)
                self._install(merge.result(), due)
                self._merge_due()
                return
        if self._worker is None and self._next_job() is not None:
            self._worker = threading.Thread(target=self._run_background_jobs, daemon=True)
            self._worker.start()

    def _due(self) -> Iterator[tuple[Segment, ...]]:
        """Yield neighbours of similar size, and segments with many tombstones."""
        for older, newer in pairwise(self._segments):
            if (
                not {id(older), id(newer)} & self._merging
                and older.live < SIZE_RATIO_MIN * newer.live
            ):
                yield older, newer
        for segment in self._segments:
            if _has_many_tombstones(segment) and id(segment) not in self._merging:
                yield (segment,)

    # --- in the background

    def _run_background_jobs(self) -> None:
        """Do the jobs that are due until none is left; a job that fails loses nothing."""
        rewritten = 0
        while True:
            with self._background:
                with self._lock:
                    due, job = next(self._due(), ()), self._next_job()
                    if job is None:
                        self._worker = None
                        break
                    self._merging = set(map(id, due))
                rewritten += sum(segment.live for segment in due)
                try:
                    job()
                except BaseException:
                    with self._lock:
                        self._worker = None
                    raise
        if rewritten >= RELEASE_SIZE_MIN:
            give_back()

    def _next_job(self) -> Callable[[], None] | None:
        if self._is_stale():
            return self._rebuild
        for due in self._due():
            return partial(self._merge_in_background, due)
        for patterns in self._vocabulary.pattern_sets():
            if patterns.merge_due():
                return patterns.merge
        return None

    def _merge_in_background(self, due: tuple[Segment, ...]) -> None:
        try:
            merge = Merge(due)
            merge.run(self._vocabulary, self._tree_from)
            with self._lock:
                self._install(merge.result(), due)
        finally:
            with self._lock:
                self._merging = set()

    # --- events

    def match(self, event: Event) -> list[int]:
        view = self._steady or self._view(UNBOXED_MAX, SINGLE_EVENT_COST)
        vocabulary, segments, memtable, unboxed = view
        slots: list[int] = []
        if unboxed:
            self.work.checks += len(unboxed)
            attributes = event.attributes
            slots = [slot for slot, accepts in unboxed if accepts(attributes, event)]
        if segments or memtable is not None:
            slots += self._searched(event, vocabulary, segments, memtable)
        return sorted(set(slots)) if len(slots) > 1 else slots

    def _searched(
        self,
        event: Event,
        vocabulary: Vocabulary,
        segments: tuple[Segment, ...],
        memtable: Memtable | None,
    ) -> list[int]:
        """Return the slots of boxed filters that accept the event, maybe more than once."""
        _, workspace, coder = self._scratch(vocabulary)
        codes, work = coder.code(event), self.work
        check = ExactCheck.of(self._filter_of, event)
        slots: list[int] = []
        for segment in segments:
            slots += search_event(segment, codes, workspace, check, work)
        if memtable is not None:
            slots += search_event_memtable(memtable, codes, workspace, check, work)
        self._observe_in -= 1
        if self._observe_in <= 0:
            self._observe(codes, vocabulary)
        return slots

    def nearest(self, event: Event, count: int) -> list[int]:
        """Return some slots whose filters refuse the event, by few of their clauses."""
        with self._lock:
            self._freeze()
            vocabulary, segments = self._vocabulary, self._segments
        codes = code_event(event, vocabulary)
        slots: list[int] = []
        for segment in segments:
            slots += nearest(segment, codes, vocabulary, count)
        return slots

    def match_columns(self, columns: Columns) -> tuple[Places, Words]:
        """Return the slots that accept each row; those of row i begin at offsets[i]."""
        view = self._view(0, columns.rows)
        codes = code_columns(columns, view.vocabulary)
        self._observe(codes, view.vocabulary)
        return self._search(view, codes, columns.event)

    def code(self, columns: Columns) -> Codes:
        """Return rows as codes; what was added so far is known."""
        vocabulary = self._view(0, 0).vocabulary
        edition = vocabulary.edition
        return replace(code_columns(columns, vocabulary), edition=edition)

    def match_codes(self, codes: Codes, event_of: EventOf) -> tuple[Places, Words]:
        """Match codes like `match_columns`. `event_of` gives a row that is left in doubt."""
        view = self._view(0, codes.events)
        if codes.edition != view.vocabulary.edition:
            raise FykeError(
                "subscriptions were added since these events were coded; code them again"
            )
        return self._search(view, codes, event_of)

    def _search(self, view: View, codes: Codes, event_of: EventOf) -> tuple[Places, Words]:
        workspace = self._scratch(view.vocabulary).workspace
        check = ExactCheck(self._filter_of, event_of)
        segments, memtable, work = view.segments, view.memtable, self.work
        bounds = tiles(codes.events)
        lists = Lists(len(bounds))
        for start, end in bounds:
            if len(segments) == 1 and memtable is None:
                tile = search(segments[0], codes, start, end, workspace, check, work, lists.room)
            else:
                parts = [
                    search(each, codes, start, end, workspace, check, work) for each in segments
                ]
                if memtable is not None:
                    parts.append(
                        search_memtable(memtable, codes, start, end, workspace, check, work)
                    )
                tile = join(parts, end - start)
            lists.add(*tile)
        return lists.all()

    def _view(self, unboxed_max: int, events: int) -> View:
        """Return all subscriptions, to be searched for `events` events.

        Events for them are to be coded with the vocabulary that comes along: another one may be in
        its place by then.
        """
        with self._lock:
            if len(self._unboxed) > unboxed_max:
                self._box_all()
            if self._is_memtable_full():
                self._freeze()
            memtable = self._memtable(events) if len(self._writer) else None
            tests = tuple((slot, filter.test()) for slot, filter in self._unboxed.items())
            view = View(self._vocabulary, self._segments, memtable, tests)
            if memtable is None:
                self._steady = view
            return view

    def _is_memtable_full(self) -> bool:
        """Return True if the memtable should become a segment."""
        size = len(self._writer)
        return size > 0 and (
            size > MEMTABLE_SIZE_MAX
            or self._writer.has_patterns
            or self._compared > COMPARED_EVENTS_MAX * size
        )

    def _memtable(self, events: int) -> Memtable:
        self._compared += len(self._writer) * events
        return self._writer.memtable()

    def _scratch(self, vocabulary: Vocabulary) -> _Scratch:
        """Return the workspace of the calling thread."""
        scratch: _Scratch | None = getattr(self._scratches, "scratch", None)
        if scratch is None or scratch.vocabulary is not vocabulary:
            scratch = _Scratch(vocabulary, Workspace(), EventCoder(vocabulary))
            self._scratches.scratch = scratch
        return scratch

    def learn(self, statistics: Statistics) -> None:
        """Heed statistics of events in all that is filed from now on."""
        with self._lock:
            self._sample = SampleSource(self._sample.statistics + statistics)
            self._vocabulary.expect(self._sample)

    def _observe(self, codes: Codes, vocabulary: Vocabulary) -> None:
        """Observe some events: the first ones, and then one now and then."""
        if not self._lock.acquire(blocking=False):
            return  # a change is under way: a search does not wait for it
        try:
            self._observe_in = min(OBSERVED_EVERY, self._vocabulary.frequencies.events)
            if vocabulary is self._vocabulary:
                vocabulary.frequencies.observe(codes)
        finally:
            self._lock.release()

    # --- snapshots

    def save(self) -> tuple[Arrays, dict[str, object]]:
        """Return the index as arrays, whose names begin with `index.`, and the rest as for JSON."""
        with self._lock:
            self._freeze()
            return write_index(Index(self._vocabulary, self._sample, self._segments))

    def load(self, arrays: Arrays, details: dict[str, Any], slots: Places) -> None:
        """Fill an engine that is empty from what `save` returned."""
        index = read_index(arrays, details, slots)
        self._vocabulary, self._sample, segments = index
        self._writer = MemtableWriter(self._vocabulary)
        for segment in segments:
            self._install(segment, ())
        if len(slots) >= RELEASE_SIZE_MIN:
            give_back()


def _has_many_tombstones(segment: Segment) -> bool:
    return segment.tombstones > TOMBSTONE_SHARE_MAX * len(segment.slots)
