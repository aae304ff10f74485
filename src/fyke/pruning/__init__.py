"""Pruning: smaller sets of subscriptions that cover the original ones.

Inside:

    predicate_statistics, estimating
                            how often predicates hold: counted, or guessed
    watching                counted while a matcher is used
    selectivity, shape      the share of a tree; trees of one shape, and what may go
    steps, queue            the path of each subscription and one order for all; the paper's queue
    truth, measuring, curve
                            predicates as bits; what each step lets in; the bend
    plan                    `prune`: a plan, and the set that meets a budget
    cutting                 a plan for subscriptions that nobody holds at once
    conditions, plot        conditions that make no difference; the curve as a picture
    replacement             predicates that give way to covering ones

Source. PRU: S. Bittner, A. Hinze: Pruning Subscriptions in Distributed Publish/Subscribe Systems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fyke.errors import BudgetWarning
from fyke.pruning.predicate_statistics import PredicateStatistics

if TYPE_CHECKING:
    from fyke.matching.matcher import Matcher
    from fyke.pruning.plan import PruningPlan

__all__ = ["BudgetWarning", "PredicateStatistics", "prune"]


def prune(
    matcher: Matcher,
    sample: Any = None,
    *,
    statistics: PredicateStatistics | None = None,
    order: Literal["accuracy", "bytes"] = "accuracy",
    cumulative: bool = False,
    allow_all: bool = False,
) -> PruningPlan:
    """Plan how to prune the subscriptions of a matcher, which stays as it is.

    `sample` are events, given as for `Matcher.match_batch`. They say how often predicates hold,
    unless `statistics` do, and they are what the plan is measured on. Without either, shares are
    guesses. `order` is "accuracy", the paper's, or "bytes": what frees most bytes for an extra
    match first. `cumulative` holds a step against the original instead of the current
    subscription. `allow_all` lets a subscription come to accept all events.
    """
    from fyke.pruning.plan import make_plan
    from fyke.pruning.steps import Rules

    return make_plan(matcher, sample, statistics, Rules(order, cumulative, allow_all))
