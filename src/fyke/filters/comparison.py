"""Compare: two attributes of one event, held against each other.

Some pair of their elements must compare so. Pairs are never enumerated: equality is a common
element, order is the least against the greatest of each kind. Linear in the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from fyke.events.event import Event
from fyke.events.value import ORDERED, Scalar, Value, equal, kind, less, sort_key
from fyke.filters.filter import Test
from fyke.filters.language.notation import attribute_name
from fyke.filters.predicate import Predicate


def _some_equal(lefts: Sequence[Scalar], rights: Sequence[Scalar]) -> bool:
    return not set(map(sort_key, lefts)).isdisjoint(map(sort_key, rights))


def _some_unequal(lefts: Sequence[Scalar], rights: Sequence[Scalar]) -> bool:
    if not lefts or not rights:
        return False
    return len({sort_key(value) for values in (lefts, rights) for value in values}) > 1


def _some_less(lefts: Sequence[Scalar], rights: Sequence[Scalar], or_equal: bool) -> bool:
    """Compare, per ordered kind, the least value on the left with the greatest on the right."""
    for shared in ORDERED:
        least = min((v for v in lefts if kind(v) is shared), default=None)  # type: ignore[type-var]
        most = max((v for v in rights if kind(v) is shared), default=None)  # type: ignore[type-var]
        if least is None or most is None:
            continue
        if less(least, most) or (or_equal and equal(least, most)):
            return True
    return False


COMPARISONS: Final[dict[str, Callable[[Sequence[Scalar], Sequence[Scalar]], bool]]] = {
    "=": _some_equal,
    "!=": _some_unequal,
    "<": lambda lefts, rights: _some_less(lefts, rights, or_equal=False),
    "<=": lambda lefts, rights: _some_less(lefts, rights, or_equal=True),
    ">": lambda lefts, rights: _some_less(rights, lefts, or_equal=False),
    ">=": lambda lefts, rights: _some_less(rights, lefts, or_equal=True),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compare(Predicate):
    """Two attributes, both present: some pair of their elements compares so."""

    attribute: str
    operator: str
    other: str
    is_quoted: bool = False
    """True if `other` was written in double quotes, which may be a slip. Equality ignores it."""

    def key(self) -> tuple[object, ...]:
        return self.attribute, self.operator, self.other

    def _compile(self) -> Test:
        attribute, other, holds = self.attribute, self.other, COMPARISONS[self.operator]

        def some_pair(attributes: dict[str, Value], event: Event) -> bool:
            if attribute not in attributes or other not in attributes:
                return False
            left, right = attributes[attribute], attributes[other]
            lefts = left if isinstance(left, tuple) else (left,)
            rights = right if isinstance(right, tuple) else (right,)
            return holds(lefts, rights)

        return some_pair

    def __str__(self) -> str:
        return f"{attribute_name(self.attribute)} {self.operator} {attribute_name(self.other)}"
