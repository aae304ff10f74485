"""Events from files as people have them: JSON lines, arrays, pretty-printed, compressed.

Lines come in blocks, so that a file of any size takes little memory. What begins with `[`, or with
a brace alone in its line, is not lines but JSON as a whole: it is held, up to `WHOLE_MAX` bytes,
and its elements, or the objects one after the other, are the events.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from fyke.cli.reading.inputs import STANDARD_INPUT, Source, opened
from fyke.cli.reading.read_ahead import read_ahead
from fyke.cli.writing.problems import Unusable
from fyke.cli.writing.progress import reading
from fyke.matching.lines import LineBlock, blocks

WHOLE_MAX: Final = 256 * 1024 * 1024
"""Bytes of JSON that is not lines."""
_BLANK: Final = b" \t\r\n"
_MARK: Final = b"\xef\xbb\xbf"
_SPACE: Final = re.compile(r"[ \t\r\n]*")


def named(paths: Iterable[str]) -> Iterator[str]:
    """Yield the files that are meant by names and patterns."""
    for path in paths:
        if path == STANDARD_INPUT or not glob.has_magic(path) or Path(path).exists():
            yield path
            continue
        matching = sorted(each for each in glob.glob(path, recursive=True) if Path(each).is_file())
        if not matching:
            raise Unusable(f"{path}: no file has such a name")
        yield from matching


@contextmanager
def events_in(path: str) -> Iterator[Source]:
    """Open the file, decompressed where its name says so, or standard input for `-`.

    A bar shows how far a large file is read.
    """
    with opened(path) as source, reading(source):
        plain = _plain(source.stream, Path(path).suffix)
        if plain is source.stream:
            yield source
            return
        with read_ahead(plain.read) as ahead:
            yield Source(source.name, ahead)  # type: ignore[arg-type]


def _plain(stream: BinaryIO, suffix: str) -> Any:
    """Return the content of a file; the ending of its name says how it is compressed."""
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=stream)
    if suffix == ".bz2":
        return bz2.BZ2File(stream)
    if suffix == ".zst":
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(stream), "zstd")
    return stream


def event_blocks(source: Source) -> Iterator[LineBlock]:
    """Yield the events of a source, with their numbers, as texts."""
    read = _reader(source)
    first = read(1 << 16)
    left = first.removeprefix(_MARK).lstrip(_BLANK)
    line = left.partition(b"\n")
    if left.startswith(b"[") or (line[0].strip(_BLANK) == b"{" and line[1]):
        yield LineBlock(0, _elements(source, first, read))
    else:
        yield from blocks(_again(first, read))


def _reader(source: Source) -> Callable[[int], bytes]:
    """Return a function that reads as much as there is: a line that was written comes at once."""
    stream: Any = source.stream
    read = getattr(stream, "read1", stream.read)

    def some(size: int) -> bytes:
        try:
            return read(size)  # type: ignore[no-any-return]
        except (OSError, EOFError, zlib.error) as refused:
            raise Unusable(
                f"{source.name}: {getattr(refused, 'strerror', None) or refused}"
            ) from None

    return some


def _again(first: bytes, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    pending = [first]
    return lambda size: pending.pop() if pending else read(size)


def _elements(source: Source, first: bytes, read: Callable[[int], bytes]) -> list[bytes]:
    """Return the elements of an array, or objects one after the other."""
    parts, size = [first], len(first)
    while part := read(1 << 20):
        parts.append(part)
        size += len(part)
        if size > WHOLE_MAX:
            raise Unusable(
                f"{source.name}: JSON that is not lines, longer than {WHOLE_MAX >> 20} MiB"
            )
    text = b"".join(parts).removeprefix(_MARK).strip(_BLANK)
    try:
        if text.startswith(b"["):
            return [bytes(each) for each in msgspec.json.decode(text, type=list[msgspec.Raw])]
        return list(_objects(text))
    except (msgspec.MsgspecError, RecursionError, ValueError) as refused:
        raise Unusable(f"{source.name}: {refused}") from None


def _objects(text: bytes) -> Iterator[bytes]:
    decoder, read = json.JSONDecoder(), str(text, "utf-8")
    at = 0
    while at < len(read):
        _, end = decoder.raw_decode(read, at)
        yield read[at:end].encode()
        space = _SPACE.match(read, end)
        at = end if space is None else space.end()
