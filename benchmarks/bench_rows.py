"""Rows of a broker: what a subscription of a neighbour takes there, in bytes and in time."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterable, Iterator
from functools import lru_cache
from random import Random
from time import process_time

from benchmarks.bench import SEED, Bench, short
from benchmarks.line import Line, at_most
from fyke.assembly import CODEC, Options, make_broker
from fyke.broker.broker import Broker
from fyke.filters.subscription import Subscription
from fyke.nodes.inputs import LinkUp, Received
from fyke.nodes.message import Message, Subscribe
from fyke.routing.forwarding.row import Offered, Row
from fyke.workloads.named import workload

ROWS = 10_000
TREES = 1_000
SUBSCRIBERS = 100
_CACHE = type(lru_cache(maxsize=1)(len))
HOLDERS = 3
"""Who holds a row: the table, and what each of two more neighbours was told."""


def lines(bench: Bench) -> Iterator[Line]:
    count = bench.size(ROWS)
    bench.say(f"{count:,} rows of stock at a broker")
    said = list(_said("stock", count))
    plain, packed = _bytes_of_objects(said), _bytes_of_broker(said)
    yield Line(
        f"bytes of a neighbour's subscription at a broker that tells two more, {short(count)} stock"
        f" / as objects, {HOLDERS} times",
        f"{packed:,.0f} B", f"{plain:,.0f} B", packed, "B", at_most(1_200),
        f"{plain / packed:.1f} times smaller",
    )  # fmt: skip
    trees = bench.size(TREES)
    bench.say(f"{trees:,} rows of auction at a broker")
    first, last = _times(list(_said("auction", trees)))
    yield Line(
        f"time of the last of {short(trees)} Boolean trees at a broker / of the first",
        f"{last * 1e3:.2f} ms", f"{first * 1e3:.2f} ms", last / first, bar=at_most(4.0),
        note="tenths of all",
    )  # fmt: skip


def _said(name: str, count: int) -> Iterator[bytes]:
    """What a neighbour says, as it comes over a link."""
    stories = workload(name, SEED)
    for number, filter in enumerate(stories.filters(count)):
        wanted = Subscription(stories.id(number), filter, f"client{number % SUBSCRIBERS}")
        yield CODEC.encode(Subscribe(wanted, Offered("far")))


def _broker() -> Broker:
    broker = make_broker("b", ["a", "c", "d"], Options("pf8"), Random(SEED))
    for peer in "acd":
        broker.handle(LinkUp(peer), 0.0)
    return broker


def _hear(broker: Broker, said: Iterable[bytes]) -> None:
    for each in said:
        broker.handle(Received("a", CODEC.decode(each)), 0.0)


def _bytes_of_broker(said: list[bytes]) -> float:
    """A row, once what is kept of the last filters is full."""
    first = len(said) // 4

    def after(rows: list[bytes]) -> float:
        broker = _broker()
        return _growth(lambda: _hear(broker, rows))

    after(said)  # modules, kernels and names of attributes come once in a process, not with a row
    return (after(said) - after(said[:first])) / (len(said) - first)


def _bytes_of_objects(said: list[bytes]) -> float:
    held: list[dict[tuple[str, str], tuple[Row, Message]]] = [{} for _ in range(HOLDERS)]

    def hear() -> None:
        for each in said:
            for known in held:
                message = CODEC.decode(each)
                assert isinstance(message, Subscribe)
                row = Row(message.subscription, "a", "far")
                known[row.key] = row, message

    return _growth(hear) / len(said)


def _growth(work: object) -> float:
    assert callable(work)
    _clear_caches()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        work()
        _clear_caches()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before


def _clear_caches() -> None:
    """Empty all caches of the process: they are bounded, whatever there is."""
    for each in gc.get_objects():
        if isinstance(each, _CACHE):
            each.cache_clear()
    gc.collect()


def _times(said: list[bytes]) -> tuple[float, float]:
    broker, tenth = _broker(), len(said) // 10
    taken = []
    for start in range(0, 10 * tenth, tenth):
        began = process_time()
        _hear(broker, said[start : start + tenth])
        taken.append((process_time() - began) / tenth)
    return taken[0], taken[-1]
