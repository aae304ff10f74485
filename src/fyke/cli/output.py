"""What the commands write: JSON lines for machines, rich text for people."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console

from fyke.cli.problems import Unusable, printable
from fyke.events.json import encode

_WIDTH_MAX: Final = 1_000
"""Columns of what goes to a file or a pipe, so that no line is folded there."""


_NAME_CELLS_MAX: Final = 60


class _StdoutConsole(Console):
    """A console that leaves a broken pipe to `main`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def write_line(document: object) -> None:
    """One JSON line to stdout: UTF-8 whatever the locale, and at once, so that a pipe sees it."""
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
    """A line as it is; `flush_lines` lets a pipe see it."""
    if sys.stdout is not None:
        sys.stdout.buffer.write(line + b"\n")


def flush_lines() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def console() -> Console:
    """For people: as wide as their terminal; unfolded where there is none."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = None if is_terminal or "COLUMNS" in os.environ else _WIDTH_MAX
    return _StdoutConsole(width=width, highlight=False, soft_wrap=False)


def shortened(text: str, cells: int) -> str:
    """The text in at most so many cells."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, max(cells - 1, 1)).rstrip() + "…"


def name(id: str, screen: Console) -> str:
    """A subscription's id, in a column of its own."""
    return shortened(printable(id), min(screen.width // 4, _NAME_CELLS_MAX))


def counted(number: int, thing: str) -> str:
    """`1 finding`, `2,000 findings`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
