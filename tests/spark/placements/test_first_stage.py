"""Multistage with stages: a first stage of some attributes names the parts that an event is for."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from pyspark.sql import DataFrame, SparkSession

import fyke
import fyke.spark
from fyke import FykeError, Matcher
from fyke.events.json import decode_event, encode
from fyke.filters.algebra.normal_form import rebuilt
from fyke.filters.filter import TRUE, Filter, conjunction
from fyke.spark.placements.layout import ByFirstStage, FirstStage, part_of
from fyke.testing.covering import check_covers
from fyke.testing.generators import NAMES, randoms
from fyke.testing.stories.reaching import examples, reached, reaches
from fyke.workloads.named import WORKLOADS, workload
from tests.spark.placements.test_placements import (
    matcher_of,
    pairs,
    random_document,
    random_filter,
)


def check_staged(
    events: DataFrame, subscriptions: Any, right: list[tuple[Any, str]], kept: list[str], **how: Any
) -> None:
    """AssertionError unless what a first stage leads to is what the scan finds."""
    stages = [kept, kept]
    plan = fyke.spark.plan(events, subscriptions, placement="multistage", parts=3, stages=stages)
    for arrays in (False, True):
        found = fyke.spark.match(
            events, subscriptions, key="k", arrays=arrays, placement=plan, **how
        )
        assert pairs(found) == sorted(right), arrays


def check_led(rng: Random) -> tuple[bool, bool]:
    """AssertionError unless events come to the part of a filter that accepts them.

    Return whether there was one, and whether the first stage knows less of the filter.
    """
    first, parts = random_first_stage(rng), rng.randint(1, 5)
    filter = random_filter(rng)
    if first.by_type:
        filter = conjunction((*random_types(rng), filter))
    _, name, weak = first.place("s", filter)
    part, id, same = ByFirstStage(first, parts).place("s", filter)
    assert (part, id, same) == (part_of(name, parts), "s", filter)
    documents = [random_document(rng) for _ in range(20)]
    if first.by_type:
        documents = [{**each, "type": rng.choice("TUV")} for each in documents]
    events = [decode_event(encode(each)) for each in documents]
    check_covers(weak.matches, filter.matches, events)
    return any(map(filter.matches, events)), weak not in (filter, fyke.parse("true"))


def random_first_stage(rng: Random) -> FirstStage:
    """Return attributes to keep, in half of all cases by type."""
    if rng.random() < 0.5:
        return FirstStage(tuple(rng.sample(NAMES, rng.randint(1, 3))))
    return FirstStage(
        (), tuple((name, tuple(rng.sample(NAMES, rng.randint(0, 2)))) for name in "TU")
    )


def random_types(rng: Random) -> list[Filter]:
    """Return predicates on the type, for some of the types that events have; or none."""
    texts = ("type is T", "type = 'U'", "type in ('T', 'U')", "type is V or type is T", "")
    text = rng.choice(texts)
    return [fyke.parse(text)] if text else []


@reaches(matched=0.1, weaker=0.3)
@examples(0.5)
@given(randoms())
def test_an_event_is_led_to_the_part_of_all_that_accept_it(rng: Random) -> None:
    matched, weaker = check_led(rng)
    reached(matched=matched, weaker=weaker)


def drops_leaves_whatever_stands_above(filter: Filter, kept: tuple[str, ...]) -> Filter:
    """As if no leaf ever stood below a negation."""
    if filter.children:
        inner = [drops_leaves_whatever_stands_above(each, kept) for each in filter.children]
        return rebuilt(filter, inner)
    return filter if getattr(filter, "attribute", None) in kept else TRUE


FAULTS: dict[str, tuple[type, str, Any]] = {
    "by the id": (
        ByFirstStage,
        "place",
        lambda self, id, filter: (part_of(id, self.parts), id, filter),
    ),
    "by the filter": (
        ByFirstStage,
        "place",
        lambda self, id, filter: (part_of(str(filter), self.parts), id, filter),
    ),
    "negations": (
        FirstStage,
        "weakened",
        lambda self, filter: drops_leaves_whatever_stands_above(filter, self.kept),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, wrong = FAULTS[fault]
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        for seed in range(400):
            check_led(random.Random(seed))


def test_equal_ones_lie_once_in_the_first_stage_and_together_in_a_part() -> None:
    texts = [f"symbol = 'DEF' and price < {price}" for price in range(50)]
    filters = [fyke.parse(text) for text in texts]
    by_symbol = FirstStage(("symbol",))
    first = {by_symbol.place(f"s{at}", each) for at, each in enumerate(filters)}
    assert len(first) == 1
    assert len({ByFirstStage(by_symbol, 8).place("s", each)[0] for each in filters}) == 1


def test_types_keep_attributes_of_their_own() -> None:
    first = FirstStage((), (("Stock", ("symbol",)), ("Auction", ("item", "price"))))
    both = "symbol = 'A' and item = 'i' and price < 3 and volume > 5"
    for types, kept in {
        "type is Stock": "symbol = 'A'",
        "type = 'Auction'": "item = 'i' and price < 3",
        "type in ('Stock', 'Auction')": "symbol = 'A' and item = 'i' and price < 3",
        "type is Bond": "symbol = 'A' and item = 'i' and price < 3",
        "volume < 9": "symbol = 'A' and item = 'i' and price < 3",
    }.items():
        weak = first.weakened(fyke.parse(f"{types} and {both}"))
        named = f"{types} and " if types.startswith("type") else ""
        assert weak == fyke.parse(named + kept), types


def test_random_documents(spark: SparkSession) -> None:
    draw = random.Random(7)
    texts = [encode(random_document(draw)) for _ in range(200)]
    named = {f"s{at}": random_filter(draw) for at in range(150)}
    scan = matcher_of(named, "scan")
    right = [(k, id) for k, text in enumerate(texts) for id in scan.match(decode_event(text))]
    assert len(right) > 500
    events = spark.createDataFrame(list(enumerate(texts)), "k long, value string")
    check_staged(events, matcher_of(named), right, ["a", "b"], json="value")


def check_workload(spark: SparkSession, name: str) -> None:
    given = workload(name, 3)
    events, subscriptions = given.columns(200), given.subscription_columns(150)
    texts = dict(
        zip(subscriptions["id"].to_pylist(), subscriptions["filter"].to_pylist(), strict=True)
    )
    table = matcher_of(texts, "scan").match_batch(events)
    right = list(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))
    frame = spark.createDataFrame(events.append_column("k", [list(range(200))])).repartition(2)
    kept = [each for each in events.column_names if each != "type"][:2]
    check_staged(frame, matcher_of(texts), right, kept, attributes=events.column_names)


def test_a_workload_of_equalities(spark: SparkSession) -> None:
    check_workload(spark, "bibliography")


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(WORKLOADS))
def test_all_workloads(spark: SparkSession, name: str) -> None:
    check_workload(spark, name)


def halves(path: Path, count: int) -> Path:
    """Half of the subscriptions name a symbol, half a sector."""
    matcher = Matcher()
    for at in range(count):
        what = f"symbol = 's{at % 40}'" if at % 2 else f"sector = 'x{at % 40}'"
        matcher.add(f"s{at}", fyke.parse(f"{what} and price < {at}"))
    matcher.save(path)
    return path


def test_no_worker_needs_the_whole_set(spark: SparkSession, tmp_path: Path) -> None:
    """Once it is laid out, the snapshot of all subscriptions may be gone."""
    path = halves(tmp_path / "m", 400)
    rows = [(0, "s1", "x0", 5.0), (1, "s3", None, 0.5), (2, None, "x2", 50.0), (3, "q", "q", 1.0)]
    events = spark.createDataFrame(rows, "k int, symbol string, sector string, price double")
    table = Matcher.open(path).match_batch(events.drop("k").toArrow())
    right = list(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))
    assert len({k for k, _ in right}) == 3
    stages = [["symbol", "sector", "price"], ["symbol", "sector"]]
    plan = fyke.spark.plan(events, path, placement="multistage", parts=4, stages=stages)
    assert str(plan) == "multistage on symbol, sector in 4 parts: as was asked for"
    found = fyke.spark.match(events, path, key="k", placement=plan)
    shutil.rmtree(path)
    assert pairs(found) == sorted(right)


def test_the_planner_finds_a_first_stage(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.createDataFrame([(1, "s1", "x1")], "k int, symbol string, sector string")
    path = halves(tmp_path / "m", 3_000)
    size = sum(file.stat().st_size for file in path.rglob("*.bin"))
    plan = fyke.spark.plan(events, path, memory=size // 8)
    assert (plan.placement, sorted(plan.kept)) == ("multistage", ["sector", "symbol"])
    assert plan.parts >= 8 and "100% of them need a value of" in plan.why
    assert fyke.spark.plan(events, path, memory=size).placement == "replicate"
    assert fyke.spark.plan(events, path, memory=size // 8, parts=3).placement == "split"
    lone = Matcher()
    lone.add_many((f"s{at}", fyke.parse(f"symbol = 's' and price < {at}")) for at in range(900))
    lone.save(tmp_path / "lone")
    assert fyke.spark.plan(events, tmp_path / "lone", memory=20_000).placement == "split"


def test_stages_from_statistics(spark: SparkSession) -> None:
    rows = [(f"s{at % 3}", float(at)) for at in range(60)]
    events = spark.createDataFrame(rows, "symbol string, price double")
    table = fyke.spark.statistics.distribution(events)
    stages = fyke.spark.statistics.stages(table, 1)
    wanted = spark.createDataFrame(
        [("cheap", "symbol = 's1' and price < 10")], "id string, filter string"
    )
    plan = fyke.spark.plan(events, wanted, placement="multistage", stages=stages, parts=2)
    assert plan.kept == ("symbol",)
    assert fyke.spark.match(events, wanted, placement=plan).count() == 3


def test_stages_by_type_from_statistics(spark: SparkSession) -> None:
    """Stocks and auctions share the price, and keep other attributes than it."""
    rows = [("Stock", f"s{at % 3}", None, float(at)) for at in range(60)]
    rows += [("Auction", None, f"i{at % 4}", float(at)) for at in range(60)]
    columns = "k long, type string, symbol string, item string, price double"
    events = spark.createDataFrame([(at, *row) for at, row in enumerate(rows)], columns)
    texts = {
        f"s{at}": f"type is Stock and symbol = 's{at % 3}' and price < {at}" for at in range(30)
    }
    texts |= {
        f"i{at}": f"type is Auction and item = 'i{at % 4}' and price > {at}" for at in range(40)
    }
    texts |= {"any": "price < 2", "none": "type is Bond and price < 9"}
    wanted = spark.createDataFrame(list(texts.items()), "id string, filter string")
    stages = fyke.spark.statistics.stages_by_type(events.drop("k"), 2, subscriptions=wanted)
    plan = fyke.spark.plan(events, wanted, placement="multistage", stages=stages, parts=5)
    assert plan.by_type == (("Auction", ("item",)), ("Stock", ("symbol",)))
    assert str(plan).startswith("multistage on item of Auction; symbol of Stock in 5 parts")
    table = matcher_of(texts, "scan").match_batch(events.drop("k").toArrow())
    right = list(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))
    assert len(right) > 500 and {"any"} < {id for _, id in right}
    for arrays in (False, True):
        found = fyke.spark.match(events, wanted, key="k", arrays=arrays, placement=plan)
        assert pairs(found) == sorted(right), arrays


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        ({}, "expected stages for one type of events or more"),
        ({5: [["a"], ["a"]]}, "stages of 5; expected the name of a type"),
        ({"T": [["a"]]}, r"stages of T=.*; expected two lists"),
        ({"T": [["a"], ["b"]]}, "stage 1 of T keeps b, which stage 0 does not"),
        ({"T": [["a"], []]}, "the last stages keep no attribute"),
        (7, "stages=7; expected two lists"),
        ([["a"]], "expected two lists"),
        ("ab", "expected two lists"),
        ([["a"], "a"], "stage 1 is 'a'; expected a list of attributes"),
        ([["a"], ["a", "b"]], "stage 1 keeps b, which stage 0 does not"),
        ([["a"], [5]], "stage 1 is .*5.*; expected a list of attributes"),
        ([["a"], []], "the last stage keeps no attribute"),
    ],
)
def test_stages_that_make_no_sense_are_refused(
    spark: SparkSession, stages: Any, problem: str
) -> None:
    events = spark.createDataFrame([(1,)], "a int")
    wanted = {"s": "a = 1"}
    with pytest.raises(FykeError, match=problem):
        fyke.spark.plan(events, wanted, placement="multistage", stages=stages)
    with pytest.raises(FykeError, match="stages= is for placement='multistage'"):
        fyke.spark.plan(events, wanted, stages=[["a"], ["a"]])
