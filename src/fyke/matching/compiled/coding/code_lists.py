"""Code lists: the several codes that events have on an axis, as `Codes` holds them.

From pairs (row, code) of an axis to each row's distinct codes in order; the least goes to `lows`.
Where a row has more than one, its codes are a run (axis, size, codes...); the runs of a row follow
each other and end with -1.

    axis 4: row 0 has 7, 3, 7; row 2 has 5       lows[0, 4] = 3    lows[2, 4] = 5
    lists 4, 2, 3, 7, -1                         highs[0, 4] = 7   wide 0, -1, -1

Cost. A sort of the pairs; nothing in proportion to the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from fyke.matching.compiled.boxes.box_table import Places, Words
from fyke.matching.compiled.coding.codes import MISSING

HEAD: Final = 2
"""Words before the codes of a run."""
_END: Final = -1


@dataclass(frozen=True, slots=True)
class Runs:
    """The codes of rows that have several on one axis: ascending by row, and within each row."""

    axis: int
    rows: Places
    codes: Words

    def within(self, is_wanted: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Runs:
        kept = is_wanted[self.rows]
        return Runs(self.axis, self.rows[kept], self.codes[kept])


def gather(axis: int, rows: Places, codes: Words, lows: Words) -> Runs | None:
    """Sort the codes of an axis by row: the least to `lows`, runs where there are several."""
    pairs = rows << 32 | codes.astype(np.int64) - MISSING
    pairs.sort(kind="stable")  # quicker: by row, they are in order already
    pairs = pairs[_changes(pairs)]
    rows = pairs >> 32
    codes = ((pairs & 0xFFFFFFFF) + MISSING).astype(np.int32)
    is_first = _changes(rows)
    lows[rows[is_first], axis] = codes[is_first]
    if is_first.all():
        return None
    is_last = np.append(is_first[1:], True)
    is_several = ~(is_first & is_last)
    return Runs(axis, rows[is_several], codes[is_several])


def write_lists(runs: list[Runs], highs: Words, wide: Words) -> Words:
    """Return the lists of all runs, one at least; fill in `highs` and `wide`."""
    rows = np.concatenate([each.rows for each in runs])
    axes = np.concatenate([np.full(len(each.rows), each.axis) for each in runs])
    codes = np.concatenate([each.codes for each in runs])
    if len(runs) > 1:
        order = np.argsort(rows, kind="stable")
        rows, axes, codes = rows[order], axes[order], codes[order]
    is_row = _changes(rows)
    is_run = is_row | _changes(axes)
    starts = np.flatnonzero(is_run)
    ends = np.append(starts[1:], len(rows))
    row_number = np.cumsum(is_row) - 1
    places = np.arange(len(rows)) + HEAD * np.cumsum(is_run) + row_number
    lists = np.full(len(rows) + HEAD * len(starts) + int(row_number[-1]) + 1, _END, np.int32)
    lists[places] = codes
    lists[places[starts] - 2] = axes[starts]
    lists[places[starts] - 1] = ends - starts
    highs[rows[starts], axes[starts]] = codes[ends - 1]
    wide[rows[is_row]] = places[is_row] - HEAD
    return lists


def _changes(values: Places) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return where a value differs from the one before."""
    changes = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes
