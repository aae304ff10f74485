"""The predicates of generated filters: about which attributes, and with which ends.

A filter's template is the list of its attributes; one draw picks it from a table of all there are,
so that attributes are distinct without rejecting anything. The predicate at each place has a stream
of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fyke.filters.predicate import Predicate
from fyke.workloads.attribute import CodedAttribute
from fyke.workloads.draw import Codes, RandomStream

NONE: Final = 255
"""The padding of a row that has fewer predicates than others."""


class Templates:
    """Rows of attribute numbers, all as likely; compared by identity."""

    __slots__ = ("matrix", "width")

    def __init__(self, rows: Iterable[tuple[int, ...]]) -> None:
        given = list(rows)
        self.width = max(map(len, given))
        padded = [row + (NONE,) * (self.width - len(row)) for row in given]
        self.matrix = np.array(padded, np.uint8)

    def pick(self, stream: RandomStream, rows: Codes) -> NDArray[np.uint8]:
        """Draw the template of each row, padded with NONE."""
        return self.matrix[stream.below(rows, 0, len(self.matrix))]


@dataclass(frozen=True, slots=True, eq=False)
class Conjunctions:
    """Conjunctions as matrices: a row per filter, a column per predicate.

    `attribute` is NONE where a row has no more predicates; elsewhere the predicate accepts the
    codes from `low` to `high`, both included. An equality has one code.
    """

    attribute: NDArray[np.uint8]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    is_equality: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.attribute)


class PredicateSource:
    """The predicates of filter 0, 1, ...: one place after the other."""

    __slots__ = ("_attributes", "_places", "_template", "_templates")

    def __init__(
        self, seed: int, name: str, attributes: tuple[CodedAttribute, ...], templates: Templates
    ) -> None:
        self._attributes = attributes
        self._templates = templates
        self._template = RandomStream(seed, f"{name} template")
        self._places = [RandomStream(seed, f"{name} place {at}") for at in range(templates.width)]

    def draw(self, numbers: Codes) -> Conjunctions:
        """Draw the predicates of the filters with these numbers."""
        chosen = self._templates.pick(self._template, numbers)
        low = np.zeros(chosen.shape, dtype=np.int32)
        high = np.full(chosen.shape, -1, dtype=np.int32)
        for column, place in enumerate(self._places):
            for at in np.unique(chosen[:, column]):
                if at != NONE:
                    rows = np.flatnonzero(chosen[:, column] == at)
                    ends = self._attributes[at].ends(place, numbers[rows])
                    low[rows, column], high[rows, column] = ends
        words = np.array([at for at, one in enumerate(self._attributes) if one.is_word])
        return Conjunctions(chosen, low, high, np.isin(chosen, words))

    def predicates(self, drawn: Conjunctions) -> Iterable[list[Predicate]]:
        """Yield the predicates that `draw` gave, row by row."""
        make = [attribute.predicate for attribute in self._attributes]
        matrices = drawn.attribute.tolist(), drawn.low.tolist(), drawn.high.tolist()
        for row in zip(*matrices, strict=True):
            yield [make[at](low, high) for at, low, high in zip(*row, strict=True) if at != NONE]

    def texts(self, drawn: Conjunctions) -> list[pa.Array]:
        """Return the texts of each place's predicates that `draw` gave; null if there is none."""
        return [self._texts_at(drawn, place) for place in range(len(self._places))]

    def _texts_at(self, drawn: Conjunctions, place: int) -> pa.Array:
        attribute, low, high = drawn.attribute[:, place], drawn.low[:, place], drawn.high[:, place]
        where, written = np.zeros(len(attribute), np.int64), 0
        texts = [pa.array([], pa.string())]
        for at in np.unique(attribute[attribute != NONE]):
            rows = np.flatnonzero(attribute == at)
            texts.append(self._attributes[at].predicate_texts(low[rows], high[rows]))
            where[rows] = np.arange(written, written + len(rows))
            written += len(rows)
        return pa.concat_arrays(texts).take(pa.array(where, mask=attribute == NONE))
