"""Subscriptions that change in the midst of a search: what is then said about them is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fyke
from fyke.matching import change_log
from fyke.matching.change_log import ChangeLog
from fyke.matching.engines.registry import ENGINES
from fyke.matching.engines.scan import ScanEngine
from fyke.matching.matcher import Matcher

TEXTS = ["a = 0", "a = 1", "a = 2", "a < 2", "a > 0", "a in (0, 2)", "true", "false"]
EVENTS = [{"a": number % 3} for number in range(7)]
IDS = [f"s{number}" for number in range(4)]
changes = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove", "replace", "replace"]),
        st.sampled_from(IDS),
        st.sampled_from(TEXTS),
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def reached() -> Iterator[Counter[str]]:
    """How often a change mattered: the filter accepts other events than before."""
    counts: Counter[str] = Counter()
    yield counts
    assert min(counts[kind] for kind in ("add", "remove", "replace")) >= 50, counts


class Interrupted(ScanEngine):
    """An engine to which things happen once, before and after it has looked."""

    def __init__(self) -> None:
        super().__init__()
        self.happening: list[Callable[[], None]] = []

    def match(self, event: fyke.Event) -> list[int]:
        self._happen()
        found = super().match(event)
        self._happen()
        return found

    def _happen(self) -> None:
        if self.happening:
            self.happening.pop(0)()


def changed(matcher: Matcher, kind: str, id: str, text: str) -> list[str]:
    """Makes a change, if it can be made; its kind, if it changes what is accepted."""
    before = str(matcher.filter(id)) if id in matcher else None
    if kind == "add" and before is None:
        matcher.add(id, text)
        return [kind] if text != "false" else []
    if kind == "remove" and before is not None:
        matcher.remove(id)
        return [kind] if before != "false" else []
    if kind == "replace" and before is not None:
        matcher.replace(id, text)
        return [kind] if before != text else []
    return []


def accepted(matcher: Matcher) -> set[tuple[int, str]]:
    return {
        (row, id)
        for id in matcher
        for row, event in enumerate(EVENTS)
        if matcher.filter(id).matches(event)
    }


def in_batch(matcher: Matcher) -> list[tuple[int, str]]:
    found: Any = matcher.match_batch(pa.Table.from_pylist(EVENTS)).to_pydict()
    return list(zip(found["event"], found["subscription"], strict=True))


def one_by_one(matcher: Matcher) -> list[tuple[int, str]]:
    """The first event is the one in whose search things happen."""
    return [(row, id) for row, event in enumerate(EVENTS) for id in matcher.match(event)]


@pytest.mark.parametrize("entries_max", [change_log.ENTRIES_MAX, 1])
@pytest.mark.parametrize("search", [in_batch, one_by_one])
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    given_texts=st.lists(st.sampled_from(TEXTS), max_size=4),
    first=changes,
    second=changes,
)
def test_what_changes_meanwhile_is_neither_lost_nor_invented(
    reached: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
    entries_max: int,
    search: Callable[[Matcher], list[tuple[int, str]]],
    given_texts: list[str],
    first: list[tuple[str, str, str]],
    second: list[tuple[str, str, str]],
) -> None:
    """Each is seen as it is in the end; a batch may miss those that were not there all the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENGINES, "interrupted", lambda filter_of: Interrupted())
        matcher = Matcher(engine="interrupted")
    monkeypatch.setattr(change_log, "ENTRIES_MAX", entries_max)
    matcher.add_many(zip(IDS, given_texts, strict=False))
    always, effects = set(matcher), Counter[str]()

    def act(steps: list[tuple[str, str, str]]) -> None:
        for step in steps:
            effects.update(changed(matcher, *step))
            always.intersection_update(matcher)

    assert isinstance(matcher.engine, Interrupted)
    matcher.engine.happening = [partial(act, first), partial(act, second)]
    found = search(matcher)
    right = accepted(matcher)
    assert len(set(found)) == len(found)
    assert [row for row, _ in found] == sorted(row for row, _ in found)
    wanted = right if search is one_by_one else {each for each in right if each[1] in always}
    assert wanted <= set(found) <= right
    assert set(search(matcher)) == right
    reached.update(effects)


def test_the_log_is_cut_unless_a_batch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_log, "ENTRIES_MAX", 3)
    filters = {slot: fyke.parse("a = 0") for slot in range(9)}
    log = ChangeLog(filters.__getitem__)
    event = fyke.Event({"a": 0})
    log.note(0)
    log.running.append(None)
    before = log.position
    for slot in (1, 2):
        log.note(slot)
    assert log.settle([7], event, before) == [1, 2, 7]
    log.note(3)
    assert log.settle([7], event, before) is None
    assert log.settle([7], event, log.position - 1) == [3, 7]
    since = log.begin()
    for slot in range(4, 9):
        log.note(slot)
    assert log.settle([], event, since) == [4, 5, 6, 7, 8]
    log.end()
    log.note(0)
    assert log.settle([], event, since) is None


def test_a_change_that_nobody_can_have_half_seen_ends_the_log() -> None:
    log = ChangeLog({slot: fyke.parse("a = 0") for slot in range(9)}.__getitem__)
    for slot in range(9):
        log.note(slot)
    assert log.settle([], fyke.Event({"a": 0}), log.position - 1) == [8]
    assert log.settle([], fyke.Event({"a": 0}), log.position - 2) is None
