"""An overlay of brokers with little memory: the traffic, memory and work that the paper could not
measure (PRU-F1).

Nine brokers in a tree forward subscriptions to all others. Each has a limit for its tables, a part
of what the largest takes without one, and prunes what it filters for neighbours (`relief`). What
clients get is the same.
"""

from __future__ import annotations

from typing import Final

from fyke.assembly import assemble
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
from fyke.experiments.judges import falls
from fyke.experiments.pruning.comparing import of_name
from fyke.experiments.table import Row
from fyke.overlay.named import named
from fyke.simulation.scenario import Scenario
from fyke.traces.metrics import Meter
from fyke.traces.summary import RunSummary

BROKERS: Final = 9
LIMITS: Final = (1.0, 0.95, 0.9, 0.85, 0.8)
"""Parts of what the largest tables take without a limit."""
_SUBSCRIPTIONS: Final = {"tiny": 60, "small": 300, "paper": 3_000}
_EVENTS: Final = {"tiny": 60, "small": 500, "paper": 3_000}


def _grid(scale: str) -> list[Parameters]:
    return [{"subscriptions": _SUBSCRIPTIONS[scale], "events": _EVENTS[scale]}]


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return what the overlay takes under each limit."""
    whole = _play(parameters, seed, None)
    largest = max(load.held.bytes for load in whole.brokers.values())
    rows = []
    for limit in LIMITS:
        found = whole if limit == 1 else _play(parameters, seed, int(limit * largest))
        held = [load.held for load in found.brokers.values()]
        rows.append(
            {
                "limit": limit,
                "largest": max(each.bytes for each in held) / largest,
                "pruned": sum(each.pruned for each in held),
                "messages": found.messages_per_event,
                "useless": found.useless_share or 0.0,
                "bytes": found.bytes / found.events,
                "control": found.control_messages,
                "work": max(load.work for load in found.brokers.values()) / found.events,
                "notified": found.notified,
            }
        )
    return rows


def _play(parameters: Parameters, seed: int, memory: int | None) -> RunSummary:
    topology = named("tree", BROKERS, seed)
    scenario = Scenario(
        topology,
        of_name("auction", seed),
        parameters["subscriptions"],
        parameters["events"],
        seed,
    )
    system = assemble("broadcast", topology, engine="compiled", memory=memory)
    meter = Meter(topology)
    scenario.play(system.make, system.codec, meter.add)
    return meter.summary()


STUDY: Final = Study("overlays", run, _grid, lambda parameters: 60.0 * parameters["subscriptions"])
_X: Final = Axis("limit", "limit, of the memory without one")
FIGURES: Final = (
    Figure(
        "overlays",
        "Nine brokers with little memory",
        "Messages of an event, the work of the busiest broker and the memory of the largest, by "
        "the limit. Traffic grows as memory falls, and clients get the same.",
        "overlays",
        (
            Panel("traffic", _X, Axis("messages", "messages per event"), ()),
            Panel("memory", _X, Axis("largest", "of the largest broker"), ()),
            Panel("work", _X, Axis("work", "work per event, at the busiest"), ()),
        ),
    ),
)


def _same(results: Results) -> Finding:
    notified = set(results["overlays"].column("notified"))
    return Finding(f"{len(notified)} different counts of notifications", len(notified) == 1)


def _limits_hold(results: Results) -> Finding:
    rows = results["overlays"]
    over = [row for row in rows if row["largest"] > row["limit"] + 1e-9]
    ours = ", ".join(f"{row['limit']:.0%}: {row['largest']:.0%}" for row in rows)
    return Finding(ours, not over, "What clients want and ids do not shrink." if over else "")


def _traffic(results: Results) -> Finding:
    messages = results["overlays"].curve("limit", "messages")
    ours = "from the least limit on: " + ", ".join(f"{each:.3f}" for each in messages)
    return Finding(ours, falls(messages), "Some prunings let in no event.")


def _work(results: Results) -> Finding:
    work = results["overlays"].curve("limit", "work")
    ours = "from the least limit on: " + ", ".join(f"{each:.1f}" for each in work)
    why = "More events reach each broker, and each is matched there again."
    return Finding(ours, work[0] <= work[-1], why)


CLAIMS: Final = (
    Claim(
        "PRU-7.1",
        "Subscribers get what they got before.",
        "only subscriptions forwarded by neighbor brokers are suitable for generalizations",
        ("overlays",),
        _same,
        rule="As many notifications under every limit.",
        circular="It is the law of the system; tests hold it for every strategy.",
    ),
    Claim(
        "PRU-8.1",
        "Brokers stay within their memory.",
        "Whenever such subscriptions require too many memory resources, broker components start to "
        "heuristically generalize registered subscriptions",
        ("overlays",),
        _limits_hold,
        rule="The largest broker takes at most its limit, down to 80 %.",
    ),
    Claim(
        "PRU-F1.1",
        "Traffic grows with every limit.",
        "this beneficial effect is counteracted by increased network load when applying "
        "subscription generalization",
        ("overlays",),
        _traffic,
        rule="Messages per event rise from each limit to the next lower one.",
    ),
    Claim(
        "PRU-F1.2",
        "Brokers have less to do.",
        "The overall idea of generalizing subscriptions is to decrease the computational effort "
        "for event filtering required in broker components",
        ("overlays",),
        _work,
        rule="Under the least limit, the busiest broker takes at most as many steps per event as "
        "without one.",
    ),
)
