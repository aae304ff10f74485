"""Generality: the order in which attributes are dropped from stage to stage.

Idea. An attribute is general if an equality on it lets many events through (its *agreement*), and
special if it lets few: a year is general, a title special. General ones stay on to the root, where
they keep tables small. But a stage filters nothing by an attribute that a subscription does not
read. So what more subscriptions read stays longer; of those that are read alike, to a tenth of the
subscriptions, the more general.

    agreement       year 0.05, conference 0.04, author 0.1, title 0.0002
    read by         year 0.5,  conference 1,    author 1,   title 1
    in order        author, conference, title, year

Invariant. Every attribute that was given is in the order once; equal facts give equal orders.
Source. MSF-17 to MSF-19.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fyke.filters.filter import Filter, walk
from fyke.filters.predicate import Predicate
from fyke.routing.stages.attributes import Stages


class Generality(NamedTuple):
    """Facts about an attribute, learned from events."""

    agreement: float
    distinct: int


def in_order(
    attributes: Mapping[str, Generality], reads: Mapping[str, float] | None = None
) -> tuple[str, ...]:
    """Return attributes, those that stay longest first.

    `reads` are the shares of the subscriptions that read each; without it all are read alike.
    """

    def rank(name: str) -> tuple[float, float, int, str]:
        agreement, distinct = attributes[name]
        share = 1.0 if reads is None else round(reads.get(name, 0.0), 1)
        return -share, -agreement, distinct, name

    return tuple(sorted(attributes, key=rank))


def stages_of(order: Sequence[str], last: int) -> Stages:
    """Return the attributes that stages 0 to `last` keep: fewer in even steps, rounded up."""
    return tuple(
        tuple(order[: -(-len(order) * (last + 1 - stage) // (last + 1))])
        for stage in range(last + 1)
    )


def share_of_readers(filters: Iterable[Filter]) -> dict[str, float]:
    """Return the share of some filters that reads each attribute."""
    counts, total = Counter[str](), 0
    for filter in filters:
        counts.update({each.attribute for each in walk(filter) if isinstance(each, Predicate)})
        total += 1
    return {name: count / total for name, count in counts.items()}
