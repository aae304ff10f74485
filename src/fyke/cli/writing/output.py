"""The output of commands: JSON lines for machines, rich text for people."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console

from fyke.cli.writing.problems import Unusable
from fyke.errors import printable
from fyke.events.json import encode

_WIDTH_MAX: Final = 1_000
"""Columns of what goes to a file or a pipe, so that no line is folded there."""


_NAME_CELLS_MAX: Final = 60


class _StdoutConsole(Console):
    """A console that leaves a broken pipe to `main`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def write_line(document: object) -> None:
    """Write a JSON line to stdout: UTF-8 whatever the locale, and at once, for a pipe to see."""
    if sys.stdout is not None:
        sys.stdout.buffer.write(encode(document).encode() + b"\n")
        sys.stdout.flush()


def write_whole(path: str, content: bytes) -> None:
    """Write a file that appears whole, or not at all."""
    from fyke.durable import write_synced

    staging = Path(path).with_name(f".{Path(path).name}.part")
    try:
        write_synced(staging, content)
        staging.replace(path)
    except (OSError, ValueError) as refused:
        reason = getattr(refused, "strerror", None) or refused
        raise Unusable(f"{path}: cannot be written: {reason}") from None


def write_bytes(line: bytes) -> None:
    """Write a line as it is; `flush_lines` lets a pipe see it."""
    if sys.stdout is not None:
        sys.stdout.buffer.write(line + b"\n")


def flush_lines() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def console() -> Console:
    """Return a console for people: as wide as their terminal; unfolded where there is none."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = None if is_terminal or "COLUMNS" in os.environ else _WIDTH_MAX
    return _StdoutConsole(width=width, highlight=False, soft_wrap=False)


def shortened(text: str, cells: int) -> str:
    """Return the text, cut where it takes more than so many cells."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, max(cells - 1, 1)).rstrip() + "…"


def name(id: str, screen: Console) -> str:
    """Return a subscription's id as text for a column of its own."""
    return shortened(printable(id), min(screen.width // 4, _NAME_CELLS_MAX))


def counted(number: int, thing: str) -> str:
    """Return a number with a noun: `1 finding`, `2,000 findings`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
