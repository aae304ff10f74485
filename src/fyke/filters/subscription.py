"""Subscription: a filter with an identity and a subscriber."""

from __future__ import annotations

from dataclasses import dataclass

from fyke.filters.filter import Filter


@dataclass(frozen=True, slots=True)
class Subscription:
    """A standing query.

    `id` is unique among all subscriptions of a system; equal filters stay apart by it.
    """

    id: str
    filter: Filter
    subscriber: str | None = None
