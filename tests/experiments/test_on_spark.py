"""Reproductions as Spark sweeps: all of DAS at a glance, the real command, failing runs."""

from __future__ import annotations

import csv
import json
import platform
from importlib.metadata import version
from pathlib import Path
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
from fyke.experiments.papers import paper

DIFFERS = {
    *("DAS-E3.4", "DAS-E4.5", "DAS-E6.4", "DAS-E6.6", "DAS-E8.3", "DAS-E11.2", "DAS-E11.6"),
    *("DAS-E13.2", "DAS-E15.1", "DAS-E16.4", "DAS-T1.4"),
}
"""What the counted steps do not show, as the report explains. Times are this machine's."""
NOT_COMPARABLE = {"DAS-E11.1", "DAS-E11.3", "DAS-E15.2"}
"""What only clocks and swapping machines show."""
VERDICTS = {"reproduced", "differs", "not comparable"}


@pytest.mark.long
def test_all_of_das(spark: SparkSession, tmp_path: Path) -> None:
    told: dict[str, tuple[int, int]] = {}
    das = paper("das")
    outcome = reproduce(
        das,
        tmp_path / "out",
        scale="tiny",
        seed=3,
        session=spark,
        told=lambda study, done, runs: told.update({study.name: (done, runs)}),
    )
    assert not outcome.failures
    assert set(told) == {study.name for study in das.studies}
    assert all(done == runs > 0 for done, runs in told.values())
    claims = json.loads((tmp_path / "out" / "claims.json").read_text("utf-8"))
    keys = ["id", "claim", "paper", "ours", "verdict", "why", "by", "rule", "circular"]
    assert all(list(each) == keys for each in claims)
    counted = {
        each["id"]: each["by"].get("steps", each["verdict"])
        for each in claims
        if each["id"] != "DAS-E0"
    }
    assert len(counted) + 1 == len(claims) == len(das.claims) > 70
    found = {id: verdict for id, verdict in counted.items() if verdict != "reproduced"}
    assert found == dict.fromkeys(DIFFERS, "differs") | dict.fromkeys(
        NOT_COMPARABLE, "not comparable"
    )
    assert all(each["why"] for each in claims if each["verdict"] != "reproduced")
    for each in claims:
        assert set(each["by"]) in (set(), {"time"}, {"steps", "time"})
        assert {each["verdict"], *each["by"].values()} <= VERDICTS
    assert {run.seed for run in outcome.runs} == {3}
    for figure in das.figures:
        with (tmp_path / "out" / f"figure_{figure.id}.csv").open(encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        for panel in figure.panels:
            shown = (panel.x.column, panel.y.column, *panel.by)
            assert any(all(row.get(name) for name in shown) for row in rows), panel.title
        assert (tmp_path / "out" / f"figure_{figure.id}.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert page.count("data:image/png") == len(das.figures)
    top = page[: page.index("<nav>")]
    assert "<dt>step</dt>" in top and "<b>3</b>" in top and version("fyke") in top
    assert platform.python_version() in top


def test_the_command(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "das 13"
    options = ["--figure", "13", "--scale", "tiny", "--out", str(out)]
    options += ["--events", "30", "--repeats", "2", "--seed", "5"]
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
    with (out / "figure_13.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["repeats"] for row in rows} == {"2"}
    assert all(int(row["events"]) >= 30 for row in rows)
    page = (out / "report.html").read_text("utf-8")
    assert "<span>seed</span> <b>5</b>" in page and "<span>repeats</span> <b>2</b>" in page


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
