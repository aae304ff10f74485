"""Profiles: what the planner knows of subscriptions, from their size and a sample of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from fyke.events.value import Scalar, sort_key
from fyke.filters.algebra.necessary import necessary
from fyke.filters.filter import TRUE, Filter
from fyke.spark.placements.buckets import values_of
from fyke.spark.placements.layout import FirstStage, is_costly, weakened
from fyke.spark.versions.snapshots import Pin, catalog, local

SAMPLE: Final = 2_000
ATTRIBUTES_MAX: Final = 4
"""Of a first stage."""
_NAME_SIZE: Final = 64
"""Of the ids in a first stage."""

_Needs: TypeAlias = dict[str, Scalar]
"""Attributes at which a filter needs one value, with the value."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """An attribute as the place where events and subscriptions meet, and how well it would do."""

    on: str
    share: float
    """Of the subscriptions that need one value there."""
    values: int
    """Different values in the sample."""
    largest: float
    """The share of the most frequent value."""


@dataclass(frozen=True, slots=True)
class FirstStageProfile:
    """A first stage that would keep what subscriptions say of some attributes."""

    kept: tuple[str, ...]
    share: float
    """Of the subscriptions that need one value of at least one of them."""
    filters: int
    """The number of different weakened filters that stand for all subscriptions, estimated."""
    size: int
    """The bytes they take, under short names of their own, estimated."""
    largest: float
    """The share of the most frequent of them."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Sizes, and what a sample of the subscriptions says."""

    subscriptions: int
    size: int
    """In bytes."""
    meetings: tuple[Meeting, ...]
    """The attributes by the share of subscriptions that need a value there, best first."""
    sifted: float = 0.0
    """The share that a dialect's interpreter decides, but an index can rule out."""
    first_stages: tuple[FirstStageProfile, ...] = ()
    """Of one attribute, two, and so on: each time the one that most of the others need."""

    @classmethod
    def of(cls, pin: Pin) -> Profile:
        catalogs = [catalog(part) for part in pin.parts]
        count = sum(map(len, catalogs))
        step = max(1, count // SAMPLE)
        named = [
            (each.id(slot), each.filter(slot))
            for each in catalogs
            for slot in each.slots()[::step].tolist()
        ]
        sample = [filter for _, filter in named]
        needs = [_single_values(filter) for filter in sample]
        size = sum(map(size_of, (part.path for part in pin.parts)))
        id_size = sum(len(id.encode()) for id, _ in named) / max(1, len(named))
        return cls(
            subscriptions=count,
            size=size,
            meetings=tuple(_meetings(needs)),
            sifted=sum(map(_is_sifted, sample)) / max(1, len(sample)),
            first_stages=tuple(
                _first_stages(sample, needs, max(0.0, size / max(1, count) - id_size))
            ),
        )


@lru_cache(maxsize=64)
def profile(pin: Pin) -> Profile:
    """Return the profile of a pin, which never changes."""
    return Profile.of(pin)


def size_of(path: str) -> int:
    """Return the bytes of a snapshot."""
    return sum(file.stat().st_size for file in local(path).rglob("*.bin"))


def _is_sifted(filter: Filter) -> bool:
    return is_costly(filter) and weakened(filter) != TRUE


def _meetings(needs: list[_Needs]) -> Iterator[Meeting]:
    needed: defaultdict[str, Counter[tuple[object, Scalar]]] = defaultdict(Counter)
    for needed_by_one in needs:
        for on, value in needed_by_one.items():
            needed[on][sort_key(value)] += 1
    for on, values in sorted(needed.items(), key=lambda each: (-each[1].total(), each[0])):
        share = values.total() / len(needs)
        yield Meeting(on, share, len(values), values.most_common(1)[0][1] / len(needs))


def _first_stages(
    sample: list[Filter], needs: list[_Needs], filter_size: float
) -> Iterator[FirstStageProfile]:
    """Add the attribute that most subscriptions need which need none of those before.

    A filter takes about `filter_size` bytes beside its id.
    """
    needed = [frozenset(each) for each in needs]
    kept: tuple[str, ...] = ()
    while len(kept) < ATTRIBUTES_MAX:
        rest = Counter(name for names in needed if names.isdisjoint(kept) for name in names)
        if not rest:
            return
        kept = (*kept, min(rest, key=lambda name: (-rest[name], name)))
        weak = Counter(FirstStage(kept).weakened(filter) for filter in sample)
        share = sum(not names.isdisjoint(kept) for names in needed) / len(sample)
        largest = weak.most_common(1)[0][1] / len(sample)
        filters = _different(weak)
        size = int(filters * (filter_size + _NAME_SIZE))
        yield FirstStageProfile(kept, share, filters, size, largest)


def _different(seen: Counter[Filter]) -> int:
    """Estimate the number of different ones in all, by those that a sample has once and twice.

    Source. A. Chao, Nonparametric estimation of the number of classes in a population, 1984.
    """
    counts = Counter(seen.values())
    return len(seen) + counts[1] * (counts[1] - 1) // (2 * (counts[2] + 1))


def _single_values(filter: Filter) -> _Needs:
    """Return attributes at which a filter needs one value, other than null."""
    found: _Needs = {}
    for need in necessary(filter):
        values = values_of(need)
        if len(values) == 1 and values[0] is not None:
            found.setdefault(need.attribute, values[0])
    return found
