"""Conditions that make no difference on a sample: which, of which subscriptions, and why."""

from __future__ import annotations

from fyke.matching.matcher import Matcher
from fyke.pruning import prune
from fyke.pruning.conditions import Difference, Idle, idle_conditions

EVENTS = [{"a": number % 2, "b": number % 3, "c": 1} for number in range(12)]


def found(**filters: str) -> dict[str, tuple[Difference, tuple[str, ...]]]:
    matcher = Matcher("scan")
    matcher.add_many(filters.items())
    idle: list[Idle] = idle_conditions(matcher, EVENTS)
    return {str(each.condition): (each.difference, each.subscriptions) for each in idle}


def test_conditions_that_never_hold_always_hold_and_never_decide():
    assert found(
        one="a = 1 and gone = 3", two="gone = 3 and c = 1", three="b = 1 and b < 2 and a = 0"
    ) == {
        "gone = 3": (Difference.NEVER_HOLDS, ("one", "two")),
        "c = 1": (Difference.ALWAYS_HOLDS, ("two",)),
        "b < 2": (Difference.NEVER_DECIDES, ("three",)),
    }
    assert found(whole="a = 1", either="a = 1 or b = 2") == {}, "only children of an And"


def test_what_a_dialect_adds_of_its_own_is_nobodys_condition():
    kinds = "x >= -1.7976931348623157e+308 or x >= timestamp '0001-01-01T00:00:00Z'"
    assert found(rule=f"a = 1 and ({kinds})") == {}
    assert found(rule="a = 1 and x >= -5") == {"x >= -5": (Difference.NEVER_HOLDS, ("rule",))}


def test_the_bend_is_by_matches_where_every_event_matches_already():
    matcher = Matcher("scan")
    matcher.add("all", "c = 1")
    matcher.add("rare", "a = 1 and b = 2 and a < 2")
    plan = prune(matcher, EVENTS)
    assert set(plan.curve.fraction) == {1.0}
    assert plan.curve.bend() == plan.curve.bend("matches") == 1
    assert str(plan.at_bend().filter("rare")) == "a = 1 and b = 2"
