"""The Matcher's own duties: ids, errors, explanations, statistics, snapshots."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fyke
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching import matcher as matcher_module
from fyke.matching.engine import Work
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
    matcher.replace("alice", "price < 9")
    assert matcher.match(event) == ["bob", "carol", "alice"]
    matcher.remove("bob")
    assert matcher.match(event) == ["carol", "alice"]
    assert list(matcher) == ["carol", "alice"]
    assert len(matcher) == 2
    assert "bob" not in matcher


def test_what_is_refused_changes_nothing(matcher: Matcher) -> None:
    for refused in (
        lambda: matcher.add("alice", "true"),
        lambda: matcher.add("dave", "price <"),
        lambda: matcher.add(7, "true"),  # type: ignore[arg-type]
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
    monkeypatch.setitem(matcher_module.ENGINES, "forgetful", _Forgetful)
    matcher = Matcher("forgetful", self_check=1.0)
    matcher.add("a", "true")
    assert matcher.match({}) == ["a"]
    assert matcher.stats().self_check_failures == 1


def test_snapshots_are_whole_or_refused(matcher: Matcher, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "snapshot"
    matcher.save(path)
    again = Matcher.open(path)
    assert list(again) == list(matcher)
    assert all(again.filter(id) == matcher.filter(id) for id in matcher)
    matcher.remove("bob")
    matcher.save(path)
    assert len(Matcher.open(path)) == 2
    assert [each.name for each in path.parent.iterdir()] == ["snapshot"]

    data = path / "subscriptions.bin"
    whole = data.read_bytes()
    for broken, said in (
        (whole[:-1], "torn"),
        (whole + b"x", "torn"),
        (bytes([whole[0] ^ 1]) + whole[1:], "corrupt"),
    ):
        data.write_bytes(broken)
        with pytest.raises(fyke.FykeError, match=said):
            Matcher.open(path)
    data.unlink()
    with pytest.raises(fyke.FykeError, match=r"no subscriptions\.bin"):
        Matcher.open(path)
    for manifest in ("", "[]", json.dumps({"version": 99}), json.dumps({"version": 1})):
        (path / "manifest.json").write_text(manifest)
        with pytest.raises(fyke.FykeError):
            Matcher.open(path)
    with pytest.raises(fyke.FykeError, match="no snapshot"):
        Matcher.open(tmp_path / "nowhere")


def test_saving_never_overwrites_what_is_no_snapshot(matcher: Matcher, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(fyke.FykeError, match="nothing was written"):
        matcher.save(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").exists()
