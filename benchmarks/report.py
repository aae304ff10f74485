"""The report: a table for the terminal, and the same as Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from pathlib import Path

from rich.table import Table
from rich.text import Text

from benchmarks.line import Line

MARKER = "<!-- figures -->"
COLUMNS = ("what", "ours", "reference", "figure", "bar")


def cells(line: Line) -> tuple[str, ...]:
    return line.name, line.ours, line.reference, line.figure, line.promised


def one_line(line: Line) -> Text:
    """A line as it is finished, while others are still measured."""
    told = [line.name + ":", line.figure]
    if line.ours or line.reference:
        told.append(f"({' against '.join(filter(None, (line.ours, line.reference)))})")
    if line.bar is not None:
        told.append(f"bar {line.promised}")
    return Text(" ".join(told), style=_style(line))


def table(lines: Iterable[Line]) -> Table:
    made = Table(*COLUMNS, title="CPU time, one thread, where nothing else is said")
    for line in lines:
        what, *others = cells(line)
        name = Text(what) if not line.note else Text.assemble(what, ("\n" + line.note, "dim"))
        figure = Text(others[2], style=_style(line))
        made.add_row(name, others[0], others[1], figure, others[3])
    return made


def _style(line: Line) -> str:
    if line.bar is None or line.value is None:
        return ""
    return "red" if line.is_missed else "green"


def write(path: Path, lines: Iterable[Line]) -> None:
    """Writes the figures to a file, where lines of an earlier run stay unless they are new.

    Where the file has the marker, what is before it stays.
    """
    text = path.read_text("utf-8") if path.exists() else ""
    before, marker, after = text.partition(MARKER)
    kept = f"{before}{marker}\n\n" if marker else ""
    head = _row((*COLUMNS, "note")) + _row(("---",) * (len(COLUMNS) + 1))
    found = (after if marker else text).splitlines(keepends=True)
    rows = {_name(row): row for row in found if row.startswith("| ") and row not in head}
    rows |= {line.name: _row((*cells(line), line.note)) for line in lines}
    path.write_text(f"{kept}{machine()}.\n\n{head}{''.join(rows.values())}", encoding="utf-8")


def _row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(texts) + " |\n"


def _name(row: str) -> str:
    return row.split(" | ", 1)[0].removeprefix("| ")


def machine() -> str:
    """The processor, its cores and the interpreter."""
    name = platform.processor() or platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        for entry in described.read_text().splitlines():
            if entry.startswith("model name"):
                name = entry.partition(":")[2].strip()
                break
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"
