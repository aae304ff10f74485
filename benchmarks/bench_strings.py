"""W5: patterns on paths and command lines. No bar; the scan stands beside it."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import Bench, short
from benchmarks.line import Line
from benchmarks.pairs import Pairs, lists, must_agree, pairs_of_lists
from benchmarks.subjects import SEEN_BEFORE, Subject, built
from benchmarks.timing import Competitor, best, percentile, single_calls

EVENTS = 4_000
ROUNDS = 3
CHECKED = 4


def lines(bench: Bench) -> Iterator[Line]:
    bench.say(f"W5 of {bench.hundred_thousand:,} subscriptions")
    subject = built(bench.workload("w5"), bench.hundred_thousand)
    filters = list(subject.workload.filters(subject.count))
    few = list(subject.workload.events(CHECKED))
    scanned = [[at for at, each in enumerate(filters) if each.matches(event)] for event in few]
    matches = must_agree(match_batch=_pairs(subject), scan=pairs_of_lists(lists(scanned), CHECKED))
    events = bench.events(EVENTS)
    unseen = iter([subject.workload.columns(events, at * events) for at in range(ROUNDS + 1)])
    ours, theirs = best(
        Competitor("match_batch", lambda: subject.matcher.match_batch(next(unseen)), events),
        Competitor("scan", lambda: [each.matches(few[0]) for each in filters], 1),
        rounds=ROUNDS,
    )
    fresh = subject.workload.events(bench.events(1_000), SEEN_BEFORE // 2)
    median = percentile(
        single_calls(subject.matcher.match, [each.attributes for each in fresh]), 50
    )
    yield Line(
        f"W5 {short(subject.count)}, table / scan", f"{1 / ours:,.0f}/s", f"{1 / theirs:,.1f}/s",
        theirs / ours,
        note=(
            f"{matches / CHECKED:.0f} matches an event; single event p50 {median / 1e3:,.0f} µs; "
            f"built in {subject.build_s:.1f} s; {subject.matcher.stats().unguarded:,} unguarded"
        ),
    )  # fmt: skip


def _pairs(subject: Subject) -> Pairs:
    return subject.pairs_of(subject.matcher.match_batch(subject.workload.columns(CHECKED)))
