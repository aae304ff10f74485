"""Drawing: an explanation as lines of text, a tree with ticks and crosses.

    ✗ all of
    ├── ✓ price < 10     price = 8.4
    └── ✗ symbol = 'A'   symbol is missing
    refused

What was seen stands in one column, as long as the texts of the filter leave room for it. `str` of
an explanation and of near misses, and the command line, which adds colours, all draw by this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from fyke.errors import printable
from fyke.events.value import Scalar, Value
from fyke.filters.filter import And, Filter, Not, Or
from fyke.filters.language.notation import attribute_name, literal

if TYPE_CHECKING:
    from fyke.filters.explanation import Explanation

WIDTH: Final = 120
"""Columns of a drawing that does not know its terminal."""
_OPERATORS: Final[dict[type[Filter], str]] = {And: "all of", Or: "any of", Not: "not"}
_TEXT_CELLS_MAX: Final = 200
_VALUE_CELLS_MAX: Final = 60
_VALUE_CELLS_MIN: Final = 30
_LIST_SHOWN_MAX: Final = 8
_GUIDE_CELLS: Final = 4
_GUIDES: Final = ("├── ", "└── ", "│   ", "    ")
_ASCII_GUIDES: Final = ("+-- ", "`-- ", "|   ", "    ")
_GAP: Final = "   "

Cells: TypeAlias = Callable[[str], int]


class DrawnLine(NamedTuple):
    """A line of a drawing, in the parts that may have a colour each."""

    guide: str
    mark: str
    text: str
    seen: str
    holds: bool

    def __str__(self) -> str:
        return f"{self.guide}{self.mark}{self.text}{self.seen}".rstrip()


def drawn(explanation: Explanation) -> str:
    """Return the tree and the verdict as text."""
    return "\n".join([*map(str, tree_lines(explanation)), verdict(explanation)])


def verdict(explanation: Explanation) -> str:
    """Return the verdict of the whole filter."""
    return "accepted" if explanation.holds else "refused"


def tree_lines(
    explanation: Explanation, width: int = WIDTH, *, is_ascii: bool = False, cells: Cells = len
) -> Iterator[DrawnLine]:
    """Yield the lines of the tree; `cells` says how many columns of a terminal a text takes."""
    return _Drawing(explanation, width, is_ascii, cells).lines(explanation)


def columns(rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows as a table of text, without borders."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        _GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in table
    )
    return "\n".join(map(str.rstrip, lines))


def seen_in(leaves: Iterable[Explanation]) -> str:
    """Return the values that leaves saw in the event: `price = 8.4, symbol is missing`."""
    seen: dict[str, Value] = {}
    absent: dict[str, None] = {}
    for leaf in leaves:
        seen.update(leaf.seen)
        absent.update(dict.fromkeys(leaf.absent))
    return ", ".join(
        [
            *(f"{attribute_name(name)} = {_value(value)}" for name, value in seen.items()),
            *(f"{attribute_name(name)} is missing" for name in absent),
        ]
    )


def shortened(text: str, room: int, cells: Cells = len) -> str:
    """Return the text, cut where it would take more columns than there are."""
    if cells(text) <= room:
        return text
    cut = text[: max(room - 1, 1)]
    while cells(cut) > max(room - 1, 1) and len(cut) > 1:
        cut = cut[:-1]
    return cut.rstrip() + "…"


class _Drawing:
    """Knows what the terminal can show, and where the column of values begins."""

    def __init__(self, explanation: Explanation, width: int, is_ascii: bool, cells: Cells) -> None:
        self.width = width
        self.cells = cells
        self.is_ascii = is_ascii
        self.marks = ("no ", "yes") if is_ascii else ("✗", "✓")
        self.guides = _ASCII_GUIDES if is_ascii else _GUIDES
        self.column = max(self.ends(explanation, 0))

    def lines(self, node: Explanation, guide: str = "", below: str = "") -> Iterator[DrawnLine]:
        """Yield the lines of a node; `below` is the guide of what stands under it."""
        text, branches = self.text(node, len(below)), self.branches(node, len(below))
        seen = ""
        if not branches:
            padding = " " * max(self.column - len(below) - self.cells(text), 0)
            seen = f"{padding}{_GAP}{self.plain(seen_in(node.leaves()))}"
        yield DrawnLine(guide, f"{self.marks[node.holds]} ", text, seen, node.holds)
        tee, corner, line, blank = self.guides
        for child in branches:
            is_last = child is branches[-1]
            before, after = (corner, blank) if is_last else (tee, line)
            yield from self.lines(child, below + before, below + after)

    def branches(self, node: Explanation, indent: int) -> tuple[Explanation, ...]:
        """Return the children; empty if the node is one line (`not` of a predicate, or no room)."""
        if isinstance(node.filter, Not) and not node.children[0].children:
            return ()
        return node.children if indent < self.width // 2 else ()

    def ends(self, node: Explanation, indent: int) -> Iterator[int]:
        """Yield the columns in which the texts of the leaves end, except for the few long ones."""
        branches = self.branches(node, indent)
        if not branches:
            end = indent + self.cells(self.text(node, indent))
            yield end if end <= self.width // 2 else 0
        for child in branches:
            yield from self.ends(child, indent + _GUIDE_CELLS)

    def text(self, node: Explanation, indent: int) -> str:
        operator = _OPERATORS.get(type(node.filter))
        if operator is not None and self.branches(node, indent):
            return operator
        room = max(self.width - indent - _VALUE_CELLS_MIN, _VALUE_CELLS_MIN)
        return shortened(self.plain(str(node.filter)), min(room, _TEXT_CELLS_MAX), self.cells)

    def plain(self, text: str) -> str:
        text = printable(text)
        return text.encode("ascii", "backslashreplace").decode() if self.is_ascii else text


def _value(value: Value) -> str:
    if not isinstance(value, tuple):
        return _scalar(value)
    shown = [_scalar(element) for element in value[:_LIST_SHOWN_MAX]]
    more = len(value) - len(shown)
    return f"[{', '.join(shown)}{f', and {more} more' if more else ''}]"


def _scalar(scalar: Scalar) -> str:
    return shortened(literal(scalar), _VALUE_CELLS_MAX)
