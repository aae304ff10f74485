"""Nearness: the subscriptions whose boxes an event misses by the fewest constraints.

A guess for explanations, made on codes: lists are seen as hulls, and what is left out of boxes does
not count. The caller ranks the answer by the filters themselves.
"""

from __future__ import annotations

import numpy as np

from fyke.matching.compiled.boxes.box_table import BoxTable, Flags, Words
from fyke.matching.compiled.coding.axes import AxisKind
from fyke.matching.compiled.coding.event_coding import Codes
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.segment.compaction import unpack_boxes
from fyke.matching.compiled.segment.segment import GONE, Segment


def nearest(segment: Segment, codes: Codes, vocabulary: Vocabulary, count: int) -> list[int]:
    """Return at most `count` slots that miss the event, those of the nearest boxes."""
    boxes = unpack_boxes(segment.layout, vocabulary)
    box_of = np.repeat(np.arange(len(boxes)), np.diff(boxes.starts))
    failed = np.bincount(box_of, ~_holds(boxes, codes, vocabulary), minlength=len(boxes))
    missed = np.flatnonzero((failed > 0) | ~boxes.exact)
    missed = missed[segment.slots[boxes.owner[missed]] != GONE]
    if len(missed) > count:
        missed = missed[np.argpartition(failed[missed], count)[:count]]
    slots: list[int] = np.unique(segment.slots[boxes.owner[missed]]).tolist()
    return slots


def _holds(boxes: BoxTable, codes: Codes, vocabulary: Vocabulary) -> Flags:
    """Return which constraints the event may satisfy."""
    least: Words = codes.lows[0][boxes.axis]
    most: Words = codes.highs[0][boxes.axis]
    below, above = least <= boxes.high, boxes.low <= most
    holds = np.where(boxes.low <= boxes.high, below & above, below | above)
    is_text = np.array([kind is AxisKind.TEXT for kind, _ in vocabulary.axes], np.bool_)
    of_text = np.flatnonzero(is_text[boxes.axis])
    holds[of_text] = np.isin(boxes.low[of_text], codes.accepted)
    return holds
