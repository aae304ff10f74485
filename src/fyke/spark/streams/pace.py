"""Pace: how many events a worker matches at once.

Spark hands over batches of many thousand events, whatever comes of them. Where an event has few
matches, that is a good size; where it has many, ids and numbers of rows would fill tens of
megabytes in every worker, for nothing: the engine works on some two thousand events at a time
anyway. So batches are cut into pieces of about as many *matches*, going by what the last piece
brought.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

MATCHES: Final = 1 << 17
"""Of a piece, about."""
_FIRST: Final = 2_048
_LEAST: Final = 256


class Pace:
    """Cuts batches; is told what each piece brought."""

    def __init__(self) -> None:
        self._events = _FIRST

    def cut(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the same rows in the same order, in batches of a good size."""
        for batch in batches:
            start = 0
            while start < batch.num_rows:
                left = batch.num_rows - start
                pieces = max(1, round(left / self._events))
                piece = batch.slice(start, -(-left // pieces))
                start += piece.num_rows
                yield piece

    def saw(self, events: int, matches: int) -> None:
        self._events = max(_LEAST, events * MATCHES // max(matches, 1))
