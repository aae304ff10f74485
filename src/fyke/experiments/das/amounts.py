"""Section 5.6, the number of profiles (figure 21), and how stable measuring is (section 5)."""

from __future__ import annotations

from fractions import Fraction
from statistics import mean, stdev
from typing import Final

from fyke.experiments.das.deployment import BUS, BUS_RENDEZVOUS, STRATEGIES, Deployment
from fyke.experiments.das.overlays import (
    EFFICIENCY,
    ENGINE,
    EXACT,
    NAMES,
    PER_SECOND,
    furthest,
    of_each,
    said,
)
from fyke.experiments.das.wording import number
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
from fyke.experiments.table import Row

P_E: Final = Fraction(4, 5)
_AMOUNTS: Final = {
    "small": (80, 160, 320),
    "paper": (50_000, 100_000, 200_000, 400_000),
}

# --- figure 21 ------------------------------------------------------------------------------------


def _grid(scale: str) -> list[Parameters]:
    is_small = scale == "small"
    return [
        {
            "strategy": strategy,
            "profiles": profiles,
            "at_least": 1 if is_small else 2_000,
            "repeats": 1 if is_small else 3,
        }
        for profiles in _AMOUNTS[scale]
        for strategy in STRATEGIES
    ]


def run(parameters: Parameters, seed: int) -> list[Row]:
    strategy = parameters["strategy"]
    profiles = Profiles(BUS.brokers, parameters["profiles"])
    overlay = Deployment(strategy, BUS, profiles, {"": BUS_RENDEZVOUS}, ENGINE)
    at_least, repeats = parameters["at_least"], parameters["repeats"]
    return [
        {
            "strategy": strategy,
            **overlay.measure(P_E, at_least=at_least, repeats=repeats, seed=seed),
        }
    ]


def _cost(parameters: Parameters) -> float:
    stored = {"PF": 4.0, "EF": 1.0, "RN": 2.0}[parameters["strategy"]]
    return float(parameters["profiles"] * stored / 1_000 + 10)


def _judge_tables(results: Results) -> Finding:
    def expected(row: Row) -> float:
        return float(row["profiles"]) / (4 if row["strategy"] == "EF" else 1)

    rows = results["amounts"]
    most = of_each(rows, "largest_table", profiles=rows.values("profiles")[-1])
    return Finding(said(most), furthest(rows, "largest_table", expected) < EXACT)


_FEWER: Final = (
    "In steps, RN comes before EF: the rendezvous node filters every event as any flooded broker "
    "does, but handles fewer messages."
)
_DEARER: Final = (
    " By processor time RN is behind EF, as in the paper: an event costs it more than passing it "
    "on costs a flooded broker."
)


def _judge_order(results: Results) -> Finding:
    rows = results["amounts"]
    largest = rows.values("profiles")[-1]
    steps = of_each(rows, "efficiency", profiles=largest)
    seconds = of_each(rows, "events_per_s", profiles=largest)
    holds = steps["PF"] > steps["EF"] > steps["RN"]
    ours = f"per 1,000 steps: {said(steps)}; per second of processor time: {said(seconds)}"
    if holds:
        return Finding(ours, holds)
    return Finding(ours, holds, _FEWER + (_DEARER if seconds["EF"] > seconds["RN"] else ""))


def _judge_collapse(results: Results) -> Finding:
    rows = results["amounts"]
    few, many = rows.values("profiles")[0], rows.values("profiles")[-1]
    slower = {
        name: rows.one("events_per_s", strategy=name, profiles=few)
        / rows.one("events_per_s", strategy=name, profiles=many)
        for name in NAMES
    }
    return Finding(
        f"{few:,} by {many:,} profiles: {said(slower)} times the events per second",
        None,
        "The collapse is that of machines with 256 MB, which begin to swap; all tables fit into "
        "memory here. What takes its place is the size of the largest table.",
    )


# --- stability ------------------------------------------------------------------------------------


def _stability_grid(scale: str) -> list[Parameters]:
    is_small = scale == "small"
    profiles, events, repeats = (400, 320, 5) if is_small else (100_000, 20_000, 40)
    return [
        {"strategy": "EF", "profiles": profiles, "at_least": events, "repeats": repeats},
    ]


def repeat(parameters: Parameters, seed: int) -> list[Row]:
    """One set of events, again and again."""
    profiles = Profiles(BUS.brokers, parameters["profiles"])
    overlay = Deployment(parameters["strategy"], BUS, profiles, {"": BUS_RENDEZVOUS}, ENGINE)
    return [
        {"repetition": turn, **overlay.measure(P_E, at_least=parameters["at_least"], seed=seed)}
        for turn in range(parameters["repeats"])
    ]


def _judge_stability(results: Results) -> Finding:
    rates = results["stability"].column("events_per_s")
    steps = results["stability"].column("efficiency")
    ours = (
        f"{number(100 * stdev(rates) / mean(rates))} % in seconds, "
        f"{number(100 * stdev(steps) / mean(steps))} % in steps, {len(rates)} repetitions"
    )
    why = (
        "Seconds are those of whatever machine this is and what else it does; claims are judged "
        "by steps, which repeat exactly."
    )
    return Finding(ours, None, why)


# --- what there is --------------------------------------------------------------------------------

STUDIES: Final = (
    Study("amounts", run, _grid, _cost),
    Study("stability", repeat, _stability_grid, lambda p: p["at_least"] * p["repeats"] / 2_000),
)

_X: Final = Axis("profiles", "profiles")

FIGURES: Final = (
    Figure(
        "stability",
        "How stable measuring is",
        "The same events are sent through the same four brokers again and again (event forwarding, "
        "p_e = 0.8). Steps repeat exactly; seconds are as stable as the machine.",
        "stability",
        (
            Panel("Time", Axis("repetition", "repetition"), Axis("events_per_s", PER_SECOND),
                  ("sigma",)),
        ),
    ),
    Figure(
        "21",
        "Efficiency by the number of profiles",
        "Four brokers in a line, unique profiles, p_e = 0.8. The paper's machines run out of "
        "memory where a broker holds 100,000 profiles, which flooding puts off to four times as "
        "many.",
        "amounts",
        (
            Panel("Efficiency", _X, Axis("efficiency", EFFICIENCY), ("strategy",)),
            Panel("Time", _X, Axis("events_per_s", PER_SECOND), ("strategy",)),
            Panel("Largest table", _X, Axis("largest_table", "profiles of the fullest broker"),
                  ("strategy",)),
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("DAS-E0", "Repeated measurements of efficiency deviate little.", "0.73 %", ("stability",),
          _judge_stability),
    Claim("DAS-E15.1", "At p_e = 0.8: PF > EF > RN, while profiles fit into memory.", "in words",
          ("21",), _judge_order),
    Claim("DAS-E15.2", "Efficiency collapses above 100,000 profiles for PF and RN, 350,000 for EF.",
          "100,000 and 350,000", ("21",), _judge_collapse),
    Claim("DAS-E15.3", "The fullest broker of PF and RN holds all profiles, that of EF a quarter.",
          "in words", ("21",), _judge_tables),
)  # fmt: skip
