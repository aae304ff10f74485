"""Compiled lambdas: a Python expression per subscription, called one after the other.

The text that is evaluated is made here, from generated filters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fyke.workloads.conjunctive import ConjunctiveWorkload
from fyke.workloads.predicates import NONE

_AT_ONCE = 1_000

Test = Callable[[Mapping[str, object]], bool]


class Lambdas:
    """A list of pairs (number, lambda)."""

    def __init__(self, workload: ConjunctiveWorkload, count: int) -> None:
        written = list(_expressions(workload, count))
        self._tests: list[tuple[int, Test]] = []
        for first in range(0, count, _AT_ONCE):
            text = ",".join(f"lambda e:{each}" for each in written[first : first + _AT_ONCE])
            self._tests += enumerate(eval(f"[{text}]"), first)

    def match(self, event: Mapping[str, object]) -> list[int]:
        return [number for number, accepts in self._tests if accepts(event)]


def _expressions(workload: ConjunctiveWorkload, count: int) -> Iterator[str]:
    filters = workload.conjunctions(count)
    matrices = filters.attribute.tolist(), filters.low.tolist(), filters.high.tolist()
    for row in zip(*matrices, strict=True):
        predicates = (each for each in zip(*row, strict=True) if each[0] != NONE)
        yield " and ".join(_expression(workload, *each) for each in predicates)


def _expression(workload: ConjunctiveWorkload, at: int, low: int, high: int) -> str:
    attribute = workload.attributes[at]
    if attribute.is_word:
        return f"e[{attribute.name!r}] == {attribute.value(low)!r}"
    return f"{attribute.value(low)} <= e[{attribute.name!r}] <= {attribute.value(high)}"
