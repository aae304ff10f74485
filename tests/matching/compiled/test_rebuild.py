"""A new generation of the index beside the old one: nothing is lost, nothing is invented."""

from __future__ import annotations

import gc
import random
import threading
import tracemalloc
from collections import deque
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import fyke
from fyke.events.columns import read
from fyke.filters.filter import Filter, conjunction
from fyke.filters.predicate import equals
from fyke.filters.text_predicate import contains
from fyke.matching.compiled import engine as compiled
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.compiled.rebuild import Rebuild
from fyke.matching.matcher import Matcher

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")


def engine_of(matcher: Matcher) -> CompiledEngine:
    assert isinstance(matcher.engine, CompiledEngine)
    return matcher.engine


class Halted:
    """A compaction that stops before or after everything is boxed, until it may go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, before: bool) -> None:
        self.is_there, self._may_go_on = threading.Event(), threading.Event()
        box_all = Rebuild.box_all

        def slow(rebuild: Rebuild, *arguments: Any) -> None:
            if before:
                self._wait()
            box_all(rebuild, *arguments)
            if not before:
                self._wait()

        monkeypatch.setattr(Rebuild, "box_all", slow)

    def _wait(self) -> None:
        self.is_there.set()
        assert self._may_go_on.wait(20)

    def start(self, matcher: Matcher) -> threading.Thread:
        thread = threading.Thread(target=matcher.compact, daemon=True)
        thread.start()
        assert self.is_there.wait(20)
        return thread

    def end(self, thread: threading.Thread) -> None:
        self._may_go_on.set()
        thread.join(20)
        assert not thread.is_alive()


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("count", [3, 200])
def test_changes_during_a_compaction_are_kept(
    monkeypatch: pytest.MonkeyPatch, before: bool, count: int
) -> None:
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"a = {n % 3} and v = 'old{n}'") for n in range(100))
    matcher.match({})
    halted = Halted(monkeypatch, before=before)
    thread = halted.start(matcher)
    for n in range(10):
        matcher.remove(f"s{n}")
    matcher.add_many((f"n{n}", f"a = 1 and w contains 'x{n}'") for n in range(count))
    matcher.match({})
    matcher.replace("s10", "a = 9")
    matcher.remove("s11")
    matcher.add("s11", "a = 9")
    matcher.remove("n0")
    matcher.add("late", "a = 9")
    matcher.remove("n1")
    matcher.add("n1", "a = 9 and b < 0")

    def check() -> None:
        assert sorted(matcher.match({"a": 9})) == ["late", "s10", "s11"]
        assert sorted(matcher.match({"a": 9, "b": -1})) == ["late", "n1", "s10", "s11"]
        assert matcher.match({"a": 1, "w": "x0 x1"}) == []
        assert matcher.match({"a": 1, "w": "x2"}) == ["n2"]
        for n in range(12, 100):
            assert matcher.match({"a": n % 3, "v": f"old{n}"}) == [f"s{n}"]
        for n in range(12):
            assert matcher.match({"a": n % 3, "v": f"old{n}"}) == []

    check()
    halted.end(thread)
    check()
    matcher.remove("s10")
    matcher.remove("n2")
    matcher.remove("late")
    assert matcher.match({"a": 9}) == ["s11"]
    assert matcher.match({"a": 1, "w": "x2"}) == []
    assert sum(segment.live for segment in engine_of(matcher)._segments) == len(matcher)


def test_a_match_that_began_before_ends_with_the_old_generation() -> None:
    """Codes and segments of one search belong together, whatever happens between them."""
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"a = {n} and b = {n}") for n in range(50))
    matcher.remove("s0")
    matcher.match({})

    class Slow(dict[str, Any]):
        """Attributes that take long to be read: all is rebuilt meanwhile."""

        def items(self) -> Any:
            thread = threading.Thread(target=matcher.compact)
            thread.start()
            thread.join(20)
            return super().items()

    for n in (7, 49):
        assert matcher.match(fyke.Event.flat(Slow({"a": n, "b": n}))) == [f"s{n}"]
        assert matcher.match({"a": n, "b": n}) == [f"s{n}"]


def test_codes_of_an_old_generation_are_refused() -> None:
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"a = {n}") for n in range(50))
    engine = engine_of(matcher)
    columns = read(pa.table({"a": [1, 2]}))
    codes = engine.code(columns)
    assert engine.match_codes(codes, columns.event)[1].tolist() == [1, 2]
    matcher.compact()
    with pytest.raises(fyke.FykeError, match="code them again"):
        engine.match_codes(codes, columns.event)
    codes = engine.code(columns)
    assert engine.match_codes(codes, columns.event)[1].tolist() == [1, 2]


def test_codes_without_an_axis_that_was_added_are_refused() -> None:
    """A range on a new attribute beside known values brings no symbol, but an axis."""
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"a = {n}") for n in range(50))
    engine = engine_of(matcher)
    columns = read(pa.table({"a": [1, 2]}))
    codes = engine.code(columns)
    matcher.add("new", "a = 1 and b > 5")
    with pytest.raises(fyke.FykeError, match="code them again"):
        engine.match_codes(codes, columns.event)


# --- against the scan ----------------------------------------------------------------------------


class Churn:
    """Subscriptions with constants nobody used before, and what they should find."""

    def __init__(self, matcher: Matcher, seed: int, prefix: str = "s") -> None:
        self.matcher = matcher
        self._prefix = prefix
        self.live: dict[str, Filter] = {}
        self._draw = random.Random(seed)
        self._next = 0

    def text(self) -> str:
        n = self._next
        return self._draw.choice(
            [
                f"a = 'v{n}' and k = {n % 5}",
                f"k = {n % 5} and t like '%p{n}%'",
                f"(a = 'v{n}' or b > {n}) and not k = {n % 3}",
                f"a in ('v{n}', 'v{n - 1}', 'v{n + 1}')",
                f"new{n % 40} < {n} and k = {n % 5}",
            ]
        )

    def add(self) -> None:
        id = f"{self._prefix}{self._next}"
        filter = fyke.parse(self.text())
        self.matcher.add(id, filter)
        self.live[id] = filter
        self._next += 1

    def change(self) -> None:
        self.add()
        if self._draw.random() < 0.1:
            id = self._draw.choice(list(self.live))
            self.live[id] = fyke.parse(self.text())
            self.matcher.replace(id, self.live[id])
        id = self._draw.choice(list(self.live))
        self.matcher.remove(id)
        del self.live[id]

    def event(self) -> dict[str, Any]:
        n = self._draw.randrange(max(self._next - 300, 0), self._next + 1)
        return {"a": f"v{n}", "b": n, "k": n % 5, "t": f"a p{n} b", f"new{n % 40}": n - 1}

    def problems(self) -> Iterator[str]:
        for _ in range(3):
            event = self.event()
            found = sorted(self.matcher.match(event))
            wanted = sorted(id for id, each in self.live.items() if each.matches(event))
            if found != wanted:
                yield f"{event}: found {found[:9]}, wanted {wanted[:9]}"
        table = pa.Table.from_pylist([event])
        batch = sorted(self.matcher.match_batch(table)["subscription"].to_pylist())
        if batch != wanted:
            yield f"{event} in a batch: found {batch[:9]}, wanted {wanted[:9]}"


def test_verdicts_are_the_scans_while_all_is_compacted_again_and_again() -> None:
    matcher = Matcher()
    churn = Churn(matcher, 1)
    for _ in range(300):
        churn.add()
    stopped = threading.Event()
    rounds = 0

    def compact() -> None:
        nonlocal rounds
        while not stopped.is_set():
            matcher.compact()
            rounds += 1

    thread = threading.Thread(target=compact)
    thread.start()
    try:
        for _ in range(250):
            churn.change()
            assert list(churn.problems()) == []
    finally:
        stopped.set()
        thread.join(20)
    assert rounds > 3


# --- a vocabulary that shrinks -------------------------------------------------------------------


def idle(matcher: Matcher) -> None:
    while (worker := engine_of(matcher)._worker) is not None:
        worker.join(20)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "VOCABULARY_SIZE_KEPT", 1_000)


def fresh(n: int) -> Filter:
    """A filter with constants that no other has, every twentieth on an attribute of its own."""
    other = contains("t", f"p{n}") if n % 3 else equals("k", n)
    return conjunction([equals("a" if n % 20 else f"a{n}", f"v{n}"), other])


def event_of(n: int) -> dict[str, Any]:
    return {"a" if n % 20 else f"a{n}": f"v{n}", "t": f"a p{n} b", "k": n}


@pytest.mark.usefixtures("forgetful")
def test_what_nobody_mentions_any_more_is_forgotten() -> None:
    matcher = Matcher()
    engine = engine_of(matcher)
    live = deque(range(200))
    matcher.add_many((str(n), fresh(n)) for n in live)
    matcher.match({})
    needed = engine._vocabulary.size
    sizes, memory = [], []
    editions = set()
    tracemalloc.start()
    try:
        for n in range(200, 8_000):
            matcher.add(str(n), fresh(n))
            live.append(n)
            gone = live.popleft()
            matcher.remove(str(gone))
            if n % 20 == 0:
                for sought in (live[0], live[-1], live[n % 200]):
                    assert matcher.match(event_of(sought)) == [str(sought)]
                assert matcher.match(event_of(gone)) == []
                sizes.append(engine._vocabulary.size)
                editions.add(engine._vocabulary.edition[0])
            if n % 1_000 == 0:
                idle(matcher)
                gc.collect()
                memory.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert len(editions) > 5
    assert max(sizes) < 10 * needed  # of more than thirty times as much
    assert max(memory[3:]) < min(memory[:3]) + 3_000_000


@pytest.mark.usefixtures("forgetful")
def test_all_that_is_forgotten_when_all_are_gone() -> None:
    matcher = Matcher()
    matcher.add_many((str(n), fresh(n)) for n in range(3_000))
    matcher.match({})
    for n in range(3_000):
        matcher.remove(str(n))
    idle(matcher)
    assert engine_of(matcher)._vocabulary.size < 3_000
    matcher.add("x", "a = 1")
    assert matcher.match({"a": 1}) == ["x"]


@pytest.mark.usefixtures("forgetful")
def test_the_same_values_again_and_again_rebuild_nothing() -> None:
    matcher = Matcher()
    matcher.add_many((str(n), fresh(n)) for n in range(300))
    matcher.match({})
    for turn in range(2_000):
        matcher.replace(str(turn % 300), fresh(turn % 300))
        matcher.match({})
    idle(matcher)
    edition = engine_of(matcher)._vocabulary.edition
    for turn in range(1_000):
        matcher.replace(str(turn % 300), fresh(turn % 300))
        matcher.match({})
    idle(matcher)
    assert engine_of(matcher)._vocabulary.edition == edition


def test_removing_what_was_never_searched_takes_no_time_and_no_memory() -> None:
    """Without events nothing is frozen; what comes and goes must not pile up."""
    matcher = Matcher()
    for n in range(6_000):
        matcher.add(str(n), fresh(n))
        if n >= 100:
            matcher.remove(str(n - 100))
    assert len(engine_of(matcher)._writer) <= 2_000 + 100
    assert matcher.match(event_of(5_950)) == ["5950"]
    assert matcher.match(event_of(5_850)) == []


@pytest.mark.usefixtures("forgetful")
def test_verdicts_are_the_scans_from_several_threads_while_words_come_and_go() -> None:
    matcher = Matcher()
    stable = {f"s{n}": fyke.parse(f"a = 'v{n % 40}' and k < {n}") for n in range(400)}
    matcher.add_many(stable.items())
    events = [{"a": f"v{n}", "k": 3 * n} for n in range(40)]
    right = [{id for id, each in stable.items() if each.matches(event)} for event in events]
    table = pa.Table.from_pylist(events)
    stopped = threading.Event()
    wrong: list[str] = []
    rounds = [0, 0]

    def single() -> None:
        while not stopped.is_set():
            for number, event in enumerate(events):
                found = [id for id in matcher.match(event) if id in stable]
                if set(found) != right[number] or len(found) != len(right[number]):
                    wrong.append(f"{event}: {found}")
            rounds[0] += 1

    def batch() -> None:
        while not stopped.is_set():
            matches = matcher.match_batch(table).to_pylist()
            pairs = {(each["event"], each["subscription"]) for each in matches}
            found = {(row, id) for row, id in pairs if id in stable}
            if found != {(row, id) for row, ids in enumerate(right) for id in ids}:
                wrong.append("in a batch")
            rounds[1] += 1

    threads = [threading.Thread(target=each) for each in (single, batch)]
    for thread in threads:
        thread.start()
    edition = engine_of(matcher)._vocabulary.edition
    churn = Churn(matcher, 2, "c")
    try:
        for _ in range(100):
            churn.add()
        for turn in range(4_000):
            churn.change()
            if turn % 40 == 0:
                event = churn.event()
                wanted = {id for id, each in (stable | churn.live).items() if each.matches(event)}
                assert set(matcher.match(event)) == wanted
    finally:
        stopped.set()
        for thread in threads:
            thread.join(20)
    assert wrong == []
    assert min(rounds) > 0
    assert engine_of(matcher)._vocabulary.edition[0] > edition[0]
