"""check_matcher: holds an engine against the scan.

One seeded history of adds, removes, replacements, saves and reopenings, over random filters and
events; after every step all events must have the verdicts of `filter.matches`.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher


def check_matcher(
    engine: str,
    filters: Sequence[Filter],
    events: Sequence[Event],
    *,
    seed: int = 0,
    steps: int = 60,
) -> int:
    """AssertionError with the event whose matches differ; otherwise how many verdicts agreed."""
    draw = random.Random(seed)
    matcher = Matcher(engine)
    expected: dict[str, Filter] = {}
    verdicts = 0
    for step in range(steps):
        _change(matcher, expected, draw, filters, f"s{step}")
        if draw.random() < 0.1:
            matcher = _reopened(matcher)
        for event in draw.sample(events, min(len(events), 4)):
            right = [id for id, filter in expected.items() if filter.matches(event)]
            found = matcher.match(event)
            assert found == right, _difference(engine, event, expected, found, right)
            verdicts += len(expected)
    assert len(matcher) == len(expected)
    return verdicts


def _change(
    matcher: Matcher,
    expected: dict[str, Filter],
    draw: random.Random,
    filters: Sequence[Filter],
    id: str,
) -> None:
    """One random change, made to both."""
    filter = draw.choice(filters)
    action = draw.random()
    if not expected or action < 0.6:
        matcher.add(id, filter)
        expected[id] = filter
        return
    known = draw.choice(list(expected))
    del expected[known]
    if action < 0.85:
        matcher.remove(known)
    else:
        matcher.replace(known, filter)
        expected[known] = filter


def _reopened(matcher: Matcher) -> Matcher:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot"
        matcher.save(path)
        return Matcher.open(path)


def _difference(
    engine: str, event: Event, filters: dict[str, Filter], found: list[str], right: list[str]
) -> str:
    wrong = sorted(set(found) ^ set(right)) or ["(only the order differs)"]
    shown = "\n".join(f"  {id}: {filters.get(id)}" for id in wrong)
    return f"{engine} differs from the scan on {event!r}\n{shown}"
