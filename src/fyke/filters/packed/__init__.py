"""Filters as few bytes, in which a matcher keeps a million of them.

Idea. The tree in prefix order, a byte per node that says as much as it can: the operator with the
number of its children, or the predicate with the tag of its value (`scalar`) and which ends
of an interval there are. Names are numbers in a table that all filters share (`names`).
Example. `symbol = 'OTE' and price between 5 and 900` is 15 bytes, with symbol 1 and price 2:

    42               And of 2
    2a 01 03 O T E   equal to a string, name 1, length 3
    c4 02 05 00 84 03   both ends, closed, integers of 2 bytes, name 2, 5 and 900

Invariant. unpack(pack(f, names), names) == f for every tree of the algebra, residuals included;
values come back in kind and to the last bit.
Bounds. `unpack` reads any bytes in linear time, not deeper than `DEPTH_MAX`. What is no filter is a
FilterError: nodes end with the data exactly, and whatever a predicate's own class refuses is
refused.
Cost. About a microsecond a predicate, in both directions; a typical filter of four predicates takes
some 35 bytes, where the objects take thousands.

Inside:

    codes                   the first byte of a node
    writer, reader          filters to bytes and back
    scalar, varint, names   values, lengths and texts, names by number
    packing                 filters of one owner, unpacked while they are used
"""

from fyke.filters.packed.names import NameTable
from fyke.filters.packed.reader import unpack
from fyke.filters.packed.writer import pack

__all__ = ["NameTable", "pack", "unpack"]
