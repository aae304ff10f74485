"""Pieces of batches: all rows, in order, about as many matches in each."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from fyke.spark.streams.pace import MATCHES, Pace


@given(st.lists(st.integers(0, 9_000), max_size=4), st.sampled_from([0, 1, 30, 10_000]))
def test_no_row_is_lost(sizes: list[int], matches: int) -> None:
    pace, seen = Pace(), []
    batches = [pa.RecordBatch.from_pydict({"n": list(range(size))}) for size in sizes]
    for piece in pace.cut(batches):
        seen += piece.column(0).to_pylist()
        pace.saw(piece.num_rows, matches * piece.num_rows)
    assert seen == [number for size in sizes for number in range(size)]


def test_many_matches_make_small_pieces() -> None:
    batch = pa.RecordBatch.from_pydict({"n": list(range(10_000))})
    for matches, pieces in ((0, 1), (6, 1), (60, 5), (10_000, 39)):
        pace = Pace()
        pace.saw(100, 100 * matches)
        sizes = [piece.num_rows for piece in pace.cut([batch])]
        assert len(sizes) == pieces
        assert max(sizes) - min(sizes) <= 1, "a small piece costs its events more"
        assert max(sizes) <= 1.5 * max(MATCHES / max(matches, 0.01), 256)
