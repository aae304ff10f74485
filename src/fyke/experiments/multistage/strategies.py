"""Stages beside other strategies on the same tree, and six stages for 100,000 readers."""

from __future__ import annotations

from typing import Any, Final

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
from fyke.experiments.judges import finding
from fyke.experiments.multistage.placing import FAN_OUT
from fyke.experiments.multistage.readers import Readers, by_stage, cost
from fyke.experiments.multistage.tree import ATTRIBUTES, CLASSES
from fyke.experiments.table import Row
from fyke.experiments.wording import values_of
from fyke.overlay.generators import hierarchy
from fyke.routing.stages.attributes import Stages
from fyke.routing.stages.hosting import SIMILARITY
from fyke.workloads.bibliography import BibliographyWorkload

STAGES_NEAR: Final = "stages, locality"
STAGES_ALIKE: Final = "stages, similarity"
FORWARDING: Final = "subscription_forwarding"
BROADCAST: Final = "event_forwarding"
CENTRAL: Final = "centralised"
STRATEGIES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    STAGES_NEAR: ("multistage", {"stages": CLASSES}),
    STAGES_ALIKE: ("multistage", {"stages": CLASSES, "placement": SIMILARITY}),
    FORWARDING: (FORWARDING, {}),
    BROADCAST: (BROADCAST, {}),
    CENTRAL: (CENTRAL, {}),
}
_OTHERS: Final = {"tiny": (100, 40), "small": (400, 1_000), "paper": (4_000, 5_000)}
"""Readers and events."""


def _grid_of_others(scale: str) -> list[Parameters]:
    count, events = _OTHERS[scale]
    return [
        {"strategy": each, "readers": count, "events": events, "fan_outs": [FAN_OUT, FAN_OUT]}
        for each in STRATEGIES
    ]


def compare(parameters: Parameters, seed: int) -> list[Row]:
    """Return what one strategy holds, sends and does, for some readers on a tree."""
    strategy, options = STRATEGIES[parameters["strategy"]]
    if options and len(parameters["fan_outs"]) > 2:
        options = {**options, "stages": {"Publication": SIX}}
    workload, count = BibliographyWorkload(seed), parameters["readers"]
    readers = Readers(hierarchy(parameters["fan_outs"]), seed, strategy, **options)
    readers.forget()
    readers.subscribe({f"r{number}": workload.filter(number) for number in range(count)})
    spent = {
        "subscription_messages": readers.control(readers.sent) / count,
        "subscription_bytes": readers.control(readers.bytes) / count,
    }
    readers.forget()
    readers.publish(workload.events(parameters["events"]))
    named = {"strategy": parameters["strategy"], "readers": count}
    rows: list[Row] = [{**named, "kind": "whole", **spent, **readers.whole()}]
    brokers = list(readers.brokers())
    for stage, load in by_stage(brokers, "load", max).items():
        filters = by_stage(brokers, "filters", max)[stage]
        rows.append(
            {**named, "kind": "stage", "stage": stage, "largest_load": load,
             "largest_table": filters}
        )  # fmt: skip
    return rows


# --- six stages -----------------------------------------------------------------------------------

SIX: Final[Stages] = tuple(ATTRIBUTES[:kept] for kept in (4, 3, 3, 2, 2, 1, 1))
"""The attributes of stages 0 to 6."""
_LARGE: Final = {"tiny": (200, 40, 2), "small": (2_000, 500, 3), "paper": (100_000, 10_000, 4)}
"""Readers, events, children of each broker."""


def _grid_of_large(scale: str) -> list[Parameters]:
    count, events, fan_out = _LARGE[scale]
    return [
        {"strategy": each, "readers": count, "events": events, "fan_outs": [fan_out] * 5}
        for each in (STAGES_NEAR, STAGES_ALIKE)
    ]


STUDIES: Final = (
    Study("others", compare, _grid_of_others, cost),
    Study("large", compare, _grid_of_large, lambda parameters: 3 * cost(parameters)),
)


# --- claims ---------------------------------------------------------------------------------------


def _whole(results: Results, column: str) -> dict[str, float]:
    table = results["others"].where(kind="whole")
    return {each: table.one(column, strategy=each) for each in STRATEGIES}


def _judge_load(results: Results) -> Finding:
    loads = _whole(results, "largest_load")
    holds = loads[STAGES_ALIKE] < min(loads[FORWARDING], loads[CENTRAL] / 5)
    return Finding(values_of(loads, "filters an event at the busiest broker"), holds)


def _judge_tables(results: Results) -> Finding:
    tables = _whole(results, "largest_table")
    holds = max(tables[STAGES_NEAR], tables[STAGES_ALIKE]) < tables[FORWARDING] / 2
    return Finding(values_of(tables, "filters in the largest table"), holds)


def _judge_bytes(results: Results) -> Finding:
    sizes = _whole(results, "event_bytes")
    holds = sizes[FORWARDING] <= sizes[STAGES_ALIKE] < sizes[BROADCAST] / 2
    return Finding(values_of(sizes, "bytes an event, on all links"), holds)


def _judge_large(results: Results) -> Finding:
    table = results["large"].where(kind="whole")
    count = max(table.values("readers"))
    loads = {each: table.one("largest_load", strategy=each) for each in table.values("strategy")}
    said = values_of(loads, f"filters an event at the busiest broker, with {count:,} readers")
    holds = max(loads.values()) < count / 20
    why = (
        "There are 500 pairs of a year and a conference, however few readers: two stages hold all."
    )
    return finding(said, holds, why)


_PANELS: Final = (
    Panel(
        "Load",
        Axis("stage", "stage"),
        Axis("largest_load", "filters an event, at the busiest", is_log=True),
        ("strategy",),
    ),
    Panel(
        "Table",
        Axis("stage", "stage"),
        Axis("largest_table", "filters of the largest table", is_log=True),
        ("strategy",),
    ),
)
FIGURES: Final = (
    Figure(
        "others", "Beside other strategies, on the same tree",
        "The busiest broker of each stage and the largest table: stages keep both small where "
        "others pass everything on or know everything. Events come in at the root.", "others",
        _PANELS, {"kind": "stage"},
    ),
    Figure(
        "large", "Six stages of brokers",
        "The busiest broker of each of six stages. No broker comes near a central server, which "
        "would have as many filters as there are readers.", "large",
        _PANELS, {"kind": "stage"},
    ),
)  # fmt: skip

_BOTTLENECK: Final = (
    "The major drawback of the “centralized” approach is that the server is a bottleneck both in "
    "terms of processing power and network bandwidth"
)

CLAIMS: Final = (
    Claim("MSF-B1", "The busiest broker has less to do than with other strategies.", _BOTTLENECK,
          ("others",), _judge_load, "Not measured in the paper, on its tree: stages with "
          "similarity against subscription forwarding, and a fifth of a central server."),
    Claim("MSF-B2", "Tables stay small.", _BOTTLENECK, ("others",), _judge_tables,
          "Not measured in the paper: the largest table is less than half of that of subscription "
          "forwarding."),
    Claim("MSF-B3", "Weak filters cost some traffic, far less than to send events everywhere.",
          _BOTTLENECK, ("others",), _judge_bytes, "Not measured in the paper: bytes of events on "
          "all links, at least those of subscription forwarding, less than half of broadcast."),
    Claim("MSF-B4", "Six stages carry many readers.", "an arbitrarily-deep hierarchy", ("large",),
          _judge_large, "100,000 readers at the paper's scale: the busiest broker holds an event "
          "against fewer filters than a twentieth of the readers."),
)  # fmt: skip
