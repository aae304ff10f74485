"""Events that pass: a small structure lets them through, though nobody wants them.

Summaries of all modes and budgets, a Bloom filter of equality values in as many bytes, and pruned
subscriptions, whose bytes are those of their text, compressed. They lose no event.
"""

from __future__ import annotations

import zlib
from random import Random

from fyke.events.event import Event
from fyke.experiments.experiment import Parameters
from fyke.experiments.table import Row
from fyke.filters.filter import Filter, walk
from fyke.filters.predicate import In
from fyke.matching.matcher import Matcher
from fyke.pruning import prune
from fyke.summaries.summary import Summary
from fyke.workloads.named import workload

Pairs = list[tuple[str, Filter]]


def passing_grid(scale: str) -> list[Parameters]:
    count = {"tiny": 100, "small": 1_000, "paper": 10_000}[scale]
    budgets = {"tiny": (1_000, 4_000), "small": (4_000, 16_000, 64_000)}
    chosen = budgets.get(scale, (4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000))
    ways: list[Parameters] = [
        {"mode": "coarse"},
        {"mode": "exact"},
        *({"budget": each} for each in chosen),
        {"left": [0.8, 0.6, 0.4, 0.2]},
    ]
    return [{"subscriptions": count, **each} for each in ways]


def passing(parameters: Parameters, seed: int) -> list[Row]:
    """Return how many stock events pass, most of which nobody wants: prices are moved far off."""
    stock = workload("stock")
    count = parameters["subscriptions"]
    pairs = [(each.id, each.filter) for each in map(stock.subscription, range(count))]
    matcher = Matcher()
    matcher.add_many(pairs)
    events, sample = stock_events(range(400), seed), stock_events(range(1_000, 1_400), seed)
    right = [bool(matcher.match(each)) for each in events]
    if "left" in parameters:
        rows = _prune(matcher, sample, events, right, parameters["left"])
    else:
        mode, budget = parameters.get("mode"), parameters.get("budget")
        summary = Summary.of(pairs, mode, budget=budget, sample=sample)
        passed = _check([summary.may_match(each) for each in events], right)
        rows = [{"summary": mode or "budget", "bytes": summary.size, "passing": passed}]
        rows.append(_bloom(pairs, events, summary.size))
    common = {"subscriptions": count, "matching": sum(right) / len(events)}
    return [{**common, **each} for each in rows]


def _check(passed: list[bool], right: list[bool]) -> float:
    """Return the share that passes; nothing that matches may be stopped."""
    assert all(passes or not matches for passes, matches in zip(passed, right, strict=True))
    return sum(passed) / len(passed)


def stock_events(numbers: range, seed: int) -> list[Event]:
    """Return ticks of which one in twenty is as it was; others trade little, at odd prices."""
    stock = workload("stock")
    found = []
    for number in numbers:
        tick = stock.event(number)
        draw = Random(f"moved {seed} {number}")
        if draw.random() < 0.05:
            found.append(tick)
            continue
        values = dict(tick.attributes)
        factor = draw.uniform(1.5, 6)
        for name in ("price", "high", "low"):
            values[name] = round(float(values[name]) * factor, 2)  # type: ignore[arg-type]
        values["volume"] = draw.choice((0, 100))
        found.append(Event(values, supertypes=tick.supertypes))
    return found


def _prune(
    matcher: Matcher,
    sample: list[Event],
    events: list[Event],
    right: list[bool],
    shares: list[float],
) -> list[Row]:
    """Return what pruned subscriptions let through, with so many of their predicates left."""
    plan = prune(matcher, sample)
    rows = []
    for share in shares:
        pruned = plan.at(predicates=share)
        text = "\n".join(str(filter) for _, filter in pruned.items()).encode()
        passed = _check([bool(pruned.match(each)) for each in events], right)
        rows.append({"summary": "pruned", "bytes": len(zlib.compress(text, 9)), "passing": passed})
    return rows


def _bloom(pairs: Pairs, events: list[Event], size: int) -> Row:
    """Return what a Bloom filter of (attribute, value) equalities lets through, of the same size.

    A subscription without equalities lets everything through; then so does the filter.
    """
    bits = max(8 * size, 64)
    filled: set[int] = set()
    is_open = False
    for _, filter in pairs:
        equal = [leaf for leaf in walk(filter) if isinstance(leaf, In)]
        is_open |= not equal
        for leaf in equal:
            for value in leaf.values:
                filled |= _places(leaf.attribute, value, bits)
    passed = 0
    for each in events:
        passed += is_open or any(
            _places(name, value, bits) <= filled for name, value in each.attributes.items()
        )
    return {"summary": "Bloom filter", "bytes": size, "passing": passed / len(events)}


def _places(name: str, value: object, bits: int) -> set[int]:
    """Return the four bits of a value."""
    return {zlib.crc32(f"{at} {name} {value!r}".encode()) % bits for at in range(4)}
