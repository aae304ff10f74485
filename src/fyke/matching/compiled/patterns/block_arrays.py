"""The types of the arrays that kernels work on, and how they are handed over."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Integers: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]

_Array = TypeVar("_Array", bound=npt.NDArray[Any])


def frozen(array: _Array) -> _Array:
    """Return a read-only view: for kernels, what is built and what is mapped are of one type."""
    view = array.view(np.ndarray)
    view.setflags(write=False)
    return view  # type: ignore[return-value]


def octets_of(data: bytes) -> Bytes:
    return np.frombuffer(data, np.uint8)
