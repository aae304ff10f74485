"""The kernel at 100k subscriptions, encoded events in and lists out, against numpy and DuckDB."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_least, micros
from benchmarks.pairs import must_agree, pairs, pairs_of_lists
from benchmarks.references.broadcast import Broadcast
from benchmarks.references.hash_join import HashJoin
from benchmarks.subjects import Subject, built
from benchmarks.timing import Competitor, best


def lines(bench: Bench) -> Iterator[Line]:
    yield from _mixed(bench)
    for name, bar in (("w2_3", at_least(40)), ("w2_10", None), ("w3", None)):
        bench.say(f"{name} of {bench.hundred_thousand:,} subscriptions")
        subject = built(bench.workload(name), bench.hundred_thousand)
        few, many = bench.events(400), bench.events(4_000)
        broadcast, matches = numpy_broadcast(subject, few)
        ours, theirs = best(subject.competitor("kernel", subject.encoded(many)), broadcast)
        title = f"{name.upper()} {short(subject.count)}, kernel / numpy broadcast"
        note = f"{matches / few:.1f} matches an event"
        yield Line(title, micros(ours), micros(theirs), theirs / ours, bar=bar, note=note)


def _mixed(bench: Bench) -> Iterator[Line]:
    subject = bench.w1(bench.hundred_thousand)
    few, many = bench.events(400), bench.events(20_000)
    broadcast, matches = numpy_broadcast(subject, few)
    encoded = subject.encoded(many)
    join = HashJoin(subject.workload, subject.count)
    join.load_codes(subject.workload.codes(many))
    must_agree(kernel=pairs_of_lists(subject.kernel(encoded), many), hash_join=pairs(*join.match()))
    bench.say("W1, kernel against DuckDB and numpy")
    ours, joined, broad = best(
        subject.competitor("kernel", encoded),
        Competitor("DuckDB", join.match, many),
        broadcast,
    )
    title = f"W1 {short(subject.count)}, kernel"
    note = f"{matches / few:.1f} matches an event; {many:,} events a batch, also for DuckDB"
    yield Line(
        f"{title} / DuckDB hash join", micros(ours), micros(joined), joined / ours,
        bar=at_least(40), note=note,
    )  # fmt: skip
    yield Line(
        f"{title} / numpy broadcast", micros(ours), micros(broad), broad / ours, bar=at_least(100)
    )


def numpy_broadcast(subject: Subject, events: int) -> tuple[Competitor, int]:
    """The reference over the first events, and how many matches it and we find."""
    workload = subject.workload
    reference = Broadcast(workload.conjunctions(subject.count), len(workload.attributes))
    codes = workload.codes(events)
    found = pairs_of_lists(reference.match(codes), events)
    matches = must_agree(kernel=subject.pairs(events), numpy=found)
    return Competitor("numpy broadcast", lambda: reference.match(codes), events), matches
