"""All placements find the same rows: those of the scan."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import fyke
import fyke.spark
from fyke import FykeError, Matcher
from fyke.events.json import decode_event, encode
from fyke.filters.filter import Filter, conjunction, disjunction
from fyke.filters.predicate import Exists, In, NotIn, Range, equals
from fyke.filters.residual import Residual
from fyke.spark.versions import versions
from fyke.testing.generators import NAMES
from fyke.workloads.named import workload

PLACEMENTS: dict[str, dict[str, Any]] = {
    "replicate": {},
    "split": {"parts": 3},
    "rendezvous": {"parts": 3},
    "multistage": {},
}
MOMENT = datetime.datetime(2026, 5, 1, tzinfo=datetime.UTC)


def pairs(frame: DataFrame, key: str = "k") -> list[tuple[Any, str]]:
    """The matches of a result in either form."""
    if "subscriptions" in frame.columns:
        rows = frame.collect()
        assert len({row[key] for row in rows}) == len(rows)
        return sorted((row[key], id) for row in rows for id in row["subscriptions"])
    return sorted((row[key], row["subscription"]) for row in frame.collect())


def matcher_of(texts: Mapping[str, str | Filter], engine: str = "compiled") -> Matcher:
    matcher = Matcher(engine)
    for id, filter in texts.items():
        matcher.add(id, filter)
    return matcher


def check_all(
    events: DataFrame, subscriptions: Any, right: Iterable[tuple[Any, str]], **options: Any
) -> None:
    on = options.pop("on", None)
    expected = sorted(right)
    for name, more in PLACEMENTS.items():
        where = {"on": on} if name == "rendezvous" else {}
        for arrays in (False, True):
            told = {"key": "k", "arrays": arrays, "placement": name, **more, **where, **options}
            found = pairs(fyke.spark.match(events, subscriptions, **told))
            assert found == expected, (name, arrays)


@pytest.mark.parametrize("name", ["stock", "w4"])
def test_workloads(spark: SparkSession, name: str, tmp_path: Path) -> None:
    given = workload(name, 3)
    events, subscriptions = given.columns(300), given.subscription_columns(300)
    texts = dict(
        zip(subscriptions["id"].to_pylist(), subscriptions["filter"].to_pylist(), strict=True)
    )
    table = matcher_of(texts, "scan").match_batch(events)
    right = zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True)
    numbered = events.append_column("k", [list(range(300))])
    matcher_of(texts).save(tmp_path / "m")
    frame = spark.createDataFrame(numbered).repartition(2)
    expected = sorted(right)
    for placement, more in PLACEMENTS.items():
        found = fyke.spark.match(
            frame,
            tmp_path / "m",
            key="k",
            attributes=events.column_names,
            placement=placement,
            **more,
        )
        assert pairs(found) == expected


VALUES: list[Any] = [
    *(0, 1, 2, 1.0, -0.0, 0.5, 2**53, 2**53 + 1, float(2**53), True, False, None),
    *("", "a", "b", "1", "true", "é", "\U0001f600"),
]
LEAVES: list[Callable[[str, Any], Filter]] = [
    equals,
    equals,
    lambda name, value: In(name, (value, 1, "a")),
    lambda name, value: NotIn(name, (value,)),
    lambda name, value: Range(name, 1, 3),
    lambda name, value: Exists(name),
]
COSTLY = [Residual("cesql", text) for text in ("type LIKE 'a%'", "INT(a) > 0", "b = 'a' OR true")]


def random_filter(draw: random.Random) -> Filter:
    """Trees; often with an equality on `a`, often with a costly leaf."""
    leaves = [draw.choice(LEAVES)(draw.choice(NAMES), draw.choice(VALUES)) for _ in range(2)]
    made = draw.choice([conjunction, disjunction])(leaves)
    if draw.random() < 0.3:
        made = ~made
    if draw.random() < 0.4:
        costly = draw.choice(COSTLY)
        made = draw.choice([made & costly, made | costly, made & ~costly])
    return equals("a", draw.choice(VALUES)) & made if draw.random() < 0.6 else made


def random_document(draw: random.Random) -> dict[str, Any]:
    names = draw.sample(NAMES, draw.randint(0, len(NAMES)))
    return {
        name: draw.choices(VALUES, k=draw.randint(0, 3))
        if draw.random() < 0.3
        else draw.choice(VALUES)
        for name in names
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_random_documents(spark: SparkSession, seed: int) -> None:
    draw = random.Random(seed)
    texts = [encode(random_document(draw)) for _ in range(300)]
    named = {f"s{at}": random_filter(draw) for at in range(200)}
    scan = matcher_of(named, "scan")
    right = [(k, id) for k, text in enumerate(texts) for id in scan.match(decode_event(text))]
    assert len(right) > 1_000
    events = spark.createDataFrame(list(enumerate(texts)), "k long, value string")
    check_all(events, matcher_of(named), right, json="value", on="a")


UNREAD = ['"x": 1e400', '"x": 1, "x": 2', f'"x": {2**70}', '"x": "\\ud800"', '"x": "y"']
"""Members that only a strict reader refuses; the last one nobody does."""


def test_documents_of_which_not_all_is_read(spark: SparkSession) -> None:
    """What nobody asks for is not looked at, and moves no event to another bucket."""
    texts = [f'{{"a": {value}, {each}}}' for value in (1, '"b"', "[1, 2, 3]") for each in UNREAD]
    named = {"one": "a = 1", "b": "a = 'b'", "some": "a = 3 and a > 2", "any": "exists a"}
    matcher = matcher_of(named)
    right = [(k, id) for k, text in enumerate(texts) for id in matcher.match_json(text)]
    assert len(right) == 2 * len(texts) + len(UNREAD)
    events = spark.createDataFrame(list(enumerate(texts)), "k long, value string")
    check_all(events, matcher, right, json="value", on="a")


MEETINGS: dict[str, list[Any]] = {
    "string": ["a", "", "\U0001f600é", None, "1", "true"],
    "long": [1, 0, 2**53 + 1, None, -(2**63), 1],
    "double": [1.0, -0.0, float(2**53), None, 0.25, 1.0],
    "decimal(38, 2)": [Decimal("1.00"), Decimal("0.25"), Decimal(2**53 + 1), None, Decimal(0)],
    "boolean": [True, False, None],
    "timestamp": [MOMENT, None, MOMENT],
    "array<long>": [[1, 1], [], [0, 2, None, 2**53 + 1], None, [0]],
    "array<string>": [["a", "b", "c", "d", "e", ""], None, [], ["\U0001f600é"], ["a"]],
}
WANTED = {
    **{"one": "a = 1", "float": "a = 1.0", "zero": "a = 0", "big": f"a = {2**53 + 1}"},
    **{"near": f"a = {2**53}", "quarter": "a = 0.25", "true": "a = true", "text": "a = 'a'"},
    **{"smile": "a = '\U0001f600é' and k >= 0", "empty": "a = ''", "digit": "a = '1'"},
    **{"some": "a in (1, 'a', 2, 'b', 0)", "missing": "not exists a", "not": "a != 1"},
    **{"null": "a is null", "any": "k >= 0", "both": "a = 'a' and a = 'b'", "all": "exists a"},
    **{"day": "a = timestamp '2026-05-01T00:00:00Z'", "or": "a = 1 or a = 'e'"},
}


@pytest.mark.parametrize("type", MEETINGS)
def test_rendezvous_on_columns_of_all_types(spark: SparkSession, type: str) -> None:
    values = MEETINGS[type]
    events = spark.createDataFrame(
        [(k, value) for k, value in enumerate(values)], f"k int, a {type}"
    )
    table = matcher_of(WANTED, "scan").match_batch(events.toArrow())
    right = zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True)
    expected, matcher = sorted(right), matcher_of(WANTED)
    for arrays in (False, True):
        told = fyke.spark.match(
            events, matcher, key="k", arrays=arrays, placement="rendezvous", on="a", parts=4
        )
        assert pairs(told) == expected


def test_rendezvous_on_a_path_with_several_sources(spark: SparkSession) -> None:
    rows = [(0, "x", ("y", 1)), (1, None, ("x", 1)), (2, "x", None), (3, None, None)]
    events = spark.createDataFrame(rows, "k int, p string, a struct<b: string, c: int>")
    events = events.withColumnRenamed("p", "a.b")
    matcher = matcher_of({"x": "a.b = 'x'", "y": "a.b = 'y'", "none": "not exists a.b"})
    right = [(0, "x"), (0, "y"), (1, "x"), (2, "x"), (3, "none")]
    check_all(events, matcher, right, on="a.b")


def test_columns_with_the_names_of_our_own(spark: SparkSession) -> None:
    names = ("place", "number", "certain", "doubtful", "_place")
    events = spark.createDataFrame([(0, 1, 2, 3, 4, 5)], ["k", *names])
    wanted = {name: f"{name} = {at}" for at, name in enumerate(names, 1)}
    right = [(0, name) for name in names]
    check_all(events, matcher_of(wanted), right)


def test_duplicate_events_stay_apart(spark: SparkSession) -> None:
    events = spark.createDataFrame([("x", ["a", "b", "c"])] * 5, "k string, a array<string>")
    matcher = matcher_of({"a": "a = 'a'", "b": "a = 'b'", "any": "exists a"})
    for name, more in PLACEMENTS.items():
        rows = fyke.spark.match(events, matcher, placement=name, **more)
        assert sorted(row["subscription"] for row in rows.collect()) == sorted(
            ["a", "b", "any"] * 5
        )
        arrays = fyke.spark.match(events, matcher, placement=name, arrays=True, **more).collect()
        assert [sorted(row["subscriptions"]) for row in arrays] == [["a", "any", "b"]] * 5


def test_rows_that_are_no_events(spark: SparkSession) -> None:
    rows = [(0, "x", 1.0), (1, "x", float("nan")), (2, None, 2.0)]
    events = spark.createDataFrame(rows, "k long, a string, x double")
    matcher = matcher_of({"x": "a = 'x'", "all": "k >= 0"})
    costly = matcher_of({"x": "a = 'x'", "all": Residual("cesql", "k >= 0") & fyke.parse("k >= 0")})
    for subscriptions in (matcher, costly):
        for name, more in PLACEMENTS.items():
            told = {"placement": name, **more}
            with pytest.raises(PythonException, match="errors=True"):
                fyke.spark.match(events, subscriptions, **told).collect()
            matches, errors = fyke.spark.match(events, subscriptions, errors=True, **told)
            assert pairs(matches) == [(0, "all"), (0, "x"), (2, "all")]
            assert [row["k"] for row in errors.collect()] == [1]
            arrays, _ = fyke.spark.match(events, subscriptions, errors=True, arrays=True, **told)
            assert sorted(row["k"] for row in arrays.collect()) == [0, 2]


def test_an_event_with_very_many_candidates(spark: SparkSession) -> None:
    wanted = {f"s{at}": Residual("cesql", f"a > {at - 10}") for at in range(200)}
    events = spark.createDataFrame([(0, 5), (1, 189)], "k int, a int")
    right = [(0, f"s{at}") for at in range(15)] + [(1, f"s{at}") for at in range(199)]
    check_all(events, matcher_of(wanted), right, on="a")


def test_nothing_in_and_nothing_out(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1, "x")], "k int, a string")
    check_all(events, Matcher(), [], on="a")
    check_all(events.where("k > 1"), matcher_of({"x": "a = 'x'"}), [])


# --- versions ------------------------------------------------------------------------------------


def test_versions_that_are_compiled_for_a_placement(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(f"s{at}", f"a = {at % 9} and b >= {at}") for at in range(60)]
    rows += [("ce", "not (a = 1)"), ("broken", "a = =")]
    table = spark.createDataFrame(rows, "id string, filter string")
    events = spark.createDataFrame([(k, k % 9, 2 * k) for k in range(40)], "k int, a int, b int")
    plain = fyke.spark.compile(table, tmp_path / "s")
    right = pairs(fyke.spark.match(events, plain))
    for name, more in PLACEMENTS.items():
        version = fyke.spark.compile(table, tmp_path / "s", placement=name, **more)
        assert (version.subscriptions, version.refused) == (61, 1)
        assert versions.current(tmp_path / "s") == version
        before = sorted(version.folder.rglob("*"))
        plan = fyke.spark.plan(events, tmp_path / "s")
        assert plan.placement == name
        if name == "rendezvous":
            assert plan.on == "a" and plan.parts == 3
        for subscriptions in (version, str(tmp_path / "s")):
            assert pairs(fyke.spark.match(events, subscriptions)) == right
        assert sorted(version.folder.rglob("*")) == before


def test_bad_calls(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.createDataFrame([(1,)], "k int")
    matcher = matcher_of({"one": "k > 0"})
    cases: list[tuple[dict[str, Any], str]] = [
        ({"placement": "everywhere"}, "expected one of auto, replicate"),
        ({"placement": None}, "expected one of auto"),
        ({"placement": "split", "parts": 0}, "from 1 to"),
        ({"placement": "split", "parts": True}, "from 1 to"),
        ({"placement": "split", "on": "k"}, "of a rendezvous"),
        ({"placement": "rendezvous", "on": 5}, "of a rendezvous"),
        ({"placement": "rendezvous"}, "on="),
        ({"placement": fyke.spark.plan(events, matcher), "parts": 3}, "itself"),
    ]
    for options, message in cases:
        with pytest.raises(FykeError, match=message):
            fyke.spark.match(events, matcher, **options)
    table = spark.createDataFrame([("one", "k > 0")], "id string, filter string")
    with pytest.raises(FykeError, match="expected one of replicate"):
        fyke.spark.compile(table, tmp_path / "s", placement="auto")
    assert not (tmp_path / "s").exists()


def test_names_of_all_attributes_can_be_met_on(spark: SparkSession) -> None:
    rows = [(f"{name}!", f'"{name}" = 1') for name in NAMES]
    documents = [(k, encode({name: [1, "x"]})) for k, name in enumerate(NAMES)]
    events = spark.createDataFrame(documents, "k int, value string")
    matcher = matcher_of(dict(rows))
    right = [(k, f"{name}!") for k, name in enumerate(NAMES)]
    for name in ("c.d", "weird name"):
        told = {"placement": "rendezvous", "on": name, "parts": 2, "json": "value", "key": "k"}
        assert pairs(fyke.spark.match(events, matcher, **told)) == right
