"""Workload: endless events and subscriptions, each known by its number.

Law. `event(i)` and `subscription(i)` depend on the workload's fields and on i alone, however they
are reached: alone, in a range, or as columns; so tests, benchmarks, experiments and Spark jobs of
one workload see the same rows. A workload is plain data: `description()` says which it is, and
`named.described` makes it again, in another process too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final

from fyke.errors import FykeError, shown
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.parser import parse_text
from fyke.filters.subscription import Subscription

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

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

    @abstractmethod
    def columns(self, count: int, start: int = 0) -> pa.Table:
        """`count` events from number `start` on, an Arrow column per attribute.

        A null is an attribute that the event does not have; supertypes have no column. Every piece
        has the same schema. A million rows at a time are enough: strings of one piece fit 2 GiB.
        """

    @abstractmethod
    def filter_columns(self, count: int, start: int = 0) -> pa.Table:
        """`text` and `subscriber` for many subscriptions, and `class` where there are classes."""

    def subscription_class(self, number: int) -> int | None:
        """The class of subscription `number`, where there are classes."""
        return None

    def id(self, number: int) -> str:
        return f"{self.name}-{number}"

    def ids(self, count: int, start: int = 0) -> pa.Array:
        """`id` for many subscriptions."""
        return numbered(f"{self.name}-", count, start)

    def subscription_columns(self, count: int, start: int = 0) -> pa.Table:
        """`count` subscriptions from number `start` on: id, filter (its text), subscriber, class.

        The class is there where there are classes.
        """
        return self.filter_columns(count, start).add_column(0, "id", self.ids(count, start))

    def description(self) -> dict[str, Any]:
        """The workload as plain data: its name, its seed and its options."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        lists = {key: list(value) for key, value in options.items() if isinstance(value, tuple)}
        return {"name": self.name, **options, **lists}

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
    """A workload that makes filters without reading text; its text is their canonical text."""

    @abstractmethod
    def filter(self, number: int) -> Filter: ...

    def text(self, number: int) -> str:
        return str(self.filter(number))

    def texts(self, count: int, start: int = 0) -> Iterator[str]:
        return map(str, self.filters(count, start))

    def subscriber(self, number: int) -> str:
        return f"subscriber-{number % SUBSCRIBERS}"

    def text_column(self, count: int, start: int = 0) -> pa.Array:
        """`text` for many subscriptions."""
        import pyarrow as pa

        return pa.array(self.texts(count, start), pa.string())

    def filter_columns(self, count: int, start: int = 0) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        holders = np.arange(start, start + count, dtype=np.int64) % SUBSCRIBERS
        texts, subscribers = self.text_column(count, start), counted("subscriber-", holders)
        return pa.table({"filter": texts, "subscriber": subscribers})


def numbered(prefix: str, count: int, start: int) -> pa.Array:
    """The prefix with each number of a range."""
    import numpy as np

    return counted(prefix, np.arange(start, start + count, dtype=np.int64))


def counted(prefix: str, numbers: NDArray[np.int64]) -> pa.Array:
    """The prefix with each number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def in_order(tables: Sequence[pa.Table], places: Sequence[NDArray[np.int64]]) -> pa.Table:
    """One table of several; row i of table k goes to `places[k][i]`, missing columns are null."""
    import numpy as np
    import pyarrow as pa

    order = np.argsort(np.concatenate(places), kind="stable")
    whole = pa.concat_tables(tables, promote_options="default").combine_chunks()
    return whole.take(pa.array(order))


def check_size(name: str, size: int, most: int) -> None:
    """FykeError where an option is not a number from 1 to `most`."""
    if not 1 <= size <= most:
        raise FykeError(f"{name} is {shown(size)}; expected 1 to {most}")
