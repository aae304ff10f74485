"""Checking of a block that comes from a file: kernels follow its offsets without looking.

Every number that is used as a place must be one, nodes must lead away from the root and fall back
towards it, and each pattern is reported by one index only, once: a search has room for that many.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fyke.errors import FykeError
from fyke.matching.compiled.patterns import aho_corasick, block_layout, windows
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers
from fyke.matching.compiled.patterns.marks import WORDS

_BYTES = 256


def check(words: Integers, data: Bytes, entries: int) -> None:
    """Raise FykeError unless the sections, which fit the arrays, fit each other."""
    bounds = words[: block_layout.INTEGER_SECTIONS + 1].tolist()
    parts = [words[start:end] for start, end in pairwise(bounds)]
    bounds = words[block_layout.INTEGER_SECTIONS + 1 : block_layout.WIDTH].tolist()
    octets = [data[start:end] for start, end in pairwise(bounds)]
    size = len(octets[block_layout.PATTERNS])
    reported = [
        *(_reports(parts, base, entries) for base in _OUTPUTS),
        _records(parts, octets, entries, size),
    ]
    entry = np.concatenate(reported)
    is_good = (
        len(np.unique(entry)) == len(entry)
        and len(octets[block_layout.SURE]) == entries
        and _are_starts(parts[block_layout.STARTS], entries, size)
        and bool((np.diff(parts[block_layout.NUMBERS].astype(np.int64)) > 0).all())
        and _is_trie(parts, block_layout.FRONT_STARTS, octets[block_layout.FRONT_LABEL])
        and _is_trie(parts, block_layout.BACK_STARTS, octets[block_layout.BACK_LABEL])
        and _is_automaton(parts, octets[block_layout.SYMBOLS], int(words[block_layout.WIDTH]))
    )
    if not is_good:
        raise _refused()


_OUTPUTS = (block_layout.FRONT_STARTS, block_layout.BACK_STARTS, block_layout.INNER_STARTS)


def _refused() -> FykeError:
    return FykeError("the stored patterns lead out of their arrays")


def _within(numbers: Integers, low: int, end: int) -> bool:
    return not len(numbers) or bool(low <= int(numbers.min()) and int(numbers.max()) < end)


def _are_starts(starts: Integers, count: int, end: int) -> bool:
    """Return True if `count` ranges follow each other, and none ends behind `end`."""
    is_ascending = bool((starts[1:] >= starts[:-1]).all())
    return len(starts) == count + 1 and is_ascending and _within(starts, 0, end + 1)


def _reports(parts: list[Integers], base: int, entries: int) -> Integers:
    """Return the entries that an index reports; each output lists at least one."""
    starts, reports = parts[base], parts[base + block_layout.REPORTS]
    if (
        not _are_starts(starts, len(starts) - 1, len(reports))
        or len(starts) - 1 > len(reports)
        or len(parts[base + block_layout.MARKS]) != WORDS * len(reports)
        or not _within(reports, 0, entries)
    ):
        raise _refused()
    return reports


def _records(parts: list[Integers], octets: list[Bytes], entries: int, size: int) -> Integers:
    """Return the entries that windows lead to."""
    buckets, records = parts[block_layout.WINDOW_BUCKETS], parts[block_layout.WINDOW_RECORDS]
    table = records[: len(records) // windows.RECORD * windows.RECORD]
    table = table.reshape(-1, windows.RECORD).astype(np.int64)
    count = len(buckets) - 1
    spans, ends = table[:, windows.SPAN], table[:, windows.AT] + table[:, windows.SPAN] % _BYTES
    if (
        len(records) % windows.RECORD
        or count < _BYTES // 32
        or count & (count - 1)
        or not _are_starts(buckets, count, len(table))
        or len(octets[block_layout.SIEVE]) != count * windows.SIEVE_BITS_EACH // 8
        or not _within(records[windows.ENTRY :: windows.RECORD], 0, entries)
        or (spans < 0).any()
        or (table[:, windows.AT] < 0).any()
        or (ends > size).any()
    ):
        raise _refused()
    return records[windows.ENTRY :: windows.RECORD]


def _is_trie(parts: list[Integers], base: int, label: Bytes) -> bool:
    first, output = parts[base + block_layout.FIRST], parts[base + block_layout.OUTPUT]
    nodes = len(output)
    outputs = output[output >= 0]
    return (
        nodes > 0
        and len(label) == nodes
        and _are_starts(first, nodes, nodes)
        and bool((first[:-1] > np.arange(nodes)).all())
        and _within(output, -1, len(parts[base]) - 1)
        and len(np.unique(outputs)) == len(outputs)
    )


def _is_automaton(parts: list[Integers], symbols: Bytes, width: int) -> bool:
    nodes, further, rows = (
        parts[block_layout.NODES],
        parts[block_layout.FURTHER],
        parts[block_layout.ROWS],
    )
    outputs = len(parts[block_layout.INNER_STARTS]) - 1
    if not len(nodes) or len(nodes) % aho_corasick.RECORD or width < 1 or not len(rows):
        return False
    table = nodes.reshape(-1, aho_corasick.RECORD).astype(np.int64)
    number = np.arange(len(table))
    edge = table[:, aho_corasick.EDGE] >> 8
    children = np.where(edge < _BYTES, 1, edge - _BYTES)
    first = table[:, aho_corasick.FIRST]
    return (
        bool((edge >= 0).all() and (first > number).all())
        and bool((first + children <= len(table)).all())
        and bool((table[:, aho_corasick.FAIL] >= 0).all())
        and bool((table[1:, aho_corasick.FAIL] < number[1:]).all())
        and _within(nodes[aho_corasick.OUTPUT :: aho_corasick.RECORD], -1, outputs)
        and len(further) == outputs
        and _within(further, -1, outputs)
        and len(symbols) == _BYTES
        and int(symbols.max()) < width
        and len(rows) % width == 0
        and _within(rows, 0, 2 * len(table))
    )
