"""Every engine against the scan: random histories, the corpus, and a workload."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching.matcher import ENGINES, Matcher
from fyke.testing.corpus import load
from fyke.testing.generators import events, filters, predicates
from fyke.testing.matcher import check_matcher
from fyke.workloads.named import workload

CASES = list(load(Path(__file__).parent.parent / "corpus"))
close = filters(predicates(st.sampled_from(["a", "b", "type"])), max_leaves=6)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60)
@given(
    taken=st.lists(close, min_size=1, max_size=12),
    seen=st.lists(events(), min_size=1, max_size=12),
    seed=st.integers(0, 1000),
)
def test_histories(engine: str, taken: list[Filter], seen: list[Event], seed: int) -> None:
    check_matcher(engine, taken, seen, seed=seed, steps=25)


@pytest.mark.parametrize("engine", ENGINES)
def test_corpus(engine: str) -> None:
    """All cases at once: every event against every filter of the corpus."""
    parsed = [fyke.parse(case.filter, dialect=case.dialect) for case in CASES]
    matcher = Matcher(engine)
    matcher.add_many((str(number), filter) for number, filter in enumerate(parsed))
    for number, case in enumerate(CASES):
        event = Event(case.event)
        found = matcher.match(event)
        assert (str(number) in found) is case.expected, case.name
        assert found == [str(i) for i, filter in enumerate(parsed) if filter.matches(event)]


@pytest.mark.parametrize("engine", ENGINES)
def test_workload(engine: str) -> None:
    stock = workload("stock_and_auction", 5)
    matcher, scan = Matcher(engine, self_check=1.0), Matcher("scan")
    for each in stock.subscriptions(300):
        matcher.add(each.id, each.filter)
        scan.add(each.id, each.filter)
    for event in stock.events(200):
        assert matcher.match(event) == scan.match(event)
    stats = matcher.stats()
    assert (stats.self_checks, stats.self_check_failures) == (200, 0)
    assert stats.matches == scan.stats().matches > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_no_trouble(engine: str) -> None:
    matcher = Matcher(engine)
    assert matcher.match({}) == []
    matcher.add("all", "true")
    matcher.add("none", "false")
    matcher.add("absent", "not exists a")
    assert matcher.match({}) == ["all", "absent"]
    matcher.remove("all")
    assert matcher.match({"a": []}) == []
    assert matcher.match({f"a{i}": i for i in range(10_000)}) == ["absent"]
