"""Section 5.2, the number of brokers: figures 12 and 13."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from fyke.experiments.das.deployment import STRATEGIES, Deployment, network
from fyke.experiments.das.overlays import (
    DUPLICATION,
    EFFICIENCY,
    ENGINE,
    EXACT,
    LOAD,
    NAMES,
    PER_SECOND,
    curves,
    furthest,
    of_each,
    said,
    three,
)
from fyke.experiments.das.wording import exactly, listed, number
from fyke.experiments.das.workload import Profiles
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
from fyke.experiments.table import Row, Table, is_rising, spread

PORTIONS: Final = (0.1, 0.5, 1.0)
SIZES: Final = tuple(range(1, 10))
RN_DUPLICATION: Final = (1.0, 1.5, 1.667, 1.75, 1.8, 2.0, 2.143, 2.25, 2.333)
DISTANCE: Final = (0.0, 0.5, 0.889, 1.125, 1.28, 1.556, 1.714, 1.938, 2.074)
"""The closed forms of the reconstructed network, by the number of brokers."""
_PARALLEL: Final = {"parallel": "efficiency", "parallel_s": "events_per_s"}


def _grid(scale: str) -> list[Parameters]:
    is_small = scale == "small"
    return [
        {
            "strategy": strategy,
            "brokers": size,
            "profiles": 90 if is_small else 200_000,
            "at_least": 1 if is_small else 2_000,
            "repeats": 1 if is_small else 3,
        }
        for size in SIZES
        for strategy in STRATEGIES
    ]


def run(parameters: Parameters, seed: int) -> list[Row]:
    strategy, size = parameters["strategy"], parameters["brokers"]
    topology = network(size)
    center = "B2" if size > 1 else "B1"
    profiles = Profiles(topology.brokers, parameters["profiles"])
    overlay = Deployment(strategy, topology, profiles, {"": center}, ENGINE)
    rows: list[Row] = []
    for p_p in PORTIONS:
        measured = overlay.measure(
            Fraction(str(p_p)),
            at_least=parameters["at_least"],
            repeats=parameters["repeats"],
            seed=seed,
        )
        rows.append({"strategy": strategy, "brokers": size, **measured})
    return rows


def _cost(parameters: Parameters) -> float:
    size = parameters["brokers"]
    stored = {"PF": size, "EF": 1.0, "RN": 2.0}[parameters["strategy"]]
    return float(parameters["profiles"] * stored / 1_000 + 10 * size)


STUDY: Final = Study("brokers", run, _grid, _cost)


def with_parallel(rows: Table) -> Table:
    """With parallel efficiency, which the paper does not define: that of n brokers by n times that
    of one.
    """
    alone = {(row["strategy"], row["p_p"]): row for row in rows.where(brokers=1)}
    made: list[Row] = []
    for row in rows:
        base = alone.get((row["strategy"], row["p_p"]), {})
        made.append({**row, **{name: _parallel(row, base, of) for name, of in _PARALLEL.items()}})
    return Table.of(made)


def _parallel(row: Row, base: Row, column: str) -> float | None:
    reached, alone = row[column], base.get(column)
    if not isinstance(reached, float) or not isinstance(alone, float):
        return None
    return reached / alone / float(row["brokers"])


# --- efficiency -----------------------------------------------------------------------------------


def _judge_pf(results: Results) -> Finding:
    found = curves(results["brokers"], "brokers", "efficiency", "p_p", strategy="PF")
    gained = [found[p_p,][-1] / found[p_p,][0] for p_p in PORTIONS]
    ours = f"nine brokers by one: {listed(gained)} times at p_p = {listed(PORTIONS)}"
    return Finding(ours, gained[0] > 2 and gained == sorted(gained, reverse=True))


def _judge_ef(results: Results) -> Finding:
    found = curves(results["brokers"], "brokers", "efficiency", "p_p", strategy="EF")
    slowest = [1 + curve.index(min(curve)) for curve in found.values()]
    busiest = results["brokers"].where(strategy="EF", brokers=5).values("busiest")
    falls = all(curve[-1] < curve[0] for curve in found.values())
    ours = f"slowest at {listed(slowest)} brokers; busiest of five: {', '.join(busiest)}"
    return Finding(ours, falls and set(slowest) == {5} and busiest == ["B2"])


def _judge_ef_portions(results: Results) -> Finding:
    rows = results["brokers"].where(strategy="EF")
    apart = {size: spread(rows.where(brokers=size).column("efficiency")) for size in (1, 9)}
    ours = "; ".join(f"{size}: {number(each)}" for size, each in apart.items())
    return Finding(f"most by least over p_p, by brokers: {ours}", apart[9] < 1.05 < apart[1])


def _judge_rn(results: Results) -> Finding:
    rows = results["brokers"].where(strategy="RN").keep(lambda row: row["brokers"] > 1)
    found = curves(rows, "brokers", "efficiency", "p_p")
    apart = [spread(found[p_p,]) for p_p in PORTIONS]
    falls = any(not is_rising(curve) for curve in found.values())
    ours = f"most by least of 2 to 9 brokers: {listed(apart)} at p_p = {listed(PORTIONS)}"
    return Finding(ours, max(apart) < 1.3 and falls)


def _judge_parallel(results: Results) -> Finding:
    rows = with_parallel(results["brokers"]).keep(lambda row: row["brokers"] > 1)
    best = True
    for size in rows.values("brokers"):
        for p_p in PORTIONS:
            each = of_each(rows, "parallel", brokers=size, p_p=p_p)
            best = best and each["PF"] == max(each.values())
    nine = of_each(rows, "parallel", brokers=9, p_p=0.1)
    below = max(rows.column("parallel")) < 1
    return Finding(f"nine brokers, p_p = 0.1: {said(nine)}", best and below)


# --- duplication and load -------------------------------------------------------------------------


def _duplicated(name: str, claimed: str, expected: tuple[float, ...]) -> Claim:
    def judge(results: Results) -> Finding:
        found = results["brokers"].curve("brokers", "duplication", strategy=name, p_p=0.5)
        holds = [exactly(each) for each in found] == [exactly(each) for each in expected]
        return Finding(" ".join(map(exactly, found)), holds)

    text = f"Duplication of {name}, for one to nine brokers: {claimed}."
    return Claim(f"DAS-E7.{NAMES.index(name) + 1}", text, claimed, ("13",), judge)


def _judge_load_ef(results: Results) -> Finding:
    rows = results["brokers"].where(strategy="EF")
    off = furthest(rows, "load", lambda row: row["brokers"] - 1)
    return Finding(f"8 at nine brokers; furthest from n - 1: {number(off)}", off < EXACT)


def _judge_load_pf(results: Results) -> Finding:
    rows = results["brokers"].where(strategy="PF")
    found = [
        exactly(row["load"] / p_p)
        for p_p in PORTIONS
        for row in rows.where(p_p=p_p).sort("brokers")
    ]
    holds = found == [exactly(each) for each in DISTANCE] * len(PORTIONS)
    return Finding("load by p_p: " + " ".join(found[: len(SIZES)]), holds)


def _judge_load_rn(results: Results) -> Finding:
    rows = results["brokers"].where(brokers=9)
    each = {p_p: of_each(rows, "load", p_p=p_p) for p_p in PORTIONS}
    ratios = [one["RN"] / one["PF"] for one in each.values()]
    ordered = all(one["EF"] > one["RN"] > one["PF"] for one in each.values())
    ours = f"RN by PF, nine brokers: {listed(ratios)} at p_p = {listed(PORTIONS)}"
    return Finding(ours, ordered and ratios == sorted(ratios, reverse=True) and ratios[-1] < 1.25)


# --- what there is --------------------------------------------------------------------------------

_X: Final = Axis("brokers", "brokers")


def _panels() -> Iterator[Panel]:
    labels = {"efficiency": EFFICIENCY, "events_per_s": PER_SECOND}
    for parallel, column in _PARALLEL.items():
        yield from three(_X, Axis(column, labels[column]), "p_p", {})
        share = Axis(parallel, "efficiency by n times that of one broker")
        ends = {"p_p": (PORTIONS[0], PORTIONS[-1])}
        yield Panel("(d) parallel efficiency", _X, share, ("strategy", "p_p"), ends)


FIGURES: Final = (
    Figure(
        "12",
        "Efficiency and parallel efficiency by the number of brokers",
        "200,000 unique profiles (90 at small scale) are shared by one to nine brokers of the "
        "reconstructed network of figure 11, B2 is the rendezvous node. Profile forwarding gains "
        "from brokers where little matches; event forwarding loses until B2 has all neighbours.",
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

CLAIMS: Final = (
    Claim("DAS-E6.1", "At p_p = 0.1 more brokers make PF much faster; less so for larger p_p.",
          "in words", ("12",), _judge_pf),
    Claim("DAS-E6.2", "More brokers make EF slower; it is slowest at five, where B2 is the "
          "bottleneck.", "5 brokers", ("12",), _judge_ef),
    Claim("DAS-E6.3", "With many brokers p_p hardly matters for EF.", "in words", ("12",),
          _judge_ef_portions),
    Claim("DAS-E6.4", "RN is nearly unchanged by more brokers, partly slower.", "in words", ("12",),
          _judge_rn),
    Claim("DAS-E6.5", "Parallel efficiency is best for PF, and disappointing for all.", "in words",
          ("12",), _judge_parallel),
    _duplicated("PF", "n", tuple(map(float, SIZES))),
    _duplicated("EF", "1.0", (1.0,) * 9),
    _duplicated("RN", "below 2.5", RN_DUPLICATION),
    Claim("DAS-E7.4", "The load of EF is n - 1.", "grows constantly", ("13",), _judge_load_ef),
    Claim("DAS-E7.5", "The load of PF is low: p_e times the mean distance of two brokers.", "low",
          ("13",), _judge_load_pf),
    Claim("DAS-E7.6", "The load of RN lies between, close to that of PF where p_p is large.",
          "in words", ("13",), _judge_load_rn),
)  # fmt: skip
