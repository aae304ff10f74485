"""Under a schema, members of an enumeration compare by their places, and text of a time as time."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given

import fyke
from fyke.errors import SchemaError
from fyke.events.domain import Enumeration, String, Timestamp
from fyke.events.event import Event
from fyke.events.schema import Attribute, Schema
from fyke.filters.algebra.covering import covers, is_always_true, is_never_true, overlaps
from fyke.filters.algebra.merging import merge
from fyke.filters.algebra.normal_form import fold, simplify
from fyke.filters.analysis import Problem, analyse
from fyke.filters.comparison import Compare
from fyke.filters.filter import DEPTH_MAX, Filter, conjunction, disjunction, negation, walk
from fyke.filters.predicate import Range
from fyke.filters.resolution import GROWTH, check_order, resolve, resolve_strictly
from fyke.filters.subscription import Subscription
from fyke.testing import ordered
from fyke.testing.generators import randoms
from fyke.testing.ordering import accepts
from fyke.testing.stories.reaching import examples, reached, reaches

LEVELS = Enumeration(("low", "medium", "high"))
SCHEMA = Schema(
    [
        Attribute("level", LEVELS),
        Attribute("peak", LEVELS),
        Attribute("levels", LEVELS, multiple=True),
        Attribute("state", Enumeration(("new", "done"))),
        Attribute("note", String()),
        Attribute("since", Timestamp()),
    ]
)


def test_examples() -> None:
    means = {
        "level > 'low'": "level in ('high', 'medium')",
        "level >= 'high'": "level = 'high'",
        "level < 'low'": "false",
        "not level > 'low'": "not level in ('high', 'medium')",
        "level between 'medium' and 'high'": "level in ('high', 'medium')",
        "level between 'high' and 'medium'": "false",
        "level between 'low' exclusive and 'high' exclusive": "level = 'medium'",
        "level > 5": "level > 5",
        "level >= ''": "level in ('high', 'low', 'medium')",
        "note > 'low'": "note > 'low'",
        "level = 'lwo'": "level = 'lwo'",
        "level > peak": (
            "peak = 'low' and level in ('high', 'medium') or peak = 'medium' and level = 'high'"
        ),
        "since >= '2026-01-31'": "since >= timestamp '2026-01-31T00:00:00Z'",
        "since in ('2026-01-31T12:00:00+02:00', 'x')": (
            "since in ('x', timestamp '2026-01-31T10:00:00Z')"
        ),
    }
    assert {text: str(resolve(fyke.parse(text), SCHEMA)) for text in means} == means


@reaches(accepted=0.2, refused=0.2, by_schema=0.05, misfit=0.3)
@examples(1)
@given(randoms())
def test_a_resolved_filter_accepts_what_the_order_says(rng: Random) -> None:
    declared = ordered.schema(rng)
    for filter in ordered.filters(rng, declared, 6, is_ordered=False):
        resolved = resolve(filter, declared)
        for _ in range(12):
            fits = rng.random() < 0.5
            event = declared.read(ordered.document(rng, declared, fits=fits))
            right = accepts(filter, event, declared)
            reached(
                accepted=right,
                refused=not right,
                by_schema=right is not filter.matches(event),
                misfit=not fits,
            )
            assert resolved.matches(event) is right, (str(filter), str(resolved), event, declared)


@reaches(accepted=0.1, folded=0.15)
@given(randoms())
def test_bounds_fold_in_the_declared_order(rng: Random) -> None:
    """Several bounds on one attribute that has one value: `level > 'low' and level < 'high'`."""
    declared = ordered.schema(rng, is_single=True)
    name = rng.choice(ordered.ORDERED)
    leaves = [ordered.leaf(rng, declared) for _ in range(30)]
    bounds = [each for each in leaves if isinstance(each, Range) and each.attribute == name][:2]
    filter = conjunction(bounds)
    parsed = fyke.parse(str(filter), schema=declared)
    for _ in range(6):
        event = declared.validate(ordered.document(rng, declared))
        right = accepts(filter, event, declared)
        reached(accepted=right, folded=len(bounds) > 1 and parsed != resolve(filter, declared))
        assert parsed.matches(event) is right, (str(filter), str(parsed), event)


@reaches(changed=0.3)
@examples(0.5)
@given(randoms())
def test_what_is_resolved_once_keeps_its_meaning(rng: Random) -> None:
    """However it was simplified, folded or joined in between."""
    declared = ordered.schema(rng)
    taken = [
        resolve(each, declared) for each in ordered.filters(rng, declared, 4, is_ordered=False)
    ]
    for filter in [*taken, conjunction(taken), disjunction(taken)]:
        assert resolve(filter, declared) == filter
        for plain in (simplify(filter), fold(filter, declared), merge([filter, taken[0]]).filter):
            reached(changed=plain != filter)
            assert resolve(plain, declared) == plain


def test_what_no_schema_touches_stays_the_same_object() -> None:
    plain = fyke.parse("level > 'low' and (since > '2026' or a < b)")
    assert resolve(plain, None) is plain
    assert resolve(plain, Schema([Attribute("level", String())])) is plain
    assert resolve(other := fyke.parse("note > 'low' or note < state"), None) is other


def test_large_enumerations_make_no_large_filters() -> None:
    many = Enumeration(tuple(f"m{number}" for number in range(1000)))
    declared = Schema([Attribute("a", many), Attribute("b", many)])
    resolved = resolve(fyke.parse("a < b"), declared)
    leaves = [node for node in walk(resolved) if not node.children]
    assert len(leaves) == 2 * 999
    assert sum(len(each.values) for each in leaves) < 11_000
    places = (0, 1, 499, 500, 501, 998, 999)
    for x, y in product(places, places):
        assert resolved.matches({"a": f"m{x}", "b": f"m{y}"}) is (x < y)


def test_a_filter_grows_by_no_more_than_it_says() -> None:
    for text in ("level <= peak", "level < 'high'", "since > '2026-01-01'"):
        filter = fyke.parse(text)
        assert resolve(filter, SCHEMA).depth <= filter.depth + GROWTH
    deep: Filter = Compare("level", "<", "peak")
    while deep.depth < DEPTH_MAX - GROWTH:
        wider = conjunction((deep, fyke.parse("a = 1")))
        deep = wider if wider.depth > deep.depth else negation(wider)
    assert deep.depth == DEPTH_MAX - GROWTH
    assert resolve(deep, SCHEMA).depth <= DEPTH_MAX


# --- covering and merging -------------------------------------------------------------------------


def everything(declared: Schema) -> list[Event]:
    """Every combination of members, and of none, at the attributes that have an order."""
    pools = [(None, *declared.orders[name].values) for name in ordered.ORDERED]
    return [
        Event(
            {
                name: value
                for name, value in zip(ordered.ORDERED, row, strict=True)
                if value is not None
            }
        )
        for row in product(*pools)
    ]


def about_order(rng: Random, declared: Schema, count: int) -> list[Filter]:
    """Filters on nothing but enumerations."""
    found: list[Filter] = []
    while len(found) < count:
        (drawn,) = ordered.filters(rng, declared, 1, is_ordered=False)
        names = {getattr(node, key, None) for node in walk(drawn) for key in ("attribute", "other")}
        if names <= {None, *ordered.ORDERED}:
            found.append(drawn)
    return found


@reaches(covered=0.15, not_covered=0.3, disjoint=0.05, by_order=0.05)
@examples(2)
@given(randoms())
def test_covering_of_orders_is_exact(rng: Random) -> None:
    """Where attributes are single, all events can be tried: covers is true iff none is lost.

    Two attributes that are compared are not looked into; then it is true only if none is lost.
    """
    declared = ordered.schema(rng, is_single=True)
    wide, narrow = about_order(rng, declared, 2)
    if rng.random() < 0.3:
        narrow = narrow & wide
    seen = everything(declared)
    verdicts = [(accepts(wide, each, declared), accepts(narrow, each, declared)) for each in seen]
    truth = all(w for w, n in verdicts if n)
    shared = any(w and n for w, n in verdicts)
    reached(
        covered=truth and wide != narrow,
        not_covered=not truth,
        disjoint=not shared,
        by_order=truth is not covers(wide, narrow),
    )
    assert truth or not covers(wide, narrow, schema=declared)
    assert overlaps(wide, narrow, schema=declared) or not shared
    if not any(isinstance(node, Compare) for each in (wide, narrow) for node in walk(each)):
        assert covers(wide, narrow, schema=declared) is truth
        assert overlaps(wide, narrow, schema=declared) is shared
    assert not is_never_true(narrow, schema=declared) or not any(n for _, n in verdicts)
    assert not is_always_true(wide, schema=declared) or all(w for w, _ in verdicts)


@reaches(narrow=0.05, joined=0.1)
@examples(0.5)
@given(randoms())
def test_merging_of_orders_loses_nothing(rng: Random) -> None:
    declared = ordered.schema(rng)
    taken = ordered.filters(rng, declared, 3, is_ordered=False)
    merged = merge(taken, schema=declared)
    whole, excess = resolve(merged.filter, declared), resolve(merged.excess, declared)
    for _ in range(30):
        event = declared.validate(ordered.document(rng, declared))
        wanted = any(accepts(each, event, declared) for each in taken)
        is_accepted = accepts(merged.filter, event, declared)
        reached(narrow=not is_accepted, joined=wanted and merged.filter not in taken)
        assert is_accepted or not wanted
        assert whole.matches(event) is is_accepted
        assert excess.matches(event) is (is_accepted and not wanted)


def test_lint_proves_by_the_order() -> None:
    texts = {
        "high": "level > 'medium'",
        "some": "level > 'low'",
        "none": "level < 'low'",
        "same": "level between 'medium' and 'high'",
    }
    standing = [Subscription(id, fyke.parse(text)) for id, text in texts.items()]
    found = {each.subscription: each for each in analyse(standing, schema=SCHEMA).findings}
    assert found["high"].problem is Problem.SUBSUMED
    assert found["none"].problem is Problem.NEVER_TRUE
    assert found["same"].problem is Problem.DUPLICATE and found["same"].other == "some"


# --- at the door ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "attribute", "said"),
    [
        ("level > 'lwo'", "level", "'low', 'medium', 'high'"),
        ("a = 1 or not level between 'low' and 'higher'", "level", "'higher' has no place"),
        ("level <= ''", "level", "'' has no place"),
        ("level < state", "level", "no order in common"),
        ("since > 'yesterday'", "since", "'yesterday'"),
    ],
)
def test_what_has_no_order_is_refused(text: str, attribute: str, said: str) -> None:
    for refuse in (
        lambda: resolve_strictly(fyke.parse(text), SCHEMA),
        lambda: fyke.parse(text, schema=SCHEMA),
        lambda: fyke.Matcher(schema=SCHEMA).add("s", text),
        lambda: fyke.Matcher(schema=SCHEMA).add("s", fyke.parse(text)),
    ):
        with pytest.raises(SchemaError) as refused:
            refuse()
        assert refused.value.attribute == attribute
        assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    ["level = 'lwo'", "level != state", "level > 5", "level < note", "level < a", "a > 'lwo'"],
)
def test_what_needs_no_order_is_not_refused(text: str) -> None:
    check_order(fyke.parse(text), SCHEMA)


def test_dialects_keep_their_own_meaning() -> None:
    """CESQL casts text to integers, Siena asks for any text: neither compares with a member."""
    cast = fyke.parse("level < 5", dialect="cesql", schema=SCHEMA)
    digits = Schema([Attribute("level", Enumeration(("9", "10", "2")))])
    assert not cast.matches({"level": "high"})
    found = [
        value
        for value in ("9", "10", "2")
        if fyke.parse("level < 5", dialect="cesql", schema=digits).matches({"level": value})
    ]
    assert found == ["2"]


def test_profiles_of_das_compare_members_where_a_schema_has_their_order() -> None:
    """DAS-4, DAS-5: without the schema the order is unknown, and the profile is refused."""
    profiles = {
        "PROFILE ( PRI ( level > low ) )": "level in ('high', 'medium')",
        "PROFILE ( PRI ( level < 'high' , TYPE=T ) )": "level in ('low', 'medium') and type = 'T'",
        "PROFILE ( PRI ( level BETWEEN [ low , medium ] ) )": "level in ('low', 'medium')",
    }
    for text, meaning in profiles.items():
        assert str(fyke.parse(text, dialect="das", schema=SCHEMA)) == meaning
        with pytest.raises(fyke.FilterError, match="order"):
            fyke.parse(text, dialect="das")
    for text in ("PROFILE ( PRI ( note > low ) )", "PROFILE ( PRI ( level BETWEEN [low, 5] ) )"):
        with pytest.raises(fyke.FilterError):
            fyke.parse(text, dialect="das", schema=SCHEMA)
