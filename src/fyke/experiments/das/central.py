"""The central filter: figures 4 and 7.

Both use the structures of the interval engine, which is the paper's: profile sets as pointer lists
or bit lists, and one node per attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from time import thread_time
from typing import Final

from fyke.events.event import Event
from fyke.experiments.das.judging import Both, Judge
from fyke.experiments.experiment import (
    Axis,
    Claim,
    Figure,
    Finding,
    Panel,
    Parameters,
    Results,
    Study,
)
from fyke.experiments.judges import (
    EXACT,
    TELLING,
    Measure,
    Measured,
    above,
    all_of,
    finding,
    rises,
    steady,
)
from fyke.experiments.table import Row, Table
from fyke.experiments.wording import listed, number
from fyke.filters.filter import conjunction
from fyke.filters.predicate import equals
from fyke.matching.engines.contract import Work
from fyke.matching.engines.interval import IntervalEngine
from fyke.matching.engines.interval_parameters import Parameters as Filing
from fyke.matching.engines.profile_set import Members, ProfileSet, intersection


def _timed(call: Callable[[], object], repeats: int, units: float, name: str) -> Row:
    """Return the median of some repeats with the least and the most of them, per unit."""
    found = []
    for _ in range(repeats):
        begin = thread_time()
        call()
        found.append((thread_time() - begin) / units)
    return {name: median(found), f"{name}_low": min(found), f"{name}_high": max(found)}


# --- figure 4: pointers or bits -------------------------------------------------------------------

SET_SIZES: Final = (1_000, 3_000, 5_000)
_FORMS: Final = {"pointers": Filing(bit_list_from=1.0), "bits": Filing(bit_list_from=0.0)}
_FEW: Final = (10_000, 100_000, 400_000)
_TOTALS: Final = {
    "tiny": _FEW,
    "small": _FEW,
    "paper": (10_000, 25_000, 50_000, 100_000, 150_000, 200_000, 300_000, 400_000, 500_000),
}
_SET_REPEATS: Final = {"tiny": 2, "small": 5, "paper": 25}
_AT_A_TIME: Final = {"tiny": 2, "small": 50, "paper": 50}
"""Intersections that are timed together: a single one is too short for the clock."""
STEADY: Final = 1.25
"""The factor of the most by the least up to which values do not depend on something."""

TOUCHED: Final = Measure("steps", "touched", "pointers or words looked at")
MICROSECONDS: Final = Measure(
    "time", "microseconds", "microseconds", TELLING, "microseconds_low", "microseconds_high"
)


def _sets_grid(scale: str) -> list[Parameters]:
    return [
        {
            "total": total,
            "size": size,
            "at_a_time": _AT_A_TIME[scale],
            "repeats": _SET_REPEATS[scale],
        }
        for total in _TOTALS[scale]
        for size in SET_SIZES
    ]


def intersect(parameters: Parameters, seed: int) -> list[Row]:
    """Intersect two sets of a size, evenly spread over all profiles.

    They share the first, the last, and half of the others.
    """
    total, size, count = parameters["total"], parameters["size"], parameters["at_a_time"]
    rows: list[Row] = []
    for form, filing in _FORMS.items():
        one = _members(total, size, 0, filing)
        other = _members(total, size, 1, filing)
        work = Work()
        intersection(one, other, work)
        touched = work.touched

        def again(one: Members = one, other: Members = other, work: Work = work) -> None:
            for _ in range(count):
                intersection(one, other, work)

        row: Row = {"form": form, "total": total, "size": size, "touched": touched}
        rows.append(row | _timed(again, parameters["repeats"], 1e-6 * count, "microseconds"))
    return rows


def _members(total: int, size: int, shift: int, filing: Filing) -> Members:
    made = ProfileSet(filing)
    for at in range(size):
        moved = shift if at and at % 2 == 0 else 0
        made.add(at * (total - 1) // (size - 1) - moved, total)
    return made.members


@dataclass(frozen=True, slots=True)
class _InBoth(Both):
    """Of figure 4: what weighs differently is a pointer and a word."""

    def _weights(self, results: Results) -> str:
        rows = self.rows(results)
        each = {
            form: median(
                1_000 * row["microseconds"] / row["touched"] for row in rows.where(form=form)
            )
            for form in _FORMS
        }
        return (
            f"A pointer takes {number(each['pointers'])} ns, a word {number(each['bits'])} ns: "
            "Python intersects words in C, pointers one by one."
        )


def _sets(results: Results) -> Table:
    return results["sets"]


def _on_sets(judge: Judge) -> Both:
    return _InBoth(judge, _sets, (TOUCHED, MICROSECONDS))


def _judge_pointers(results: Results, measure: Measure) -> Finding:
    found = measure.curves(results["sets"], "size", "total", form="pointers")
    ours = "; ".join(f"of {total:,}: {listed(curve)}" for (total,), curve in found.items())
    text = f"sets of {listed(SET_SIZES)} profiles, {ours} ({measure.unit})"
    return Finding(text, all_of(map(rises, found.values())))


def _judge_bits(results: Results, measure: Measure) -> Finding:
    rows = results["sets"]
    flat = measure.curves(rows, "size", "total", form="bits")
    grows = measure.curves(rows, "total", "size", form="bits")
    ours = "; ".join(f"of {total:,}: {listed(curve)}" for (total,), curve in flat.items())
    answers = [steady(curve, STEADY) for curve in flat.values()]
    answers += [rises(curve) for curve in grows.values()]
    return Finding(f"sets of {listed(SET_SIZES)}, {ours} ({measure.unit})", all_of(answers))


def _judge_crossing(results: Results, measure: Measure) -> Finding:
    rows = results["sets"]
    first, *_, last = rows.values("total")
    answers: list[bool | None] = []
    texts: list[str] = []
    for size in SET_SIZES:
        few, many = (_costs(rows, measure, size, total) for total in (first, last))
        answers += [above(few["pointers"], few["bits"]), above(many["bits"], many["pointers"])]
        at = crossing(rows, size, measure)
        texts.append(f"{size:,}: {'nowhere' if at is None else f'from {at:,} profiles'}")
    return Finding(f"pointers are better, for sets of {'; '.join(texts)}", all_of(answers))


def _costs(rows: Table, measure: Measure, size: int, total: int) -> dict[str, Measured]:
    return {form: measure.one(rows, form=form, size=size, total=total) for form in _FORMS}


def crossing(rows: Table, size: int, measure: Measure) -> int | None:
    """Return the least total from which on pointers are no worse than bits."""
    for total in rows.values("total"):
        cost = _costs(rows, measure, size, total)
        if cost["pointers"] <= cost["bits"]:
            return int(total)
    return None


# --- figure 7: attributes -------------------------------------------------------------------------

_SOME: Final = (1, 2, 4, 8)
_ATTRIBUTES: Final = {"tiny": _SOME, "small": _SOME, "paper": tuple(range(1, 11))}
_PORTIONS: Final = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1))
_FILTERED: Final = {"tiny": (200, 400), "small": (1_000, 2_000), "paper": (10_000, 100_000)}
"""Profiles and events."""
LATE: Final = 0.9
"""The share of refused events that fail at the last attribute only, where the order matters."""
LINEAR: Final = 0.1
"""The relative distance from a line that times may have."""

EVALUATIONS: Final = Measure("steps", "evaluations", "attributes evaluated per event")
SECONDS: Final = Measure(
    "time",
    "seconds_per_100k",
    "seconds for 100,000 events",
    TELLING,
    "seconds_per_100k_low",
    "seconds_per_100k_high",
)


def _attributes_grid(scale: str) -> list[Parameters]:
    profiles, events = _FILTERED[scale]
    return [
        {"attributes": each, "profiles": profiles, "events": events, "repeats": 3}
        for each in _ATTRIBUTES[scale]
    ]


def evaluate(parameters: Parameters, seed: int) -> list[Row]:
    """Count steps for events that match nothing, in two orders of the attributes.

    Profile i wants i of every attribute; an event fits one profile up to some attribute. With
    `failing` `evenly`, each attribute fails equally often; with `late`, mostly the last one. The
    orders are the given one, and the one that `reorder` makes of it.
    """
    count, profiles = parameters["attributes"], parameters["profiles"]
    names = [f"a{attribute}" for attribute in range(count)]
    engine = IntervalEngine()
    for slot in range(profiles):
        engine.add(slot, conjunction([equals(name, slot) for name in names]))

    def measured(events: list[Event], failing: str, p_e: Fraction) -> Row:
        engine.work.probes = 0
        matched = sum(len(engine.match(event)) for event in events)
        row: Row = {
            "attributes": count,
            "p_e": float(p_e),
            "failing": failing,
            "events": len(events),
            "matched": matched,
            "evaluations": engine.work.probes / len(events),
        }

        def again() -> None:
            for event in events:
                engine.match(event)

        units = len(events) / 100_000
        return row | _timed(again, parameters["repeats"], units, SECONDS.column)

    rows = [
        measured(_evenly(names, profiles, p_e, parameters["events"]), "evenly", p_e)
        for p_e in _PORTIONS
    ]
    late = _late(names, profiles, parameters["events"])
    engine.reorder(names)  # and forgets what it has seen
    rows.append(measured(late, "late", Fraction(0)))
    engine.reorder()
    rows.append(measured(late, "late, reordered", Fraction(0)))
    return rows


def _evenly(names: list[str], profiles: int, p_e: Fraction, at_least: int) -> list[Event]:
    unit = p_e.denominator * len(names)
    size = unit * -(-at_least // unit)
    matching = int(p_e * size)
    failing = [None if turn < matching else names[turn % len(names)] for turn in range(size)]
    return _failing(names, profiles, failing)


def _late(names: list[str], profiles: int, count: int) -> list[Event]:
    rare = round(1 / (1 - LATE))
    failing = [
        names[turn // rare % len(names)] if turn % rare == 0 else names[-1] for turn in range(count)
    ]
    return _failing(names, profiles, failing)


def _failing(names: list[str], profiles: int, failing: Iterable[str | None]) -> list[Event]:
    """Make an event per attribute that fails; None fails nowhere."""
    made = []
    for turn, name in enumerate(failing):
        document: dict[str, object] = dict.fromkeys(names, turn % profiles)
        if name is not None:
            document[name] = profiles + turn
        made.append(Event(document))
    return made


def _even(results: Results) -> Table:
    return results["attributes"].where(failing="evenly")


def _judge_half(results: Results) -> Finding:
    """Judge by the mean of 1 to n, (n + 1)/2."""
    found = _even(results).where(p_e=0.0)
    off = [abs(row["evaluations"] - (row["attributes"] + 1) / 2) for row in found]
    count = found.values("attributes")
    ours = f"of {listed(count)} attributes {listed(found.curve('attributes', 'evaluations'))}"
    holds = max(off) < EXACT
    return finding(ours, holds, "Not the mean of recognition after each.")


def _judge_linear(results: Results, measure: Measure) -> Finding:
    rows = _even(results)
    x = rows.values("attributes")
    found = measure.curves(rows, "attributes", "p_e")
    off = {p_e: _off(x, curve) for (p_e,), curve in found.items()}
    worst = max(off.values())
    limit = EXACT if measure is EVALUATIONS else LINEAR
    noise = max(each.high / each.low - 1 for curve in found.values() for each in curve)
    holds = True if worst <= limit else None if worst <= limit + noise else False
    grown = ", ".join(
        f"{number(c[-1] / c[0])} at p_e = {p:g}" for (p,), c in found.items() if p in (0, 1)
    )
    ours = (
        f"{number(100 * worst)} % off a line at most; {x[-1]} attributes by {x[0]}: {grown} times"
    )
    return Finding(
        ours, holds, "" if holds is not False else "Some attributes cost more than others."
    )


def _off(x: list[float], y: list[Measured]) -> float:
    """Return how far values are from their line of least squares, by the greatest of them."""
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum(
        (a - mean_x) ** 2 for a in x
    )
    return max(abs(b - (mean_y + slope * (a - mean_x))) for a, b in zip(x, y, strict=True)) / max(y)


def _judge_order(results: Results, measure: Measure) -> Finding:
    rows = results["attributes"].keep(lambda row: row["attributes"] > 1)
    given = measure.curve(rows, "attributes", failing="late")
    better = measure.curve(rows, "attributes", failing="late, reordered")
    ours = f"{listed(rows.values('attributes'))} attributes: {listed(given)} as given, "
    answers = [above(before, after) for before, after in zip(given, better, strict=True)]
    return Finding(f"{ours}{listed(better)} reordered ({measure.unit})", all_of(answers))


# --- what there is --------------------------------------------------------------------------------

STUDIES: Final = (
    Study("sets", intersect, _sets_grid, cost=lambda p: 1.0),
    Study("attributes", evaluate, _attributes_grid, cost=lambda p: 4e-3 * p["events"]),
)

_TOTAL: Final = Axis("total", "profiles in all")
_NUMBER: Final = Axis("attributes", "attributes")
_LATE: Final = {"failing": ("late", "late, reordered")}
FIGURES: Final = (
    Figure(
        "4",
        "Intersecting two sets of profiles",
        "Two sets of 1,000, 3,000 or 5,000 profiles are intersected, as lists of pointers and as "
        "lists of bits. Pointers cost by the size of the sets, bits by the number of all profiles, "
        "so the lines of one size cross in what is looked at.",
        "sets",
        (
            Panel("Pointers and words looked at", _TOTAL, TOUCHED.axis, ("size", "form")),
            Panel("Time", _TOTAL,
                  Axis("microseconds", "microseconds", True, MICROSECONDS.low, MICROSECONDS.high),
                  ("size", "form")),
        ),
    ),
    Figure(
        "7",
        "Filtering by the number of attributes",
        "Events are filtered against unique profiles with a condition on each of n attributes. "
        "Events that match take n evaluations; of the others each attribute refuses as many, so "
        "they take half. Below, nine of ten fail at the last attribute: once those attributes come "
        "first that refuse most, one evaluation is enough.",
        "attributes",
        (
            Panel("(a) evaluations", _NUMBER, EVALUATIONS.axis, ("p_e",), {"failing": "evenly"}),
            Panel("(b) time", _NUMBER, SECONDS.axis, ("p_e",), {"failing": "evenly"}),
            Panel("(c) evaluations, failing late", _NUMBER, EVALUATIONS.axis, ("failing",), _LATE),
            Panel("(d) time, failing late", _NUMBER, SECONDS.axis, ("failing",), _LATE),
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("DAS-E1.1", "With pointers, an intersection of larger sets costs more.",
          "If more elements exist in the set the intersection is more costly when using pointers.",
          ("4",), _on_sets(_judge_pointers),
          "For every number of profiles in all. Steps are the pointers and words that the "
          "intersection counts."),
    Claim("DAS-E1.2", "With bits, it depends on the number of all profiles alone.",
          "When using bit lists the intersection time does not depend on the number of profiles in "
          "the set (it depends on the total number of profiles).", ("4",), _on_sets(_judge_bits),
          f"It does not depend on the sets where the greatest is at most {STEADY} times the least, "
          "and depends on all where it grows with them."),
    Claim("DAS-E1.3", "Bits are better for few profiles in all, pointers for many.",
          "In the figure we see that up to a certain number of profiles in the sets a usage of "
          "pointers is less efficient. But when using large numbers of profiles pointers are more "
          "efficient than bit lists.", ("4",), _on_sets(_judge_crossing),
          "Bits cost less at the fewest, pointers at the most profiles, for sets of every size."),
    Claim("DAS-E2.1", "Events that match nothing are refused after half of the attributes.",
          "In this figure, we assume that non-matching events are recognised after the evaluation "
          "of half of the type's attributes in average (mean value of recognition after each "
          "attribute).", ("7",), _judge_half,
          "The mean of recognition after each of n attributes is (n + 1)/2, exactly.",
          "An assumption of the paper: events are dealt out so that each attribute refuses as "
          "many."),
    Claim("DAS-E2.2", "Filtering is linear in the number of attributes.",
          "But we can easily derive the behaviour of our algorithms in cases of more attributes.",
          ("7",), Both(_judge_linear, _even, (EVALUATIONS, SECONDS)),
          f"Easily derived is read as linear: evaluations are on a line, times at most "
          f"{100 * LINEAR:g} % of the greatest off their line of least squares, besides the range "
          "of their repeats; for every p_e."),
    Claim("DAS-E2.3", "Where attributes refuse unequally, another order refuses sooner.",
          "Since our algorithm can minimise the number of attributes evaluated to recognise "
          "non-matching events [11], DAS behaves even better in real scenarios.", ("7",),
          Both(_judge_order, rows=lambda results: Table(), measures=(EVALUATIONS, SECONDS)),
          f"A real scenario is one in which {100 * LATE:g} % of the events fail at the last "
          "attribute; less than in the given order, for every number of attributes above one."),
)  # fmt: skip
