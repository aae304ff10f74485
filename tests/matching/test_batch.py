"""Batches: what tables may be, what is refused by name, and rows counted across parts."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import fyke
from fyke.events.columns import read
from fyke.matching import batch
from fyke.matching.engines.registry import ENGINES
from fyke.matching.matcher import Matcher


def matcher_of(engine: str = "compiled", **filters: str) -> Matcher:
    matcher = Matcher(engine)
    matcher.add_many(filters.items())
    return matcher


def pairs(matcher: Matcher, table: Any) -> list[tuple[int, str]]:
    found = matcher.match_batch(table)
    assert found.schema.names == ["event", "subscription"]
    assert found.schema.types == [pa.int64(), pa.string()]
    return list(zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_are_events(engine: str) -> None:
    matcher = matcher_of(
        engine, low="a < 2", there="exists a", absent="not exists a", inner="c.d = 'x'", in_="b = 3"
    )
    table = pa.table(
        {
            "a": pa.array([1, None, 3]),
            "b": pa.array([[1, 3], [], None]),
            "c": pa.array([{"d": "x"}, None, {"d": "y"}]),
        }
    )
    right = [(0, "low"), (0, "there"), (0, "inner"), (0, "in_"), (1, "absent"), (2, "there")]
    assert sorted(pairs(matcher, table)) == sorted(right)
    assert sorted(pairs(matcher, table.to_batches()[0])) == sorted(right)


@pytest.mark.parametrize("engine", ["compiled", "scan"])
def test_columns_that_were_read_once_serve_several_matchers(engine: str) -> None:
    """With ids as a dictionary, whose indices stay the same while others come and go."""
    table = pa.table({"a": pa.array([1, None, 3, 1]), "é": ["x", "y", None, "x"]})
    columns = read(table)
    one = matcher_of(engine, low="a < 2", all="true", gone="a = 3", é="é = 'x'")
    codes: dict[str, int] = {}
    for change in (lambda: None, lambda: one.remove("gone"), lambda: one.add("new", "a = 3")):
        change()
        for matcher in (one, matcher_of(engine, there="exists a")):
            found = matcher.match_columns(columns)
            (ids,) = found["subscription"].chunks
            assert pa.types.is_dictionary(ids.type)
            decoded = list(zip(found["event"].to_pylist(), ids.to_pylist(), strict=True))
            assert decoded == pairs(matcher, table) and decoded
            if matcher is one:
                for id, code in zip(ids.to_pylist(), ids.indices.to_pylist(), strict=True):
                    assert codes.setdefault(id, code) == code
    assert "gone" in codes and "new" in codes
    assert Matcher(engine).match_columns(columns).num_rows == 0
    with pytest.raises(fyke.EventError, match=r"row 1: .*nan is not a number"):
        one.match_columns(read(pa.table({"a": [1.0, float("nan")]}), errors="collect"))


@pytest.mark.parametrize("engine", ["compiled", "scan"])
def test_nothing_is_no_trouble(engine: str) -> None:
    empty, some = Matcher(engine), matcher_of(engine, all="true", one="a = 1")
    for table in (
        pa.table({}),
        pa.table({"a": pa.array([], pa.int64())}),
        pa.table({"a": pa.chunked_array([], pa.string())}),
        pa.RecordBatch.from_pydict({"a": pa.array([], pa.int64())}),
    ):
        assert pairs(empty, table) == []
        assert pairs(some, table) == []
    nulls = pa.table({"a": pa.nulls(2), "b": pa.array([None, None], pa.string())})
    assert pairs(empty, nulls) == []
    assert pairs(some, nulls) == [(0, "all"), (1, "all")]
    assert pairs(some, pa.table({"other": [1, 2]})) == [(0, "all"), (1, "all")]


@pytest.mark.parametrize("engine", ["compiled", "scan"])
def test_what_is_no_batch_is_refused(engine: str) -> None:
    matcher = matcher_of(engine, all="true")
    for wrong in (None, 7, {"a": [1]}, pa.array([1]), fyke.Event({"a": 1})):
        with pytest.raises(fyke.EventError, match="pyarrow Table or RecordBatch"):
            matcher.match_batch(wrong)
    for wrong in ("table", ["a"], [["a"]], [7], [None]):
        with pytest.raises(fyke.EventError, match="row 0: "):
            matcher.match_batch(wrong)
    for name, column in (
        ("raw", pa.array([b"x"])),
        ("clock", pa.array([1], pa.time64("us"))),
        ("map", pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))),
    ):
        with pytest.raises(fyke.EventError, match=name):
            matcher.match_batch(pa.table({"a": [1], name: column}))
    for name, values in (
        ("nan", [1.0, float("nan")]),
        ("infinite", [1.0, float("inf")]),
        ("large", pa.array([1, 2**64 - 1], pa.uint64())),
    ):
        with pytest.raises(fyke.EventError, match=rf"row 1.*{name}"):
            matcher.match_batch(pa.table({name: values}))
    assert matcher.match({}) == ["all"]
    assert pairs(matcher, pa.table({"a": [1]})) == [(0, "all")]


def test_rows_are_counted_across_parts() -> None:
    rows = batch.ROWS_MAX + 5
    numbers = pa.chunked_array([pa.array(range(70)), pa.array(range(70, rows))])
    matcher = matcher_of(
        first="n = 0",
        end=f"n = {batch.ROWS_MAX - 1}",
        next=f"n = {batch.ROWS_MAX}",
        last=f"n > {rows - 2}",
    )
    assert pairs(matcher, pa.table({"n": numbers})) == [
        (0, "first"),
        (batch.ROWS_MAX - 1, "end"),
        (batch.ROWS_MAX, "next"),
        (rows - 1, "last"),
    ]
    assert matcher.stats().events == rows
    bad = [0.5] * rows
    bad[batch.ROWS_MAX + 2] = float("nan")
    with pytest.raises(fyke.EventError, match=f"row {batch.ROWS_MAX + 2}: "):
        matcher.match_batch(pa.table({"n": bad}))


def test_the_self_check_looks_at_rows_too(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = Matcher(self_check=1.0)
    matcher.add_many([("a", "n = 1"), ("b", "n > 1")])
    table = pa.table({"n": [1, 2, 3]})
    right = [(0, "a"), (1, "b"), (2, "b")]
    assert pairs(matcher, table) == right
    assert matcher.stats().self_check_failures == 0
    match_columns = batch.match_columns

    def forgetful(*arguments: Any) -> Any:
        offsets, slots = match_columns(*arguments)
        return offsets * 0, slots[:0]

    monkeypatch.setattr(batch, "match_columns", forgetful)
    assert pairs(matcher, table) == right
    assert matcher.stats().self_check_failures == 3


def test_ties_are_settled_in_batches() -> None:
    """Values that share a code with the end of a range."""
    matcher = matcher_of(
        number="n < 9007199254740993", text="t >= 'abcdefgh'", pattern="t matches '^abcdefg'"
    )
    table = pa.table({"n": [2**53, 2**53 + 1, 2**53 + 2], "t": ["abcdefg", "abcdefgh", "abcdefgi"]})
    found = sorted(pairs(matcher, table))
    assert found == [
        (0, "number"),
        (0, "pattern"),
        (1, "pattern"),
        (1, "text"),
        (2, "pattern"),
        (2, "text"),
    ]
