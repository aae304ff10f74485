"""`fyke.spark.match`: the rows that the library would find, in every form."""

from __future__ import annotations

import datetime
import inspect
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import fyke
import fyke.spark
from fyke import FykeError, Matcher
from fyke.events.json import encode
from fyke.workloads.named import workload

WORKLOADS = ("stock", "auction", "bibliography", "sensors", "boxes", "w1", "w4", "w5")
EVENTS, SUBSCRIPTIONS = 600, 400


def found(frame: DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in columns) for row in frame.collect())


def numbered(table: pa.Table) -> pa.Table:
    return table.append_column("row", pa.array(range(table.num_rows), pa.int64()))


@pytest.mark.parametrize("name", WORKLOADS)
def test_workloads_match_as_the_scan_does(spark: SparkSession, name: str) -> None:
    given = workload(name, 7)
    events = given.columns(EVENTS)
    subscriptions = given.subscription_columns(SUBSCRIPTIONS)
    scan = Matcher("scan")
    texts = zip(subscriptions["id"].to_pylist(), subscriptions["filter"].to_pylist(), strict=True)
    scan.add_many(texts)
    right = scan.match_batch(events)
    frame = spark.createDataFrame(numbered(events)).repartition(3)
    attributes = events.column_names
    matches = fyke.spark.match(
        frame, spark.createDataFrame(subscriptions), key="row", attributes=attributes
    )
    expected = zip(right["event"].to_pylist(), right["subscription"].to_pylist(), strict=True)
    assert found(matches, "row", "subscription") == sorted(expected)


NASTY = [
    {"n": 2**53 + 1, "x": -0.0, "s": "", "b": True, "l": [1, None, 3], "d": {"e": "a", "f": [1.5]}},
    {"n": 2**53, "x": 1.0, "s": "\U0001f600é", "b": False, "l": [], "d": {"e": None, "f": None}},
    {"n": None, "x": None, "s": None, "b": None, "l": None, "d": None},
    {"n": -(2**63), "x": 1e308, "s": "a b", "b": None, "l": [5, 5], "d": {"e": "a", "f": []}},
]
SCHEMA = (
    "n long, x double, s string, b boolean, l array<long>, d struct<e: string, f: array<double>>"
)
FILTERS = {
    "exact": f"n = {2**53 + 1}",
    "float": f"n >= {float(2**53)}",
    "zero": "x = 0",
    "missing": "not (n = 5)",
    "there": "exists n",
    "null": "n is null",
    "empty": "s = ''",
    "smile": "s starts with '\U0001f600'",
    "flag": "b = true",
    "not one": "b = 1",
    "element": "l = 5 or l = 3",
    "no list": "exists l and not (l > 0)",
    "path": "d.e = 'a' and not exists d.f",
    "inner": "d.f > 1",
    "glob": "s like '_ %'",
}


def test_nasty_values(spark: SparkSession) -> None:
    matcher = Matcher()
    scan = Matcher("scan")
    for id, text in FILTERS.items():
        matcher.add(id, text)
        scan.add(id, text)
    events = spark.createDataFrame([{"k": at, **row} for at, row in enumerate(NASTY)],
                                   f"k long, {SCHEMA}")  # fmt: skip
    columns = [name for name in events.columns if name != "k"]
    matches = fyke.spark.match(events, matcher, key="k", attributes=columns)
    right = scan.match_batch(events.drop("k").toArrow())
    assert found(matches, "k", "subscription") == sorted(
        zip(right["event"].to_pylist(), right["subscription"].to_pylist(), strict=True)
    )
    arrays = fyke.spark.match(events, matcher, key="k", attributes=columns, arrays=True)
    lists = {row["k"]: row["subscriptions"] for row in arrays.collect()}
    assert {k: sorted(ids) for k, ids in lists.items()} == {
        k: sorted(id for at, id in found(matches, "k", "subscription") if at == k)
        for k in range(len(NASTY))
    }


def test_decimals_dates_and_times(spark: SparkSession) -> None:
    moment = datetime.datetime(2026, 5, 1, 12, 30, tzinfo=datetime.UTC)
    events = spark.createDataFrame(
        [(Decimal("0.10"), datetime.date(2026, 5, 1), moment)],
        "p decimal(20, 2), d date, t timestamp",
    )
    matcher = Matcher()
    matcher.add("tenth", "p = 0.1")
    matcher.add("at least", "p between 0.10 and 0.2")
    matcher.add("more", "p > 0.1")
    matcher.add("day", "d = timestamp '2026-05-01T00:00:00Z'")
    matcher.add("after", "t > timestamp '2026-05-01T12:29:59Z'")
    matcher.add("before", "t < timestamp '2026-05-01T12:29:59Z'")
    matches = fyke.spark.match(events, matcher)
    assert matches.columns == ["p", "d", "t", "subscription"]
    assert found(matches, "subscription") == [("after",), ("at least",), ("day",), ("tenth",)]
    assert all(row["p"] == Decimal("0.10") for row in matches.collect())


DOCUMENTS = [
    '{"price": 8.4, "tags": ["a", null], "to": {"who": "x"}}',
    '{"price": null}',
    '{"price": 8.4, "price": 9}',
    "not json",
    None,
    '{"price": 1e999}',
    '{"price": [1, "2"]}',
]


def test_json_documents(spark: SparkSession) -> None:
    matcher = Matcher()
    for id, text in {"cheap": "price < 10", "null": "price is null", "who": "to.who = 'x'"}.items():
        matcher.add(id, text)
    events = spark.createDataFrame(list(enumerate(DOCUMENTS)), "k long, value string")
    matches, errors = fyke.spark.match(events, matcher, json="value", key="k", errors=True)
    assert found(matches, "k", "subscription") == [
        (0, "cheap"), (0, "who"), (1, "null"), (6, "cheap"),
    ]  # fmt: skip
    reasons = dict(found(errors, "k", "reason"))
    assert sorted(reasons) == [2, 3, 4, 5]
    assert "twice" in reasons[2]
    assert reasons[4] == "the row is null"


def test_cloud_events(spark: SparkSession) -> None:
    matcher = Matcher()
    matcher.add("orders", "type = 'order' and data.total > 5")
    envelope = {"specversion": "1.0", "id": "1", "source": "/s", "type": "order"}
    documents = [encode({**envelope, "data": {"total": total}}) for total in (4, 6)]
    events = spark.createDataFrame([(each,) for each in [*documents, "{}"]], "value string")
    matches, errors = fyke.spark.match(events, matcher, cloudevents="value", errors=True)
    assert [json.loads(value)["data"]["total"] for (value,) in found(matches, "value")] == [6]
    assert errors.count() == 1


def test_a_row_that_is_no_event_stops_or_is_put_aside(spark: SparkSession) -> None:
    matcher = Matcher()
    matcher.add("all", "k >= 0")
    events = spark.createDataFrame([(0, 1.0), (1, float("nan")), (2, 2.0)], "k long, x double")
    with pytest.raises(PythonException, match="errors=True"):
        fyke.spark.match(events, matcher).collect()
    matches, errors = fyke.spark.match(events, matcher, errors=True)
    assert found(matches, "k") == [(0,), (2,)]
    ((k, reason),) = found(errors, "k", "reason")
    assert k == 1 and "nan" in reason
    arrays, _ = fyke.spark.match(events, matcher, errors=True, arrays=True)
    assert found(arrays, "k", "subscriptions") == [(0, ["all"]), (2, ["all"])]


def test_bad_calls_are_refused_before_anything_runs(spark: SparkSession, tmp_path: Path) -> None:
    matcher = Matcher()
    events = spark.createDataFrame([(1, bytearray(b"x"))], "a long, raw binary")
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "raw"),
        ({"attributes": ["b"]}, "no column 'b'"),
        ({"attributes": "a"}, "expected a list"),
        ({"json": "a"}, "expected string or binary"),
        ({"json": "a", "attributes": ["a"]}, "one way"),
        ({"attributes": ["a"], "key": "c"}, "no column 'c'"),
    ]
    for options, message in cases:
        with pytest.raises(FykeError, match=message):
            fyke.spark.match(events, matcher, **options)
    twice = spark.createDataFrame([(1, 2)], "a long, b long").toDF("a", "a")
    with pytest.raises(FykeError, match="several columns"):
        fyke.spark.match(twice, matcher)
    taken = spark.createDataFrame([("x",)], "subscription string")
    with pytest.raises(FykeError, match="rename it"):
        fyke.spark.match(taken, matcher)
    with pytest.raises(FykeError, match="holds no compiled"):
        fyke.spark.match(events.select("a"), str(tmp_path))
    with pytest.raises(FykeError, match="expected a Spark DataFrame"):
        fyke.spark.match([{"a": 1}], matcher)  # type: ignore[call-overload]
    with pytest.raises(FykeError, match="expected a Spark DataFrame"):
        fyke.spark.match(events.select("a"), 5)  # type: ignore[call-overload]


def test_the_page_has_every_keyword_and_its_default() -> None:
    page = (Path(__file__).parents[2] / "docs" / "spark.md").read_text("utf-8")
    table = page.partition("\n## Matching")[2].partition("\n## ")[0]
    said: dict[str, str] = {}
    for names, default in re.findall(r"^\| (`.*?`) \|.*\| (.*?) \|$", table, re.MULTILINE):
        said |= dict.fromkeys(re.findall(r"`(\w+)`", names), default)
    keywords = inspect.signature(fyke.spark.match).parameters.values()
    defaults = {each.name: each.default for each in keywords if each.kind is each.KEYWORD_ONLY}
    assert said.keys() == defaults.keys()
    for name, default in defaults.items():
        if default:
            assert json.dumps(default) in said[name]
        elif default is False:
            assert "`False`" in said[name]
        else:
            assert not re.search("`.*`", said[name])  # in words: what happens without it


def test_names_with_dots_and_backticks(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1, 2)], "a long, b long").toDF("a.b", "c`d")
    matcher = Matcher()
    matcher.add("dotted", "a.b = 1")
    matcher.add("tick", '"c`d" = 2')
    matches = fyke.spark.match(events, matcher)
    assert matches.columns == ["a.b", "c`d", "subscription"]
    assert found(matches, "subscription") == [("dotted",), ("tick",)]


def test_an_empty_matcher_and_no_events(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1,)], "a long")
    assert fyke.spark.match(events, Matcher()).collect() == []
    matcher = Matcher()
    matcher.add("one", "a = 1")
    assert fyke.spark.match(events.where("a > 1"), matcher).collect() == []


# --- compiled subscriptions ----------------------------------------------------------------------


def test_compile_puts_bad_subscriptions_aside(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        ("good", "a = 1", None),
        ("other", "a == 1 ||", "cesql"),
        ("sigma?", "a = 1", "no such dialect"),
        ("broken", "a = = 1", "fyke"),
        ("twin", "a = 1", None),
        ("twin", "a = 2", None),
        (None, "a = 1", None),
        ("nothing", None, None),
    ]
    subscriptions = spark.createDataFrame(rows, "id string, filter string, dialect string")
    version = fyke.spark.compile(subscriptions, tmp_path / "subscriptions", shards=2)
    assert (version.number, version.subscriptions, version.refused) == (1, 2, 6)
    errors = {row["id"]: row["reason"] for row in version.errors(spark).collect()}
    assert set(errors) == {"other", "sigma?", "broken", "twin", None, "nothing"}
    assert "position" in errors["broken"] or "expected" in errors["broken"]
    events = spark.createDataFrame([(1,), (2,)], "a long")
    for given in (version, str(tmp_path / "subscriptions"), tmp_path / "subscriptions"):
        matches = found(fyke.spark.match(events, given), "a", "subscription")
        assert matches[:1] == [(1, "good")] and len(matches) == 2
    with pytest.raises(FykeError, match="cannot be read"):
        fyke.spark.match(events, subscriptions)


@pytest.mark.parametrize("placement", ["replicate", "split", "rendezvous", "multistage"])
def test_spark_is_told_that_ids_are_never_null(spark: SparkSession, placement: str) -> None:
    events = spark.createDataFrame([(1,), (None,)], "a long")
    subscriptions = spark.createDataFrame([("one", "a = 1")], "id string, filter string")
    on = "a" if placement == "rendezvous" else None
    for arrays, name in ((False, "subscription"), (True, "subscriptions")):
        matches = fyke.spark.match(events, subscriptions, arrays=arrays, placement=placement, on=on)
        assert not matches.schema[name].nullable
        assert matches.schema["a"].nullable
        assert matches.where(f"{name} is null").count() == 0


def test_versions_follow_each_other_and_pins_stay(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.createDataFrame([(1,), (2,)], "a long")

    def table(value: int) -> DataFrame:
        return spark.createDataFrame([("one", f"a = {value}")], "id string, filter string")

    fyke.spark.compile(table(1), tmp_path / "s")
    before = fyke.spark.match(events, tmp_path / "s")
    second = fyke.spark.compile(table(2), tmp_path / "s")
    after = fyke.spark.match(events, tmp_path / "s")
    assert second.number == 2
    assert found(before, "a") == [(1,)]
    assert found(after, "a") == [(2,)]


def test_a_snapshot_that_is_replaced_in_place_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    events = spark.createDataFrame([(1,)], "a long")
    matcher = Matcher()
    matcher.add("one", "a = 1")
    matcher.save(tmp_path / "m")
    matches = fyke.spark.match(events, tmp_path / "m")
    matcher.add("two", "a = 1")
    matcher.save(tmp_path / "m")
    with pytest.raises(PythonException, match="replaced"):
        matches.collect()
    assert fyke.spark.match(events, tmp_path / "m").count() == 2


def test_a_snapshot_that_lies_elsewhere_is_copied(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.createDataFrame([(1,)], "a long")
    matcher = Matcher()
    matcher.add("one", "a = 1")
    matcher.save(tmp_path / "m")
    matches = fyke.spark.match(events, (tmp_path / "m").as_uri())
    assert found(matches, "subscription") == [("one",)]


def test_a_corrupt_snapshot_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.createDataFrame([(1,)], "a long")
    subscriptions = spark.createDataFrame([("one", "a = 1")], "id string, filter string")
    version = fyke.spark.compile(subscriptions, tmp_path / "s")
    matches = fyke.spark.match(events, version)
    data = max(version.folder.glob("shard-*/data-*/*.bin"), key=lambda path: path.stat().st_size)
    data.write_bytes(bytes(data.stat().st_size))
    with pytest.raises(PythonException, match="corrupt"):
        matches.collect()


def test_other_folders_are_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("dear diary")
    subscriptions = spark.createDataFrame([("one", "a = 1")], "id string, filter string")
    with pytest.raises(FykeError, match="nothing was written"):
        fyke.spark.compile(subscriptions, tmp_path)
    with pytest.raises(FykeError, match="filter"):
        fyke.spark.compile(subscriptions.drop("filter"), tmp_path / "s")
