"""An explanation with colours, as wide as the terminal (`filters.drawing` has the drawing)."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from fyke.filters.drawing import DrawnLine, tree_lines, verdict
from fyke.filters.explanation import Explanation


def show_tree(explanation: Explanation, screen: Console) -> None:
    """Print the tree and the verdict."""
    is_ascii = screen.options.ascii_only
    for line in tree_lines(explanation, screen.width, is_ascii=is_ascii, cells=cell_len):
        screen.print(_coloured(line), no_wrap=True, overflow="ellipsis")
    screen.print(Text(verdict(explanation), style=_style(explanation.holds)))


def _coloured(line: DrawnLine) -> Text:
    text = Text().append(line.guide, style="dim").append(line.mark, style=_style(line.holds))
    text = text.append(line.text).append(line.seen, style="dim")
    text.rstrip()
    return text


def _style(holds: bool) -> str:
    return "green" if holds else "red"
