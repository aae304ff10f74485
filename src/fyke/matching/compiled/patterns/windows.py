"""Long strings in a text, found by windows of eight bytes.

Idea. An automaton of many long strings is large, and every byte of a text makes it go somewhere in
memory that is not in the caches. So of each string only one window of eight bytes is looked for,
the one that the fewest strings share. All windows of a text are hashed while it is read; a small
table of bits (`sieve`) says which hashes are of no interest. What passes is looked up: a bucket
lists the strings with such a window, and they are compared with the text around it.
The hash is (hash << 4) + GEAR[byte], in 32 bits, so a byte is forgotten eight bytes later without
being taken out. Its high bits choose the bit of the sieve and the bucket.
Example. `certutil.exe` with the window `util.exe`, which starts 4 bytes behind the first: it is
found behind `/bin/certutil.exe` and the eight bytes before.
Invariant. A window is shared by at most SHARED_MAX strings, and what is compared has at most
COMPARED_MAX bytes; so however strings and texts are made, a byte of text costs a bounded number
of steps. Strings without such a window, or shorter than a window, are left to the automaton.
Cost. Two nanoseconds a byte, and about 30 bytes a string.
Source. M. O. Rabin, R. M. Karp (1987); S. Wu, U. Manber (1994); the gear hash of W. Xia (2014).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.patterns import block_layout
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers, Longs
from fyke.matching.compiled.patterns.block_layout import integers, octets

WINDOW: Final = 8
SHARED_MAX: Final = 8
COMPARED_MAX: Final = 64
_MASK: Final = 0xFFFFFFFF
_SIEVE_BITS: Final = 5
"""The sieve has 2 ** 5 to 2 ** 6 bits for each string."""
SIEVE_BITS_EACH: Final = 1 << _SIEVE_BITS
"""Its bits for each bucket."""

HASH, ENTRY, AT, SPAN = range(4)
"""The four words of a string: the hash of its window without the lowest bit; its pattern; its first
byte among the patterns; 256 times the bytes from there to the window's end, plus its length."""
RECORD: Final = 4


def _gear() -> Longs:
    """Return 256 numbers of 32 bits, the same for ever: snapshots depend on them."""
    values, state = [], 8700
    for _ in range(256):
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        values.append(state >> 32)
    return np.array(values, np.int64)


_GEAR: Final = _gear()


class Windows(NamedTuple):
    sieve: Bytes
    """Bit h >> (32 - its logarithm): some window has this hash."""
    buckets: Integers
    """By the highest bits of the hash, and one more: the first record."""
    records: Integers


@kernel
def choose_windows(data: Bytes, at: Integers, length: Integers, ends: Integers) -> None:
    """Fill in, for each string, the bytes up to the end of its window; 0 if it has none."""
    bits = 10
    while (1 << bits) < 16 * len(at) and bits < 26:
        bits += 1
    uses = np.zeros(1 << bits, np.int32)
    for number in range(len(at)):
        value = 0
        for each in range(min(length[number], COMPARED_MAX)):
            value = ((value << 4) + int(_GEAR[data[at[number] + each]])) & _MASK
            if each >= WINDOW - 1:
                uses[value >> (32 - bits)] += 1
    for number in range(len(at)):
        ends[number] = 0
        least, value = SHARED_MAX + 1, 0
        for each in range(min(length[number], COMPARED_MAX)):
            value = ((value << 4) + int(_GEAR[data[at[number] + each]])) & _MASK
            if each >= WINDOW - 1 and uses[value >> (32 - bits)] < least:
                least = uses[value >> (32 - bits)]
                ends[number] = each + 1


@kernel
def index_windows(
    data: Bytes, entries: Integers, at: Integers, length: Integers, ends: Integers
) -> Windows:
    """Return the index of strings by their chosen windows."""
    count = len(at)
    bits = 3
    while (1 << bits) < count:
        bits += 1
    sieve = np.zeros(1 << (bits + _SIEVE_BITS - 3), np.uint8)
    buckets = np.zeros((1 << bits) + 1, np.int32)
    hashes = np.empty(count, np.int64)
    for number in range(count):
        value = 0
        for each in range(ends[number] - WINDOW, ends[number]):
            value = ((value << 4) + int(_GEAR[data[at[number] + each]])) & _MASK
        hashes[number] = value
        buckets[(value >> (32 - bits)) + 1] += 1
        bit = value >> (32 - bits - _SIEVE_BITS)
        sieve[bit >> 3] |= 1 << (bit & 7)
    for bucket in range(1 << bits):
        buckets[bucket + 1] += buckets[bucket]
    records = np.empty(RECORD * count, np.int32)
    filled = buckets.copy()
    for number in range(count):
        value = hashes[number]
        bucket = value >> (32 - bits)
        record = RECORD * int(filled[bucket])
        filled[bucket] += 1
        records[record + HASH] = value >> 1
        records[record + ENTRY] = entries[number]
        records[record + AT] = at[number]
        records[record + SPAN] = (int(ends[number]) << 8) + min(int(length[number]), COMPARED_MAX)
    return Windows(sieve, buckets, records)


@inlined
def strings_in(text: Bytes, words: Integers, data: Bytes, seen: Bytes, found: Integers) -> int:
    """Fill in the records that the text holds. Return how many. `seen` is all 0, also after."""
    records = integers(words, block_layout.WINDOW_RECORDS)
    if len(records) == 0:
        return 0
    buckets = integers(words, block_layout.WINDOW_BUCKETS)
    sieve = octets(words, data, block_layout.SIEVE)
    patterns = octets(words, data, block_layout.PATTERNS)
    bucket_shift = 32
    while (1 << (32 - bucket_shift)) < len(buckets) - 1:
        bucket_shift -= 1
    sieve_shift = bucket_shift - _SIEVE_BITS
    count, value = 0, 0
    for at in range(len(text)):
        value = ((value << 4) + int(_GEAR[text[at]])) & _MASK
        bit = value >> sieve_shift
        if (sieve[bit >> 3] >> (bit & 7)) & 1 == 0:
            continue
        bucket = value >> bucket_shift
        for each in range(buckets[bucket], buckets[bucket + 1]):
            record = RECORD * each
            if records[record + HASH] != value >> 1 or seen[each] != 0:
                continue
            span = int(records[record + SPAN])
            begin = at + 1 - (span >> 8)
            if _is_at(text, begin, patterns, int(records[record + AT]), span & 255):
                seen[each] = 1
                found[count] = each
                count += 1
    for each in range(count):
        seen[found[each]] = 0
    return count


@inlined
def _is_at(text: Bytes, begin: int, patterns: Bytes, at: int, length: int) -> bool:
    if begin < 0 or begin + length > len(text):
        return False
    for each in range(length):
        if text[begin + each] != patterns[at + each]:
            return False
    return True
