"""The index against `covers` over all pairs, and against DAS-17 on the profiles of the paper."""

from __future__ import annotations

import gc
import random
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.errors import FykeError
from fyke.events.domain import Boolean, Enumeration, FixedPoint, Integer, String
from fyke.events.schema import Attribute, EventType, Schema
from fyke.filters.algebra.covering import covers
from fyke.filters.covering_index.box import Box
from fyke.filters.covering_index.covering_index import CoveringIndex
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction
from fyke.filters.predicate import Exists, In, Range, TypeIs
from fyke.filters.resolution import resolve
from fyke.testing import generators as g
from fyke.testing import ordered
from fyke.testing.generators import randoms
from fyke.testing.stories.reaching import reached, reaches

TYPED = Schema(
    attributes=[
        Attribute("a", Integer(-2, 6)),
        Attribute("b", Enumeration(("a", "ab", "b", "ba"))),
        Attribute("c.d", FixedPoint(0, 2, decimals=1), multiple=True),
        Attribute("null", Boolean()),
        Attribute("weird name", String()),
    ],
    types=[
        EventType("Thing"),
        EventType("Stock", supertypes=["Thing"]),
        EventType("Share", supertypes=["Stock"]),
    ],
)


REQUIRING = Schema(
    attributes=[Attribute("null", Boolean(), required=True)],
    types=[
        EventType("Thing", [Attribute("a", Integer(0, 5), required=True)]),
        EventType("Stock", [Attribute("b", Integer(2, 2), required=True)], ["Thing"]),
        EventType("Share", [Attribute("c.d", Integer(0, 2), True, required=True)], ["Stock"]),
        EventType("a b", [Attribute("a", Integer(0, 5))]),
    ],
)

OPTIONAL = Schema(
    [Attribute("null", Boolean())],
    [
        EventType(each.name, [replace(one, required=False) for one in each.attributes],
                  each.supertypes)
        for each in REQUIRING.types
    ],
)  # fmt: skip


def scan(filters: dict[str, Filter], wide: Filter | None, narrow: Filter | None, schema=None):
    """The definition: all pairs."""
    return [
        id
        for id, each in filters.items()
        if covers(wide or each, narrow or each, schema=schema, budget=100_000)
    ]


def check(filters: dict[str, Filter], asked: list[Filter], schema: Schema | None = None) -> None:
    index = CoveringIndex(schema)
    for id, each in filters.items():
        index.add(id, each)
    for each in asked:
        assert index.covering(each) == scan(filters, None, each, schema)
        assert index.covered(each) == scan(filters, each, None, schema)


def named(filters: list[Filter]) -> dict[str, Filter]:
    return {f"s{number}": each for number, each in enumerate(filters)}


plain = st.lists(g.predicates(), min_size=1, max_size=3).map(conjunction)
small = st.one_of(plain, plain, g.filters(max_leaves=5))


@settings(max_examples=400)
@given(st.lists(small, max_size=7), st.lists(small, max_size=2))
def test_it_answers_as_all_pairs_do(stored, asked):
    check(named(stored), [*asked, *stored])


@settings(max_examples=300)
@given(st.lists(small, max_size=6), st.lists(small, max_size=2))
def test_it_answers_as_all_pairs_do_where_a_schema_knows_more(stored, asked):
    check(named(stored), [*asked, *stored], TYPED)


@reaches(ordered=0.3)
@settings(max_examples=60)
@given(randoms())
def test_it_answers_as_all_pairs_do_where_members_have_an_order(rng):
    schema = ordered.schema(rng)
    stored = ordered.filters(rng, schema, 6, is_ordered=False)
    reached(ordered=any(resolve(each, schema) != each for each in stored))
    check(named(stored), [*ordered.filters(rng, schema, 2), *stored], schema)


wanting = st.lists(
    st.one_of(
        st.builds(TypeIs, st.sampled_from(g.TYPES)),
        st.builds(In, st.just("type"), st.lists(st.sampled_from(g.TYPES), min_size=1).map(tuple)),
        st.builds(Range, st.sampled_from(["a", "b"]), st.integers(-1, 2), st.integers(2, 6)),
        st.builds(In, st.sampled_from(["b", "null"]), st.sampled_from([(2,), (True, False)])),
        st.builds(Exists, st.sampled_from(["a", "b", "c.d", "null"])),
    ).flatmap(lambda leaf: st.sampled_from([leaf, leaf, leaf, ~leaf])),
    min_size=1,
    max_size=2,
).map(conjunction)


DECIDING = ("exists a", "a between 0 and 5", "b = 2", "b > 1", 'exists "null"')
deciding = st.sampled_from(DECIDING).map(fyke.parse)


@reaches(by_requirement=0.04)
@settings(max_examples=300)
@given(
    st.lists(st.one_of(wanting, wanting, deciding, small), max_size=6),
    st.lists(st.one_of(wanting, st.builds(TypeIs, st.sampled_from(g.TYPES))), max_size=2),
)
def test_it_answers_as_all_pairs_do_where_attributes_are_required(stored, asked):
    check(named(stored), [*asked, *stored], REQUIRING)
    for wide, narrow in product(stored, asked):
        proved = covers(wide, narrow, schema=REQUIRING)
        reached(by_requirement=proved and not covers(wide, narrow, schema=OPTIONAL))


def texts(*texts: str) -> list[Filter]:
    return [fyke.parse(text) for text in texts]


NEAR = texts(
    *("a < 5", "a <= 5", "a > 1", "a >= 1", "a = 1", "a in (1, 2)", "a in (1, 'x')", "a != 1"),
    *("a between 1 and 5", "a > 1 and a < 5", "a = true", "a = null", "a = -0.0", "a = 0"),
    *("exists a", "not exists a", "not a = 1", "not a = 2", "not (a < 5)", "not a in (1, 2)"),
    *("a = 1 and b = 2", "b = 2", "b = 2 and exists a", "a = 1 or b = 2"),
    *("a = 1 or a = 7 and b = 2",),
    *("a < 3 or a > 5 and b = 1", "a in (1, 9)", "a in (1, 9) and b = 1", "a < b", "a <= b"),
    *("b > a",),
    *("a starts with 'ab'", "a starts with 'a'", "a like 'a%b'", "a contains 'b'", "a ilike 'AB'"),
    *("a = 'ab'", "a >= 'a' and a < 'b'", "a >= 'a'", "a matches '^a'", "a in cidr '10.0.0.0/8'"),
    *("a = '10.1.2.3'", "type is Thing", "type is Stock", "type = 'Stock'", "not type is Thing"),
    *("type is Stock and a = 1", "type in ('Stock', 'Share')", "exists type", "not type = 'Stock'"),
    *("a = 9007199254740993", "a = 9007199254740992", "a < 9007199254740993", "a = 7 or not b = 2"),
    *("a = 1 and not b = 2", "not a = 1 and not b = 2", "not (a = 1 and b = 2)"),
    *("a = '\U0010ffff'",),
    *("a between 0 and 5", "b = 2", "missing a", "missing b and a = 1", "exists c.d"),
    *("c.d < 9", "type = 'a b'", "type in ('Stock', 'a b')", 'exists "null"', "not type is Stock"),
    *('"null" in (true, false)', "type is Share and a < 9", "not type is Share and missing c.d"),
    *("a >= ''", "a < ''", "a in (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18)"),
)  # fmt: skip


@pytest.mark.parametrize("schema", [None, TYPED, REQUIRING], ids=["free", "typed", "requiring"])
def test_every_pair_of_filters_that_are_nearly_alike(schema):
    stored = [*NEAR, TRUE, FALSE]
    check(named(stored), stored, schema)


def test_residuals_are_compared_as_they_are():
    residual = fyke.parse("size * 2 > 4", dialect="cesql")
    other = fyke.parse("size * 2 > 5", dialect="cesql")
    stored = [residual, other, residual & fyke.parse("a = 1"), fyke.parse("a = 1"), ~residual]
    check(named(stored), stored)


def test_equal_filters_stay_apart_by_their_ids_and_come_in_order():
    index = CoveringIndex()
    for id in ("z", "a", "m"):
        index.add(id, fyke.parse("a = 1"))
    index.add("b", fyke.parse("a < 5"))
    index.remove("z")
    index.add("z", fyke.parse("a = 1"))
    assert index.covering(fyke.parse("a = 1")) == ["a", "m", "b", "z"]
    assert index.covered(fyke.parse("a < 9")) == ["a", "m", "b", "z"]
    assert len(index) == 4
    assert "m" in index
    assert "q" not in index


def test_an_id_is_taken_once():
    index = CoveringIndex()
    index.add("a", TRUE)
    with pytest.raises(FykeError, match="a filter 'a' already"):
        index.add("a", FALSE)
    with pytest.raises(FykeError, match="no filter 'b'"):
        index.remove("b")


def test_what_is_known_of_filters_ends_with_the_last_index():
    """It would stay for the life of a process, and every search for garbage walk it."""

    def boxes() -> int:
        return sum(isinstance(each, Box) for each in gc.get_objects())

    gc.collect()
    before = boxes()
    gc.disable()
    try:
        schema = Schema([Attribute("number", Integer(0, 99))])
        one, other = CoveringIndex(schema), CoveringIndex(schema)
        for number in range(100):
            for index in (one, other):
                index.add(str(number), In("number", (number,)))
        assert boxes() - before == 100
        del one, index
        assert boxes() - before == 100
        del other
        assert boxes() == before
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "text",
    [
        "a between 1 and 5 and a between 1 and 9",
        "a between 1 and 9 and a between 2 and 9",
        "a between 1 and 9 and a between 1 and 9 and a >= 1",
        "a = 1 and a between 1 and 9 and a <= 9",
    ],
)
def test_intervals_that_end_at_one_place_come_and_go(text):
    """Both are wanted of one list: the filter stands twice at an attribute, once at each place."""
    index = CoveringIndex()
    filter = fyke.parse(text)
    for _ in range(2):
        index.add("one", filter)
        index.add("other", fyke.parse("a between 1 and 9"))
        assert index.covered(fyke.parse("a between 0 and 9")) == ["one", "other"]
        index.remove("one")
        assert index.covered(fyke.parse("a between 0 and 9")) == ["other"]
        index.remove("other")
        assert index.covered(fyke.parse("true")) == []


@pytest.mark.parametrize("schema", [None, TYPED, REQUIRING], ids=["free", "typed", "requiring"])
@pytest.mark.parametrize("seed", range(4))
def test_filters_come_and_go(seed, schema):
    draw = random.Random(seed)
    index, held = CoveringIndex(schema), {}
    for step in range(150):
        if held and draw.random() < 0.45:
            gone = draw.choice(list(held))
            index.remove(gone)
            del held[gone]
        else:
            held[f"s{step}"] = draw.choice(NEAR)
            index.add(f"s{step}", held[f"s{step}"])
        asked = draw.choice(NEAR)
        assert index.covering(asked) == scan(held, None, asked, schema)
        assert index.covered(asked) == scan(held, asked, None, schema)
    for id in held:
        index.remove(id)
    assert not index.covering(FALSE)
    assert not index.covered(TRUE)


# --- DAS ------------------------------------------------------------------------------------------

VALUES = {"a": range(8), "b": range(5)}
DAS = Schema(
    types=[
        EventType(
            "T",
            [
                Attribute(name, Integer(0, len(values) - 1), required=True)
                for name, values in VALUES.items()
            ],
        ),
        EventType("U"),
    ]
)


def das_profile(draw: random.Random) -> tuple[str, dict[str, Filter]]:
    """At most one predicate per attribute, of the five operators (DAS-2, DAS-5)."""
    predicates = {}
    for name, values in VALUES.items():
        low, high = sorted(draw.choices(values, k=2))
        several = tuple(draw.sample(values, draw.randint(1, 4)))
        predicates[name] = draw.choice(
            [
                None,
                In(name, (low,)),
                Range(name, low, None, low_open=True),
                Range(name, None, high, high_open=True),
                In(name, several),
                Range(name, low, high),
            ]
        )
    return draw.choice("TTU"), {name: each for name, each in predicates.items() if each}


def das_covers(wide, narrow) -> bool:
    """DAS-17: the same type, and per attribute a set that contains the other's."""
    accepted = [
        {
            name: {v for v in values if name not in said or said[name].accepts()(v)}
            for name, values in VALUES.items()
        }
        for said in (wide[1], narrow[1])
    ]
    return wide[0] == narrow[0] and all(accepted[0][name] >= accepted[1][name] for name in VALUES)


@pytest.mark.parametrize("seed", range(3))
def test_the_edges_say_what_the_profiles_say(seed):
    """DAS-18 equals DAS-17, but for profiles that accept nothing: every attribute of a type is
    required (DAS-1), so that one without a predicate stands for its whole domain."""
    draw = random.Random(seed)
    profiles = {}
    for number in range(120):
        kind, said = das_profile(draw)
        if all(any(said[name].accepts()(v) for v in VALUES[name]) for name in said):
            profiles[f"s{number}"] = kind, said
    index = CoveringIndex(DAS)
    filters = {
        id: conjunction((TypeIs(kind), *said.values())) for id, (kind, said) in profiles.items()
    }
    for id, each in filters.items():
        index.add(id, each)
    for asked, profile in profiles.items():
        wide = [id for id, each in profiles.items() if das_covers(each, profile)]
        narrow = [id for id, each in profiles.items() if das_covers(profile, each)]
        assert index.covering(filters[asked]) == wide
        assert index.covered(filters[asked]) == narrow
    assert index.tests < 2 * len(profiles) ** 2


# --- work ----------------------------------------------------------------------------------------


def work(filters: list[Filter]) -> float:
    """Pairs that were held against each other, a filter and both questions."""
    index = CoveringIndex()
    for number, each in enumerate(filters):
        index.covering(each)
        index.covered(each)
        index.add(f"s{number}", each)
    return index.tests / len(filters)


def test_filters_that_are_apart_are_not_held_against_each_other():
    draw = random.Random(7)
    several = [
        texts(*(f"type is T and a = {k}" for k in range(2_000))),
        texts(*(f"not a = {k}" for k in range(500))),
        texts(*(f"exists a{k}" for k in range(500))),
        texts(*(f"a starts with 'sensor-{k:06}-'" for k in range(500))),
        texts(*(f"a between {k} and {k + 0.5}" for k in range(500))),
        texts(*(f"a = {k} or b = {k}" for k in range(500))),
        texts(*(f"a = {k % 7} and b > {k} and b < {k + 1}" for k in range(300))),
        texts(*(f"c contains 'x' and exists d and a = {k}" for k in range(300))),
        texts(*(f"(c = 1 or d = 1) and (a = {k} or b = {k}) and exists e" for k in range(200))),
        texts(*(f"not exists c and a = {k} and not d = 1" for k in range(300))),
        [fyke.parse("a < 5")] * 2_000,
    ]
    for filters in several:
        draw.shuffle(filters)
        assert work(filters) <= 4, filters[0]


def test_questions_about_a_chain_cost_what_they_find():
    chain = texts(*(f"a < {k}" for k in range(200)))
    index = CoveringIndex()
    for number, each in enumerate(chain):
        index.add(f"s{number}", each)
    for at in (0, 5, 100, 199):
        before = index.tests
        assert len(index.covering(chain[at])) == 200 - at
        assert len(index.covered(chain[at])) == at + 1
        assert index.tests - before <= 210


def test_all_pairs_of_two_attributes():
    """Boxes of lists, ranges and missing predicates: decided without `covers`, and right."""
    some = ["{} = 1", "{} in (1, 2)", "{} in (1, 3)", "{} <= 2", "{} between 1 and 2", "true"]
    stored = texts(
        *(f"{one.format('a')} and {two.format('b')}" for one, two in product(some, some))
    )
    check(named(stored), stored)
