"""Flat workloads: events of words and numbers, filters over them.

A conjunctive workload is a list of attributes and a table of templates, no more. Besides what all
workloads have, it gives events as codes and filters as matrices over these codes, for references
that take arrays.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fyke.filters.filter import Filter, conjunction
from fyke.workloads.attribute import Attribute
from fyke.workloads.draw import Codes, Stream, row_numbers
from fyke.workloads.predicates import Conjunctions, PredicateSource, Templates
from fyke.workloads.workload import ColumnarWorkload


@dataclass(frozen=True, slots=True)
class FlatWorkload(ColumnarWorkload):
    """Events of `attributes`, each of which is in every event."""

    attributes: ClassVar[tuple[Attribute, ...]]
    family: ClassVar[str]
    """Names the streams: workloads of one family have the same events."""

    def columns(self, count: int, start: int = 0) -> pa.Table:
        codes = zip(self.attributes, self._codes(count, start), strict=True)
        return pa.table({attribute.name: attribute.column(column) for attribute, column in codes})

    def codes(self, count: int, start: int = 0) -> NDArray[np.int32]:
        """`count` events from number `start` on: a row per event, a column per attribute."""
        return np.column_stack([codes.astype(np.int32) for codes in self._codes(count, start)])

    def _codes(self, count: int, start: int) -> Iterator[Codes]:
        rows = row_numbers(count, start)
        streams = _streams(type(self), self.seed)
        for attribute, stream in zip(self.attributes, streams, strict=True):
            yield attribute.codes(stream.half(rows, 0))


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

    def make_filters(self, count: int, start: int) -> Iterable[Filter]:
        source = _source(type(self), self.seed)
        return map(conjunction, source.predicates(self.conjunctions(count, start)))

    def conjunctions(self, count: int, start: int = 0) -> Conjunctions:
        """The filters of `count` subscriptions from number `start` on, over `codes`."""
        return _source(type(self), self.seed).draw(row_numbers(count, start))

    def text_column(self, count: int, start: int = 0) -> pa.Array:
        return self.texts_of(row_numbers(count, start))

    def texts_of(self, numbers: Codes) -> pa.Array:
        """The texts of the subscriptions with these numbers."""
        source = _source(type(self), self.seed)
        places = source.texts(source.draw(numbers))
        return pc.binary_join_element_wise(*places, " and ", null_handling="skip")


@lru_cache(maxsize=16)
def _source(kind: type[ConjunctiveWorkload], seed: int) -> PredicateSource:
    return PredicateSource(seed, f"{kind.family} filters", kind.attributes, kind.templates())
