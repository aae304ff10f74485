"""The engine before its kernels are there, while it moves over, and afterwards: one verdict."""

from __future__ import annotations

import gc
import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.events.event import Event
from fyke.filters.filter import FALSE, Filter
from fyke.filters.predicate import Range
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.compiled.kernels import compiling
from fyke.matching.engines import deferred, interim
from fyke.matching.engines.contract import Work
from fyke.matching.engines.deferred import DeferredEngine
from fyke.matching.engines.interim import InterimEngine
from fyke.matching.engines.registry import ENGINES
from fyke.matching.matcher import Matcher
from fyke.testing.generators import events, filters, predicates, randoms
from fyke.testing.matcher import check_matcher
from fyke.testing.stories.reaching import examples, reached, reaches

close = filters(predicates(st.sampled_from(["a", "b", "type"])), max_leaves=6)


class Steps(DeferredEngine):
    """Moves to the compiled engine before a change or search of a chosen number."""

    def __init__(self, filter_of: Callable[[int], Filter], moves_at: int = -1) -> None:
        super().__init__(filter_of)
        self._numbers, self._moves_at = count(), moves_at

    def _turn(self) -> None:
        if next(self._numbers) == self._moves_at:
            self.move()

    def add(self, slot: int, filter: Filter) -> None:
        self._turn()
        super().add(slot, filter)

    def remove(self, slot: int) -> None:
        self._turn()
        super().remove(slot)


@contextmanager
def cold(make: Callable[[Callable[[int], Filter]], Any] = DeferredEngine) -> Iterator[None]:
    """Kernels that are not compiled, nobody compiles them, and the default engine knows it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "is_compiled", lambda: False)
        patch.setattr(compiling, "attend", lambda engine: None)
        patch.setattr(compiling, "is_over", lambda: False)  # an earlier test may have ended it
        patch.setattr(interim, "STALE_MIN", 3)
        patch.setitem(ENGINES, "compiled", make)
        yield


@given(
    taken=st.lists(close, min_size=1, max_size=12),
    seen=st.lists(events(), min_size=1, max_size=12),
    seed=st.integers(0, 1000),
)
@examples(0.5)
def test_histories_of_the_interim_engine(taken: list[Filter], seen: list[Event], seed: int) -> None:
    with cold():
        check_matcher("compiled", taken, seen, seed=seed, steps=25)


@given(
    taken=st.lists(close, min_size=1, max_size=12),
    seen=st.lists(events(), min_size=1, max_size=8),
    seed=st.integers(0, 1000),
)
@examples(0.25)
def test_histories_that_move_over(taken: list[Filter], seen: list[Event], seed: int) -> None:
    with cold(lambda filter_of: Steps(filter_of, moves_at=seed % 20)):
        check_matcher("compiled", taken, seen, seed=seed, steps=20)


@reaches(added=0.5, removed=0.4, replaced=0.4, found=0.4)
@given(
    taken=st.lists(close, min_size=3, max_size=8),
    seen=st.lists(events(), min_size=1, max_size=4),
    draw=randoms(),
)
@examples(0.25)
def test_changes_during_the_move(
    taken: list[Filter], seen: list[Event], draw: random.Random
) -> None:
    """At every filter that is indexed something else may change, in the same slot too."""
    expected: dict[str, Filter] = {}
    done: set[str] = set()
    with cold():
        matcher = Matcher()
        for number, filter in enumerate(taken):
            matcher.add(f"s{number}", filter)
            expected[f"s{number}"] = filter

        def interfere(real: Callable[[int], Filter], slot: int) -> Filter:
            read = real(slot)
            for _ in range(draw.randint(1, 4)):
                done.add(_change(matcher, expected, taken, draw))
            for event in seen[:2]:
                assert sorted(matcher.match(event)) == _right(expected, event)
            return read

        engine = matcher._subscriptions.engine
        assert isinstance(engine, DeferredEngine)
        real, new = engine._filter_of, CompiledEngine(engine._filter_of)
        engine._new_engine = lambda: new  # type: ignore[method-assign]
        engine._filter_of = lambda slot: interfere(real, slot)
        engine.move()
    assert isinstance(matcher.engine, CompiledEngine)
    right = [_right(expected, event) for event in seen]
    assert [sorted(matcher.match(event)) for event in seen] == right
    reached(found=any(right), **{name: name in done for name in ("added", "removed", "replaced")})


def _change(
    matcher: Matcher, expected: dict[str, Filter], taken: list[Filter], draw: random.Random
) -> str:
    id, filter = f"s{draw.randrange(20)}", draw.choice(taken)
    if id in expected and draw.random() < 0.5:
        matcher.remove(id)
        del expected[id]
        return "removed"
    done = "replaced" if id in expected else "added"
    (matcher.replace if id in expected else matcher.add)(id, filter)
    expected[id] = filter
    return done


def _right(expected: dict[str, Filter], event: Event) -> list[str]:
    return sorted(id for id, filter in expected.items() if filter.matches(event))


def test_an_opened_snapshot_moves_with_what_changed_since(tmp_path: Path) -> None:
    made = Matcher()
    made.add_many((f"s{number}", f"a = {number % 7}") for number in range(200))
    made.save(tmp_path / "snapshot")
    with cold():
        opened = Matcher.open(tmp_path / "snapshot")
        engine = opened._subscriptions.engine
        assert isinstance(engine, DeferredEngine)
        for number in range(0, 200, 7):
            opened.remove(f"s{number}")
        opened.replace("s1", "a = 0")
        opened.add_many((f"new{number}", "a = 0") for number in range(100))
        expected = ["s1", *(f"new{number}" for number in range(100))]
        assert sorted(opened.match({"a": 0})) == sorted(expected)
        engine.move()
    assert isinstance(opened.engine, CompiledEngine)
    assert sorted(opened.match({"a": 0})) == sorted(expected)
    assert opened.match({"a": 1}) == made.match({"a": 1})[1:]


def test_a_snapshot_without_an_index(tmp_path: Path) -> None:
    """What was saved before the kernels were there opens everywhere."""
    with cold():
        matcher = Matcher()
        matcher.add_many((f"s{number}", f"a = {number % 7}") for number in range(100))
        matcher.save(tmp_path / "snapshot")
    for engine in (None, "scan"):
        assert Matcher.open(tmp_path / "snapshot", engine).match({"a": 3}) == matcher.match(
            {"a": 3}
        )
    again = Matcher.open(tmp_path / "snapshot")
    assert isinstance(again.engine, CompiledEngine)


def test_threads_match_and_change_while_it_moves() -> None:
    with cold():
        matcher = Matcher()
        matcher.add_many((f"s{number}", f"a = {number % 5}") for number in range(2_000))
        lasting = matcher.match({"a": 1})
        engine, problems = matcher._subscriptions.engine, []
        assert isinstance(engine, DeferredEngine)
        is_over = threading.Event()

        def search() -> None:
            while not is_over.is_set():
                found = matcher.match({"a": 1})
                if [id for id in found if id.startswith("s")] != lasting:
                    problems.append(found)

        def change() -> None:
            for number in count():
                if is_over.is_set():
                    return
                matcher.add(f"t{number}", "a = 1")
                if number >= 50:
                    matcher.remove(f"t{number - 50}")

        threads = [threading.Thread(target=each) for each in (search, search, change)]
        for thread in threads:
            thread.start()
        engine.move()
        is_over.set()
        for thread in threads:
            thread.join(20)
    assert problems == []
    assert isinstance(matcher.engine, CompiledEngine)
    assert len(matcher.match({"a": 1})) == len(matcher) - 2_000 + 400


def test_what_was_learned_moves_along() -> None:
    with cold():
        matcher = Matcher()
        matcher.add_many((f"s{number}", "a = 1 and b = 1") for number in range(50))
        matcher.learn([{"a": 1, "b": 2}] * 50)
        matcher.match({"a": 1, "b": 1})
        work = matcher.stats().work
        assert isinstance(matcher._subscriptions.engine, DeferredEngine)
        matcher._subscriptions.engine.move()
    engine = matcher.engine
    assert isinstance(engine, CompiledEngine)
    assert engine._sample.statistics.events == 50
    assert matcher.stats().work == work and work.checks > 0


def test_a_batch_waits_for_kernels_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    waits = threading.Event()

    def say(sentence: str) -> None:
        said.append(sentence)
        waits.set()

    with cold():
        monkeypatch.setattr(deferred, "INTERIM_BATCH_S", 0.0)
        monkeypatch.setattr(compiling, "say", say)
        matcher = Matcher()
        matcher.add_many((f"s{number}", f"a = {number % 7}") for number in range(100))
        engine = matcher._subscriptions.engine
        assert isinstance(engine, DeferredEngine)
        thread = threading.Thread(target=lambda: waits.wait(60) and engine.move())
        thread.start()
        found = matcher.match_batch([{"a": number} for number in range(1_000)])
        thread.join(60)
    assert isinstance(matcher.engine, CompiledEngine)
    assert found.num_rows == 100
    assert [each.split(",")[0] for each in said] == ["waiting for the matching kernels"]


def test_few_subscriptions_stay_where_they_are() -> None:
    asked = []
    with cold(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "attend", asked.append)
        matcher = Matcher()
        matcher.add_many((f"s{number}", "a = 1") for number in range(32))
        matcher.match_batch([{"a": 1}] * 100)
        assert asked == []
        matcher.add("one more", "a = 1")
        matcher.add("and another", "a = 1")
        assert asked == [matcher._subscriptions.engine]


def test_the_interim_engine_files_and_forgets() -> None:
    engine = InterimEngine(Work())
    taken = ["a = 1 and b = 2", "a = 1", "b in (2, 3) or c = 1", "a > 5", "not a = 1", "d < 'x'"]
    parsed = [interim_filter(text) for text in taken]
    for slot, filter in enumerate(parsed):
        engine.add(slot, filter)
    assert engine.unguarded == 2
    assert engine.match(Event({"a": 1, "b": 2})) == [0, 1, 2]
    assert engine.match(Event({"a": [7, "x"], "d": "a"})) == [3, 4, 5]
    assert engine.match(Event({"a": ["x", 1], "b": ["y", 2]})) == [0, 1, 2]
    assert engine.nearest(Event({"a": 1, "b": 3}), 2) == [0, 4]
    for _ in range(3 * interim.STALE_MIN):
        engine.remove(0)
        engine.add(0, parsed[0])
    assert engine._files.size <= 2 * len(taken) + interim.STALE_MIN + 1
    assert engine.match(Event({"a": 1, "b": 2})) == [0, 1, 2]
    engine.add(9, FALSE)
    assert 9 not in engine.match(Event({"a": 1}))


def interim_filter(text: str) -> Filter:
    from fyke.filters.language.parser import parse_text

    return parse_text(text)


NUMBERS = (
    *(0, -0.0, 1, 1.0, 0.1, Decimal("0.1"), Decimal("0.10000000000000001"), 8.4, -5, -5.5),
    *(2**53 - 1, 2**53, 2**53 + 1, 2.0**53, 2**63 - 1, -(2**63), 1e300, 5e-324),
    *(Decimal(2**53) + Decimal("0.5"), Decimal("1" * 38)),
)


def test_bands_propose_what_ranges_accept_at_their_ends() -> None:
    """Rounded ends lose nothing: every number against ranges that begin and end at every number."""
    engine = InterimEngine(Work())
    taken: list[Filter] = []
    for low, high in product((None, *NUMBERS), repeat=2):
        if low is not None or high is not None:
            for opens in product((False, True), repeat=2):
                taken.append(Range("a", low, high, *opens))
    for slot, filter in enumerate(taken):
        engine.add(slot, filter)
    assert engine.unguarded == 0
    for number in NUMBERS:
        for value in (number, ["x", number], [number, 3]):
            event = Event({"a": value})
            right = [slot for slot, filter in enumerate(taken) if filter.matches(event)]
            assert engine.match(event) == right and right


# --- full collections of garbage ------------------------------------------------------------------


@pytest.fixture
def collects() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


def test_full_collections_wait_until_an_engine_has_moved(
    monkeypatch: pytest.MonkeyPatch, collects: tuple[int, int, int]
) -> None:
    seen = []

    class Moving:
        def move(self) -> None:
            seen.append(gc.get_threshold())
            raise ArithmeticError

    monkeypatch.setattr(compiling, "is_loaded", lambda: True)
    background, engine = compiling._Background(), Moving()
    background.attend(engine)
    assert background.is_over.wait(20)
    assert seen == [(*collects[:2], compiling.LATER)]
    assert gc.get_threshold() == collects


def test_who_sets_the_collector_meanwhile_is_not_overruled(collects: tuple[int, int, int]) -> None:
    with compiling.full_collections_later():
        gc.set_threshold(500, 5, 5)
    assert gc.get_threshold() == (500, 5, 5)
    with compiling.full_collections_later(), compiling.full_collections_later():
        assert gc.get_threshold() == (500, 5, compiling.LATER)
    assert gc.get_threshold() == (500, 5, 5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_collects_as_before(collects: tuple[int, int, int]) -> None:
    with compiling.full_collections_later():
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.get_threshold() == collects else 1)
        _, status = os.waitpid(child, 0)
    assert status == 0
