"""Pruning on Spark: what is pruned covers, and as a first stage it changes no row."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import fyke
import fyke.spark
from fyke import FykeError, Matcher, parse
from fyke.pruning.cutting import Cut
from fyke.pruning.predicate_statistics import leaves_of
from fyke.spark.placements.profiles import size_of
from fyke.spark.versions.snapshots import Part, _open
from fyke.testing.covering import check_covers
from fyke.workloads.auction import AuctionWorkload

AUCTION = AuctionWorkload(typed=False)
EVENTS = AUCTION.columns(400)
ROWS = AUCTION.subscription_columns(300)


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    matcher = Matcher()
    matcher.add_many(zip(ROWS["id"].to_pylist(), ROWS["filter"].to_pylist(), strict=True))
    return matcher


def test_a_cut_is_the_plan_without_the_plan(matcher):
    """Each subscription, pruned alone up to the cut, is what the plan of all of them makes."""
    leaves = leaves_of(filter for _, filter in matcher.items())
    statistics = fyke.PredicateStatistics.of(EVENTS, leaves)
    plan = fyke.prune(matcher, statistics=statistics)
    for steps in (0, 400, 900, len(plan)):
        cut = plan.cut(steps)
        whole = sum(1 for at in range(len(plan)) if plan.cut(at + 1) <= cut)
        planned = dict(plan.filters(whole if steps else 0))
        pruned = Cut(cut, statistics)
        assert {id: pruned.prune(filter) for id, filter in matcher.items()} == planned


def test_a_table_of_subscriptions(spark: SparkSession):
    events, subscriptions = spark.createDataFrame(EVENTS), spark.createDataFrame(ROWS)
    pruned = fyke.spark.prune(subscriptions, events, budget="40%").toArrow().to_pylist()
    assert {row["id"] for row in pruned} == set(ROWS["id"].to_pylist())
    originals = dict(zip(ROWS["id"].to_pylist(), ROWS["filter"].to_pylist(), strict=True))
    sample = [AUCTION.event(number) for number in range(100)]
    for row in pruned:
        check_covers(parse(row["filter"]), parse(originals[row["id"]]), sample)
    dropped = sum(row["dropped"] for row in pruned)
    whole = sum(len(list(leaves_of([parse(text)]))) for text in originals.values())
    assert 0.58 * whole < dropped < 0.75 * whole


@pytest.mark.parametrize("arrays", [False, True])
def test_a_first_stage_within_memory_changes_no_row(spark: SparkSession, matcher, arrays, tmp_path):
    matcher.save(tmp_path / "m")
    memory = size_of(str(tmp_path / "m")) * 3 // 4
    numbered = EVENTS.append_column("k", pa.array(range(400)))
    events = spark.createDataFrame(numbered).repartition(2)
    told = {"key": "k", "arrays": arrays}
    right = fyke.spark.match(events, str(tmp_path / "m"), placement="replicate", **told)
    found = fyke.spark.match(
        events, str(tmp_path / "m"), placement="multistage", memory=memory, **told
    )
    assert _sorted(found) == _sorted(right) and found.count() > 0


def _sorted(frame) -> list:
    return sorted((row["k"], *_ids(row)) for row in frame.collect())


def _ids(row) -> list[str]:
    *names, ids = row.asDict()
    assert names == ["k"], "only what was asked for"
    return sorted(row[ids]) if isinstance(row[ids], list) else [row[ids]]


def test_the_first_stage_fits_and_covers(spark: SparkSession, matcher, tmp_path):
    from fyke.spark.placements.pruned import prepare_pruned
    from fyke.spark.reading import Reading
    from fyke.spark.task import Output, Task
    from fyke.spark.versions.pinning import pin_subscriptions

    matcher.save(tmp_path / "m")
    memory = size_of(str(tmp_path / "m")) * 3 // 4
    events = spark.createDataFrame(EVENTS)
    task = Task(
        pin_subscriptions(str(tmp_path / "m")),
        Reading.of(events, None, None, None),
        Output.of(events, None, False),
        False,
    )
    placed = prepare_pruned(events, task, memory, 3)
    (first,) = placed.first.parts
    assert isinstance(first, Part) and size_of(first.path) <= memory
    assert len(placed.shards.parts) == 3
    pruned = Matcher.open(first.path)
    assert set(pruned) == set(matcher)
    for id, filter in matcher.items():
        check_covers(pruned.filter(id), filter, [AUCTION.event(n) for n in range(50)])
    _open.clear()


def test_memory_that_is_too_small_names_the_smallest(spark: SparkSession, matcher):
    events = spark.createDataFrame(EVENTS)
    with pytest.raises(FykeError, match="pruned as far as they can be, the subscriptions take"):
        fyke.spark.match(events, matcher, placement="multistage", memory="1kB")
    with pytest.raises(FykeError, match="memory= is for placement='multistage'"):
        fyke.spark.match(events, matcher, placement="split", memory="1MB")
    with pytest.raises(FykeError, match="no size"):
        fyke.spark.match(events, matcher, placement="multistage", memory="much")
