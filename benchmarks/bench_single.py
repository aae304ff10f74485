"""Single events: a dictionary in, a list of ids out; the wall clock of each call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_least, at_most
from benchmarks.pairs import lists, must_agree, pairs_of_lists
from benchmarks.references.lambdas import Lambdas
from benchmarks.subjects import Subject
from benchmarks.timing import percentile, single_calls

EVENTS = 1_000
TURNS = 5


def lines(bench: Bench) -> Iterator[Line]:
    yield _growth(bench)
    yield _lambdas(bench)


def _growth(bench: Bench) -> Line:
    small, large = bench.w1(bench.ten_thousand), bench.w1(bench.million)
    events = [event.attributes for event in small.workload.events(bench.events(EVENTS))]
    taken = _in_turns(events, small.matcher.match, large.matcher.match)
    at_small, at_large = (percentile(each, 50) for each in taken)
    tails = ", ".join(f"{percentile(each, 99) / 1e3:.1f} µs" for each in taken)
    return Line(
        f"single event, p50 at {short(large.count)} / at {short(small.count)}", _micros(at_large),
        _micros(at_small), at_large / at_small, bar=at_most(6),
        note=f"wall; p99 at {short(small.count)} and {short(large.count)}: {tails}",
    )  # fmt: skip


def _lambdas(bench: Bench) -> Line:
    subject = bench.w1(bench.hundred_thousand)
    bench.say("compiled lambdas")
    reference = Lambdas(subject.workload, subject.count)
    few = bench.events(10)
    events = [event.attributes for event in subject.workload.events(bench.events(EVENTS))]
    must_agree(
        match=pairs_of_lists(lists([_numbers(subject, event) for event in events[:few]]), few),
        lambdas=pairs_of_lists(lists([reference.match(event) for event in events[:few]]), few),
    )
    (ours,) = _in_turns(events, subject.matcher.match)
    (theirs,) = _in_turns(events[:few], reference.match)
    median, slow = percentile(ours, 50), percentile(theirs, 50)
    note = f"wall, p50; our p99 {_micros(percentile(ours, 99))}; their best {_micros(min(theirs))}"
    return Line(
        f"single event, W1 {short(subject.count)} / compiled lambdas", _micros(median),
        _micros(slow), slow / median, bar=at_least(1_000), note=note,
    )  # fmt: skip


def _numbers(subject: Subject, event: object) -> list[int]:
    return [int(id.rpartition("-")[2]) for id in subject.matcher.match(event)]


def _in_turns(events: list[Any], *functions: Callable[[Any], object]) -> list[list[int]]:
    """The calls of each function, in turns; those of a first turn do not count."""
    taken: list[list[int]] = [[] for _ in functions]
    for turn in range(TURNS + 1):
        for at, function in enumerate(functions):
            calls = single_calls(function, events)
            taken[at] += calls if turn else []
    return taken


def _micros(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:,.1f} µs"
