"""The Matcher's own duties: ids, errors, explanations, statistics, snapshots."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fyke
from fyke.events.event import Event
from fyke.filters.filter import TRUE, Filter
from fyke.matching import snapshot
from fyke.matching.engines.contract import Persistent, Work
from fyke.matching.engines.registry import ENGINES
from fyke.matching.engines.scan import ScanEngine
from fyke.matching.matcher import Matcher


@pytest.fixture
def matcher() -> Matcher:
    matcher = Matcher()
    matcher.add("alice", "price < 10 and (symbol = 'A' or symbol starts with 'OT')")
    matcher.add("bob", "price < 5 and symbol = 'OTE' and volume > 7")
    matcher.add("carol", {"detail": {"state": ["running"]}}, dialect="eventbridge")
    return matcher


def test_matches_come_in_the_order_of_adding(matcher: Matcher) -> None:
    event = {"symbol": "OTE", "price": 4, "volume": 8, "detail": {"state": "running"}}
    assert matcher.match(event) == ["alice", "bob", "carol"]
    matcher.remove("bob")
    assert matcher.match(event) == ["alice", "carol"]
    assert list(matcher) == ["alice", "carol"]
    assert len(matcher) == 2
    assert "bob" not in matcher
    assert 7 not in matcher
    matcher.add("dave", "true")
    assert matcher.match(event) == list(matcher)
    assert sorted(matcher) == ["alice", "carol", "dave"]


def test_a_replaced_filter(matcher: Matcher) -> None:
    event = {"symbol": "X", "price": 4}
    assert matcher.match(event) == []
    matcher.replace("alice", "price < 9")
    assert matcher.match(event) == ["alice"]
    assert str(matcher.filter("alice")) == "price < 9"
    assert matcher.explain(event, "alice").holds
    assert len(matcher) == 3


def test_filters_come_back_equal(matcher: Matcher) -> None:
    assert matcher.filter("bob") == fyke.parse("price < 5 and symbol = 'OTE' and volume > 7")
    assert str(matcher.filter("carol")) == "detail.state = 'running'"


def test_many_at_once(matcher: Matcher) -> None:
    matcher.add_many(iter([("d", "a = 1"), ("e", fyke.parse("a = 2"))]))
    assert matcher.match({"a": 2}) == ["e"]
    for refused in ([("f", "true"), ("d", "true"), ("g", "true")], [("h", "true"), ("i", "a <")]):
        with pytest.raises(fyke.FykeError):
            matcher.add_many(refused)
    for no_pair in (7, None, ("j",), ("j", "true", "fyke", 1)):
        with pytest.raises(fyke.FykeError, match="no pair"):
            matcher.add_many([no_pair])  # type: ignore[list-item]
    assert matcher.match({"a": 1}) == ["d", "f", "h"]


def test_what_is_refused_changes_nothing(matcher: Matcher) -> None:
    for refused in (
        lambda: matcher.add("alice", "true"),
        lambda: matcher.add("dave", "price <"),
        lambda: matcher.add(7, "true"),  # type: ignore[arg-type]
        lambda: matcher.add("\ud800", "true"),
        lambda: matcher.add("dave", Filter()),
        lambda: matcher.replace("alice", Filter()),
        lambda: matcher.remove("\ud800"),
        lambda: matcher.replace("alice", "price <"),
        lambda: matcher.replace("dave", "true"),
        lambda: matcher.remove("dave"),
        lambda: matcher.remove([]),  # type: ignore[arg-type]
        lambda: matcher.explain({}, "dave"),
        lambda: Matcher("nonsense"),
        lambda: Matcher(self_check=2),
    ):
        with pytest.raises(fyke.FykeError):
            refused()
    assert matcher.match({"symbol": "A", "price": 1}) == ["alice"]
    assert len(matcher) == 3


def test_explanations(matcher: Matcher) -> None:
    event = {"symbol": "OTE", "price": 4, "volume": 1}
    explanation = matcher.explain(event, "bob")
    assert [child.holds for child in explanation.children] == [True, True, False]
    first, *_ = matcher.why_not(event, limit=1)
    assert first.id == "bob"
    assert [str(miss.filter) for miss in first.failed] == ["volume > 7"]
    assert first.held == 2
    assert [miss.id for miss in matcher.why_not(event)] == ["bob", "carol"]


class _Forgetful:
    """An engine that never finds anything."""

    def __init__(self) -> None:
        self.work = Work()
        self.unguarded = 0

    def add(self, slot: int, filter: Filter) -> None: ...

    def remove(self, slot: int) -> None: ...

    def match(self, event: Event) -> list[int]:
        return []


def test_the_self_check_finds_and_repairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "forgetful", lambda filter_of: _Forgetful())
    matcher = Matcher("forgetful", self_check=1.0)
    matcher.add("a", "true")
    assert matcher.match({}) == ["a"]
    assert matcher.stats().self_check_failures == 1


class _Picky(ScanEngine):
    """An engine that refuses what speaks about `b`."""

    def add(self, slot: int, filter: Filter) -> None:
        if "b" in str(filter):
            raise fyke.FykeError("not b")
        super().add(slot, filter)


def test_what_an_engine_refuses_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "picky", lambda filter_of: _Picky())
    matcher = Matcher("picky")
    matcher.add("x", "a = 1")
    for refused in (
        lambda: matcher.add("y", "b = 1"),
        lambda: matcher.replace("x", "b = 1"),
        lambda: matcher.add_many([("z", "a = 1"), ("y", "b = 1")]),
    ):
        with pytest.raises(fyke.FykeError, match="not b"):
            refused()
    assert matcher.match({"a": 1, "b": 1}) == ["x", "z"]
    assert list(matcher) == ["x", "z"]
    assert str(matcher.filter("x")) == "a = 1"


# --- snapshots -----------------------------------------------------------------------------------


def test_snapshots(matcher: Matcher, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "snapshot"
    matcher.save(path)
    again = Matcher.open(path)
    assert list(again) == list(matcher)
    assert all(again.filter(id) == matcher.filter(id) for id in matcher)
    assert again.stats().engine == "compiled"
    matcher.remove("bob")
    matcher.save(path)
    assert len(again) == 3  # it has the old files mapped
    assert str(again.filter("bob")) == "price < 5 and symbol = 'OTE' and volume > 7"
    assert len(Matcher.open(path)) == 2
    assert [each.name for each in path.parent.iterdir()] == ["snapshot"]
    with pytest.raises(fyke.FykeError, match="no snapshot"):
        Matcher.open(tmp_path / "nowhere")


def test_an_opened_matcher_lives_on(matcher: Matcher, tmp_path: Path) -> None:
    path = tmp_path / "snapshot"
    matcher.save(path)
    again = Matcher.open(str(path), engine="counting")
    again.add("dave", "a = 1")
    again.remove("alice")
    again.replace("bob", "a = 1")
    assert sorted(again.match({"a": 1, "price": 1, "symbol": "A"})) == ["bob", "dave"]
    again.save(path)
    third = Matcher.open(path)
    assert third.stats().engine == "counting"
    assert sorted(third.match({"a": 1})) == ["bob", "dave"]


def test_an_empty_matcher_is_saved_too(tmp_path: Path) -> None:
    Matcher().save(tmp_path / "empty")
    matcher = Matcher.open(tmp_path / "empty")
    assert len(matcher) == 0
    matcher.add("a", "true")
    assert matcher.match({}) == ["a"]


class _Kept(ScanEngine):
    """An engine with an index of its own, which is a list of numbers."""

    opened = 0

    def save(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, object]]:
        slots = np.array(sorted(self._tests), np.int32)
        return {"index.slots": slots}, {"words": ["a", 1, None], "by number": {3: 4}}

    def load(
        self,
        arrays: dict[str, npt.NDArray[Any]],
        details: dict[str, Any],
        slots: npt.NDArray[Any],
    ) -> None:
        assert slots.tolist() == list(range(len(slots)))
        assert details == {"words": ["a", 1, None], "by number": {"3": 4}}
        if arrays["index.slots"].size != 1:
            raise fyke.FykeError("not one slot")
        type(self).opened += 1
        self._tests = {slot: TRUE.test() for slot in arrays["index.slots"].tolist()}


def test_an_engine_may_keep_its_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(ENGINES, "kept", lambda filter_of: _Kept())
    assert isinstance(_Kept(), Persistent)
    assert not isinstance(ScanEngine(), Persistent)
    path = tmp_path / "snapshot"
    matcher = Matcher("kept")
    matcher.add("a", "true")
    matcher.save(path)
    assert Matcher.open(path).match({}) == ["a"]
    assert _Kept.opened == 1
    assert Matcher.open(path, engine="scan").match({}) == ["a"]
    matcher.add("b", "true")
    matcher.save(path)
    with pytest.raises(fyke.FykeError, match="corrupt: not one slot"):
        Matcher.open(path)
    Matcher("scan").save(path)
    assert Matcher.open(path, engine="kept").match({}) == []  # built from the filters
    assert _Kept.opened == 1


@pytest.mark.parametrize("engine", ["scan", "compiled"])
def test_snapshots_that_lie(engine: str, tmp_path: Path) -> None:
    """Whole by their checksums, yet not what a matcher writes."""
    path = tmp_path / "snapshot"
    matcher = Matcher(engine)
    matcher.add("alice", "price < 10")
    matcher.save(path)
    facts, arrays = snapshot.load(path)
    for lie, kept in (
        (facts, {}),
        ({**facts, "engine": "nonsense"}, arrays),
        ({**facts, "engine": [engine]}, arrays),
        ({}, arrays),
    ):
        snapshot.save(path, lie, kept)
        with pytest.raises(fyke.FykeError):
            Matcher.open(path)


def _with_broken_filters(engine: str, path: Path) -> None:
    """A snapshot whose filters cannot be read, though the rest can."""
    matcher = Matcher(engine)
    matcher.add_many([("alice", "price < 10"), ("bob", "name matches 'x+'")])
    matcher.save(path)
    facts, arrays = snapshot.load(path)
    broken = {**arrays, "filters.bytes": np.zeros_like(arrays["filters.bytes"])}
    snapshot.save(path, facts, broken)


def test_filters_that_lie_are_refused_where_they_are_read_at_once(tmp_path: Path) -> None:
    _with_broken_filters("scan", tmp_path / "snapshot")
    with pytest.raises(fyke.FykeError):
        Matcher.open(tmp_path / "snapshot")


def test_filters_that_lie_are_refused_when_they_are_read(tmp_path: Path) -> None:
    """The compiled engine has its index and reads few filters; none of them becomes a verdict."""
    _with_broken_filters("compiled", tmp_path / "snapshot")
    matcher = Matcher.open(tmp_path / "snapshot")
    for refused in (
        lambda: matcher.filter("alice"),
        lambda: matcher.explain({"price": 1}, "alice"),
        lambda: matcher.match({"name": "x"}),
    ):
        with pytest.raises(fyke.FykeError):
            refused()


@pytest.mark.parametrize("how", ["absent", "no details", "wrong type", "torn"])
def test_an_index_that_lies_is_refused(matcher: Matcher, tmp_path: Path, how: str) -> None:
    path = tmp_path / "snapshot"
    matcher.save(path)
    facts, arrays = snapshot.load(path)
    assert any(name.startswith("index.") for name in arrays)
    match how:
        case "absent":
            arrays = {k: v for k, v in arrays.items() if not k.startswith("index.")}
        case "no details":
            facts = {**facts, "index": {}}
        case "wrong type":
            facts = {**facts, "index": {**facts["index"], "segments": [None]}}
        case "torn":
            del arrays["index.segment0.clusters"]
    snapshot.save(path, facts, arrays)
    with pytest.raises(fyke.FykeError, match="corrupt"):
        Matcher.open(path)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_memory_of_a_matcher_is_free_at_once(engine: str, tmp_path: Path) -> None:
    """A snapshot may be large, and the garbage collector may not come for long."""
    one = Matcher(engine)
    one.add("a", "x > 1 and name = 'b'")
    one.match({"x": 2, "name": "b"})
    one.save(tmp_path / "saved")
    other = Matcher.open(tmp_path / "saved")
    other.match({"x": 2, "name": "b"})
    engines = [weakref.ref(one.engine), weakref.ref(other.engine)]
    gc.collect()
    gc.disable()
    try:
        del one, other
        assert [engine() for engine in engines] == [None, None]
    finally:
        gc.enable()


def test_many_in_several_dialects() -> None:
    matcher = Matcher()
    matcher.add_many([("a", "a = 1"), ("b", {"a": [1]}, "eventbridge")])
    matcher.add_many([("c", "a = '1'"), ("d", "a = 1", "fyke")], dialect="cesql")
    assert matcher.match({"a": 1}) == ["a", "b", "c", "d"]  # CESQL casts
    with pytest.raises(fyke.FykeError, match="no pair"):
        matcher.add_many([("e", "a = 1", "fyke", "more")])  # type: ignore[list-item]
    with pytest.raises(fyke.FykeError, match="unknown dialect"):
        matcher.add_many([("e", "a = 1", "nope")])


def test_what_is_printed() -> None:
    matcher = Matcher()
    assert repr(matcher) == "Matcher(0 subscriptions, 'compiled')"
    matcher.add("alice", "a = 1 and b = 2 and c = 3")
    assert repr(matcher) == "Matcher(1 subscription, 'compiled')"
    matcher.add("bo\nb", "b = 2 and not exists a")
    assert str(matcher.why_not({"a": 2, "b": 2})).splitlines() == [
        "subscription   held   failed         seen",
        "bo\\nb          1      not exists a   a = 2",
        "alice          1      a = 1          a = 2",
        "                      c = 3          c is missing",
    ]
    assert str(matcher.why_not({"a": 1, "b": 2, "c": 3}, limit=0)).startswith("subscription")
    assert fyke.Event({"a": 1}).get("a") == 1
    assert fyke.Event({"a": 1}).get("b") is None
    assert fyke.Event({"a": 1}).get("b", 5) == 5
