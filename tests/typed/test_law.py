"""The law: a filter that is read from a closure is never too narrow. And the check of it bites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fyke.events.value import admit
from fyke.filters.filter import negation
from fyke.filters.predicate import In, Range
from fyke.typed.closures import calling, expressions, truth
from fyke.typed.closures.statements import Statements as Frame
from fyke.typed.closures.truth import NEVER, Read, Truth, all_of
from tests.typed import drawn

Seeds = Callable[[int], Iterator[int]]


def test_a_derived_filter_is_never_too_narrow(seeds: Seeds, tmp_path: Path) -> None:
    reached: Counter[str] = Counter()
    for seed in seeds(6):
        reached += drawn.check_law(Random(seed), 150, tmp_path, 50)
    assert reached["accepted"] > 0.1 * reached["tried"]
    assert reached["refused"] > 0.15 * reached["tried"]
    assert reached["in doubt"] > 0


@pytest.mark.long
def test_a_hundred_thousand_closures(seeds: Seeds, tmp_path: Path) -> None:
    for seed in seeds(200):
        drawn.check_law(Random(seed), 500, tmp_path)


# --- faults of a tired engineer -------------------------------------------------------------------


def _complementary(read: Read, sign: str, value: Any) -> Truth:
    """A negated comparison becomes the opposite one."""
    signs = {"<": (None, value, False, True), "<=": (None, value, False, False)}
    signs |= {">": (value, None, True, False), ">=": (value, None, False, False)}
    opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[sign]
    return Truth(Range(read.name, *signs[sign]), Range(read.name, *signs[opposite]))


def _lists_too(read: Read, values: tuple[Any, ...]) -> Truth:
    leaf = In(read.name, tuple(map(admit, values)))
    return Truth(leaf, negation(leaf))


def _by_order(read: Read, value: Any, holds: Any) -> Truth:
    return truth._range(read, "<", value) if type(value) is str else truth.UNKNOWN


def _last_wins(one: Any, other: Any) -> Any:
    return one


def _silent(self: Frame, node: Any, path: Any, reason: str) -> Truth:
    self.notes.note(node, reason)
    return truth.UNKNOWN


def _as_and(self: Frame, is_and: bool, values: Any, path: Any) -> Truth:
    return all_of(*(self.truth(value, path) for value in values))


def _exact(read: Read, value: Any) -> Any:
    return (admit(int(value) if type(value) is bool else value),) * 2


FAULTS: dict[str, tuple[Any, str, Any]] = {
    "True is not 1": (truth, "_equal_number", lambda read, value: _lists_too(read, (value,))),
    "True is not below 10": (
        *(truth, "_ordered_number"),
        lambda read, sign, value: truth._range(read, sign, admit(value)),
    ),
    "not < is >=": (truth, "_range", _complementary),
    "decimals are floats": (truth, "_nearby", _exact),
    "[3] != 3 looks at elements": (truth, "_member", _lists_too),
    "None is never there": (truth, "is_none", lambda read: NEVER),
    "None is null": (
        *(truth, "is_none"),
        lambda read: Truth(In(read.name, (None,)), negation(In(read.name, (None,)))),
    ),
    "case keeps lengths": (truth, "_UNSAFE", {}),
    "text goes by the order of members": (truth, "_ordered_members", _by_order),
    "zero is true": (truth, "truthy", lambda read: Truth(truth.TRUE, truth.FALSE)),
    "calls have no effect": (Frame, "effect", _silent),
    "a walrus always runs": (expressions, "join", _last_wins),
    "or is and": (Frame, "connect", _as_and),
    "x+ begins with x": (calling, "literal_prefix", lambda pattern: str(pattern).strip("^$")),
    "doubts are forgotten": (drawn, "doubts_of", lambda event: set()),
    "identity of None": (Frame, "identical", lambda self, one, other, node, path: NEVER),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(
    fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    owner, name, wrong = FAULTS[fault]
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(AssertionError, match="lost"):
        for seed in range(60):
            drawn.check_law(Random(seed), 100, tmp_path, 40)
