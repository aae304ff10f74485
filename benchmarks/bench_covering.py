"""The covering index: who covers a filter and whom it covers, as filters come one by one."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator, Sequence

from benchmarks.bench import SEED, Bench, short
from benchmarks.line import Bar, Line, at_least, micros
from fyke.filters.algebra.covering import covers
from fyke.filters.covering_index.covering_index import CoveringIndex
from fyke.filters.filter import Filter, conjunction
from fyke.filters.predicate import Range, TypeIs, equals

CHECKED = 20
CHAIN = 1_000
_NUMBERS = 1_000_000_000
_WIDTHS = 1_000


def lines(bench: Bench) -> Iterator[Line]:
    many, fewer = bench.size(200_000), bench.size(20_000)
    yield _line(bench, "equalities with a type", _equalities(many), at_least(10_000))
    yield _line(bench, "intervals", _intervals(many))
    yield _line(bench, "conjunctions of W1", [*bench.workload("w1").filters(fewer)])
    yield _line(bench, "links of a chain", [Range("a", None, at) for at in range(CHAIN)])


def _equalities(count: int) -> list[Filter]:
    type_ = TypeIs("T")
    return [conjunction((type_, equals("a", number))) for number in range(count)]


def _intervals(count: int) -> list[Filter]:
    draw = random.Random(SEED)
    lows = (draw.randrange(_NUMBERS) for _ in range(count))
    return [Range("a", low, low + draw.randrange(_WIDTHS)) for low in lows]


def _line(bench: Bench, name: str, filters: Sequence[Filter], bar: Bar | None = None) -> Line:
    """Both questions and an addition per filter; the reference asks `covers` about all pairs."""
    bench.say(f"covering, {name}")
    index = CoveringIndex()
    gc.collect()
    found, started = 0, time.process_time()
    for number, each in enumerate(filters):
        found += len(index.covering(each)) + len(index.covered(each))
        index.add(f"s{number}", each)
    taken = (time.process_time() - started) / len(filters)
    scan = _check(index, filters)
    note = f"{found / len(filters):.2f} found, {index.tests / len(filters):.1f} pairs compared each"
    return Line(
        f"covering index, both questions and an addition: {short(len(filters))} {name} / all pairs",
        micros(taken), micros(scan), scan / taken, bar=bar, note=note,
    )  # fmt: skip


def _check(index: CoveringIndex, filters: Sequence[Filter]) -> float:
    """A few answers against all pairs; how long those took, both ways."""
    asked = random.Random(SEED).sample(filters, min(CHECKED, len(filters)))
    others = filters[:: max(1, len(filters) // 2_000)]
    started = time.process_time()
    wide = [{n for n, each in enumerate(others) if covers(each, one)} for one in asked]
    narrow = [{n for n, each in enumerate(others) if covers(one, each)} for one in asked]
    taken = (time.process_time() - started) / len(asked) * len(filters) / len(others)
    numbers = {each: n for n, each in enumerate(others)}
    for one, above, below in zip(asked, wide, narrow, strict=True):
        for right, ids in ((above, index.covering(one)), (below, index.covered(one))):
            known = (filters[int(id[1:])] for id in ids)
            assert {numbers[each] for each in known if each in numbers} == right, str(one)
    return taken
