"""Results as pairs (event, subscription): competitors are compared before they are timed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Lists = tuple[npt.NDArray[np.int64], npt.NDArray[Any]]
"""Numbers of subscriptions by event: those of event i stand from offsets[i] to offsets[i + 1]."""


class Disagreement(Exception):
    """Two competitors gave different results: no figure would mean anything."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """How many pairs, and a hash of them in order."""

    count: int
    digest: str


def pairs(events: npt.NDArray[Any], subscriptions: npt.NDArray[Any]) -> Pairs:
    keys = np.sort(events.astype(np.int64) << 32 | subscriptions.astype(np.int64))
    return Pairs(len(keys), hashlib.blake2b(keys.tobytes(), digest_size=16).hexdigest())


def pairs_of_lists(lists: Lists, events: int) -> Pairs:
    """The pairs of the first `events` events."""
    offsets, subscriptions = lists
    sizes = np.diff(offsets[: events + 1])
    return pairs(np.repeat(np.arange(events), sizes), subscriptions[: offsets[events]])


def lists(found: Sequence[npt.NDArray[Any] | Sequence[int]]) -> Lists:
    """One array from a list of subscriptions per event."""
    offsets = np.zeros(len(found) + 1, np.int64)
    np.cumsum([len(each) for each in found], out=offsets[1:])
    joined = [np.asarray(each, np.int64) for each in found]
    return offsets, np.concatenate(joined) if joined else np.zeros(0, np.int64)


def must_agree(**found: Pairs) -> int:
    """The number of pairs that all competitors found."""
    if len(set(found.values())) != 1:
        told = ", ".join(f"{name} {each.count} ({each.digest})" for name, each in found.items())
        raise Disagreement(f"results differ: {told}")
    return next(iter(found.values())).count
