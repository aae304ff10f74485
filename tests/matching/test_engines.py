"""Every engine against the scan: random histories, the corpus, and a workload."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching.compiled import engine as compiled
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.engines.registry import ENGINES
from fyke.matching.matcher import Matcher
from fyke.testing.corpus import load
from fyke.testing.generators import events, filters, predicates
from fyke.testing.matcher import as_table, check_batch, check_matcher
from fyke.workloads.named import workload

CASES = list(load(Path(__file__).parent.parent / "corpus"))
close = filters(predicates(st.sampled_from(["a", "b", "type"])), max_leaves=6)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60, deadline=None)
@given(
    taken=st.lists(close, min_size=1, max_size=12),
    seen=st.lists(events(), min_size=1, max_size=12),
    seed=st.integers(0, 1000),
)
def test_histories(engine: str, taken: list[Filter], seen: list[Event], seed: int) -> None:
    check_matcher(engine, taken, seen, seed=seed, steps=25)


@contextmanager
def frozen(tree_from: int, foreground_size_max: int, memtable_size_max: int = 0) -> Iterator[None]:
    """The compiled engine without a waiting list, so that few filters already reach the kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "UNBOXED_MAX", 0)
        patch.setattr(compiled, "MEMTABLE_SIZE_MAX", memtable_size_max)
        patch.setattr(compiled, "FOREGROUND_SIZE_MAX", foreground_size_max)
        patch.setitem(
            ENGINES, "compiled", lambda filter_of: CompiledEngine(filter_of, tree_from=tree_from)
        )
        yield


FROZEN = {"runs": (64, 2_000), "trees": (2, 2_000), "small trees": (1, 2_000), "behind": (2, 0)}
MEMTABLES = {"memtable": (64, 2_000, 2_000), "partly memtable": (2, 2_000, 3)}


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("how", [*FROZEN, *MEMTABLES])
@settings(max_examples=25, deadline=None)
@given(
    taken=st.lists(close, min_size=1, max_size=12),
    seen=st.lists(events(), min_size=1, max_size=12),
    seed=st.integers(0, 1000),
)
def test_histories_in_segments(how: str, taken: list[Filter], seen: list[Event], seed: int) -> None:
    with frozen(*(FROZEN | MEMTABLES)[how]):
        check_matcher("compiled", taken, seen, seed=seed, steps=25)


@pytest.mark.parametrize("how", FROZEN)
def test_what_these_histories_reach(how: str) -> None:
    with frozen(*FROZEN[how]):
        matcher = Matcher("compiled")
        for number in range(40):
            matcher.add(str(number), f"a = 1 and b < {number} and not c = {number}")
            assert matcher.match({"a": 1, "b": 0, "c": -1}) == [
                str(i) for i in range(1, number + 1)
            ]
        engine = matcher.engine
        assert isinstance(engine, CompiledEngine)
        while (worker := engine._worker) is not None:
            worker.join(10)
        segments = engine._segments
        assert 1 <= len(segments) < 10
        assert not engine._unboxed
        assert sum(segment.live for segment in segments) == 40
        assert any(segment.layout.nodes.size for segment in segments) is (how != "runs")
        assert engine.work.probes > 0
        assert engine.work.checks == 0


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=40, deadline=None)
@given(
    taken=st.lists(close, min_size=1, max_size=40),
    seen=st.lists(events(), min_size=1, max_size=12),
    seed=st.integers(0, 1000),
)
def test_batches(engine: str, taken: list[Filter], seen: list[Event], seed: int) -> None:
    matcher = Matcher(engine)
    filters = {f"s{number}": filter for number, filter in enumerate(taken)}
    matcher.add_many(filters.items())
    check_batch(matcher, filters, as_table(seen, random.Random(seed)))


@pytest.mark.parametrize("engine", ENGINES)
def test_corpus(engine: str) -> None:
    """All cases at once: every event against every filter of the corpus."""
    parsed = [
        fyke.parse(case.filter, dialect=case.dialect, schema=case.declared()) for case in CASES
    ]
    matcher = Matcher(engine)
    matcher.add_many((str(number), filter) for number, filter in enumerate(parsed))
    for number, case in enumerate(CASES):
        event = case.read()
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
