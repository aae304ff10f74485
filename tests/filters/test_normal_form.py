"""Simplification, negation normal form and boxes keep the meaning."""

from __future__ import annotations

from random import Random

from hypothesis import given

import fyke
from fyke.events.domain import Integer, Real
from fyke.events.schema import Attribute, Schema
from fyke.filters.algebra.normal_form import box_count, boxes, fold, negation_normal_form, simplify
from fyke.filters.filter import FALSE, TRUE, Filter, Not, conjunction, disjunction, negation, walk
from fyke.filters.predicate import In, Range
from fyke.testing.generators import randoms
from fyke.testing.related import events_about, family, fitting_events, leaf, schema, spans, varied
from fyke.testing.stories.reaching import examples, reached, reaches


def related_tree(rng: Random) -> Filter:
    """Relatives joined, so that alternatives on one attribute meet; now and then negated."""
    if rng.random() < 0.5:
        relatives = family(rng, size=rng.randint(1, 3), leaves=4)
    else:
        relatives = spans(rng, "a", rng.randint(2, 4))
    joined = rng.choice((conjunction, disjunction, disjunction))(relatives)
    return negation(joined) if rng.random() < 0.2 else joined


@reaches(changed=0.3, folded=0.05)
@examples(2.5)
@given(randoms())
def test_simplify_keeps_the_meaning_and_never_grows(rng: Random) -> None:
    filter = related_tree(rng)
    simple = simplify(filter)
    leaves = {node for node in walk(filter) if not node.children}
    reached(
        changed=simple != filter,
        folded=any(isinstance(node, In | Range) and node not in leaves for node in walk(simple)),
    )
    assert sum(1 for _ in walk(simple)) <= sum(1 for _ in walk(filter))
    assert simplify(simple) == simple
    for event in events_about(rng, [filter]):
        assert simple.matches(event) == filter.matches(event), (str(filter), event)


@reaches(pushed=0.1)
@given(randoms())
def test_negation_normal_form(rng: Random) -> None:
    filter = related_tree(rng)
    normal = negation_normal_form(filter)
    reached(pushed=normal != filter)
    assert not any(isinstance(node, Not) and node.child.children for node in walk(normal))
    assert negation_normal_form(normal) == normal
    for event in events_about(rng, [filter]):
        assert normal.matches(event) == filter.matches(event)
        assert negation_normal_form(filter, negated=True).matches(event) != filter.matches(event)


@reaches(several=0.3)
@given(randoms())
def test_boxes(rng: Random) -> None:
    filter = related_tree(rng)
    expanded = boxes(filter)
    assert expanded is not None
    reached(several=len(expanded) > 1)
    assert len(expanded) == box_count(negation_normal_form(simplify(filter)))
    assert boxes(filter, budget=max(len(expanded), 1)) == expanded
    assert len(expanded) < 2 or boxes(filter, budget=len(expanded) - 1) is None
    union = disjunction(map(conjunction, expanded))
    literals = [literal for box in expanded for literal in box]
    assert not any(node.children for literal in literals for node in (~literal).children)
    for event in events_about(rng, [filter]):
        assert union.matches(event) == filter.matches(event)


def test_boxes_keep_to_their_budget() -> None:
    clauses = [f"(a{i} = 1 or b{i} = 2)" for i in range(30)]
    assert boxes(fyke.parse(" and ".join(clauses))) is None
    assert len(boxes(fyke.parse(" and ".join(clauses[:8]))) or ()) == 256
    assert boxes(FALSE) == ()
    assert boxes(TRUE) == ((),)


SIMPLE = {
    "a in (1, 2) or a = 3 or not a in (1, 2, 3)": "true",
    "a = 1 and true": "a = 1",
    "a = 1 and (b = 2 or true)": "a = 1",
    "a = 1 and false": "false",
    "a = 1 or a = 2 or a = 1": "a in (1, 2)",
    "a = 1 and not a = 1": "false",
    "a = 1 or not a = 1": "true",
    "a < 5 or a between 5 and 9": "a <= 9",
    "a < 5 or a = 5": "a <= 5",
    "a < 5 or a >= 5": "a < 5 or a >= 5",
    "a between 5 and 1": "false",
    "a between 1 and 1": "a = 1",
    "a <= ''": "a = ''",
    "a < ''": "false",
    "a between 1 exclusive and 1": "false",
    "a > 1 and a < 5": "a > 1 and a < 5",
    "a < 'x' or a < 3": "a < 3 or a < 'x'",
    "not (a = 1 and a = 1)": "not a = 1",
    "b = 1 and (a = 1 or (a = 2 or a = 3)) and b = 1": "b = 1 and a in (1, 2, 3)",
}


def test_simplify_examples() -> None:
    assert {text: str(simplify(fyke.parse(text))) for text in SIMPLE} == SIMPLE


SCHEMA = Schema([Attribute("a", Integer()), Attribute("b", Real(), multiple=True)])


def test_bounds_fold_only_where_a_schema_says_single() -> None:
    def folded(text: str) -> str:
        return str(fyke.parse(text, schema=SCHEMA))

    assert folded("a > 1 and a < 5") == "a between 1 exclusive and 5 exclusive"
    assert folded("b > 1 and b < 5") == "b > 1 and b < 5"
    assert folded("c > 1 and c < 5") == "c > 1 and c < 5"
    assert folded("a > 1 and x = 1 and a in (1, 2, 3)") == "a in (2, 3) and x = 1"
    assert folded("a > 5 and a < 1") == "false"
    assert folded("a >= 5 and a <= 5") == "a = 5"
    assert folded("a > 1 and a < 'x'") == "false"


@reaches(met=0.1)
@examples(2)
@given(randoms())
def test_folding_keeps_the_meaning_of_what_fits_the_schema(rng: Random) -> None:
    filter = conjunction((related_tree(rng), *spans(rng, "a", 3), varied(rng, leaf(rng, "a"))))
    declared = schema(rng, [filter])
    folded = fold(filter, declared)
    reached(met=folded != filter)
    for event in fitting_events(rng, [filter], declared):
        assert folded.matches(event) == filter.matches(event), (str(filter), str(folded), event)
