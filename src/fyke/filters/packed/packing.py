"""Packing: the filters of one owner as few bytes, unpacked while they are used.

A broker knows a subscription in several places: among its rows, in what it told neighbours, in the
index of what covers what. All of them hold the same bytes; trees are made when they are needed, and
the last ones are kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from fyke.filters.filter import Filter
from fyke.filters.packed.names import NameTable
from fyke.filters.packed.reader import unpack
from fyke.filters.packed.writer import pack

KEPT_MAX: Final = 512
"""Filters that are kept unpacked."""


class Packing:
    """Names of attributes that all filters share, and the last filters."""

    __slots__ = ("_names", "_unpacked")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget names and filters: nothing that was packed is held any more."""
        self._names = names = NameTable()
        self._unpacked = lru_cache(maxsize=KEPT_MAX)(lambda packed: unpack(packed, names))

    def pack(self, filter: Filter) -> bytes:
        return pack(filter, self._names)

    def unpack(self, packed: bytes) -> Filter:
        return self._unpacked(packed)
