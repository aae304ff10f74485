"""Strings put together from pieces: a path is a root, folders, a name and an extension.

Each piece is drawn from a vocabulary at a column of its own; columns of pieces are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from fyke.workloads.draw import Choice, Codes, RandomStream, popularity
from fyke.workloads.form import Names

_SYLLABLES: Final = tuple(map("".join, product("bdfglmnrst", "aeiou", "lnrstx")))
"""300 of them; a word has one of the even ones and one of the odd ones."""


class PieceVocabulary:
    """Words, the most popular first; rank k, counted from 0, weighs 1 / (k + flat)."""

    __slots__ = ("choice", "flat", "form", "words")

    def __init__(self, words: Sequence[str], flat: int) -> None:
        self.words = tuple(words)
        self.flat = flat
        self.form = Names(self.words)
        self.choice: Choice = popularity(len(self.words), flat)

    def between(self, before: str, after: str) -> PieceVocabulary:
        """Return the same words, as popular, with something around each."""
        return PieceVocabulary([before + word + after for word in self.words], self.flat)


class Composition:
    """Strings of one stream: the piece at column k is a word of vocabulary k."""

    __slots__ = ("_pieces", "_stream")

    def __init__(self, stream: RandomStream, pieces: Sequence[PieceVocabulary]) -> None:
        self._stream = stream
        self._pieces = tuple(pieces)

    def column(self, rows: Codes) -> pa.Array:
        """Return the strings of rows."""
        columns = [
            piece.form.column(piece.choice.pick(self._stream.half(rows, at)))
            for at, piece in enumerate(self._pieces)
        ]
        return pc.binary_join_element_wise(*columns, "")


def made_up(stream: RandomStream, count: int) -> list[str]:
    """Make words of two syllables, in an order of the stream's own.

    Every fourth begins with a capital. There are 22,500.
    """
    words = stream.shuffled(map("".join, product(_SYLLABLES[::2], _SYLLABLES[1::2])))[:count]
    return [word.capitalize() if at % 4 == 3 else word for at, word in enumerate(words)]
