"""Section 5.3, coverings: figures 14, 15 and 16. The study of section 5.1, seen by sigma."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from fyke.experiments.das.bus import MAIN
from fyke.experiments.das.judging import NAMES, Both, Curves, by_both, of_each, rows_of, said
from fyke.experiments.das.overlays import DUPLICATION, LOAD, efficiency_panels
from fyke.experiments.das.portions import FEW, by_events, by_profiles
from fyke.experiments.experiment import Axis, Claim, Figure, Finding, Panel, Results
from fyke.experiments.judges import (
    EXACT,
    Answer,
    Measure,
    Measured,
    above,
    all_of,
    counted,
    equals_closed_form,
    falls,
    finding,
    ratio_to_next,
    rises,
    steady,
)
from fyke.experiments.table import Row
from fyke.experiments.wording import listed, number

SIGMA: Final = Axis("sigma", "profiles per matching event, sigma")
FAR: Final = 2.0
"""The factor of the next from which on one is by far the best."""
MARGINAL: Final = 1.25
"""The factor of the worst up to which a difference is marginal."""
INDEPENDENT: Final = 1.1
"""The factor of the most by the least up to which values do not depend on something."""

_SOME_EVENTS: Final = rows_of("bus", varies="p_e", p_e=MAIN)
_SOME_PROFILES: Final = rows_of("bus", varies="p_p", p_p=MAIN)

# --- efficiency -----------------------------------------------------------------------------------


def _judge_far(results: Results, measure: Measure) -> Finding:
    rows = by_events(results).where(p_e=FEW)
    factors = [
        ratio_to_next(of_each(rows, measure, sigma=sigma), "PF") for sigma in rows.values("sigma")
    ]
    ours = f"PF by the next at p_e = {FEW}: {listed(factors)} for sigma = "
    return Finding(ours + listed(rows.values("sigma")), min(factors) > FAR)


def _judge_marginal(results: Results, measure: Measure) -> Finding:
    rows = by_events(results).where(p_e=1.0)
    each = {sigma: of_each(rows, measure, sigma=sigma) for sigma in rows.values("sigma")}
    apart = {s: max(one.values()) / min(one.values()) for s, one in each.items()}
    holds = all_of(steady(list(one.values()), MARGINAL) for one in each.values())
    worst = each[max(apart, key=lambda sigma: apart[sigma])]
    best = max(worst, key=lambda name: worst[name])
    why = f"An event has one owner, so that not all events are flooded; the best is {best}."
    ours = f"best by worst at p_e = 1: {listed(apart.values())} for sigma = {listed(apart)}"
    return Finding(ours, holds, why if holds is False else "")


def _judge_decrease(results: Results, measure: Measure) -> Finding:
    found = measure.curves(by_events(results), "sigma", "strategy", "p_e", p_e=MAIN)
    lost = {key: curve[0].minus(curve[-1]) for key, curve in found.items()}
    own = [lost["PF", p_e] for p_e in MAIN]
    share = [lost["PF", p_e] / found["PF", p_e][0] for p_e in MAIN]
    answers = [above(lost["PF", p_e], lost[name, p_e]) for p_e in MAIN for name in ("EF", "RN")]
    answers.append(falls(own))
    ours = (
        f"PF loses {listed(own)} {measure.unit} at p_e = {listed(MAIN)}, which are "
        f"{listed(100 * each for each in share)} %"
    )
    holds = all_of(answers)
    why = "The differences are not ordered so." if holds is False else ""
    return Finding(ours, holds, why)


def _judge_rising(results: Results, measure: Measure) -> Finding:
    found = measure.curves(by_profiles(results), "sigma", "strategy", "p_p", p_p=MAIN)
    answers: list[bool | None] = []
    for p_p in MAIN:
        gained = {name: found[name, p_p][-1].by(found[name, p_p][0]) for name in NAMES}
        answers += [rises(found[name, p_p]) for name in ("PF", "RN")]
        answers.append(above(gained["PF"], gained["RN"]))
    half = {name: found[name, 0.5][-1] / found[name, 0.5][0] for name in ("PF", "RN")}
    return Finding(f"p_p = 0.5, largest sigma by sigma = 1: {said(half)}", all_of(answers))


def _is_independent(curve: Sequence[Measured]) -> Answer:
    return steady(curve, INDEPENDENT)


def _judge_gap(results: Results, measure: Measure) -> Finding:
    rows = by_profiles(results).where(p_p=MAIN)
    gaps = {
        p_p: [
            ratio_to_next(of_each(rows, measure, sigma=sigma, p_p=p_p), "PF")
            for sigma in rows.values("sigma")
        ]
        for p_p in MAIN
    }
    ours = "; ".join(f"{listed(each)} at p_p = {p_p:g}" for p_p, each in gaps.items())
    return Finding(f"PF by the next: {ours}", all_of(map(rises, gaps.values())))


# --- load and duplication -------------------------------------------------------------------------


def _judge_constant(results: Results) -> Finding:
    found = counted("load").curves(by_events(results), "sigma", "strategy", "p_e").values()
    off = max(max(curve) - min(curve) for curve in found)
    return finding(f"changes by {number(off)} at most", off < EXACT, "It changes.")


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
    holds = all(map(falls, (*found.values(), *slopes.values())))
    ours = "; ".join(f"{name} {listed(curve)}" for name, curve in found.items())
    why = "A curve does not fall, or not less and less."
    return finding(f"p_p = 1, sigma = {listed(sigmas)}: {ours}", holds, why)


def _judge_duplication(results: Results) -> Finding:
    extra = {"PF": 3.0, "EF": 0.0, "RN": 1.0}

    def expected(row: Row) -> float:
        return 1 + extra[row["strategy"]] / float(row["sigma"])

    rows = by_events(results)
    found = {name: rows.curve("sigma", "duplication", strategy=name, p_e=0.5) for name in NAMES}
    ours = "; ".join(f"{name} {listed(curve)}" for name, curve in found.items())
    ours = f"sigma = {listed(rows.values('sigma'))}: {ours}"
    return equals_closed_form(rows, "duplication", expected, ours)


def _judge_memory(results: Results) -> Finding:
    """Judge by profiles per row: a limit on rows is reached later where profiles take fewer."""
    rows = by_events(results).where(p_e=0.5)
    found = {
        name: [
            row["profiles"] / row["largest_table"]
            for row in rows.where(strategy=name).sort("sigma")
        ]
        for name in NAMES
    }
    ours = "; ".join(f"{name} {listed(curve)}" for name, curve in found.items())
    grows = all(falls(found[name][::-1]) for name in ("PF", "RN"))
    text = f"profiles per row of the fullest broker, sigma = {listed(rows.values('sigma'))}: {ours}"
    return finding(text, grows, "Not more with every sigma.")


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
        "Network load, duplication and memory by coverings",
        "Messages per event, the number of brokers that hold a profile, and the rows of the "
        "fullest broker. At fixed p_e the load stays, at fixed p_p it falls; duplication goes "
        "towards that of event forwarding.",
        "bus",
        (
            Panel("(a) load at fixed p_e", SIGMA, LOAD, ("strategy", "p_e"),
                  {"varies": "p_e", "p_e": MAIN}),
            Panel("(b) load at fixed p_p", SIGMA, LOAD, ("strategy", "p_p"),
                  {"varies": "p_p", "p_p": MAIN}),
            Panel("(c) duplication", SIGMA, DUPLICATION, ("strategy",),
                  {"varies": "p_e", "p_e": 0.5}),
            Panel("largest table", SIGMA, Axis("largest_table", "rows of the fullest broker"),
                  ("strategy",), {"varies": "p_e", "p_e": 0.5}),
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("DAS-E8.1", "At fixed p_e all three get slower with sigma.",
          "All 3 algorithms show decreasing efficiency using more coverings, since more "
          "notifications are generated.", ("14",),
          by_both(Curves(falls, "sigma", ("strategy", "p_e"), _SOME_EVENTS)),
          f"At p_e = {listed(MAIN)}, in all and nowhere rising."),
    Claim("DAS-E8.2", "PF is by far the best where p_e is small.",
          "With small p_e PF (Fig. 14(a)) is by far the most efficient algorithm.", ("14",),
          Both(_judge_far, by_events),
          f"Small is p_e = {FEW}, by far: more than {FAR:g} times the next, for every sigma."),
    Claim("DAS-E8.3", "Where p_e is large, the differences are marginal.",
          "With a high value of p_e the differences among the algorithms are marginal (Fig. "
          "14(d)), since nearly all events have to be flooded.", ("14",),
          Both(_judge_marginal, by_events),
          f"High is p_e = 1, marginal: the best is at most {MARGINAL:g} times the worst, for every "
          "sigma."),
    Claim("DAS-E8.4", "PF loses less, the larger p_e is; EF and RN lose less than PF.",
          "As more p_e grows as less the efficiency decreases (proportion of complexity of "
          "notifications to all-over complexity). Using EF (Fig. 14(b)) and RN (Fig. 14(c)) the "
          "decrease in efficiency is lower.", ("14",), Both(_judge_decrease, by_events),
          "Decrease is read as the difference of efficiency between the least and the largest "
          "sigma; what share of it that is, is said beside it and not judged."),
    Claim("DAS-E9.1", "At fixed p_p, PF gains most with sigma, and RN less.",
          "PF (Fig. 15(a)) shows the best improvements in efficiency, since no events without "
          "matching profiles are forwarded.", ("15",), Both(_judge_rising, by_profiles),
          f"At p_p = {listed(MAIN)}."),
    Claim("DAS-E9.2", "The distance of PF to the others grows with sigma.",
          "The distance to the other algorithms grows with increasing sigma, which is contrary to "
          "the case described above.", ("15",), Both(_judge_gap, by_profiles),
          f"Distance is the efficiency of PF by that of the next; at p_p = {listed(MAIN)}."),
    Claim("DAS-E9.3", "At fixed p_p, EF does not depend on sigma.",
          "EF (Fig. 15(b)) is independent from sigma because events are forwarded to all brokers "
          "in all cases.", ("15",),
          by_both(Curves(_is_independent, "sigma", ("p_p",), _SOME_PROFILES, {"strategy": "EF"})),
          f"Independent: the most is at most {INDEPENDENT:g} times the least."),
    Claim("DAS-E10.1", "At fixed p_e the load is constant.",
          "The network load stays constant with unmodified p_e (Fig. 16(a)), since always the same "
          "number of events is forwarded", ("16",), _judge_constant, "Exactly."),
    Claim("DAS-E10.2", "At fixed p_p the load falls, and flattens.",
          "Using constant p_p (Fig. 16(b)) we can observe decreasing network load because 1 event "
          "matches multiple profiles (which decreases communication among brokers). But with "
          "growing sigma this effect becomes less important.", ("16",), _judge_flattening,
          "PF and RN at p_p = 1: each step falls, and less than the one before."),
    Claim("DAS-E10.3", "Duplication falls with sigma, PF above RN above EF, towards 1.",
          "PF shows the biggest duplication followed by RN and EF, whereas EF never distributes "
          "profiles. With lots of covering PF and RN converge to EF.", ("16",),
          _judge_duplication,
          "The closed forms are ours: PF 1 + 3/sigma, RN 1 + 1/sigma, EF 1, exactly."),
    Claim("DAS-E15.4", "Coverings raise the number of profiles that PF and RN can hold.",
          "When using coverings this value increases using PF or RN, since covered profiles are "
          "only filtered by local brokers.", ("16",), _judge_memory,
          "The limit is read as the rows of the fullest broker: how many profiles come to one of "
          "them grows with every sigma."),
)  # fmt: skip
