"""Studies beyond the paper's: stages beside other strategies on the same tree, 100,000 readers
and six stages, attributes chosen by statistics, a hot year, leases.

    others      filters, messages and bytes of each strategy, on the paper's tree
    large       six stages of brokers
    orders      the order of attributes by hand and from statistics, where readers leave some out
    hot         a share of all events, and of all readers, is about one year
    leases      what renewals cost while subscriptions come and go, and what they clear away
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random
from statistics import fmean
from typing import Any, Final

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
from fyke.experiments.multistage.placing import FAN_OUT, READERS
from fyke.experiments.multistage.readers import Readers, by_stage
from fyke.experiments.multistage.tree import ATTRIBUTES, CLASSES, RANDOM, SIMILARITY
from fyke.experiments.table import Row
from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.weakening import weaken
from fyke.filters.filter import Filter
from fyke.filters.predicate import equals
from fyke.overlay.generators import hierarchy
from fyke.routing.stages.attributes import Stages
from fyke.routing.stages.generality import Generality, in_order, share_of_readers
from fyke.workloads.bibliography import LAST_YEAR, BibliographyWorkload

# --- other strategies -----------------------------------------------------------------------------

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


# --- the order of attributes ----------------------------------------------------------------------

BY_HAND: Final = "by hand"
BY_EVENTS: Final = "by events"
BY_BOTH: Final = "by events and subscriptions"
_SOME: Final = {"tiny": (100, 40), "small": (READERS, 1_000), "paper": (READERS, 20_000)}
LEFT_OUT: Final = 0.5
"""The share of the readers that do not care about the year."""


def _grid_of_orders(scale: str) -> list[Parameters]:
    count, events = _SOME[scale]
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


# --- a hot year -----------------------------------------------------------------------------------

HOT: Final = (0.0, 0.25, 0.5, 0.75)


def _grid_of_hot(scale: str) -> list[Parameters]:
    count, events = _SOME[scale]
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


# --- leases ---------------------------------------------------------------------------------------

PERIOD_S: Final = 60.0
_CHURN: Final = (0.0, 0.01, 0.1)
"""The share of all subscriptions that are replaced in a period."""
_PERIODS: Final = 5
_LEASED: Final = {"tiny": 100, "small": READERS, "paper": 10_000}
_GONE: Final = 0.1
"""The share of the brokers at the edge that stop for good."""


def _grid_of_leases(scale: str) -> list[Parameters]:
    return [
        {"churn": churn, "readers": _LEASED[scale], "leases": leases}
        for churn in _CHURN
        for leases in (False, True)
    ]


def lease(parameters: Parameters, seed: int) -> list[Row]:
    """Return messages a period while subscriptions change, and rows left of brokers that stop."""
    workload, draw = BibliographyWorkload(seed), Random(f"leases {seed}")
    count, churn = parameters["readers"], parameters["churn"]
    lease_s = PERIOD_S if parameters["leases"] else None
    readers = Readers(
        hierarchy((FAN_OUT, FAN_OUT)), seed, "multistage", stages=CLASSES, lease_s=lease_s
    )
    filters = workload.filters(2 * count + 10)
    held = [f"r{number}" for number in range(count)]
    readers.subscribe(dict(zip(held, islice(filters, count), strict=True)))
    _pass(readers, 2)
    readers.forget()
    changed = 0
    for _ in range(_PERIODS):
        gone = draw.sample(held, round(churn * count))
        readers.unsubscribe(gone)
        came = {f"r{count + changed + at}": next(filters) for at in range(len(gone))}
        readers.subscribe(came)
        changed += len(gone)
        held = [each for each in held if each not in set(gone)] + list(came)
        _pass(readers, 1)
    messages = readers.control(readers.sent) / _PERIODS
    size = readers.control(readers.bytes) / _PERIODS
    stopped = draw.sample(readers.edge, round(_GONE * len(readers.edge)))
    for broker in stopped:
        readers.overlay.crash(broker)
    before = _rows_of(readers, stopped)
    _pass(readers, _PERIODS)
    return [
        {"leases": "leases" if parameters["leases"] else "none", "churn": 100 * churn,
         "readers": count, "messages": messages, "bytes": size, "renewals": readers.sent["Renew"],
         "rows_before": before, "rows_after": _rows_of(readers, stopped)}
    ]  # fmt: skip


def _pass(readers: Readers, periods: int) -> None:
    readers.overlay.run(until=readers.overlay.now + periods * PERIOD_S)


def _rows_of(readers: Readers, stopped: list[str]) -> int:
    """Return how many rows brokers hold for others that have stopped."""
    heard = (readers.strategy(name).tables()["heard"] for name in readers.overlay.running)
    return sum(len(known) for table in heard for side, known in table.items() if side in stopped)


def _cost(parameters: Parameters) -> float:
    return float(parameters["readers"]) / 500 + float(parameters.get("events", 0)) / 1_000


STUDIES: Final = (
    Study("others", compare, _grid_of_others, _cost),
    Study("large", compare, _grid_of_large, lambda parameters: 3 * _cost(parameters)),
    Study("orders", choose, _grid_of_orders, _cost),
    Study("hot", heat, _grid_of_hot, _cost),
    Study("leases", lease, _grid_of_leases, _cost),
)


# --- claims ---------------------------------------------------------------------------------------


def _judge_load(results: Results) -> Finding:
    loads = {
        each: results["others"].one("largest_load", kind="whole", strategy=each)
        for each in STRATEGIES
    }
    holds = loads[STAGES_ALIKE] < loads[FORWARDING] and loads[STAGES_ALIKE] < loads[CENTRAL] / 5
    return Finding(_said(loads, "filters an event at the busiest broker"), holds)


def _judge_tables(results: Results) -> Finding:
    tables = {
        each: results["others"].one("largest_table", kind="whole", strategy=each)
        for each in STRATEGIES
    }
    holds = max(tables[STAGES_NEAR], tables[STAGES_ALIKE]) < tables[FORWARDING] / 2
    return Finding(_said(tables, "filters in the largest table"), holds)


def _judge_bytes(results: Results) -> Finding:
    sizes = {
        each: results["others"].one("event_bytes", kind="whole", strategy=each)
        for each in STRATEGIES
    }
    holds = sizes[FORWARDING] <= sizes[STAGES_ALIKE] < sizes[BROADCAST] / 2
    return Finding(_said(sizes, "bytes an event, on all links"), holds)


def _said(values: dict[str, float], what: str) -> str:
    return ", ".join(f"{value:.3g} ({name})" for name, value in values.items()) + f": {what}"


def _judge_large(results: Results) -> Finding:
    table = results["large"].where(kind="whole")
    count = max(table.values("readers"))
    loads = {each: table.one("largest_load", strategy=each) for each in table.values("strategy")}
    said = _said(loads, f"filters an event at the busiest broker, with {count:,} readers")
    holds = max(loads.values()) < count / 20
    why = (
        "There are 500 pairs of a year and a conference, however few readers: two stages hold all."
    )
    return Finding(said, holds, "" if holds else why)


def _judge_orders(results: Results) -> Finding:
    table = results["orders"].where(stage=3)
    messages = {each: table.one("messages", order=each) for each in (BY_HAND, BY_EVENTS, BY_BOTH)}
    said = _said(messages, "messages an event")
    return Finding(said, messages[BY_BOTH] < min(messages[BY_HAND], messages[BY_EVENTS]))


def _judge_hot(results: Results) -> Finding:
    uneven = {
        each: results["hot"].one("uneven", placement=each, share=0.5, stage=2)
        for each in (RANDOM, SIMILARITY)
    }
    said = _said(
        uneven, "times the mean at the busiest broker of stage 2, half of all about a year"
    )
    return Finding(said, uneven[RANDOM] < 2 and uneven[SIMILARITY] > 4)


def _judge_renewals(results: Results) -> Finding:
    table, extra = results["leases"], {}
    for churn in table.values("churn"):
        pair = [table.one("messages", churn=churn, leases=each) for each in ("leases", "none")]
        extra[f"{churn:g} % replaced"] = pair[0] - pair[1]
    links = FAN_OUT + FAN_OUT * FAN_OUT
    said = _said(extra, f"messages a period more with leases, on {links} links")
    return Finding(said, max(extra.values()) <= 1.1 * links)


def _judge_expiry(results: Results) -> Finding:
    table = results["leases"].where(churn=0.0)
    left = {each: table.one("rows_after", leases=each) for each in ("leases", "none")}
    before = table.one("rows_before", leases="leases")
    said = _said(left, f"rows left of brokers that stopped; {before} before")
    return Finding(said, left["leases"] == 0 and left["none"] > 0)


_BUSIEST: Final = Axis("largest_load", "filters an event, at the busiest", is_log=True)

FIGURES: Final = (
    Figure(
        "others", "Beside other strategies, on the same tree",
        "The busiest broker of each stage and the largest table: stages keep both small where "
        "others pass everything on or know everything. Events come in at the root.", "others",
        (
            Panel("Load", Axis("stage", "stage"), _BUSIEST, ("strategy",)),
            Panel("Table", Axis("stage", "stage"),
                  Axis("largest_table", "filters of the largest table", is_log=True),
                  ("strategy",)),
        ), {"kind": "stage"},
    ),
    Figure(
        "large", "Six stages of brokers",
        "The busiest broker of each of six stages. No broker comes near a central server, which "
        "would have as many filters as there are readers.", "large",
        (
            Panel("Load", Axis("stage", "stage"), _BUSIEST, ("strategy",)),
            Panel("Table", Axis("stage", "stage"),
                  Axis("largest_table", "filters of the largest table", is_log=True),
                  ("strategy",)),
        ), {"kind": "stage"},
    ),
    Figure(
        "orders", "The order of attributes",
        "Half of the readers do not care about the year, which is the most general attribute. An "
        "order that counts what subscriptions read keeps other attributes near the root.",
        "orders",
        (Panel("Load", Axis("stage", "stage"), Axis("stage_load", "filters an event, at the "
               "busiest", is_log=True), ("order",)),),
    ),
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
    Figure(
        "leases", "Leases and explicit ends",
        "Messages between brokers in a period, by the share of subscriptions that are replaced; "
        "rows that are left when a tenth of the brokers at the edge has stopped for good. Leases "
        "cost a message a link and period, and clear away what nobody ends.", "leases",
        (
            Panel("Messages", Axis("churn", "% replaced a period"),
                  Axis("messages", "messages a period"), ("leases",)),
            Panel("Left of what is gone", Axis("churn", "% replaced a period"),
                  Axis("rows_after", "rows"), ("leases",)),
        ),
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
    Claim("MSF-B5", "An order that counts what subscriptions read saves messages.",
          "attribute filters are ordered according to the generality", ("orders",), _judge_orders,
          "Not measured in the paper. Half of the readers leave out the most general attribute; "
          "fewer messages than by hand, and than by events alone."),
    Claim("MSF-B6", "Similarity gathers a hot year at one broker.", "“similar” subscription "
          "filters are grouped together.", ("hot",), _judge_hot, "Not measured in the paper: with "
          "half of all about one year, the busiest of ten brokers of stage 2 has more than four "
          "times the mean by similarity, less than twice at random."),
    Claim("MSF-B7", "Leases cost one message a link and period.", "each node renews the validity "
          "of the filters which they submitted to their parents.", ("leases",), _judge_renewals,
          "Whatever changes meanwhile: at most a tenth more than there are links."),
    Claim("MSF-B8", "What stops for good is forgotten.", "The scheme is better suited than "
          "explicit unsubscription in some sense as it handles process failure", ("leases",),
          _judge_expiry, "A tenth of the brokers at the edge stops: no row is left of them after "
          "five periods; without leases, some are."),
)  # fmt: skip
