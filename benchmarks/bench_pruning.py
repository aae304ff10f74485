"""Pruning: the time of planning, the bytes that it frees, and what matching gains and loses."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

import numpy as np

from benchmarks.bench import SEED, Bench, short
from benchmarks.line import Line, at_least, at_most, micros
from benchmarks.timing import Competitor, best
from fyke import Matcher, PredicateStatistics, parse, prune
from fyke.experiments.pruning.orders import most_freed
from fyke.pruning.plan import PruningPlan
from fyke.pruning.predicate_statistics import leaves_of
from fyke.workloads.auction import AuctionWorkload

PLANNED = 100_000
SUBSCRIPTIONS = 10_000
COUNTED = 50_000
MEASURED = 100_000
BATCH = 20_000
SINGLE = 200
BINS = 100
MIX = AuctionWorkload(SEED, typed=False, joint=True)


def lines(bench: Bench) -> Iterator[Line]:
    yield _planning(2_000 if bench.is_quick else PLANNED)
    count = 1_000 if bench.is_quick else SUBSCRIPTIONS
    matcher = _added(count)
    statistics = _statistics(matcher, bench.events(COUNTED))
    events = MIX.columns(bench.events(MEASURED), COUNTED)
    bench.say("measuring prunings")
    plan = prune(matcher, events, statistics=statistics)
    bend = plan.at_bend()
    yield _bytes(matcher, plan, bend)
    yield from _throughput(bench, plan)
    yield _estimates(plan)
    yield _orders(plan, prune(matcher, events, statistics=statistics, order="bytes"))


def _added(count: int) -> Matcher:
    matcher = Matcher()
    matcher.add_many((MIX.id(n), text) for n, text in enumerate(MIX.texts(count)))
    return matcher


def _statistics(matcher: Matcher, events: int) -> PredicateStatistics:
    leaves = leaves_of(filter for _, filter in matcher.items())
    return PredicateStatistics.of(MIX.columns(events), leaves)


def _planning(count: int) -> Line:
    texts = list(MIX.texts(count))
    started = process_time()
    filters = [parse(text) for text in texts]
    matcher = Matcher()
    matcher.add_many((str(n), filter) for n, filter in enumerate(filters))
    adding = process_time() - started
    statistics = _statistics(matcher, 1_000)
    started = process_time()
    plan = prune(matcher, statistics=statistics)
    planning = process_time() - started
    size = sum(matcher.sizes().values())
    return Line(
        f"planning {short(count)} subscriptions to exhaustion / parsing and adding them",
        f"{planning:.2f} s", f"{adding:.2f} s", planning / adding, bar=at_most(1.0),
        note=f"{len(plan):,} steps; the plan is {plan.nbytes / size:.2f} of the set's bytes",
    )  # fmt: skip


def _bytes(matcher: Matcher, plan: PruningPlan, bend: Matcher) -> Line:
    freed = 1 - sum(bend.sizes().values()) / sum(matcher.sizes().values())
    left = plan.curve.predicates
    removed = 1 - float(left[plan.curve.bend()] / left[0])
    return Line(
        "bytes of a snapshot freed at the bend / predicates removed",
        f"{freed:.1%}", f"{removed:.1%}", freed / removed, bar=at_least(0.8),
    )  # fmt: skip


def _throughput(bench: Bench, plan: PruningPlan) -> Iterator[Line]:
    steps = plan.curve.bend()
    table = MIX.columns(bench.events(BATCH))
    documents = [MIX.event(number) for number in range(min(SINGLE, bench.events(SINGLE)))]
    for engine, limit in (("boolean", 4.0), ("compiled", 0.8)):
        sets = []
        for at in (0, steps):
            matcher = Matcher(engine)
            matcher.add_many(plan.filters(at))
            sets.append(matcher)

        def work(matcher: Matcher, engine: str = engine) -> object:
            if engine == "boolean":
                return [matcher.match(event) for event in documents]
            return matcher.match_batch(table)

        items = len(documents) if engine == "boolean" else table.num_rows
        whole, pruned = best(
            *(Competitor(engine, lambda one=one: work(one), items) for one in sets)  # type: ignore[misc]
        )
        yield Line(
            f"throughput of {engine} at the bend / unpruned", micros(pruned), micros(whole),
            whole / pruned, bar=at_least(limit),
        )  # fmt: skip


def _estimates(plan: PruningPlan) -> Line:
    """Extra matches, expected and measured on events that were not counted, by bins of steps."""
    curve = plan.curve
    ends = np.linspace(0, len(plan), BINS + 1).astype(int)
    expected, measured = (np.diff(each[ends]) for each in (curve.expected_matches, curve.matches))
    ratio = np.maximum(expected, 1e-9) / np.maximum(measured, 1e-9)
    near = int(((ratio >= 0.5) & (ratio <= 2)).sum())
    return Line(
        "bins of steps whose extra matches are within a factor of 2 of the estimate",
        f"{near}", f"{BINS}", 100 * near / BINS, "%", at_least(80),
        note=f"in the median {np.median(ratio):.2f} times the measured ones",
    )  # fmt: skip


def _orders(plan: PruningPlan, by_bytes: PruningPlan) -> Line:
    """Bytes freed for the extra matches at the bend, by the second order and by the paper's."""
    steps = plan.curve.bend()
    allowed = plan.curve.matches[steps]
    other = int(np.flatnonzero(by_bytes.curve.matches <= allowed)[-1])
    whole = plan.curve.size[0]
    freed = [whole - plan.curve.size[steps], whole - by_bytes.curve.size[other]]
    most = _most(1_000)
    return Line(
        "bytes freed by the order of bytes / by accuracy, at equal extra matches",
        f"{freed[1] / 1e3:,.0f} kB", f"{freed[0] / 1e3:,.0f} kB", freed[1] / freed[0],
        bar=at_least(1.2),
        note=f"of 1,000, no order frees more than {most:.3f} times, as expected",
    )  # fmt: skip


def _most(count: int) -> float:
    """Return a bound: bytes that any order could free / by accuracy, at the bend."""
    matcher = _added(count)
    statistics = _statistics(matcher, 10_000)
    curve = prune(matcher, statistics=statistics).curve
    extra, freed = most_freed(matcher, statistics)
    bend, matches = curve.bend("matches"), curve.expected_matches
    bound = float(np.interp(matches[bend] - matches[0], extra, freed))
    return bound / float(curve.size[0] - curve.size[bend])
