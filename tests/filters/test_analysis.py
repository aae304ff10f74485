"""What the static analysis finds, and that it is right."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.analysis import Problem, analyse, canonical_form, estimated_cost
from fyke.filters.filter import Filter
from fyke.filters.necessary import necessary
from fyke.filters.subscription import Subscription
from fyke.testing.generators import events, filters, predicates

close = filters(predicates(st.sampled_from(["a", "b"])), max_leaves=4)


def subscriptions(*texts: str) -> list[Subscription]:
    return [Subscription(f"s{number}", fyke.parse(text)) for number, text in enumerate(texts)]


def found(*texts: str) -> dict[str, tuple[str, str | None]]:
    analysis = analyse(subscriptions(*texts))
    return {each.subscription: (each.problem, each.other) for each in analysis.findings}


def test_findings() -> None:
    assert found(
        "a = 1",
        "a = 1 and b = 2",
        "b = 2 and a = 1",
        "a between 7 and 5",
        "c = 1 or not c = 1",
        "not c = 1",
        "d < 5",
        "d != 3 and d < 9",
        "e = 'x'",
        "e starts with 'x'",
    ) == {
        "s1": (Problem.SUBSUMED, "s0"),
        "s2": (Problem.DUPLICATE, "s1"),
        "s3": (Problem.NEVER_TRUE, None),
        "s4": (Problem.ALWAYS_TRUE, None),
        "s5": (Problem.UNGUARDED, None),
        "s8": (Problem.SUBSUMED, "s9"),
    }


def test_of_equivalent_filters_the_first_stays() -> None:
    assert found("a = 1 and (b = 1 or b = 2)", "(a = 1 and b = 1) or (a = 1 and b = 2)") == {
        "s1": (Problem.DUPLICATE, "s0")
    }


@given(st.lists(close, max_size=8), st.lists(events(), min_size=1, max_size=8))
def test_findings_are_true(taken: list[Filter], seen: list[Event]) -> None:
    named = {f"s{number}": filter for number, filter in enumerate(taken)}
    analysis = analyse(Subscription(id, filter) for id, filter in named.items())
    for finding in analysis.findings:
        ours = [named[finding.subscription].matches(event) for event in seen]
        match finding.problem:
            case Problem.NEVER_TRUE:
                assert not any(ours)
            case Problem.ALWAYS_TRUE:
                assert all(ours)
            case Problem.DUPLICATE | Problem.SUBSUMED:
                theirs = [named[str(finding.other)].matches(event) for event in seen]
                assert all(t or not o for o, t in zip(ours, theirs, strict=True))
                if finding.problem is Problem.DUPLICATE:
                    assert ours == theirs


@given(close, st.lists(events(), min_size=1, max_size=8))
def test_necessary_predicates_are_necessary(filter: Filter, seen: list[Event]) -> None:
    for need in necessary(filter):
        for event in seen:
            if filter.matches(event):
                assert any(leaf.matches(event) for leaf in need.alternatives)


def test_canonical_form_forgets_order_and_repetition() -> None:
    one = fyke.parse("a = 1 and (b = 2 or c = 3) and a = 1")
    other = fyke.parse("(c = 3 or b = 2) and a = 1")
    assert canonical_form(one) == canonical_form(other)


def test_cost_ranks_residuals_and_unguarded_filters_last() -> None:
    ranked = ["exists a", "a = 1", "a like 'x%y'", "a matches 'x'", "not a = 1"]
    costs = [estimated_cost(fyke.parse(text)) for text in ranked]
    assert costs == sorted(costs)


def test_thousands_of_subscriptions_take_seconds_and_the_bound_is_told() -> None:
    many = [
        Subscription(str(i), fyke.parse(f"symbol = 'S{i % 500}' and price < {i % 977}"))
        for i in range(4_000)
    ]
    started = time.process_time()
    analysis = analyse(many)
    assert time.process_time() - started < 60
    assert analysis.is_complete
    assert len(analysis.findings) > 3_000
    assert not analyse(many[:2000], covering_tests_max=10).is_complete
