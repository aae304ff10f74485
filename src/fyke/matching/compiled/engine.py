"""CompiledEngine: boxes of codes in immutable segments, searched by kernels.

Adding. A filter first waits in a short list and is evaluated as it is; when the list is full, or a
batch comes, it is boxed. Boxes are *young* at first, compared one by one (`young`); when these are
many, or have been compared with many events, they are *frozen* into a small segment. Segments are
merged when the newer of two is not much smaller than the older, so their number grows with the
logarithm of the subscriptions and each subscription is rewritten a few times. Merges of many
subscriptions run in the background: matching goes on with the old segments until the new one takes
their place.
Removing. The subscription's entry in its segment is struck out; merging leaves it behind, and a
segment with many such entries is rewritten.
Renewing. All is boxed again from the filters, with a new vocabulary (`renewal`): when asked, and
when more subscriptions were removed than there are and most words seem to be theirs. So memory
follows the subscriptions there are, and each removal pays a constant part of the next renewal.

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
from fyke.filters.filter import Filter
from fyke.matching import statistics as given
from fyke.matching.arrays import Arrays
from fyke.matching.compiled.box_table import Places, Words
from fyke.matching.compiled.coding import Codes, EventCoder, code_event
from fyke.matching.compiled.column_coding import code_columns
from fyke.matching.compiled.compiling import compile_all
from fyke.matching.compiled.exactly import EventOf, Exactly
from fyke.matching.compiled.expectation import Given
from fyke.matching.compiled.homes import Homes
from fyke.matching.compiled.intake import Intake
from fyke.matching.compiled.keeping import Index, keep, taken_up
from fyke.matching.compiled.layout import TREE_FROM
from fyke.matching.compiled.memory import MUCH, give_back
from fyke.matching.compiled.merging import Merge
from fyke.matching.compiled.nearness import nearest
from fyke.matching.compiled.renewal import Recollection, Renewal
from fyke.matching.compiled.results import Lists, joined
from fyke.matching.compiled.room import Room
from fyke.matching.compiled.search import (
    search,
    search_event,
    search_event_young,
    search_young,
    tiles,
)
from fyke.matching.compiled.segment import Segment
from fyke.matching.compiled.statistics import Statistics
from fyke.matching.compiled.vocabulary import Vocabulary
from fyke.matching.compiled.young import Young
from fyke.matching.engine import Work

WAITING_MAX: Final = 32
"""So many filters wait before they are boxed."""
YOUNG_MAX: Final = 2_000
"""So many subscriptions are young at most."""
PATIENCE: Final = 20_000
"""Comparing one with so many events, in batches, costs as much as freezing it."""
ALONE: Final = 32
"""An event that comes alone costs like so many in a batch."""
RATIO: Final = 4
"""A segment is at least so many times larger than the next one."""
SMALL: Final = 512
"""Below it a segment costs each event more than rewriting it does."""
AT_ONCE_MAX: Final = 2_000
"""Merges of more subscriptions run in the background."""
REMOVED_SHARE: Final = 0.25
STALE_FROM: Final = 8_192
"""So much vocabulary is kept, whether anybody uses it or not."""
LEARN_EVERY: Final = 32
"""One event of so many is learned from."""


class View(NamedTuple):
    """A vocabulary, what is written in it, and filters that wait."""

    vocabulary: Vocabulary
    segments: tuple[Segment, ...]
    young: Young | None
    waiting: dict[int, Filter]


class CompiledEngine:
    """The default engine. `filter_of` gives the filter of a slot, where kernels cannot decide."""

    def __init__(
        self,
        filter_of: Callable[[int], Filter],
        *,
        tree_from: int = TREE_FROM,
        is_warm: bool = False,
    ) -> None:
        self.work = Work()
        self._vocabulary = Vocabulary()
        self.statistics = Statistics(self._vocabulary.expectations)
        self._given = Given()
        self._filter_of = filter_of
        self._tree_from = tree_from
        self._is_warm = is_warm
        self._waiting: dict[int, Filter] = {}
        self._intake = Intake(self._vocabulary, self.statistics)
        self._compared = 0
        """With how many events the young were, added up over them."""
        self._segments: tuple[Segment, ...] = ()
        self._homes = Homes()
        self._lock = threading.RLock()
        self._chores = threading.Lock()
        """Held by who merges or renews without the other lock; taken before it."""
        self._renewal: Renewal | None = None
        self._removed = 0
        """How many that had been boxed were removed since the last renewal."""
        self._needed = 0.0
        """How much vocabulary a subscription needed then."""
        self._desks = threading.local()
        self._worker: threading.Thread | None = None
        self._busy: set[int] = set()
        """The segments that are being merged in the background."""
        self._learn_in = 1

    @property
    def unguarded(self) -> int:
        with self._lock:
            self._freeze()
            return sum(segment.unguarded for segment in self._segments)

    # --- subscriptions

    def add(self, slot: int, filter: Filter) -> None:
        with self._lock:
            self._waiting[slot] = filter
            if self._renewal is not None:
                self._renewal.add(slot, filter)
            if len(self._waiting) > WAITING_MAX:
                self._take_in()

    def remove(self, slot: int) -> None:
        with self._lock:
            if self._renewal is not None:
                self._renewal.remove(slot)
            if self._waiting.pop(slot, None) is None:
                if len(self._intake) > AT_ONCE_MAX:
                    self._freeze()
                self._removed += 1
                home = self._homes.leave(slot)
                if home is None:
                    self._intake.remove(slot)
                elif _is_worn(home):
                    self._tidy()

    def _take_in(self) -> None:
        """Boxes what waits."""
        for slot in list(self._waiting):
            self._intake.add(slot, self._waiting[slot])
            del self._waiting[slot]

    def freeze(self) -> None:
        """Makes segments of all that was added."""
        with self._lock:
            self._freeze()

    def _freeze(self) -> None:
        """Makes a segment of all that is not in one."""
        self._take_in()
        size = len(self._intake)
        if size:
            self._warm()
            self._settle_intake()
            self._tidy()
            if size >= MUCH:
                give_back()

    def _settle_intake(self) -> None:
        intake, self._intake = self._intake, Intake(self._vocabulary, self.statistics)
        self._compared = 0
        due = self._beside(len(intake))
        merge = Merge(due, intake)
        merge.run(self._vocabulary, self.statistics, self._tree_from)
        self._install(merge.result(), due)

    def _beside(self, new: int) -> tuple[Segment, ...]:
        """The newest segments, as far as they are small enough to be rewritten in passing."""
        due: list[Segment] = []
        size = new
        for segment in reversed(self._segments):
            together = size + segment.live
            is_near = segment.live < RATIO * size or together <= SMALL
            if not is_near or together > AT_ONCE_MAX or id(segment) in self._busy:
                break
            due.insert(0, segment)
            size = together
        return tuple(due)

    def _warm(self) -> None:
        if not self._is_warm:
            self._is_warm = True
            compile_all()

    # --- renewal

    def compact(self) -> None:
        """Makes one segment of all, boxed afresh and filed by what is known about events.

        Not under a lock that `filter_of` takes.
        """
        with self._chores:
            self._renew()

    def _renew(self) -> None:
        """Puts a new vocabulary and new segments in the place of the old ones."""
        with self._lock:
            self._freeze()
            source = Recollection(self._vocabulary, self.statistics, self._given)
            renewal = self._renewal = Renewal(self._segments, source, self._tree_from)
            self._busy = set(map(id, self._segments))
        try:
            renewal.box_all(self._filter_of)
            while not self._is_renewed(renewal):
                pass
        finally:
            with self._lock:
                self._renewal = None
                self._busy = set()

    @property
    def _live(self) -> int:
        return len(self._intake) + sum(segment.live for segment in self._segments)

    def _is_stale(self) -> bool:
        """Whether most of the vocabulary seems to be that of subscriptions which are gone."""
        if self._renewal is not None or self._removed <= self._live:
            return False
        return self._vocabulary.size > STALE_FROM + 2 * self._needed * self._live

    def _is_renewed(self, renewal: Renewal) -> bool:
        """Boxes what was added meanwhile; little of it, and all is taken over."""
        with self._lock:
            added = renewal.take_added()
            if len(added) <= WAITING_MAX:
                renewal.box_added(added)
                self._take_over(renewal)
                return True
        renewal.box_added(added)
        return False

    def _take_over(self, renewal: Renewal) -> None:
        self._segments = renewal.segments()
        self._vocabulary, self.statistics = renewal.vocabulary, renewal.statistics
        if self._given is not renewal.given:
            self._vocabulary.expect(self._given)
        self._waiting = {}
        self._intake = Intake(self._vocabulary, self.statistics)
        self._compared = 0
        self._homes = Homes()
        for segment in self._segments:
            self._homes.move((), segment)
        self._desks = threading.local()
        self._removed = 0
        self._needed = self._vocabulary.size / max(self._live, 1)

    # --- segments

    def _install(self, new: Segment, old: tuple[Segment, ...]) -> None:
        """Puts a segment in the place of others, or behind all."""
        segments = list(self._segments)
        place = segments.index(old[0]) if old else len(segments)
        segments[place : place + len(old)] = [new] if new.live else []
        self._homes.move(old, new)
        self._segments = tuple(segments)

    def _tidy(self) -> None:
        """Merges what is due: few subscriptions at once, many in the background."""
        for due in self._due():
            if sum(segment.live for segment in due) <= AT_ONCE_MAX:
                merge = Merge(due)
                merge.run(self._vocabulary, self.statistics, self._tree_from)
                self._install(merge.result(), due)
                self._tidy()
                return
        if self._worker is None and self._chore() is not None:
            self._worker = threading.Thread(target=self._work_behind, daemon=True)
            self._worker.start()

    def _due(self) -> Iterator[tuple[Segment, ...]]:
        """Neighbours of which the newer is not much smaller, and segments with much struck out."""
        for older, newer in pairwise(self._segments):
            if not {id(older), id(newer)} & self._busy and older.live < RATIO * newer.live:
                yield older, newer
        for segment in self._segments:
            if _is_worn(segment) and id(segment) not in self._busy:
                yield (segment,)

    # --- in the background

    def _work_behind(self) -> None:
        """Does what is due until nothing is; nothing is lost where it fails."""
        rewritten = 0
        while True:
            with self._chores:
                with self._lock:
                    due, chore = next(self._due(), ()), self._chore()
                    if chore is None:
                        self._worker = None
                        break
                    self._busy = set(map(id, due))
                rewritten += sum(segment.live for segment in due)
                try:
                    chore()
                except BaseException:
                    with self._lock:
                        self._worker = None
                    raise
        if rewritten >= MUCH:
            give_back()

    def _chore(self) -> Callable[[], None] | None:
        if self._is_stale():
            return self._renew
        for due in self._due():
            return partial(self._merge_behind, due)
        for patterns in self._vocabulary.pattern_sets():
            if patterns.merge_due():
                return patterns.merge
        return None

    def _merge_behind(self, due: tuple[Segment, ...]) -> None:
        try:
            merge = Merge(due)
            merge.run(self._vocabulary, self.statistics, self._tree_from)
            with self._lock:
                self._install(merge.result(), due)
        finally:
            with self._lock:
                self._busy = set()

    # --- events

    def match(self, event: Event) -> list[int]:
        vocabulary, segments, young, waiting = self._view(WAITING_MAX, ALONE)
        room, coder = self._desk(vocabulary)
        codes = coder.code(event)
        check = Exactly(self._filter_of, lambda _: event)
        slots: list[int] = []
        for segment in segments:
            slots += search_event(segment, codes, room, check, self.work)
        if young is not None:
            slots += search_event_young(young, codes, room, check, self.work)
        if waiting:
            slots += [slot for slot, filter in waiting.items() if filter.matches(event)]
        self._learn_in -= 1
        if self._learn_in <= 0:
            self._learn(codes, vocabulary)
        return sorted(set(slots)) if len(slots) > 1 else slots

    def nearest(self, event: Event, count: int) -> list[int]:
        """Some slots whose filters refuse the event, by few of their clauses."""
        with self._lock:
            self._freeze()
            vocabulary, segments = self._vocabulary, self._segments
        codes = code_event(event, vocabulary)
        slots: list[int] = []
        for segment in segments:
            slots += nearest(segment, codes, vocabulary, count)
        return slots

    def match_columns(self, columns: Columns) -> tuple[Places, Words]:
        """The slots that accept each row: those of row i between offsets[i] and offsets[i + 1]."""
        view = self._view(0, columns.rows)
        codes = code_columns(columns, view.vocabulary)
        self._learn(codes, view.vocabulary)
        return self._search(view, codes, columns.event)

    def code(self, columns: Columns) -> Codes:
        """Rows as codes; what was added so far is known."""
        vocabulary = self._view(0, 0).vocabulary
        edition = vocabulary.edition
        return replace(code_columns(columns, vocabulary), edition=edition)

    def match_codes(self, codes: Codes, event_of: EventOf) -> tuple[Places, Words]:
        """What `match_columns` does with codes. `event_of` gives a row that is left in doubt."""
        view = self._view(0, codes.events)
        if codes.edition != view.vocabulary.edition:
            raise FykeError(
                "subscriptions were added since these events were coded; code them again"
            )
        return self._search(view, codes, event_of)

    def _search(self, view: View, codes: Codes, event_of: EventOf) -> tuple[Places, Words]:
        room, _ = self._desk(view.vocabulary)
        check = Exactly(self._filter_of, event_of)
        segments, young, work = view.segments, view.young, self.work
        bounds = tiles(codes.events)
        lists = Lists(len(bounds))
        for start, end in bounds:
            if len(segments) == 1 and young is None:
                tile = search(segments[0], codes, start, end, room, check, work, lists.room)
            else:
                parts = [search(each, codes, start, end, room, check, work) for each in segments]
                if young is not None:
                    parts.append(search_young(young, codes, start, end, room, check, work))
                tile = joined(parts, end - start)
            lists.add(*tile)
        return lists.all()

    def _view(self, waiting_max: int, events: int) -> View:
        """All subscriptions, to be searched for so many events; the filters of a few.

        Events for them are to be coded with the vocabulary that comes along: another one may be in
        its place by then.
        """
        with self._lock:
            if len(self._waiting) > waiting_max:
                self._take_in()
            if self._is_ripe():
                self._freeze()
            young = self._young(events) if len(self._intake) else None
            if not self._waiting:
                return View(self._vocabulary, self._segments, young, {})
            self.work.checks += len(self._waiting)
            return View(self._vocabulary, self._segments, young, dict(self._waiting))

    def _is_ripe(self) -> bool:
        """Whether those that were boxed should not be young any longer."""
        size = len(self._intake)
        return size > 0 and (
            size > YOUNG_MAX or self._intake.has_patterns or self._compared > PATIENCE * size
        )

    def _young(self, events: int) -> Young:
        self._warm()
        self._compared += len(self._intake) * events
        return self._intake.young()

    def _desk(self, vocabulary: Vocabulary) -> tuple[Room, EventCoder]:
        """Where the calling thread works."""
        desks = self._desks
        try:
            if desks.vocabulary is vocabulary:
                return desks.room, desks.coder
        except AttributeError:
            pass
        room, coder = desks.room, desks.coder = Room(), EventCoder(vocabulary)
        desks.vocabulary = vocabulary
        return room, coder

    def learn(self, statistics: given.Statistics) -> None:
        """Takes statistics of events into account for all that is filed from now on."""
        with self._lock:
            self._given = Given(self._given.statistics + statistics)
            self._vocabulary.expect(self._given)

    def _learn(self, codes: Codes, vocabulary: Vocabulary) -> None:
        """Takes note of some events, the first ones and then now and then."""
        with self._lock:
            self._learn_in = min(LEARN_EVERY, self.statistics.events)
            if vocabulary is self._vocabulary:
                self.statistics.observe(codes, vocabulary)

    # --- snapshots

    def kept(self) -> tuple[Arrays, dict[str, object]]:
        """The index as arrays, under names that begin with `index.`, and what JSON can say."""
        with self._lock:
            self._freeze()
            return keep(Index(self._vocabulary, self._given, self.statistics, self._segments))

    def take_up(self, arrays: Arrays, details: dict[str, Any], slots: Places) -> None:
        """Fills an engine that is empty from what `kept` gave."""
        self._warm()
        index = taken_up(arrays, details, slots)
        self._vocabulary, self._given, self.statistics, segments = index
        self._intake = Intake(self._vocabulary, self.statistics)
        for segment in segments:
            self._install(segment, ())
        if len(slots) >= MUCH:
            give_back()


def _is_worn(segment: Segment) -> bool:
    return segment.removed > REMOVED_SHARE * len(segment.slots)
