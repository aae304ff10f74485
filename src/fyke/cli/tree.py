"""An explanation as a tree with ticks and crosses.

    ✗ and
    ├── ✓ price < 10     price = 8.4
    └── ✗ symbol = 'A'   symbol is missing

What was seen stands in one column, as long as the filter's texts leave room for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from fyke.cli.output import shortened
from fyke.cli.problems import printable
from fyke.cli.reasons import leaves
from fyke.events.value import Scalar, Value
from fyke.filters.explanation import Explanation
from fyke.filters.filter import And, Filter, Not, Or
from fyke.filters.printer import attribute_name, literal

_OPERATORS: Final[dict[type[Filter], str]] = {And: "all of", Or: "any of", Not: "not"}
_TEXT_CELLS_MAX: Final = 200
_VALUE_CELLS_MAX: Final = 60
_VALUE_CELLS_MIN: Final = 30
_LIST_SHOWN_MAX: Final = 8
_GUIDE_CELLS: Final = 4
_GAP: Final = "   "


def show_tree(explanation: Explanation, screen: Console) -> None:
    """Prints the verdict and the tree."""
    drawing = _Drawing(explanation, screen)
    screen.print(drawing.tree(explanation), no_wrap=True, overflow="ellipsis")
    verdict = "accepted" if explanation.holds else "refused"
    screen.print(Text(verdict, style=_style(explanation)))


class _Drawing:
    """Knows what the terminal can show, and where the column of values begins."""

    def __init__(self, explanation: Explanation, screen: Console) -> None:
        self.width = screen.width
        self.is_ascii = screen.options.ascii_only
        self.marks = ("no ", "yes") if self.is_ascii else ("✗", "✓")
        self.column = max(self.ends(explanation, 0))

    def tree(self, node: Explanation, indent: int = 0) -> Tree:
        tree = Tree(self.label(node, indent), guide_style="dim")
        for child in self.branches(node, indent):
            tree.children.append(self.tree(child, indent + _GUIDE_CELLS))
        return tree

    def label(self, node: Explanation, indent: int) -> Text:
        text = self.text(node, indent)
        label = Text().append(f"{self.marks[node.holds]} ", style=_style(node)).append(text)
        if self.branches(node, indent):
            return label
        padding = " " * max(self.column - indent - cell_len(text), 0)
        return label.append(f"{padding}{_GAP}{self.plain(_seen(node))}", style="dim")

    def branches(self, node: Explanation, indent: int) -> tuple[Explanation, ...]:
        """The children, unless the node is one line: `not` of a predicate, or no room for more."""
        if isinstance(node.filter, Not) and not node.children[0].children:
            return ()
        return node.children if indent < self.width // 2 else ()

    def ends(self, node: Explanation, indent: int) -> Iterator[int]:
        """Where the texts of the leaves end, except for the few long ones."""
        branches = self.branches(node, indent)
        if not branches:
            end = indent + cell_len(self.text(node, indent))
            yield end if end <= self.width // 2 else 0
        for child in branches:
            yield from self.ends(child, indent + _GUIDE_CELLS)

    def text(self, node: Explanation, indent: int) -> str:
        operator = _OPERATORS.get(type(node.filter))
        if operator is not None and self.branches(node, indent):
            return operator
        room = max(self.width - indent - _VALUE_CELLS_MIN, _VALUE_CELLS_MIN)
        return shortened(self.plain(str(node.filter)), min(room, _TEXT_CELLS_MAX))

    def plain(self, text: str) -> str:
        text = printable(text)
        return text.encode("ascii", "backslashreplace").decode() if self.is_ascii else text


def _seen(node: Explanation) -> str:
    seen: dict[str, Value] = {}
    absent: dict[str, None] = {}
    for leaf in leaves(node):
        seen.update(leaf.seen)
        absent.update(dict.fromkeys(leaf.absent))
    return ", ".join(
        [
            *(f"{attribute_name(name)} = {_value(value)}" for name, value in seen.items()),
            *(f"{attribute_name(name)} is missing" for name in absent),
        ]
    )


def _value(value: Value) -> str:
    if not isinstance(value, tuple):
        return _scalar(value)
    shown = [_scalar(element) for element in value[:_LIST_SHOWN_MAX]]
    more = len(value) - len(shown)
    return f"[{', '.join(shown)}{f', and {more} more' if more else ''}]"


def _scalar(scalar: Scalar) -> str:
    return shortened(literal(scalar), _VALUE_CELLS_MAX)


def _style(node: Explanation) -> str:
    return "green" if node.holds else "red"
