"""The queue, while shares change."""

from __future__ import annotations

from fyke import parse
from fyke.pruning.queue import PruningQueue


def queue_of(shares, **options):
    queue = PruningQueue(lambda literal: shares[str(literal)], **options)
    queue.add("a", parse("x = 1 and y = 1 and p = 1"))
    queue.add("b", parse("x = 1 and y = 1 and q = 1"))
    return queue


def shares_now():
    return {"x = 1": 0.01, "y = 1": 0.1, "p = 1": 0.9, "q = 1": 0.5}


def test_drift_between_push_and_pop_changes_the_order():
    shares = shares_now()
    queue = queue_of(shares)
    shares["p = 1"] = 0.2
    assert queue.pop().id == "b" and queue.reinserted == 1
    assert queue.pop().id == "a"
    assert [step.id for step in iter(queue_of(shares_now()).pop, None)][:2] == ["a", "b"]


def test_a_little_drift_is_believed():
    shares = shares_now()
    queue = queue_of(shares, tolerance=1e9)
    shares["p = 1"] = 0.2
    assert [step.id for step in iter(queue.pop, None)][:2] == ["a", "b"]
    assert queue.reinserted == 0


def test_what_is_discarded_or_replaced_is_not_pruned():
    shares = {**shares_now(), "r = 1": 0.9999}
    queue = queue_of(shares)
    queue.discard("a")
    queue.add("b", parse("x = 1 and r = 1 and q = 1"))
    steps = list(iter(queue.pop, None))
    assert [(step.id, str(step.dropped)) for step in steps] == [("b", "r = 1"), ("b", "q = 1")]
    assert "a" not in queue and "b" in queue and len(queue) == 1
    assert str(steps[-1].filter) == "x = 1" and queue.pop() is None
