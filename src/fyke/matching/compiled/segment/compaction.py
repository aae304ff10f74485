"""Merging: some segments as one, without what was removed.

The boxes are read back from the segments' arrays, so nothing but the arrays has to be kept for it.
What the layout left out (patterns that were not the access, presence that another constraint
implies) stays left out: such boxes are not exact, or imply it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fyke.matching.compiled.boxes.box_table import BoxTable, Words, concatenate
from fyke.matching.compiled.boxes.box_tree import AXES_AT, GROUP, LEVELS_AT
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.kernels.lanes import LANES
from fyke.matching.compiled.segment.layout import CLUSTER, RUN, Layout
from fyke.matching.compiled.segment.memtable_writer import MemtableWriter
from fyke.matching.compiled.segment.segment import GONE, NO_PROGRAM, Programs, Segment, build


class Merge:
    """Segments that become one, maybe with those of a memtable.

    Removals that happen meanwhile are caught up with in `result`.
    """

    def __init__(self, segments: Sequence[Segment], writer: MemtableWriter | None = None) -> None:
        self.segments = tuple(segments)
        self._writer = writer
        sources = [segment.slots for segment in self.segments]
        self._kept = [np.flatnonzero(slots != GONE) for slots in sources]
        self._merged: Segment | None = None

    def run(self, vocabulary: Vocabulary, tree_from: int) -> None:
        """Build the new segment. This takes long; matching may go on beside it."""
        tables, programs = [], []
        first = 0
        for segment, kept in zip(self.segments, self._kept, strict=True):
            numbers = np.full(len(segment.slots), GONE, np.int32)
            numbers[kept] = np.arange(first, first + len(kept))
            tables.append(renumber(unpack_boxes(segment.layout, vocabulary), numbers))
            programs.append((Programs(segment.programs, segment.program_at), kept))
            first += len(kept)
        if self._writer is not None:
            every = np.arange(len(self._writer))
            numbers = (first + every).astype(np.int32)
            tables.append(renumber(self._writer.boxes(), numbers))
            programs.append((self._writer.programs(), every))
        table = concatenate(tables)
        shares = vocabulary.frequencies.shares(table)
        self._merged = build(
            table, _join_programs(programs), self._slots(), vocabulary, shares, tree_from=tree_from
        )

    def result(self) -> Segment:
        """Return the new segment, without what was removed from the old ones."""
        merged = self._merged
        assert merged is not None
        merged.slots = self._slots()
        merged.tombstones = int((merged.slots == GONE).sum())
        return merged

    def _slots(self) -> Words:
        pairs = zip(self.segments, self._kept, strict=True)
        slots = [segment.slots[kept] for segment, kept in pairs]
        if self._writer is not None:
            slots.append(self._writer.slots())
        return np.concatenate(slots)


def _join_programs(parts: list[tuple[Programs, Any]]) -> Programs:
    """Return the programs of the owners that are kept, one after the other."""
    if all(len(programs.words) == 1 for programs, _ in parts):
        owners = sum(len(kept) for _, kept in parts)
        return Programs(np.zeros(1, np.int32), np.full(owners, NO_PROGRAM, np.int32))
    words, places = [], []
    end = 0
    for programs, kept in parts:
        at = programs.at[kept]
        has = at != NO_PROGRAM
        starts = np.sort(programs.at[programs.at != NO_PROGRAM])
        ends = np.append(starts[1:], len(programs.words) - 1)
        sizes = ends[np.searchsorted(starts, at[has])] - at[has]
        new = np.full(len(kept), NO_PROGRAM, np.int32)
        new[has] = end + np.cumsum(sizes) - sizes
        words.append(_slices(programs.words, at[has], sizes))
        places.append(new)
        end += int(sizes.sum())
    return Programs(np.concatenate([*words, np.zeros(1, np.int32)]), np.concatenate(places))


def _slices(words: Words, starts: Any, sizes: Any) -> Words:
    """Return parts of an array, one after the other."""
    before = np.cumsum(sizes) - sizes
    return words[np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))]


def renumber(boxes: BoxTable, numbers: Words) -> BoxTable:
    """Return the boxes of owners that have a new number."""
    kept = numbers[boxes.owner] != GONE
    sizes = np.diff(boxes.starts)
    constraints = np.repeat(kept, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
    return BoxTable(
        starts=starts,
        axis=boxes.axis[constraints],
        low=boxes.low[constraints],
        high=boxes.high[constraints],
        owner=numbers[boxes.owner[kept]],
        exact=boxes.exact[kept],
    )


# --- reading boxes back --------------------------------------------------------------------------


def unpack_boxes(layout: Layout, vocabulary: Vocabulary) -> BoxTable:
    """Return the boxes of a layout, in no particular order."""
    symbol_axes = np.frombuffer(vocabulary.symbol_axes.tobytes(), np.int32)
    places = layout.table[layout.table != 0]
    if layout.root:
        places = np.append(places, layout.root)
    boxes, constraints = measure(places, layout.clusters, layout.groups)
    starts = np.zeros(boxes + 1, np.int64)
    axis, low, high = (np.empty(constraints, np.int32) for _ in range(3))
    owner, exact = np.empty(boxes, np.int32), np.empty(boxes, np.bool_)
    unpack(
        places, layout.clusters, layout.groups, layout.nodes, layout.owners, symbol_axes,
        starts, axis, low, high, owner, exact,
    )  # fmt: skip
    return BoxTable(starts, axis, low, high, np.where(owner < 0, ~owner, owner), exact)


@kernel
def measure(places: Any, clusters: Any, groups: Any) -> Any:
    """Return how many boxes and how many constraints the clusters hold."""
    boxes = 0
    constraints = 0
    for place in places:
        access = 0
        if clusters[place] != 0:
            access = 2 if clusters[place + 1] != 0 else 1
        at = place + CLUSTER
        for _ in range(clusters[place + 2]):
            n, end = clusters[at + 1], clusters[at + 2]
            boxes += n
            if clusters[at] >= 0:
                constraints += n * (1 + access) + (end - RUN - 4 * n) // 3
            else:
                constraints += n * access
            at += end
        for group in range(clusters[place + 3], clusters[place + 4]):
            boxes += groups[group * GROUP + 2]
            constraints += groups[group * GROUP + 2] * (access + groups[group * GROUP])
    return boxes, constraints


@kernel
def unpack(
    places: Any,
    clusters: Any,
    groups: Any,
    nodes: Any,
    owners: Any,
    symbol_axes: Any,
    starts: Any,
    axis: Any,
    low: Any,
    high: Any,
    owner: Any,
    exact: Any,
) -> None:
    box = 0
    end = 0
    for place in places:
        at = place + CLUSTER
        for _ in range(clusters[place + 2]):
            lead, n, size = clusters[at], clusters[at + 1], clusters[at + 2]
            lows = at + RUN
            marks = lows + 2 * n if lead >= 0 else lows
            for number in range(n):
                for symbol in (clusters[place], clusters[place + 1]):
                    if symbol != 0:
                        axis[end] = symbol_axes[symbol >> 1]
                        low[end] = high[end] = symbol
                        end += 1
                if lead >= 0:
                    axis[end] = lead
                    low[end] = clusters[lows + number]
                    high[end] = clusters[lows + n + number]
                    end += 1
                rest = at + (clusters[marks + number] >> 1)
                stop = at + (clusters[marks + number + 1] >> 1) if number + 1 < n else at + size
                owner[box] = clusters[rest]
                exact[box] = clusters[marks + number] & 1 != 0
                for constraint in range(rest + 1, stop, 3):
                    axis[end] = clusters[constraint]
                    low[end] = clusters[constraint + 1]
                    high[end] = clusters[constraint + 2]
                    end += 1
                box += 1
                starts[box] = end
            at += size
        for group in range(clusters[place + 3], clusters[place + 4]):
            head = group * GROUP
            width = groups[head]
            leaves = groups[head + LEVELS_AT]
            for number in range(groups[head + 2]):
                for symbol in (clusters[place], clusters[place + 1]):
                    if symbol != 0:
                        axis[end] = symbol_axes[symbol >> 1]
                        low[end] = high[end] = symbol
                        end += 1
                node = leaves + (number // LANES) * width * 2 * LANES + number % LANES
                for slot in range(width):
                    axis[end] = groups[head + AXES_AT + slot]
                    low[end] = nodes[node + slot * 2 * LANES]
                    high[end] = nodes[node + slot * 2 * LANES + LANES]
                    end += 1
                owner[box] = owners[groups[head + 4] + number]
                exact[box] = groups[head + 3] != 0
                box += 1
                starts[box] = end
