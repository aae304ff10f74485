"""Section 5.3, coverings: figures 14, 15 and 16. The study of section 5.1, seen by sigma."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from fyke.experiments.das.bus import MAIN
from fyke.experiments.das.overlays import (
    DUPLICATION,
    EXACT,
    LOAD,
    NAMES,
    curves,
    efficiency_panels,
    furthest,
    of_each,
    said,
)
from fyke.experiments.das.portions import by_events, by_profiles
from fyke.experiments.das.wording import listed, number
from fyke.experiments.experiment import Axis, Claim, Figure, Finding, Panel, Results
from fyke.experiments.table import Row, is_falling, is_rising, spread

SIGMA: Final = Axis("sigma", "profiles per matching event, sigma")

# --- efficiency -----------------------------------------------------------------------------------


def _judge_falling(results: Results) -> Finding:
    found = curves(by_events(results), "sigma", "efficiency", "strategy", "p_e", p_e=MAIN)
    ends = {name: found[name, 0.5] for name in NAMES}
    ours = "; ".join(f"{name} {number(c[0])} to {number(c[-1])}" for name, c in ends.items())
    return Finding(f"p_e = 0.5: {ours}", all(map(is_falling, found.values())))


def _judge_differences(results: Results) -> Finding:
    rows = by_events(results)
    apart = {p_e: of_each(rows, "efficiency", sigma=1, p_e=p_e) for p_e in (MAIN[0], MAIN[-1])}
    factor = {p_e: each["PF"] / max(each["EF"], each["RN"]) for p_e, each in apart.items()}
    widest = {p_e: spread(list(each.values())) for p_e, each in apart.items()}
    holds = factor[MAIN[0]] > 2 and widest[MAIN[-1]] < widest[MAIN[0]]
    ours = "; ".join(
        f"p_e = {p_e:g}: PF is {number(factor[p_e])} times the next, best by worst "
        f"{number(widest[p_e])}"
        for p_e in apart
    )
    return Finding(ours, holds)


_APART: Final = (
    "Not marginal for few equal profiles: an event has one owner, so that PF sends 1.25 messages "
    "where flooding sends 3. The differences go as notifications come to dominate."
)


def _judge_marginal(results: Results) -> Finding:
    rows = by_events(results)
    widest = rows.values("sigma")[-1]
    least = spread(list(of_each(rows, "efficiency", sigma=1, p_e=1.0).values()))
    most = spread(list(of_each(rows, "efficiency", sigma=widest, p_e=1.0).values()))
    ours = f"best by worst at p_e = 1: {number(least)} for sigma = 1, {number(most)} for {widest}"
    holds = least <= 1.25
    return Finding(ours, holds, "" if holds else _APART)


def _judge_absolute(results: Results) -> Finding:
    rows = by_events(results)
    found = curves(rows, "sigma", "efficiency", "strategy", "p_e", p_e=MAIN)
    lost = {key: curve[0] - curve[-1] for key, curve in found.items()}
    own = [lost["PF", p_e] for p_e in MAIN]
    others = all(lost["PF", p_e] > lost[name, p_e] for p_e in MAIN for name in ("EF", "RN"))
    ours = f"PF loses {listed(own)} events per 1,000 steps at p_e = {listed(MAIN)}"
    return Finding(ours, is_falling(own) and others)


def _judge_rising(results: Results) -> Finding:
    found = curves(by_profiles(results), "sigma", "efficiency", "strategy", "p_p", p_p=MAIN)
    gained = {name: found[name, 0.5][-1] / found[name, 0.5][0] for name in NAMES}
    is_flat = all(spread(found["EF", p_p]) - 1 < EXACT for p_p in MAIN)
    rises = all(is_rising(found[name, p_p]) for name in ("PF", "RN") for p_p in MAIN)
    holds = is_flat and rises and gained["PF"] > gained["RN"]
    return Finding(f"p_p = 0.5, largest sigma by sigma = 1: {said(gained)}", holds)


def _judge_gap(results: Results) -> Finding:
    rows = by_profiles(results).where(p_p=0.5)
    gaps = []
    for sigma in rows.values("sigma"):
        each = of_each(rows, "efficiency", sigma=sigma)
        gaps.append(each["PF"] / max(each["EF"], each["RN"]))
    return Finding(f"PF by the next at p_p = 0.5: {listed(gaps)}", is_rising(gaps))


# --- load and duplication -------------------------------------------------------------------------


def _judge_constant(results: Results) -> Finding:
    found = curves(by_events(results), "sigma", "load", "strategy", "p_e").values()
    off = max(max(curve) - min(curve) for curve in found)
    return Finding(f"changes by {number(off)} at most", off < EXACT)


def _judge_flattening(results: Results) -> Finding:
    rows = by_profiles(results)
    sigmas = rows.values("sigma")
    found = {name: rows.curve("sigma", "load", strategy=name, p_p=1.0) for name in ("PF", "RN")}
    slopes = {
        name: [
            (before - after) / (b - a)
            for (before, after), (a, b) in zip(pairwise(curve), pairwise(sigmas), strict=True)
        ]
        for name, curve in found.items()
    }
    holds = all(map(is_falling, (*found.values(), *slopes.values())))
    ours = "; ".join(f"{name} {listed(curve)}" for name, curve in found.items())
    return Finding(f"p_p = 1, sigma = {listed(sigmas)}: {ours}", holds)


def _judge_duplication(results: Results) -> Finding:
    extra = {"PF": 3.0, "EF": 0.0, "RN": 1.0}

    def expected(row: Row) -> float:
        return 1 + extra[row["strategy"]] / float(row["sigma"])

    rows = by_events(results)
    off = furthest(rows, "duplication", expected)
    found = {name: rows.curve("sigma", "duplication", strategy=name, p_e=0.5) for name in NAMES}
    ours = "; ".join(f"{name} {listed(curve)}" for name, curve in found.items())
    return Finding(f"sigma = {listed(rows.values('sigma'))}: {ours}", off < EXACT)


# --- what there is --------------------------------------------------------------------------------

FIGURES: Final = (
    Figure(
        "14",
        "Efficiency by coverings, at fixed portions of matching events",
        "The brokers of figure 8 with sigma equal profiles at one broker, of which neighbours need "
        "to know one. More equal profiles are more notifications, so all get slower.",
        "bus",
        efficiency_panels(SIGMA, "p_e", MAIN, varies="p_e", p_e=MAIN),
        {"varies": "p_e", "p_e": MAIN},
    ),
    Figure(
        "15",
        "Efficiency by coverings, at fixed portions of matching profiles",
        "The same with as many notifications for every sigma. The same notifications come of fewer "
        "events, from which profile forwarding gains most and event forwarding nothing.",
        "bus",
        efficiency_panels(SIGMA, "p_p", MAIN, varies="p_p", p_p=MAIN),
        {"varies": "p_p", "p_p": MAIN},
    ),
    Figure(
        "16",
        "Network load and duplication by coverings",
        "Messages per event, and the number of brokers that hold a profile. At fixed p_e the load "
        "stays, at fixed p_p it falls; duplication goes towards that of event forwarding.",
        "bus",
        (
            Panel("(a) load at fixed p_e", SIGMA, LOAD, ("strategy", "p_e"),
                  {"varies": "p_e", "p_e": MAIN}),
            Panel("(b) load at fixed p_p", SIGMA, LOAD, ("strategy", "p_p"),
                  {"varies": "p_p", "p_p": MAIN}),
            Panel("(c) duplication", SIGMA, DUPLICATION, ("strategy",),
                  {"varies": "p_e", "p_e": 0.5}),
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("DAS-E8.1", "At fixed p_e all three get slower with sigma.", "in words", ("14",),
          _judge_falling),
    Claim("DAS-E8.2", "PF is by far the best where p_e is small; the differences are smaller where "
          "it is large.", "in words", ("14",), _judge_differences),
    Claim("DAS-E8.3", "Where p_e is large, the differences are marginal.", "in words", ("14",),
          _judge_marginal),
    Claim("DAS-E8.4", "PF loses less, the larger p_e is; EF and RN lose less than PF.", "in words",
          ("14",), _judge_absolute),
    Claim("DAS-E9.1", "At fixed p_p, PF gains most with sigma, RN less; EF does not depend on it.",
          "in words", ("15",), _judge_rising),
    Claim("DAS-E9.2", "The distance of PF to the others grows with sigma.", "in words", ("15",),
          _judge_gap),
    Claim("DAS-E10.1", "At fixed p_e the load is constant.", "in words", ("16",), _judge_constant),
    Claim("DAS-E10.2", "At fixed p_p it falls, and flattens.", "in words", ("16",),
          _judge_flattening),
    Claim("DAS-E10.3", "Duplication: PF 1 + 3/sigma, RN 1 + 1/sigma, EF 1.",
          "PF > RN > EF, going to 1", ("16",), _judge_duplication),
)  # fmt: skip
