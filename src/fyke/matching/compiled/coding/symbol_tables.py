"""Symbol tables: from the values of a column to symbols, without Python values.

Idea. A hash table as an array, which kernels search for whole columns. A slot has a key, which is
the value itself where that is possible, so that most searches look at one slot and nothing else;
where a slot is taken, the next one serves.

    KeyTable     (number, symbol)              an int64, the bits of a float64, microseconds
    TextTable    (head, rest, symbol, place)   up to 7 bytes and their number, up to 7 bytes more
                                               of a longer text: a hash and a mark, its size

A text of more than 14 bytes is held, chunk by chunk, at its place beside the table.

Opened. A table of texts over the arrays of a snapshot, mapped and shared, is copied when it first
grows.
Invariant. Tables only grow, one thread at a time, while others search. A slot of which only a part
is seen reads as empty, as another key, or as OTHER: what a search just before would have found.
Cost. 32 to 64 bytes a number, 64 to 128 a text; a search takes 2 to 20 ns in the cache.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import numpy as np
import pyarrow as pa

from fyke.matching.compiled.boxes.box_table import Places, Words
from fyke.matching.compiled.coding.codes import OTHER
from fyke.matching.compiled.coding.column_texts import CHUNK, Texts, chunk, frozen, texts
from fyke.matching.compiled.kernels.kernel import inlined, kernel

EMPTY: Final = -(2**63)
"""The key of a free slot."""
KEY_SLOT: Final = 2
TEXT_SLOT: Final = 4
"""Words of a slot. The symbol is in the middle of it, behind the key."""
SLOTS_MIN: Final = 8
LOAD: Final = 2
"""Slots for each key, at least."""
SHORT: Final = 2 * CHUNK
"""Bytes of the longest text that is its own key."""
LONG: Final = (SHORT + 1) << 56
"""Marks the key of a longer text, where others have their size."""

_HALF: Final = 2**32 - 1
_LOW_FACTOR: Final = 0x2545F491
_HIGH_FACTOR: Final = 0x3C6EF373
_UNMARKED: Final = 2**56 - 1
_INTEGERS_END: Final = 2.0**63


# --- keys ----------------------------------------------------------------------------------------


@inlined
def mixed(word: int) -> int:
    """Return a word stirred: positive, and each bit depends on many.

    Nothing overflows: compiled code may assume that of signed numbers.
    """
    stirred = (word & _HALF) * _LOW_FACTOR + (word >> 32 & _HALF) * _HIGH_FACTOR
    return stirred ^ stirred >> 29


@inlined
def slot_of(key: int, rest: int, slots: Any, width: int) -> int:
    """Return where the search for a key starts."""
    return (mixed(key ^ mixed(rest)) & (len(slots) // width - 1)) * width


@inlined
def text_key(words: Any, tail: int, start: int, size: int) -> tuple[int, int]:
    head = chunk(words, tail, start, min(size, CHUNK))
    rest = chunk(words, tail, start + CHUNK, min(max(size - CHUNK, 0), CHUNK))
    if size <= SHORT:
        return head | size << 56, rest
    head = mixed(head ^ mixed(rest))
    end = start + size
    for at in range(start + SHORT, end, CHUNK):
        head = mixed(head ^ chunk(words, tail, at, min(CHUNK, end - at)))
    return head & _UNMARKED | LONG, size


# --- searching -----------------------------------------------------------------------------------


@inlined
def symbol_of(key: int, slots: Any) -> int:
    """Return the symbol of a number, or OTHER."""
    at = slot_of(key, 0, slots, KEY_SLOT)
    while slots[at] != EMPTY:
        if slots[at] == key:
            return int(slots[at + 1])
        at = (at + KEY_SLOT) & (len(slots) - 1)
    return OTHER


@inlined
def holds_text(held: Any, place: int, words: Any, tail: int, start: int, size: int) -> bool:
    """Return True if a text is the one held at a place."""
    if place < 0 or place + (size + CHUNK - 1) // CHUNK > len(held):
        return False
    end = start + size
    for at in range(start, end, CHUNK):
        if held[place] != chunk(words, tail, at, min(CHUNK, end - at)):
            return False
        place += 1
    return True


@kernel
def find_texts(
    offsets: Any, words: Any, tail: int, slots: Any, held: Any, out: Any, column: int
) -> None:
    for number in range(len(offsets) - 1):
        start = int(offsets[number])
        size = int(offsets[number + 1]) - start
        head, rest = text_key(words, tail, start, size)
        at = slot_of(head, rest, slots, TEXT_SLOT)
        found = OTHER
        while slots[at] != EMPTY:
            if slots[at] == head and slots[at + 1] == rest:
                place = int(slots[at + 3])
                if size <= SHORT or holds_text(held, place, words, tail, start, size):
                    found = int(slots[at + 2])
                    break
            at = (at + TEXT_SLOT) & (len(slots) - 1)
        out[number, column] = found


@kernel
def find_keys(keys: Any, slots: Any, out: Any, column: int) -> None:
    for number in range(len(keys)):
        out[number, column] = symbol_of(int(keys[number]), slots)


@kernel
def find_floats(numbers: Any, bits: Any, integers: Any, floats: Any, out: Any, column: int) -> None:
    """Write the symbol of each float; one that equals an int64 is looked up as that."""
    for at in range(len(numbers)):
        number = numbers[at]
        if -_INTEGERS_END <= number < _INTEGERS_END and number == np.floor(number):
            out[at, column] = symbol_of(int(number), integers)
        else:
            out[at, column] = symbol_of(int(bits[at]), floats)


# --- adding --------------------------------------------------------------------------------------


@inlined
def free_slot(key: int, rest: int, slots: Any, width: int) -> int:
    at = slot_of(key, rest, slots, width)
    while slots[at] != EMPTY:
        at = (at + width) & (len(slots) - 1)
    return at


@kernel
def put_keys(keys: Any, symbols: Any, slots: Any) -> None:
    """Add numbers that the table does not have."""
    for number in range(len(keys)):
        if keys[number] != EMPTY:
            at = free_slot(int(keys[number]), 0, slots, KEY_SLOT)
            slots[at + 1] = symbols[number]
            slots[at] = keys[number]


@kernel
def put_texts(
    offsets: Any, words: Any, tail: int, symbols: Any, slots: Any, held: Any, end: int
) -> int:
    """Add texts that the table does not have. Return the new end of `held`."""
    for number in range(len(offsets) - 1):
        start = int(offsets[number])
        size = int(offsets[number + 1]) - start
        head, rest = text_key(words, tail, start, size)
        at = free_slot(head, rest, slots, TEXT_SLOT)
        if size > SHORT:
            slots[at + 3] = end
            for byte in range(start, start + size, CHUNK):
                held[end] = chunk(words, tail, byte, min(CHUNK, start + size - byte))
                end += 1
        slots[at + 2] = symbols[number]
        slots[at + 1] = rest
        slots[at] = head
    return end


@kernel
def move_slots(old: Any, slots: Any, width: int) -> None:
    """Copy a table to a larger one."""
    for start in range(0, len(old), width):
        if old[start] != EMPTY:
            rest = int(old[start + 1]) if width == TEXT_SLOT else 0
            at = free_slot(int(old[start]), rest, slots, width)
            for word in range(width):
                slots[at + word] = old[start + word]


# --- tables --------------------------------------------------------------------------------------


def _empty(slots: int, width: int) -> Places:
    table = np.full(slots * width, EMPTY, np.int64)
    table[width // 2 :: width] = OTHER
    return table


def _with_room(slots: Places, keys: int, width: int) -> Places:
    """Return the table itself, or a larger copy, with room for `keys` keys."""
    size = len(slots) // width
    if LOAD * keys <= size:
        return slots
    while size < LOAD * keys:
        size *= 2
    larger = _empty(size, width)
    move_slots(frozen(slots), larger, width)
    return larger


class KeyTable:
    """Symbols by numbers of 64 bits."""

    __slots__ = ("_count", "slots", "symbol_of_empty")

    def __init__(self) -> None:
        self.slots = _empty(SLOTS_MIN, KEY_SLOT)
        self.symbol_of_empty = OTHER
        """The symbol of the one number that no slot can have."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, symbols: dict[int, int]) -> None:
        if not symbols:
            return
        self.symbol_of_empty = symbols.get(EMPTY, self.symbol_of_empty)
        self._count += len(symbols)
        self.slots = _with_room(self.slots, self._count, KEY_SLOT)
        keys = np.fromiter(symbols, np.int64, len(symbols))
        put_keys(keys, np.fromiter(symbols.values(), np.int64, len(symbols)), self.slots)

    def find(self, keys: Places, out: Words, column: int) -> None:
        """Write the symbol of each number, or OTHER."""
        if not self._count:
            out[:, column] = OTHER
            return
        find_keys(keys, self.slots, out, column)
        if self.symbol_of_empty != OTHER:
            out[keys == EMPTY, column] = self.symbol_of_empty


class TextTable:
    """Symbols by strings."""

    __slots__ = ("_count", "_end", "_held", "_slots")

    def __init__(self) -> None:
        self._slots = _empty(SLOTS_MIN, TEXT_SLOT)
        self._held = np.zeros(0, np.int64)
        self._end = 0
        self._count = 0

    def arrays(self) -> tuple[Places, Places]:
        """Return what `of` takes."""
        return self._slots, self._held[: self._end]

    @classmethod
    def of(cls, slots: Places, held: Places, symbols: Collection[int]) -> TextTable:
        """Return a table over arrays; ValueError unless its texts have these symbols."""
        if slots.dtype != np.int64 or held.dtype != np.int64 or slots.ndim != 1 or held.ndim != 1:
            raise ValueError("a table of texts is of another type")
        size = len(slots) // TEXT_SLOT
        is_taken = slots[::TEXT_SLOT] != EMPTY
        found = slots[TEXT_SLOT // 2 :: TEXT_SLOT][is_taken]
        if (
            len(slots) % TEXT_SLOT
            or size & (size - 1)
            or size < max(SLOTS_MIN, LOAD * len(symbols))
            or not np.array_equal(np.sort(found), np.sort(np.fromiter(symbols, np.int64)))
        ):
            raise ValueError("a table of texts has not the symbols that it should")
        table = cls()
        table._slots, table._held = slots, held
        table._count, table._end = len(symbols), len(held)
        return table

    def add(self, symbols: dict[str, int]) -> None:
        if not symbols:
            return
        added = texts(pa.array(list(symbols), pa.large_string()))
        self._hold(np.diff(added.offsets))
        self._count += len(symbols)
        self._slots = _with_room(self._slots, self._count, TEXT_SLOT)
        if not self._slots.flags.writeable:
            self._slots = self._slots.copy()
        values = np.fromiter(symbols.values(), np.int64, len(symbols))
        self._end = put_texts(*added.parts, values, self._slots, self._held, self._end)

    def _hold(self, sizes: Places) -> None:
        """Make room for the chunks of texts of these sizes."""
        end = self._end + int(-(-sizes[sizes > SHORT] // CHUNK).sum())
        if end > len(self._held) or not self._held.flags.writeable:
            held = np.zeros(2 * end, np.int64)
            held[: self._end] = self._held[: self._end]
            self._held = held

    def find(self, sought: Texts, out: Words, column: int) -> None:
        """Write the symbol of each text, or OTHER."""
        if self._count:
            find_texts(*sought.parts, frozen(self._slots), frozen(self._held), out, column)
        else:
            out[:, column] = OTHER
