"""Pruning against covering and merging, on the same subscriptions (PRU-27).

Each method makes a set that covers the original. A set costs the bytes of its index, and lets in
the events, not seen before, that match at least one of its subscriptions: what a neighbour sends.
Covering leaves out what another one covers, perfect merging joins what differs in one place, and
imperfect merging joins 2 to 16 neighbours in the order of their texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final

import pyarrow as pa

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
from fyke.experiments.summaries.covering import upper
from fyke.experiments.table import Row, Table
from fyke.filters.algebra.merging import merge
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher
from fyke.nodes.message import SubscriptionKey
from fyke.pruning import PredicateStatistics, prune
from fyke.pruning.predicate_statistics import leaves_of
from fyke.routing.forwarding.merging import Merging
from fyke.workloads.auction import AuctionWorkload
from fyke.workloads.named import workload
from fyke.workloads.workload import Workload

WORKLOADS: Final = ("auction", "stock", "sensors")
PARTS: Final = 20
JOINED: Final = (2, 4, 8, 16)
_SUBSCRIPTIONS: Final = {"tiny": 60, "small": 500, "paper": 2_000}
_EVENTS: Final = {"tiny": 500, "small": 5_000, "paper": 50_000}


def _grid(scale: str) -> list[Parameters]:
    sizes = {"subscriptions": _SUBSCRIPTIONS[scale], "events": _EVENTS[scale]}
    return [{"workload": name, **sizes} for name in WORKLOADS]


def of_name(name: str, seed: int) -> Workload:
    """Return a workload; auctions are those of the paper."""
    if name == "auction":
        return AuctionWorkload(seed, typed=False, joint=True)
    return workload(name, seed)


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return the bytes of each method's sets, and the events that match one of them at least."""
    work = of_name(parameters["workload"], seed)
    events = parameters["events"]
    matcher = Matcher()
    matcher.add_many((work.id(at), text) for at, text in enumerate(work.texts(_count(parameters))))
    pairs = list(matcher.items())
    filters = [filter for _, filter in pairs]
    statistics = PredicateStatistics.of(work.columns(events), list(leaves_of(filters)))
    plan = prune(matcher, work.columns(events, events), statistics=statistics)
    sets: list[tuple[str, Iterable[Filter]]] = [("original", filters)]
    for part in range(1, PARTS + 1):
        at = part * len(plan) // PARTS
        sets.append(("pruning", (filter for _, filter in plan.filters(at))))
    left = upper(filters)
    sets += [("covering", left), ("perfect merging", list(_merge(left)))]
    sets += [("imperfect merging", list(_join(left, joined))) for joined in JOINED]
    measured = work.columns(events, 2 * events)
    common = {"workload": parameters["workload"]}
    return [{**common, "method": name, **_cost(some, measured)} for name, some in sets]


def _count(parameters: Parameters) -> int:
    found: int = parameters["subscriptions"]
    return found


def _cost(filters: Iterable[Filter], events: pa.Table) -> Row:
    matcher = Matcher()
    matcher.add_many((str(number), filter) for number, filter in enumerate(filters))
    matches = matcher.match_batch(events)
    matched = len(set(matches["event"].to_pylist()))
    return {
        "bytes": sum(matcher.sizes().values()),
        "selectivity": matched / events.num_rows,
        "subscriptions": len(matcher),
    }


def _merge(filters: Iterable[Filter]) -> Iterator[Filter]:
    """Yield what is told where perfect merging is used."""
    names = (("", str(number)) for number in count())
    merging = Merging(names.__next__)
    told: dict[SubscriptionKey, Filter] = {}
    for number, filter in enumerate(filters):
        for key, each in merging.put(("one", str(number)), filter).items():
            if each is None:
                told.pop(key, None)
            else:
                told[key] = each
    yield from told.values()


def _join(filters: Iterable[Filter], joined: int) -> Iterator[Filter]:
    """Yield a filter for so many at a time, in the order of their texts."""
    some = sorted(filters, key=str)
    for at in range(0, len(some), joined):
        yield merge(some[at : at + joined]).filter


STUDY: Final = Study("comparing", run, _grid, lambda parameters: 40.0 * parameters["subscriptions"])

# --- what is shown --------------------------------------------------------------------------------

FIGURES: Final = (
    Figure(
        "comparing",
        "Pruning, covering and merging",
        "Bytes of the index by the events that match, of sets that cover the same subscriptions. "
        "Whoever lies further down and to the left saves more memory for less traffic.",
        "comparing",
        tuple(
            Panel(
                name,
                Axis("selectivity", "events that match at least one"),
                Axis("bytes", "bytes of the index"),
                ("method",),
                {"workload": name},
                is_joined=False,
            )
            for name in WORKLOADS
        ),
    ),
)


def _freed_for_nothing(rows: Table, method: str) -> float:
    """Return the most bytes that a method frees without any event more, as a share."""
    (first,) = rows.where(method="original").rows
    allowed = first["selectivity"] + 1e-12
    sizes = [row["bytes"] for row in rows.where(method=method) if row["selectivity"] <= allowed]
    least: int = min([first["bytes"], *sizes])
    return 1 - least / int(first["bytes"])


def _without_traffic(results: Results) -> Finding:
    found = {}
    for name in WORKLOADS:
        rows = results["comparing"].where(workload=name)
        found[name] = [
            _freed_for_nothing(rows, each) for each in ("covering", "perfect merging", "pruning")
        ]
    ours = "; ".join(
        f"{name}: covering {one:.1%}, then merging {both:.1%}, pruning {pruned:.1%}"
        for name, (one, both, pruned) in found.items()
    )
    holds = all(one < 0.1 and both < 0.1 for one, both, _ in found.values())
    why = "Popular titles and symbols are subscribed to more than once."
    return Finding(ours, holds, "" if holds else why)


def _for_the_same_traffic(results: Results) -> Finding:
    wins, said = [], []
    for name in WORKLOADS:
        rows = results["comparing"].where(workload=name)
        pruned = rows.where(method="pruning")
        for row in rows.where(method="imperfect merging"):
            allowed = row["selectivity"] + 1e-12
            least = min((x["bytes"] for x in pruned if x["selectivity"] <= allowed), default=None)
            wins.append(least is not None and least <= row["bytes"])
        won = wins[-len(JOINED) :]
        said.append(f"{name}: at {sum(won)} of {len(won)}")
    why = (
        "Rows that are merged share an id and all that leads to it, which prunings leave where "
        "they are. On auctions, merged rows keep little more than `ending_within`, which refuses "
        "most events alone. They no longer say which subscription accepts an event."
    )
    return Finding("pruning takes fewer bytes, " + ", ".join(said), all(wins), why)


CLAIMS: Final = (
    Claim(
        "PRU-27.1",
        "Covering and perfect merging depend on the subscriptions: here they free little.",
        "it is not possible to apply covering and perfect merging strategies in all application "
        "scenarios",
        ("comparing",),
        _without_traffic,
        rule="Less than a tenth of the bytes of the index, in each of three workloads.",
    ),
    Claim(
        "PRU-27.2",
        "For the same traffic, pruning saves more bytes than imperfect merging.",
        "Considering imperfect merging, we do not face the sole dependency on registered "
        "subscriptions",
        ("comparing",),
        _for_the_same_traffic,
        rule="At each of the points of imperfect merging, in each of three workloads, a pruned set "
        "with at most as many matching events takes at most as many bytes.",
    ),
)
