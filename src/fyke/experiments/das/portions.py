"""Section 5.1, the portions of matching events and profiles: figures 8, 9 and 10."""

from __future__ import annotations

from typing import Final

from fyke.experiments.das.overlays import (
    EXACT,
    LOAD,
    NAMES,
    curves,
    efficiency_panels,
    furthest,
    of_each,
    said,
)
from fyke.experiments.das.wording import number
from fyke.experiments.experiment import Axis, Claim, Figure, Finding, Panel, Results
from fyke.experiments.table import Row, Table, is_falling, is_rising, spread

P_E: Final = Axis("p_e", "portion of matching events p_e")
P_P: Final = Axis("p_p", "portion of matching profiles p_p")


def by_events(results: Results) -> Table:
    return results["bus"].where(varies="p_e")


def by_profiles(results: Results) -> Table:
    return results["bus"].where(varies="p_p")


# --- efficiency by p_e ----------------------------------------------------------------------------


def _judge_falling(results: Results) -> Finding:
    found = curves(by_events(results), "p_e", "efficiency", "strategy", "sigma")
    ends = {name: found[name, 1] for name in NAMES}
    ours = "; ".join(f"{name} {number(c[0])} to {number(c[-1])}" for name, c in ends.items())
    return Finding(f"sigma = 1: {ours}", all(map(is_falling, found.values())))


def _best(rows: Table, point: str) -> Finding:
    """Whether PF is the most efficient wherever two parameters are the same."""
    margins: list[float] = []
    for value in rows.values(point):
        for sigma in rows.values("sigma"):
            each = of_each(rows, "efficiency", sigma=sigma, **{point: value})
            margins.append(each["PF"] / max(each["EF"], each["RN"]))
    ours = f"PF is {number(min(margins))} to {number(max(margins))} times the next"
    return Finding(ours, min(margins) > 1)


def _lost(curve: list[float], last: int) -> float:
    """The share of efficiency that is gone at a point."""
    return 1 - curve[last] / curve[0]


def _judge_sensitivity(results: Results) -> Finding:
    found = curves(by_events(results), "p_e", "efficiency", "strategy", sigma=1)
    lost = {name: _lost(found[name,], -1) for name in NAMES}
    first = {name: _lost(found[name,], 1) for name in NAMES}
    holds = all(each["PF"] > each["RN"] > each["EF"] for each in (lost, first))
    return Finding(f"lost up to p_e = 1: {said(lost)}; up to 0.1: {said(first)}", holds)


_INVERSE: Final = (
    "Steps are linear in p_e; efficiency is their inverse, which shows where notifications are a "
    "large part of them."
)


def _judge_linear(results: Results) -> Finding:
    rows = by_events(results).where(strategy="EF")
    off = {sigma: _bend(rows.where(sigma=sigma)) for sigma in rows.values("sigma")}
    widest = max(off)
    ours = (
        f"at most {number(100 * off[1])} % off a line for sigma = 1, {number(100 * off[widest])} % "
        f"for {widest}"
    )
    return Finding(ours, off[1] < 0.02, "" if off[widest] < 0.02 else _INVERSE)


def _bend(rows: Table) -> float:
    """How far a curve is from the line between its ends, at most and relatively."""
    x, y = rows.curve("p_e", "p_e"), rows.curve("p_e", "efficiency")
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    return float(max(abs(b / (y[0] + slope * (a - x[0])) - 1) for a, b in zip(x, y, strict=True)))


# --- efficiency by p_p ----------------------------------------------------------------------------


def _judge_sigma(results: Results) -> Finding:
    found = curves(by_profiles(results), "sigma", "efficiency", "p_p", strategy="PF")
    one = found[0.5,]
    ours = f"PF at p_p = 0.5: {number(one[0])} at sigma = 1, {number(one[-1])} at the largest"
    return Finding(ours, all(map(is_rising, found.values())))


def _judge_steady(results: Results) -> Finding:
    found = {
        name: spread(by_profiles(results).where(strategy=name).column("efficiency"))
        for name in NAMES
    }
    ours = f"most by least over all p_p and sigma: {said(found)}"
    return Finding(ours, found["EF"] < 1.1 and found["EF"] == min(found.values()))


def _judge_between(results: Results) -> Finding:
    rows = by_profiles(results)
    points = [(p, s) for p in rows.values("p_p") for s in rows.values("sigma")]
    each = [of_each(rows, "efficiency", p_p=p_p, sigma=sigma) for p_p, sigma in points]
    within = sum(one["PF"] > one["RN"] > one["EF"] for one in each)
    return Finding(f"at {within} of {len(each)} points", within == len(each))


# --- load -----------------------------------------------------------------------------------------


def _closed(name: str, base: float, slope: float) -> Claim:
    def expected(row: Row) -> float:
        return base + slope * float(row["p_e"])

    def judge(results: Results) -> Finding:
        rows = results["bus"].where(strategy=name)
        off = furthest(rows, "load", expected)
        sample = rows.where(varies="p_e", sigma=1, p_e=0.5).column("load")[0]
        ours = f"{number(sample)} at p_e = 0.5; furthest from the form: {number(off)}"
        return Finding(ours, off < EXACT)

    form = f"{base:g}" if not slope else f"{f'{base:g} + ' if base else ''}{slope:g} p_e"
    text = f"The load of {name} is {form} messages per event."
    return Claim(f"DAS-E5.{NAMES.index(name) + 1}", text, form, ("10",), judge)


def _judge_load_order(results: Results) -> Finding:
    rows = by_events(results)
    each = [
        of_each(rows, "load", p_e=p_e, sigma=sigma)
        for p_e in rows.values("p_e")
        for sigma in rows.values("sigma")
    ]
    spreads = [
        max(curve) - min(curve)
        for curve in curves(rows, "sigma", "load", "strategy", "p_e").values()
    ]
    ordered = all(one["EF"] > one["RN"] > one["PF"] for one in each)
    ours = f"EF > RN > PF at {len(each)} points; sigma changes it by {number(max(spreads))}"
    return Finding(ours if ordered else "not ordered so", ordered and max(spreads) < EXACT)


def _judge_load_sigma(results: Results) -> Finding:
    rows = by_profiles(results)
    falling = [
        curve
        for name in ("PF", "RN")
        for curve in curves(rows, "sigma", "load", "p_p", strategy=name).values()
    ]
    flat = rows.where(strategy="EF").column("load")
    ends = {
        name: rows.curve("sigma", "load", strategy=name, p_p=1.0)[-1] for name in ("PF", "RN", "EF")
    }
    holds = all(map(is_falling, falling)) and spread(flat) - 1 < EXACT
    return Finding(f"p_p = 1 and the largest sigma: {said(ends)}", holds)


# --- what there is --------------------------------------------------------------------------------

FIGURES: Final = (
    Figure(
        "8",
        "Efficiency by the portion of matching events",
        "Four brokers in a line, 50,000 profiles each (50 at small scale); sigma profiles match "
        "an event that matches. All get slower with p_e: profile forwarding is fastest and most "
        "sensitive, event forwarding hardly changes.",
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
        "always takes three; the others grow with p_e, and at fixed p_p fall with sigma.",
        "bus",
        (
            Panel("(a) at fixed p_e", P_E, LOAD, ("strategy", "sigma"),
                  {"varies": "p_e", "sigma": (1, 5)}),
            Panel("(b) at fixed p_p", P_P, LOAD, ("strategy", "sigma"),
                  {"varies": "p_p", "sigma": (1, 5)}),
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("DAS-E3.1", "The efficiency of all three falls with p_e.", "in words", ("8",),
          _judge_falling),
    Claim("DAS-E3.2", "PF is the most efficient at any p_e.", "in words", ("8",),
          lambda results: _best(by_events(results), "p_e")),
    Claim("DAS-E3.3", "PF is the most sensitive to p_e, above all where p_e is small; RN less, EF "
          "least.", "in words", ("8",), _judge_sensitivity),
    Claim("DAS-E3.4", "The efficiency of EF falls linearly.", "in words", ("8",), _judge_linear),
    Claim("DAS-E4.1", "PF is the most efficient at any p_p.", "in words", ("9",),
          lambda results: _best(by_profiles(results), "p_p")),
    Claim("DAS-E4.2", "At fixed p_p, PF improves with sigma.", "in words", ("9",), _judge_sigma),
    Claim("DAS-E4.3", "EF changes little.", "in words", ("9",), _judge_steady),
    Claim("DAS-E4.4", "RN lies between EF and PF.", "in words", ("9",), _judge_between),
    _closed("EF", 3.0, 0.0),
    _closed("PF", 0.0, 1.25),
    _closed("RN", 1.0, 0.625),
    Claim("DAS-E5.4", "At fixed p_e the load does not depend on sigma, and EF > RN > PF.",
          "in words", ("10",), _judge_load_order),
    Claim("DAS-E5.5", "At fixed p_p the load of PF and RN falls with sigma; EF is constant.",
          "in words", ("10",), _judge_load_sigma),
)  # fmt: skip
