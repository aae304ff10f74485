"""Plots and the report page, of a small paper made up here."""

from __future__ import annotations

import re
from dataclasses import replace

from fyke.experiments import plots, report
from fyke.experiments.experiment import Axis, Claim, Figure, Finding, Panel, Paper
from fyke.experiments.origin import Origin
from fyke.experiments.outcome import Judged, Reproduction, Run
from fyke.experiments.papers import paper
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
        *(
            Panel(title, Axis("x", "brokers"), Axis("y", "messages", low="l", high="h"), ("p",))
            for title in ("(d)", "(e)")
        ),
    ),
)
ROWS = Table.of(
    {"s": s, "p": p, "x": x, "y": x * p, "l": 0.9 * x * p, "h": 1.2 * x * p}
    for s in ("EF", "PF \U0001f600")
    for p in (0.5, 1)
    for x in (1, 2)
)
CLAIM = Claim(
    "X-1",
    "a < b",
    "1 & 2",
    ("3",),
    lambda results: Finding("3", False, "a > b", {"steps": True, "time": False, "luck": None}),
    "Less is < 2.",
    "It was made <so>.",
)
PAPER = Paper(
    "x",
    "A title & more",
    "A summary.",
    (),
    (FIGURE,),
    (CLAIM,),
    ("A note.",),
    (("step", "a thing & another"),),
)
ORIGIN = Origin("1.2.3", "a <machine>", "2004-05-06", 77, 5_000, None)


def outcome(rows: Table) -> Reproduction:
    runs = (
        Run("study", {"n": 1}, 7, rows.rows, 0.5, None),
        Run("study", {"n": 2}, 7, (), 0, "a <"),
    )
    judged = Judged(CLAIM, CLAIM.judge({}))
    return Reproduction(
        PAPER, "small", ORIGIN, PAPER.figures, (judged,), runs, {"study": rows}, 1.0
    )


def test_a_figure_is_a_png_and_always_the_same():
    image = plots.draw(FIGURE, ROWS)
    assert image.startswith(b"\x89PNG")
    assert image == plots.draw(FIGURE, ROWS)
    assert image != plots.draw(FIGURE, ROWS.where(p=1))


def test_a_single_curve_needs_no_legend():
    panel = Panel("(a)", Axis("x", "brokers"), Axis("y", "messages"), ())
    assert plots.draw(replace(FIGURE, panels=(panel,)), ROWS).startswith(b"\x89PNG")


def test_the_page_holds_everything_and_nothing_from_outside():
    page = report.page(outcome(ROWS), {"3": plots.draw(FIGURE, ROWS)})
    assert "Load &lt;b&gt;" in page and "What is shown. What to see." in page
    assert "a &gt; b" in page and "1 &amp; 2" in page and "a &lt;" in page
    assert "A note." in page and "n=1" in page
    assert page.count("data:image/png;base64,") == 1
    assert set(re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', page)) == {"figure_3.csv"}


def test_the_page_says_on_top_what_is_counted_and_where_it_was_made():
    page = report.page(outcome(ROWS), {})
    top = page[: page.index("<nav>")]
    assert "<dt>step</dt><dd>a thing &amp; another</dd>" in top
    for fact in ("1.2.3", "a &lt;machine&gt;", "2004-05-06", "77", "5,000"):
        assert f"<b>{fact}</b>" in top
    assert "<b>1</b><span>in which steps and time disagree</span>" in top


def test_the_page_shows_both_verdicts_and_how_a_claim_is_read():
    page = report.page(outcome(ROWS), {})
    assert "<q>1 &amp; 2</q>" in page
    assert '<div class="verdict differs">differs</div>' in page
    assert "by steps: reproduced" in page and "by time: differs" in page
    assert "by luck: not comparable" in page
    assert "<b>Read as:</b> Less is &lt; 2." in page
    assert "<b>Circular:</b> It was made &lt;so&gt;." in page


def test_error_bars_are_drawn():
    without = Figure(
        *_parts(FIGURE), tuple(replace(each, y=_bare(each.y)) for each in FIGURE.panels)
    )
    assert plots.draw(FIGURE, ROWS) != plots.draw(without, ROWS)


def _parts(figure: Figure) -> tuple[str, ...]:
    return figure.id, figure.title, figure.explanation, figure.study


def _bare(axis: Axis) -> Axis:
    return replace(axis, low="", high="")


def test_curves_that_lie_on_each_other_are_told_apart():
    """A second parameter has larger, hollow markers; a legend lies beside its panel."""
    plain, dashed = plots._style(2), plots._style(2, 1)
    assert dashed["markersize"] > plain["markersize"]
    assert dashed["markerfacecolor"] == "none" != plain["markerfacecolor"]


def test_panels_of_das_have_titles_of_their_own():
    for figure in paper("das").figures:
        titles = [panel.title for panel in figure.panels]
        assert len(set(titles)) == len(titles), figure.id
    (tenth,) = paper("das").selected(["10"])
    assert not any("fixed p_e" in panel.title for panel in tenth.panels)


def test_measured_panels_of_das_have_error_bars():
    """All but a single repeat, and shares of two measured numbers."""
    for figure in paper("das").figures:
        for panel in figure.panels:
            if panel.y.column in ("events_per_s", "microseconds", "seconds_per_100k"):
                assert panel.y.low or figure.id == "stability", panel.title


def test_das_says_what_a_step_is():
    assert next(iter(paper("das").terms))[0] == "step"


def test_a_figure_without_rows():
    assert "There are no rows to draw." in report.page(outcome(Table()), {})
