"""What a task writes, without Spark: digests, sizes and refusals say what a scan says."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

import fyke
from fyke.pipeline import journal
from fyke.pipeline.journal import Task
from fyke.spark.reading import Reading
from fyke.spark.snapshots import Pin
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
    task = Task(pin, reading, "key", None)
    return [row for batch in task.run(table.to_batches(size)) for row in batch.to_pylist()]


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

    by_event = Counter(event for _, event in wanted)
    sizes = Counter(by_event[keys(number)] for number in range(EVENTS))
    assert Counter({row["size"]: row["rows"] for row in rows if row["size"] is not None}) == sizes
    assert sum(row["rows"] for row in rows if row["at"] is not None) == EVENTS
    assert not [row for row in rows if row["reason"] is not None]


def test_refusals_are_in_no_digest(pin):
    table = pa.table(
        {"price": [1.0, float("nan"), 2.0, 3.0], "key": pa.array([1, 2, None, 4], pa.int64())}
    )
    rows = [
        row
        for batch in Task(pin, Reading("columns", ("price",)), "key", None).run(table.to_batches())
        for row in batch.to_pylist()
    ]
    refused = {row["event"]: row["reason"] for row in rows if row["reason"] is not None}
    assert refused[None] == "the event has no key"
    assert "nan is not a number" in refused[2]
    assert sorted(refused, key=str) == [2, None]
    assert sum(row["rows"] for row in rows if row["size"] is not None) == 2


def test_no_rows_no_journal(pin):
    task = Task(pin, Reading("columns", ("price",)), "key", None)
    assert list(task.run([])) == []
