"""check_plan: everything that a plan promises, against the slow way to it.

Law. After any number of steps the ids are the same, each filter covers its original, and each step
covers the one before. The order is that of the paper's queue. The curve is what counting says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Final

from fyke.events.event import Event
from fyke.filters.filter import Filter, Not
from fyke.matching.matcher import Matcher
from fyke.pruning import prune
from fyke.pruning.plan import PruningPlan
from fyke.pruning.queue import PruningQueue
from fyke.pruning.shape import read
from fyke.testing.covering import check_covers

NEVER: Final = 0.5
"""The count of a predicate that never held: the plan's rule, written a second time."""


def check_plan(
    filters: Sequence[Filter], events: Sequence[Event], engine: str = "scan"
) -> Counter[str]:
    """Plan and check a set of filters. Raise AssertionError if a promise is broken.

    Return counts: steps, events that originals accept, events that pruning lets in.
    """
    originals = {f"s{number}": filter for number, filter in enumerate(filters)}
    matcher = Matcher(engine)
    matcher.add_many(originals.items())
    plan = prune(matcher, sample=events)
    reached: Counter[str] = Counter(steps=len(plan))
    queue = _queue(originals, events)
    before = originals
    for steps in range(len(plan) + 1):
        after = dict(plan.filters(steps))
        assert after.keys() == originals.keys(), "the ids are others"
        changed = [id for id in after if after[id] is not before[id] and after[id] != before[id]]
        for id in changed:
            reached["accepted"] += check_covers(after[id], before[id], events)
        if steps:
            _check_order(queue, before, after)
        _check_point(plan, steps, after, events)
        before = after
    assert queue.pop() is None, "the queue goes on where the plan ends"
    for id, original in originals.items():
        check_covers(before[id], original, events)
        check_path(plan, id, original)
        reached["let in"] += sum(
            before[id].matches(event) and not original.matches(event) for event in events
        )
    assert dict(matcher.items()) == originals, "the matcher has changed"
    return reached


def _check_point(
    plan: PruningPlan, steps: int, filters: dict[str, Filter], events: Sequence[Event]
) -> None:
    """Check a point of the curve against a scan."""
    point = plan.curve[steps]
    assert point.predicates == sum(len(read(each)[1]) for each in filters.values())
    matches = [[each.matches(event) for each in filters.values()] for event in events]
    assert point.measured == sum(map(any, matches)) / len(events), "the measured fraction"
    assert abs(point.matches - sum(map(sum, matches)) / len(events)) < 1e-9, "the matches"


def _queue(originals: dict[str, Filter], events: Sequence[Event]) -> PruningQueue:
    """Return the paper's queue, with shares counted by a scan."""

    @cache
    def share(literal: Filter) -> float:
        if isinstance(literal, Not):
            return 1.0 - share(literal.child)
        count = sum(literal.matches(event) for event in events)
        return count / len(events) if count else NEVER / (len(events) + 1)

    queue = PruningQueue(share)
    for id, filter in originals.items():
        queue.add(id, filter)
    return queue


def _check_order(queue: PruningQueue, before: dict[str, Filter], after: dict[str, Filter]) -> None:
    """Check a step against the next one of the queue."""
    pruned = queue.pop()
    assert pruned is not None, "the queue is done before the plan is"
    for id, old in before.items():
        right = pruned.filter if id == pruned.id else old
        assert read(after[id]) == read(right), f"another step for {id}"


def check_path(plan: PruningPlan, id: str, original: Filter) -> None:
    """Check the explanation of one subscription against the rule of PRU-9."""
    path = plan.explain(id)
    assert path.id == id and path.filter == original
    before = original
    for drop in path.drops:
        old, gone, left = (Counter(read(each)[1]) for each in (before, drop.dropped, drop.left))
        assert old == gone + left, "a step drops what it says, and nothing else"
        before = drop.left
