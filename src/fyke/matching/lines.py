"""Lines: NDJSON in blocks of lines, and the matches of a block.

A block is some megabytes at most and holds whole lines; a line that is too long is never held. So
a file of any size takes little memory.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fyke.errors import EventError

if TYPE_CHECKING:
    import pyarrow as pa

    from fyke.events.door_columns import Block

BLOCK_BYTES: Final = 4 * 1024 * 1024
BLOCK_LINES: Final = 4_096
"""Lines that are read into columns at a time."""
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
LENGTH_MAX: Final = 16 * 1024 * 1024
"""Bytes of one line."""


class Refused(NamedTuple):
    """A line that is no event; numbers count all lines from 0."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class LineMatches:
    """The matches of some lines, and the lines that were refused.

    `table` has a row for each match, ordered by event: `event`, the number of the line from 0, and
    `subscription`, the id. Blank lines are counted, but are no events.
    """

    table: pa.Table
    refused: tuple[Refused, ...]
    events: int
    slow: int
    """The number of lines that went by the slow door (`events.door`)."""


def line_matches(block: Block, first: int, parts: list[tuple[pa.Array, pa.Array]]) -> LineMatches:
    """Return the matches of a block; its parts are put in order."""
    import pyarrow as pa

    events = pa.chunked_array([part[0] for part in parts], pa.int64())
    ids = pa.chunked_array([part[1] for part in parts], parts[0][1].type if parts else pa.string())
    table = pa.table({"event": events, "subscription": ids})
    if len(parts) > 1:
        table = table.sort_by("event")
    refused = (Refused(first + place, why) for place, why in sorted(block.refused.items()))
    return LineMatches(table, tuple(refused), block.events, block.slow)


def too_long(number: int) -> LineMatches:
    """Return the refusal of a line that was too long to be read."""
    refused = Refused(number, f"the line is longer than {LENGTH_MAX} bytes")
    return replace(joined([]), refused=(refused,))


def joined(blocks: Sequence[LineMatches]) -> LineMatches:
    """Return the matches of blocks, one after the other."""
    import pyarrow as pa

    empty = pa.table({"event": pa.array([], pa.int64()), "subscription": pa.array([], pa.string())})
    return LineMatches(
        pa.concat_tables([empty, *(each.table for each in blocks)]),
        tuple(refused for each in blocks for refused in each.refused),
        sum(each.events for each in blocks),
        sum(each.slow for each in blocks),
    )


class LineBlock(NamedTuple):
    """Lines in a row; None in place of one that is too long to be read."""

    first: int
    lines: list[bytes] | None


@contextmanager
def opened(source: Any) -> Iterator[Callable[[int], bytes]]:
    """Yield a function that reads the bytes of a text, a path, or an open file."""
    if isinstance(source, str):
        source = source.encode(errors="surrogatepass")
    if isinstance(source, bytes | bytearray | memoryview):
        yield io.BytesIO(source).read
    elif isinstance(source, os.PathLike):
        with open(source, "rb") as file:
            yield file.read
    elif callable(getattr(source, "read", None)):
        yield source.read
    else:
        raise EventError(
            "expected JSON lines: bytes, a text, a path or a file that is open for reading bytes;"
            f" not {type(source).__name__}"
        )


def blocks(read: Callable[[int], bytes], length_max: int = LENGTH_MAX) -> Iterator[LineBlock]:
    """Yield the lines of a stream, of which `read` gives a number of bytes at most."""
    number = 0
    for lines in _pieces(read, length_max):
        if lines is None:
            yield LineBlock(number, None)
            number += 1
            continue
        for first in range(0, len(lines), BLOCK_LINES):
            part = lines[first : first + BLOCK_LINES]
            if number == 0:
                part[0] = part[0].removeprefix(_BYTE_ORDER_MARK)
            yield LineBlock(number, part)
            number += len(part)


def _pieces(read: Callable[[int], bytes], length_max: int) -> Iterator[list[bytes] | None]:
    """Yield whole lines of some megabytes; None for one that is too long."""
    begun: list[bytes] = []
    size = 0
    while piece := read(BLOCK_BYTES):
        if not isinstance(piece, bytes):
            raise EventError("the file is open for reading text; open it with mode 'rb'")
        if size > length_max:  # what is left of a line that is too long
            _, newline, piece = piece.partition(b"\n")
            if not newline:
                continue
            yield None
            size = 0
        lines = piece.split(b"\n")
        last = lines.pop()
        if lines:
            lines[0] = b"".join((*begun, lines[0]))
            begun, size = [], 0
            yield from _short(lines, length_max)
        size += len(last)
        begun = [] if size > length_max else [*begun, last]
    if size > length_max:
        yield None
    elif size:
        yield [b"".join(begun)]


def _short(lines: list[bytes], length_max: int) -> Iterator[list[bytes] | None]:
    """Yield the lines, cut where one of them is too long."""
    start = 0
    if sum(map(len, lines)) <= length_max:
        yield lines
        return
    for at, line in enumerate(lines):
        if len(line) > length_max:
            yield lines[start:at]
            yield None
            start = at + 1
    yield lines[start:]
