"""A bounded memory of answers by text, in two generations.

What is asked for moves to the young generation; when that is full, it becomes the old one and the
old one is forgotten. So what was asked for lately stays, at the cost of two dictionary lookups.
"""

from __future__ import annotations

from typing import Final

from fyke.matching.compiled.patterns.block_arrays import Integers

ENTRIES_MAX: Final = 65_536
BYTES_MAX: Final = 32 << 20
_ENTRY_BYTES: Final = 300
"""About what an entry takes beside its text and its numbers."""


class TextCache:
    """Answers by text. All are forgotten together, when an answer may have changed."""

    __slots__ = ("_bytes", "_bytes_max", "_entries_max", "_old", "_young", "epoch")

    def __init__(self, entries_max: int = ENTRIES_MAX, bytes_max: int = BYTES_MAX) -> None:
        self._entries_max = entries_max // 2
        self._bytes_max = bytes_max // 2
        self._young: dict[str, Integers] = {}
        self._old: dict[str, Integers] = {}
        self._bytes = 0
        self.epoch = 0
        """The times that all was forgotten. An answer found in an earlier epoch is not taken in."""

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def get(self, text: str) -> Integers | None:
        return self._young.get(text)

    def get_old(self, text: str) -> Integers | None:
        """Return an answer of the old generation, which the caller should put in again."""
        return self._old.get(text)

    def put(self, text: str, answer: Integers, epoch: int) -> None:
        if epoch != self.epoch or text in self._young:
            return
        size = _ENTRY_BYTES + 4 * len(text) + answer.nbytes
        if size > self._bytes_max:
            return
        if self._bytes + size > self._bytes_max or len(self._young) >= self._entries_max:
            self._old, self._young, self._bytes = self._young, {}, 0
        self._young[text] = answer
        self._bytes += size

    def clear(self) -> None:
        self.epoch += 1
        if self._young or self._old:
            self._young, self._old, self._bytes = {}, {}, 0
