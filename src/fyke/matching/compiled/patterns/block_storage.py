"""The blocks of a pattern set as a few arrays, all blocks behind one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from fyke.errors import FykeError
from fyke.matching.arrays import Arrays
from fyke.matching.compiled.patterns import block_layout, checking
from fyke.matching.compiled.patterns.block import Block

_DTYPES: Final = {"blocks": np.int64, "words": np.int32, "data": np.uint8, "alive": np.uint8}


def packed(exact: Sequence[Block], folded: Sequence[Block]) -> Arrays:
    """Return the arrays of two kinds of blocks. `blocks` has a row for each: folded, its sizes."""
    blocks = [*exact, *folded]
    table = [
        (int(number >= len(exact)), len(block.words), len(block.data), len(block))
        for number, block in enumerate(blocks)
    ]
    return {
        "blocks": np.array(table, np.int64).reshape(-1, 4),
        "words": _joined([block.words for block in blocks], np.int32),
        "data": _joined([block.data for block in blocks], np.uint8),
        "alive": _joined([block.alive for block in blocks], np.uint8),
    }


def _joined(parts: Sequence[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *parts])


def unpacked(arrays: Mapping[str, npt.NDArray[Any]]) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Return the two kinds of blocks, as views of the arrays; FykeError if these do not fit."""
    for name, dtype in _DTYPES.items():
        if name not in arrays or arrays[name].dtype != dtype:
            raise FykeError(f"the stored patterns have no array {name!r} of {np.dtype(dtype)}")
    words, data, alive = arrays["words"], arrays["data"], arrays["alive"]
    table = arrays["blocks"]
    if table.ndim != 2 or table.shape[1] != 4:
        raise FykeError("the stored patterns have no table of their sizes")
    sizes = table[:, 1:]
    if (sizes < 0).any() or sizes.sum(axis=0).tolist() != [len(words), len(data), len(alive)]:
        raise FykeError("the stored patterns do not have the sizes that their table says")
    kinds: tuple[list[Block], list[Block]] = ([], [])
    ends = sizes.cumsum(axis=0)
    for row, (word_end, data_end, entry_end) in zip(table.tolist(), ends.tolist(), strict=True):
        folded, word_count, data_count, entries = row
        block_words = words[word_end - word_count : word_end]
        block_data = data[data_end - data_count : data_end]
        block_layout.check(block_words, block_data, entries)
        checking.check(block_words, block_data, entries)
        block = Block(block_words, block_data, alive[entry_end - entries : entry_end])
        kinds[bool(folded)].append(block)
    return tuple(kinds[0]), tuple(kinds[1])
