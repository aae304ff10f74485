"""check_covers: the one law, as a check.

Every lossy step replaces a filter by one that covers it; so whatever the narrow side accepts, the
wide side accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from fyke.events.event import Document, Event, as_event
from fyke.filters.filter import Filter

Verdict: TypeAlias = Filter | Callable[[Event], bool]


def check_covers(wide: Verdict, narrow: Verdict, events: Iterable[Event | Document]) -> int:
    """Raise AssertionError with the event that `wide` would lose.

    Otherwise return how many events `narrow` accepted.
    """
    accepted = 0
    for event in map(as_event, events):
        if not _accepts(narrow, event):
            continue
        accepted += 1
        if not _accepts(wide, event):
            raise AssertionError(f"lost {event!r}\n  accepted by {narrow}\n  refused by  {wide}")
    return accepted


def _accepts(verdict: Verdict, event: Event) -> bool:
    return verdict.matches(event) if isinstance(verdict, Filter) else verdict(event)
