"""The studies of Sub-2-Sub make the rows that figures and claims need."""

from __future__ import annotations

import pytest

from fyke.experiments.experiment import SCALES
from fyke.experiments.sub2sub import PAPER, converging, overlay, unstated
from fyke.experiments.sub2sub.claims import CLAIMS
from fyke.experiments.table import Row, Table

PARAMETERS = {
    "attributes": 3,
    "interest": "power_law",
    "peers": 80,
    "cycles": 12,
    "events": 20,
    "publishers": 20,
    "sample": 2,
}


def test_a_small_overlay_makes_the_rows_of_its_claims() -> None:
    rows = converging.run(PARAMETERS, 0)
    found = Table.of(rows)
    kinds = {"cycle", "spread", "length", "hops", "load", "lorenz", "width", "widest", "join"}
    assert set(found.values("kind")) == kinds
    assert found.where(kind="cycle").curve("cycle", "rings")[-1] == 100
    results = {"overlay": found}
    judged = {claim.id: claim for claim in CLAIMS}
    for id in (
        "S2S-E1.2",
        "S2S-E2.1",
        "S2S-E6.1",
        "S2S-E6.2",
        "S2S-E6.3",
        "S2S-E6.4",
        "S2S-E5.1",
        "S2S-E5.2",
    ):
        assert judged[id].judge(results).holds, id
    lost: list[Row] = [{**row, "spam": 1, "sends_max": 4} for row in rows]
    for id in ("S2S-E6.1", "S2S-E6.2"):
        assert judged[id].judge({"overlay": Table.of(lost)}).holds is False, id


def test_figures_and_claims_name_each_other() -> None:
    known = {figure.id for figure in PAPER.figures}
    assert len(CLAIMS) >= 12
    assert all(known.issuperset(claim.figures) for claim in CLAIMS)
    assert all(study.grid(scale) for study in PAPER.studies for scale in SCALES)


def test_gini() -> None:
    assert overlay.gini([5, 5, 5]) == pytest.approx(0)
    assert overlay.gini([0, 0, 0, 9]) == pytest.approx(0.75)


def test_a_run_goes_on_while_rings_are_open() -> None:
    rows = converging.run({**PARAMETERS, "interest": "uniform", "cycles": 3}, 0)
    cycles = Table.of(rows).where(kind="cycle")
    assert cycles.column("is_late") == [False] * 3 + [True]
    ours = next(each for each in CLAIMS if each.id == "S2S-E1.1").judge({"overlay": cycles})
    assert "after 3 cycles" in ours.ours
    assert ours.holds is False
    done = cycles.keep(lambda row: row["cycle"] <= 3)
    done = Table.of([{**row, "rings": 100} for row in done])
    ours = next(each for each in CLAIMS if each.id == "S2S-E1.1").judge({"overlay": done})
    assert ours.holds


def test_views_of_other_sizes_and_of_other_seeds() -> None:
    small = {"peers": 60, "cycles": 6, "events": 20}
    grid = {each["variant"]: {**each, **small} for each in unstated.grid_of_views("tiny")}
    usual, again, near = (
        Table.of(unstated.run_views(grid[variant], 0))
        for variant in (unstated.USUAL, *list(unstated.AGAIN)[:1], "near view 10")
    )
    assert usual.curve("cycle", "rings") != again.curve("cycle", "rings")
    assert near.curve("cycle", "kilobytes")[-1] < 0.9 * usual.curve("cycle", "kilobytes")[-1]
