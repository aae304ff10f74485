"""Faults that a tired engineer makes in the structure, each of which the law finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from fyke.filters.algebra.intervals import complement
from fyke.filters.algebra.value_set import ValueSet
from fyke.summaries import budget, constraints, joining, merging, rows, search
from fyke.summaries.constraints import Constraint
from fyke.summaries.encoding import SummaryError
from fyke.summaries.line import Line
from fyke.summaries.summary import MODES, Summary
from fyke.testing import related

Patch = Callable[[pytest.MonkeyPatch], None]


def bounds_are_intersected_without_a_schema(patch: pytest.MonkeyPatch) -> None:
    both = constraints._both
    patch.setattr(constraints, "_both", lambda some, is_single: both(some, True))


def unequal_is_two_ranges(patch: pytest.MonkeyPatch) -> None:
    made = constraints.of_leaf

    def of_leaf(leaf: Any) -> Constraint | None:
        found = made(leaf)
        if found is not None and type(leaf).__name__ == "NotIn":
            return Constraint(ValueSet(numbers=found.values.numbers or complement(())))
        return found

    patch.setattr(constraints, "of_leaf", of_leaf)


def a_range_hides_equalities(patch: pytest.MonkeyPatch) -> None:
    find = Line.find
    patch.setattr(Line, "find", lambda line, value: list(find(line, value))[:1])


def ends_are_open(patch: pytest.MonkeyPatch) -> None:
    find = Line.find

    def opened(line: Line, value: Any) -> list[int]:
        found = list(find(line, value))
        if value not in line.values:
            return found
        end = 2 * line.values.index(value) + 1
        return [row for row in found if line.is_point[row] or line.highs[row] != end]

    patch.setattr(Line, "find", opened)


def lists_are_counted(patch: pytest.MonkeyPatch) -> None:
    find = search.Search._find

    def counted(self: search.Search, event: Any) -> Any:
        boxes = find(self, event)
        several = [at for at in boxes.tolist() if len(self.satisfied(event)) > self._widths[at]]
        return boxes[~np.isin(boxes, several)]

    patch.setattr(search.Search, "_find", counted)


def rounding_goes_inward(patch: pytest.MonkeyPatch) -> None:
    ends = budget._Axis._ends

    def inward(self: Any, which: int, line: Line, kept: int) -> Any:
        lows, highs = ends(self, which, line, kept)
        return np.minimum(np.maximum(lows, line.lows + (lows < line.lows)), highs - 1), highs

    patch.setattr(budget._Axis, "_ends", inward)


def a_dropped_axis_is_never_met(patch: pytest.MonkeyPatch) -> None:
    made = budget._Plan.made

    def without(self: Any) -> Any:
        table = made(self)
        narrow = [axis for axis in self._axes if axis.rows is None]
        return table.with_members(table.members[1:]) if narrow else table

    patch.setattr(budget._Plan, "made", without)


def missing_is_unequal_to_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        constraints,
        "negation_normal_form",
        lambda filter: filter.children[0] if type(filter).__name__ == "Not" else filter,
    )


def covered_patterns_go_to_any_row(patch: pytest.MonkeyPatch) -> None:
    placed = joining._place
    patch.setattr(joining, "_place", lambda places, coarse: placed(places[::-1], coarse))


def case_is_not_ignored(patch: pytest.MonkeyPatch) -> None:
    key_of = rows.key_of
    patch.setattr(rows, "key_of", lambda each: ("like", key_of(each)[1].replace("ilike", "like")))


def a_merged_box_takes_the_first_ones_members(patch: pytest.MonkeyPatch) -> None:
    concat = merging.concat

    def first(tables: Any) -> Any:
        whole = concat(tables)
        _, at = np.unique(whole.members[:, 0], return_index=True)
        return whole.with_members(whole.members[at])

    patch.setattr(merging, "concat", first)


FAULTS = [
    bounds_are_intersected_without_a_schema,
    unequal_is_two_ranges,
    a_range_hides_equalities,
    ends_are_open,
    lists_are_counted,
    rounding_goes_inward,
    a_dropped_axis_is_never_met,
    missing_is_unequal_to_nothing,
    covered_patterns_go_to_any_row,
    case_is_not_ignored,
    a_merged_box_takes_the_first_ones_members,
]


def find_lost(seeds: range) -> int | None:
    """Return the first seed by which a summary loses an event. A crash is not a find."""
    for seed in seeds:
        rng = Random(seed)
        filters = related.family(rng, rng.randint(1, 6), rng.randint(1, 4))
        pairs = [(f"s{at}", each) for at, each in enumerate(filters)]
        if _loses(rng, pairs, related.events_about(rng, filters, 20)):
            return seed
    return None


def _loses(rng: Random, pairs: Any, events: Any) -> bool:
    mode = rng.choice(MODES)
    half = len(pairs) // 2
    made = [
        Summary.of(pairs, mode),
        Summary.of(pairs[:half], mode) | Summary.of(pairs[half:], mode),
    ]
    whole = Summary.of(pairs, "exact")
    for part in (0.9, 0.7):
        try:
            made.append(Summary.of(pairs, budget=int(whole.size * part)))
        except SummaryError:
            break
    return any(
        filter.matches(event) and id not in each.match(event)
        for each in made
        for event in events
        for id, filter in pairs
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    assert find_lost(range(400)) is not None


def test_without_a_fault_nothing_is_lost() -> None:
    assert find_lost(range(40)) is None
    assert replace(Constraint(), lists=True).lists
