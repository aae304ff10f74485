"""Section 5.6, the number of profiles (figure 21), and how stable measuring is (section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from statistics import mean, stdev
from typing import Final

from fyke.experiments.das.deployment import STRATEGIES, Point
from fyke.experiments.das.judging import STEPS, TIME, Points, by_both, of_each, rows_of, said
from fyke.experiments.das.overlays import Site, grid, measured
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
from fyke.experiments.judges import Measured, above, counted, equals_closed_form, ordered
from fyke.experiments.table import Row
from fyke.experiments.wording import number

P_E: Final = Fraction(4, 5)
_AMOUNTS: Final = {
    "tiny": (80, 160, 320),
    "small": (800, 1_600, 3_200),
    "paper": (50_000, 100_000, 200_000, 400_000),
}

# --- figure 21 ------------------------------------------------------------------------------------


def _grid(scale: str) -> list[Parameters]:
    return grid(scale, profiles=_AMOUNTS[scale], strategy=STRATEGIES)


def run(parameters: Parameters, seed: int) -> list[Row]:
    return measured(parameters, seed, [Point(P_E)])


def _cost(parameters: Parameters) -> float:
    stored = {"PF": 4.0, "EF": 1.0, "RN": 2.0}[parameters["strategy"]]
    return float(parameters["profiles"] * stored / 1_000 + 10)


def _judge_tables(results: Results) -> Finding:
    def expected(row: Row) -> float:
        return float(row["profiles"]) / (4 if row["strategy"] == "EF" else 1)

    rows = results["amounts"]
    most = of_each(rows, counted("largest_table"), profiles=rows.values("profiles")[-1])
    return equals_closed_form(rows, "largest_table", expected, said(most))


def _why_not_ordered(last: Mapping[str, Measured]) -> str:
    """Explain the order at the most profiles, where it is not the paper's."""
    if not above(last["RN"], last["EF"]):
        return ""
    return (
        "RN is before EF: the rendezvous node filters every event as any flooded broker does, but "
        "handles fewer messages."
    )


COLLAPSE: Final = 0.5
"""Less than this share of the events per second is a heavy decline."""
_LIMITS: Final = {"PF": 100_000, "RN": 100_000, "EF": 350_000}


def _judge_collapse(results: Results) -> Finding:
    """Judge whether each loses heavily beyond its limit, and none up to it."""
    rows = results["amounts"]
    kept: dict[str, float] = {}
    early = False
    for name, limit in _LIMITS.items():
        rates = {row["profiles"]: row["events_per_s"] for row in rows.where(strategy=name)}
        within = [rate for count, rate in rates.items() if count <= limit]
        beyond = [rate for count, rate in rates.items() if count > limit]
        if not within or not beyond:
            why = f"No run of {name} has more than {limit:,} profiles; --scale paper has."
            return Finding(f"at most {max(rates):,} profiles", None, why)
        kept[name] = min(beyond) / max(within)
        early = early or min(within) / max(within) < COLLAPSE
    ours = f"the slowest beyond the limit by the fastest up to it: {said(kept)}"
    holds = not early and max(kept.values()) < COLLAPSE
    why = (
        "The collapse is that of machines with 256 MB, which begin to swap; all tables fit into "
        "memory here. What takes its place is the size of the largest table."
    )
    return Finding(ours, holds, "" if holds else why)


# --- stability ------------------------------------------------------------------------------------

STABLE: Final = 5.0
"""A standard deviation, in percent, up to which a value is quite stable."""
_REPETITIONS: Final = {"tiny": 3, "small": 10, "paper": 40}
_STABILITY: Final = {"tiny": (400, 320), "small": (1_000, 2_000), "paper": (100_000, 20_000)}
"""Profiles and events."""


def _stability_grid(scale: str) -> list[Parameters]:
    profiles, events = _STABILITY[scale]
    return [
        {
            "strategy": "EF",
            "profiles": profiles,
            "events": events,
            "repetitions": _REPETITIONS[scale],
        }
    ]


def repeat(parameters: Parameters, seed: int) -> list[Row]:
    """Yield one set of events, again and again."""
    strategy = parameters["strategy"]
    overlay = Site().deploy(strategy, parameters["profiles"])
    return [
        {
            "strategy": strategy,
            "repetition": turn,
            **overlay.measure(P_E, at_least=parameters["events"], seed=seed),
        }
        for turn in range(parameters["repetitions"])
    ]


def _judge_stability(results: Results) -> Finding:
    rates = results["stability"].column("events_per_s")
    deviation = 100 * stdev(rates) / mean(rates)
    ours = f"{number(deviation)} % of the mean, {len(rates)} repetitions"
    holds = deviation <= STABLE
    why = (
        "Seconds are those of this machine and of what else it does meanwhile, and of "
        f"{number(results['stability'].column('events')[0])} events where the paper has 450,000."
    )
    return Finding(ours, holds, "" if holds else why, {"time": holds})


# --- what there is --------------------------------------------------------------------------------

STUDIES: Final = (
    Study("amounts", run, _grid, _cost),
    Study("stability", repeat, _stability_grid, lambda p: p["events"] * p["repetitions"] / 2_000),
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
            Panel("Time", Axis("repetition", "repetition"), Axis(TIME.column, TIME.unit),
                  ("strategy",)),
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
            Panel("Efficiency by steps", _X, STEPS.axis, ("strategy",)),
            Panel("Efficiency by time", _X, TIME.axis, ("strategy",)),
            Panel("Largest table", _X, Axis("largest_table", "profiles of the fullest broker"),
                  ("strategy",)),
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("DAS-E0", "Repeated measurements of efficiency deviate little.",
          "We repeated this experiment 40 times, which resulted in a standard deviation of 0.73% "
          "for efficiency. So we decided to repeat the following experiments only 3 times, since "
          "each measure alone is quite stable.", ("stability",), _judge_stability,
          f"Quite stable: a standard deviation of at most {STABLE:g} % of the mean."),
    Claim("DAS-E15.1", "PF is more efficient than EF, and EF than RN.",
          "PF shows the best efficiency as long as the profiles are stored in main memory, "
          "followed by EF and RN.", ("21",),
          by_both(Points(ordered, ("PF", "EF", "RN"), ("profiles",), rows_of("amounts"),
                         _why_not_ordered)),
          "At every number of profiles: all fit into memory here."),
    Claim("DAS-E15.2", "Efficiency collapses above 100,000 profiles for PF and RN, 350,000 for EF.",
          "Up to 100,000 (PF, RN) resp. 350,000 (EF) unique profiles can be managed and filtered "
          "in the main memory.", ("21",), _judge_collapse,
          f"A collapse leaves less than {100 * COLLAPSE:g} % of the events per second."),
    Claim("DAS-E15.3", "The fullest broker of PF and RN holds all profiles, that of EF a quarter.",
          "In EF this effect appears at 350,000 profiles because we use 4 brokers that can managed "
          "approx. 4 times more profiles (since there are no duplications).", ("21",),
          _judge_tables, "Exactly a quarter of the profiles at the fullest broker."),
)  # fmt: skip
