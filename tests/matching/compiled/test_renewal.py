"""A new generation of the index beside the old one: nothing is lost, nothing is invented."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import fyke
from fyke.events.columns import read
from fyke.filters.filter import Filter
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.compiled.renewal import Renewal
from fyke.matching.matcher import Matcher

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")


def engine_of(matcher: Matcher) -> CompiledEngine:
    assert isinstance(matcher.engine, CompiledEngine)
    return matcher.engine


class Halted:
    """A compaction that stops before or after everything is boxed, until it may go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, before: bool) -> None:
        self.is_there, self._may_go_on = threading.Event(), threading.Event()
        box_all = Renewal.box_all

        def slow(renewal: Renewal, *arguments: Any) -> None:
            if before:
                self._wait()
            box_all(renewal, *arguments)
            if not before:
                self._wait()

        monkeypatch.setattr(Renewal, "box_all", slow)

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
        """Attributes that take long to be read: all is renewed meanwhile."""

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

    def __init__(self, matcher: Matcher, seed: int) -> None:
        self.matcher = matcher
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
        id = f"s{self._next}"
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
