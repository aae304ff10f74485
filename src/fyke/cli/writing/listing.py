"""Rows in columns, for people: no borders, no trailing blanks, the last column cut to the width."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

_GAP: Final = "  "
_LAST_CELLS_MIN: Final = 20
_LAST_CELLS_MAX: Final = 200
_NOTE_CELLS_MAX: Final = 120


def show_rows(screen: Console, rows: Iterable[Sequence[Text]], right: Collection[int] = ()) -> None:
    """Print the rows; the columns numbered in `right` are flush right."""
    table = list(rows)
    widths = [max(cell.cell_len for cell in column) for column in zip(*table, strict=True)]
    room = screen.width - sum(width + len(_GAP) for width in widths[:-1])
    widths[-1:] = [max(_LAST_CELLS_MIN, min(room, _LAST_CELLS_MAX))]
    for row in table:
        cells = [_fitted(cell, widths[i], i in right) for i, cell in enumerate(row)]
        line = Text(_GAP).join(cells)
        line.rstrip()
        screen.print(line, soft_wrap=True)


def show_notes(screen: Console, notes: Iterable[tuple[str, Text]]) -> None:
    """Print labels, each with a text of any length that is folded beside it."""
    table = list(notes)
    indent = max(cell_len(label) for label, _ in table) + len(_GAP)
    width = min(screen.width - indent, _NOTE_CELLS_MAX)
    for label, text in table:
        for row, part in enumerate(text.wrap(screen, width)):
            part.rstrip()
            screen.print(Text(set_cell_size("" if row else label, indent)) + part, soft_wrap=True)


def heading(*names: str) -> list[Text]:
    """Return the first row of a table."""
    return [Text(name, "bold") for name in names]


def _fitted(cell: Text, width: int, is_right: bool) -> Text:
    cell = cell.copy()
    if is_right:
        cell.pad_left(width - cell.cell_len)
        return cell
    cell.truncate(width, overflow="ellipsis", pad=True)
    return cell
