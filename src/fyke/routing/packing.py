"""Packing: the filters of a broker as few bytes, unpacked while somebody looks at them.

A broker knows a subscription in several places: among its rows, in what it told neighbours, in the
index of what covers what. All of them hold the same bytes (`matching.packed`); trees are made when
they are needed, and the last ones are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from fyke.filters.filter import Filter
from fyke.matching.packed import Names, pack, unpack

KEPT_MAX: Final = 512
"""Filters that are kept unpacked."""


class Packing:
    """Names of attributes that all filters of a broker share, and its last filters."""

    __slots__ = ("_kept", "_names")

    def __init__(self) -> None:
        self._names = Names()
        self._kept: OrderedDict[bytes, Filter] = OrderedDict()

    def pack(self, filter: Filter) -> bytes:
        packed = pack(filter, self._names)
        self._keep(packed, filter)
        return packed

    def unpack(self, packed: bytes) -> Filter:
        filter = self._kept.get(packed)
        if filter is None:
            filter = unpack(packed, self._names)
            self._keep(packed, filter)
        return filter

    def _keep(self, packed: bytes, filter: Filter) -> None:
        self._kept[packed] = filter
        if len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)
