"""The studies: sizes and hops by the model, real bytes, events, variants, matching."""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, pairwise
from random import Random
from typing import Final

from fyke.events.event import Event
from fyke.experiments.experiment import Parameters, Study
from fyke.experiments.summaries.covering import steps, text_bytes, upper
from fyke.experiments.summaries.model import Forest, SizeModel, graph, mean_distance
from fyke.experiments.summaries.passing import passing, passing_grid
from fyke.experiments.summaries.simulated import beyond, beyond_grid
from fyke.experiments.summaries.workload import event, lies_inside, subscriptions
from fyke.experiments.table import Row
from fyke.matching.matcher import Matcher
from fyke.summaries.merging import merge
from fyke.summaries.plain import PlainSummary
from fyke.summaries.summary import Summary

SUBSUMPTIONS: Final = (0.1, 0.25, 0.5, 0.75, 0.9)
SIGMAS: Final = {
    "tiny": (10, 100, 1_000),
    "small": (10, 30, 100, 300, 1_000),
    "paper": (10, 30, 100, 300, 1_000),
}
POPULARITIES: Final = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_GRAPHS: Final = {"tiny": 2, "small": 5, "paper": 5}
_EVENTS: Final = {"tiny": 20, "small": 200, "paper": 1_000}
EVENT_BYTES: Final = 50
"""Of table 1. A search carries a bit for each broker beside it (BROCLI)."""
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
    own, texts, packed, kept, kept_bytes, alone_kept, inside = {}, 0, 0, 0, 0, 0, 0
    for broker in forest.topology.brokers:
        filters = subscriptions(sigma, p, f"{seed} {broker}")
        text = "\n".join(map(str, filters)).encode()
        texts, packed = texts + len(text), packed + len(zlib.compress(text, 9))
        pairs = [(f"s{at}", each) for at, each in enumerate(filters)]
        own[broker] = Summary.of(pairs, owner=broker, version=1)
        inside += sum(map(lies_inside, filters))
        left = upper(filters)
        kept, kept_bytes = kept + len(left), kept_bytes + text_bytes(left)
        alone_kept += Summary.of([(f"s{at}", each) for at, each in enumerate(left)]).size
    sent, stored = 0, 0
    for broker, some in forest.merged.items():
        size = merge([own[each] for each in sorted(some)]).size
        stored += size
        sent += size * len(forest.targets[broker])
    count = len(forest.topology.brokers)
    mean = texts / (count * sigma)
    alone = sum(each.size for each in own.values())
    return [
        {
            **{"p": p, "sigma": sigma, "text": texts / count, "compressed": packed / count},
            **{"summary": alone / count, "bytes": sent, "storage": stored},
            "siena_bytes": siena.forwarded(p) * sigma * mean,
            "baseline_bytes": (count - 1) * mean_distance(forest.topology) * texts,
            "covering_bytes": kept_bytes * (count - 1),
            "inside": inside / (count * sigma),
            "covered": 1 - kept / (count * sigma),
            "subsumed_summary": alone_kept / count,
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
        sums = dict.fromkeys(("summary", "links", "searches", "siena", "unicast", "far"), 0)
        total = 0
        for start in brokers:
            walk = walks[start]
            examiner = {each: at for at in reversed(walk) for each in forest.merged[at]}
            arrived = dict(zip(walk, accumulate(far[a][b] for a, b in _steps(walk)), strict=True))
            searched = arrived[walk[-1]]
            for _ in range(parameters["events"]):
                wanting = draw.sample(brokers, count)
                told = [each for each in wanting if each not in walk]
                total += 1
                sums["searches"] += len(walk) - 1
                sums["summary"] += len(walk) - 1 + len(told)
                sums["links"] += searched + sum(far[examiner[each]][each] for each in told)
                sums["far"] += sum(
                    arrived.get(each) or arrived[examiner[each]] + far[examiner[each]][each]
                    for each in wanting
                )
                sums["siena"] += siena.edges(start, wanting)
                sums["unicast"] += sum(far[start][each] for each in wanting)
        mean = {key: value / total for key, value in sums.items()}
        ends = max(count, 1)
        route = (len(brokers) + 7) // 8
        bytes_sent = mean["summary"] * EVENT_BYTES + mean["searches"] * route
        late = {"latency": mean["far"] / ends, "bytes": bytes_sent}
        early = {"latency": mean["unicast"] / ends, "bytes": mean["siena"] * EVENT_BYTES}
        common = {"topology": name, "graph": number, "popularity": popularity, "events": total}
        rows.append({**common, "approach": "summary", "hops": mean["summary"], **mean, **late})
        rows.append({**common, "approach": "siena, tree edges", "hops": mean["siena"], **early})
        rows.append({**common, "approach": "siena, unicast", "hops": mean["unicast"]})
        rows.append({**common, "approach": "summary, overlay links", "hops": mean["links"]})
    return rows


def _steps(walk: list[str]) -> list[tuple[str, str]]:
    """Return the steps of a walk, the first from its start to itself."""
    return [(walk[0], walk[0]), *pairwise(walk)]


# --- matching -------------------------------------------------------------------------------------


def _matching_grid(scale: str) -> list[Parameters]:
    counts = {"tiny": (100, 200), "small": (250, 500, 1_000), "paper": (500, 1_000, 2_000, 4_000)}
    return [{"subscriptions": count, "p": p} for count in counts[scale] for p in (0.1, 0.5, 0.9)]


def _matching(parameters: Parameters, seed: int) -> list[Row]:
    """Return steps of Algorithm 1 by both readings of T1, and times beside others."""
    count, p = parameters["subscriptions"], parameters["p"]
    pairs = [(f"s{at}", each) for at, each in enumerate(subscriptions(count, p, seed))]
    summary, plain = Summary.of(pairs), PlainSummary.of(pairs)
    matcher = Matcher()
    matcher.add_many(pairs)
    table = upper([filter for _, filter in pairs])
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
        "covering table": _time(lambda each: [f for f in table if f.matches(each)], events),
    }
    common = {
        "subscriptions": count,
        "p": p,
        "t1_product": product,
        "t1_sum": added,
        "t2": collected,
        "table_steps": sum(steps(table, each) for each in events) / len(events),
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


# --- variants -------------------------------------------------------------------------------------

VARIANTS: Final[dict[str, dict[str, int]]] = {
    "as in the paper": {},
    "two neighbours": {"fan_out": 2},
    "degrees up to 3": {"degree_max": 3},
    "degrees up to 2": {"degree_max": 2},
}
_WANTED: Final = 0.25


def _variants_grid(scale: str) -> list[Parameters]:
    return [{**each, "events": _EVENTS[scale] // 10} for each in _overlays(scale)]


def _variants(parameters: Parameters, seed: int) -> list[Row]:
    """Return what other ways of sending and searching cost, and the load of the busiest broker."""
    name, number = parameters["topology"], parameters["seed"]
    topology = graph(name, number)[0].topology
    brokers, rows = topology.brokers, []
    for variant, options in VARIANTS.items():
        forest = Forest(topology, **options)
        draw = Random(f"variants {name} {number} {seed}")
        load: Counter[str] = Counter()
        total = messages = 0
        for start in brokers:
            walk = forest.walk(start)
            examiner = {each: at for at in reversed(walk) for each in forest.merged[at]}
            for _ in range(parameters["events"]):
                wanting = draw.sample(brokers, round(_WANTED * len(brokers)))
                ways = [*pairwise(walk)]
                ways += [(examiner[each], each) for each in wanting if each not in walk]
                load.update(end for way in ways for end in way)
                total, messages = total + 1, messages + len(ways)
        busiest = max(load.values()) / total
        rows.append(
            {
                **{"topology": name, "graph": number, "variant": variant, "hops": forest.hops},
                **{"bytes": forest.bandwidth(SizeModel(), 100, 0.5)},
                **{"messages": messages / total, "busiest": busiest},
                "searches": sum(len(forest.walk(each)) - 1 for each in brokers) / len(brokers),
            }
        )
    return rows


STUDIES: Final = (
    Study("model", _model, _model_grid),
    Study("real", _real, _real_grid, lambda each: each["sigma"] / 100),
    Study("events", _events, _events_grid),
    Study("variants", _variants, _variants_grid),
    Study(
        "matching", _matching, _matching_grid, lambda parameters: parameters["subscriptions"] / 500
    ),
    Study("passing", passing, passing_grid),
    Study("beyond", beyond, beyond_grid, lambda each: each["brokers"] * each["each"] / 1_000),
)
