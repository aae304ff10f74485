"""A segment: a file of frames, named after the offset of its first record."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from fyke.errors import FykeError
from fyke.logs.frames import FIRST, HEAD, LAST, MARK, Frame, read_frame

_NAME: Final = re.compile(r"(\d{20})\.log", re.ASCII)


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of what is whole: the offset after its last group, and its place in the file."""

    end: int
    position: int


def segments(folder: Path) -> list[int]:
    """Return the first offsets of all segments, in order."""
    names = map(_NAME.fullmatch, os.listdir(folder) if folder.is_dir() else ())
    return sorted(int(name[1]) for name in names if name)


def file_of(folder: Path, first: int) -> Path:
    return folder / f"{first:020}.log"


def frames(file: BinaryIO, position: int) -> Iterator[tuple[Frame, int]]:
    """Yield the frames from a position and where each ends, up to the first that is not whole."""
    file.seek(position)
    while frame := read_frame(file):
        yield frame, file.tell()


def follow(file: BinaryIO, tail: Tail, writers: dict[str, int] | None = None) -> Tail:
    """Return the tail now, from an earlier one on; note the batches of writers on the way."""
    for frame, position in frames(file, tail.position):
        if frame.flags & LAST:
            tail = Tail(frame.end, position)
            if writers is not None:
                writers.update(_batches(frame))
    return tail


def _batches(frame: Frame) -> dict[str, int]:
    if frame.flags & HEAD:
        return frame.writers()
    return {} if frame.origin is None else {frame.origin.writer: frame.origin.batch}


def check_cut(path: Path, file: BinaryIO, tail: Tail) -> None:
    """Check that the bytes after the tail may be cut off: they were never acknowledged.

    If a write begins there that was made after the damage was on the disk, no crash did the damage.
    """
    file.seek(tail.position)
    rest = BytesIO(file.read())
    data = rest.getvalue()
    at = data.find(MARK, 1)
    while at >= 0:
        rest.seek(at)
        frame = read_frame(rest)
        if frame is not None and frame.flags & FIRST:
            raise FykeError(f"{path} is damaged at byte {tail.position}, before its end")
        at = data.find(MARK, at + 1)
