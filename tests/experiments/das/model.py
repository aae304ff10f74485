"""The DAS experiments on paper: what each broker does, from the paths in a tree.

An oracle for deployments, and a world in which claims can be planted: times are in proportion to
steps there, with a range of one percent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any

from fyke.experiments.das.classification import RATINGS, RESPECTS
from fyke.experiments.das.deployment import BUS, BUS_RENDEZVOUS, network
from fyke.experiments.experiment import Results
from fyke.experiments.table import Row, Table
from fyke.overlay.topology import Topology

NAMES = ("PF", "EF", "RN")
COUNTERS = ("filtered", "received", "sent", "notified")
Wish = Callable[[Row], float]

# --- one event ------------------------------------------------------------------------------------


def links(strategy: str, tree: Topology, publisher: str, owner: str | None, node: str) -> set[Any]:
    """The directed links that an event takes; nobody wants it without an owner."""
    if strategy == "EF":
        parents = tree.parents(publisher)
        return {(parent, child) for child, parent in parents.items() if parent != child}
    if strategy == "PF":
        return set(pairwise(tree.path(publisher, owner))) if owner else set()
    up = tree.path(publisher, node)
    taken = set(pairwise(up))
    if owner:
        known = tree.path(owner, node)
        meets = next(each for each in up if each in known)
        taken |= set(pairwise(tree.path(meets, owner)))
    return taken


@cache
def work(
    strategy: str,
    tree: Topology,
    p_e: Fraction,
    sigma: int = 1,
    nodes: tuple[str, ...] = (BUS_RENDEZVOUS,),
    locality: Fraction | None = None,
) -> dict[str, Counter[str]]:
    """What each broker does per event."""
    count = len(tree.brokers)
    done = {broker: Counter[str]() for broker in tree.brokers}
    for publisher, node in product(tree.brokers, nodes):
        share = Fraction(1, count * len(nodes))
        cells: list[tuple[str | None, Fraction]] = [(None, share * (1 - p_e))]
        for owner in tree.brokers:
            own = Fraction(1, count)
            if locality is not None:
                own = locality if owner == publisher else (1 - locality) / (count - 1)
            cells.append((owner, share * p_e * own))
        for owner, weight in cells:
            taken = links(strategy, tree, publisher, owner, node)
            for at in {publisher, *(to for _, to in taken)}:
                done[at]["filtered"] += weight
            for at, to in taken:
                done[at]["sent"] += weight
                done[to]["received"] += weight
            if owner:
                done[owner]["notified"] += weight * sigma
    return done


def steps(counts: Counter[str]) -> Fraction:
    return sum((Fraction(counts[name]) for name in COUNTERS), Fraction(0))


# --- rows -----------------------------------------------------------------------------------------


def timed(row: Row, efficiency: float) -> Row:
    rate = 100 * efficiency
    return {
        **row,
        "efficiency": efficiency,
        "steps": 1_000 / efficiency,
        "events_per_s": rate,
        "events_per_s_low": 0.995 * rate,
        "events_per_s_high": 1.005 * rate,
    }


def point(
    strategy: str,
    tree: Topology,
    p_e: Fraction,
    sigma: int = 1,
    nodes: tuple[str, ...] = (BUS_RENDEZVOUS,),
    locality: Fraction | None = None,
    profiles: int = 3_600,
    **more: Any,
) -> Row:
    done = work(strategy, tree, p_e, sigma, nodes, locality)
    count = len(tree.brokers)
    far = [sum(tree.distances(node).values()) for node in nodes]
    spread = {
        "PF": count - 1,
        "EF": 0,
        "RN": Fraction(sum(far), len(nodes) * count),
    }[strategy]
    own = profiles / count
    table = own if strategy == "EF" else own + (profiles - own) / sigma
    busiest = max(done, key=lambda each: steps(done[each]))
    row = {
        "strategy": strategy,
        "p_e": float(p_e),
        "p_p": float(p_e * sigma),
        "sigma": sigma,
        "profiles": profiles,
        "load": float(sum(each["sent"] for each in done.values())),
        "duplication": float(1 + Fraction(spread) / sigma),
        "largest_table": table,
        "busiest": busiest,
        **{name: float(done[busiest][name]) for name in COUNTERS},
        **more,
    }
    return timed(row, float(1_000 / steps(done[busiest])))


TENTHS = [Fraction(each, 10) for each in (0, 1, 5, 10)]


def _bus() -> Iterable[Row]:
    for name, sigma in product(NAMES, (1, 2, 5)):
        for p_e in TENTHS:
            yield point(name, BUS, p_e, sigma, varies="p_e")
        for p_p in TENTHS[1:]:
            yield point(name, BUS, p_p / sigma, sigma, varies="p_p") | {"p_p": float(p_p)}


def _brokers() -> Iterable[Row]:
    for name, size, p_p in product(NAMES, range(1, 10), TENTHS[1:]):
        node = "B2" if size > 1 else "B1"
        yield point(name, network(size), p_p, nodes=(node,), brokers=size)


def _types() -> Iterable[Row]:
    tree = network(9)
    for name, types, p_p in product(NAMES, range(1, 10), TENTHS[2:]):
        if name == "RN" or types in (1, 3, 6, 9):
            yield point(name, tree, p_p, nodes=tree.brokers[:types], types=types)


def _locality() -> Iterable[Row]:
    for name, p_p, tenth in product(NAMES, TENTHS[1:], (0, 5, 10)):
        where = Fraction(tenth, 10)
        yield point(name, BUS, p_p, locality=where) | {"locality": float(where)}


def _work() -> Iterable[Row]:
    for name, p_e in product(NAMES, TENTHS[1:]):
        done = work(name, BUS, p_e)
        for at, broker in enumerate(BUS.brokers, 1):
            held = {"PF": 1.0, "EF": 0.25, "RN": (0.25, 1.0, 0.5, 0.25)[at - 1]}[name]
            for counter in COUNTERS:
                yield {
                    "strategy": name,
                    "p_e": float(p_e),
                    "broker": at,
                    "counter": counter,
                    "count": float(done[broker][counter]),
                    "held": held,
                    "steps": float(steps(done[broker])),
                }


def _sets() -> Iterable[Row]:
    for total, size in product((10_000, 100_000, 400_000), (1_000, 3_000, 5_000)):
        for form, touched in (("pointers", 2 * size), ("bits", -(-total // 32))):
            row = {"form": form, "total": total, "size": size}
            yield row | ranged("touched", "microseconds", touched)


def _attributes() -> Iterable[Row]:
    for count in (1, 2, 4, 8):
        row: Row = {"attributes": count}
        for p_e in (0.0, 0.25, 0.5, 0.75, 1.0):
            found = p_e * count + (1 - p_e) * (count + 1) / 2
            yield row | {"p_e": p_e, "failing": "evenly"} | evaluated(found)
        yield row | {"p_e": 0.0, "failing": "late"} | evaluated(0.9 * count + 0.1)
        yield row | {"p_e": 0.0, "failing": "late, reordered"} | evaluated(1.0)


def ranged(counted: str, measured: str, value: float) -> Row:
    return {
        counted: value,
        measured: value,
        f"{measured}_low": 0.995 * value,
        f"{measured}_high": 1.005 * value,
    }


def evaluated(value: float) -> Row:
    return ranged("evaluations", "seconds_per_100k", value)


def graded(better: int = 1) -> Iterable[Row]:
    """All algorithms of Table 1 as it rates them, or the other way round."""
    for name, grades in RATINGS.items():
        good = {respect: 3.0 ** (better * grades[respect]) for respect in RESPECTS}
        row = {
            "strategy": name,
            "load": 1 / good["traffic"],
            "largest_table": 1 / good["memory"],
        }
        yield timed(row | {"brokers": 4}, good["efficiency"])
        yield timed(row | {"brokers": 8}, good["efficiency"] * good["scalability"])


def world() -> Results:
    """The rows of all studies."""
    studies = {
        "variants": graded(),
        "sets": _sets(),
        "attributes": _attributes(),
        "work": _work(),
        "bus": _bus(),
        "brokers": _brokers(),
        "types": _types(),
        "locality": _locality(),
        "amounts": (
            point(name, BUS, Fraction(4, 5), profiles=count)
            for name, count in product(NAMES, (50_000, 100_000, 400_000))
        ),
        "stability": (
            timed({"repetition": at, "strategy": "EF", "events": 320}, 300 + at) for at in range(5)
        ),
    }
    return {name: Table.of(rows) for name, rows in studies.items()}
