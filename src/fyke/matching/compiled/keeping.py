"""Keeping: an index as arrays, and back.

    index.*               the vocabulary, the statistics, what was given about events
    index.segment0.*      the oldest segment, and so on

Arrays that come from a file are checked before a kernel walks them (`validation`): whatever is
wrong with them is a FykeError.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from fyke.errors import FykeError
from fyke.matching import statistics as given
from fyke.matching.arrays import Arrays, grouped, members
from fyke.matching.compiled.box_table import Places
from fyke.matching.compiled.dictionary import arrays_of, vocabulary_of
from fyke.matching.compiled.expectation import Given
from fyke.matching.compiled.segment import Segment
from fyke.matching.compiled.statistics import Statistics
from fyke.matching.compiled.validation import check_slots, validate
from fyke.matching.compiled.vocabulary import Vocabulary

_INDEX: Final = "index"
_BROKEN: Final = (AttributeError, KeyError, TypeError, ValueError, msgspec.MsgspecError)


class Index(NamedTuple):
    """What an engine knows once nothing waits any more."""

    vocabulary: Vocabulary
    given: Given
    statistics: Statistics
    segments: tuple[Segment, ...]


def keep(index: Index) -> tuple[Arrays, dict[str, object]]:
    """The arrays, and what JSON can say."""
    arrays = arrays_of(index.vocabulary)
    arrays["counts"] = index.statistics.counts
    arrays["since"] = index.statistics.since
    arrays["given"] = np.frombuffer(_packed(index.given.statistics), np.uint8)
    for number, segment in enumerate(index.segments):
        arrays |= grouped(f"segment{number}", segment.arrays())
    details = [segment.details() for segment in index.segments]
    return grouped(_INDEX, arrays), {"segments": details, "events": index.statistics.events}


def taken_up(arrays: Arrays, details: dict[str, Any], slots: Places) -> Index:
    """The index that `keep` was given; `slots` are those that its subscriptions have."""
    try:
        parts = members(_INDEX, arrays)
        vocabulary = vocabulary_of(parts)
        known = Given(_unpacked(parts["given"].tobytes()))
        vocabulary.expectations.source = known
        counts = parts["counts"], parts["since"], int(details["events"])
        statistics = Statistics.of(vocabulary.expectations, *counts)
        segments = tuple(
            Segment.of(members(f"segment{number}", parts), facts)
            for number, facts in enumerate(details["segments"])
        )
        for segment in segments:
            validate(segment, vocabulary)
        check_slots(segments, slots)
    except _BROKEN as broken:
        raise FykeError(f"the snapshot's index cannot be read: {broken}") from None
    return Index(vocabulary, known, statistics, segments)


def _packed(statistics: given.Statistics) -> bytes:
    return msgspec.msgpack.encode(statistics.document)


def _unpacked(packed: bytes) -> given.Statistics:
    return given.Statistics.read(msgspec.msgpack.decode(packed))
