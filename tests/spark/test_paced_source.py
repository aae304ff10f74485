"""The format `fyke-paced`, without Spark: which events come due, and that they are the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadAllAvailable

from fyke.errors import FykeError
from fyke.spark.streams import paced_source
from fyke.spark.streams.paced_source import PAUSE_MAX_S, PacedReader, PacedSource, stretches
from fyke.workloads.named import workload

AUCTION = workload("auction", 3)


@given(st.integers(0, 10**12), st.integers(0, 10**6))
def test_stretches_are_the_numbers(start, count):
    found = stretches(start, start + count)
    assert sum(each.end - each.start for each in found) == count
    ends = [start, *(each.end for each in found)]
    assert [each.start for each in found] == ends[:-1] or not found
    assert len(found) <= 64 and (count == 0 or ends[-1] == start + count)


def test_events_come_due_in_time(monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(paced_source, "monotonic", lambda: clock[0])
    reader = PacedReader(AUCTION, 50)
    at = {"event": 700}

    def after(seconds: float) -> int:
        nonlocal at
        clock[0] += seconds
        before, at = at, reader.latestOffset(at, ReadAllAvailable())
        return at["event"] - before["event"]

    assert [after(seconds) for seconds in (0, 0, 1, 0.015, 0.015, 0.5)] == [50, 0, 50, 0, 1, 25]
    assert after(10_000) == 50 * PAUSE_MAX_S
    assert at["event"] == 700 + 126 + 500
    assert reader.initialOffset() == {"event": 0}


def test_rows_are_the_workloads():
    reader = PacedReader(AUCTION, 50)
    found = [
        row
        for part in reader.partitions({"event": 4_000}, {"event": 9_000})
        for batch in reader.read(part)
        for row in batch.to_pylist()
    ]
    assert [row.pop("event") for row in found] == list(range(4_000, 9_000))
    assert found == AUCTION.columns(5_000, 4_000).to_pylist()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "workload=''"),
        ({"workload": "[]", "rate": "5"}, "description names it, unlike"),
        ({"workload": '{"name": "none"}', "rate": "5"}, "none"),
        ({"workload": json.dumps(AUCTION.description()), "rate": "0"}, "rate='0'; expected"),
        ({"workload": json.dumps(AUCTION.description())}, "rate=''; expected"),
    ],
)
def test_bad_options(options, problem):
    source = PacedSource(options)
    with pytest.raises(FykeError, match=problem):
        source.streamReader(source.schema())
