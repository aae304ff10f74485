"""The studies: sizes and hops by the model, real bytes, events, matching, what passes."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Final

from fyke.events.event import Event
from fyke.experiments.experiment import Parameters, Study
from fyke.experiments.summaries.model import Forest, Siena, SizeModel, graph, mean_distance
from fyke.experiments.summaries.workload import event, subscriptions
from fyke.experiments.table import Row
from fyke.filters.filter import Filter, walk
from fyke.filters.merging import maximal
from fyke.filters.predicate import In
from fyke.matching.matcher import Matcher
from fyke.overlay.named import named
from fyke.summaries.merging import merge
from fyke.summaries.plain import PlainSummary
from fyke.summaries.summary import Summary
from fyke.workloads.named import workload

SUBSUMPTIONS: Final = (0.1, 0.25, 0.5, 0.75, 0.9)
SIGMAS: Final = {
    "tiny": (10, 100, 1_000),
    "small": (10, 30, 100, 300, 1_000),
    "paper": (10, 30, 100, 300, 1_000),
}
POPULARITIES: Final = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_GRAPHS: Final = {"tiny": 2, "small": 5, "paper": 5}
_EVENTS: Final = {"tiny": 20, "small": 200, "paper": 1_000}
_REAL: Final = {"tiny": (10, 50), "small": (10, 100), "paper": (10, 100, 1_000)}
MODELS: Final = {
    "paper": SizeModel(),
    "n_t 20": SizeModel(n_t=20, subscription=100),
    "n_sr 10": SizeModel(n_sr=10),
    "sid 8": SizeModel(sid=8),
    "ssv 20": SizeModel(ssv=20, subscription=80),
}


def _overlays(scale: str) -> list[Parameters]:
    return [
        {"topology": "cwix", "seed": 0},
        *({"topology": "random graph", "seed": seed} for seed in range(_GRAPHS[scale])),
    ]


# --- the model ------------------------------------------------------------------------------------


def _model_grid(scale: str) -> list[Parameters]:
    return [{**each, "scale": scale} for each in _overlays(scale)]


def _model(parameters: Parameters, seed: int) -> list[Row]:
    name, number = parameters["topology"], parameters["seed"]
    forest, siena = graph(name, number)
    count = len(forest.topology.brokers)
    far = mean_distance(forest.topology)
    rows: list[Row] = []
    for which, model in MODELS.items():
        for p in (0.0, *SUBSUMPTIONS):
            for sigma in SIGMAS[parameters["scale"]]:
                sent = siena.forwarded(p)
                common = {
                    **{"topology": name, "graph": number, "model": which, "brokers": count},
                    **{"p": p, "sigma": sigma},
                }
                own = count * sigma * model.subscription
                values = {
                    "baseline": ((count - 1) * far * own, count * (count - 1), count * own),
                    "siena": (
                        sent * sigma * model.subscription,
                        sent,
                        own + sent * sigma * model.subscription,
                    ),
                    "summary": (
                        forest.bandwidth(model, sigma, p),
                        forest.hops,
                        forest.storage(model, sigma, p),
                    ),
                }
                for approach, (sent_bytes, hops, stored) in values.items():
                    measured = {"bytes": sent_bytes, "hops": hops, "storage": stored}
                    rows.append({**common, "approach": approach, **measured})
                exact = forest.storage(model, sigma, p) + own
                rows[-1]["storage_with_copies"] = exact
    return rows


# --- real bytes -----------------------------------------------------------------------------------


def _real_grid(scale: str) -> list[Parameters]:
    return [{"p": p, "sigma": sigma} for p in SUBSUMPTIONS for sigma in _REAL[scale]]


def _real(parameters: Parameters, seed: int) -> list[Row]:
    """Return the bytes of real summaries of generated subscriptions on cwix."""
    p, sigma = parameters["p"], parameters["sigma"]
    forest, siena = graph("cwix", 0)
    own, texts, packed = {}, 0, 0
    for broker in forest.topology.brokers:
        filters = subscriptions(sigma, p, f"{seed} {broker}")
        text = "\n".join(map(str, filters)).encode()
        texts, packed = texts + len(text), packed + len(zlib.compress(text, 9))
        pairs = [(f"s{at}", each) for at, each in enumerate(filters)]
        own[broker] = Summary.of(pairs, owner=broker, version=1)
    sent, stored = 0, 0
    for broker, some in forest.merged.items():
        size = merge([own[each] for each in sorted(some)]).size
        stored += size
        sent += size * len(forest.targets[broker])
    some_filters = subscriptions(min(sigma, 100), p, f"{seed} covered")
    covered = 1 - len(maximal(some_filters)) / len(some_filters)
    count = len(forest.topology.brokers)
    mean = texts / (count * sigma)
    alone = sum(each.size for each in own.values())
    return [
        {
            **{"p": p, "sigma": sigma, "text": texts / count, "compressed": packed / count},
            **{"summary": alone / count, "bytes": sent, "storage": stored},
            "siena_bytes": siena.forwarded(p) * sigma * mean,
            "baseline_bytes": (count - 1) * mean_distance(forest.topology) * texts,
            "covered": covered,
        }
    ]


# --- events ---------------------------------------------------------------------------------------


def _events_grid(scale: str) -> list[Parameters]:
    return [{**each, "events": _EVENTS[scale]} for each in _overlays(scale)]


def _events(parameters: Parameters, seed: int) -> list[Row]:
    """Return the mean hops of events, counted in three ways, by how many brokers want them."""
    name, number = parameters["topology"], parameters["seed"]
    forest, siena = graph(name, number)
    brokers = forest.topology.brokers
    draw = Random(f"events {name} {number} {seed}")
    far = {broker: forest.topology.distances(broker) for broker in brokers}
    walks = {broker: forest.walk(broker) for broker in brokers}
    rows: list[Row] = []
    for popularity in POPULARITIES:
        count = round(popularity * len(brokers))
        sums = dict.fromkeys(("summary", "links", "searches", "siena", "unicast"), 0)
        total = 0
        for start in brokers:
            walk = walks[start]
            examiner = {each: at for at in reversed(walk) for each in forest.merged[at]}
            searched = sum(far[a][b] for a, b in pairwise(walk))
            for _ in range(parameters["events"]):
                wanting = draw.sample(brokers, count)
                told = [each for each in wanting if each not in walk]
                total += 1
                sums["searches"] += len(walk) - 1
                sums["summary"] += len(walk) - 1 + len(told)
                sums["links"] += searched + sum(far[examiner[each]][each] for each in told)
                sums["siena"] += siena.edges(start, wanting)
                sums["unicast"] += sum(far[start][each] for each in wanting)
        mean = {key: value / total for key, value in sums.items()}
        common = {"topology": name, "graph": number, "popularity": popularity, "events": total}
        rows.append({**common, "approach": "summary", "hops": mean["summary"], **mean})
        rows.append({**common, "approach": "siena, tree edges", "hops": mean["siena"]})
        rows.append({**common, "approach": "siena, unicast", "hops": mean["unicast"]})
        rows.append({**common, "approach": "summary, overlay links", "hops": mean["links"]})
    return rows


# --- matching -------------------------------------------------------------------------------------


def _matching_grid(scale: str) -> list[Parameters]:
    counts = {"tiny": (100, 200), "small": (250, 500, 1_000), "paper": (1_000, 2_000, 4_000, 8_000)}
    return [{"subscriptions": count, "p": p} for count in counts[scale] for p in (0.1, 0.5, 0.9)]


def _matching(parameters: Parameters, seed: int) -> list[Row]:
    """Return steps of Algorithm 1 by both readings of T1, and times beside others."""
    count, p = parameters["subscriptions"], parameters["p"]
    pairs = [(f"s{at}", each) for at, each in enumerate(subscriptions(count, p, seed))]
    summary, plain = Summary.of(pairs), PlainSummary.of(pairs)
    matcher = Matcher()
    matcher.add_many(pairs)
    table = maximal([filter for _, filter in pairs[: min(count, 500)]])
    draw = Random(f"matching {seed}")
    events = [event(draw) for _ in range(40)]
    product = added = collected = 0.0
    for (name, _), rows in plain.rows.items():
        listed = sum(len(ids) for _, ids in rows)
        points = sum(
            1 for row, _ in rows if name.startswith("n") and row[1][1][1:] == (row[1][0][1], 1)
        )
        ranges = len(rows) - points
        if name.startswith("n"):
            product += max(ranges * listed, points + listed)
            added += max(ranges + listed, points + listed)
        else:
            product, added = product + len(rows) + listed, added + len(rows) + listed
        collected += listed
    times = {
        "Algorithm 1 on lists": _time(plain.match, events),
        "summary, arrays": _time(summary.match, events),
        "may_match": _time(summary.may_match, events),
        "matcher": _time(matcher.match, events),
        "covering table": _time(lambda each: [f for f in table if f.matches(each)], events)
        * max(1.0, count / 500),
    }
    common = {
        "subscriptions": count,
        "p": p,
        "t1_product": product,
        "t1_sum": added,
        "t2": collected,
    }
    return [{**common, "approach": name, "us": us} for name, us in times.items()]


def _time(ask: Callable[..., object], events: list[Event]) -> float:
    """Return microseconds of processor time for an event."""
    for each in events[:5]:
        ask(each)
    begin = time.process_time()
    for each in events:
        ask(each)
    return (time.process_time() - begin) / len(events) * 1e6


# --- what passes ----------------------------------------------------------------------------------


def _passing_grid(scale: str) -> list[Parameters]:
    count = {"tiny": 100, "small": 1_000, "paper": 10_000}[scale]
    budgets = {"tiny": (1_000, 4_000), "small": (4_000, 16_000, 64_000)}
    chosen = budgets.get(scale, (4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000))
    modes: list[Parameters] = [
        {"mode": "coarse"},
        {"mode": "exact"},
        *({"budget": each} for each in chosen),
    ]
    return [{"subscriptions": count, **each} for each in modes]


def _passing(parameters: Parameters, seed: int) -> list[Row]:
    """Return how many stock events pass, most of which nobody wants: prices are moved far off."""
    stock = workload("stock")
    count = parameters["subscriptions"]
    pairs = [(each.id, each.filter) for each in map(stock.subscription, range(count))]
    matcher = Matcher()
    matcher.add_many(pairs)
    events = stock_events(range(400), seed)
    right = [bool(matcher.match(each)) for each in events]
    summary = Summary.of(
        pairs,
        parameters.get("mode"),
        budget=parameters.get("budget"),
        sample=stock_events(range(1_000, 1_400), seed),
    )
    passed = [summary.may_match(each) for each in events]
    assert all(passes or not matches for passes, matches in zip(passed, right, strict=True))
    which = parameters.get("mode") or "budget"
    rows = [{"summary": which, "bytes": summary.size, "passing": sum(passed) / len(events)}]
    rows.append(_bloom(pairs, events, summary.size))
    common = {"subscriptions": count, "matching": sum(right) / len(events)}
    return [{**common, **each} for each in rows]


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


def _bloom(pairs: list[tuple[str, Filter]], events: list[Event], size: int) -> Row:
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


# --- larger overlays ------------------------------------------------------------------------------


def _beyond_grid(scale: str) -> list[Parameters]:
    sizes = {"tiny": (24, 60), "small": (24, 60, 150), "paper": (24, 60, 150, 400, 1_000)}
    return [{"brokers": brokers} for brokers in sizes[scale]]


def _beyond(parameters: Parameters, seed: int) -> list[Row]:
    """Return what events cost on random graphs of any size, by who wants them."""
    count = parameters["brokers"]
    topology = named("random_graph", count, seed)
    forest, siena = Forest(topology), Siena(topology)
    draw = Random(f"beyond {seed} {count}")
    starts = draw.sample(topology.brokers, min(count, 12))
    walks = {start: forest.walk(start) for start in starts}
    rows: list[Row] = []
    for popularity in (0.0, 0.01, 0.1):
        wanted = round(popularity * count)
        ours = edges = 0
        for start in starts:
            wanting = draw.sample(topology.brokers, wanted)
            ours += len(walks[start]) - 1 + sum(each not in walks[start] for each in wanting)
            edges += siena.edges(start, wanting)
        searched = sum(len(walk) - 1 for walk in walks.values()) / len(starts)
        known = {
            **{"brokers": count, "popularity": popularity, "hops_of_summaries": forest.hops},
            **{"searches": searched, "largest_merged": max(map(len, forest.merged.values()))},
        }
        for approach, messages in (
            ("summary", ours / len(starts)),
            ("siena, tree edges", edges / len(starts)),
            ("flooding a tree", count - 1),
        ):
            rows.append({**known, "approach": approach, "messages": messages})
    return rows


STUDIES: Final = (
    Study("model", _model, _model_grid),
    Study("real", _real, _real_grid, lambda parameters: parameters["sigma"]),
    Study("events", _events, _events_grid),
    Study("matching", _matching, _matching_grid, lambda parameters: parameters["subscriptions"]),
    Study("passing", _passing, _passing_grid),
    Study("beyond", _beyond, _beyond_grid, lambda parameters: parameters["brokers"] / 10),
)
