"""Layout: filed boxes as the arrays that the search walks.

    table      a hash table from symbols to the place of their cluster; 0 is empty
    clusters   per symbol or pair: [symbol, second, runs, first group, end of groups], then its runs
    groups     a row per box tree, see `box_tree`
    nodes, owners   what the trees are made of

A *run* holds boxes of one cluster that have a constraint on the same axis. That axis is tested
sixteen boxes at a time; what passes is tested constraint by constraint. A box leads with the axis
that most boxes of its cluster have, so that runs are few and long.

    run        [axis, n, end], low[n], high[n], mark[n], then n times [owner, (axis, low, high)...]
    mark       twice the place of [owner, ...] in the run, plus one if the box is exact

A run of boxes without residue has axis -1, and no low and high. Boxes of one cluster with the same
axes become a tree instead once they are many (`TREE_FROM`). The owner of several boxes is stored as
its complement (~owner): it may be found twice and must be told apart.

All places are offsets, so that the arrays can be mapped from a file. Sixteen words of slack end
`clusters`, because lanes beyond a run's end are read before they are masked.
Cost. About 40 bytes a box; building sorts, so n log n.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fyke.matching.compiled.boxes.access import ROOT, Filed
from fyke.matching.compiled.boxes.box_table import BoxTable, Places, Words
from fyke.matching.compiled.boxes.box_tree import GROUP, SLOTS_MAX, plant, trees_size
from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.kernels.lanes import LANES, aligned

TREE_FROM: Final = 24
"""Boxes of one cluster and shape that make a tree, at least."""
CLUSTER: Final = 5
"""Words of a cluster's head."""
RUN: Final = 3
"""Words of a run's head."""
TABLE_LOAD: Final = 2
_ARRAYS: Final = ("table", "clusters", "groups", "nodes", "owners")
_GOLDEN: Final = 0x4F1BBCDD
_SILVER: Final = 0x2C1B3C6D
_PRIME: Final = 1_000_003
_HASH_BITS: Final = (1 << 42) - 1


@dataclass(frozen=True, slots=True)
class Layout:
    """The arrays of a segment's index."""

    table: Words
    clusters: Words
    groups: Words
    nodes: Words
    owners: Words
    root: int
    """The place of the cluster of boxes without a symbol, or 0."""

    def arrays(self) -> dict[str, Words]:
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def of(cls, arrays: Mapping[str, Words], root: int) -> Layout:
        return cls(**{name: arrays[name] for name in _ARRAYS}, root=root)


def layout(filed: Filed, *, tree_from: int = TREE_FROM) -> Layout:
    """Lay filed boxes out."""
    boxes = filed.residues
    owner = mark_several(boxes.owner)
    sizes = np.diff(boxes.starts).astype(np.int64)
    shape = _shapes(boxes)
    key = filed.key
    order = np.lexsort((shape, key))
    group_starts = _changes(key[order], shape[order])
    group_sizes = np.diff(np.append(group_starts, len(order)))
    slots = sizes[order[group_starts]] if len(order) else sizes[:0]
    is_tree = (group_sizes >= tree_from) & (slots > 0) & (slots <= SLOTS_MAX)
    trees = _ranges(group_starts[is_tree], group_sizes[is_tree])
    groups, nodes, owners = _planted(boxes, owner, order, trees, slots[is_tree])
    in_tree = np.repeat(is_tree, group_sizes)
    clusters, places, keys = _clusters(
        boxes, key, owner, sizes, order[~in_tree], key[order[group_starts[is_tree]]]
    )
    root = int(places[0]) if len(keys) and keys[0] == ROOT else 0
    return Layout(_hashed(keys, places), clusters, groups, nodes, owners, root)


def mark_several(owner: Words) -> Words:
    """Return owners of several boxes as their complement."""
    if not len(owner):
        return owner
    several = np.bincount(owner)[owner] > 1
    return np.where(several, ~owner, owner).astype(np.int32)


def _changes(*columns: Words | Places) -> Places:
    """Return where some column changes its value."""
    differs = np.zeros(len(columns[0]), np.bool_)
    differs[:1] = True
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(differs)


def _ranges(starts: Places, sizes: Places) -> Places:
    return np.stack([starts, starts + sizes], axis=1).astype(np.int64)


def _shapes(boxes: BoxTable) -> Words:
    """Return a number for each box, the same for boxes of the same axes and exactness."""
    hashes = shape_hashes(boxes.starts, boxes.axis, boxes.exact)
    _, first, numbers = np.unique(hashes, return_index=True, return_inverse=True)
    tell_apart(boxes.starts, boxes.axis, boxes.exact, first, numbers)
    return numbers.astype(np.int32)


@kernel
def shape_hashes(starts: Any, axis: Any, exact: Any) -> Any:
    hashes = np.zeros(len(starts) - 1, np.int64)
    for box in range(len(hashes)):
        mixed = np.int64(exact[box])
        for at in range(starts[box], starts[box + 1]):
            mixed = (mixed * _PRIME + axis[at] + 1) & _HASH_BITS
        hashes[box] = mixed
    return hashes


@kernel
def tell_apart(starts: Any, axis: Any, exact: Any, first: Any, numbers: Any) -> None:
    """Give boxes of another shape with the same hash a number of their own."""
    fresh = len(first)
    for box in range(len(starts) - 1):
        like = first[numbers[box]]
        size = starts[box + 1] - starts[box]
        same = size == starts[like + 1] - starts[like] and exact[box] == exact[like]
        if same:
            for at in range(size):
                if axis[starts[box] + at] != axis[starts[like] + at]:
                    same = False
        if not same:
            numbers[box] = fresh
            fresh += 1


# --- trees ---------------------------------------------------------------------------------------


def _planted(
    boxes: BoxTable, owner: Words, order: Places, trees: Places, slots: Places
) -> tuple[Words, Words, Words]:
    node_words, owner_words = trees_size(trees, slots)
    groups = np.zeros((len(trees), GROUP), np.int32)
    nodes = aligned(node_words)
    owners = aligned(owner_words + LANES)
    spans = axis_spans(boxes.axis, boxes.low)
    plant(
        boxes.starts, boxes.axis, boxes.low, boxes.high, boxes.exact, owner, order,
        trees, slots, spans, groups, nodes, owners,
    )  # fmt: skip
    return groups.ravel(), nodes, owners


@kernel
def axis_spans(axis: Any, low: Any) -> Any:
    """Return how far apart the intervals on each axis lie, so that axes can be compared."""
    count = 0
    for at in range(len(axis)):
        count = max(count, axis[at] + 1)
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    for at in range(len(axis)):
        least[axis[at]] = min(least[axis[at]], low[at])
        most[axis[at]] = max(most[axis[at]], low[at])
    return np.maximum(most - least, 1.0)


# --- clusters ------------------------------------------------------------------------------------


def _clusters(
    boxes: BoxTable, key: Places, owner: Words, sizes: Places, flat: Places, tree_keys: Places
) -> tuple[Words, Places, Places]:
    """Return the words of all clusters, where each starts, and their keys, ascending.

    `flat` are the boxes outside of trees, sorted by key.
    """
    axes = int(boxes.axis.max(initial=-1)) + 1
    lead = leading(boxes.starts, boxes.axis, boxes.low, boxes.high, key, flat, axes)
    lead_axis = np.where(lead >= 0, np.append(boxes.axis, np.int32(-1))[lead], -1)
    flat = flat[np.lexsort((lead_axis[flat], key[flat]))]
    run_starts = _changes(key[flat], lead_axis[flat])
    runs = _ranges(run_starts, np.diff(np.append(run_starts, len(flat))))
    run_keys = key[flat[run_starts]]
    keys = np.union1d(run_keys, tree_keys) if len(tree_keys) else run_keys[_changes(run_keys)]
    counts = np.where(lead_axis[flat] >= 0, 3 * sizes[flat] + 1, 2)
    words = aligned(1 + CLUSTER * len(keys) + RUN * len(runs) + int(counts.sum()) + LANES)
    places = np.zeros(len(keys), np.int64)
    write_clusters(
        keys,
        np.searchsorted(run_keys, keys),
        np.searchsorted(run_keys, keys, side="right"),
        np.searchsorted(tree_keys, keys),
        np.searchsorted(tree_keys, keys, side="right"),
        runs, flat, lead,
        boxes.starts, boxes.axis, boxes.low, boxes.high, boxes.exact, owner, words, places,
    )  # fmt: skip
    return words, places, keys


@kernel
def leading(starts: Any, axis: Any, low: Any, high: Any, key: Any, flat: Any, axes: int) -> Any:
    """Return, per box of `flat`, sorted by key, the constraint it leads with, or -1."""
    lead = np.full(len(starts) - 1, -1, np.int64)
    counts = np.zeros(axes, np.int64)
    begin = 0
    while begin < len(flat):
        end = begin
        while end < len(flat) and key[flat[end]] == key[flat[begin]]:
            for at in range(starts[flat[end]], starts[flat[end] + 1]):
                counts[axis[at]] += 1
            end += 1
        for number in range(begin, end):
            box = flat[number]
            best = -1
            for at in range(starts[box], starts[box + 1]):
                weight = counts[axis[at]] if low[at] <= high[at] else 0
                if weight > best:
                    best = weight
                    lead[box] = at
        for number in range(begin, end):
            for at in range(starts[flat[number]], starts[flat[number] + 1]):
                counts[axis[at]] = 0
        begin = end
    return lead


@kernel
def write_clusters(
    keys: Any,
    run_of: Any,
    run_ends: Any,
    tree_of: Any,
    tree_ends: Any,
    runs: Any,
    flat: Any,
    lead: Any,
    starts: Any,
    axis: Any,
    low: Any,
    high: Any,
    exact: Any,
    owner: Any,
    words: Any,
    places: Any,
) -> None:
    end = 1
    for cluster in range(len(keys)):
        places[cluster] = end
        words[end] = keys[cluster] >> 32
        words[end + 1] = keys[cluster] & 0xFFFFFFFF
        words[end + 2] = run_ends[cluster] - run_of[cluster]
        words[end + 3] = tree_of[cluster]
        words[end + 4] = tree_ends[cluster]
        end += CLUSTER
        for run in range(run_of[cluster], run_ends[cluster]):
            begin, n = runs[run, 0], runs[run, 1] - runs[run, 0]
            head = end
            shared = lead[flat[begin]]
            words[head] = axis[shared] if shared >= 0 else -1
            words[head + 1] = n
            lows = head + RUN
            marks = lows + 2 * n if shared >= 0 else lows
            end = marks + n
            for number in range(n):
                box = flat[begin + number]
                if shared >= 0:
                    words[lows + number] = low[lead[box]]
                    words[lows + n + number] = high[lead[box]]
                words[marks + number] = (end - head) * 2 + exact[box]
                words[end] = owner[box]
                end += 1
                for at in range(starts[box], starts[box + 1]):
                    if at != lead[box]:
                        words[end] = axis[at]
                        words[end + 1] = low[at]
                        words[end + 2] = high[at]
                        end += 3
            words[head + 2] = end - head


# --- the hash table ------------------------------------------------------------------------------


def _hashed(keys: Places, places: Places) -> Words:
    bits = max(int(np.ceil(np.log2(max(TABLE_LOAD * len(keys), 2)))), 1)
    table = np.zeros(1 << bits, np.int32)
    fill_table(keys, places, table)
    return table


@inlined
def place_of(symbol: Any, second: Any, size: int) -> Any:
    """Return where the search for a cluster starts in a table of `size` places, a power of two."""
    return ((symbol * _GOLDEN + second * _SILVER) >> 16) & (size - 1)


@kernel
def fill_table(keys: Any, places: Any, table: Any) -> None:
    for number in range(len(keys)):
        if keys[number] != ROOT:
            at = place_of(keys[number] >> 32, keys[number] & 0xFFFFFFFF, len(table))
            while table[at] != 0:
                at = (at + 1) & (len(table) - 1)
            table[at] = places[number]
