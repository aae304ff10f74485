"""Replacement against pruning, which the paper compares in words (sections 5.4 and 7).

Both run on the same subscriptions, from the same counts. After as many operations of either, the
events that match are counted, and the bytes that the engine `boolean` takes: there predicates are
shared, which is what replacement is for.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
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
from fyke.experiments.table import Row
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher
from fyke.pruning import PredicateStatistics, prune
from fyke.pruning.predicate_statistics import leaves_of
from fyke.pruning.replacement import Replacing
from fyke.workloads.auction import AuctionWorkload

PARTS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of all replacements that are possible."""
_SUBSCRIPTIONS: Final = {"tiny": 60, "small": 200, "paper": 1_000}
_EVENTS: Final = {"tiny": 500, "small": 4_000, "paper": 20_000}


def _grid(scale: str) -> list[Parameters]:
    return [{"subscriptions": _SUBSCRIPTIONS[scale], "events": _EVENTS[scale]}]


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Prune and replace, and measure both after as many operations."""
    workload = AuctionWorkload(seed, typed=False, joint=True)
    matcher = Matcher("scan")
    texts = workload.texts(parameters["subscriptions"])
    matcher.add_many((workload.id(number), text) for number, text in enumerate(texts))
    events = workload.columns(parameters["events"])
    leaves = list(leaves_of(filter for _, filter in matcher.items()))
    statistics = PredicateStatistics.of(events, leaves)
    plan = prune(matcher, statistics=statistics)
    replacing = Replacing.of(matcher, statistics)
    possible = min(sum(1 for _ in replacing.run()), len(plan))
    replacing = Replacing.of(matcher, statistics)
    steps = replacing.run()
    rows, done = [], 0
    for part in PARTS:
        operations = round(part * possible)
        while done < operations:
            next(steps)
            done += 1
        sets = {"pruning": plan.filters(operations), "replacement": replacing.filters.items()}
        rows += [
            {"method": name, "operations": operations, **_measure(filters, workload, parameters)}
            for name, filters in sets.items()
        ]
    return rows


def _measure(
    filters: Iterable[tuple[str, Filter]], workload: AuctionWorkload, parameters: Parameters
) -> Row:
    """Build the index, and match events that were not counted."""
    pairs = list(filters)
    Matcher("boolean").add_many(pairs)  # what filters keep of a first use is not the index's
    tracemalloc.start()
    try:
        built = Matcher("boolean")
        built.add_many(pairs)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    found = Matcher()
    found.add_many(pairs)
    count = parameters["events"]
    matches = found.match_batch(workload.columns(count, count))
    events = len(set(matches["event"].to_pylist()))
    distinct = len(set(leaves_of(filter for _, filter in pairs)))
    return {"bytes": size, "selectivity": events / count, "distinct": distinct}


STUDY: Final = Study("replacement", run, _grid)
_X: Final = Axis("operations", "operations")
FIGURES: Final = (
    Figure(
        "replacement",
        "Replacement against pruning",
        "The total selectivity, and the bytes of the engine that shares predicates, after as many "
        "replacements as prunings. Replacement affects selectivity less, pruning frees more.",
        "replacement",
        (
            Panel("selectivity", _X, Axis("selectivity", "total selectivity"), ("method",)),
            Panel("memory", _X, Axis("bytes", "bytes of the engine boolean"), ("method",)),
        ),
    ),
)


def _last(results: Results, column: str) -> tuple[float, float]:
    rows = results["replacement"]
    most = max(rows.column("operations"))
    pruned, replaced = (
        rows.one(column, method=name, operations=most) for name in ("pruning", "replacement")
    )
    return pruned, replaced


def _selectivity(results: Results) -> Finding:
    pruned, replaced = _last(results, "selectivity")
    curves = (
        results["replacement"].curve("operations", "selectivity", method=name)
        for name in ("replacement", "pruning")
    )
    less = sum(one <= other for one, other in zip(*curves, strict=True))
    why = (
        f"At {less} of {len(PARTS)} places it lets in no more than pruning; the last replacements "
    )
    why += "reach far, because no near predicate is left."
    ours = f"{replaced:.4f} by replacement, {pruned:.4f} by pruning"
    return Finding(ours, replaced < pruned, "" if replaced < pruned else why)


def _memory(results: Results) -> Finding:
    pruned, replaced = _last(results, "bytes")
    ours = f"{pruned / 1e3:,.0f} kB left by pruning, {replaced / 1e3:,.0f} kB by replacement"
    return Finding(ours, pruned < replaced)


_RULE: Final = "After as many operations of either as there are replacements."
CLAIMS: Final = (
    Claim(
        "PRU-24.1",
        "Replacement affects selectivity less than pruning.",
        "predicate replacement affects selectivity less than pruning",
        ("replacement",),
        _selectivity,
        rule=_RULE,
    ),
    Claim(
        "PRU-24.2",
        "Pruning relieves more memory than replacement.",
        "Our pruning option relieves more memory resources than replacement",
        ("replacement",),
        _memory,
        rule=_RULE + " Bytes are those that building the engine allocates.",
    ),
)
