"""Plots and the report page, of a small paper made up here."""

from __future__ import annotations

import re

from fyke.experiments import plots, report
from fyke.experiments.experiment import Axis, Claim, Figure, Finding, Panel, Paper
from fyke.experiments.outcome import Judged, Outcome, Run
from fyke.experiments.table import Table

FIGURE = Figure(
    "3",
    "Load <b>",
    "What is shown. What to see.",
    "study",
    (
        Panel("(a)", Axis("x", "brokers"), Axis("y", "messages"), ("s",), {"p": 0.5}),
        Panel("(b)", Axis("x", "brokers"), Axis("y", "messages", is_log=True), ("s", "p")),
        Panel("(c) empty", Axis("x", "brokers"), Axis("none", "nothing"), ("s",)),
        *(Panel("(d)", Axis("x", "brokers"), Axis("y", "messages"), ("p",)),) * 2,
    ),
)
ROWS = Table.of(
    {"s": s, "p": p, "x": x, "y": x * p}
    for s in ("EF", "PF \U0001f600")
    for p in (0.5, 1)
    for x in (1, 2)
)
CLAIM = Claim("X-1", "a < b", "1 & 2", ("3",), lambda results: Finding("3", False, "a > b"))
PAPER = Paper("x", "A title & more", "A summary.", (), (FIGURE,), (CLAIM,), ("A note.",))


def outcome(rows: Table) -> Outcome:
    runs = (
        Run("study", {"n": 1}, 7, rows.rows, 0.5, None),
        Run("study", {"n": 2}, 7, (), 0, "a <"),
    )
    judged = Judged(CLAIM, CLAIM.judge({}))
    return Outcome(PAPER, "small", PAPER.figures, (judged,), runs, {"study": rows}, 1.0)


def test_a_figure_is_a_png_and_always_the_same():
    image = plots.draw(FIGURE, ROWS)
    assert image.startswith(b"\x89PNG")
    assert image == plots.draw(FIGURE, ROWS)
    assert image != plots.draw(FIGURE, ROWS.where(p=1))


def test_the_page_holds_everything_and_nothing_from_outside():
    page = report.page(outcome(ROWS), {"3": plots.draw(FIGURE, ROWS)})
    assert "Load &lt;b&gt;" in page and "What is shown. What to see." in page
    assert "a &gt; b" in page and "1 &amp; 2" in page and "a &lt;" in page
    assert "A note." in page and "n=1" in page
    assert page.count("data:image/png;base64,") == 1
    assert set(re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', page)) == {"figure_3.csv"}


def test_a_figure_without_rows():
    assert "There are no rows to draw." in report.page(outcome(Table()), {})
