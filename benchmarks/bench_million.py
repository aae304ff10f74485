"""The kernel at a million subscriptions: numpy, our counting engine, flat clusters, and growth."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import Bench, short
from benchmarks.bench_kernel import numpy_broadcast
from benchmarks.line import Line, at_least, at_most, micros
from benchmarks.pairs import must_agree, pairs_of_lists
from benchmarks.references.counting import Counting
from benchmarks.subjects import Subject, built_flat
from benchmarks.timing import best

EVENTS = 8_192


def lines(bench: Bench) -> Iterator[Line]:
    yield _growth(bench)
    yield _broadcast(bench)
    yield _flat(bench)
    yield _counting(bench)


def _growth(bench: Bench) -> Line:
    small, large = bench.w1(bench.ten_thousand), bench.w1(bench.million)
    at_small, at_large = best(
        small.competitor("small", small.encoded(bench.events(EVENTS * 4))),
        large.competitor("large", large.encoded(bench.events(EVENTS))),
    )
    title = f"W1, kernel time at {short(large.count)} / at {short(small.count)}"
    return Line(title, micros(at_large), micros(at_small), at_large / at_small, bar=at_most(16))


def _broadcast(bench: Bench) -> Line:
    subject = bench.w1(bench.million)
    few = bench.events(40)
    bench.say("W1, kernel against numpy")
    reference, matches = numpy_broadcast(subject, few)
    encoded = subject.encoded(bench.events(EVENTS))
    ours, theirs = best(subject.competitor("kernel", encoded), reference)
    return Line(
        _title(subject, "numpy broadcast"), micros(ours), micros(theirs), theirs / ours,
        bar=at_least(350), note=f"{matches / few:.1f} matches an event",
    )  # fmt: skip


def _flat(bench: Bench) -> Line:
    subject = bench.w1(bench.million)
    bench.say("W1 in flat access clusters")
    flat = built_flat(subject.workload, subject.count)
    events = bench.events(EVENTS)
    encoded, flat_encoded = subject.encoded(events), flat.encoded(events)
    must_agree(
        kernel=pairs_of_lists(subject.kernel(encoded), events),
        flat=pairs_of_lists(flat.kernel(flat_encoded), events),
    )
    ours, theirs = best(
        subject.competitor("kernel", encoded), flat.competitor("flat", flat_encoded)
    )
    return Line(
        _title(subject, "flat access clusters"), micros(ours), micros(theirs), theirs / ours,
        bar=at_least(4), note="the same engine, built without trees",
    )  # fmt: skip


def _counting(bench: Bench) -> Line:
    bench.say("W1 in the counting engine")
    workload = bench.workload("w1")
    reference = Counting(workload, min(bench.hundred_thousand, bench.million))
    note = ""
    if why_not := reference.why_not_more(bench.million):
        note = f"at {short(reference.count)} subscriptions, both: {why_not}"
    else:
        reference.grow(bench.million)
    subject = bench.w1(reference.count)
    few = bench.events(10)
    must_agree(kernel=subject.pairs(few), counting=reference.pairs(few))
    ours, theirs = best(
        subject.competitor("kernel", subject.encoded(bench.events(EVENTS))),
        reference.competitor(few),
    )
    return Line(
        _title(subject, "our counting engine"), micros(ours), micros(theirs), theirs / ours,
        bar=at_least(120), note=note,
    )  # fmt: skip


def _title(subject: Subject, reference: str) -> str:
    return f"W1 {short(subject.count)}, kernel / {reference}"
