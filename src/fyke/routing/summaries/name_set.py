"""NameSet: names of brokers in few bytes, for events that carry those that have examined them.

Idea. Names that end in a number share a stem. The numbers of a stem go as a bitmap from the least
of them on. Nobody has to agree on an order of the brokers: the names are all there.
Example. {"B7", "B8", "B12", "athens"} is {"B": (7, 0b100011)} and ("athens",).
Invariant. `read` returns the names that were written; equal sets are written equally.
Cost. A bit for each number from the least to the greatest of a stem. Where the names themselves are
shorter, they go as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

Bitmap: TypeAlias = tuple[int, bytes]
"""The least number, and a bit for each number from there."""
_NUMBERED: Final = re.compile(r"(|.*[^0-9])(0|[1-9][0-9]{0,8})", re.DOTALL)


class NameSet(NamedTuple):
    """Names as they are sent."""

    numbered: dict[str, Bitmap]
    plain: tuple[str, ...]


def write(names: Collection[str]) -> NameSet:
    """Return a set of names in its short form."""
    stems: dict[str, list[int]] = {}
    plain: list[str] = []
    for name in sorted(names):
        stem, number = _parts(name)
        if number is None:
            plain.append(name)
        else:
            stems.setdefault(stem, []).append(number)
    numbered: dict[str, Bitmap] = {}
    for stem, numbers in stems.items():
        least = min(numbers)
        size = (max(numbers) - least) // 8 + 1
        as_names = [f"{stem}{number}" for number in numbers]
        if len(stem) + size >= sum(map(len, as_names)):
            plain += as_names
        else:
            bits = bytearray(size)
            for number in numbers:
                bits[(number - least) // 8] |= 1 << (number - least) % 8
            numbered[stem] = least, bytes(bits)
    return NameSet(numbered, tuple(sorted(plain)))


def read(numbered: Mapping[str, Bitmap], plain: Collection[str]) -> set[str]:
    """Return the names of a set in its short form."""
    found = set(plain)
    for stem, (least, bits) in numbered.items():
        found.update(f"{stem}{least + at}" for at in _places(bits))
    return found


def _places(bits: bytes) -> Iterator[int]:
    """Yield the places of the bits that are set."""
    for at, byte in enumerate(bits):
        for place in range(8) if byte else ():
            if byte >> place & 1:
                yield 8 * at + place


@lru_cache(maxsize=65_536)
def _parts(name: str) -> tuple[str, int | None]:
    """Return a name as a stem and a number; None if it does not end in one."""
    found = _NUMBERED.fullmatch(name)
    return (name, None) if found is None else (found[1], int(found[2]))
