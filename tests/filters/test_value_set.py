"""Sets of scalars: what is computed of them holds for every value near to what they speak of."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import given

from fyke.events.domain import FiniteDomain
from fyke.events.schema import Attribute, Schema
from fyke.events.value import Kind, Scalar, canonical, kind
from fyke.filters.algebra.domain import within_domain
from fyke.filters.algebra.intervals import (
    ALL_TEXT,
    EVERYWHERE,
    Span,
    Spans,
    common_prefix,
    complement,
    hull,
    intersect,
    is_point,
    prefix_span,
    span,
    subtract,
    union,
)
from fyke.filters.algebra.value_set import (
    ANYTHING,
    NOTHING,
    ValueSet,
    accepted,
    shared,
    unite,
    without,
)
from fyke.filters.predicate import Range, ValuePredicate
from fyke.filters.text_predicate import Like, like
from fyke.testing.generators import randoms
from fyke.testing.related import (
    DOMAINS,
    fitting,
    leaf,
    mentioned,
    near,
    pattern,
    varied_leaf,
    word,
)
from fyke.testing.stories.reaching import examples, reached, reaches


def lies_in(value: Scalar, spans: Spans) -> bool:
    """A value is a place just behind its first cut and before its second."""
    place = (0, canonical(value), 0), (0, canonical(value), 1)
    return any(low <= place[0] and place[1] <= high for low, high in spans)


def holds(values: ValueSet, value: Scalar) -> bool:
    if any(language.accepts()(value) for language in values.languages):
        return True
    match kind(value):
        case Kind.NULL:
            return values.null
        case Kind.BOOL:
            return value in values.booleans
        case Kind.NUMBER:
            return lies_in(value, values.numbers)
        case Kind.STRING:
            return lies_in(value, values.strings)
    return lies_in(value, values.timestamps)


def sets_and_values(rng: Random, count: int) -> tuple[list[ValuePredicate], list[Scalar]]:
    """Related predicates on one attribute, and the values that are near to them."""
    leaves: list[ValuePredicate] = []
    while len(leaves) < count:
        drawn = varied_leaf(rng, rng.choice(leaves)) if leaves else leaf(rng, "a")
        if isinstance(drawn, ValuePredicate):
            leaves.append(drawn)
    return leaves, mentioned(rng, leaves)["a"]


@reaches(accepted=0.2, refused=0.2)
@examples(1.5)
@given(randoms())
def test_a_set_holds_what_its_predicate_accepts(rng: Random) -> None:
    (predicate,), values = sets_and_values(rng, 1)
    found, accepts = accepted(predicate), predicate.accepts()
    for value in values:
        reached(accepted=accepts(value), refused=not accepts(value))
        assert holds(found, value) is accepts(value), (str(predicate), value)
    assert (found == NOTHING) is found.is_empty


@reaches(emptied=0.3, left=0.2, met=0.5, spans=0.3)
@examples(3)
@given(randoms())
def test_operations_hold_for_every_value(rng: Random) -> None:
    leaves, values = sets_and_values(rng, 3)
    one, *others = map(accepted, leaves)
    removed, left, both = unite(others), without(one, unite(others)), shared(one, unite(others))
    is_exact = not any(each.languages for each in (one, *others))
    reached(emptied=left.is_empty, left=not left.is_empty, met=not both.is_empty, spans=is_exact)
    for value in values:
        ours, theirs = holds(one, value), holds(removed, value)
        assert theirs is any(holds(each, value) for each in others)
        assert holds(left, value) or not ours or theirs, (*map(str, leaves), value)
        assert ours or not holds(left, value)
        assert holds(both, value) or not (ours and theirs), (*map(str, leaves), value)
        if is_exact:
            assert holds(left, value) is (ours and not theirs), (*map(str, leaves), value)
            assert holds(both, value) is (ours and theirs), (*map(str, leaves), value)
    if any(without(one, each).is_empty for each in others):
        assert left.is_empty, "who takes away more leaves no more"
    if any(shared(one, each) != NOTHING for each in others):
        assert both != NOTHING
    assert without(one, one).is_empty
    assert without(one, ANYTHING).is_empty
    assert unite([one, NOTHING]) == one == unite([one])


def spans_with_holes(rng: Random, texts: list[str]) -> Spans:
    """Spans from text to text; some are left out, and so are some of the texts between them."""
    cuts = sorted((0, text, side) for text in rng.sample(texts, 3) for side in (0, 1))
    pieces = pairwise([ALL_TEXT[0], *cuts, ALL_TEXT[1]])
    return union(piece for piece in pieces if piece[0] < piece[1] and rng.random() < 0.7)


@reaches(emptied=0.02, left=0.2, points=0.1)
@examples(2)
@given(randoms())
def test_patterns_and_spans_with_holes_hold_for_every_text(rng: Random) -> None:
    language = like("a", pattern(rng), rng.random() < 0.3)
    assert isinstance(language, ValuePredicate)
    fits = [fitting(rng, language) for _ in range(8)] if isinstance(language, Like) else [word(rng)]
    texts = sorted({str(text) for fit in fits for text in near(fit) if kind(text) is Kind.STRING})
    spans, accepts = spans_with_holes(rng, texts), language.accepts()
    one, other = accepted(language), ValueSet(strings=spans)
    left, both, rest = without(one, other), shared(one, other), without(other, one)
    holes = subtract((ALL_TEXT,), spans)
    is_pointed = any(map(is_point, holes)) and not all(map(is_point, holes))
    reached(emptied=left.is_empty, left=not left.is_empty, points=is_pointed)
    for text in texts:
        ours, theirs = accepts(text), lies_in(text, spans)
        assert holds(left, text) or not ours or theirs, (str(language), spans, text)
        assert holds(both, text) or not (ours and theirs), (str(language), spans, text)
        assert holds(rest, text) or not theirs or ours, (str(language), spans, text)


@reaches(held=0.1, finite=0.2, emptied=0.05)
@examples(2.5)
@given(randoms())
def test_a_domain_leaves_its_own_values_and_no_others(rng: Random) -> None:
    leaves, values = sets_and_values(rng, 2)
    domain = rng.choice(DOMAINS)
    single = Schema([Attribute("a", domain)])
    whole = unite(map(accepted, leaves))
    found = within_domain(whole, "a", single)
    is_small = isinstance(domain, FiniteDomain) and domain.size < 100
    inside = [value for value in values if domain.contains(value)]
    if is_small:
        inside += map(domain.at, range(domain.size))
    held = [value for value in inside if holds(whole, value)]
    reached(held=bool(held), finite=is_small, emptied=is_small and not held)
    for value in inside:
        assert holds(found, value) is holds(whole, value), (*map(str, leaves), domain, value)
    if is_small:
        assert found.is_empty is not held, (*map(str, leaves), domain)
    assert without(found, whole).is_empty or found.languages
    assert within_domain(whole, "b", single) == whole == within_domain(whole, "a", None)


# --- spans ----------------------------------------------------------------------------------------


def drawn_spans(rng: Random) -> tuple[list[Span], list[Scalar]]:
    """Spans of numbers or of strings, and values at, in and between them."""
    ends: list[Scalar] = [-2, -1.5, -1, 0, 0.25, 0.5, 1, 2, 3]
    if rng.random() < 0.5:
        ends = ["", "a", "ab", "b", "ba", "c", "d"]
    values = [close for end in ends for close in near(end) if kind(close) is kind(ends[0])]
    found = []
    for _ in range(rng.randint(0, 6)):
        first = rng.randrange(len(ends))
        low, high = ends[first], ends[min(first + rng.randrange(3), len(ends) - 1)]
        kept = rng.choice([(low, high)] * 6 + [(low, None), (None, high), (high, low)])
        found.append(span(Range("a", *kept, rng.random() < 0.5, rng.random() < 0.5)))
    return found, values


@reaches(several=0.2)
@examples(1.5)
@given(randoms())
def test_spans_are_sets(rng: Random) -> None:
    given_, values = drawn_spans(rng)
    one, other = union(given_[:3]), union(given_[3:])
    reached(several=len(one) > 1 or len(other) > 1)
    for value in values:
        ours, theirs = lies_in(value, one), lies_in(value, other)
        assert ours is any(lies_in(value, (each,)) for each in given_[:3])
        assert lies_in(value, subtract(one, other)) is (ours and not theirs)
        assert lies_in(value, intersect(one, other)) is (ours and theirs)
        assert lies_in(value, complement(one)) is not ours
        assert not ours or lies_in(value, (hull(one),))
    for found in (one, subtract(one, other), intersect(one, other), complement(one)):
        assert all(low < high for low, high in found)
        assert all(before[1] <= after[0] for before, after in pairwise(found))
    assert all(before[1] < after[0] for before, after in pairwise(one)), "neighbours are joined"
    assert complement(complement(one)) == one
    assert not one or hull(one) == (one[0][0], one[-1][1])
    assert union([EVERYWHERE, *one]) == (EVERYWHERE,)


@reaches(longer=0.3)
@examples(2)
@given(randoms())
def test_a_prefix_is_a_span(rng: Random) -> None:
    prefix = word(rng) + rng.choice(("", "", "\ud7ff", "\U0010ffff", "\U0010ffff\U0010ffff"))
    for text in [each for each in near(prefix + word(rng)) if isinstance(each, str)]:
        assert lies_in(text, (prefix_span(prefix),)) is text.startswith(prefix), (prefix, text)
    assert common_prefix(prefix_span(prefix)) == prefix
    low, high = sorted([prefix + word(rng), prefix + word(rng)])
    bounds = span(Range("a", low, high, high_open=low < high and rng.random() < 0.5))
    found = common_prefix(bounds)
    reached(longer=len(found) > 0)
    texts = [each for end in (low, high) for each in near(end) if isinstance(each, str)]
    assert all(text.startswith(found) for text in texts if lies_in(text, (bounds,)))
    assert low.startswith(found)
    assert low != high or found == low
    assert is_point(bounds) is (low == high)
