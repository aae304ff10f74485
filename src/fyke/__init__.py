"""Fyke: standing queries over a stream of events.

A filter is a set of events, written as text in one of seven dialects (`parse`) and evaluated with
`Filter.matches`. `covers` says whether one set contains another, `merge` and `weaken` replace
filters by ones that cover them, `lint` finds what is wrong or redundant in a set of subscriptions.
A `Matcher` maps an event to the subscriptions that accept it; a `Hub` calls back those who wait.
"""

from fyke.errors import EventError, FilterError, FykeError, SchemaError
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.analysis import analyse as lint
from fyke.filters.covering import covers, equivalent, overlaps
from fyke.filters.dialects import parse
from fyke.filters.explanation import explain
from fyke.filters.filter import Filter
from fyke.filters.merging import merge
from fyke.filters.normal_form import simplify
from fyke.filters.subscription import Subscription
from fyke.filters.weakening import weaken
from fyke.hub import Hub
from fyke.limits import Limits
from fyke.matching.matcher import Matcher
from fyke.matching.statistics import Statistics

__version__ = "0.1.0"

__all__ = [
    "Event",
    "EventError",
    "Filter",
    "FilterError",
    "FykeError",
    "Hub",
    "Limits",
    "Matcher",
    "Schema",
    "SchemaError",
    "Statistics",
    "Subscription",
    "covers",
    "equivalent",
    "explain",
    "lint",
    "merge",
    "overlaps",
    "parse",
    "simplify",
    "weaken",
]
