"""What the programs share that measure in a Spark session of their own."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import fyke.spark
from benchmarks.bench import SEED
from fyke.workloads.conjunctive import ConjunctiveWorkload
from fyke.workloads.named import workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BLOCK = 50_000
MEMORY = "6g"


def w1() -> ConjunctiveWorkload:
    found = workload("w1", SEED)
    assert isinstance(found, ConjunctiveWorkload)
    return found


def session(cores: int, **conf: object) -> SparkSession:
    """On so many cores of this machine: more are not there, for Java and Python neither."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    settings = {"spark.driver.memory": MEMORY, **conf}
    return fyke.spark.session(master=f"local[{cores}]", conf=settings)


def events(
    session: SparkSession, count: int, parts: int, folder: str, *, codes: bool = False
) -> DataFrame:
    """W1 in Spark's memory: a number k, the attributes, and if wanted their codes a0, a1, ...

    No worker has seen them before: they are made here and read by Java.
    """
    each = -(-count // parts)
    Path(folder).mkdir(parents=True)
    for first in range(0, count, each):
        with pq.ParquetWriter(f"{folder}/{first:09}.parquet", _rows(0, 0, codes).schema) as file:
            for start in range(first, min(first + each, count), BLOCK):
                size = min(BLOCK, first + each - start, count - start)
                file.write_table(_rows(size, start, codes))
    session.conf.set("spark.sql.files.openCostInBytes", str(2**40))  # a task per file
    rows = session.read.parquet(folder).cache()
    rows.count()
    return rows


def _rows(count: int, start: int, codes: bool) -> pa.Table:
    given = w1()
    table = given.columns(count, start).combine_chunks()
    table = table.add_column(0, "k", pa.array(range(start, start + count), pa.int64()))
    for at, column in enumerate(given.codes(count, start).T if codes else ()):
        table = table.append_column(f"a{at}", pa.array(column))
    return table


def written(frame: DataFrame) -> float:
    """Wall time until all rows have gone nowhere."""
    started = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def fingerprint(frame: DataFrame) -> tuple[int, int]:
    """How many rows (k, subscription), and a hash of them in any order."""
    from pyspark.sql import functions as f

    hashed = f.xxhash64("k", "subscription").cast("decimal(20)")
    found = frame.agg(f.count("*").alias("rows"), f.sum(hashed).alias("hash")).first()
    assert found is not None
    return found["rows"], int(found["hash"] or 0)


def tell(told: dict[str, Any]) -> None:
    print(json.dumps(told))
