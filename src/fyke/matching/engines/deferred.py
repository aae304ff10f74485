"""deferred: the compiled engine, with another one in its place until its kernels are there.

    few subscriptions          `interim` answers, and numba is not even imported
    more, kernels compiled     the compiled engine, from the first subscription beyond few on
    more, no kernels yet       `interim` answers; a process of lowest priority compiles; then the
                               subscriptions are indexed beside it, and the engines change places

Moving. A thread (`compiling`) adds all filters to a compiled engine, while the interim one answers
and changes go to it and to a journal. What the journal holds is then applied, again and again until
it is little; the last part under the lock, together with the exchange. An opened snapshot brings
its index along; there the journal begins with the opening.
Batches. The interim engine takes rows one by one. When that has gone on for a while, waiting for
the kernels is quicker: the batch sleeps, which leaves the processor to the compiling process.
Law. That of `engine.Engine`, at any moment: both engines hold the same filters when they change
places, and searches that began before are settled by the matcher (`change_log`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching.arrays import Arrays
from fyke.matching.compiled.kernels import compiling
from fyke.matching.engines.contract import Work
from fyke.matching.engines.interim import InterimEngine
from fyke.matching.statistics import Statistics

if TYPE_CHECKING:
    from fyke.events.columns import Columns
    from fyke.matching.compiled.engine import CompiledEngine

FEW_MAX: Final = 32
"""Subscriptions for which no index pays."""
PAIRS_FEW_MAX: Final = 10_000
"""Rows of a batch times subscriptions for which none pays either."""
INTERIM_BATCH_S: Final = 5.0
"""Time that a batch goes on without kernels before it waits for them."""
POLL_S: Final = 0.05
TURN: Final = 32
"""Filters that are indexed before others have their turn."""
PAUSE_S: Final = 1e-4

_log: Final = logging.getLogger("fyke")


class DeferredEngine:
    """The engine `compiled` of a matcher, where kernels are not loaded yet."""

    def __init__(self, filter_of: Callable[[int], Filter]) -> None:
        self.work = Work()
        self._filter_of = filter_of
        self._lock = threading.RLock()
        self._interim = InterimEngine(self.work)
        self._compiled: CompiledEngine | None = None
        self._attended: object = None
        """The background (`compiling`) that will call `move`."""
        self._journal: dict[int, Filter | None] | None = None
        """Slots that changed since the indexing began, with their filters; None: removed."""
        self._index: tuple[Arrays, dict[str, Any], Any] | None = None
        """The index that a snapshot brought along."""
        self._learned: list[Statistics] = []

    @property
    def serving(self) -> InterimEngine | CompiledEngine:
        """The engine that answers at the moment."""
        return self._compiled or self._interim

    @property
    def unguarded(self) -> int:
        return self.serving.unguarded

    # --- subscriptions

    def add(self, slot: int, filter: Filter) -> None:
        with self._lock:
            self.serving.add(slot, filter)
            self._note(slot, filter)
            if self._compiled is None and len(self._interim) > FEW_MAX:
                self._outgrow()

    def remove(self, slot: int) -> None:
        with self._lock:
            self.serving.remove(slot)
            self._note(slot, None)

    def _note(self, slot: int, filter: Filter | None) -> None:
        if self._journal is not None:
            self._journal[slot] = filter

    def _outgrow(self) -> None:
        """Take the compiled engine if it can be had at once, or have it made ready."""
        if self._attended is compiling.background():
            return
        if compiling.is_compiled():
            self._replace_now()
        else:
            self._attended = compiling.background()
            compiling.attend(self)

    def _replace_now(self) -> None:
        engine = self._new_engine()
        if self._index is None or not _load_index(engine, self._index):
            for slot, filter in self._interim.filters():
                engine.add(slot, filter)
        else:
            _apply(self._journal or {}, engine, self._known())
        self._exchange(engine)

    def _new_engine(self) -> CompiledEngine:
        from fyke.matching.compiled.engine import CompiledEngine

        engine = CompiledEngine(self._filter_of)
        for each in self._learned:
            engine.learn(each)
        return engine

    def _known(self) -> set[int]:
        """Return the slots that the snapshot's index holds."""
        return set() if self._index is None else set(self._index[2].tolist())

    def _exchange(self, engine: CompiledEngine) -> None:
        """Let the compiled engine answer from now on."""
        engine.work = self.work
        self._compiled = engine
        self.match = engine.match  # type: ignore[method-assign]  # saves every event a call
        self._interim, self._journal, self._index = InterimEngine(self.work), None, None

    # --- in the background

    def move(self) -> None:
        """Index everything in a compiled engine, and exchange the engines; kernels are loaded."""
        engine = self._new_engine()
        known = self._indexed(engine)
        while True:
            with compiling.stepping:
                with self._lock:
                    if self._compiled is not None:
                        return
                    changes, self._journal = self._journal or {}, {}
                    if len(changes) <= FEW_MAX:
                        _apply(changes, engine, known)
                        self._exchange(engine)
                        return
                _apply(changes, engine, known)
                engine.freeze()

    def _indexed(self, engine: CompiledEngine) -> set[int]:
        """Fill an engine with what is there; the journal has what changes from then on."""
        with compiling.stepping, self._lock:
            if self._index is not None and _load_index(engine, self._index):
                return self._known()
            self._journal = {}
            slots = [slot for slot, _ in self._interim.filters()]
        for first in range(0, len(slots), TURN):
            with compiling.stepping:
                for slot in slots[first : first + TURN]:
                    engine.add(slot, self._filter_of(slot))
            time.sleep(PAUSE_S)
        with compiling.stepping:
            engine.freeze()
        return set(slots)

    # --- events

    def match(self, event: Event) -> list[int]:
        if self._attended is not None and self._attended is not compiling.background():
            self._attend_again()
        return self.serving.match(event)

    def _attend_again(self) -> None:
        """Attend again in a forked process, which has not inherited the thread."""
        with self._lock:
            if self._compiled is None:
                self._outgrow()

    def match_columns(self, columns: Columns) -> tuple[Any, Any]:
        """Return the slots that accept each row: of row i from offsets[i] to offsets[i + 1]."""
        with self._lock:
            if self._compiled is None and columns.rows * len(self._interim) > PAIRS_FEW_MAX:
                self._outgrow()
        if self._compiled is None and (found := self._match_rows(columns)) is not None:
            return found
        assert self._compiled is not None
        return self._compiled.match_columns(columns)

    def _match_rows(self, columns: Columns) -> tuple[Any, Any] | None:
        """Return the interim engine's answer; None if the engines changed places meanwhile."""
        interim = self._interim
        found = []
        patient_until = time.monotonic() + INTERIM_BATCH_S
        for row in range(columns.rows):
            if time.monotonic() > patient_until:
                self._wait()
            if self._compiled is not None:
                return None
            found.append(interim.match(columns.event(row)))
        offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
        return offsets, np.array([slot for slots in found for slot in slots], np.int32)

    def _wait(self) -> None:
        """Wait for the compiled engine, if it is on its way."""
        said = False
        while self._compiled is None and self._attended is compiling.background():
            if compiling.is_over():
                return
            if not said:
                compiling.say("waiting for the matching kernels, compiled once on this machine...")
                said = True
            time.sleep(POLL_S)

    def nearest(self, event: Event, count: int) -> list[int]:
        """Return some slots whose filters refuse the event, by few of their clauses."""
        return self.serving.nearest(event, count)

    # --- what is known about events

    def learn(self, statistics: Statistics) -> None:
        """Take statistics into account, beside those given before."""
        with self._lock:
            if self._compiled is None:
                self._learned.append(statistics)
            else:
                self._compiled.learn(statistics)

    def compact(self) -> None:
        """File all filters again by what is known now; the interim engine has nothing to gain."""
        if self._compiled is not None:
            self._compiled.compact()

    # --- snapshots

    def save(self) -> tuple[Arrays, dict[str, object]]:
        """Return the index of the compiled engine; nothing before it is there."""
        return ({}, {}) if self._compiled is None else self._compiled.save()

    def load(self, arrays: Arrays, details: dict[str, Any], slots: Any) -> None:
        """Fill an engine that is empty from what `save` gave."""
        if len(slots) > FEW_MAX and compiling.is_compiled():
            engine = self._new_engine()
            engine.load(arrays, details, slots)
            self._exchange(engine)
            return
        self._index, self._journal = (arrays, details, slots), {}
        for slot in slots.tolist():
            self._interim.add(slot, self._filter_of(slot))
        if len(slots) > FEW_MAX:
            self._outgrow()


def _load_index(engine: CompiledEngine, index: tuple[Arrays, dict[str, Any], Any]) -> bool:
    """Load the index of a snapshot. Return False if it is refused: filters are indexed then."""
    try:
        engine.load(*index)
    except FykeError as refused:
        _log.warning("the index of an opened snapshot is made anew: %s", refused)
        return False
    return True


def _apply(changes: dict[int, Filter | None], engine: CompiledEngine, known: set[int]) -> None:
    """Bring an engine, which holds the slots that are `known`, to where the changes lead."""
    for slot, filter in changes.items():
        if slot in known:
            engine.remove(slot)
            known.remove(slot)
        if filter is not None:
            engine.add(slot, filter)
            known.add(slot)
