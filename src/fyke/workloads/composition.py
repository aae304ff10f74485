"""Strings put together from pieces: a path is a root, folders, a name and an extension.

Each piece is drawn from a vocabulary at a column of its own, so one row can be composed alone, and
many rows as columns of pieces that are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final

from fyke.workloads.draw import Choice, Stream, popularity

if TYPE_CHECKING:
    import pyarrow as pa

    from fyke.workloads.vector_draw import Words as Draws

_SYLLABLES: Final = tuple(map("".join, product("bdfglmnrst", "aeiou", "lnrstx")))
"""300 of them; a word has one of the even ones and one of the odd ones."""


class Vocabulary:
    """Words, the most popular first; rank k, counted from 0, weighs 1 / (k + flat)."""

    __slots__ = ("choice", "words")

    def __init__(self, words: Sequence[str], flat: int) -> None:
        self.words = tuple(words)
        self.choice: Choice = popularity(len(self.words), flat)

    def between(self, before: str, after: str) -> Vocabulary:
        """The same words, as popular, with something around each."""
        other = Vocabulary.__new__(Vocabulary)
        other.words = tuple(before + word + after for word in self.words)
        other.choice = self.choice
        return other

    def word(self, half: int) -> str:
        return self.words[self.choice.pick(half)]

    def column(self, halves: Draws) -> pa.Array:
        """`word` for many rows."""
        from fyke.workloads.vector_draw import pick

        return _array(self).take(pick(self.choice, halves))


@lru_cache(maxsize=64)
def _array(vocabulary: Vocabulary) -> pa.Array:
    import pyarrow as pa

    return pa.array(vocabulary.words, pa.string())


class Composition:
    """Strings of one stream: the piece at column k is a word of vocabulary k."""

    __slots__ = ("_pieces", "_stream")

    def __init__(self, stream: Stream, pieces: Sequence[Vocabulary]) -> None:
        self._stream = stream
        self._pieces = tuple(pieces)

    def text(self, row: int) -> str:
        half = self._stream.half
        return "".join([piece.word(half(row, at)) for at, piece in enumerate(self._pieces)])

    def column(self, rows: Draws) -> pa.Array:
        """`text` for many rows."""
        import pyarrow.compute as pc

        from fyke.workloads.vector_draw import half

        columns = [
            piece.column(half(self._stream, rows, at)) for at, piece in enumerate(self._pieces)
        ]
        return pc.binary_join_element_wise(*columns, "")


def made_up(stream: Stream, count: int) -> list[str]:
    """Words of two syllables in an order of the stream's own; every fourth begins with a capital.

    There are 22,500.
    """
    words = stream.shuffled(map("".join, product(_SYLLABLES[::2], _SYLLABLES[1::2])))[:count]
    return [word.capitalize() if at % 4 == 3 else word for at, word in enumerate(words)]
