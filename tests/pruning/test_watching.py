"""Predicates counted while a matcher matches."""

from __future__ import annotations

import pytest

from fyke import FykeError, Matcher, PredicateStatistics, Schema, parse, prune
from fyke.pruning import watching
from fyke.pruning.predicate_statistics import leaves_of
from fyke.pruning.watching import Watching
from fyke.workloads.auction import AuctionWorkload

AUCTION = AuctionWorkload(typed=False)


def matcher_of(count: int = 30) -> Matcher:
    matcher = Matcher("counting")
    matcher.add_many((AUCTION.id(n), AUCTION.filter(n)) for n in range(count))
    return matcher


def test_all_events_are_counted_one_by_one_and_in_batches(monkeypatch):
    monkeypatch.setattr(watching, "BUFFER", 7)
    matcher = matcher_of()
    seen = Watching(matcher, share=1.0)
    events = list(AUCTION.events(40))
    for event in events[:20]:
        matcher.match(event)
    matcher.match_batch(events[20:])
    leaves = leaves_of(filter for _, filter in matcher.items())
    right = PredicateStatistics.of(events, leaves)
    found = seen.statistics()
    assert (found.events, found.satisfied) == (right.events, right.satisfied)
    by_sample, by_watching = prune(matcher, statistics=right), prune(matcher, statistics=found)
    assert list(by_sample.filters(20)) == list(by_watching.filters(20))


def test_a_share_of_them_and_an_end():
    matcher = matcher_of(5)
    seen = Watching(matcher, share=0.25)
    for event in AUCTION.events(200):
        matcher.match(event)
    counted = seen.statistics().events
    assert 20 < counted < 90
    seen.stop()
    matcher.match(AUCTION.event(0))
    assert seen.statistics().events == counted


def test_what_was_known_before_is_added_to_and_what_came_later_is_estimated():
    matcher = matcher_of(5)
    first = Watching(matcher, share=1.0)
    matcher.match_batch(list(AUCTION.events(30)))
    kept = PredicateStatistics.read(first.statistics().document)
    matcher.add("late", "price < 7.77 and signed = true")
    second = Watching(matcher, share=1.0, known=kept)
    matcher.match_batch(list(AUCTION.events(10, 30)))
    found = second.statistics()
    assert found.events == 40
    assert found.share(parse("price < 7.77")).is_estimate
    assert 0.05 < found.share(parse("price < 7.77")).value < 0.9
    assert not found.share(parse("ending_within < 86400")).is_estimate


def test_bad_input():
    with pytest.raises(FykeError, match="share from 0 to 1"):
        Watching(matcher_of(1), share=2)
    other = PredicateStatistics.of([{"a": 1}], [], schema=Schema().with_timestamps(["at"]))
    with pytest.raises(FykeError, match="another schema"):
        Watching(matcher_of(1), known=other)
