"""Expectation: which share of the events is expected to have a symbol, before any was counted.

Statistics are about values, the index is about symbols, and a value has a symbol once a
subscription names it. So a vocabulary asks a *source* whenever it gives out a symbol, and the
answer is kept beside the symbol: the share, and how many events it weighs as much as. A weight of
zero says that nothing is known.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from fyke.filters import glob as globs
from fyke.filters.glob import Glob
from fyke.matching.statistics import AttributeCounts, Statistics

Expected: TypeAlias = tuple[float, float]
"""A share of the events, and its weight in events."""
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

UNKNOWN: Final[Expected] = (0.0, 0.0)
WEIGHT_MIN: Final = 256
WEIGHT_MAX: Final = 10_000
"""However many events a share comes from, so many others outweigh it."""
TEXTS_MAX: Final = 256
"""So many strings of an attribute are held against a pattern."""
MANY: Final = 16
"""So few of all symbols are looked up one by one."""
UNSEEN: Final = 0.5
"""How often something is taken to have been seen that was not."""


class Source(Protocol):
    """Whom a vocabulary asks about what it has not named before; values by `scalar_key`."""

    def value(self, attribute: str, key: object) -> Expected: ...

    def presence(self, attribute: str) -> Expected: ...

    def type(self, name: str) -> Expected: ...

    def pattern(self, attribute: str, pattern: Glob, ignore_case: bool) -> Expected: ...


class Given:
    """The source that statistics are."""

    def __init__(self, statistics: Statistics | None = None) -> None:
        self.statistics = Statistics() if statistics is None else statistics
        self._known: dict[str, _Attribute] = {}
        if self.statistics.events:
            self._known = {
                name: _Attribute.of(counts) for name, counts in self.statistics.attributes.items()
            }

    def value(self, attribute: str, key: object) -> Expected:
        known = self._known.get(attribute)
        if known is None:
            return UNKNOWN
        return self._share(known.counts.values.get(key, known.other))

    def presence(self, attribute: str) -> Expected:
        known = self._known.get(attribute)
        return UNKNOWN if known is None else self._share(known.counts.present)

    def type(self, name: str) -> Expected:
        return self._share(self.statistics.types.get(name, 0)) if self.statistics.types else UNKNOWN

    def pattern(self, attribute: str, pattern: Glob, ignore_case: bool) -> Expected:
        known = self._known.get(attribute)
        if known is None or not known.texts:
            return UNKNOWN
        accepts = globs.matcher(pattern)
        accepted = sum(
            count
            for text, count in known.texts.items()
            if accepts(globs.fold(text) if ignore_case else text)
        )
        part = max(accepted, UNSEEN) / max(sum(known.texts.values()), 1)
        return self._share(min(part, 1.0) * known.counts.present)

    def _share(self, count: float) -> Expected:
        events = self.statistics.events
        return max(count, UNSEEN) / events, min(max(events, WEIGHT_MIN), WEIGHT_MAX)


@dataclass(frozen=True, slots=True)
class _Attribute:
    counts: AttributeCounts
    other: float
    """How often a value is taken to have been seen that is not among the counts."""
    texts: dict[str, int]

    @classmethod
    def of(cls, counts: AttributeCounts) -> _Attribute:
        rest = max(counts.present - sum(counts.values.values()), 0)
        texts = ((key, n) for key, n in counts.values.items() if isinstance(key, str))
        return cls(
            counts=counts,
            other=min(rest, min(counts.values.values(), default=rest)),
            texts=dict(islice(texts, TEXTS_MAX)),
        )


class Expectations:
    """What is expected of each symbol, by half the symbol."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._shares = array("f", [0.0])
        self._weights = array("f", [0.0])
        self._is_known = False
        """Whether anything is expected of any symbol."""

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self._shares), len(self._weights)

    def append(self, expected: Expected) -> None:
        share, weight = expected
        self._shares.append(share)
        self._weights.append(weight)
        self._is_known = self._is_known or weight > 0

    def __getitem__(self, place: int) -> Expected:
        return self._shares[place], self._weights[place]

    def correct(self, place: int, expected: Expected) -> None:
        """Puts what is known in the place of what was."""
        if expected != UNKNOWN:
            self._shares[place], self._weights[place] = expected
            self._is_known = True

    def at(self, places: np.ndarray[Any, np.dtype[np.int32]]) -> tuple[Floats, Floats]:
        """Shares and weights of some symbols."""
        if not self._is_known:
            nothing = np.zeros(len(places), np.float32)
            return nothing, nothing
        if MANY * len(places) > len(self._shares):
            shares, weights = self.arrays(int(places.max(initial=0)) + 1)
            return shares[places], weights[places]
        expected = np.array([self[place] for place in places.tolist()], np.float32).reshape(-1, 2)
        return expected[:, 0], expected[:, 1]

    def arrays(self, size: int) -> tuple[Floats, Floats]:
        """Shares and weights of so many symbols; others may be appended meanwhile."""
        return _first(self._shares, size), _first(self._weights, size)

    def restore(self, shares: Floats, weights: Floats) -> None:
        self._shares = array("f", shares.astype(np.float32).tobytes())
        self._weights = array("f", weights.astype(np.float32).tobytes())
        self._is_known = bool(weights.any())


def _first(numbers: array[float], size: int) -> Floats:
    found = np.frombuffer(numbers.tobytes(), np.float32)[:size]
    return np.concatenate([found, np.zeros(size - len(found), np.float32)])
