"""A hot year: a share of all events, and of all readers, is about one year."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from statistics import fmean
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
from fyke.experiments.multistage.placing import FAN_OUT
from fyke.experiments.multistage.readers import SIZES, Readers, by_stage, cost
from fyke.experiments.multistage.tree import CLASSES
from fyke.experiments.table import Row
from fyke.experiments.wording import values_of
from fyke.filters.algebra.covering import covers
from fyke.filters.predicate import equals
from fyke.overlay.generators import hierarchy
from fyke.routing.stages.hosting import RANDOM, SIMILARITY
from fyke.workloads.bibliography import LAST_YEAR, BibliographyWorkload

HOT: Final = (0.0, 0.25, 0.5, 0.75)


def _grid(scale: str) -> list[Parameters]:
    count, events = SIZES[scale]
    return [
        {"placement": placement, "share": share, "readers": count, "events": events}
        for placement in (RANDOM, SIMILARITY)
        for share in HOT
    ]


def heat(parameters: Parameters, seed: int) -> list[Row]:
    """Return loads by stage, where a share of events and readers is about the last year."""
    share, draw = parameters["share"], Random(f"hot {seed}")
    workload, hot = BibliographyWorkload(seed), equals("year", LAST_YEAR)
    others, wanted = _endless(workload.events), _endless(workload.events, 10_000_000)
    all_filters, of_year = _endless(workload.filters), _endless(workload.filters, 10_000_000)
    readers = Readers(
        hierarchy((FAN_OUT, FAN_OUT)), seed, "multistage",
        stages=CLASSES, placement=parameters["placement"],
    )  # fmt: skip
    hot_filters = (each for each in of_year if covers(hot, each))
    hot_events = (each for each in wanted if hot.matches(each))
    readers.subscribe(
        {f"r{number}": next(hot_filters if draw.random() < share else all_filters)
         for number in range(parameters["readers"])}
    )  # fmt: skip
    readers.forget()
    readers.publish(
        next(hot_events if draw.random() < share else others) for _ in range(parameters["events"])
    )
    brokers = list(readers.brokers())
    largest, mean = by_stage(brokers, "load", max), by_stage(brokers, "load", fmean)
    return [
        {"placement": parameters["placement"], "share": share, "stage": stage,
         "largest_load": load, "mean_load": mean[stage],
         "uneven": load / mean[stage] if mean[stage] else None}
        for stage, load in largest.items()
    ]  # fmt: skip


def _endless(make: Any, start: int = 0, block: int = 1_000) -> Iterator[Any]:
    while True:
        yield from make(block, start)
        start += block


STUDY: Final = Study("hot", heat, _grid, cost)


# --- claims ---------------------------------------------------------------------------------------


def _judge_hot(results: Results) -> Finding:
    uneven = {
        each: results["hot"].one("uneven", placement=each, share=0.5, stage=2)
        for each in (RANDOM, SIMILARITY)
    }
    said = values_of(
        uneven, "times the mean at the busiest broker of stage 2, half of all about a year"
    )
    return Finding(said, uneven[RANDOM] < 2 and uneven[SIMILARITY] > 4)


FIGURES: Final = (
    Figure(
        "hot", "A hot year",
        "A share of all events, and of all readers, is about one year. Where similar readers "
        "meet, one broker of stage 2 has them all; at random, all have the same.", "hot",
        tuple(
            Panel(f"{each.capitalize()}", Axis("share", "share of the year"),
                  Axis("uneven", "load of the busiest / mean"), ("stage",), {"placement": each})
            for each in (RANDOM, SIMILARITY)
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("MSF-B6", "Similarity gathers a hot year at one broker.", "“similar” subscription "
          "filters are grouped together.", ("hot",), _judge_hot, "Not measured in the paper: with "
          "half of all about one year, the busiest of ten brokers of stage 2 has more than four "
          "times the mean by similarity, less than twice at random."),
)  # fmt: skip
