"""SpanTree: which of many spans contain a value, while spans come and go.

Idea. Each node has a center, a cut (`filters.intervals`) that all spans stored at the node contain;
spans that end before it go left, spans that start behind it go right. A search goes down one path.
Left of a center, the spans of the node that start early enough contain the value; right of it,
those that end late enough. Both are a slice of a sorted array.
Example. [1, 5], (3, 9] and [7, 8] around a center just behind 3: the first two are here, the third
is on the right. The value 8 lies right of the center: of those here, (3, 9] ends late enough; on
the right, [7, 8] contains it.
Invariant. low <= center < high for the spans of a node, as cuts; so open and closed ends, and ends
at infinity, need no cases. No child holds many more than BALANCE of the spans of its parent.
Cost. A search takes O(log n) bisections and the length of the answer. An update goes down one
path and shifts two arrays of words; a subtree that gets out of balance is built anew, which costs
O(log^2 n) an update, amortised.
Source. The centered interval tree of H. Edelsbrunner (1980), kept in balance as a scapegoat tree
keeps itself.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final, TypeAlias

from fyke.filters.algebra.intervals import Cut, Span

BALANCE: Final = 0.8
_SLACK: Final = 2
"""Small trees may lean as they like."""

_Entry: TypeAlias = tuple[Cut, int, Cut]
"""Low cut, number, high cut: in this order entries sort as a node stores them."""


class SpanTree:
    """Numbered spans. A number stands for at most one span at a time."""

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root: _Node | None = None

    def __len__(self) -> int:
        return _size(self._root)

    def add(self, span: Span, number: int) -> None:
        """Add a span. An empty one contains nothing and is not kept."""
        if span[0] < span[1]:
            self._root = _add(self._root, (span[0], number, span[1]))

    def remove(self, span: Span, number: int) -> None:
        """Remove a span that was added under this number."""
        if span[0] < span[1] and self._root is not None:
            self._root = _remove(self._root, (span[0], number, span[1]))

    def containing(self, cut: Cut) -> list[int]:
        """Return the numbers of the spans that contain the value just behind the cut, each once."""
        found: list[int] = []
        node = self._root
        while node is not None:
            if cut < node.center:
                found += node.lows.until(cut)
                node = node.left
            else:
                found += node.highs.behind(cut)
                node = node.right
        return found


class _Ends:
    """Cuts in ascending order with their numbers, which ascend where cuts are equal."""

    __slots__ = ("cuts", "numbers")

    def __init__(self, pairs: list[tuple[Cut, int]]) -> None:
        self.cuts = [cut for cut, _ in pairs]
        self.numbers = [number for _, number in pairs]

    def until(self, cut: Cut) -> list[int]:
        return self.numbers[: bisect_right(self.cuts, cut)]

    def behind(self, cut: Cut) -> list[int]:
        return self.numbers[bisect_right(self.cuts, cut) :]

    def insert(self, cut: Cut, number: int) -> None:
        at = self._place(cut, number)
        self.cuts.insert(at, cut)
        self.numbers.insert(at, number)

    def delete(self, cut: Cut, number: int) -> None:
        at = self._place(cut, number)
        del self.cuts[at], self.numbers[at]

    def _place(self, cut: Cut, number: int) -> int:
        first = bisect_left(self.cuts, cut)
        return bisect_left(self.numbers, number, first, bisect_right(self.cuts, cut, first))


def _low(entry: _Entry) -> Cut:
    return entry[0]


class _Node:
    __slots__ = ("center", "highs", "left", "lows", "right", "size")

    def __init__(self, entries: list[_Entry]) -> None:
        """Build a balanced subtree of sorted entries: at most half of them lie on either side."""
        self.center = center = entries[len(entries) // 2][0]
        self.size = len(entries)
        begun = entries[: bisect_right(entries, center, key=_low)]
        here = [each for each in begun if center < each[2]]
        self.lows = _Ends([(low, number) for low, number, _ in here])
        self.highs = _Ends(sorted((high, number) for _, number, high in here))
        self.left = _built([each for each in begun if each[2] <= center])
        self.right = _built(entries[len(begun) :])

    def entries(self) -> list[_Entry]:
        high = dict(zip(self.highs.numbers, self.highs.cuts, strict=True))
        here = zip(self.lows.cuts, self.lows.numbers, strict=True)
        return [
            *(self.left.entries() if self.left else ()),
            *((low, number, high[number]) for low, number in here),
            *(self.right.entries() if self.right else ()),
        ]

    @property
    def leans(self) -> bool:
        return max(_size(self.left), _size(self.right)) > BALANCE * self.size + _SLACK


def _size(node: _Node | None) -> int:
    return 0 if node is None else node.size


def _built(entries: list[_Entry]) -> _Node | None:
    return _Node(entries) if entries else None


def _rebalance(node: _Node) -> _Node:
    return _Node(sorted(node.entries())) if node.leans else node


def _add(node: _Node | None, entry: _Entry) -> _Node:
    if node is None:
        return _Node([entry])
    low, number, high = entry
    node.size += 1
    if high <= node.center:
        node.left = _add(node.left, entry)
    elif low > node.center:
        node.right = _add(node.right, entry)
    else:
        node.lows.insert(low, number)
        node.highs.insert(high, number)
    return _rebalance(node)


def _remove(node: _Node, entry: _Entry) -> _Node | None:
    low, number, high = entry
    node.size -= 1
    if not node.size:
        return None
    if high <= node.center and node.left is not None:
        node.left = _remove(node.left, entry)
    elif low > node.center and node.right is not None:
        node.right = _remove(node.right, entry)
    else:
        node.lows.delete(low, number)
        node.highs.delete(high, number)
    return _rebalance(node)
