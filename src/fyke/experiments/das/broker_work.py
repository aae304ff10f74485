"""The work of each broker, by counter: why figures 8 and 9 look as they do (section 5.1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from fyke.experiments.das.deployment import BUS, BUS_RENDEZVOUS, STRATEGIES
from fyke.experiments.das.judging import NAMES
from fyke.experiments.das.metering import COUNTERS
from fyke.experiments.das.overlays import LONG_NAMES, Site, grid
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
from fyke.experiments.judges import EXACT, finding, rises, spread
from fyke.experiments.table import Row, Table
from fyke.experiments.wording import listed

PORTIONS: Final = (0.1, 0.5, 1.0)
_PROFILES: Final = {"tiny": 200, "small": 2_000, "paper": 200_000}


def _grid(scale: str) -> list[Parameters]:
    return grid(scale, profiles=[_PROFILES[scale]], strategy=STRATEGIES)


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return a row per broker and counter, per event that is published."""
    strategy = parameters["strategy"]
    overlay = Site().deploy(strategy, parameters["profiles"])
    rows: list[Row] = []
    for p_e in PORTIONS:
        sent = overlay.measure(
            Fraction(str(p_e)),
            at_least=parameters["events"],
            repeats=parameters["repeats"],
            seed=seed,
        )
        for at, work in enumerate(overlay.work(), 1):
            counts = {name: work[name] / sent["events"] for name in (*COUNTERS, "probes")}
            rows += [
                {
                    "strategy": strategy,
                    "p_e": p_e,
                    "broker": at,
                    "counter": name,
                    "count": count,
                    "held": work["held"] / sent["profiles"],
                    "steps": work["steps"] / sent["events"],
                    "microseconds": 1e6 * work["seconds"] / sent["events"],
                }
                for name, count in counts.items()
            ]
    return rows


STUDY: Final = Study("work", run, _grid, lambda parameters: parameters["profiles"] / 500 + 20)


def _grown(rows: Table) -> list[str]:
    """Return the counters that grow with p_e, at one broker at least."""
    return [
        name
        for name in COUNTERS
        if any(
            rises(rows.curve("p_e", "count", counter=name, broker=broker))
            for broker in rows.values("broker")
        )
    ]


def _judge_notifications(results: Results) -> Finding:
    rows = results["work"].where(strategy="EF")
    grown = _grown(rows)
    rest = [
        spread(rows.curve("p_e", "count", counter=name, broker=broker))
        for name in COUNTERS
        if name != "notified"
        for broker in rows.values("broker")
        if any(rows.curve("p_e", "count", counter=name, broker=broker))
    ]
    holds = grown == ["notified"] and max(rest) - 1 < EXACT
    ours = f"with p_e grow: {', '.join(grown) or 'none'}"
    return finding(ours, holds, "Not notifications alone.")


def _judge_decline(results: Results) -> Finding:
    rows = results["work"].where(strategy="PF")
    grown = _grown(rows)
    share = {
        p_e: sum(rows.where(p_e=p_e, counter=("received", "notified")).column("count"))
        / sum(rows.where(p_e=p_e, counter=COUNTERS).column("count"))
        for p_e in PORTIONS
    }
    ours = f"with p_e grow: {', '.join(grown) or 'none'}; notifications and what comes from others "
    holds = {"filtered", "received", "notified"} <= set(grown) and rises(list(share.values()))
    text = f"are {listed(100 * each for each in share.values())} % of all steps at p_e = "
    why = "Filtering what others sent, or notifications, do not grow."
    return finding(ours + text + listed(share), holds, why)


def _judge_tables(results: Results) -> Finding:
    rows = results["work"].where(p_e=1.0, counter="notified")
    shares = {name: rows.curve("broker", "held", strategy=name) for name in NAMES}
    full = {name: [1 - each < EXACT for each in values] for name, values in shares.items()}
    node = BUS.brokers.index(BUS_RENDEZVOUS)
    holds = all(full["PF"]) and full["RN"] == [at == node for at in range(len(full["RN"]))]
    ours = "; ".join(f"{name} {listed(values)}" for name, values in shares.items())
    why = "Not all with PF, or not the rendezvous node alone with RN."
    return finding(f"share of all profiles that B1 to B4 hold: {ours}", holds, why)


_X: Final = Axis("broker", "broker, along the line")
_Y: Final = Axis("count", "per published event")

FIGURES: Final = (
    Figure(
        "work",
        "The work of each broker, by counter",
        "What the four brokers of figure 8 do for an event, at sigma = 1: filtering, messages, "
        "notifications, which are the steps of a broker; B2 is the rendezvous node. The CSV file "
        "has the look-ups in the index (probes) and the time of each broker as well.",
        "work",
        tuple(
            Panel(f"{LONG_NAMES[name]}, p_e = {p_e:g}", _X, _Y, ("counter",),
                  {"strategy": name, "p_e": p_e, "counter": COUNTERS})
            for p_e in (PORTIONS[0], PORTIONS[-1])
            for name in NAMES
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("DAS-W1", "More matching events are more notifications for EF, and nothing else.",
          "Here only the number of notifications increases", ("work",), _judge_notifications,
          "Of each broker's counters, no other changes with p_e, exactly."),
    Claim("DAS-W2", "More matching events are more notifications and more post-filtering for PF.",
          "With increasing p_e we can see a strong decline in efficiency because of the costly "
          "notifications and the post-filtering.", ("work",), _judge_decline,
          "Filtering, messages received and notifications grow with p_e, and become a larger part "
          "of all steps."),
    Claim("DAS-W3", "RN puts all profiles on the rendezvous node, PF on all brokers.",
          "Either the rendezvous nodes are the system's bottleneck or all brokers when using PF.",
          ("work",), _judge_tables,
          "The sentence is about memory: who holds all profiles. With PF every broker, with RN B2 "
          "alone."),
)  # fmt: skip
