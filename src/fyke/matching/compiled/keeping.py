"""Keeping: an index as arrays, and back.

    index.*               the vocabulary, the statistics, what was given about events
    index.segment0.*      the oldest segment, and so on

Arrays that come from a file are checked before a kernel walks them (`validation`): whatever is
wrong with them is a FykeError.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np

from fyke.errors import FykeError
from fyke.matching import statistics as given
from fyke.matching.compiled.box_table import Places
from fyke.matching.compiled.dictionary import arrays_of, vocabulary_of
from fyke.matching.compiled.expectation import Given
from fyke.matching.compiled.segment import Segment
from fyke.matching.compiled.statistics import Statistics
from fyke.matching.compiled.validation import check_slots, validate
from fyke.matching.compiled.vocabulary import Vocabulary

Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]
_BROKEN: Final = (AttributeError, KeyError, TypeError, ValueError, msgspec.MsgspecError)


class Index(NamedTuple):
    """What an engine knows once nothing waits any more."""

    vocabulary: Vocabulary
    given: Given
    statistics: Statistics
    segments: tuple[Segment, ...]


def keep(index: Index) -> tuple[Arrays, dict[str, object]]:
    """The arrays, and what JSON can say."""
    arrays = {f"index.{name}": part for name, part in arrays_of(index.vocabulary).items()}
    arrays["index.counts"] = index.statistics.counts
    arrays["index.since"] = index.statistics.since
    arrays["index.given"] = np.frombuffer(_packed(index.given.statistics), np.uint8)
    for number, segment in enumerate(index.segments):
        parts = segment.arrays()
        arrays |= {f"index.segment{number}.{name}": part for name, part in parts.items()}
    details = [segment.details() for segment in index.segments]
    return arrays, {"segments": details, "events": index.statistics.events}


def taken_up(arrays: Arrays, details: dict[str, Any], slots: Places) -> Index:
    """The index that `keep` was given; `slots` are those that its subscriptions have."""
    try:
        vocabulary = vocabulary_of(_under("index.", arrays))
        known = Given(_unpacked(arrays["index.given"].tobytes()))
        vocabulary.expectations.source = known
        counts = arrays["index.counts"], arrays["index.since"], int(details["events"])
        statistics = Statistics.of(vocabulary.expectations, *counts)
        segments = tuple(
            Segment.of(_under(f"index.segment{number}.", arrays), facts)
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


def _under(prefix: str, arrays: Arrays) -> Arrays:
    return {
        name.removeprefix(prefix): part for name, part in arrays.items() if name.startswith(prefix)
    }
