"""Statistics: what events and subscriptions of any size are like, as tables.

distribution        of each attribute: presence, values, quantiles
for_matcher         a distribution in the form that a matcher learns from
generality, stages  attributes from general to special; which of them a stage keeps
"""

from __future__ import annotations

from fyke.spark.statistics.distributions import distribution
from fyke.spark.statistics.reports import for_matcher
from fyke.spark.statistics.staging import generality, stages

__all__ = ["distribution", "for_matcher", "generality", "stages"]
