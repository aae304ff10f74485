"""Frames: records as bytes that show whether they are whole.

    mark     4 bytes      that occur in no UTF-8
    length   4 bytes      of the body
    check    4 bytes      CRC-32 of the body
    body     flags, first offset, time, count; origin; per record its length and its UTF-8

    FIRST    begins a write: all frames before it were synced before it was written
    LAST     ends a group: what `append` was given is a run of frames up to such a one
    HEAD     begins a file: no records, but which batches of which writers are in the files before

A group counts once its last frame is whole: of one that a crash interrupted nothing is left.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from fyke.errors import FykeError, shown
from fyke.logs.log import Origin, Record

FIRST: Final = 1
LAST: Final = 2
HEAD: Final = 4
MARK: Final = b"\xfffk\xfe"
ENVELOPE: Final = struct.Struct("<4sII")
RECORD_MAX: Final = 2**26
"""Bytes of a record."""
_FRAME: Final = 2**20
"""A frame is closed when its records have this number of bytes."""
BODY_MAX: Final = RECORD_MAX + _FRAME + 2**17
_FACTS: Final = struct.Struct("<BQQIqH")
_LENGTH: Final = struct.Struct("<I")
_NO_BATCH: Final = -1


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame's facts, and its records as bytes."""

    flags: int
    first: int
    time: int
    count: int
    origin: Origin | None
    payload: memoryview

    @property
    def end(self) -> int:
        return self.first + self.count

    def records(self) -> Iterator[Record]:
        at = 0
        for offset in range(self.first, self.end):
            (size,) = _LENGTH.unpack_from(self.payload, at)
            at += _LENGTH.size
            yield Record(offset, self.time, str(self.payload[at : at + size], "utf-8"))
            at += size

    def writers(self) -> dict[str, int]:
        """Return the last batch of each writer. Only the head of a file has them."""
        return {str(name): int(batch) for name, batch in json.loads(bytes(self.payload)).items()}


def head(first: int, writers: Mapping[str, int]) -> bytes:
    """Return the first frame of a file that begins at an offset."""
    return _frame(HEAD | FIRST | LAST, first, 0, 0, None, json.dumps(writers).encode())


def group(
    values: Sequence[bytes], first: int, time: int, origin: Origin | None, begins: bool
) -> Iterator[bytes]:
    """Yield the frames of values that are appended together."""
    packed: list[bytes] = []
    size = 0
    flags = FIRST if begins else 0
    start = first
    for offset, value in enumerate(values, first):
        if size >= _FRAME:
            yield _frame(flags, start, time, offset - start, None, b"".join(packed))
            flags, start, size = 0, offset, 0
            packed.clear()
        packed += [_LENGTH.pack(len(value)), value]
        size += len(value)
    count = first + len(values) - start
    yield _frame(flags | LAST, start, time, count, origin, b"".join(packed))


def encode(value: str) -> bytes:
    """Return a record's bytes, if it can be one."""
    if not isinstance(value, str):
        raise FykeError(f"a record is text, not {shown(value)}")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise FykeError(f"the record {shown(value)} is not Unicode text") from None
    if len(data) > RECORD_MAX:
        raise FykeError(f"a record of {len(data)} bytes; at most {RECORD_MAX} are possible")
    return data


def _frame(
    flags: int, first: int, time: int, count: int, origin: Origin | None, payload: bytes
) -> bytes:
    name = b"" if origin is None else origin.writer.encode("utf-8", "replace")
    batch = _NO_BATCH if origin is None else origin.batch
    body = _FACTS.pack(flags, first, time, count, batch, len(name)) + name + payload
    return ENVELOPE.pack(MARK, len(body), zlib.crc32(body)) + body


def read_frame(file: BinaryIO) -> Frame | None:
    """Read the frame where the file stands; None if it is not whole."""
    envelope = file.read(ENVELOPE.size)
    if len(envelope) < ENVELOPE.size:
        return None
    mark, size, check = ENVELOPE.unpack(envelope)
    if mark != MARK or size > BODY_MAX:
        return None
    return _open(file.read(size), check)


def _open(body: bytes, check: int) -> Frame | None:
    if zlib.crc32(body) != check or len(body) < _FACTS.size:
        return None
    flags, first, time, count, batch, size = _FACTS.unpack_from(body)
    start = _FACTS.size + size
    origin = None
    if batch != _NO_BATCH:
        origin = Origin(body[_FACTS.size : start].decode(), batch)
    return Frame(flags, first, time, count, origin, memoryview(body)[start:])
