"""Arrays by name: what a snapshot is made of. Dots in names make groups, as in `ids.places`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy.typing as npt

Arrays: TypeAlias = "dict[str, npt.NDArray[Any]]"


def grouped(group: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Return the same arrays as members of a group."""
    return {f"{group}.{name}": array for name, array in arrays.items()}


def members(group: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Return the arrays of a group, by the names that `grouped` was given."""
    prefix = f"{group}."
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
