"""Statistics: what events and subscriptions of any size are like, as tables.

distribution        of each attribute: presence, values, quantiles
for_matcher         a distribution in the form that a matcher learns from
generality, stages  attributes from general to special; which of them a stage keeps
stages_by_type      the same for each type of events
predicates          of subscriptions, with how many have each
selectivities       which share of the events satisfies each predicate
match_fractions     which share of the events each subscription accepts

Inside:

    source, written         which rows are counted; values as text
    distributions, reports  workers count, Spark adds up and ranks; for a matcher
    staging                 attributes from general to special, and what stages keep
    filters, selecting      predicates; counted as jobs, with match fractions
    redundancy, places      equal forms; who covers meets the covered at a place that both know
"""

from __future__ import annotations

from fyke.spark.statistics.distributions import distribution
from fyke.spark.statistics.filters import predicates
from fyke.spark.statistics.redundancy import coverings, duplicates
from fyke.spark.statistics.reports import for_matcher
from fyke.spark.statistics.selecting import match_fractions, selectivities
from fyke.spark.statistics.staging import generality, stages, stages_by_type

__all__ = [
    "coverings",
    "distribution",
    "duplicates",
    "for_matcher",
    "generality",
    "match_fractions",
    "predicates",
    "selectivities",
    "stages",
    "stages_by_type",
]
