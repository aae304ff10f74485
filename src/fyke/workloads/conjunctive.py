"""Flat workloads: events of words and numbers, filters over them.

A conjunctive workload is a list of attributes and a table of templates, no more. Besides what all
workloads have, it gives events as codes and filters as matrices over these codes, for references
that take arrays.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from fyke.events.event import Event
from fyke.filters.filter import Filter, conjunction
from fyke.workloads.attribute import Attribute
from fyke.workloads.draw import Stream
from fyke.workloads.predicates import Conjunctions, PredicateSource, Templates
from fyke.workloads.workload import ColumnarWorkload

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from fyke.workloads.vector_draw import Words as Draws

BLOCK: Final = 8_192
"""Filters that are drawn at once; what they are does not depend on it."""


@dataclass(frozen=True, slots=True)
class FlatWorkload(ColumnarWorkload):
    """Events of `attributes`, each of which is in every event."""

    attributes: ClassVar[tuple[Attribute, ...]]
    family: ClassVar[str]
    """Names the streams: workloads of one family have the same events."""

    def event(self, number: int) -> Event:
        streams = _streams(type(self), self.seed)
        return Event.flat(
            {
                attribute.name: attribute.value(attribute.code(stream.half(number, 0)))
                for attribute, stream in zip(self.attributes, streams, strict=True)
            }
        )

    def columns(self, count: int, start: int = 0) -> pa.Table:
        import pyarrow as pa

        codes = zip(self.attributes, self._codes(count, start), strict=True)
        return pa.table({attribute.name: attribute.column(column) for attribute, column in codes})

    def codes(self, count: int, start: int = 0) -> NDArray[np.int32]:
        """`count` events from number `start` on: a row per event, a column per attribute."""
        import numpy as np

        return np.column_stack([codes.astype(np.int32) for codes in self._codes(count, start)])

    def _codes(self, count: int, start: int) -> Iterator[NDArray[np.int64]]:
        from fyke.workloads.vector_draw import half, numbers

        rows = numbers(count, start)
        streams = _streams(type(self), self.seed)
        for attribute, stream in zip(self.attributes, streams, strict=True):
            yield attribute.codes(half(stream, rows, 0))


@lru_cache(maxsize=16)
def _streams(kind: type[FlatWorkload], seed: int) -> tuple[Stream, ...]:
    return tuple(Stream(seed, f"{kind.family} {attribute.name}") for attribute in kind.attributes)


@dataclass(frozen=True, slots=True)
class ConjunctiveWorkload(FlatWorkload):
    """Filters that are conjunctions; an equality of a word, or an interval of a number."""

    @classmethod
    @abstractmethod
    def templates(cls) -> Templates:
        """Which attributes a filter may speak about, together; always the same object."""

    def filter(self, number: int) -> Filter:
        return conjunction(_source(type(self), self.seed).draw(number))

    def filters(self, count: int, start: int = 0) -> Iterator[Filter]:
        source = _source(type(self), self.seed)
        for first, size in blocks(count, start):
            yield from map(conjunction, source.predicates(self.conjunctions(size, first)))

    def conjunctions(self, count: int, start: int = 0) -> Conjunctions:
        """The filters of `count` subscriptions from number `start` on, over `codes`."""
        from fyke.workloads.vector_draw import numbers

        return _source(type(self), self.seed).draw_many(numbers(count, start))

    def text_column(self, count: int, start: int = 0) -> pa.Array:
        from fyke.workloads.vector_draw import numbers

        return self.texts_of(numbers(count, start))

    def texts_of(self, numbers: Draws) -> pa.Array:
        """The texts of the subscriptions with these numbers."""
        import pyarrow.compute as pc

        source = _source(type(self), self.seed)
        places = source.texts(source.draw_many(numbers))
        return pc.binary_join_element_wise(*places, " and ", null_handling="skip")


@lru_cache(maxsize=16)
def _source(kind: type[ConjunctiveWorkload], seed: int) -> PredicateSource:
    return PredicateSource(seed, f"{kind.family} filters", kind.attributes, kind.templates())


def blocks(count: int, start: int) -> Iterator[tuple[int, int]]:
    """A range of numbers in blocks: the first number and the size of each."""
    for first in range(start, start + count, BLOCK):
        yield first, min(BLOCK, start + count - first)
