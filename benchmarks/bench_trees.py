"""W4: Boolean trees among the conjunctions of W1, with the same events."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import SEED, Bench, short
from benchmarks.line import Line, at_least, micros
from benchmarks.pairs import lists, must_agree, pairs_of_lists
from benchmarks.subjects import Subject, built
from benchmarks.timing import best
from fyke.workloads.trees import TreesWorkload

EVENTS = 8_192
CHECKED = 3


def lines(bench: Bench) -> Iterator[Line]:
    plain = bench.w1(bench.million)
    for guarded in (False, True):
        variant = "first leaf never negated" if guarded else "any leaf negated"
        bench.say(f"W4, {variant}")
        subject = built(TreesWorkload(SEED, guarded=guarded), bench.million)
        matches = _check(subject, min(CHECKED, bench.events(CHECKED)))
        events = bench.events(EVENTS)
        ours, theirs = best(
            subject.competitor("W4", subject.encoded(events)),
            plain.competitor("W1", plain.encoded(events)),
        )
        note = (
            f"{matches / CHECKED:.0f} matches an event; "
            f"{subject.matcher.stats().unguarded:,} unguarded; built in {subject.build_s:.0f} s"
        )
        yield Line(
            f"W4 {short(subject.count)}, {variant}, kernel throughput / of W1", micros(ours),
            micros(theirs), theirs / ours, bar=at_least(0.25, aim=0.5), note=note,
        )  # fmt: skip


def _check(subject: Subject, events: int) -> int:
    """A few events against the evaluation of every filter."""
    given = list(subject.workload.events(events))
    found: list[list[int]] = [[] for _ in given]
    for number, filter in enumerate(subject.workload.filters(subject.count)):
        for slots, event in zip(found, given, strict=True):
            if filter.matches(event):
                slots.append(number)
    return must_agree(kernel=subject.pairs(events), scan=pairs_of_lists(lists(found), events))
