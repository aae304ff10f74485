"""Cells: what stands in each row of an Arrow array: nothing, a scalar, a list or an object.

Idea. An array of any type becomes a tree of four kinds of nodes. Each node has a cell per place,
some of them missing (`valid`).

    Scalars     cells of one kind
    Missing     nothing in any place (Arrow's type null)
    Objects     a node per field, with the same places
    Lists       a node of all the elements, end to end; `ends` says where each list ends

Example. Two rows, {"a": [{"b": 1}, null]} and {"a": [{"b": 2}]}: Objects of 2 places; below a,
Lists of 2 places, ends 0, 2, 3; below it Objects of 3 places, the second missing; below b, Scalars.
Invariant. `cell(place)` is None exactly where `valid` says that the cell is missing; what is
missing is left out of what it returns. Fields of one name are one list of their cells, in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fyke.errors import EventError
from fyke.events.arrow.decimals import read_decimals
from fyke.events.arrow.moments import read_moments
from fyke.events.arrow.numbers import NUMBERS, read_durations, read_numbers
from fyke.events.arrow.scalars import Mask, Scalars, validity
from fyke.events.arrow.texts import TEXTS, read_coded_texts, read_texts
from fyke.limits import Limits


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """Nothing, in a number of places."""

    length: int

    @property
    def valid(self) -> Mask:
        return np.zeros(self.length, bool)

    def __len__(self) -> int:
        return self.length

    def cell(self, place: int) -> None:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Lists of what stands in `elements`."""

    elements: Cells
    ends: NDArray[np.int64]
    """The list at a place is what lies from ends[place] to ends[place + 1]."""
    valid: Mask | None

    def __len__(self) -> int:
        return len(self.ends) - 1

    def cell(self, place: int) -> list[object] | None:
        if self.valid is not None and not self.valid[place]:
            return None
        inner = range(int(self.ends[place]), int(self.ends[place + 1]))
        found = map(self.elements.cell, inner)
        return [element for element in found if element is not None]

    def sizes(self) -> NDArray[np.int64]:
        """Return how many elements each list has; missing elements are not counted."""
        valid = self.elements.valid
        if valid is None:
            return np.diff(self.ends)
        counted = np.zeros(len(valid) + 1, np.int64)
        np.cumsum(valid, out=counted[1:])
        return np.diff(counted[self.ends])


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """Objects of named fields."""

    fields: tuple[tuple[str, Cells], ...]
    length: int
    valid: Mask | None
    repeated: frozenset[str]
    """Names that several fields have."""

    def __len__(self) -> int:
        return self.length

    def cell(self, place: int) -> dict[str, object] | None:
        if self.valid is not None and not self.valid[place]:
            return None
        found: dict[str, object] = {}
        for name, cells in self.fields:
            value = cells.cell(place)
            if value is None:
                continue
            if name in self.repeated:
                found.setdefault(name, []).append(value)  # type: ignore[attr-defined]
            else:
                found[name] = value
        return found


Cells: TypeAlias = Scalars | Missing | Lists | Objects


def objects(fields: Iterable[tuple[str, Cells]], length: int, valid: Mask | None = None) -> Objects:
    """Return objects of fields that each have `length` places."""
    fields = tuple(fields)
    counts = Counter(name for name, _ in fields)
    repeated = frozenset(name for name, count in counts.items() if count > 1)
    return Objects(fields, length, valid, repeated)


def read_cells(array: Any, path: str, limits: Limits, depth: int = 1) -> Cells:
    """Return the cells of an Arrow array; EventError names `path` where they cannot be read."""
    type_ = array.type
    if isinstance(type_, pa.BaseExtensionType):
        return read_cells(array.storage, path, limits, depth)
    scalars = _scalars(array)
    if scalars is not None:
        return scalars
    if pa.types.is_null(type_):
        return Missing(len(array))
    if pa.types.is_dictionary(type_):
        return read_cells(array.dictionary_decode(), path, limits, depth)
    if depth >= limits.depth_max:
        raise EventError(f"nested deeper than {limits.depth_max} levels", attribute=path)
    if pa.types.is_struct(type_):
        return _objects(array, path, limits, depth + 1)
    if _is_list(type_):
        return _lists(array, path, limits, depth + 1)
    raise EventError(
        f"a column of type {type_} cannot be read (expected booleans, numbers, decimals, strings,"
        " timestamps, dates, durations, or lists or structs of these)",
        attribute=path,
    )


def _scalars(array: Any) -> Scalars | None:
    """Return the scalars of an array; None where its type is not one of scalars."""
    type_ = array.type
    if type_ in NUMBERS:
        return read_numbers(array)
    if type_ in TEXTS:
        return read_texts(array)
    if pa.types.is_boolean(type_):
        return Scalars("bool", array, validity(array), lambda place: array[place].as_py())
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        return read_moments(array)
    if _is_coded_text(type_):
        return read_coded_texts(array)
    if pa.types.is_decimal(type_):
        return read_decimals(array)
    if pa.types.is_duration(type_):
        return read_durations(array)
    return None


def _is_coded_text(type_: Any) -> bool:
    if not pa.types.is_dictionary(type_) or isinstance(type_.value_type, pa.BaseExtensionType):
        return False  # extension types may not even have a hash
    return type_.value_type in TEXTS


def _objects(array: Any, path: str, limits: Limits, depth: int) -> Objects:
    if len(path) >= limits.path_length_max:
        problem = f"the path is longer than {limits.path_length_max} characters"
        raise EventError(problem, attribute=path)
    names = [field.name for field in array.type]
    columns = array.flatten()  # unlike field(), with the nulls of the objects themselves
    return objects(
        (
            (name, read_cells(column, f"{path}.{name}", limits, depth))
            for name, column in zip(names, columns, strict=True)
        ),
        len(array),
        validity(array),
    )


def _is_list(type_: Any) -> bool:
    return bool(
        pa.types.is_list(type_)
        or pa.types.is_large_list(type_)
        or pa.types.is_fixed_size_list(type_)
        or pa.types.is_list_view(type_)
        or pa.types.is_large_list_view(type_)
    )


def _lists(array: Any, path: str, limits: Limits, depth: int) -> Lists:
    ends = np.zeros(len(array) + 1, np.int64)
    lengths = pc.list_value_length(array).fill_null(0)
    np.cumsum(lengths.to_numpy(zero_copy_only=False), out=ends[1:])
    # flatten() leaves out what lies below a null, as `lengths` does
    elements = read_cells(array.flatten(), path, limits, depth)
    return Lists(elements, ends, validity(array))
