"""What the static analysis finds, and that it is right."""

from __future__ import annotations

import time
from random import Random

from hypothesis import given

import fyke
from fyke.events.domain import Integer, String
from fyke.events.event import Event
from fyke.events.schema import Attribute, EventType, Schema
from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.necessary import necessary
from fyke.filters.algebra.subsumption import spoken_of
from fyke.filters.analysis import Problem, analyse, canonical_form, estimated_cost
from fyke.filters.filter import FALSE, Filter, Or, disjunction
from fyke.filters.subscription import Subscription
from fyke.testing.covering import check_covers
from fyke.testing.generators import randoms
from fyke.testing.ordering import accepts
from fyke.testing.related import events_about, family, fitting_events, profiles, schema, tree
from fyke.testing.stories.reaching import examples, reached, reaches


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


def test_what_a_type_requires_makes_filters_redundant() -> None:
    declared = Schema(
        [Attribute("id", String(), required=True)],
        [EventType("T", [Attribute("a", Integer(0, 9), required=True)])],
    )
    given = subscriptions("type is T", "a <= 9", "type = 'T' and b = 1", "exists id")
    findings = analyse(given, schema=declared).findings
    assert [(each.subscription, each.problem) for each in findings] == [
        ("s0", Problem.SUBSUMED),
        ("s2", Problem.SUBSUMED),
        ("s3", Problem.ALWAYS_TRUE),
    ]


def accepted(filter: Filter, event: Event, schema: Schema | None) -> bool:
    return filter.matches(event) if schema is None else accepts(filter, event, schema)


def check_findings(taken: list[Filter], seen: list[Event], schema: Schema | None = None) -> None:
    named = {f"s{number}": filter for number, filter in enumerate(taken)}
    analysis = analyse((Subscription(*each) for each in named.items()), schema=schema)
    for finding in analysis.findings:
        ours = [accepted(named[finding.subscription], event, schema) for event in seen]
        reached(redundant=finding.other is not None and any(ours))
        match finding.problem:
            case Problem.NEVER_TRUE:
                assert not any(ours)
            case Problem.ALWAYS_TRUE:
                assert all(ours)
            case Problem.DUPLICATE | Problem.SUBSUMED:
                theirs = [accepted(named[str(finding.other)], event, schema) for event in seen]
                assert all(t or not o for o, t in zip(ours, theirs, strict=True))
                if finding.problem is Problem.DUPLICATE:
                    assert ours == theirs


@reaches(redundant=0.3)
@given(randoms())
def test_findings_are_true(rng: Random) -> None:
    taken = family(rng, size=rng.randint(0, 8))
    check_findings(taken, events_about(rng, taken))


@reaches(redundant=0.3)
@given(randoms())
def test_findings_are_true_of_what_fits_the_schema(rng: Random) -> None:
    taken = family(rng, size=5)
    declared = schema(rng, taken)
    check_findings(taken, fitting_events(rng, taken, declared), declared)


@reaches(redundant=0.3, kept=0.2)
@examples(1.5)
@given(randoms())
def test_whatever_another_covers_is_found(rng: Random) -> None:
    """The same as from all pairs, although not all pairs are tried."""
    taken = rng.choice((family, profiles))(rng, size=6)
    named = {f"s{number}": filter for number, filter in enumerate(taken)}
    analysis = analyse(Subscription(*each) for each in named.items())
    found = {
        each.subscription: each.problem
        for each in analysis.findings
        if each.problem is not Problem.LONG_NUMBER
    }
    settled = (Problem.NEVER_TRUE, Problem.ALWAYS_TRUE)
    open_ = {id: each for id, each in named.items() if found.get(id) not in settled}
    for id, narrow in open_.items():
        wider = [
            other
            for other, wide in open_.items()
            if other != id and covers(wide, narrow) and (other < id or not covers(narrow, wide))
        ]
        is_redundant = found.get(id) in (Problem.DUPLICATE, Problem.SUBSUMED)
        reached(redundant=is_redundant, kept=not is_redundant)
        assert is_redundant is bool(wider), (str(narrow), [str(named[each]) for each in wider])


@reaches(needs=0.5, shared=0.1)
@examples(2)
@given(randoms())
def test_necessary_predicates_are_necessary(rng: Random) -> None:
    one, other = tree(rng), tree(rng)
    seen = events_about(rng, [one, other])
    for filter in (one, one & other, one | other):
        for need in necessary(filter):
            accepts = disjunction(need.alternatives)
            reached(needs=check_covers(accepts, filter, seen) > 0)
            assert all(need.attribute in spoken_of(leaf) for leaf in need.alternatives)
    for_one, for_other = ({each.attribute for each in necessary(each)} for each in (one, other))
    assert {*necessary(one), *necessary(other)} == {*necessary(one & other)}
    assert {each.attribute for each in necessary(disjunction((one, FALSE)))} == for_one
    either = {each.attribute for each in necessary(disjunction((one, other)))}
    reached(shared=bool(for_one & for_other))
    if not isinstance(one, Or) and not isinstance(other, Or):
        assert either == for_one & for_other


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
