"""Workload: endless events and subscriptions, each known by its number.

Law. `event(i)` and `subscription(i)` depend on the workload's fields and on i alone, however they
are reached: alone, in a range, or as columns; so tests, benchmarks, experiments and Spark jobs of
one workload see the same rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.parser import parse_text
from fyke.filters.subscription import Subscription

if TYPE_CHECKING:
    import pyarrow as pa

SUBSCRIBERS: Final = 5_000


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

    def filter(self, number: int) -> Filter:
        """The filter of subscription `number`: what `text(number)` reads as."""
        return parse_text(self.text(number))

    def subscription(self, number: int) -> Subscription:
        """Subscription `number`, counted from 0."""
        return Subscription(self.id(number), self.filter(number), self.subscriber(number))

    def events(self, count: int, start: int = 0) -> Iterator[Event]:
        """`count` events from number `start` on."""
        return map(self.event, range(start, start + count))

    def texts(self, count: int, start: int = 0) -> Iterator[str]:
        """The filters of `count` subscriptions from number `start` on, as text."""
        return map(self.text, range(start, start + count))

    def filters(self, count: int, start: int = 0) -> Iterator[Filter]:
        """The filters of `count` subscriptions from number `start` on."""
        return map(self.filter, range(start, start + count))

    def subscriptions(self, count: int, start: int = 0) -> Iterator[Subscription]:
        """`count` subscriptions from number `start` on."""
        for number, filter in enumerate(self.filters(count, start), start):
            yield Subscription(self.id(number), filter, self.subscriber(number))


@dataclass(frozen=True, slots=True)
class ColumnarWorkload(Workload):
    """A workload that makes columns of events at once, and filters without reading text.

    Its text is the canonical text of its filters.
    """

    @abstractmethod
    def columns(self, count: int, start: int = 0) -> pa.Table:
        """`count` events from number `start` on, an Arrow column per attribute."""

    @abstractmethod
    def filter(self, number: int) -> Filter: ...

    def text(self, number: int) -> str:
        return str(self.filter(number))

    def texts(self, count: int, start: int = 0) -> Iterator[str]:
        return map(str, self.filters(count, start))

    def subscriber(self, number: int) -> str:
        return f"subscriber-{number % SUBSCRIBERS}"


def money(cents: int) -> str:
    """An amount as it stands in a filter's text."""
    return f"{cents // 100}.{cents % 100:02d}"
