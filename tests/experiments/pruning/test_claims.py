"""The claims of the pruning paper, judged on a tiny run and on rows that are wrong on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fyke.experiments import papers
from fyke.experiments.pruning.settings import (
    CLASSES,
    EQUAL,
    EVEN,
    SKEWED,
    abruptness,
    count_stairs,
    run,
)
from fyke.experiments.table import Table

PAPER = papers.paper("pruning")
CLAIMS = {claim.id: claim for claim in PAPER.claims}
STRUCTURAL = ["PRU-E6.1", "PRU-E1.1", "PRU-E2.1", "PRU-E3.1", "PRU-E4.1", "PRU-E5.4"]
EXACT = ["PRU-E1.2", "PRU-E1.3", "PRU-E2.2", "PRU-E2.3"]


@pytest.fixture(scope="module")
def results() -> dict[str, Table]:
    return {
        study.name: Table.of(
            row for parameters in study.grid("tiny") for row in study.run(parameters, 0)
        )
        for study in PAPER.studies
    }


def test_there_are_enough_claims_and_all_can_be_judged(results):
    assert len(CLAIMS) >= 15
    for claim in CLAIMS.values():
        assert claim.judge(results).holds is not None, claim.id


@pytest.mark.parametrize("id", STRUCTURAL)
def test_structure_holds_at_any_scale(results, id):
    assert CLAIMS[id].judge(results).holds


def test_equal_titles_bend_where_structure_says():
    """Titles are seen often enough once there are some events for each of a thousand."""
    for setting, bend, removed in (("class 1", 3 / 4, 4 / 6), ("class 2", 7 / 8, 10 / 12)):
        parameters = {"setting": setting, "variant": EQUAL}
        sizes = {"subscriptions": 200, "counted": 30_000, "events": 2_000}
        rows = run({**parameters, **sizes}, 0)
        (ours,) = [row for row in rows if row["kind"] == "table" and row["who"] == "ours"]
        assert ours["bend"] == pytest.approx(bend) and ours["removed"] == pytest.approx(removed)


HURT: dict[str, dict[str, Any]] = {
    **{key: {"setting": "class 3"} for key in ("PRU-E5.1", "PRU-E5.3", "PRU-E3.4", "PRU-E3.5")},
    "PRU-27.1": {"method": "covering"},
    "PRU-27.2": {"method": "imperfect merging"},
    "PRU-E3.6": {"setting": "class 3", "variant": EVEN},
    "PRU-21.1": {"order": "by bytes"},
    "PRU-13.1": {"known": "yesterday"},
    "PRU-E5.6": {"who": "all"},
    **{key: {"limit": 0.8} for key in ("PRU-7.1", "PRU-8.1", "PRU-F1.1", "PRU-F1.2")},
}
"""The rows that are made wrong; else those of class 1."""


@pytest.mark.parametrize(
    ("id", "change"),
    [
        ("PRU-E1.1", {"prunings": 3.99}),
        ("PRU-E1.2", {"bend": 0.7}),
        ("PRU-E5.1", {"bend": 0.9}),
        ("PRU-E5.2", {"relative_increase": 9.0}),
        ("PRU-E5.3", {"original": 0.5}),
        ("PRU-E5.4", {"is_rising": False}),
        ("PRU-E3.4", {"stairs": 1}),
        ("PRU-E3.4", {"abrupt": 0.3}),
        ("PRU-E3.6", {"stairs": 9}),
        ("PRU-E3.6", {"abrupt": 1.0}),
        ("PRU-E3.5", {"end": 0.5}),
        ("PRU-27.1", {"bytes": 1}),
        ("PRU-27.2", {"bytes": 1}),
        ("PRU-21.1", {"freed": 0.0}),
        ("PRU-13.1", {"selectivity": 1.0}),
        ("PRU-E5.6", {"predicates": 1}),
        ("PRU-E5.6", {"matches": 9e9}),
        ("PRU-7.1", {"notified": 1}),
        ("PRU-8.1", {"largest": 1.0}),
        ("PRU-F1.1", {"messages": 0.0}),
        ("PRU-F1.2", {"work": 9e9}),
        ("PRU-28.1", {"stretch": 0.9}),
        ("PRU-28.2", {"general_first": -0.5}),
        ("PRU-29.1", {"freed": 0.0}),
    ],
)
def test_wrong_rows_are_found(results, id, change):
    """A claim that holds whatever the rows say would be none."""
    hurt = HURT.get(id, {"setting": "class 1"})

    def changed(row: dict[str, Any]) -> dict[str, Any]:
        (name,) = change
        return {**row, **change} if name in row and hurt.items() <= row.items() else row

    wrong = {name: Table.of(map(changed, table)) for name, table in results.items()}
    assert CLAIMS[id].judge(wrong).holds is False


def test_stairs_are_steep_parts_with_flat_ones_in_between():
    flat, steep = [0.0] * 20, [1.0] * 5
    stairs = np.cumsum(
        [0.0, *flat, *steep, *flat, *steep, *flat, *steep, *flat, 0.0, 0.0, 0.0, 0.0]
    )
    assert count_stairs(stairs, 0) == 3
    assert count_stairs(np.linspace(0, 1, 101), 0) == 0
    assert count_stairs(np.linspace(0, 1, 101) ** 4, 0) == 1
    assert count_stairs(np.zeros(101), 0) == 0
    assert abruptness(np.linspace(0, 1, 101), 0) == pytest.approx(0.1)
    assert abruptness(np.linspace(0, 1, 101) ** 4, 0) == pytest.approx(1 - 0.9**4)
    assert abruptness(stairs, 0) > 0.6


def test_no_order_frees_more_than_the_bound(results):
    rows = results["orders"]
    for workload in rows.values("workload"):
        for part in rows.values("part"):
            found = {row["order"]: row["freed"] for row in rows.where(workload=workload, part=part)}
            assert found["bound"] >= max(found.values()) - 1e-9


def test_figures_have_rows(results):
    for figure in PAPER.figures:
        assert len(figure.rows(results)) >= 3, figure.id
    curves = results["settings"].where(kind="point", variant=SKEWED)
    assert curves.values("setting") == sorted(CLASSES)
