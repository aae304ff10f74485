"""Results: slots by event, from several segments and tiles put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from fyke.matching.compiled.box_table import Places, Words

ByEvent: TypeAlias = tuple[Words, Words]
"""Offsets and slots: those of event i stand from offsets[i] to offsets[i + 1]."""


def joined(parts: Sequence[ByEvent], events: int) -> ByEvent:
    """What several segments found for the same events."""
    parts = [part for part in parts if len(part[1])]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.zeros(events + 1, np.int32), np.zeros(0, np.int32)
    numbers = np.arange(events)
    event = np.concatenate([np.repeat(numbers, np.diff(offsets)) for offsets, _ in parts])
    slots = np.concatenate([slots for _, slots in parts])
    order = np.argsort(event, kind="stable")
    counts = np.bincount(event, minlength=events)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), slots[order]


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
