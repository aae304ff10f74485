"""Results: slots by event, from several segments and tiles put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from fyke.matching.compiled.box_table import Places, Words
from fyke.matching.compiled.kernel import kernel

ByEvent: TypeAlias = tuple[Words, Words]
"""Offsets and slots: those of event i stand from offsets[i] to offsets[i + 1]."""


def joined(parts: Sequence[ByEvent], events: int) -> ByEvent:
    """What several segments found for the same events."""
    parts = [part for part in parts if len(part[1])]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.zeros(events + 1, np.int32), np.zeros(0, np.int32)
    offsets = np.stack([offsets for offsets, _ in parts])
    found: ByEvent = interleaved(offsets, np.concatenate([slots for _, slots in parts]))
    return found


@kernel
def interleaved(offsets: Any, slots: Any) -> Any:
    """The slots of parts that stand one after the other, event by event."""
    parts, ends = offsets.shape
    places = np.zeros(parts, np.int64)
    for part in range(1, parts):
        places[part] = places[part - 1] + offsets[part - 1, ends - 1]
    sums, found = np.zeros(ends, np.int32), np.empty(len(slots), np.int32)
    end = 0
    for event in range(ends - 1):
        for part in range(parts):
            for _ in range(offsets[part, event], offsets[part, event + 1]):
                found[end] = slots[places[part]]
                places[part] += 1
                end += 1
        sums[event + 1] = end
    return sums, found


def stacked(tiles: Sequence[ByEvent]) -> tuple[Places, Words]:
    """What was found for one tile of events after the other."""
    if not tiles:
        return np.zeros(1, np.int64), np.zeros(0, np.int32)
    ends = np.cumsum([len(slots) for _, slots in tiles])
    offsets = [
        tile[1:] + (end - len(slots)) for (tile, slots), end in zip(tiles, ends, strict=True)
    ]
    return (
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        np.concatenate([slots for _, slots in tiles]),
    )
