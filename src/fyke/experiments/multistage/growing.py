"""Studies of what the paper says and does not measure: growth, and subscribers with wildcards."""

from __future__ import annotations

from typing import Final

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
from fyke.experiments.judges import finding, spread
from fyke.experiments.multistage.placing import EVENTS, FAN_OUT, READERS
from fyke.experiments.multistage.tree import Tree
from fyke.experiments.table import Row
from fyke.routing.stages.hosting import EDGE, RANDOM, SIMILARITY

FAN_OUTS: Final = {"tiny": (4, 8), "small": (5, 7, 10), "paper": (5, 7, 10, 14, 20)}
READERS_A_BROKER: Final = 10
SHARE: Final = 0.2
"""Of the subscribers, those with a wildcard."""


def _growing(scale: str) -> list[Parameters]:
    return [
        {"placement": placement, "fan_out": fan_out, "events": EVENTS[scale] // 4}
        for placement in (RANDOM, SIMILARITY)
        for fan_out in FAN_OUTS[scale]
    ]


def grow(parameters: Parameters, seed: int) -> list[Row]:
    """Return the largest loads by stage, with ten subscribers for each broker at the edge."""
    fan_out, placement = parameters["fan_out"], parameters["placement"]
    readers = READERS_A_BROKER * fan_out * fan_out
    tree = Tree(placement, fan_out, readers, seed)
    tree.draw(parameters["events"])
    return _largest(tree, parameters["events"], placement=placement, readers=readers)


def _wildcards(scale: str) -> list[Parameters]:
    return [
        {"placement": placement, "events": EVENTS[scale] // 4} for placement in (SIMILARITY, EDGE)
    ]


def leave_open(parameters: Parameters, seed: int) -> list[Row]:
    """Return the largest loads by stage, where some subscribers leave an attribute open."""
    placement = parameters["placement"]
    tree = Tree(placement, FAN_OUT, READERS, seed, SHARE)
    tree.draw(parameters["events"])
    return _largest(tree, parameters["events"], placement=placement)


def _largest(tree: Tree, events: int, **columns: object) -> list[Row]:
    rows = list(tree.rows())
    found = []
    for stage in sorted({row["stage"] for row in rows}):
        loads = [row["load"] / events for row in rows if row["stage"] == stage]
        received = sum(row["received"] for row in rows if row["stage"] == stage)
        found.append(
            {
                **columns,
                "stage": stage,
                "largest_load": max(loads),
                "all_loads": sum(loads),
                "received": received / events,
            }
        )
    return found


def _cost(parameters: Parameters) -> float:
    return float(parameters["events"]) / 1_000 + 5


STUDIES: Final = (
    Study("growing", grow, _growing, _cost),
    Study("wildcards", leave_open, _wildcards, _cost),
)


# --- claims ---------------------------------------------------------------------------------------


def _curves(results: Results, placement: str) -> dict[int, list[float]]:
    table = results["growing"]
    return {
        stage: table.curve("readers", "largest_load", placement=placement, stage=stage)
        for stage in (1, 2, 3)
    }


def _judge_growth(results: Results) -> Finding:
    curves = _curves(results, SIMILARITY)
    grown = spread(results["growing"].values("readers"))
    factors = {stage: curve[-1] / curve[0] for stage, curve in curves.items()}
    said = ", ".join(f"{factor:.2g} at stage {stage}" for stage, factor in factors.items())
    holds = max(factors.values()) < grown / 2
    ours = f"{grown:.3g} times the subscribers: largest load times {said}"
    return finding(ours, holds, "A stage grows by more than half as much.")


def _judge_central(results: Results) -> Finding:
    """Compare with a server that holds every event against the filters of all subscribers."""
    table = results["growing"]
    most = max(table.values("readers"))
    ours = max(
        table.where(readers=most, placement=SIMILARITY, stage=(1, 2, 3)).column("largest_load")
    )
    said = (
        f"{ours:.3g} filters an event at the busiest broker; {most:,} at a central server; "
        f"{most:,} deliveries an event where all events go to all subscribers"
    )
    return Finding(said, ours < most / 5)


def _judge_edge(results: Results) -> Finding:
    table = results["wildcards"]
    received = [table.one("received", placement=each, stage=1) for each in (SIMILARITY, EDGE)]
    said = f"{received[0]:.2g} messages an event to stage 1; {received[1]:.2g} if treated as others"
    return Finding(said, received[0] < received[1])


def _judge_higher(results: Results) -> Finding:
    table = results["wildcards"]
    loads = {
        each: [table.one("largest_load", placement=each, stage=stage) for stage in (1, 2, 3)]
        for each in (SIMILARITY, EDGE)
    }
    said = "; ".join(
        f"{', '.join(f'{value:.3g}' for value in values)} ({name})"
        for name, values in loads.items()
    )
    ours, others = loads[SIMILARITY], loads[EDGE]
    holds = ours[0] < others[0]
    why = "The root pays: it holds the filters that are attached there."
    return Finding(
        f"largest load at stages 1, 2, 3: {said}", holds, why if ours[2] > others[2] else ""
    )


_LOAD: Final = Axis("largest_load", "filters an event, at the busiest node", is_log=True)

FIGURES: Final = (
    Figure(
        "growth",
        "Largest load as subscribers and brokers grow together",
        "Ten subscribers for each broker of stage 1; the load is the filters that an event is held "
        "against, at the busiest node of a stage. It hardly grows where similar ones meet; at "
        "random, stage 2 gets the filters of all its subscribers.",
        "growing",
        tuple(
            Panel(
                f"{each.capitalize()} placement",
                Axis("readers", "subscribers", is_log=True),
                _LOAD,
                ("stage",),
                {"placement": each},
            )
            for each in (RANDOM, SIMILARITY)
        ),
    ),
    Figure(
        "wildcards",
        "Subscribers that leave an attribute open",
        "A fifth of the subscribers leaves out the conference or the author. Attached above the "
        "stages that filter on it, they spare the brokers below; treated as others, they draw "
        "events down to the edge.",
        "wildcards",
        (
            Panel("Largest load", Axis("stage", "stage"), _LOAD, ("placement",)),
            Panel(
                "Messages",
                Axis("stage", "stage"),
                Axis("received", "received an event"),
                ("placement",),
            ),
        ),
    ),
)

CLAIMS: Final = (
    Claim("MSF-E4.1", "More subscribers do not overload the nodes that are there.",
          "by adding a few number of intermediate nodes, the number of subscribers can be "
          "increased significantly without increasing the required computational power at any node",
          ("growth",), _judge_growth,
          "Similar ones meet; the largest load of any stage of brokers grows less than half as "
          "much as the number of subscribers."),
    Claim("MSF-E4.2", "The busiest broker has far less to do than a central server.",
          "For a content based event system with a centralized server, with all subscription "
          "filters at one server, the RLC is equal to one.", ("growth",), _judge_central,
          "At the largest size, similar ones meet: less than a fifth."),
    Claim("MSF-E5.1", "Wildcards that are attached higher draw fewer events to the edge.",
          "If Node_i is at stage (j+1) then insert the subscribers at this node.", ("wildcards",),
          _judge_edge, "Not measured in the paper: events that brokers of stage 1 receive."),
    Claim("MSF-E5.2", "Wildcards that are attached higher relieve the busiest broker of the edge.",
          "If Node_i is at stage (j+1) then insert the subscribers at this node.", ("wildcards",),
          _judge_higher, "Not measured in the paper: the largest load of stage 1."),
)  # fmt: skip
