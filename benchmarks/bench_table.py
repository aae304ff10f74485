"""Whole tables: Arrow columns in, an Arrow table out, encoding included."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_least, micros
from benchmarks.pairs import must_agree
from benchmarks.references.hash_join import HashJoin
from benchmarks.timing import Competitor, best

EVENTS = 20_000


def lines(bench: Bench) -> Iterator[Line]:
    yield _join(bench)
    yield _of_kernel(bench, bench.hundred_thousand, 60)
    yield _of_kernel(bench, bench.million, 80)


def _join(bench: Bench) -> Line:
    subject = bench.w1(bench.hundred_thousand)
    events = bench.events(EVENTS)
    table = subject.workload.columns(events)
    join = HashJoin(subject.workload, subject.count)
    join.load_codes(subject.workload.codes(events))
    must_agree(
        table=subject.pairs_of(subject.matcher.match_batch(table)),
        hash_join=subject.pairs_of(join.match_table()),
    )
    bench.say("W1, tables against DuckDB")
    ours, theirs = best(
        Competitor("match_batch", lambda: subject.matcher.match_batch(table), events),
        Competitor("DuckDB", join.match_table, events),
    )
    return Line(
        f"W1 {short(subject.count)}, table / DuckDB hash join to Arrow", micros(ours),
        micros(theirs), theirs / ours, bar=at_least(25),
        note="ours reads strings and numbers, DuckDB the codes; both give ids",
    )  # fmt: skip


def _of_kernel(bench: Bench, count: int, percent: float) -> Line:
    subject = bench.w1(count)
    events = bench.events(EVENTS)
    table, encoded = subject.workload.columns(events), subject.encoded(events)
    kernel, numbered, whole = best(
        subject.competitor("kernel", encoded),
        Competitor("table", lambda: subject.numbered_table(table), events),
        Competitor("match_batch", lambda: subject.matcher.match_batch(table), events),
        rounds=5,
    )
    return Line(
        f"W1 {short(count)}, throughput of tables / of the kernel", micros(numbered),
        micros(kernel), 100 * kernel / numbered, "%", at_least(percent),
        f"string ids apart; match_batch with them {micros(whole)}",
    )  # fmt: skip
