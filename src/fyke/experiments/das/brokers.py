"""Section 5.2, the number of brokers: figures 12 and 13."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Final

from fyke.experiments.das.deployment import STRATEGIES, Point, network
from fyke.experiments.das.judging import STEPS, TIME, Both, Judge, of_each, rows_of
from fyke.experiments.das.overlays import DUPLICATION, LOAD, Site, grid, measured, three
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
    Measure,
    Measured,
    above,
    all_of,
    counted,
    equals_closed_form,
    finding,
    is_best,
    spread,
    steady,
)
from fyke.experiments.table import Row, Table
from fyke.experiments.wording import exactly, listed, number, tally

PORTIONS: Final = (0.1, 0.5, 1.0)
SIZES: Final = tuple(range(1, 10))
_PROFILES: Final = {"tiny": 90, "small": 900, "paper": 200_000}
RECONSTRUCTED: Final = (
    "The network of figure 11 is lost; it was reconstructed so that this sentence holds, among "
    "others."
)


def _grid(scale: str) -> list[Parameters]:
    return grid(scale, profiles=[_PROFILES[scale]], brokers=SIZES, strategy=STRATEGIES)


def run(parameters: Parameters, seed: int) -> list[Row]:
    size = parameters["brokers"]
    site = Site(network(size), {"": "B2" if size > 1 else "B1"})
    points = [Point(Fraction(str(p_p))) for p_p in PORTIONS]
    return [{"brokers": size, **row} for row in measured(parameters, seed, points, site)]


def _cost(parameters: Parameters) -> float:
    size = parameters["brokers"]
    stored = {"PF": size, "EF": 1.0, "RN": 2.0}[parameters["strategy"]]
    return float(parameters["profiles"] * stored / 1_000 + 10 * size)


STUDY: Final = Study("brokers", run, _grid, _cost)


_PARALLEL: Final = {"parallel": STEPS, "parallel_s": TIME}


def with_parallel(rows: Table) -> Table:
    """Add parallel efficiency, which the paper does not define: n brokers by n times one."""
    made: list[Row] = []
    for row in rows:
        alone = rows.where(brokers=1, strategy=row["strategy"], p_p=row["p_p"]).rows
        share: Row = {}
        for name, measure in _PARALLEL.items() if alone else ():
            found, size = measure.value(row).by(measure.value(alone[0])), row["brokers"]
            share |= {name: found / size}
            share |= {f"{name}_low": found.low / size, f"{name}_high": found.high / size}
        made.append(row | share)
    return Table.of(made)


# --- efficiency -----------------------------------------------------------------------------------

HIGH: Final = 2.0
"""The factor from which on an increase of efficiency is high."""
SMALL: Final = 1.1
"""The factor of the most by the least up to which an influence is small."""
UNCHANGED: Final = 1.25
"""The factor of the most by the least up to which values are nearly unchanged."""
DISAPPOINTING: Final = 0.5
"""A parallel efficiency below it is."""
LOW: Final = 1.25
"""The factor of the load of PF up to which a difference is low."""


def _gained(results: Results, measure: Measure, name: str) -> dict[float, Measured]:
    """Return nine brokers by one, for each p_p."""
    rows = results["brokers"].where(strategy=name)
    return {
        p_p: measure.one(rows, brokers=9, p_p=p_p).by(measure.one(rows, brokers=1, p_p=p_p))
        for p_p in PORTIONS
    }


def _said(gained: dict[float, Measured]) -> str:
    return f"nine brokers by one: {listed(gained.values())} times at p_p = {listed(gained)}"


def _judge_pf(results: Results, measure: Measure) -> Finding:
    gained = _gained(results, measure, "PF")
    return Finding(_said(gained), gained[PORTIONS[0]] >= HIGH)


def _judge_pf_less(results: Results, measure: Measure) -> Finding:
    gained = _gained(results, measure, "PF")
    smallest, *rest = gained.values()
    one = Measured.of(1.0, apart=smallest.apart)
    less = all_of(above(smallest, each) for each in rest)
    improves = all_of(above(each, one) for each in rest)
    lost = [p_p for p_p, each in gained.items() if above(each, one) is False]
    why = f"More brokers are a loss at p_p = {listed(lost)}." if lost else ""
    return Finding(_said(gained), all_of((less, improves)), why)


def _judge_ef(results: Results, measure: Measure) -> Finding:
    gained = _gained(results, measure, "EF")
    one = Measured.of(1.0, apart=gained[PORTIONS[0]].apart)
    return Finding(_said(gained), all_of(above(one, each) for each in gained.values()))


def _judge_five(results: Results, measure: Measure) -> Finding:
    rows = results["brokers"].where(strategy="EF")
    found = measure.curves(rows, "brokers", "p_p")
    slowest = [SIZES[curve.index(min(curve))] for curve in found.values()]
    busiest = rows.where(brokers=5).values("busiest")
    five = SIZES.index(5)
    answers = [
        above(each, curve[five])
        for curve in found.values()
        for at, each in enumerate(curve)
        if at != five
    ]
    if busiest != ["B2"]:
        answers.append(False)
    ours = f"slowest at {listed(slowest)} brokers; busiest of five: {', '.join(busiest)}"
    return Finding(ours, all_of(answers))


def _judge_ef_portions(results: Results, measure: Measure) -> Finding:
    rows = results["brokers"].where(strategy="EF")
    one, nine = (measure.curve(rows, "p_p", brokers=size) for size in (1, 9))
    apart = {size: max(each).by(min(each)) for size, each in ((1, one), (9, nine))}
    ours = "; ".join(f"{size}: {number(each)}" for size, each in apart.items())
    answers = steady(nine, SMALL), above(apart[1], apart[9])
    return Finding(f"most by least over p_p, by brokers: {ours}", all_of(answers))


def _judge_rn(results: Results, measure: Measure) -> Finding:
    found = measure.curves(results["brokers"], "brokers", "p_p", strategy="RN")
    whole = [max(curve) / min(curve) for curve in found.values()]
    rest = [max(curve[1:]) / min(curve[1:]) for curve in found.values()]
    ours = f"most by least of 1 to 9 brokers: {listed(whole)} at p_p = {listed(PORTIONS)}"
    holds = all_of(steady(curve, UNCHANGED) for curve in found.values())
    why = f"Of 2 to 9 brokers it is {listed(rest)}: one broker alone sends no messages."
    return Finding(ours, holds, why if holds is False else "")


def _judge_rn_partly(results: Results, measure: Measure) -> Finding:
    found = measure.curves(results["brokers"], "brokers", "p_p", strategy="RN")
    drops = {
        (before, after): [above(c[before - 1], c[after - 1]) for c in found.values()]
        for before, after in pairwise(SIZES)
    }
    where = [f"{a} to {b}" for (a, b), answers in drops.items() if True in answers]
    known = [each for answers in drops.values() for each in answers]
    holds = True if where else None if None in known else False
    return Finding(f"drops from {', '.join(where) or 'none'} brokers", holds)


def _judge_parallel(results: Results, measure: Measure) -> Finding:
    rows = results["brokers"]
    best: list[bool | None] = []
    most = 0.0
    for size in SIZES[1:]:
        for p_p in PORTIONS:
            alone = of_each(rows, measure, brokers=1, p_p=p_p)
            each = of_each(rows, measure, brokers=size, p_p=p_p)
            shares = {name: value.by(alone[name]) for name, value in each.items()}
            best.append(is_best(shares, "PF"))
            if size == SIZES[-1]:
                most = max(most, max(shares.values()) / size)
    answer = all_of(best)
    ours = f"PF is the best {tally(best)}; at nine brokers {number(most)} at most"
    return Finding(ours, False if most >= DISAPPOINTING else answer)


def _judge_bottleneck(results: Results) -> Finding:
    rows = results["brokers"].where(strategy="RN").keep(lambda row: row["brokers"] > 1)
    busiest, filtered = rows.values("busiest"), rows.values("filtered")
    ours = f"busiest: {', '.join(busiest)}; it filters {listed(filtered)} times per event"
    holds = busiest == ["B2"] and spread(filtered) - 1 < EXACT
    counts = {name: rows.where(busiest=name).values("brokers") for name in busiest}
    why = "; ".join(f"{name} with {listed(each)} brokers" for name, each in counts.items())
    return finding(ours, holds, f"The busiest is {why}.")


# --- duplication and load -------------------------------------------------------------------------


def _form(name: str, column: str, expected: Callable[[Row], float]) -> Callable[[Results], Finding]:
    """Judge a column of one strategy by its closed form."""

    def judge(results: Results) -> Finding:
        rows = results["brokers"].where(strategy=name)
        ours = " ".join(map(exactly, rows.curve("brokers", column, p_p=0.5)))
        return equals_closed_form(rows, column, expected, ours)

    return judge


def _judge_duplication_rn(results: Results) -> Finding:
    found, most = (
        results["brokers"].curve("brokers", "duplication", strategy=name, p_p=0.5)
        for name in ("RN", "PF")
    )
    others = zip(found[1:], most[1:], strict=True)
    holds = max(found) < 2.5 and all(1 < own <= each for own, each in others)
    text = " ".join(map(exactly, found))
    return finding(text, holds, "Not below 2.5, or not between the others.")


def _judge_load_pf(results: Results) -> Finding:
    rows = results["brokers"].keep(lambda row: row["brokers"] > 1)
    own = rows.where(strategy="PF")
    shares = {
        size: [row["load"] / row["p_p"] for row in own.where(brokers=size)]
        for size in own.values("brokers")
    }
    loads = [
        of_each(rows, counted("load"), brokers=size, p_p=p) for size in shares for p in PORTIONS
    ]
    least = {name for each in loads for name in each if each[name] == min(each.values())}
    holds = least == {"PF"} and all(spread(each) - 1 < EXACT for each in shares.values())
    text = " ".join(exactly(each[0]) for each in shares.values())
    why = "Not the least, or not in proportion to p_p."
    return finding(f"per matching event, 2 to 9 brokers: {text}", holds, why)


def _judge_load_rn(results: Results) -> Finding:
    rows = results["brokers"].where(brokers=9)
    each = {p_p: of_each(rows, counted("load"), p_p=p_p) for p_p in PORTIONS}
    ratios = [one["RN"] / one["PF"] for one in each.values()]
    ours = f"RN by PF, nine brokers: {listed(ratios)} at p_p = {listed(PORTIONS)}"
    holds = 1 <= ratios[-1] <= LOW and ratios == sorted(ratios, reverse=True)
    return finding(ours, holds, "Not low at p_p = 1, or not lower than before.")


# --- what there is --------------------------------------------------------------------------------

_X: Final = Axis("brokers", "brokers")


def _panels() -> Iterator[Panel]:
    for parallel, measure in _PARALLEL.items():
        yield from three(_X, measure, "p_p", {})
        share = Axis(parallel, "parallel efficiency", False, f"{parallel}_low", f"{parallel}_high")
        ends = {"p_p": (PORTIONS[0], PORTIONS[-1])}
        title = f"(d) parallel efficiency, by {measure.name}"
        yield Panel(title, _X, share, ("strategy", "p_p"), ends)


FIGURES: Final = (
    Figure(
        "12",
        "Efficiency and parallel efficiency by the number of brokers",
        "200,000 unique profiles (900 at small scale) are shared by one to nine brokers of the "
        "reconstructed network of figure 11, B2 is the rendezvous node. Profile forwarding gains "
        "from brokers where little matches; by steps, event forwarding loses until B2 has all "
        "neighbours. Parallel efficiency is that of n brokers by n times that of one.",
        "brokers",
        tuple(_panels()),
        derived=with_parallel,
    ),
    Figure(
        "13",
        "Duplication and network load by the number of brokers",
        "How many brokers hold a profile, and how many messages an event takes. They behave "
        "contrarily: what profile forwarding stores more, it sends less.",
        "brokers",
        (
            Panel("(a) duplication", _X, DUPLICATION, ("strategy",), {"p_p": 0.5}),
            Panel("(b) load", _X, LOAD, ("strategy", "p_p")),
        ),
    ),
)


def _both(judge: Judge) -> Both:
    return Both(judge, rows_of("brokers"))


CLAIMS: Final = (
    Claim("DAS-E6.1", "At p_p = 0.1 more brokers make PF much faster.",
          "With p_p = 0.1 there is a high increase in efficiency when adding more brokers.",
          ("12",), _both(_judge_pf),
          f"A high increase: nine brokers are at least {HIGH:g} times as efficient as one."),
    Claim("DAS-E6.2", "More brokers make EF slower.",
          "EF shows decreasing filter efficiency when adding more brokers (Fig. 12(b)), which can "
          "be explained with the increased communication overhead.", ("12",), _both(_judge_ef),
          "Nine brokers are slower than one, for every p_p."),
    Claim("DAS-E6.3", "With many brokers p_p hardly matters for EF.",
          "Using more brokers the influence of p_p is small, since the additional overhead "
          "produced by notifications is less compared to the other communication complexity.",
          ("12",), _both(_judge_ef_portions),
          f"Small: with nine brokers the most is at most {SMALL:g} times the least over p_p, and "
          "less so than with one."),
    Claim("DAS-E6.4", "RN is nearly unchanged by more brokers.",
          "RN's efficiency (Fig. 12(c)) is nearly unchanged when adding brokers.", ("12",),
          _both(_judge_rn),
          f"Nearly unchanged: of one to nine brokers the most is at most {UNCHANGED:g} times the "
          "least, for every p_p."),
    Claim("DAS-E6.5", "Parallel efficiency is best for PF, and disappointing for all.",
          "The best results can be achieved using PF because of its efficient load distribution. "
          "Altogether these results are disappointing", ("12",), _both(_judge_parallel),
          "Parallel efficiency, which the paper does not define, is that of n brokers by n times "
          f"that of one. PF is best at all n and p_p; disappointing: below {DISAPPOINTING:g} at "
          "nine brokers."),
    Claim("DAS-E6.6", "At larger p_p, more brokers make PF faster, but less so.",
          "Adding brokers in these cases only results in less efficiency improvements (the main "
          "load is caused by notifications).", ("12",), _both(_judge_pf_less),
          "Nine brokers are faster than one at p_p = 0.5 and 1, and gain less than at 0.1."),
    Claim("DAS-E6.7", "EF is slowest with five brokers, of which B2 is the bottleneck.",
          "Using 5 brokers the efficiency is the smallest, since broker B_2, which is the system's "
          "bottleneck, is mostly loaded.", ("12",), _both(_judge_five),
          "For every p_p, all other numbers of brokers are faster; B2 has most steps.",
          RECONSTRUCTED),
    Claim("DAS-E6.8", "In places, one more broker makes RN slower.",
          "Partially the filter efficiency decreases when adding brokers.", ("12",),
          _both(_judge_rn_partly), "At one number of brokers and one p_p at least."),
    Claim("DAS-E6.9", "The rendezvous node is the bottleneck of RN, with as much filtering for any "
          "number of brokers.",
          "Here the system's bottleneck is the rendezvous node, which performs the same amount of "
          "filtering steps regardless of the network size.", ("12",), _judge_bottleneck,
          "B2 has most steps for two to nine brokers and all p_p, and filters each event once."),
    Claim("DAS-E7.1", "Duplication of PF is the number of brokers.",
          "The duplication of profiles (Fig. 13(a)) increases linearly when using PF. Since the "
          "profiles are unique, each broker stores all profiles.", ("13",),
          _form("PF", "duplication", lambda row: row["brokers"]),
          "n of n brokers, exactly."),
    Claim("DAS-E7.2", "Duplication of EF is one.", "EF shows constant values of 1.0.", ("13",),
          _form("EF", "duplication", lambda row: 1), "Exactly."),
    Claim("DAS-E7.3", "Duplication of RN lies between, below 2.5.",
          "RN lie between PF and EF with values less than 2.5.", ("13",), _judge_duplication_rn,
          "For two to nine brokers; with two, RN may equal PF.", RECONSTRUCTED),
    Claim("DAS-E7.4", "The load of EF grows by as much with each broker.",
          "EF shows a constant increase.", ("13",),
          _form("EF", "load", lambda row: row["brokers"] - 1),
          "n - 1 messages with n brokers, exactly."),
    Claim("DAS-E7.5", "The load of PF is that of matching events, and the least.",
          "PF only distributes matching events with the result of low network load.", ("13",),
          _judge_load_pf, "In proportion to p_p, exactly, and less than that of the others."),
    Claim("DAS-E7.6", "Where p_p is large, the load of RN is close to that of PF.",
          "With high values of p_p the difference in network load between RN and PF is low",
          ("13",), _judge_load_rn,
          f"High is p_p = 1, low: at most {LOW:g} times; and less than at smaller p_p. At nine "
          "brokers."),
)  # fmt: skip
