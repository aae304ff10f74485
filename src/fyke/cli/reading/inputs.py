"""The input of commands: files, standard input, and arguments that name a file."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from fyke.cli.writing.problems import Unusable, complain
from fyke.errors import FykeError

if TYPE_CHECKING:
    from fyke.events.schema import Schema

STANDARD_INPUT: Final = "-"
LENGTH_MAX: Final = 16 * 1024 * 1024
"""Bytes of one line, or of a file that is read as a whole."""


@dataclass(slots=True)
class Source:
    """A stream of bytes, and the name that messages give it."""

    name: str
    stream: BinaryIO

    def size(self) -> int | None:
        """Return the bytes of a regular file; None for anything else."""
        try:
            status = os.fstat(self.stream.fileno())
        except OSError:
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextmanager
def opened(path: str) -> Iterator[Source]:
    """Open the file, or standard input for `-`."""
    if path == STANDARD_INPUT:
        yield _standard_input()
        return
    with _file(path) as stream:
        yield Source(path, stream)


def whole(path: str) -> bytes:
    """Return all that is in a file; raise Unusable if that is too long."""
    with opened(path) as source:
        content = read(source, LENGTH_MAX + 1)
    if len(content) > LENGTH_MAX:
        raise Unusable(f"{source.name}: longer than {LENGTH_MAX >> 20} MiB")
    return content


def read(source: Source, size: int) -> bytes:
    """Read up to `size` bytes; a failing disk is Unusable, not a traceback."""
    try:
        return source.stream.read(size)
    except OSError as refused:
        raise Unusable(f"{source.name}: {_reason(refused)}") from None


def read_line(source: Source, size: int) -> bytes:
    """Read up to `size` bytes of the next line, its end included."""
    try:
        return source.stream.readline(size)
    except OSError as refused:
        raise Unusable(f"{source.name}: {_reason(refused)}") from None


def text_argument(argument: str, *, dash: bool = False) -> tuple[str, str | None]:
    """Return the text that an argument means, and the name of the input where it stood.

    `@file` names a file; with `dash`, `-` is standard input. Any other argument is the text itself,
    and the name is None.
    """
    path = argument[1:] if argument.startswith("@") else None
    if dash and argument == STANDARD_INPUT:
        path = STANDARD_INPUT
    if path is None:
        return typed(argument), None
    try:
        text = str(whole(path), "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as refused:
        raise Unusable(f"{path}: not UTF-8 at byte {refused.start}") from None
    return text, "standard input" if path == STANDARD_INPUT else path


def typed(argument: str) -> str:
    """Return the argument; raise Unusable where it is not UTF-8."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise Unusable("an argument is not UTF-8") from None
    return argument


def read_schema(path: str | None) -> Schema | None:
    """Return the schema in a JSON file; None where no file is named."""
    if path is None:
        return None
    from fyke.events.json import decode
    from fyke.events.schema import Schema

    try:
        return Schema.from_document(decode(whole(path)))
    except Unusable:
        raise
    except FykeError as refused:
        raise Unusable(f"{path}: {refused}") from None


def _file(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except (OSError, ValueError) as refused:
        raise Unusable(f"{path}: {_reason(refused)}") from None


def _standard_input() -> Source:
    if sys.stdin is None:
        raise Unusable("standard input is closed; name a file instead")
    if sys.stdin.isatty():
        complain("reading from the terminal; Ctrl-D ends the input")
    return Source("standard input", sys.stdin.buffer)


def _reason(refused: OSError | ValueError) -> str:
    match refused:
        case FileNotFoundError():
            return "there is no such file"
        case IsADirectoryError():
            return "is a directory; expected a file"
        case PermissionError():
            return "may not be read (permission denied)"
        case OSError():
            return refused.strerror or str(refused)
    return str(refused)
