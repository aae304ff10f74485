"""The order of attributes by hand and from statistics, where readers leave some out."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

from fyke.events.event import Event
from fyke.events.value import Value
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
from fyke.experiments.multistage.placing import FAN_OUT
from fyke.experiments.multistage.readers import SIZES, Readers, by_stage, cost
from fyke.experiments.multistage.tree import ATTRIBUTES
from fyke.experiments.table import Row
from fyke.experiments.wording import values_of
from fyke.filters.algebra.weakening import weaken
from fyke.filters.filter import Filter
from fyke.overlay.generators import hierarchy
from fyke.routing.stages.generality import Generality, in_order, share_of_readers
from fyke.workloads.bibliography import BibliographyWorkload

BY_HAND: Final = "by hand"
BY_EVENTS: Final = "by events"
BY_BOTH: Final = "by events and subscriptions"
LEFT_OUT: Final = 0.5
"""The share of the readers that do not care about the year."""


def _grid(scale: str) -> list[Parameters]:
    count, events = SIZES[scale]
    return [
        {"order": order, "readers": count, "events": events}
        for order in (BY_HAND, BY_EVENTS, BY_BOTH)
    ]


def choose(parameters: Parameters, seed: int) -> list[Row]:
    """Return what attributes in some order come to, where half of the readers skip the year."""
    workload, draw = BibliographyWorkload(seed), Random(f"orders {seed}")
    filters: dict[str, Filter] = {}
    for number in range(parameters["readers"]):
        filter = workload.filter(number)
        if draw.random() < LEFT_OUT:
            filter = weaken(filter, {"type", *ATTRIBUTES[1:]})
        filters[f"r{number}"] = filter
    names = _order(parameters["order"], list(workload.events(2_000, 1_000_000)), filters)
    stages = {"Publication": tuple(names[: 4 - stage] for stage in range(4))}
    readers = Readers(hierarchy((FAN_OUT, FAN_OUT)), seed, "multistage", stages=stages)
    readers.subscribe(filters)
    readers.forget()
    readers.publish(workload.events(parameters["events"]))
    named = {"order": parameters["order"], "attributes": ", ".join(names)}
    loads = by_stage(readers.brokers(), "load", max)
    whole = readers.whole()
    return [{**named, "stage": stage, "stage_load": load, **whole} for stage, load in loads.items()]


def _order(order: str, events: list[Event], filters: dict[str, Filter]) -> tuple[str, ...]:
    if order == BY_HAND:
        return ATTRIBUTES
    facts = {name: _generality([event[name] for event in events]) for name in ATTRIBUTES}
    return in_order(facts, share_of_readers(filters.values()) if order == BY_BOTH else None)


def _generality(values: list[Value]) -> Generality:
    """Return which share of the events an equality lets through, by the values as they occur."""
    counts = Counter(values)
    squares = sum(count * count for count in counts.values())
    return Generality(squares / len(values) ** 2, len(counts))


STUDY: Final = Study("orders", choose, _grid, cost)


# --- claims ---------------------------------------------------------------------------------------


def _judge_orders(results: Results) -> Finding:
    table = results["orders"].where(stage=3)
    messages = {each: table.one("messages", order=each) for each in (BY_HAND, BY_EVENTS, BY_BOTH)}
    said = values_of(messages, "messages an event")
    return Finding(said, messages[BY_BOTH] < min(messages[BY_HAND], messages[BY_EVENTS]))


FIGURES: Final = (
    Figure(
        "orders", "The order of attributes",
        "Half of the readers do not care about the year, which is the most general attribute. An "
        "order that counts what subscriptions read keeps other attributes near the root.",
        "orders",
        (Panel("Load", Axis("stage", "stage"), Axis("stage_load", "filters an event, at the "
               "busiest", is_log=True), ("order",)),),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("MSF-B5", "An order that counts what subscriptions read saves messages.",
          "attribute filters are ordered according to the generality", ("orders",), _judge_orders,
          "Not measured in the paper. Half of the readers leave out the most general attribute; "
          "fewer messages than by hand, and than by events alone."),
)  # fmt: skip
