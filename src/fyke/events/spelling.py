"""Names that are one letter away from each other: what was probably meant by a name nobody knows.

nearest("prise", ["price", "volume"])     price
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_LENGTH_MIN: Final = 3
"""In shorter names one letter is too much to be a slip."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return a known name that is one letter away, or differs only in case; None where none does.

    A name that differs only in case comes first. One letter is another, is too many or too few, or
    has changed places with its neighbour.
    """
    return _nearest(name, tuple(known))


@lru_cache(maxsize=4096)
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    """Do the work of `nearest`, cached: a name that is not declared stands in many filters."""
    folded = name.casefold()
    found = None
    for each in known:
        other = each.casefold()
        if other == folded:
            return each
        if found is None and _is_near(folded, other):
            found = each
    return found


def _is_near(one: str, other: str) -> bool:
    """Return True if a single slip is left between the common beginning and the common end."""
    if abs(len(one) - len(other)) > 1 or max(len(one), len(other)) < _LENGTH_MIN:
        return False
    start = _common(one, other)
    one, other = one[start:], other[start:]
    end = _common(one[::-1], other[::-1])
    one, other = one[: len(one) - end], other[: len(other) - end]
    return max(len(one), len(other)) < 2 or (len(one) == 2 and one == other[::-1])


def _common(one: str, other: str) -> int:
    """Return how many letters two texts have in common at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
