"""Memtable subscriptions: found as the scan finds them, until they are many or compared often."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from fyke.matching.compiled import engine as compiled
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.compiled.segment import memtable
from fyke.matching.matcher import Matcher

FILTERS = {
    "equal": "a = 1 and b < 5",
    "double": "a = 1 and b < 5",
    "true is not 1": "a = true",
    "zero": "b = 0",
    "beyond 2**53": "c > 9007199254740992",
    "in doubt": "c >= 0.1 and c < 0.3",
    "empty": "s = ''",
    "astral": "s = '\U0001f41f'",
    "order of strings": "s > 'm' and s < '\U0001f420'",
    "around": "not b between 2 and 4",
    "two boxes": "a = 1 or s = 'x'",
    "two ways": "b < 3 or b > 1",
    "many values": "a in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10) and b != 2",
    "opaque": "s matches 'x+' and a = 1",
    "there": "exists b",
    "absent": "not exists a",
    "all": "true",
    "none": "false",
}
EVENTS: list[dict[str, object]] = [
    {"a": 1, "b": 0, "c": 2**53 + 1, "s": "x"},
    {"a": 1, "b": -0.0, "c": 2**53},
    {"a": True, "b": 4, "c": 0.1, "s": ""},
    {"a": 3, "b": 2, "c": 0.3, "s": "\U0001f41f"},
    {"a": [0, 1], "b": [9, 4], "s": ["a", "xx"]},
    {"a": [2], "b": [], "c": [0.05, 0.2]},
    {"a": None, "s": "n"},
    {"a": 1, "b": "4", "s": "xx"},
    {"a": 10, "b": 1.5, "c": 0.2},
    {},
]
BATCH = [
    {"a": [1], "b": [0.0], "c": [0.1], "s": ["x"]},
    {"a": [0, 1], "b": [9.0, 4.0], "c": None, "s": ["a", "xx"]},
    {"a": [3], "b": [2.0], "c": [0.2], "s": None},
    {"a": None, "b": None, "c": None, "s": None},
]


@pytest.fixture(autouse=True)
def memtable_size_max(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "UNBOXED_MAX", 0)


def both(filters: dict[str, str]) -> tuple[Matcher, Matcher]:
    matcher, scan = Matcher(), Matcher("scan")
    matcher.add_many(filters.items())
    scan.add_many(filters.items())
    return matcher, scan


def engine_of(matcher: Matcher) -> CompiledEngine:
    assert isinstance(matcher.engine, CompiledEngine)
    return matcher.engine


def size(matcher: Matcher) -> int:
    """Return the size of the memtable."""
    return len(engine_of(matcher)._writer)


def pairs(matcher: Matcher, table: pa.Table) -> list[tuple[int, str]]:
    """What is found, each event's in one order."""
    found = matcher.match_batch(table).to_pydict()
    assert found["event"] == sorted(found["event"])
    return sorted(zip(found["event"], found["subscription"], strict=True))


def test_single_events() -> None:
    matcher, scan = both(FILTERS)
    for event in EVENTS:
        assert matcher.match(event) == scan.match(event), event
    assert size(matcher) == len(FILTERS)
    assert engine_of(matcher)._segments == ()


@pytest.mark.parametrize("count", [1, 15, 16, 17, 1_024, 1_025, 2_049])
def test_batches_of_all_sizes(count: int) -> None:
    matcher, scan = both(FILTERS)
    rows = [{"a": n % 12, "b": n % 7 - 1, "c": n / 10, "s": "xmz"[n % 3]} for n in range(count)]
    table = pa.Table.from_pylist(rows)
    assert pairs(matcher, table) == pairs(scan, table)
    assert size(matcher) == len(FILTERS)


@pytest.mark.parametrize("copies", [1, 7, 600])
def test_lists_in_batches(copies: int) -> None:
    matcher, scan = both(FILTERS)
    types = {"a": pa.int64(), "b": pa.float64(), "c": pa.float64(), "s": pa.string()}
    schema = pa.schema([(name, pa.list_(type_)) for name, type_ in types.items()])
    table = pa.Table.from_pylist(BATCH * copies, schema)
    assert pairs(matcher, table) == pairs(scan, table)


def test_blocks_are_smaller_where_axes_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memtable, "COLUMNS", 64)
    matcher, scan = both({f"s{n}": f"a{n} = 1 and b > {n % 3}" for n in range(40)})
    rows = [{**{f"a{n}": n * row % 2 for n in range(40)}, "b": row % 4} for row in range(50)]
    table = pa.Table.from_pylist(rows)
    assert pairs(matcher, table) == pairs(scan, table)


def test_more_is_found_than_there_is_room_for() -> None:
    matcher, _ = both({f"s{n}": f"a < 5 and b = {n % 2}" for n in range(20)})
    table = pa.table({"a": [0.1] * 2_000, "b": [1] * 2_000})
    odd = sorted(f"s{n}" for n in range(1, 20, 2))
    assert pairs(matcher, table) == [(row, id) for row in range(2_000) for id in odd]


def test_removing() -> None:
    matcher, scan = both(FILTERS)
    matcher.match({})
    for number, id in enumerate(FILTERS):
        matcher.remove(id)
        scan.remove(id)
        event = EVENTS[number % len(EVENTS)]
        assert matcher.match(event) == scan.match(event)
    matcher.add("equal", "b = 7")
    assert matcher.match({"a": 1, "b": 7}) == ["equal"]
    assert matcher.match_batch(pa.table({"a": [1, 1], "b": [1, 7]})).num_rows == 1


def test_they_are_frozen_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "MEMTABLE_SIZE_MAX", 5)
    matcher = Matcher()
    for number in range(1, 12):
        matcher.add(f"s{number}", f"a < {number}")
        assert len(matcher.match({"a": 0})) == number
        assert size(matcher) == number % 6
    assert sum(segment.live for segment in engine_of(matcher)._segments) == 6


def test_they_are_frozen_when_they_have_seen_many_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "COMPARED_EVENTS_MAX", 100)
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"a < {n}") for n in range(10))
    table = pa.table({"a": list(range(60))})
    expected = [n for n in range(10) for _ in range(9 - n)]
    for is_in_memtable in (True, True, False, False):
        assert matcher.match_batch(table)["event"].to_pylist() == expected
        assert size(matcher) == (10 if is_in_memtable else 0)


def test_who_names_a_pattern_is_in_no_memtable() -> None:
    matcher, scan = both(FILTERS | {"pattern": "s like '%x%'"})
    for event in EVENTS:
        assert matcher.match(event) == scan.match(event)
    assert size(matcher) == 0


def test_snapshots(tmp_path: Path) -> None:
    matcher, scan = both(FILTERS)
    matcher.match(EVENTS[0])
    assert size(matcher)
    matcher.save(tmp_path / "snapshot")
    reopened = Matcher.open(tmp_path / "snapshot")
    for event in EVENTS:
        assert reopened.match(event) == matcher.match(event) == scan.match(event)


def test_explanations_know_them() -> None:
    matcher, _ = both({f"s{n}": f"a = {n} and b = {n}" for n in range(500)})
    matcher.match({})
    assert [miss.id for miss in matcher.why_not({"a": 7, "b": 8}, 2)] == ["s7", "s8"]
