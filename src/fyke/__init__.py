"""Fyke: standing queries over a stream of events.

A filter is a set of events, written as text (`parse`) and evaluated with `matches`. `covers` says
whether one set contains another.
"""

from fyke.errors import EventError, FilterError, FykeError, SchemaError
from fyke.events.event import Event
from fyke.filters.dialects import parse
from fyke.filters.filter import Filter

__all__ = [
    "Event",
    "EventError",
    "Filter",
    "FilterError",
    "FykeError",
    "SchemaError",
    "parse",
]
