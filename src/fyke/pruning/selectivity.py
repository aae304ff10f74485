"""Selectivity: which share of the events a tree accepts, as three numbers (PRU-14 to PRU-16).

    least    however its parts depend on each other, at least so many events
    likely   so many, if its parts do not depend on each other
    most     however they depend on each other, at most so many

Idea. Both operators are folds over their children. A leaf says its own share three times, then

    and      least: sum - (n - 1), not below 0     likely: product          most: the least
    or       least: the greatest                   likely: 1 - product      most: sum, up to 1
                                                           of (1 - share)
The printed formula of the paper has min(0, ...) for the conjunction; its own figure needs max (Q1).
Example. new .2, price < 15 .93, used .8, price < 10 .9: `(new and price < 15) or (used and price <
10)` has (0.7, 0.77, 1.0), which is the node H of figure 5.
Invariant. least <= share <= most for any events that the leaves' shares were counted on (PRU-17).
Fold. What all children but one make together is a prefix joined with a suffix, so the share of a
tree without each of its children in turn costs as much as the share of the tree (`all_but_one`).
Numbers may be floats or arrays of them; an `Arithmetic` says how the lesser of two is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Triple: TypeAlias = tuple[Any, Any, Any]
"""Least, likely and most; floats, or arrays with an element per subscription."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The functions for the lesser and the greater of two numbers, and for rounding."""

    lesser: Callable[[Any, Any], Any]
    greater: Callable[[Any, Any], Any]
    rounded: Callable[[Any], Any]


SCALAR: Final = Arithmetic(min, max, round)


@dataclass(frozen=True, slots=True)
class Fold:
    """An operator's way from the shares of its children to its own."""

    arithmetic: Arithmetic
    is_and: bool

    def part(self, share: Triple) -> Triple:
        """Return a child's share in the form that is joined."""
        return share if self.is_and else (share[0], 1.0 - share[1], share[2])

    def join(self, left: Triple, right: Triple) -> Triple:
        """Join the parts of some children with those of others."""
        lesser, greater = self.arithmetic.lesser, self.arithmetic.greater
        if self.is_and:
            return left[0] + right[0], left[1] * right[1], lesser(left[2], right[2])
        return greater(left[0], right[0]), left[1] * right[1], left[2] + right[2]

    def share(self, joined: Triple, children: int) -> Triple:
        """Return the operator's share, from what so many children make together."""
        if self.is_and:
            least = joined[0] - (children - 1)
            return self.arithmetic.greater(least, 0.0), joined[1], joined[2]
        return joined[0], 1.0 - joined[1], self.arithmetic.lesser(joined[2], 1.0)

    def all(self, parts: Sequence[Triple]) -> Triple:
        """Join at least one part."""
        joined = parts[0]
        for part in parts[1:]:
            joined = self.join(joined, part)
        return joined

    def all_but_one(self, parts: Sequence[Triple]) -> list[Triple]:
        """Return for each of at least two parts what the others make together."""
        after = list(parts)
        for at in range(len(parts) - 2, 0, -1):
            after[at] = self.join(parts[at], after[at + 1])
        found = [after[1]]
        before = parts[0]
        for at in range(1, len(parts) - 1):
            found.append(self.join(before, after[at + 1]))
            before = self.join(before, parts[at])
        return [*found, before]
