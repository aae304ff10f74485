"""check_workload: rows are known by their number alone, events and filters are in order."""

from __future__ import annotations

import pickle

from fyke.events.event import Event
from fyke.filters.language.parser import parse_text
from fyke.workloads.workload import Workload


def check_workload(workload: Workload, other: Workload) -> None:
    """Raise AssertionError if a law of workloads is broken. `other` differs by its seed only."""
    _check_rows(workload)
    _check_seeds(workload, other)
    _check_values(workload)


def _check_rows(workload: Workload) -> None:
    events, subscriptions = list(workload.events(60)), list(workload.subscriptions(60))
    assert len(events) == len(subscriptions) == 60
    for number in (59, 0, 31, 7):
        assert workload.event(number) == events[number]
        assert workload.subscription(number) == subscriptions[number]
    assert list(workload.events(9, start=51)) == events[51:]
    assert list(workload.subscriptions(9, start=51)) == subscriptions[51:]
    again: Workload = pickle.loads(pickle.dumps(workload))
    assert again == workload
    assert list(again.events(60)) == events


def _check_seeds(workload: Workload, other: Workload) -> None:
    assert workload != other
    assert all(one != two for one, two in zip(workload.events(60), other.events(60), strict=True))
    texts = {workload.text(number) for number in range(60)}
    assert len(texts & {other.text(number) for number in range(60)}) < 6


def _check_values(workload: Workload) -> None:
    """Check that events are as `Event` makes them, ids unique, and filters print and read back."""
    for event in workload.events(200):
        assert event == Event(event.document, supertypes=event.supertypes)
        assert event.type is not None
    subscriptions = list(workload.subscriptions(500))
    assert len({subscription.id for subscription in subscriptions}) == 500
    for number, subscription in enumerate(subscriptions):
        assert subscription.filter == parse_text(workload.text(number))
        assert parse_text(str(subscription.filter)) == subscription.filter
        assert subscription.subscriber


def match_fraction(workload: Workload, events: int, subscriptions: int) -> float:
    """Return the mean share of the subscriptions that an event matches."""
    filters = [subscription.filter for subscription in workload.subscriptions(subscriptions)]
    matches = sum(filter.matches(event) for event in workload.events(events) for filter in filters)
    return matches / (events * subscriptions)
