"""Joining: where in a tree of stages a subscription is attached, one broker after the other.

Idea. A subscriber asks the root; each broker answers with a child to ask next, until one keeps it.
The child whose filters cover the new one leads to subscriptions like it, so that similar ones meet
at one broker and share rows. A filter that says nothing about a general attribute (a wildcard) is
kept higher up: below, it would make every broker pass on all that it does not care about.

    root {Stock -> m}, m {DEF -> a}     DEF below 11: the root says m, m says a, a keeps it
                                        GHI below 8: the root says m, m says any child
                                        any symbol below 100: the root keeps it

Cost. For each row of the brokers on one way from the root to the edge, to hold an event against it
that the new filter accepts (`witness`); a covering test for those that accept it.
Source. MSF-22 to MSF-27, with MSF-Q4 (wildcards first), MSF-Q6 and MSF-Q8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from fyke.events.schema import Schema
from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.witness import witness
from fyke.filters.filter import Filter, walk
from fyke.filters.predicate import Predicate
from fyke.nodes.message import NodeId
from fyke.routing.stages.attributes import Stages, kept_at


def next_child(
    filter: Filter,
    stage: int,
    rows: Mapping[NodeId, Iterable[Filter]],
    stages: Stages,
    schema: Schema,
    random: Random,
) -> NodeId | None:
    """Return the child that a subscriber is to ask; None where this broker keeps it.

    `rows` are what a broker of this stage holds for its children, who need not have any.
    """
    if stage <= 1 or not rows or stage <= stage_of_wildcards(filter, stages):
        return None
    seen = witness(filter, schema)
    covering = [
        (each, child)
        for child, filters in rows.items()
        for each in filters
        if (seen is None or each.matches(seen)) and covers(each, filter, schema=schema)
    ]
    if not covering:
        return random.choice(sorted(rows))
    most = max(_predicates(each) for each, _ in covering)
    return random.choice(sorted({child for each, child in covering if _predicates(each) == most}))


def stage_of_wildcards(filter: Filter, stages: Stages) -> int:
    """Return the highest stage where a filter may be attached; 0 where it says something of all.

    That is one above the last stage that keeps its most general wildcard.
    """
    read = {each.attribute for each in walk(filter) if isinstance(each, Predicate)}
    wildcard = next((name for name in (stages[0] if stages else ()) if name not in read), None)
    if wildcard is None:
        return 0
    return 1 + max(stage for stage in range(len(stages)) if wildcard in kept_at(stages, stage))


def _predicates(filter: Filter) -> int:
    return sum(isinstance(each, Predicate) for each in walk(filter))
