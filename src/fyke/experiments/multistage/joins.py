"""The paper's placements as they run: readers join by messages, and places serve their homes."""

from __future__ import annotations

from statistics import fmean
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
from fyke.experiments.multistage.placing import EVENTS, FAN_OUT, READERS
from fyke.experiments.multistage.readers import Readers
from fyke.experiments.multistage.tree import CLASSES
from fyke.experiments.table import Row, Table
from fyke.experiments.wording import values_of
from fyke.overlay.generators import hierarchy
from fyke.routing.stages.hosting import LOCALITY, RANDOM, SIMILARITY
from fyke.workloads.bibliography import BibliographyWorkload

PLACEMENTS: Final = (LOCALITY, RANDOM, SIMILARITY)


def _grid(scale: str) -> list[Parameters]:
    return [
        {"placement": placement, "readers": READERS, "events": EVENTS[scale] // 4}
        for placement in PLACEMENTS
    ]


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return what brokers hold and pass on by stage, and what joins and deliveries take."""
    placement, count = parameters["placement"], parameters["readers"]
    workload = BibliographyWorkload(seed)
    readers = Readers(
        hierarchy((FAN_OUT, FAN_OUT)), seed, "multistage", stages=CLASSES, placement=placement
    )
    readers.forget()
    steps = []
    for number in range(count):
        before = readers.sent["Join"]
        readers.subscribe({f"r{number}": workload.filter(number)})
        steps.append(readers.sent["Join"] - before)
    joins = {
        "steps": fmean(steps),
        "steps_max": max(steps),
        "join_messages": readers.control(readers.sent) / count,
        "join_bytes": readers.control(readers.bytes) / count,
    }
    readers.forget()
    readers.publish(workload.events(parameters["events"]))
    rows: list[Row] = [{"kind": "whole", "placement": placement, **joins, **readers.whole()}]
    for row in readers.brokers():
        relative = row["load"] / count
        rows.append({"kind": "broker", "placement": placement, **row, "relative_load": relative})
    return rows


STUDY: Final = Study("joins", run, _grid, lambda parameters: parameters["events"] / 1_000 + 5)


# --- claims ---------------------------------------------------------------------------------------


def _whole(results: Results, column: str) -> dict[str, float]:
    table = results["joins"].where(kind="whole")
    return {each: float(table.one(column, placement=each)) for each in PLACEMENTS}


def _judge_steps(results: Results) -> Finding:
    most = _whole(results, "steps_max")
    return Finding(values_of(most, "questions at most"), max(most.values()) <= 3)


def _judge_loads(results: Results) -> Finding:
    loads = {
        each: sum(results["joins"].where(kind="broker", placement=each).column("relative_load"))
        for each in PLACEMENTS
    }
    return Finding(values_of(loads, "of a central server"), loads[SIMILARITY] < loads[RANDOM] / 2)


def _judge_messages(results: Results) -> Finding:
    messages = _whole(results, "messages")
    return Finding(
        values_of(messages, "messages an event"), messages[SIMILARITY] < messages[RANDOM]
    )


def _judge_hops(results: Results) -> Finding:
    hops = _whole(results, "hops")
    holds = hops[LOCALITY] < hops[SIMILARITY] <= hops[LOCALITY] + 1
    return Finding(values_of(hops, "messages from the root to the home of a reader"), holds)


def _number(table: Table) -> Table:
    """Give the brokers of each stage numbers, the busiest first; leave out those without load."""
    rows: list[Row] = []
    for placement in table.values("placement"):
        for stage in table.values("stage"):
            found = table.where(placement=placement, stage=stage).keep(lambda row: row["load"] > 0)
            ordered = sorted(found, key=lambda row: -row["load"])
            rows += [{**row, "number": number} for number, row in enumerate(ordered, 1)]
    return Table.of(rows)


FIGURES: Final = (
    Figure(
        "joins",
        "Loads where readers join by messages",
        "Every broker of the tree, the busiest of its stage first: the filters that it holds an "
        "event against, by all subscriptions. Where similar readers meet, most brokers have "
        "hardly anything to do; at random, all of a stage have the same.",
        "joins",
        tuple(
            Panel(
                f"{each.capitalize()}",
                Axis("number", "broker"),
                Axis("relative_load", "relative load", is_log=True),
                ("stage",),
                {"placement": each},
                is_joined=False,
            )
            for each in PLACEMENTS
        ),
        {"kind": "broker"},
        derived=_number,
    ),
)

_SIMILAR: Final = "“similar” subscription filters are grouped together."

CLAIMS: Final = (
    Claim("MSF-E3.4", "A join asks at most as many brokers as there are stages.",
          "It is efficient since it looks for the covering filter in stage by stage basis and does "
          "not look for the covering filter in each and every node.", ("joins",), _judge_steps,
          "Joins as messages, with three stages of brokers: the questions of one subscription."),
    Claim("MSF-E3.5", "Where readers join by messages, similarity halves the load as well.",
          _SIMILAR, ("joins",), _judge_loads, "All brokers together have less than half the load "
          "of random placement, attachments included."),
    Claim("MSF-E3.6", "Similarity also saves messages where places serve homes.", _SIMILAR,
          ("joins",), _judge_messages, "Messages between brokers by events, those from places to "
          "homes included: fewer than at random."),
    Claim("MSF-E3.7", "Similarity costs at most one message on the way to a reader.", _SIMILAR,
          ("joins",), _judge_hops, "Not measured in the paper: the mean over all deliveries, "
          "beside locality."),
)  # fmt: skip
