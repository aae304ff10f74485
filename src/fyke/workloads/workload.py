"""Workload: endless events and subscriptions, each known by its number.

Law. `event(i)` and `subscription(i)` depend on the workload's fields and on i alone, however they
are reached; so tests, benchmarks, experiments and Spark jobs of one workload see the same rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fyke.events.event import Event
from fyke.filters.parser import parse_text
from fyke.filters.subscription import Subscription


@dataclass(frozen=True, slots=True)
class Workload(ABC):
    """A named, seeded source of events and subscriptions; a value."""

    name: ClassVar[str]

    seed: int = 0

    @abstractmethod
    def event(self, number: int) -> Event:
        """Event `number`, counted from 0."""

    @abstractmethod
    def text(self, number: int) -> str:
        """The filter of subscription `number`, in the native language."""

    @abstractmethod
    def subscriber(self, number: int) -> str:
        """Who holds subscription `number`."""

    def id(self, number: int) -> str:
        return f"{self.name}-{number}"

    def subscription(self, number: int) -> Subscription:
        """Subscription `number`, counted from 0."""
        return Subscription(self.id(number), parse_text(self.text(number)), self.subscriber(number))

    def events(self, count: int, start: int = 0) -> Iterator[Event]:
        """`count` events from number `start` on."""
        return map(self.event, range(start, start + count))

    def subscriptions(self, count: int, start: int = 0) -> Iterator[Subscription]:
        """`count` subscriptions from number `start` on."""
        return map(self.subscription, range(start, start + count))


def money(cents: int) -> str:
    """An amount as it stands in a filter's text."""
    return f"{cents // 100}.{cents % 100:02d}"
