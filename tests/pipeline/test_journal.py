"""What a task writes, mostly without Spark: digests, sizes and refusals say what a scan says."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

import fyke
from fyke.pipeline.live import journal
from fyke.pipeline.live.journal import Digests
from fyke.pipeline.sources.sources import Events, Shape
from fyke.spark.placements.choice import Plan
from fyke.spark.reading import Reading
from fyke.spark.task import Task
from fyke.spark.versions.snapshots import Pin
from fyke.workloads.named import workload

WORK = workload("stock_and_auction", 3)
EVENTS, SUBSCRIPTIONS = 230, 400


@pytest.fixture(scope="module")
def pin(tmp_path_factory) -> Pin:
    """Two shards."""
    folders = []
    for shard in range(2):
        matcher = fyke.Matcher()
        numbers = range(shard, SUBSCRIPTIONS, 2)
        matcher.add_many((WORK.id(number), WORK.filter(number)) for number in numbers)
        folders.append(str(tmp_path_factory.mktemp("snapshots") / f"{shard}"))
        matcher.save(folders[-1])
    return Pin.of(folders)


def keys(number: int) -> str:
    return f"{number} é🐟"


def written(pin: Pin, size: int) -> list[dict]:
    table = WORK.columns(EVENTS).combine_chunks()
    reading = Reading("columns", tuple(table.schema.names))
    table = table.append_column("key", pa.array(map(keys, range(EVENTS)), pa.string()))
    task = Task(pin, reading, Digests("key", None), sets_aside=True)
    return [row for batch in task.matches(table.to_batches(size)) for row in batch.to_pylist()]


@pytest.mark.parametrize(("size", "matches_max"), [(1_000, 10**6), (37, 100), (1, 1)])
def test_digests_and_sizes(pin, monkeypatch, size, matches_max):
    monkeypatch.setattr(journal, "MATCHES_MAX", matches_max)
    rows = written(pin, size)
    wanted = [
        (subscription.id, keys(number))
        for subscription in WORK.subscriptions(SUBSCRIPTIONS)
        for number, event in enumerate(WORK.events(EVENTS))
        if subscription.filter.matches(event)
    ]
    digests = [row for row in rows if row["subscription"] is not None]
    found = [(row["subscription"], event) for row in digests for event in row["events"]]
    assert wanted
    assert sorted(found) == sorted(wanted)
    assert all(row["rows"] == len(row["events"]) for row in digests)
    is_split = len({row["subscription"] for row in digests}) < len(digests)
    assert is_split == (matches_max < len(wanted))  # what is gathered is bounded

    by_event = Counter(event for _, event in wanted)
    sizes = Counter(by_event[keys(number)] for number in range(EVENTS))
    assert Counter({row["size"]: row["rows"] for row in rows if row["size"] is not None}) == sizes
    assert sum(row["rows"] for row in rows if row["at"] is not None) == EVENTS
    assert not [row for row in rows if row["reason"] is not None]


@pytest.fixture(scope="module")
def cheap(tmp_path_factory) -> Pin:
    """Subscriptions that would accept rows which are refused, in two shards."""
    folders = []
    for shard, filters in enumerate(
        [{"all": "true", "cheap": "price < 2.5"}, {"one": "price = 1"}]
    ):
        matcher = fyke.Matcher()
        matcher.add_many(filters.items())
        folders.append(str(tmp_path_factory.mktemp("cheap") / f"{shard}"))
        matcher.save(folders[-1])
    return Pin.of(folders)


@pytest.mark.parametrize("size", [1, 2, 10])
def test_refusals_are_in_no_digest(cheap, size):
    """And everything else is: rows beside those that are refused keep what they matched."""
    nan = float("nan")
    prices = pa.array([1.0, nan, 2.0, 3.0, 1.0, nan, 1.0, None])
    table = pa.table({"price": prices, "key": pa.array([1, 2, None, 4, 5, None, 7, 8])})
    task = Task(cheap, Reading("columns", ("price",)), Digests("key", None), sets_aside=True)
    rows = [row for batch in task.matches(table.to_batches(size)) for row in batch.to_pylist()]
    refused = [(row["event"], row["reason"]) for row in rows if row["reason"] is not None]
    assert Counter(event for event, _ in refused) == {2: 1, None: 2}
    reasons = sorted(reason for event, reason in refused if event is None)
    assert reasons[1] == "the event has no key" and "nan is not a number" in reasons[0]
    found = Counter(
        (row["subscription"], event)
        for row in rows
        if row["subscription"] is not None
        for event in row["events"]
    )
    assert found == Counter(
        [("all", key) for key in (1, 4, 5, 7, 8)]
        + [(id, key) for id in ("cheap", "one") for key in (1, 5, 7)]
    )
    sizes = Counter()
    for row in rows:
        if row["size"] is not None:
            sizes[row["size"]] += row["rows"]
    assert sizes == {3: 3, 1: 2}
    assert sum(row["rows"] for row in rows if row["at"] is not None) == len(prices)


def test_no_rows_no_journal(pin):
    task = Task(pin, Reading("columns", ("price",)), Digests("key", None), sets_aside=True)
    assert list(task.matches([])) == []


def test_documents_keep_the_difference_between_null_and_missing(tmp_path):
    folders = []
    for number, text in enumerate(["price is null", "not exists price", "price != 1"]):
        matcher = fyke.Matcher()
        matcher.add(text, text)
        folders.append(str(tmp_path / f"{number}"))
        matcher.save(folders[-1])
    texts = ['{"price": null}', "{}", '{"price": 2}', '{"price": [1, null]}', '{"price": "x"}']
    batch = pa.record_batch({"key": pa.array(range(5)), "value": pa.array(texts, pa.binary())})
    task = Task(
        Pin.of(folders), Reading("json", ("value",)), Digests("key", "value"), sets_aside=True
    )
    rows = [row for each in task.matches([batch]) for row in each.to_pylist()]
    assert {row["subscription"]: row["events"] for row in rows if row["subscription"]} == {
        "price is null": [0, 3],
        "not exists price": [1],
        "price != 1": [0, 2, 3, 4],
    }


@pytest.mark.parametrize("placement", ["split", "rendezvous", "multistage"])
def test_a_planned_journal_says_the_same(spark, cheap, tmp_path, placement):
    """Events that are copied to parts of the subscriptions are counted and refused once."""
    from pyspark.sql import functions as f

    nan = float("nan")
    prices = [1.0, nan, 2.0, 3.0, 1.0, nan, 1.0, None]
    keys = [1, 2, None, 4, 5, None, 7, 8]
    frame = spark.createDataFrame(list(zip(prices, keys, strict=True)), "price double, key long")
    events = Events(frame, Shape("key", ("price",)))
    on, parts = ("price", 3) if placement == "rendezvous" else (None, 2)

    def written(name: str, rows: DataFrame) -> DataFrame:
        rows.write.mode("append").parquet(str(tmp_path / name))
        return spark.read.parquet(str(tmp_path / name))

    whole = written("whole", journal.journal(events, cheap))
    plan = Plan(placement, "a test", on=on, parts=parts)
    planned = written("planned", journal.planned_journal(events, cheap, plan))
    assert not planned.where("size is not null").count()
    planned = written("planned", journal.sizes_of(planned, len(prices)))

    def pairs(found: DataFrame) -> Counter:
        rows = found.where("subscription is not null")
        each = rows.select("subscription", f.explode("events").alias("event")).collect()
        return Counter(map(tuple, each))

    def summed(found: DataFrame) -> dict:
        rows = found.where("size is not null").groupBy("size").agg(f.sum("rows")).collect()
        return dict(map(tuple, rows))

    def refused(found: DataFrame) -> Counter:
        rows = found.where("reason is not null").select("event", "reason").collect()
        return Counter(map(tuple, rows))

    assert pairs(planned) == pairs(whole) and sum(pairs(whole).values()) == 11
    assert summed(planned) == summed(whole) == {3: 3, 1: 2}
    assert refused(planned) == refused(whole) and sum(refused(whole).values()) == 3
    for found in (whole, planned):
        assert found.agg(f.sum(f.when(f.col("at").isNotNull(), f.col("rows")))).first()[0] == 8
