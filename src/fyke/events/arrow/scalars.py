"""Scalars: cells that are scalars of one kind, or missing.

A null is a missing cell. So is a cell that cannot be admitted; it is listed in `refused`.

    Arrow                                        kind        held as
    bool                                         bool        bool
    int*, uint*, float*                          number      int64, float64
    duration                                     number      seconds: int64 if all are whole
    decimal*                                     number      int64, float64 if all are exactly so
                                                 decimal     as it came, otherwise
    string, large_string, string_view            string      string, large_string
    dictionary of strings                        string      dictionary
    timestamp, date32, date64                    timestamp   timestamp[us, UTC]

Numbers are looked at in the buffers themselves: what needs no conversion is not copied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fyke.events.value import Scalar

ScalarKind: TypeAlias = Literal["bool", "number", "decimal", "string", "timestamp"]
Mask: TypeAlias = NDArray[np.bool_]
Refusal: TypeAlias = tuple[NDArray[np.int64], str]
"""The places of cells, and what is wrong with them."""


@dataclass(frozen=True, slots=True, eq=False)
class Scalars:
    """One kind of scalars. What `array` holds at a missing cell means nothing."""

    kind: ScalarKind
    array: Any
    valid: Mask | None
    """The cells that are there; None where all are."""
    item: Callable[[int], Scalar]
    """The scalar at a place where there is one."""
    refused: tuple[Refusal, ...] = ()

    def __len__(self) -> int:
        return len(self.array)

    def cell(self, place: int) -> Scalar:
        """Return one cell; None where it is missing."""
        if self.valid is not None and not self.valid[place]:
            return None
        return self.item(place)

    def values(self) -> Any:
        """Return the cells that are there, as an array without nulls."""
        if self.valid is None:
            return self.array
        if not self.refused and self.array.null_count:
            return self.array.drop_null()
        return self.array.filter(pa.array(self.valid))


def validity(array: Any) -> Mask | None:
    """Return a mask of the cells that are not null; None where no cell is null."""
    if array.null_count == 0:
        return None
    first, shift = divmod(array.offset, 8)
    bits = np.frombuffer(array.buffers()[0], np.uint8)[first:]
    unpacked = np.unpackbits(bits, count=shift + len(array), bitorder="little")
    return unpacked[shift:].view(np.bool_)


def data(array: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the buffer of fixed-width values itself; anything may stand at a null."""
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros((len(array), *dtype.shape), dtype.base)
    return np.frombuffer(buffer, dtype, len(array), array.offset * dtype.itemsize)


def refusal(valid: Mask | None, admitted: Mask) -> Mask | None:
    """Return a mask of the cells that are there and not admitted; None where all are admitted."""
    if admitted.all():
        return None
    refused = ~admitted if valid is None else valid & ~admitted
    return refused if refused.any() else None


def without(valid: Mask | None, refused: Mask) -> Mask:
    return ~refused if valid is None else valid & ~refused
