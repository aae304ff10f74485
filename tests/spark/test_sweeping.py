"""`fyke.spark.sweep`: a row per run, whatever the runs do."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke import FykeError


def product(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    return {"product": parameters["x"] * seed, "name": f"{parameters['s']}-{seed}"}


def test_all_combinations_in_order(spark: SparkSession) -> None:
    told: list[tuple[int, int]] = []
    ended: list[int] = []
    found = fyke.spark.sweep(
        product,
        {"x": [1, 2.5], "s": ["", "\U0001f600"]},
        seeds=[7, -1, 2**62],
        session=spark,
        progress=lambda done, total: told.append((done, total)),
        finished=ended.extend,
    )
    assert found.columns == ["run", "x", "s", "seed", "product", "name", "error"]
    rows = [tuple(row) for row in found.collect()]
    right = [(x, s, seed) for x in (1, 2.5) for s in ("", "\U0001f600") for seed in (7, -1, 2**62)]
    assert [row[1:4] for row in rows] == right
    assert [row[0] for row in rows] == list(range(12))
    assert all(row[4:] == (float(row[1] * row[3]), f"{row[2]}-{row[3]}", None) for row in rows)
    assert told[-1] == (12, 12) and told == sorted(told) and len(told) == 12
    assert sorted(ended) == list(range(12))
    assert found.collect() == found.collect()


def test_many_runs_are_few_tasks(spark: SparkSession) -> None:
    found = fyke.spark.sweep(lambda p, seed: {"y": seed % p["m"]}, {"m": [3]}, seeds=200)
    assert [row["y"] for row in found.collect()] == [seed % 3 for seed in range(200)]


def test_runs_begin_in_order(spark: SparkSession) -> None:
    def begins(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
        began = time.time()
        time.sleep(0.05)
        return {"began": began}

    rows = fyke.spark.sweep(begins, {}, seeds=60, session=spark).collect()
    order = sorted(range(60), key=lambda run: rows[run]["began"])
    assert max(abs(place - run) for place, run in enumerate(order)) < 8


def test_several_rows_of_a_run(spark: SparkSession) -> None:
    def rows(parameters: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        return [{"step": step, "v": np.float64(step) / 2} for step in range(seed)]

    found = fyke.spark.sweep(rows, [{"x": None}], seeds=4, session=spark).collect()
    assert [(row["run"], row["step"], row["v"]) for row in found] == [
        (seed, step, step / 2) for seed in range(4) for step in range(seed)
    ]


def fails(parameters: dict[str, Any], seed: int) -> Any:
    results: dict[int, Any] = {
        0: {"v": None, "w": True}, 1: {"v": 1}, 2: {"v": "text"}, 3: {"v": [1]}, 4: 5,
        5: {"seed": 1}, 6: {"x": 1}, 7: {"v": 2**63}, 8: {"v": 2**53 + 1}, 9: {"v": 0.5},
    }  # fmt: skip
    if seed == 10:
        raise ValueError("a reason")
    return results[seed]


def test_a_run_that_fails_is_a_row(spark: SparkSession) -> None:
    found = fyke.spark.sweep(fails, {"x": ["a"]}, seeds=11, session=spark).collect()
    assert [row["seed"] for row in found] == list(range(11))
    assert {row["seed"] for row in found if row["error"] is None} == {0, 1, 8, 9}
    assert [found[seed]["v"] for seed in (0, 1, 9)] == [None, 1.0, 0.5]
    assert found[0]["w"] is True and found[1]["w"] is None
    reasons = {2: "'v' is 'text'", 3: "expected a scalar", 4: "returned 5", 5: "'seed'"}
    reasons |= {6: "'x'", 7: "'v'", 10: "ValueError: a reason"}
    for seed, reason in reasons.items():
        assert reason in found[seed]["error"]


def test_a_declared_schema(spark: SparkSession) -> None:
    found = fyke.spark.sweep(fails, {"x": ["a"]}, [0, 1, 9], session=spark, schema="v long")
    rows = found.collect()
    assert found.schema["v"].dataType.simpleString() == "bigint"
    assert [(row["v"], row["error"] is None) for row in rows] == [
        (None, False), (1, True), (None, False),
    ]  # fmt: skip
    for wrong in ("v", "v array<long>", "seed long"):
        with pytest.raises(FykeError, match="schema"):
            fyke.spark.sweep(fails, {"x": ["a"]}, session=spark, schema=wrong)


def test_a_run_that_kills_its_worker(spark: SparkSession) -> None:
    def dies(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
        if seed == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"y": seed}

    found = fyke.spark.sweep(dies, {}, seeds=40, session=spark).collect()
    assert [row["y"] for row in found] == [None if seed == 5 else seed for seed in range(40)]
    assert "the worker ended" in found[5]["error"]


def test_no_runs(spark: SparkSession) -> None:
    assert fyke.spark.sweep(product, {"x": []}, session=spark).collect() == []
    assert fyke.spark.sweep(product, {"x": [1]}, seeds=0, session=spark).collect() == []


@pytest.mark.parametrize(
    "grid",
    [{"x": 5}, {"x": "abc"}, {"x": [[1]]}, {"seed": [1]}, {"run": [1]}, {3: [1]}, {"x": [2**63]},
     {"x": [1, "a"]}, [{"x": 1}, {"y": 1}], 5, [5]],
)  # fmt: skip
def test_wrong_grids(spark: SparkSession, grid: Any) -> None:
    with pytest.raises(FykeError, match=r"expected|parameters"):
        fyke.spark.sweep(product, grid, session=spark)


def test_wrong_seeds_and_functions(spark: SparkSession) -> None:
    for seeds in ([1.5], [True], [2**63], None):
        with pytest.raises(FykeError, match="seeds"):
            fyke.spark.sweep(product, {}, seeds, session=spark)  # type: ignore[arg-type]
    with pytest.raises(FykeError, match="cannot be called"):
        fyke.spark.sweep(5, {}, session=spark)  # type: ignore[arg-type]
