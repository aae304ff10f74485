"""ProfileSet: the profiles that an edge leads to, as a pointer list or as a bit list.

Idea. A profile has an index. A sparse set lists indices, four bytes each (pointers); a dense one
has a bit per profile in existence (bits). The lists cost the same where one profile in 32 is in the
set, so the bit list is used from a fill ratio of 3.125 % on (DAS-11); the ratio is configurable.

Example. Of 10,000 profiles, 312 make a pointer list, 313 a bit list (DAS-X4).

Invariant. The form never changes the members. A set chooses its form when it changes and when it
is told the number of profiles (`fit`).

Cost. Intersection (DAS-12): pointers with pointers O(the sizes), bits with bits a word-wise AND
over all profiles, mixed O(the pointers) and a copy of the bits. What an intersection looks at is
counted where it does so, into `Work.touched`. Source. DAS 4.1.2, figure 4.
Differs: a bit list is a Python integer, the array of words that Python itself intersects in C; it
is as long as its highest index asks for, so the growth options apply to the pointers only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np

from fyke.matching.engines.contract import Work
from fyke.matching.engines.dynamic_array import DynamicArray
from fyke.matching.engines.interval_parameters import Parameters

Members: TypeAlias = int | Sequence[int]
"""A bit list, or a pointer list in ascending order. Empty ones are false."""

FEW: Final = 16
WORD: Final = 32
"""Bits of a word, as wide as a pointer."""
_NOBODY: Final = DynamicArray()
"""The pointers of all sets that are empty still: every other edge may be such a gap."""


class ProfileSet:
    """The indices of the profiles of one edge."""

    __slots__ = ("_bits", "_parameters", "_pointers", "size")

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._pointers: DynamicArray | None = _NOBODY
        self._bits = 0
        self.size = 0

    def _pointing(self, indices: Iterable[int]) -> DynamicArray:
        chosen = self._parameters
        return DynamicArray(indices, growth=chosen.growth, empty_max=chosen.empty_max)

    @property
    def is_bit_list(self) -> bool:
        return self._pointers is None

    @property
    def members(self) -> Members:
        return self._bits if self._pointers is None else self._pointers.numbers()

    def add(self, index: int, total: int) -> None:
        """Put in an index that is not there; `total` profiles exist."""
        if self._pointers is None:
            self._bits |= 1 << index
        elif self._pointers is _NOBODY:
            self._pointers = self._pointing((index,))
        else:
            self._pointers.add(index)
        self.size += 1
        self.fit(total)

    def remove(self, index: int, total: int) -> None:
        """Take out an index that is there."""
        if self._pointers is None:
            self._bits ^= 1 << index
        else:
            self._pointers.remove(index)
        self.size -= 1
        self.fit(total)

    def fit(self, total: int) -> None:
        """Take the form that suits the fill ratio."""
        dense = 0 < self.size >= self._parameters.bit_list_from * total
        if dense == (self._pointers is None):
            return
        if dense:
            self._bits, self._pointers = as_bits(self.members), None
        else:
            self._pointers, self._bits = self._pointing(indices(self._bits)), 0

    def copy(self) -> ProfileSet:
        twin = ProfileSet.__new__(ProfileSet)
        twin._parameters = self._parameters
        own = self._pointers
        twin._pointers = own if own is None or own is _NOBODY else own.copy()
        twin._bits, twin.size = self._bits, self.size
        return twin

    def same(self, other: ProfileSet) -> bool:
        """Return True if both hold the same profiles, in whichever form."""
        if self.size != other.size:
            return False
        if self.is_bit_list == other.is_bit_list:
            return self.members == other.members
        return as_bits(self.members) == as_bits(other.members)


# --- sets of both forms --------------------------------------------------------------------------


def intersection(one: Members, other: Members, work: Work) -> Members:
    """Return bits for two bit lists, pointers otherwise; `work` counts what is looked at."""
    if isinstance(one, int):
        return _both(one, other, work) if isinstance(other, int) else _marked(other, one, work)
    if isinstance(other, int):
        return _marked(one, other, work)
    return _shared(one, other, work)


def _both(one: int, other: int, work: Work) -> int:
    """Return the bits that are set in both; beyond the shorter list, nothing is looked at."""
    work.touched += _words(min(one.bit_length(), other.bit_length()))
    return one & other


def _marked(pointers: Sequence[int], bits: int, work: Work) -> list[int]:
    """Return the pointers whose bit is set. All bits are copied, to be found by place."""
    octets = bits.to_bytes(bits.bit_length() // 8 + 1, "little")
    end = 8 * len(octets)
    work.touched += len(pointers) + _words(bits.bit_length())
    return [each for each in pointers if each < end and octets[each >> 3] >> (each & 7) & 1]


def _shared(one: Sequence[int], other: Sequence[int], work: Work) -> list[int]:
    """Return the pointers in both lists, each of which is read from its beginning to its end."""
    work.touched += len(one) + len(other)
    known = set(one)
    return [each for each in other if each in known]


def _words(bits: int) -> int:
    return -(-bits // WORD)


def union(sets: Iterable[Members]) -> Members:
    """Return bits where a set is a bit list, pointers otherwise."""
    bits, pointers = 0, list[Sequence[int]]()
    for each in sets:
        if isinstance(each, int):
            bits |= each
        elif each:
            pointers.append(each)
    if len(pointers) > 1:
        pointers = [sorted(set().union(*pointers))]
    if bits:
        return bits | as_bits(pointers[0]) if pointers else bits
    return pointers[0] if pointers else ()


def count(members: Members) -> int:
    return members.bit_count() if isinstance(members, int) else len(members)


def as_bits(members: Members) -> int:
    if isinstance(members, int):
        return members
    if not members:
        return 0
    octets = bytearray((members[-1] >> 3) + 1)
    for each in members:
        octets[each >> 3] |= 1 << (each & 7)
    return int.from_bytes(octets, "little")


def indices(members: Members) -> Sequence[int]:
    """Return the indices in ascending order."""
    if not isinstance(members, int):
        return members
    if members.bit_count() <= FEW:
        return _few(members)
    octets = np.frombuffer(members.to_bytes(members.bit_length() // 8 + 1, "little"), np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()
    return found


def _few(bits: int) -> list[int]:
    """Take the bits off from the lowest on; quicker than unpacking where there are few."""
    found: list[int] = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
