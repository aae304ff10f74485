"""covers: sound on everything, complete where it promises to be."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache, reduce
from itertools import combinations, permutations, product
from operator import and_, or_
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.domain import Boolean, Enumeration, FixedPoint, Integer, Real, String
from fyke.events.event import Event
from fyke.events.schema import Attribute, EventType, Schema
from fyke.filters.algebra.covering import (
    covers,
    equivalent,
    is_always_true,
    is_never_true,
    open_branch,
    overlaps,
)
from fyke.filters.algebra.merging import merge
from fyke.filters.algebra.normal_form import simplify
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction, walk
from fyke.filters.predicate import In, NotIn, Range, TypeIs
from fyke.testing.covering import check_covers
from fyke.testing.generators import randoms
from fyke.testing.ordering import accepts
from fyke.testing.related import (
    MOMENTS,
    events_about,
    family,
    fitting_events,
    leaf,
    mentioned,
    schema,
    spans,
    varied,
    varied_leaf,
)
from fyke.testing.stories.reaching import examples, reached, reaches

COVERS = [
    ("a < 10", "a < 5"),
    ("a < 10", "a between 1 and 5"),
    ("a <= 5", "a < 5"),
    ("a in (1, 2, 3)", "a = 2"),
    ("a != 3", "a > 3"),
    ("a != 3", "a = '3'"),
    ("a not in (1, 2)", "a is null"),
    ("a < 5 or a >= 5", "a between 1 and 10"),
    ("a between 1 and 3 or a between 3 exclusive and 9", "a between 2 and 8"),
    ("exists a", "a = 1"),
    ("exists a", "a < b"),
    ("a starts with 'OT'", "a = 'OTE'"),
    ("a starts with 'OT'", "a between 'OTA' and 'OTZ'"),
    ("a between 'O' and 'P'", "a like 'OT%x'"),
    ("a like 'N%SE'", "a like 'NY%SE'"),
    ("a contains 'b'", "a like '%abc_'"),
    ("a ilike 'ab%'", "a starts with 'aB'"),
    ("a ilike '%x%'", "a ilike 'x%'"),
    ("a like '_%'", "a starts with 'x'"),
    ("a like '_%'", "a > ''"),
    ("a like '_%'", "a ilike '%a'"),
    ("a like '%_%'", "a ilike '%x%'"),
    ("a like 'a_%'", "a between 'a' exclusive and 'az'"),
    ("a = ''", "a <= ''"),
    ("a in ('k', 'K', '\u212a')", "a ilike 'k'"),
    ("a >= 'A'", "a ilike 'abc%'"),
    ("a > '9'", "a ilike 'z_%'"),
    ("a != 'c'", "a like '%b'"),
    ("a matches '^O'", "a = 'OTE'"),
    ("a matches 'x'", "a matches 'x' and b = 1"),
    ("a in cidr '10.0.0.0/8'", "a in cidr '10.1.0.0/16'"),
    ("a in cidr '10.0.0.0/8'", "a in ('10.1.0.0', '10.2.0.0')"),
    ("type is T", "type = 'T'"),
    ("a <= b", "a < b"),
    ("b > a", "a < b"),
    ("a != b", "b < a"),
    ("not a in (1, 2)", "not a in (1, 2, 3)"),
    ("not a = 1", "missing a"),
    ("a = 1", "a = 1 and b = 2"),
    ("(a = 1 or b = 2) and c = 3", "c = 3 and a = 1"),
    ("a = 1 or b = 2", "a = 1 or (b = 2 and c = 3)"),
    ("(a = 1 or b = 1) and (a = 2 or b = 2)", "a = 1 and b = 2"),
    ("a < 5", "false"),
    ("true", "a < 5"),
    ("a = 1", "b between 5 and 1"),
]
DOES_NOT_COVER = [
    ("a < 5", "a < 10"),
    ("a < 5", "a <= 5"),
    ("a between 1 and 5", "a >= 1 and a <= 5"),
    ("a = true", "a = 1"),
    ("a = 9007199254740992", "a = 9007199254740993"),
    ("a != 3", "exists a"),
    ("a < 5 or a >= 5", "exists a"),
    ("a < 5", "not a >= 5"),
    ("a >= b", "a = b"),
    ("type = 'T'", "type is T"),
    ("a starts with 'OT'", "a ilike 'OT%'"),
    ("a = 1", "a = 1 or b = 1"),
    ("not a = 1", "a != 1"),
    ("a is null", "a <= ''"),
    ("a in ('k', 'K')", "a ilike 'k'"),
    ("a between 'A' and 'z'", "a ilike 's%'"),
    ("exists type", "type is T"),
]


@pytest.mark.parametrize(("wide", "narrow"), COVERS)
def test_covers(wide: str, narrow: str) -> None:
    assert covers(fyke.parse(wide), fyke.parse(narrow))


@pytest.mark.parametrize(("wide", "narrow"), DOES_NOT_COVER)
def test_does_not_cover(wide: str, narrow: str) -> None:
    assert not covers(fyke.parse(wide), fyke.parse(narrow))


def check_claims(taken: list[Filter], seen: list[Event], schema: Schema | None = None) -> None:
    """What is claimed of each ordered pair holds on the events."""
    if schema is None:
        verdicts = [[filter.matches(event) for event in seen] for filter in taken]
    else:
        verdicts = [[accepts(filter, event, schema) for event in seen] for filter in taken]
    pairs = permutations(zip(taken, verdicts, strict=True), 2)
    for (wide, of_wide), (narrow, of_narrow) in pairs:
        claimed = covers(wide, narrow, schema=schema)
        disjoint = not overlaps(wide, narrow, schema=schema)
        lost = [n and not w for w, n in zip(of_wide, of_narrow, strict=True)]
        common = [n and w for w, n in zip(of_wide, of_narrow, strict=True)]
        reached(
            proved=claimed and wide != narrow and any(of_narrow),
            refuted=any(lost),
            disjoint=disjoint and any(of_wide) and any(of_narrow),
            by_schema=claimed and schema is not None and not covers(wide, narrow),
            decided=claimed or any(lost) or not any(of_narrow),
        )
        assert not (claimed and any(lost)), f"{wide} loses of {narrow} {seen[lost.index(True)]}"
        assert not (disjoint and any(common)), (
            f"{wide} shares with {narrow} {seen[common.index(True)]}"
        )


@reaches(proved=0.2, refuted=0.35, disjoint=0.02, decided=0.95)
@examples(2.5)
@given(randoms())
def test_covering_is_sound(rng: Random) -> None:
    taken = family(rng, size=4)
    check_claims(taken, events_about(rng, taken))


@reaches(proved=0.15, refuted=0.4, decided=0.96)
@examples(2.5)
@given(randoms())
def test_covering_of_leaves_is_sound(rng: Random) -> None:
    """One predicate and its relatives, all on one attribute: each value near to them is tried."""
    first = leaf(rng, "a")
    taken = [first, *(varied_leaf(rng, first) for _ in range(4))]
    values = mentioned(rng, taken)
    alone = [Event.flat({name: value}) for name in values for value in values[name]]
    check_claims(taken, [*alone, *events_about(rng, taken, 20)])


@reaches(proved=0.2, refuted=0.25, disjoint=0.02, by_schema=0.06, decided=0.95)
@examples(2.5)
@given(randoms())
def test_covering_is_sound_with_a_schema(rng: Random) -> None:
    taken = family(rng, size=3)
    declared = schema(rng, taken)
    check_claims(taken, fitting_events(rng, taken, declared), declared)


@reaches(types=0.5, proved=0.15, refuted=0.4, decided=0.94)
@examples(1.5)
@given(randoms(), st.booleans())
def test_covering_of_types_is_sound(rng: Random, is_declared: bool) -> None:
    """`type is` beside `type in` and patterns on the type, with a hierarchy or without."""
    first = leaf(rng, "type")
    taken = [first, *(varied(rng, first) for _ in range(3))]
    reached(types=any(isinstance(node, TypeIs) for each in taken for node in walk(each)))
    declared = schema(rng, []) if is_declared else None
    seen = events_about(rng, taken) if declared is None else fitting_events(rng, taken, declared)
    check_claims(taken, seen, declared)


@reaches(never=0.02, equivalent=0.07)
@examples(1.5)
@given(randoms())
def test_laws_of_covering(rng: Random) -> None:
    one, other, third = family(rng, size=3)
    assert covers(one, one)
    assert covers(TRUE, one)
    assert covers(one, FALSE)
    assert covers(one | other, one)
    assert covers(one, one & other)
    assert covers(one | third, other) or not covers(one, other)
    assert covers(one, other & third) or not covers(one, other)
    assert equivalent(one & other, other & one)
    assert equivalent(one, simplify(one))
    assert overlaps(one, other) == overlaps(other, one)
    assert is_never_true(one & ~one) and is_always_true(one | ~one)
    never, same = is_never_true(one & other), equivalent(one, other)
    assert never is not overlaps(one, other)
    assert same is (covers(one, other) and covers(other, one))
    assert is_never_true(one) is (open_branch(one) is None)
    budget = rng.choice((0, 1, 3, 10, 30))
    assert covers(one, other, budget=budget) <= covers(one, other), "less work proves no more"
    assert overlaps(one, other, budget=budget) >= overlaps(one, other)
    reached(never=never, equivalent=same and one != other)
    for event in events_about(rng, [one, other], 20):
        assert not (never and (one & other).matches(event))
        assert not is_always_true(one) or one.matches(event)
        assert not same or one.matches(event) is other.matches(event)


FAR = [10**18, -(10**18), 10**308 * 1.0, -(10**308) * 1.0, "\U0010ffff" * 3, None, True, False, ""]


@reaches(covered=0.3, refuted=0.3, decided=0.97)
@examples(3)
@given(randoms())
def test_covering_of_sets_and_intervals_is_complete(rng: Random) -> None:
    """Where covers says no, a value next to an end proves it right; few texts are neighbours."""
    narrow, wide = spans(rng, "a", 2)
    if rng.random() < 0.3:
        wide = NotIn("a", wide.values) if isinstance(wide, In) else varied_leaf(rng, wide)
    near = [*mentioned(rng, [narrow, wide])["a"], *MOMENTS, *FAR]
    seen = [Event.flat({"a": value}) for value in near]
    lost = [event for event in seen if narrow.matches(event) and not wide.matches(event)]
    claimed = covers(wide, narrow)
    reached(covered=claimed, refuted=bool(lost), decided=claimed or bool(lost))
    assert not (claimed and lost), (str(wide), str(narrow), lost[0])


# --- with a schema ------------------------------------------------------------------------------

SCHEMA = Schema(
    attributes=[
        Attribute("i", Integer(0, 100)),
        Attribute("r", Real()),
        Attribute("f", FixedPoint(0, 10, decimals=2)),
        Attribute("s", String()),
        Attribute("e", Enumeration(("low", "mid", "high"))),
        Attribute("t", Boolean()),
        Attribute("m", Integer(0, 9), multiple=True),
    ],
    types=[EventType("Thing"), EventType("Stock", supertypes=["Thing"])],
)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("r between 1 and 5", "r >= 1 and r <= 5", True),
        ("i between 2 and 4", "i > 1 and i < 5", True),
        ("r between 2 and 4", "r > 1 and r < 5", False),
        ("f > 8.29", "f >= 8.3", True),
        ("f >= 8.3", "f > 8.29", True),
        ("i in (0, 1)", "i < 2", True),
        ("exists i", "i between 0 and 100", True),
        ("i between 0 and 100", "exists i", True),
        ("m between 0 and 9", "exists m", False),
        ("e in ('low', 'mid')", "e != 'high'", True),
        ("t = true or t = false", "exists t", True),
        ("s < 'b' or s >= 'b'", "exists s", True),
        ("s ilike 'İs%aå'", "s like 'İſ%Aå' and s <= 'İſaAæ'", True),
        ("s contains 'x'", "s >= 'a' and s like '%x%y' and s < 'b' and s ends with 'z'", True),
        ("s contains 'y'", "s >= 'a' and s like '%x%' and s < 'b' and s ends with 'z'", False),
        ("type is Thing", "type is Stock", True),
        ("type is Stock", "type is Thing", False),
        ("type is Thing", "type = 'Stock'", True),
    ],
)
def test_covering_with_a_schema(wide: str, narrow: str, expected: bool) -> None:
    assert covers(fyke.parse(wide), fyke.parse(narrow), schema=SCHEMA) is expected


SMALL = [
    Integer(0, 7),
    Integer(-3, 4),
    Integer(-2, -1),
    FixedPoint(-0.5, 0.5, decimals=1),
    FixedPoint(-1.25, -1.2, decimals=2),
    FixedPoint(-2, 3, decimals=0),
]


def numeric_leaf(rng: Random, name: str, domain: Integer | FixedPoint) -> Filter:
    """A predicate with numbers of the domain, between them, or just outside."""
    number = domain.at(rng.randrange(domain.size))
    low, high = sorted(rng.choice([number - 1, number, number, -number, 0.5, -1.5]) for _ in "ab")
    match rng.randrange(4):
        case 0:
            return rng.choice((In, NotIn))(name, (number, low))
        case 1:
            return Range(name, low, high, rng.random() < 0.5, rng.random() < 0.5)
        case 2:
            return Range(name, low, None, low_open=rng.random() < 0.5)
    return Range(name, None, high, high_open=rng.random() < 0.5)


@reaches(covered=0.2, not_covered=0.3, disjoint=0.05)
@examples(3)
@given(randoms())
def test_covering_is_exact_over_finite_domains(rng: Random) -> None:
    """With single-valued numbers of a finite domain every Boolean tree is decided exactly."""
    domains = {"a": rng.choice(SMALL), "b": rng.choice(SMALL)}
    declared = Schema([Attribute(*each) for each in domains.items()])

    def drawn() -> Filter:
        leaves = [numeric_leaf(rng, name, domains[name]) for name in rng.choices("ab", k=3)]
        parts = [~each if rng.random() < 0.2 else each for each in leaves[: rng.randint(1, 3)]]
        return reduce(rng.choice((and_, or_)), parts)

    wide = drawn()
    narrow = wide & drawn() if rng.random() < 0.3 else drawn()
    choices = [[None, *map(each.at, range(each.size))] for each in domains.values()]
    everything = [
        Event(
            {name: value for name, value in zip(domains, values, strict=True) if value is not None}
        )
        for values in product(*choices)
    ]
    truth = all(wide.matches(event) for event in everything if narrow.matches(event))
    shared = any(wide.matches(event) and narrow.matches(event) for event in everything)
    reached(covered=truth and wide != narrow, not_covered=not truth, disjoint=not shared)
    assert covers(wide, narrow, schema=declared) is truth
    assert overlaps(wide, narrow, schema=declared) is shared


# --- attributes that are required ----------------------------------------------------------------

HUNDRED = Attribute("a", Integer(0, 100), required=True)
REQUIRING = Schema(
    attributes=[Attribute("id", String(), required=True), Attribute("o", Integer(0, 9))],
    types=[
        EventType("T", [HUNDRED, Attribute("m", Integer(0, 9), multiple=True, required=True)]),
        EventType("Sub", supertypes=["T"]),
        EventType("U", [HUNDRED, Attribute("level", Enumeration(("low", "high")), required=True)]),
        EventType("V", [Attribute("a", Integer(0, 100))]),
    ],
)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("a >= 0 and a <= 100", "type is T", True),
        ("a between 0 and 100", "type is Sub", True),
        ("a between 0 and 100", "type = 'T' and o = 1", True),
        ("a between 0 and 99", "type is T", False),
        ("a between 0 and 99", "type is T and not a = 100", True),
        ("a between 0 and 100", "type is V", False),
        ("a between 0 and 100", "true", False),
        ("a between 0 and 100", "type is T or type is U", True),
        ("a between 0 and 100", "type in ('T', 'U')", True),
        ("a between 0 and 100", "type in ('T', 'V')", False),
        ("a between 0 and 100", "type in ('T', 'V') and not type = 'V'", True),
        ("a between 0 and 100", "not type is V", False),
        ("level in ('high', 'low')", "type in ('T', 'U')", False),
        ("level in ('high', 'low')", "type is U", True),
        ("exists m", "type is T", True),
        ("m between 0 and 9", "type is T", False),
        ("exists id", "true", True),
        ("id >= ''", "o = 1", True),
        ("exists o", "type is T", False),
        ("type is T", "a between 0 and 100", False),
        ("not type is T", "missing a", True),
        ("not type is Sub", "missing m", True),
        ("not type is V", "missing a", False),
        ("not type = 'U'", "not level in ('low', 'high')", True),
    ],
)
def test_covering_where_attributes_are_required(wide: str, narrow: str, expected: bool) -> None:
    assert covers(fyke.parse(wide), fyke.parse(narrow), schema=REQUIRING) is expected
    assert not covers(fyke.parse(wide), fyke.parse(narrow)) or wide == narrow


def requiring_schema(rng: Random) -> Schema:
    """Two attributes, each required of some types, of all events, or of none."""
    domains = {"a": Integer(0, 1), "b": Boolean()}
    multiple = {name: rng.random() < 0.3 for name in domains}

    def some() -> list[Attribute]:
        return [
            Attribute(name, domains[name], multiple[name], required=rng.random() < 0.7)
            for name in domains
            if rng.random() < 0.6
        ]

    types = [EventType("T", some()), EventType("Sub", some(), ["T"]), EventType("V", some())]
    return Schema(some() if rng.random() < 0.3 else [], types)


@cache
def everything() -> list[Event]:
    """All values of both attributes, and all ways to have types."""
    found = []
    had = [types for size in range(4) for types in combinations(("T", "Sub", "V"), size)]
    values = [None, 0, 1, "x", [], [0, 1]], [None, True, False, 0, []]
    for types, *both in product(had, *values):
        document = {name: each for name, each in zip("ab", both, strict=True) if each is not None}
        found += [Event({**document, "type": list(types)}), Event(document, supertypes=types)]
        if len(types) == 1:
            found.append(Event({**document, "type": types[0]}))
    return found


def valid_events(schema: Schema) -> list[Event]:
    found = []
    for event in everything():
        with suppress(fyke.SchemaError):
            found.append(schema.validate(event))
    return found


TYPED = [
    fyke.parse(text)
    for text in ("type is T", "type is Sub", "type is V", "type = 'T'", "type in ('T', 'V')",
                 "type in ('Sub', 'V')", "type in ('T', 'V') and not type = 'V'")
]  # fmt: skip
VALUED = [
    fyke.parse(text)
    for text in ("exists a", "a between 0 and 1", "a in (0, 1)", "a = 0", "a > 0", "exists b",
                 "b in (true, false)", "b = true", "missing a", "missing b")
]  # fmt: skip


@reaches(by_requirement=0.04, refuted=0.3, valid=1)
@given(randoms())
def test_no_valid_event_is_lost_where_attributes_are_required(rng: Random) -> None:
    """Of few leaves about types and presence, so that a requirement often decides."""
    declared = requiring_schema(rng)
    lenient = without_requirements(declared)
    seen = valid_events(declared)

    def drawn() -> Filter:
        parts = [rng.choice(rng.choice((TYPED, VALUED))) for _ in range(rng.choice((1, 1, 2)))]
        return reduce(
            rng.choice((and_, or_)), [~each if rng.random() < 0.2 else each for each in parts]
        )

    for _ in range(12):
        wide, narrow = drawn(), drawn()
        claimed = covers(wide, narrow, schema=declared)
        disjoint = not overlaps(wide, narrow, schema=declared)
        accepted = [event for event in seen if narrow.matches(event)]
        kept = [wide.matches(event) for event in accepted]
        by_requirement = claimed and not covers(wide, narrow, schema=lenient)
        reached(by_requirement=by_requirement, refuted=not all(kept), valid=bool(seen))
        assert all(kept) or not claimed, (str(wide), str(narrow), accepted[kept.index(False)])
        assert not (disjoint and any(kept)), (str(wide), str(narrow), accepted[kept.index(True)])


@reaches(claimed=0.15, by_requirement=0.06)
@examples(0.5)
@given(randoms())
def test_what_a_type_requires_is_known_of_its_events(rng: Random) -> None:
    """Of one attribute and one type, covering says what is true of all valid events."""
    declared = requiring_schema(rng)
    lenient = without_requirements(declared)
    seen = valid_events(declared)
    for narrow, wide in product(TYPED, VALUED):
        claimed = covers(wide, narrow, schema=declared)
        kept = all(wide.matches(event) for event in seen if narrow.matches(event))
        by_requirement = claimed and not covers(wide, narrow, schema=lenient)
        reached(claimed=claimed, by_requirement=by_requirement)
        assert claimed is kept, (str(wide), str(narrow), declared)


def without_requirements(schema: Schema) -> Schema:
    def optional(attributes: Iterable[Attribute]) -> list[Attribute]:
        return [replace(each, required=False) for each in attributes]

    types = [replace(each, attributes=optional(each.attributes)) for each in schema.types]
    return Schema(optional(schema.attributes), types)


# --- bounds -------------------------------------------------------------------------------------


def test_never_and_always_true() -> None:
    assert is_never_true(fyke.parse("a = 1 and not exists a"))
    assert is_never_true(fyke.parse("a < b and missing b"))
    assert not is_never_true(fyke.parse("a = 1 and a = 2"))
    assert is_always_true(fyke.parse("not (a = 1 and b = 2) or exists a"))
    assert not is_always_true(fyke.parse("a = 1 or a != 1"))


def test_a_budget_ends_the_search_on_the_safe_side() -> None:
    hard = fyke.parse(" and ".join(f"(a{i} = 1 or b{i} = 2 or c{i} < 3)" for i in range(300)))
    started = time.process_time()
    assert covers(fyke.parse("z = 1"), hard) is False
    wider = fyke.parse(" and ".join(f"(a{i} = 1 or b{i} = 2 or c{i} < 4)" for i in range(300)))
    assert covers(hard, hard & fyke.parse("z = 1"))
    assert covers(wider, hard)
    assert not covers(wider, hard, budget=10), "out of budget, no covering is claimed"
    assert overlaps(hard, ~hard, budget=10), "out of budget, an overlap is possible"
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "text",
    [
        " and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(400)),
        " or ".join(f"(a = {i} and b < {i})" for i in range(1_000)),
        " and ".join(f"not a = {i}" for i in range(10_000)),
        " and ".join(f"not a like '%x{i}%y'" for i in range(2_000)) + " and a = 'x'",
    ],
    ids=["and of ors", "or of ands", "negated equalities", "negated patterns"],
)
def test_long_filters_end_quickly(text: str) -> None:
    filter = fyke.parse(text)
    started = time.process_time()
    overlaps(filter, fyke.parse("c = 1"))
    covers(filter, fyke.parse("b < 500 and a in (1, 2, 3)"))
    is_never_true(filter)
    merge([filter, fyke.parse("c = 1")])
    assert time.process_time() - started < 10


def test_hostile_patterns_end_quickly() -> None:
    letters = "".join(chr(0x4E00 + i) for i in range(99))
    wide = fyke.parse("a like '%a" + "_" * 99 + "'")
    narrow = fyke.parse(f"a like '%a%{letters}%{'%'.join('ab' * 10)}%'")
    started = time.process_time()
    covers(wide, narrow)
    assert time.process_time() - started < 10


def test_types_of_validated_events_conform_to_all_supertypes() -> None:
    """What `covers` claims about types holds for every event that the schema accepts."""
    schema = Schema(types=[EventType("Stock"), EventType("Share", supertypes=["Stock"])])
    wide, narrow = fyke.parse("type is Stock"), fyke.parse("type is Share")
    assert covers(wide, narrow, schema=schema)
    for event in (
        Event({"type": ["Share", "X"]}),
        Event({"type": "Mini"}, supertypes=["Share"]),
        Event({}, supertypes=["Share"]),
        Event({"type": "Share"}),
    ):
        assert check_covers(wide, narrow, [schema.validate(event)]) == 1


def test_large_sets_are_no_trouble() -> None:
    many = ", ".join(map(str, range(20_000)))
    started = time.process_time()
    assert covers(fyke.parse(f"a in ({many})"), fyke.parse("a = 19999"))
    assert not covers(fyke.parse(f"a not in ({many})"), fyke.parse(f"a in ({many}, 'x')"))
    assert time.process_time() - started < 5


def test_check_covers_finds_a_lost_event() -> None:
    wide, narrow = fyke.parse("a < 5"), fyke.parse("a < 10")
    with pytest.raises(AssertionError, match="lost"):
        check_covers(wide, narrow, [{"a": 3}, {"a": 7}])
    assert check_covers(narrow, wide, [{"a": 3}, {"a": 7}]) == 1


def test_conjunctions_of_many_predicates() -> None:
    narrow = conjunction(fyke.parse(f"a{i} between {i} and {i + 5}") for i in range(200))
    wide = conjunction(fyke.parse(f"a{i} < {i + 6}") for i in range(200))
    assert covers(wide, narrow)
    assert not covers(narrow, wide)
