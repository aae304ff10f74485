"""The four settings of section 6.2: figures 6 to 9 and Table 2.

A run registers subscriptions, counts predicates on some events, plans all prunings, and measures on
others what each pruning lets in. All numbers are counted, none is timed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fyke.experiments.experiment import Axis, Figure, Panel, Parameters, Study
from fyke.experiments.table import Row
from fyke.matching.matcher import Matcher
from fyke.pruning import PredicateStatistics, prune
from fyke.pruning.predicate_statistics import leaves_of
from fyke.workloads.auction import AuctionWorkload

if TYPE_CHECKING:
    from fyke.pruning.plan import PruningPlan

CLASSES: Final = {"class 1": (1,), "class 2": (2,), "class 3": (3,), "all": (1, 2, 3)}
SKEWED: Final = "skewed titles"
EQUAL: Final = "equal titles"
OTHER: Final = "another seed"
EVEN: Final = "signed evenly"
"""A control of class 3: signed copies are equally common in all categories."""
POINTS: Final = 40
"""A figure shows so many parts of the prunings."""
BUILT: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""After these parts of the prunings, and at the bend, the index is built and its bytes counted."""
STAIR_PARTS: Final = 100
SHARED_MIN: Final = 10
"""A predicate of so many subscriptions is shared."""
PAPER: Final = {
    "class 1": (40_000, 0.065, 0.75, 0.143, 0.009, 0.667),
    "class 2": (80_000, 0.089, 0.875, 0.133, 0.012, 0.833),
    "class 3": (30_000, 0.006, 0.525, 2.589, 0.016, 0.368),
    "all": (50_117, 0.089, 0.771, 0.29, 0.026, 0.663),
}
"""Table 2, by setting."""
COLUMNS: Final = {
    "prunings": "prunings per subscription",
    "original": "original selectivity",
    "bend": "prunings at the bend, of all",
    "relative_increase": "increase of selectivity, of the original",
    "increase": "increase of selectivity",
    "removed": "predicates removed at the bend, of all",
}
PAPER_SUBSCRIPTIONS: Final = 10_000

_SUBSCRIPTIONS: Final = {"tiny": 200, "small": 1_000, "paper": PAPER_SUBSCRIPTIONS}
_COUNTED: Final = {"tiny": 2_000, "small": 10_000, "paper": 100_000}
_EVENTS: Final = {"tiny": 2_000, "small": 10_000, "paper": 1_000_000}


def _grid(scale: str) -> list[Parameters]:
    return [
        {
            "setting": setting,
            "variant": variant,
            "subscriptions": _SUBSCRIPTIONS[scale],
            "counted": _COUNTED[scale],
            "events": _EVENTS[scale],
        }
        for setting in CLASSES
        for variant in (SKEWED, EQUAL, OTHER, *([EVEN] if setting == "class 3" else []))
    ]


def _cost(parameters: Parameters) -> float:
    steps = {"class 1": 4, "class 2": 8, "class 3": 3, "all": 5}[parameters["setting"]]
    return float(steps * parameters["subscriptions"] * (1 + parameters["events"] / 10_000))


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Plan one setting, and measure it."""
    workload = AuctionWorkload(
        seed + (parameters["variant"] == OTHER),
        classes=CLASSES[parameters["setting"]],
        typed=False,
        joint=True,
        equal_titles=parameters["variant"] == EQUAL,
        even_signed=parameters["variant"] == EVEN,
    )
    matcher = Matcher("scan")
    count = parameters["subscriptions"]
    matcher.add_many((workload.id(n), text) for n, text in enumerate(workload.texts(count)))
    counted = parameters["counted"]
    leaves = list(leaves_of(filter for _, filter in matcher.items()))
    statistics = PredicateStatistics.of(workload.columns(counted), leaves)
    plan = prune(matcher, workload.columns(parameters["events"], counted), statistics=statistics)
    rows = [*_points(plan), *_table(plan, count, parameters["setting"])]
    if parameters["variant"] == SKEWED:
        rows += _memory(plan)
    rows.append({"kind": "order", **_order(plan, statistics)})
    given = {"setting": parameters["setting"], "variant": parameters["variant"]}
    return [{**given, **row} for row in rows]


def _points(plan: PruningPlan) -> list[Row]:
    """Return both axes of the paper: predicates removed, and events that match at least one."""
    curve, rows = plan.curve, []
    for part in range(POINTS + 1):
        at = part * len(plan) // POINTS
        removed = 1 - int(curve.predicates[at]) / int(curve.predicates[0])
        for quantity, value in (
            ("predicates removed", removed),
            ("total selectivity", float(curve.fraction[at])),
        ):
            rows.append({"kind": "point", "x": part / POINTS, "quantity": quantity, "value": value})
    return rows


def _memory(plan: PruningPlan) -> list[Row]:
    """Return rows with the bytes of the compiled index, built after some of the steps."""
    rows: list[Row] = []
    curve = plan.curve
    first = 0
    for at in sorted({*(round(part * len(plan)) for part in BUILT), curve.bend()}):
        built = Matcher()
        built.add_many(plan.filters(at))
        size = sum(built.sizes().values())
        first = first or size
        removed = 1 - int(curve.predicates[at]) / int(curve.predicates[0])
        rows.append(
            {"kind": "memory", "removed": removed, "freed": 1 - size / first, "bytes": size}
        )
    return rows


def _table(plan: PruningPlan, subscriptions: int, setting: str) -> list[Row]:
    """Return Table 2, ours beside the paper's. Counts are per subscription: ours may be fewer."""
    curve = plan.curve
    bend, fraction = curve.bend(), curve.fraction
    increase = float(fraction[bend] - fraction[0])
    ours: Sequence[float] = (
        len(plan) / subscriptions,
        float(fraction[0]),
        bend / max(len(plan), 1),
        increase / max(float(fraction[0]), 1e-12),
        increase,
        1 - int(curve.predicates[bend]) / int(curve.predicates[0]),
    )
    paper = (PAPER[setting][0] / PAPER_SUBSCRIPTIONS, *PAPER[setting][1:])
    place = list(CLASSES).index(setting) + 1
    rows: list[Row] = []
    for who, numbers in (("paper", paper), ("ours", ours)):
        row = dict(zip(COLUMNS, numbers, strict=True))
        rows.append({"kind": "table", "who": who, "place": place, **row})
    rows[1]["end"] = float(fraction[-1])
    rows[1]["is_rising"] = bool((np.diff(fraction) >= 0).all())
    rows[1]["stairs"] = count_stairs(fraction, bend)
    rows[1]["abrupt"] = abruptness(fraction, bend)
    return rows


def abruptness(fraction: Any, bend: int) -> float:
    """Return the share of the rise after the bend that its steepest tenth makes.

    A straight line has 0.1, a curve of the fourth power 0.34, and one of three jumps 1.
    """
    rises = np.sort(_rises(fraction, bend))
    return float(rises[-STAIR_PARTS // 10 :].sum() / max(rises.sum(), 1e-12))


def count_stairs(fraction: Any, bend: int) -> int:
    """Return how often the curve rises steeply after the bend, with a flat part in between.

    Of a hundred parts, one is steep whose rise is at least twice the mean, and flat if it is at
    most half of it.
    """
    rises = _rises(fraction, bend)
    stairs, was_flat = 0, True
    for rise in rises.tolist():
        if rise >= 2 * rises.mean() > 0:
            stairs += was_flat
            was_flat = False
        elif rise <= rises.mean() / 2:
            was_flat = True
    return stairs


def _rises(fraction: Any, bend: int) -> Any:
    """Return the rises of the parts after the bend."""
    places = np.linspace(bend, len(fraction) - 1, STAIR_PARTS + 1).astype(int)
    return np.diff(fraction[places])


def _order(plan: PruningPlan, statistics: PredicateStatistics) -> Row:
    """Return a row about the order in which the plan drops predicates.

    `stretch` is the share of the plan that holds the middle half of the drops of a shared
    predicate, the median of all; `general_first` is above 0 if frequent predicates go first.
    """
    places: dict[Any, list[int]] = {}
    for drop in plan.drops(len(plan)):
        if not drop.dropped.children:
            places.setdefault(drop.dropped, []).append(drop.place)
    shared = {leaf: at for leaf, at in places.items() if len(at) >= SHARED_MIN}
    if not shared:
        return {"shared": 0}
    stretch = [_middle_half(at) / len(plan) for at in shared.values()]
    shares = np.array([statistics.share(leaf).value for leaf in places])
    means = np.array([np.mean(at) for at in places.values()])
    return {
        "shared": len(shared),
        "stretch": float(np.median(stretch)),
        "general_first": -_rank_correlation(shares, means),
    }


def _middle_half(places: list[int]) -> int:
    low, high = np.percentile(places, (25, 75))
    return int(high - low)


def _rank_correlation(one: Any, other: Any) -> float:
    ranks = [np.argsort(np.argsort(numbers)) for numbers in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


STUDY: Final = Study("settings", run, _grid, _cost)

# --- figures --------------------------------------------------------------------------------------

_X: Final = Axis("x", "prunings, of all that are possible")
_Y: Final = Axis("value", "share")


def _figure(number: str, setting: str, title: str, explanation: str) -> Figure:
    panels = tuple(
        Panel(variant, _X, _Y, ("quantity",), {"variant": variant}) for variant in (SKEWED, EQUAL)
    )
    where = {"kind": "point", "setting": setting}
    return Figure(number, title, explanation, "settings", panels, where)


FIGURES: Final = (
    _figure(
        "6",
        "class 1",
        "Subscription class 1: influence of pruning",
        "Predicates removed (the paper's left axis) and the fraction of events that match at least "
        "one subscription (its right axis). The fraction hardly rises until three of four prunings "
        "are done.",
    ),
    _figure(
        "7",
        "class 2",
        "Subscription class 2: influence of pruning",
        "The same for subscriptions of twelve predicates. The bend comes later, after seven of "
        "eight prunings.",
    ),
    _figure(
        "8",
        "class 3",
        "Subscription class 3: influence of pruning",
        "The same for subscriptions of little selective predicates. The bend comes earliest, and "
        "the fraction rises in steps.",
    ),
    _figure(
        "9",
        "all",
        "All classes: influence of pruning",
        "The same for a mix of the three classes. It behaves better than the mean of the three.",
    ),
    Figure(
        "table2",
        "Table 2: the four settings side by side",
        "Six numbers of each setting, the paper's and ours: 1 to 3 are the classes, 4 is the mix. "
        "Structure decides the first, the third and the last; the others depend on the data.",
        "settings",
        tuple(
            Panel(label, Axis("place", "setting"), Axis(name, label), ("who",), is_joined=False)
            for name, label in COLUMNS.items()
        ),
        {"kind": "table", "variant": SKEWED},
    ),
    Figure(
        "memory",
        "Bytes of the index",
        "The bytes of our own compiled index, built after some of the prunings, by predicates "
        "removed. What is left of ids and tables does not shrink with predicates.",
        "settings",
        (
            Panel(
                "skewed titles",
                Axis("removed", "predicates removed, of all"),
                Axis("freed", "bytes freed, of all"),
                ("setting",),
            ),
        ),
        {"kind": "memory", "variant": SKEWED},
    ),
    Figure(
        "order",
        "When shared predicates go",
        "For each setting, the stretch of the process in which the middle half of a shared "
        "predicate's subscriptions lose it (median over predicates), and how strongly general "
        "predicates go first (rank correlation).",
        "settings",
        (
            Panel(
                "stretch",
                Axis("stretch", "stretch, of all prunings"),
                Axis("general_first", "general predicates first"),
                ("setting",),
                is_joined=False,
            ),
        ),
        {"kind": "order", "variant": (SKEWED, OTHER)},
    ),
)
