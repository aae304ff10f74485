"""Storage: an index as arrays, and back.

    index.*               the vocabulary, observed events, the statistics of a sample
    index.segment0.*      the oldest segment, and so on

Arrays that come from a file are checked before a kernel walks them (`validation`): whatever is
wrong with them is a FykeError.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from fyke.errors import FykeError
from fyke.matching.arrays import Arrays, grouped, members
from fyke.matching.compiled.boxes.box_table import Places
from fyke.matching.compiled.coding.dictionary import arrays_of, vocabulary_of
from fyke.matching.compiled.coding.frequencies import SampleSource
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.segment.segment import Segment
from fyke.matching.compiled.segment.validation import check_slots, validate
from fyke.matching.statistics import Statistics

_INDEX: Final = "index"
_BROKEN: Final = (AttributeError, KeyError, TypeError, ValueError, msgspec.MsgspecError)


class Index(NamedTuple):
    """The index of an engine whose subscriptions are all in segments."""

    vocabulary: Vocabulary
    sample: SampleSource
    segments: tuple[Segment, ...]


def write_index(index: Index) -> tuple[Arrays, dict[str, object]]:
    """Return the index as arrays, and the rest as for JSON."""
    arrays = arrays_of(index.vocabulary)
    observed = index.vocabulary.frequencies
    arrays["counts"], arrays["since"] = observed.counts, observed.since
    arrays["given"] = np.frombuffer(_packed(index.sample.statistics), np.uint8)
    for number, segment in enumerate(index.segments):
        arrays |= grouped(f"segment{number}", segment.arrays())
    details = [segment.details() for segment in index.segments]
    return grouped(_INDEX, arrays), {"segments": details, "events": observed.events}


def read_index(arrays: Arrays, details: dict[str, Any], slots: Places) -> Index:
    """Return the index that `write_index` was given; `slots` are those of its subscriptions."""
    try:
        parts = members(_INDEX, arrays)
        vocabulary = vocabulary_of(parts)
        sample = SampleSource(_unpacked(parts["given"].tobytes()))
        vocabulary.frequencies.source = sample
        counts = parts["counts"], parts["since"], int(details["events"])
        vocabulary.frequencies.restore_counts(*counts)
        segments = tuple(
            Segment.of(members(f"segment{number}", parts), facts)
            for number, facts in enumerate(details["segments"])
        )
        for segment in segments:
            validate(segment, vocabulary)
        check_slots(segments, slots)
    except _BROKEN as broken:
        raise FykeError(f"the snapshot's index cannot be read: {broken}") from None
    return Index(vocabulary, sample, segments)


def _packed(statistics: Statistics) -> bytes:
    return msgspec.msgpack.encode(statistics.document)


def _unpacked(packed: bytes) -> Statistics:
    return Statistics.read(msgspec.msgpack.decode(packed))
