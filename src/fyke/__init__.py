"""Fyke: standing queries over a stream of events.

A filter is a set of events, written as text in one of seven dialects (`parse`) and evaluated with
`Filter.matches`. `covers` says whether one set contains another, `merge` and `weaken` replace
filters by ones that cover them, `lint` finds what is wrong or redundant in a set of subscriptions.
A `Matcher` maps an event to the subscriptions that accept it; a `Hub` calls back those who wait.
`prune` plans smaller sets of subscriptions, which cover the original ones. A `Summary` is a small
thing that never says no to an event that somebody wants. `event` makes a class an event class: its
objects are published and delivered, `fields` are filters on them, `derived` is the filter that
covers a closure and `schema_of` is their schema.
"""

from typing import TYPE_CHECKING

from fyke.errors import EventError, FilterError, FilterWarning, FykeError, SchemaError
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.algebra.covering import covers, equivalent, overlaps
from fyke.filters.algebra.merging import merge
from fyke.filters.algebra.normal_form import simplify
from fyke.filters.algebra.weakening import weaken
from fyke.filters.dialects import parse
from fyke.filters.explanation import explain
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.hub import Hub
from fyke.limits import Limits
from fyke.matching.engines.registry import warm
from fyke.matching.linting import lint
from fyke.matching.matcher import Matcher
from fyke.matching.statistics import Statistics
from fyke.pruning import PredicateStatistics, prune
from fyke.typed import derived, event, fields, schema_of
from fyke.version import __version__ as __version__

if TYPE_CHECKING:
    from fyke.summaries.summary import Summary

__all__ = [
    "Event",
    "EventError",
    "Filter",
    "FilterError",
    "FilterWarning",
    "FykeError",
    "Hub",
    "Limits",
    "Matcher",
    "PredicateStatistics",
    "Schema",
    "SchemaError",
    "Statistics",
    "Subscription",
    "Summary",
    "covers",
    "derived",
    "equivalent",
    "event",
    "explain",
    "fields",
    "lint",
    "merge",
    "overlaps",
    "parse",
    "prune",
    "schema_of",
    "simplify",
    "warm",
    "weaken",
]


def __getattr__(name: str) -> object:
    """Import a name that needs numpy when it is used."""
    if name == "Summary":
        from fyke.summaries.summary import Summary

        return Summary
    raise AttributeError(f"module 'fyke' has no attribute {name!r}")
