"""The paper's claims about its four settings, judged by the rows of `settings`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from fyke.experiments.experiment import Claim, Finding, Results
from fyke.experiments.pruning.settings import CLASSES, EQUAL, EVEN, OTHER, PAPER, POINTS, SKEWED
from fyke.experiments.table import Row, Table

PRUNINGS: Final = {"class 1": 4, "class 2": 8, "class 3": 3}
NEAR: Final = 0.05
"""Two positions of a bend are near each other up to so much."""
ALIKE: Final = 0.15
"""Two curves, each stretched to rise from 0 to 1, are alike if they are nowhere further apart."""
STAIRS: Final = 2
"""Steep parts with flat ones in between, of a curve that rises in steps."""
ABRUPT: Final = 0.5
"""The share of its rise that the steepest tenth of such a curve makes."""
SMALL: Final = 0.5
"""An increase of the selectivity by less than this part of it is small beside that of class 3."""


def _ours(results: Results, setting: str, variant: str = SKEWED) -> Row:
    return (
        results["settings"]
        .where(kind="table", who="ours", setting=setting, variant=variant)
        .rows[0]
    )


def _each(results: Results, column: str, variant: str = SKEWED) -> dict[str, float]:
    return {setting: _ours(results, setting, variant)[column] for setting in CLASSES}


def _said(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} {number:.3g}" for name, number in numbers.items())


def _curve(results: Results, setting: str, variant: str, quantity: str) -> list[float]:
    rows: Table = results["settings"].where(
        kind="point", setting=setting, variant=variant, quantity=quantity
    )
    found: list[float] = rows.curve("x", "value")
    return found


_DATA: Final = (
    "Where this bends depends on the shares of categories and of signed copies, which are not "
    "published (PRU-Q7)."
)


# --- judges ---------------------------------------------------------------------------------------


def _prunings(setting: str) -> Callable[[Results], Finding]:
    def judge(results: Results) -> Finding:
        ours = _ours(results, setting)["prunings"]
        return Finding(f"{ours:g} per subscription", ours == PRUNINGS[setting])

    return judge


def _prunings_of_the_mix(results: Results) -> Finding:
    ours = _ours(results, "all")["prunings"]
    return Finding(f"{ours:.4f} per subscription", abs(ours - 5) <= 0.2)


def _at(setting: str, column: str, within: float) -> Callable[[Results], Finding]:
    """Judge a number at the bend: with equal titles, where structure decides; skewed is said."""
    paper = PAPER[setting][{"bend": 2, "removed": 5}[column]]

    def judge(results: Results) -> Finding:
        equal = _ours(results, setting, EQUAL)[column]
        skewed = _ours(results, setting)[column]
        ours = f"{equal:.4f} with equal titles, {skewed:.4f} with skewed ones"
        holds = abs(equal - paper) <= within
        return Finding(ours, holds, "" if holds else _DATA)

    return judge


def _bends_in_order(results: Results) -> Finding:
    bends = _each(results, "bend")
    return Finding(_said(bends), bends["class 2"] > bends["class 1"] > bends["class 3"])


def _small_increase(results: Results) -> Finding:
    equal = _each(results, "relative_increase", EQUAL)
    skewed = _each(results, "relative_increase")
    holds = max(equal["class 1"], equal["class 2"]) <= SMALL * equal["class 3"]
    why = (
        "The size of the increase depends on how many different titles are subscribed to; the "
        "paper's sampling of titles is not published."
    )
    return Finding(f"equal titles: {_said(equal)}; skewed: {_said(skewed)}", holds, why)


def _original(results: Results) -> Finding:
    ours = _each(results, "original")
    holds = ours["class 3"] < min(ours["class 1"], ours["class 2"])
    return Finding(_said(ours), holds, "Absolute selectivities depend on the unpublished data.")


def _better_than_expected(results: Results) -> Finding:
    removed = _each(results, "removed")
    classes = ("class 1", "class 2", "class 3")
    increases = _each(results, "relative_increase")
    mean = sum(increases[name] for name in classes) / 3
    ours = (
        f"increase {increases['all']:.3g}, mean of the classes {mean:.3g}; predicates removed "
        f"{removed['all']:.3g}, mean {sum(removed[name] for name in classes) / 3:.3g}"
    )
    return Finding(ours, increases["all"] < mean)


def _in_steps(results: Results) -> Finding:
    found = {name: _ours(results, "class 3", name) for name in (SKEWED, EQUAL, OTHER)}
    ours = "; ".join(f"{name}: {_of_stairs(row)}" for name, row in found.items())
    holds = all(row["stairs"] >= STAIRS and row["abrupt"] >= ABRUPT for row in found.values())
    why = (
        "Which categories have many signed copies is not published, nor how many copies they have."
    )
    return Finding(ours, holds, "" if holds else why)


def _of_stairs(row: Row) -> str:
    return f"{row['stairs']} stairs, {row['abrupt']:.0%} of the rise in its steepest tenth"


def _because_of_signed(results: Results) -> Finding:
    uneven, even = (_ours(results, "class 3", name) for name in (SKEWED, EVEN))
    ours = f"uneven: {_of_stairs(uneven)}; even: {_of_stairs(even)}"
    holds = uneven["stairs"] > even["stairs"] and uneven["abrupt"] > even["abrupt"]
    why = (
        "Subscriptions of one category cost alike and go one after the other, and the first of "
        "them lets in all that the category has: categories make the steps, evenly signed or not."
    )
    return Finding(ours, holds, "" if holds else why)


def _end(results: Results) -> Finding:
    ours = _ours(results, "class 3")["end"]
    why = (
        ""
        if ours >= 0.95
        else "In part of our categories signed copies are rarer than the "
        "category, so that those trees end at `signed` (PRU-Q7)."
    )
    return Finding(f"{ours:.3f}", ours >= 0.95, why)


def _never_falls(results: Results) -> Finding:
    rising = [row["is_rising"] for row in results["settings"].where(kind="table", who="ours")]
    return Finding(f"{sum(rising)} of {len(rising)} curves never fall", all(rising))


def _memory(results: Results) -> Finding:
    least = 1.0
    for row in results["settings"].where(kind="memory", variant=SKEWED):
        if row["removed"]:
            least = min(least, row["freed"] / row["removed"])
    why = "" if least >= 1 else "Ids, and what leads to a subscription, stay: they do not shrink."
    return Finding(f"bytes freed by predicates removed, at least: {least:.2f}", least >= 1, why)


def _shared(results: Results) -> Finding:
    rows = results["settings"].where(kind="order", variant=SKEWED).keep(lambda row: row["shared"])
    stretch = {row["setting"]: row["stretch"] for row in rows}
    holds = max(stretch.values()) <= 0.25
    why = (
        "What a predicate costs depends on the rest of its subscription: on a popular title, much."
    )
    return Finding("stretch: " + _said(stretch), holds, "" if holds else why)


def _general_first(results: Results) -> Finding:
    rows = results["settings"].where(kind="order", variant=SKEWED).keep(lambda row: row["shared"])
    found = {row["setting"]: row["general_first"] for row in rows}
    return Finding("rank correlation: " + _said(found), min(found.values()) > 0)


def _alike(results: Results) -> Finding:
    apart, bends = {}, {}
    for setting in CLASSES:
        curves = []
        for variant in (SKEWED, EQUAL, OTHER):
            values = _curve(results, setting, variant, "total selectivity")
            curves.append([(v - values[0]) / max(values[-1] - values[0], 1e-12) for v in values])
        apart[setting] = max(max(each) - min(each) for each in zip(*curves, strict=True))
        found = [_ours(results, setting, variant)["bend"] for variant in (SKEWED, EQUAL, OTHER)]
        bends[setting] = max(found) - min(found)
    ours = f"furthest apart: {_said(apart)}; bends: {_said(bends)}"
    return Finding(ours, max(bends.values()) <= 2 * NEAR and max(apart.values()) <= 2 * ALIKE)


def _slopes(results: Results) -> Finding:
    slopes = {}
    for setting in ("class 1", "class 2"):
        values = _curve(results, setting, EQUAL, "predicates removed")
        rises = [after - before for before, after in pairwise(values)]
        slopes[setting] = max(rises) / min(rises)
    return Finding(
        f"steepest by flattest of {POINTS} parts: {_said(slopes)}", min(slopes.values()) > 1.5
    )


# --- claims ---------------------------------------------------------------------------------------

_NAMES: Final = {"class 1": "Class 1", "class 2": "Class 2", "class 3": "Class 3", "all": "The mix"}
_STRUCTURE: Final = "The structure of the classes was inferred from these counts (PRU-Q6)."

CLAIMS: Final = (
    *(
        Claim(
            f"PRU-E{number}.1",
            f"{setting.capitalize()} allows {PRUNINGS[setting]} prunings per subscription.",
            f"Number prunings {PAPER[setting][0]:,}",
            ("table2",),
            _prunings(setting),
            rule="Exactly, per subscription: 10,000 of them make the paper's number.",
            circular=_STRUCTURE,
        )
        for number, setting in ((1, "class 1"), (2, "class 2"), (3, "class 3"))
    ),
    Claim(
        "PRU-E4.1",
        "The mix allows about five prunings per subscription.",
        "Number prunings 50,117",
        ("table2",),
        _prunings_of_the_mix,
        rule="5, give or take 0.2.",
        circular=_STRUCTURE,
    ),
    *(
        Claim(
            f"PRU-E{number}.{2 if column == 'bend' else 3}",
            text.format(_NAMES[setting], PAPER[setting][place]),
            f"{label} {PAPER[setting][place]}",
            ("table2",),
            _at(setting, column, within),
            rule=f"Within {within}, with equally popular titles.",
        )
        for number, setting, within in (
            (1, "class 1", 0.001),
            (2, "class 2", 0.001),
            (3, "class 3", NEAR),
            (4, "all", NEAR),
        )
        for column, label, place, text in (
            ("bend", "Rel. prunings", 2, "{} bends after {:.1%} of its prunings."),
            ("removed", "Rel. predicates", 5, "{} has lost {:.1%} of its predicates by then."),
        )
    ),
    Claim(
        "PRU-E5.1",
        "The bend comes latest in class 2 and earliest in class 3.",
        "0.75, 0.875, 0.525",
        ("table2",),
        _bends_in_order,
    ),
    Claim(
        "PRU-E5.2",
        "At the bend, the selectivity of classes 1 and 2 has grown much less than that of class 3.",
        "Rel. sel. increase 0.143, 0.133, 2.589",
        ("table2",),
        _small_increase,
        rule=f"By less than {SMALL} of the increase of class 3, with equally popular titles.",
    ),
    Claim(
        "PRU-E5.3",
        "The original selectivity of class 3 is the least.",
        "Original selectivity 0.065, 0.089, 0.006",
        ("table2",),
        _original,
    ),
    Claim(
        "PRU-E4.4",
        "The mix behaves better than expected from the three classes.",
        "These results of random subscriptions behave better than expected",
        ("table2",),
        _better_than_expected,
        rule="The relative increase at the bend is less than the mean of the three classes.",
    ),
    Claim(
        "PRU-E3.4",
        "In class 3 the selectivity rises in steps.",
        "the gradient of the selectivity curve increases in steps",
        ("8", "table2"),
        _in_steps,
        rule=f"With both distributions of titles and another seed: of a hundred parts after the "
        f"bend, some are steep (twice the mean) at least {STAIRS} times, with flat ones (half the "
        f"mean) in between, and the ten steepest make at least {ABRUPT} of the rise. A straight "
        "line has no stair and 0.1, a fourth power one and 0.34.",
    ),
    Claim(
        "PRU-E3.6",
        "Signed copies that are unevenly common are the reason for these steps.",
        "the reason for this effect is the uneven distribution of signed copies among different "
        "categories of books",
        ("8", "table2"),
        _because_of_signed,
        rule="Where signed copies are equally common in all categories, there are fewer stairs, "
        "and the steepest tenth makes less of the rise.",
    ),
    Claim(
        "PRU-E3.5",
        "All prunings of class 3 lead to a selectivity of 1.",
        "A selectivity of 1.0 is reached in this case after all possible prunings",
        ("8", "table2"),
        _end,
        rule="At least 0.95.",
    ),
    Claim(
        "PRU-E5.4",
        "Every pruning leads to a more general set: the selectivity never falls.",
        "there is only one kind of pruning leading to a more general subscription",
        ("6", "7", "8", "9", "table2"),
        _never_falls,
        rule="After every single pruning, on all measured events, in all settings and variants.",
    ),
    Claim(
        "PRU-E1.4",
        "Predicates removed per pruning change their slope where whole disjunctions go.",
        "Different gradients result out of pruning different subtrees.",
        ("6", "7"),
        _slopes,
        rule="The steepest part of the curve is at least 1.5 times as steep as the flattest.",
    ),
    Claim(
        "PRU-29.1",
        "Memory of the index falls at least like the number of predicates.",
        "Analyzing the number of predicates allows us to directly derive the behavior of the total "
        "memory requirements for subscription index structures",
        ("memory",),
        _memory,
        rule="Bytes of our compiled index with ids and filters, built at six places.",
    ),
    Claim(
        "PRU-28.1",
        "A shared predicate is pruned from its subscriptions within a short time.",
        "likely to remove p_x in all subscriptions containing this predicate within a short time",
        ("order",),
        _shared,
        rule="Of predicates in ten or more subscriptions, the middle half of their prunings takes, "
        "in the median, at most a quarter of the process.",
    ),
    Claim(
        "PRU-28.2",
        "General predicates are removed before more selective ones.",
        "the general tendency of removing general before more selective predicates",
        ("order",),
        _general_first,
        rule="The rank correlation of a predicate's selectivity and its mean place is negative.",
    ),
    Claim(
        "PRU-E5.5",
        "Other data give other magnitudes, but curves that develop similarly.",
        "They resulted in other magnitudes of selectivity but similarly developing curves",
        ("6", "7", "8", "9", "table2"),
        _alike,
        rule=f"Over two title distributions and two seeds, bends lie within {2 * NEAR} and curves, "
        f"stretched to rise from 0 to 1, within {2 * ALIKE}.",
    ),
)
