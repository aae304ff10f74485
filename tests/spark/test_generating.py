"""`fyke.spark.events` and `subscriptions`: the rows that the library makes, in the same order."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke import FykeError
from fyke.spark import generating
from fyke.workloads.named import WORKLOADS, workload


@pytest.mark.parametrize("name", sorted(WORKLOADS))
def test_rows_are_those_of_the_library(spark: SparkSession, name: str) -> None:
    given = workload(name, 7)
    events = fyke.spark.events(spark, given, 300, start=5)
    assert same(events.toArrow(), given.columns(300, 5))
    subscriptions = fyke.spark.subscriptions(spark, given.description(), 200, start=3)
    assert same(subscriptions.toArrow(), given.subscription_columns(200, 3))


def same(made: pa.Table, right: pa.Table) -> bool:
    assert made.column_names == right.column_names
    assert made.schema.types == right.schema.types
    return bool(made.to_pylist() == right.to_pylist())


@pytest.mark.parametrize("count", [0, 1, generating.BLOCK, 2 * generating.BLOCK + 1])
def test_blocks_and_their_seams(spark: SparkSession, count: int) -> None:
    made = fyke.spark.events(spark, "w2_3", count).toArrow()
    assert made.cast(workload("w2_3").columns(0).schema) == workload("w2_3").columns(count)


def test_options_travel(spark: SparkSession) -> None:
    given = workload("auction", seed=3, classes=(2,))
    frame = fyke.spark.subscriptions(spark, given, 50)
    assert {row["class"] for row in frame.collect()} == {2}


def test_what_cannot_be_made_is_said(spark: SparkSession) -> None:
    with pytest.raises(FykeError, match="unknown workload 'nothing'"):
        fyke.spark.events(spark, "nothing", 5)
    for wrong in (-1, 1.5, True, None):
        with pytest.raises(FykeError, match="whole number from 0 on"):
            fyke.spark.events(spark, "w1", wrong)  # type: ignore[arg-type]
        with pytest.raises(FykeError, match="start="):
            fyke.spark.subscriptions(spark, "w1", 5, wrong)  # type: ignore[arg-type]
