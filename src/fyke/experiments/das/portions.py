"""Section 5.1, the portions of matching events and profiles: figures 8, 9 and 10."""

from __future__ import annotations

from typing import Final

from fyke.experiments.das.judging import (
    NAMES,
    Both,
    Curves,
    Points,
    by_both,
    of_each,
    rows_of,
    said,
)
from fyke.experiments.das.overlays import LOAD, efficiency_panels
from fyke.experiments.experiment import Axis, Claim, Figure, Finding, Panel, Results
from fyke.experiments.judges import (
    EXACT,
    Measure,
    Measured,
    above,
    all_of,
    counted,
    equals_closed_form,
    falls,
    finding,
    is_best,
    is_between,
    ordered,
    rises,
    spread,
)
from fyke.experiments.table import Row
from fyke.experiments.wording import number, tally

P_E: Final = Axis("p_e", "portion of matching events p_e")
P_P: Final = Axis("p_p", "portion of matching profiles p_p")
FEW: Final = 0.1
"""A small portion."""
LINE: Final = 0.02
"""The relative distance from a line up to which a curve is called linear."""


by_events: Final = rows_of("bus", varies="p_e")
by_profiles: Final = rows_of("bus", varies="p_p")


# --- efficiency by p_e ----------------------------------------------------------------------------


def _judge_sensitivity(results: Results, measure: Measure) -> Finding:
    rows = by_events(results)
    found = measure.curves(rows, "p_e", "strategy", "sigma")
    answers, texts = [], []
    for sigma in rows.values("sigma"):
        lost = {name: found[name, sigma][0].by(found[name, sigma][-1]) for name in NAMES}
        answers.append(ordered(lost, "PF", "RN", "EF"))
        texts.append(f"sigma = {sigma}: {said(lost)}")
    return Finding(f"p_e = 0 by p_e = 1, {'; '.join(texts)}", all_of(answers))


_INVERSE: Final = (
    "Work is linear in p_e; efficiency is its inverse, which shows where notifications are a large "
    "part of it."
)


def _judge_linear(results: Results, measure: Measure) -> Finding:
    found = measure.curves(by_events(results), "p_e", "sigma", strategy="EF")
    x = by_events(results).values("p_e")
    bends = {key[0]: bend(x, curve) for key, curve in found.items()}
    noise = max(each.high / each.low - 1 for curve in found.values() for each in curve)
    worst = max(bends.values())
    holds = True if worst <= LINE else None if worst <= LINE + noise else False
    texts = [f"{number(100 * off)} % for sigma = {sigma}" for sigma, off in bends.items()]
    return Finding(f"off a line: {', '.join(texts)}", holds, _INVERSE if holds is False else "")


def bend(x: list[float], y: list[Measured]) -> float:
    """Return how far a curve is from the line between its ends, at most and relatively."""
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    return float(max(abs(b / (y[0] + slope * (a - x[0])) - 1) for a, b in zip(x, y, strict=True)))


# --- efficiency by p_p ----------------------------------------------------------------------------


_AS_MANY: Final = (
    "At fixed p_p flooding takes as many filterings, messages and notifications for every sigma. "
    "Section 5.3 of the paper itself calls EF independent of it."
)


def _judge_steady(results: Results, measure: Measure) -> Finding:
    rows = by_profiles(results)
    found: dict[str, Measured] = {}
    for name in NAMES:
        values = [measure.value(row) for row in rows.where(strategy=name)]
        found[name] = max(values).by(min(values))
    ours = f"most by least over all p_p and sigma: {said(found)}"
    return Finding(ours, all_of(above(found[name], found["EF"]) for name in ("PF", "RN")))


# --- load -----------------------------------------------------------------------------------------


def _closed(name: str, base: float, slope: float, text: str, paper: str) -> Claim:
    def expected(row: Row) -> float:
        return base + slope * float(row["p_e"])

    def judge(results: Results) -> Finding:
        rows = results["bus"].where(strategy=name)
        sample = rows.one("load", varies="p_e", sigma=1, p_e=0.5)
        return equals_closed_form(rows, "load", expected, f"{number(sample)} at p_e = 0.5")

    form = f"{base:g}" if not slope else f"{f'{base:g} + ' if base else ''}{slope:g} p_e"
    rule = (
        f"The closed form for four brokers in a line is ours: {form} messages per event, exactly."
    )
    return Claim(f"DAS-E5.{NAMES.index(name) + 1}", text, paper, ("10",), judge, rule)


def _judge_load_order(results: Results) -> Finding:
    rows = by_events(results)
    each = [
        of_each(rows, counted("load"), p_e=p_e, sigma=sigma)
        for p_e in rows.values("p_e")
        for sigma in rows.values("sigma")
    ]
    spreads = [
        max(curve) - min(curve)
        for curve in counted("load").curves(rows, "sigma", "strategy", "p_e").values()
    ]
    answers = [ordered(one, "EF", "RN", "PF") for one in each]
    holds = all(answers) and max(spreads) < EXACT
    ours = f"EF > RN > PF {tally(answers)}; sigma changes it by {number(max(spreads))}"
    return finding(ours, holds, "Not at all points.")


def _judge_load_sigma(results: Results) -> Finding:
    rows = by_profiles(results)
    falling = [
        curve
        for name in ("PF", "RN")
        for curve in counted("load").curves(rows, "sigma", "p_p", strategy=name).values()
    ]
    flat = rows.where(strategy="EF").column("load")
    ends = {
        name: rows.curve("sigma", "load", strategy=name, p_p=1.0)[-1] for name in ("PF", "RN", "EF")
    }
    holds = all(map(falls, falling)) and spread(flat) - 1 < EXACT
    why = "A curve of PF or RN does not fall, or that of EF changes."
    return finding(f"p_p = 1 and the largest sigma: {said(ends)}", holds, why)


# --- what there is --------------------------------------------------------------------------------

FIGURES: Final = (
    Figure(
        "8",
        "Efficiency by the portion of matching events",
        "Four brokers in a line, 50,000 profiles each (500 at small scale); sigma profiles match "
        "an event that matches. All get slower with p_e: profile forwarding is fastest where "
        "little matches and most sensitive, event forwarding hardly changes.",
        "bus",
        efficiency_panels(P_E, "sigma", (1, 5), varies="p_e"),
        {"varies": "p_e"},
    ),
    Figure(
        "9",
        "Efficiency by the portion of matching profiles",
        "The same brokers, with as many notifications for every sigma. The more profiles match one "
        "event, the fewer events have to travel, which profile forwarding uses most.",
        "bus",
        efficiency_panels(P_P, "sigma", (1, 5), varies="p_p"),
        {"varies": "p_p"},
    ),
    Figure(
        "10",
        "Network load by the portions of matching events and profiles",
        "Messages with events between brokers, for each event that is published. Event forwarding "
        "always takes three; the others grow with p_e, and fall with sigma where p_p is the same. "
        "In (a) the curves of one algorithm lie on each other.",
        "bus",
        (
            Panel("(a) by p_e, for two sigmas", P_E, LOAD, ("strategy", "sigma"),
                  {"varies": "p_e", "sigma": (1, 5)}),
            Panel("(b) by p_p, for two sigmas", P_P, LOAD, ("strategy", "sigma"),
                  {"varies": "p_p", "sigma": (1, 5)}),
        ),
    ),
)  # fmt: skip

_ALL: Final = "At all p_p and sigma."
CLAIMS: Final = (
    Claim("DAS-E3.1", "The efficiency of all three falls with p_e.",
          "With increasing p_e and p_p we expect less efficiency using each of the algorithms.",
          ("8",), by_both(Curves(falls, "p_e", ("strategy", "sigma"), by_events)),
          "For every sigma, in all and nowhere rising."),
    Claim("DAS-E3.2", "PF is the most efficient where p_e is small.",
          "PF (Fig. 8(a)) is very efficient in case of small p_e.", ("8",),
          by_both(Points(is_best, ("PF",), ("sigma",), rows_of("bus", varies="p_e", p_e=FEW))),
          "Small is p_e = 0.1; very efficient: more than the others, for every sigma."),
    Claim("DAS-E3.3", "PF is the most sensitive to p_e, RN less, EF least.",
          "RN (Fig. 8(c)) are more influenced than EF, but less influenced than PF in case of "
          "increasing p_e.", ("8",), Both(_judge_sensitivity, by_events),
          "Influence is the efficiency at p_e = 0 by that at p_e = 1; for every sigma."),
    Claim("DAS-E3.4", "The efficiency of EF falls linearly.",
          "Here only the number of notifications increases, which is resulting in a linear "
          "efficiency decrease.", ("8",), Both(_judge_linear, by_events),
          f"Linear is at most {100 * LINE:g} % off the line between its ends, for every sigma; a "
          "measured curve may be off by the range of its repeats besides."),
    Claim("DAS-E4.1", "PF is the most efficient.",
          "Here PF (Fig. 9(a)) shows the best efficiency again.", ("9",),
          by_both(Points(is_best, ("PF",), ("p_p", "sigma"), by_profiles)), _ALL),
    Claim("DAS-E4.2", "At fixed p_p, PF improves with sigma.",
          "But with increasing sigma the efficiency becomes better, since less post-filtering is "
          "needed and the number of notifications stays constant.", ("9",),
          by_both(Curves(rises, "sigma", ("p_p",), by_profiles, {"strategy": "PF"})),
          "For every p_p, in all and nowhere falling."),
    Claim("DAS-E4.3", "EF changes less than the others.",
          "Again EF (Fig. 9(b)) shows less changing.", ("9",), Both(_judge_steady, by_profiles),
          "Change is the greatest efficiency by the least over all p_p and sigma."),
    Claim("DAS-E4.4", "RN lies between EF and PF.",
          "RN (Fig. 9(c)) lie between EF and PF because of the same reason described above "
          "(forwarding to rendezvous nodes in all cases).", ("9",),
          by_both(Points(is_between, ("RN",), ("p_p", "sigma"), by_profiles)), _ALL),
    Claim("DAS-E4.5", "At fixed p_p, EF improves with sigma.",
          "The improvement can be explained with the earlier reject of non-matching events in case "
          "of increasing sigma.", ("9",),
          by_both(Curves(rises, "sigma", ("p_p",), by_profiles, {"strategy": "EF"}, _AS_MANY)),
          "For every p_p, in all and nowhere falling."),
    _closed("PF", 0.0, 1.25, "The load of PF is that of matching events alone.",
            "The least load shows PF, since only matching events are forwarded."),
    _closed("EF", 3.0, 0.0, "The load of EF is that of flooding, whatever matches.",
            "For EF we expect the maximum network load regardless of p_p and p_e."),
    _closed("RN", 1.0, 0.625, "The load of RN is the way to the rendezvous node, and less than EF.",
            "RN forward all events to the rendezvous node implying less network load."),
    Claim("DAS-E5.4", "At fixed p_e the load does not depend on sigma, and EF > RN > PF.",
          "With constant p_e the utilisation of events sigma does not influence the network load "
          "(Fig. 10(a)).", ("10",), _judge_load_order, "At all p_e and sigma, exactly."),
    Claim("DAS-E5.5", "At fixed p_p the load of PF and RN falls with sigma; EF is constant.",
          "When using constant p_p the network load is influenced by sigma (except using EF with "
          "the flooding of events in all cases). Increasing sigma results in decreasing network "
          "load, since less events notify the same number of profiles.", ("10",),
          _judge_load_sigma, "For every p_p, at each step of sigma."),
)  # fmt: skip
