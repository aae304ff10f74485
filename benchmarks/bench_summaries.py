"""Summaries: bytes beside text, building, asking, merging, periods."""

from __future__ import annotations

import gc
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeVar

from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_most, micros
from fyke.assembly import assemble
from fyke.events.event import Event
from fyke.experiments.summaries.passing import stock_events
from fyke.experiments.summaries.workload import event, subscriptions
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.matching.matcher import Matcher
from fyke.nodes.message import Subscribe, Unsubscribe
from fyke.overlay.named import named
from fyke.simulation.simulation import Simulation
from fyke.summaries.merging import merge
from fyke.summaries.summary import Summary
from fyke.traces.trace import Record, Sent
from fyke.workloads.named import workload

Pairs = list[tuple[str, Filter]]


def lines(bench: Bench) -> Iterator[Line]:
    yield from _bytes(200 if bench.is_quick else 1_000)
    count = 2_000 if bench.is_quick else 100_000
    bench.say(f"summaries of {count:,} stock subscriptions")
    stock = workload("stock")
    pairs = [(each.id, each.filter) for each in map(stock.subscription, range(count))]
    yield from _asking(pairs, [stock.event(number) for number in range(200)], "stock")
    some, draw = subscriptions(count // 5, 0.5, 1), Random("events")
    generated = [(f"s{at}", each) for at, each in enumerate(some)]
    yield from _asking(generated, [event(draw) for _ in range(200)], "generated")
    yield from _merging(pairs)
    yield from _owners(pairs[:10_000], [stock.event(number) for number in range(100)])
    yield from _passing(pairs[:10_000])
    yield from _period(20 if bench.is_quick else 1_000)


def _bytes(count: int) -> Iterator[Line]:
    for p, bar in ((0.1, 0.55), (0.5, None), (0.75, None), (0.9, 0.1)):
        filters = subscriptions(count, p, 1)
        text = "\n".join(map(str, filters)).encode()
        size = Summary.of([(f"s{at}", each) for at, each in enumerate(filters)]).size
        packed = len(zlib.compress(text, 9))
        yield Line(
            f"{short(count)} generated, subsumption {p:g}, summary / text",
            f"{size:,} B", f"{len(text):,} B", size / len(text),
            bar=None if bar is None else at_most(bar), note=f"text with zlib {packed:,} B",
        )  # fmt: skip
        if p >= 0.5:
            yield Line(
                f"{short(count)} generated, subsumption {p:g}, summary / text with zlib",
                f"{size:,} B", f"{packed:,} B", size / packed, bar=at_most(1),
            )  # fmt: skip


def _asking(pairs: Pairs, events: Sequence[Event], what: str) -> Iterator[Line]:
    """In coarse mode, rows of `stock` lie in few boxes, and hardly two generated ones in one."""
    matcher, added, matcher_bytes = _grown(lambda: _matcher(pairs))
    summary, built, _ = _grown(lambda: Summary.of(pairs))
    name = f"{short(len(pairs))} {what}"
    yield Line(
        f"building coarse of {name} / Matcher.add_many",
        f"{built:.2f} s", f"{added:.2f} s", built / added, bar=at_most(2), note="CPU",
    )  # fmt: skip
    data = summary.to_bytes()
    shipped, _, shipped_bytes = _grown(lambda: _asked(Summary.from_bytes(data), events[0]))
    ours, theirs = _each(shipped.may_match, events), _each(matcher.match, events)
    passed = sum(map(shipped.may_match, events)) / len(events)
    yield Line(
        f"may_match at {name} / Matcher.match",
        micros(ours), micros(theirs), ours / theirs, bar=at_most(2),
        note=f"CPU; {passed:.0%} pass",
    )  # fmt: skip
    yield Line(
        f"memory of a shipped summary of {name} / of the matcher",
        f"{shipped_bytes / 1e6:.2f} MB", f"{matcher_bytes / 1e6:.2f} MB",
        shipped_bytes / matcher_bytes, bar=at_most(0.1), note=f"{len(data):,} bytes encoded",
    )  # fmt: skip


def _merging(pairs: Pairs) -> Iterator[Line]:
    half = len(pairs) // 2
    begin = time.process_time()
    one = Summary.of(pairs[:half], owner="a", version=1)
    building = time.process_time() - begin
    other = Summary.of(pairs[half:], owner="b", version=1)
    begin = time.process_time()
    assert len((one | other).table.boxes)
    merging = time.process_time() - begin
    yield Line(
        f"merging two of {short(half)} / building one of {short(len(pairs))}",
        f"{merging:.3f} s", f"{2 * building:.3f} s", merging / (2 * building), bar=at_most(0.2),
        note="CPU",
    )  # fmt: skip


def _owners(pairs: Pairs, events: Sequence[Event]) -> Iterator[Line]:
    """Contributions are really made, and merged."""
    times = {}
    for contributions in (10, 1_000):
        parts = [
            Summary.of(pairs[at::contributions], owner=f"b{at}", version=1)
            for at in range(contributions)
        ]
        whole = merge(parts)
        times[contributions] = min(_each(whole.owners, events) for _ in range(3))
    yield Line(
        f"owners over 1,000 contributions / over 10, {short(len(pairs))} ids",
        micros(times[1_000]), micros(times[10]), times[1_000] / times[10], bar=at_most(1.5),
        note="CPU",
    )  # fmt: skip


def _passing(pairs: Pairs) -> Iterator[Line]:
    matcher = _matcher(pairs)
    events = stock_events(range(500), 1)
    right = sum(bool(matcher.match(each)) for each in events) / len(events)
    sample = stock_events(range(1_000, 1_500), 1)
    summary = Summary.of(pairs, budget="64 kB", sample=sample)
    passed = sum(map(summary.may_match, events)) / len(events)
    yield Line(
        f"{short(len(pairs))} stock rules in 64 kB, events that pass",
        f"{passed:.1%}", f"{right:.1%} match", 100 * passed, "%", at_most(20),
        f"{summary.size:,} bytes",
    )  # fmt: skip


def _period(count: int) -> Iterator[Line]:
    """24 brokers with so many subscriptions each, of which one in a hundred changes."""
    topology, trace = named("cwix"), []
    system = assemble("summaries", topology, engine="scan")
    overlay = Simulation(topology, system.make, codec=system.codec, write=trace.append)
    for broker in topology.brokers:
        overlay.attach(f"c{broker}", broker)
        for at, filter in enumerate(subscriptions(count, 0.5, broker)):
            overlay.say(f"c{broker}", Subscribe(Subscription(f"s{at}", filter)))
    overlay.run()
    whole = _sent(trace)
    for broker in topology.brokers:
        for at, filter in enumerate(subscriptions(max(count // 100, 1), 0.5, f"new {broker}")):
            overlay.say(f"c{broker}", Unsubscribe(f"s{at}"))
            overlay.say(f"c{broker}", Subscribe(Subscription(f"n{at}", filter)))
    overlay.run()
    changed = _sent(trace)
    yield Line(
        f"24 brokers of {short(count)}, a period with 1 % changed / a full one",
        f"{changed:,} B", f"{whole:,} B", 100 * changed / whole, "%", at_most(5),
    )  # fmt: skip


def _sent(trace: list[Record]) -> int:
    """Return the bytes of summaries in a trace, which is emptied."""
    sent = sum(each.bytes for each in trace if isinstance(each, Sent) and each.kind in KINDS)
    trace.clear()
    return sent


KINDS = ("Contribution", "Held")

# --- measuring ------------------------------------------------------------------------------------


def _matcher(pairs: Pairs) -> Matcher:
    matcher = Matcher()
    matcher.add_many(pairs)
    matcher.match({})
    return matcher


def _asked(summary: Summary, event: Event) -> Summary:
    summary.may_match(event)
    return summary


Made = TypeVar("Made")


def _grown(make: Callable[[], Made]) -> tuple[Made, float, int]:
    """Return what was made, the processor time it took, and the bytes it holds on to."""
    begin = time.process_time()
    make()
    seconds = time.process_time() - begin
    gc.collect()
    tracemalloc.start()
    made = make()
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return made, seconds, held


def _each(ask: Callable[[Event], object], events: Sequence[Event]) -> float:
    """Return seconds of processor time for an event."""
    for each in events[:20]:
        ask(each)
    begin = time.process_time()
    for each in events:
        ask(each)
    return (time.process_time() - begin) / len(events)
