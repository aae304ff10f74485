"""Reproductions as Spark sweeps: all of DAS at small scale, the real command, failing runs."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from fyke.cli.main import main
from fyke.errors import FykeError
from fyke.experiments.experiment import (
    Axis,
    Claim,
    Figure,
    Finding,
    Panel,
    Paper,
    Results,
    Study,
)
from fyke.experiments.harness import reproduce
from fyke.experiments.outcome import Outcome
from fyke.experiments.papers import paper
from fyke.experiments.table import Table

DIFFERS = {"DAS-E8.3", "DAS-E11.2", "DAS-E13.2", "DAS-E15.1", "DAS-E16.4"}
"""What the counted steps do not show, as the report explains."""
MEASURED = (
    *("touched", "evaluations", "load", "duplication", "largest_table", "busiest", "steps"),
    "efficiency",
)
NOT_COMPARABLE = {"DAS-E0", "DAS-E15.2"}
"""What only clocks and swapping machines show."""


def test_all_of_das(spark: SparkSession, tmp_path: Path) -> None:
    told: dict[str, tuple[int, int]] = {}
    das = paper("das")
    outcome = reproduce(
        das,
        tmp_path / "out",
        session=spark,
        told=lambda study, done, runs: told.update({study.name: (done, runs)}),
    )
    assert not outcome.failures
    assert set(told) == {study.name for study in das.studies}
    assert all(done == runs > 0 for done, runs in told.values())
    claims = json.loads((tmp_path / "out" / "claims.json").read_text("utf-8"))
    assert all(list(each) == ["id", "claim", "paper", "ours", "verdict", "why"] for each in claims)
    verdicts = {each["id"]: each["verdict"] for each in claims}
    assert len(verdicts) == len(claims) == len(das.claims) > 50
    found = {id: verdict for id, verdict in verdicts.items() if verdict != "reproduced"}
    assert found == dict.fromkeys(DIFFERS, "differs") | dict.fromkeys(
        NOT_COMPARABLE, "not comparable"
    )
    assert all(each["why"] for each in claims if each["verdict"] != "reproduced")
    for figure in das.figures:
        assert (tmp_path / "out" / f"figure_{figure.id}.csv").stat().st_size > 100
        assert (tmp_path / "out" / f"figure_{figure.id}.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert page.count("data:image/png") == len(das.figures)
    check_claims_can_fail(das, outcome)


def check_claims_can_fail(das: Paper, outcome: Outcome) -> None:
    """No claim that was reproduced survives when the measured numbers change places."""
    torn = {name: scrambled(rows) for name, rows in outcome.results.items()}
    for judged in outcome.claims:
        if judged.finding.holds:
            assert not judged.claim.judge(torn).holds, judged.claim.id


def scrambled(table: Table) -> Table:
    others = list(table)
    Random(1).shuffle(others)
    return Table.of(
        {**row, **{name: other[name] for name in MEASURED if name in other}}
        for row, other in zip(table, others, strict=True)
    )


def test_the_command(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "das 13"
    options = ["--figure", "13", "--scale", "small", "--out", str(out)]
    assert main(["reproduce", "das", *options]) == 0
    printed = capsys.readouterr()
    assert "DAS-E7.1" in printed.out and "report.html" in printed.out
    assert "DAS-E5" not in printed.out
    assert "figures 12, 13: 27 runs" in printed.err
    assert {path.name for path in out.iterdir()} == {
        "claims.json",
        "figure_13.csv",
        "figure_13.png",
        "report.html",
    }
    verdicts = [each["verdict"] for each in json.loads((out / "claims.json").read_text("utf-8"))]
    assert verdicts == ["reproduced"] * 6


# --- runs that fail -------------------------------------------------------------------------------


def half(parameters: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    if parameters["x"] == 3:
        raise FykeError("three is \U0001f600 too many")
    return [{"x": parameters["x"], "y": parameters["x"] / 2}]


def made_up(study: str) -> Paper:
    def judge(results: Results) -> Finding:
        values = results[study].curve("x", "y")
        return Finding(str(values), values == [0.5, 1.0])

    panel = Panel("", Axis("x", "x"), Axis("y", "y"), ("x",))
    return Paper(
        "made up",
        "T",
        "S",
        (
            Study("whole", half, lambda scale: [{"x": 1}, {"x": 2}]),
            Study("torn", half, lambda scale: [{"x": 1}, {"x": 3}]),
        ),
        tuple(Figure(id, "F", "E", name, (panel,)) for id, name in (("1", "whole"), ("2", "torn"))),
        (Claim("C", "c", "p", ("1",) if study == "whole" else ("2",), judge),),
    )


def test_a_run_that_fails_costs_its_own_claims(spark: SparkSession, tmp_path: Path) -> None:
    kept = reproduce(made_up("whole"), tmp_path, session=spark)
    assert [judged.finding.verdict for judged in kept.claims] == ["reproduced"]
    assert [run.parameters for run in kept.failures] == [{"x": 3}]
    lost = reproduce(made_up("torn"), tmp_path, session=spark)
    (judged,) = lost.claims
    assert judged.finding.verdict == "not comparable" and "too many" in judged.finding.why
    assert "too many" in (tmp_path / "report.html").read_text("utf-8")
    assert (tmp_path / "figure_2.csv").read_text() == "x,y\n1,0.5\n"
