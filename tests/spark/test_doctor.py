"""What the doctor asks, and what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fyke import FykeError
from fyke.spark.sessions.doctor import Examination, Executor, examine
from fyke.spark.sessions.reasons import reason
from fyke.spark.sessions.sizes import tasks

GOOD = Executor(
    "w1",
    "executor-0",
    "/usr/bin/python",
    {"fyke": "1", "numpy": "2", "numba": "3", "pyarrow": "4", "pyspark": "5"},
    {"/shared": True},
    True,
    8 * 2**30,
)


def advice(executor: Executor) -> list[str]:
    return Examination(GOOD.versions, (executor,), 2).advice


def test_on_this_machine(spark: SparkSession, tmp_path: Path) -> None:
    found = examine(spark, [tmp_path])
    assert found.cores == 2
    (executor, *_) = found.executors
    assert executor.versions == found.versions
    assert executor.sees == {str(tmp_path): True}
    assert not list(tmp_path.iterdir())  # its mark is gone
    assert found.advice == [] or all("kernels" in each for each in found.advice)


def test_advice() -> None:
    assert advice(GOOD) == []
    assert (
        "no Fyke for /usr/bin/python"
        in advice(replace(GOOD, versions={**GOOD.versions, "fyke": None}))[0]
    )
    (other,) = advice(replace(GOOD, versions={**GOOD.versions, "fyke": "0"}))
    assert "has Fyke 0" in other and "ship=True" in other
    assert "no pyarrow" in advice(replace(GOOD, versions={**GOOD.versions, "pyarrow": None}))[0]
    assert advice(replace(GOOD, sees={"/shared": False}))[0].startswith("worker w1 does not see")
    cold = replace(GOOD, is_warm=False, kernels="fast-1")
    assert "no compiled kernels" in advice(cold)[0]
    assert "no compiled kernels" in Examination(GOOD.versions, (cold,), 2, "fast-2").advice[0]
    served = Examination(GOOD.versions, (cold,), 2, "fast-1")
    assert served.advice == [] and served.kernels_of(cold) == "sent"


def test_tasks_follow_from_cores(spark: SparkSession) -> None:
    """Whatever the number of shuffle partitions is."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "200")
    try:
        assert tasks(spark) == 2
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("org.apache...\nfyke.errors.FykeError: worker w does not see /x: y\n", "worker w does"),
        ('java.io.IOException: Cannot run program "/no/python": error=2', "PYSPARK_PYTHON"),
        (
            "PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different "
            "version: 3.12 than that in driver: 3.11, PySpark cannot run with others.",
            "workers have Python 3.12, the driver has 3.11; let PYSPARK_PYTHON name a Python 3.11",
        ),
        ("  ModuleNotFoundError: No module named 'fyke'\n\tat org.apache", "No module named"),
        ("", "does not say why"),
    ],
)
def test_reasons(said: str, expected: str) -> None:
    assert expected in reason(said)


def test_errors_are_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    import fyke.spark

    def broken(batches: object) -> object:
        raise FykeError("this shard is too large")

    table = spark.createDataFrame([("a", "n = 1")], "id string, filter string")
    rows = table.mapInArrow(broken, table.schema)  # type: ignore[arg-type]
    with pytest.raises(FykeError, match=r"cannot be compiled: this shard is too large$"):
        fyke.spark.compile(rows, tmp_path / "v", shards=1)
    assert not (tmp_path / "v" / "CURRENT").exists()
