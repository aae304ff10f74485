"""Signs of life on stderr, only while someone watches it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TextIO, TypeVar

from fyke.cli.reading.inputs import Source

_Thing = TypeVar("_Thing")

WATCHED_BYTES_MIN: Final = 4 * 1024 * 1024
"""Smaller files are done before a bar could be read."""


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Show a bar while a large file is read and what comes out goes to another file."""
    size = source.size()
    if size is None or size < WATCHED_BYTES_MIN or not is_watched() or _is_shown(sys.stdout):
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, redirect_stdout=False) as bar:
        source.stream = bar.wrap_file(source.stream, total=size, description="matching")
        yield


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner while something takes a while."""
    if not is_watched():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def counting(things: Sequence[_Thing], what: str) -> Iterator[_Thing]:
    """Yield the things themselves, and show a bar."""
    if not is_watched():
        yield from things
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        yield from bar.track(things, description=what)


def is_watched() -> bool:
    """Return True if someone looks at stderr."""
    return _is_terminal(sys.stderr)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _is_shown(stream: TextIO | None) -> bool:
    """Return True if a stream goes to a terminal, or into a pipe that may end at the same one."""
    if stream is None:
        return False
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except OSError:
        return True
    return stream.isatty() or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
