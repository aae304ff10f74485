"""Domains count exactly, schemas contradict nothing, and a validated event keeps their promise."""

from __future__ import annotations

import math
import pickle
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke import Event, EventError, SchemaError
from fyke.events import domain, json
from fyke.events.domain import (
    Boolean,
    Decimals,
    Enumeration,
    FixedPoint,
    Integer,
    Named,
    Real,
    String,
    Timestamp,
)
from fyke.events.number import ExactDecimal
from fyke.events.schema import Attribute, EventType, Schema
from fyke.events.value import canonical
from fyke.limits import Limits
from fyke.testing.generators import events, scalars

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
LEVELS = Enumeration(("low", "mid", "high"))
FINITE = [
    Integer(-2, 3),
    Integer(2**63 - 3, 2**63 - 1),
    FixedPoint(0, 1, decimals=1),
    FixedPoint(-0.05, 0.05, decimals=2),
    FixedPoint(999_999.999, 1_000_000.001, decimals=3),
    FixedPoint(3, 7, decimals=0),
    LEVELS,
    Enumeration(("only",)),
]

# --- domains --------------------------------------------------------------------------------------


@pytest.mark.parametrize("finite", FINITE)
def test_a_finite_domain_counts_through_its_values(finite):
    values = [finite.at(0)]
    while (following := finite.succ(values[-1])) is not None:
        values.append(following)
    assert len(values) == finite.size
    assert [finite.index(value) for value in values] == list(range(finite.size))
    assert [finite.pred(value) for value in values] == [None, *values[:-1]]
    assert all(map(finite.contains, values))


def test_fixed_point_does_not_drift():
    cents = FixedPoint(0, 100, decimals=2)
    assert cents.size == 10_001
    value = cents.at(0)
    for step in range(1, 10_001):
        value = cents.succ(value)
        assert value == float(f"{step // 100}.{step % 100:02}")
    assert cents.succ(value) is None
    assert cents.index(8.30) == 830
    assert (
        cents.contains(8.3) and cents.contains(8) and cents.contains(8.0) and cents.contains(-0.0)
    )
    for outside in (8.301, 0.1 + 0.2, 100.01, -0.01, 1e308, True, None, "8.3", 2**63 - 1, 5e-324):
        assert not cents.contains(outside)


@given(st.integers(0, 10), st.data())
def test_fixed_point_holds_exactly_the_decimals(decimals, data):
    units = data.draw(st.integers(-(10**13), 10**13))
    value = float(Decimal(units).scaleb(-decimals))
    fixed = FixedPoint(-(10**15) // 10**decimals, 10**15 // 10**decimals, decimals)
    assert fixed.contains(value) == (fixed.low <= value <= fixed.high)
    if fixed.contains(value):
        assert fixed.at(fixed.index(value)) == value
        if units < 10**12:
            assert fixed.pred(fixed.succ(value)) == value
        assert not fixed.contains(math.nextafter(value, math.inf)) or decimals == 0


@pytest.mark.parametrize("finite", FINITE)
@pytest.mark.parametrize("outside", [None, True, "x", 10**7, 0.123456, NOON])
def test_no_neighbours_outside(finite, outside):
    assert not finite.contains(outside)
    for operation in (finite.index, finite.pred, finite.succ):
        with pytest.raises(SchemaError, match="not in the domain"):
            operation(outside)


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (Integer(0, 9), [0, 9, 5.0, -0.0], [-1, 10, 5.5, "5", True, None, NOON]),
        (Integer(), [2**63 - 1, -(2**63), 2**53 + 1], [2.0**63, 0.5, False]),
        (LEVELS, ["low", "high"], ["LOW", "", None, 0]),
        (Real(), [0, -0.0, 1e308, 2**53 + 1], [True, None, "0", NOON]),
        (Real(low=1), [1, 1.5], [0.999, False]),
        (Real(high=2**53), [2**53], [2**53 + 1]),
        (String(), ["", "é"], [None, 1, True, NOON]),
        (Timestamp(), [NOON], [None, 1, "2026-01-31"]),
        (Boolean(), [True, False], [0, 1, None, "true"]),
    ],
)
def test_membership(domain, inside, outside):
    assert all(map(domain.contains, inside))
    assert not any(map(domain.contains, outside))


@given(st.sampled_from([*FINITE, Real(0, 1), String(), Timestamp(), Boolean()]), scalars())
def test_membership_is_total(domain, value):
    assert type(domain.contains(value)) is bool


@pytest.mark.parametrize(
    "make",
    [
        lambda: Integer(2, 1),
        lambda: Integer(0, 2**63),
        lambda: Integer(0, 1.5),
        lambda: Integer(False, True),
        lambda: FixedPoint(1, 0, 2),
        lambda: FixedPoint(0, 0.001, 2),
        lambda: FixedPoint(0, 10**15, 2),
        lambda: FixedPoint(0, 1, -1),
        lambda: FixedPoint(0, 1, 16),
        lambda: FixedPoint(0, math.nan, 2),
        lambda: FixedPoint(0, math.inf, 2),
        lambda: FixedPoint(0, "1", 2),
        lambda: FixedPoint(0, Decimal("0.001"), 2),
        lambda: Decimals(Decimal("NaN")),
        lambda: Decimals(0, Decimal("1E+400")),
        lambda: Decimals(0, Decimal("0.10000000000000001")),
        lambda: Decimals(Decimal("1.00"), Decimal("0.99")),
        lambda: Enumeration(()),
        lambda: Enumeration(("a", "b", "a")),
        lambda: Enumeration(("a", 1)),
        lambda: Real(2, 1),
        lambda: Real(math.nan),
        lambda: Real("x"),
        lambda: Real(high=True),
    ],
)
def test_domains_that_make_no_sense(make):
    with pytest.raises(SchemaError):
        make()


# --- schemas --------------------------------------------------------------------------------------


def test_bounds_may_be_written_as_money():
    assert FixedPoint(Decimal("0.00"), Decimal("99.90"), 2) == FixedPoint(0, 99.9, 2)
    bounded = Decimals(Decimal("0.00"), Decimal("99.90"))
    assert bounded == Decimals(0, 99.9)
    assert bounded.to_document() == {"decimal": {"low": 0, "high": 99.9}}
    assert bounded.contains(canonical(Decimal("99.900")))
    assert not bounded.contains(canonical(Decimal("99.90000000000000000001")))


CENTS = FixedPoint(0, 100, decimals=2)
PRICE = Attribute("price", CENTS, required=True)
WHEN = Attribute("log.when", Timestamp(), multiple=True)
VOTES = Attribute("votes", Integer())
SCHEMA = Schema(
    attributes=[Attribute("tags", String(), multiple=True), Attribute("time", Timestamp())],
    types=[
        EventType("Thing", [Attribute("level", LEVELS)]),
        EventType("Stock", [PRICE], ["Thing"]),
        EventType("Traded", [WHEN], ["Thing"]),
        EventType("Share", [Attribute("price", CENTS), VOTES], ["Stock", "Traded"]),
    ],
)


def test_lookups():
    assert SCHEMA.attribute("price") == Attribute("price", CENTS, required=True)
    assert SCHEMA.attribute("tags").multiple
    assert SCHEMA.attribute("nothing") is None
    assert [SCHEMA.is_single(name) for name in ("price", "votes", "tags", "nothing")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert SCHEMA.type("Stock").supertypes == ("Thing",)
    assert SCHEMA.type("None") is None


def test_the_hierarchy():
    assert SCHEMA.supertypes("Share") == ("Stock", "Traded", "Thing")
    assert SCHEMA.supertypes("Thing") == SCHEMA.supertypes("Unknown") == ()
    assert SCHEMA.subtypes("Thing") == ("Stock", "Traded", "Share")
    assert SCHEMA.subtypes("Share") == SCHEMA.subtypes("Unknown") == ()
    assert SCHEMA.conforms("Share", "Thing") and SCHEMA.conforms("X", "X")
    assert not SCHEMA.conforms("Thing", "Share")
    assert [each.name for each in SCHEMA.attributes_of("Share")] == [
        "tags", "time", "price", "votes", "price", "log.when", "level",
    ]  # fmt: skip


def test_a_long_or_wide_hierarchy_is_no_trouble():
    chain = [EventType("T0")] + [EventType(f"T{n}", (), [f"T{n - 1}"]) for n in range(1, 5000)]
    assert len(Schema(types=chain).supertypes("T4999")) == 4999
    diamonds = [EventType("A0"), EventType("B0")] + [
        EventType(f"{side}{n}", (), [f"A{n - 1}", f"B{n - 1}"])
        for n in range(1, 60)
        for side in "AB"
    ]
    assert len(Schema(types=diamonds).supertypes("A59")) == 118


@pytest.mark.parametrize(
    ("types", "problem"),
    [
        ([EventType("A", (), ["B"])], "type 'A': unknown supertype 'B'"),
        ([EventType("A", (), ["A"])], "type 'A': its own supertype"),
        (
            [EventType("A", (), ["B"]), EventType("B", (), ["C"]), EventType("C", (), ["A"])],
            "own supertype",
        ),
        ([EventType("A"), EventType("A")], "type 'A': declared twice"),
        (
            [
                EventType("A", [Attribute("x", String())]),
                EventType("B", [Attribute("x", Real())], ["A"]),
            ],
            "type 'B': attribute 'x': declared as",
        ),
        (
            [
                EventType("A", [Attribute("x", Real())]),
                EventType("B", [Attribute("x", Real(), True)]),
            ],
            "type 'B': attribute 'x': declared both as single and as multiple",
        ),
        ([EventType("A", [Attribute("tags", Real())])], "type 'A': attribute 'tags'"),
    ],
)
def test_contradictions_are_named(types, problem):
    with pytest.raises(SchemaError, match=problem):
        Schema([Attribute("tags", String(), multiple=True)], types)


def test_changes_make_new_schemas():
    bigger = SCHEMA.with_type(EventType("Bond", (), ["Thing"])).with_attribute(
        Attribute("x", Real())
    )
    assert bigger.subtypes("Thing") == ("Stock", "Traded", "Bond", "Share")
    assert bigger.attribute("x") is not None
    assert SCHEMA.type("Bond") is None and SCHEMA.attribute("x") is None
    wider = SCHEMA.with_attribute(Attribute("tags", Integer(), multiple=True))
    assert wider.attribute("tags").domain == Integer()
    assert SCHEMA.with_type(EventType("Share", (), ["Thing"])).supertypes("Share") == ("Thing",)
    with pytest.raises(SchemaError):
        SCHEMA.with_type(EventType("Thing", (), ["Share"]))
    assert Schema(SCHEMA.attributes, SCHEMA.types) == SCHEMA
    assert hash(SCHEMA) == hash(Schema(SCHEMA.attributes, SCHEMA.types))
    assert bigger != SCHEMA


LIMITS = Real(-50, 50)
NAMED = Schema(
    [Attribute("inside", Named("celsius"), required=True), Attribute("other", LIMITS)],
    [
        EventType("Sensor", [Attribute("outside", Named("celsius"), multiple=True)]),
        EventType("Level", [Attribute("level", Named("levels")), Attribute("inside", LIMITS)]),
    ],
    {"celsius": Real(-50, 50), "levels": LEVELS},
)


def test_attributes_refer_to_domains_by_name():
    assert NAMED.attribute("inside") == Attribute("inside", Real(-50, 50), required=True)
    assert NAMED.attribute("outside").domain == Real(-50, 50)
    assert {each.domain for each in NAMED.attributes_of("Level")} == {Real(-50, 50), LEVELS}
    assert NAMED.validate({"type": "Level", "inside": 50, "level": "mid"})
    with pytest.raises(SchemaError, match="51 is not in the domain Real"):
        NAMED.validate({"inside": 51})
    with pytest.raises(SchemaError, match="'outside'"):
        NAMED.validate({"inside": 1, "outside": [1, 51]})
    inline = Schema([Attribute("inside", Real(-50, 50), required=True)])
    always = fyke.parse("inside between -50 and 50")
    assert fyke.covers(always, fyke.parse("a = 1"), schema=NAMED)
    assert fyke.covers(always, fyke.parse("a = 1"), schema=inline)


def test_another_domain_of_the_name_changes_all_that_refer_to_it():
    wider = NAMED.with_type(EventType("Level")).with_domain("celsius", Real(-90, 60))
    assert wider.attribute("inside").domain == wider.attribute("outside").domain == Real(-90, 60)
    assert wider.attribute("other").domain == Real(-50, 50)
    assert NAMED.attribute("inside").domain == Real(-50, 50)
    assert wider != NAMED
    more = wider.with_attribute(Attribute("below", Named("celsius")))
    assert more.domains == wider.domains
    with pytest.raises(SchemaError, match="'inside': declared as"):
        NAMED.with_domain("celsius", Real(-90, 60))


def test_named_domains_come_back_from_a_document():
    document = NAMED.to_document()
    assert document["domains"]["celsius"] == {"real": {"low": -50, "high": 50}}
    assert document["attributes"]["inside"] == {"domain": "celsius", "required": True}
    again = Schema.from_document(json.decode(json.encode(document)))
    assert again == NAMED
    assert hash(again) == hash(NAMED)
    assert again.attribute("outside") == NAMED.attribute("outside")
    assert pickle.loads(pickle.dumps(NAMED)) == NAMED
    assert "domains" not in SCHEMA.to_document()


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (
            lambda: Schema([Attribute("a", Named("celsuis"))], (), {"celsius": Real()}),
            "attribute 'a': unknown domain 'celsuis'; did you mean `celsius`",
        ),
        (lambda: Schema(domains={"string": Real()}), "'string' is the name of a kind of domain"),
        (lambda: Schema(domains={"enumeration": LEVELS}), "name of a kind of domain"),
        (lambda: Schema(domains={"a": Named("b"), "b": Real()}), "expected a domain itself"),
        (
            lambda: Schema.from_document({"domains": {"a": "b", "b": "real"}}),
            "domain 'a': 'b' is not a domain",
        ),
        (lambda: Schema.from_document({"domains": {"a": {"real": {"low": "x"}}}}), "domain 'a'"),
        (lambda: Schema.from_document({"domains": []}), "domains: expected an object"),
        (
            lambda: Schema.from_document(
                {"domains": {"level": "real"}, "attributes": {"a": {"domain": "levle"}}}
            ),
            "attribute 'a': 'levle' is not a domain; .*level; did you mean `level`",
        ),
        (lambda: Named("celsius").contains(1), "known to its schema only"),
    ],
)
def test_names_of_domains_that_mean_nothing(make, problem):
    with pytest.raises(SchemaError, match=problem):
        make()


# --- validation -----------------------------------------------------------------------------------


def test_a_fitting_event_gets_its_supertypes():
    event = SCHEMA.validate({"type": "Share", "price": 8.3, "other": 1})
    assert event.supertypes == ("Stock", "Traded", "Thing")
    assert event.attributes == {"type": "Share", "price": 8.3, "other": 1}
    assert SCHEMA.validate(event) is event


def test_the_payload_and_unknown_types_stay():
    event = Event({"type": "Unknown"}, supertypes=["X"], payload=b"p")
    assert SCHEMA.validate(event) is event
    kept = SCHEMA.validate(Event({"type": "Stock", "price": 1}, payload=b"p"))
    assert (kept.payload, kept.supertypes) == (b"p", ("Thing",))


def test_what_was_admitted_once_is_not_asked_again():
    """Decimals of columns and events under wider limits keep all they hold, and get their types."""
    exact = ExactDecimal("22517998136852480.25")
    for more in ({}, {"time": "2026-01-31"}):
        event = SCHEMA.validate(Event.flat({"type": "Stock", "price": 1, "exact": exact, **more}))
        assert event.attributes["exact"] == event.document["exact"] == exact
        assert event.supertypes == ("Thing",)
    wide = Limits(list_size_max=60_000, attributes_max=70_000)
    long = Event({"type": "Stock", "price": 1, "l": [0] * 60_000}, limits=wide)
    assert len(SCHEMA.validate(long)["l"]) == 60_000


def test_text_becomes_timestamps_wherever_it_stands():
    event = SCHEMA.validate(
        {
            "type": "Traded",
            "time": "2026-01-31T12:00:00Z",
            "log": [{"when": "2026-01-31"}, {"when": NOON, "text": "2026-01-31"}],
            "log.when": ["2026-01-31T13:00:00+01:00"],
        }
    )
    midnight = datetime(2026, 1, 31, tzinfo=UTC)
    assert event.time == NOON
    assert event.attributes["log.when"] == (midnight, NOON, NOON)
    assert event.attributes["log.text"] == ("2026-01-31",)
    assert event.document["log"][0]["when"] == midnight


@pytest.mark.parametrize(
    ("document", "attribute"),
    [
        ({"type": "Stock"}, "price"),
        ({"type": "Share"}, "price"),
        ({"type": "Stock", "price": 8.301}, "price"),
        ({"type": "Stock", "price": "8.3"}, "price"),
        ({"type": "Stock", "price": None}, "price"),
        ({"type": "Stock", "price": True}, "price"),
        ({"type": "Stock", "price": [8.3]}, "price"),
        ({"type": "Stock", "price": []}, "price"),
        ({"type": "Stock", "price": 1, "level": "LOW"}, "level"),
        ({"price": [1, 2]}, "price"),
        ({"type": "Unknown", "price": [1, 2]}, "price"),
        ({"type": "Thing", "votes": 1.5}, "votes"),
        ({"type": "Thing", "tags": ["a", 1]}, "tags"),
        ({"type": "Thing", "time": "noon"}, "time"),
        ({"type": "Thing", "log": {"when": 5}}, "log.when"),
    ],
)
def test_unfit_events_are_refused_by_attribute_and_type(document, attribute):
    with pytest.raises(SchemaError) as refused:
        SCHEMA.validate(document)
    assert refused.value.attribute == attribute
    assert refused.value.type_name == document.get("type")
    assert attribute in str(refused.value)


@pytest.mark.parametrize(
    "event",
    [
        Event({"type": "Share"}),
        Event({"type": ["Unknown", "Share"]}),
        Event({"type": "Unknown"}, supertypes=["Share"]),
        Event({}, supertypes=["Stock"]),
        Event({"type": "Thing"}, supertypes=["Stock"]),
    ],
)
def test_an_event_has_what_its_types_require_however_it_says_that_it_has_them(event):
    with pytest.raises(SchemaError, match="'price': missing"):
        SCHEMA.validate(event)
    assert SCHEMA.validate(Event({**event.document, "price": 1}, supertypes=event.supertypes))


def test_what_types_require():
    everybody = SCHEMA.with_attribute(Attribute("id", String(), required=True))
    assert SCHEMA.required_of("Share") == SCHEMA.required_of("Stock") == ("price",)
    assert SCHEMA.required_of("Thing") == SCHEMA.required_of("Unknown") == ()
    assert everybody.required_of("Share") == ("id", "price")
    assert everybody.required_of(None) == everybody.required_of("Unknown") == ("id",)
    empty = Schema(types=[EventType("", [PRICE])])
    assert empty.required_of("") == ("price",)
    assert empty.required_of(None) == empty.required_of("Unknown") == ()


@pytest.mark.parametrize(
    ("refused", "problem"),
    [
        (
            lambda: SCHEMA.validate({"type": "Stok", "price": 1}, typed=True),
            "the event's type is not declared; did you mean `Stock`?",
        ),
        (
            lambda: SCHEMA.validate({"type": "Stock", "price": 1, "levle": "low"}, closed=True),
            "attribute 'levle': not declared; did you mean `level`?",
        ),
        (
            lambda: SCHEMA.validate({"type": "Stock", "Price": 1}),
            "attribute 'price': missing; the event has 'Price'",
        ),
        (
            lambda: SCHEMA.validate({"type": "Stock", "price": 1, "tag": "x"}, complete=True),
            "attribute 'tags': missing; the event has 'tag'",
        ),
        (
            lambda: Schema(types=[EventType("Thing"), EventType("A", (), ["Ting"])]),
            "unknown supertype 'Ting'; did you mean `Thing`?",
        ),
        (
            lambda: Schema.from_document({"attributes": {"a": {"domain": "strng"}}}),
            "boolean, enumeration; did you mean `string`?",
        ),
        (lambda: Schema.from_document({"type": {}}), "did you mean `types`?"),
    ],
)
def test_errors_offer_the_declared_name_that_is_one_letter_away(refused, problem):
    with pytest.raises(SchemaError) as error:
        refused()
    assert problem in str(error.value)


def test_what_is_far_from_all_names_gets_no_offer():
    for document, options in (
        ({"type": "Bond"}, {"typed": True}),
        ({"type": "Stock", "price": 1, "colour": 1}, {"closed": True}),
        ({"type": "Stock", "cost": 1}, {}),
    ):
        with pytest.raises(SchemaError) as error:
            SCHEMA.validate(document, **options)
        assert error.value.meant is None
        assert "did you mean" not in str(error.value)
        assert "the event has" not in str(error.value)


def test_closed_complete_and_typed():
    full = {"type": "Stock", "price": 1, "level": "low", "tags": [], "time": NOON}
    assert SCHEMA.validate(
        {**full, "id": "1", "source": "s"}, closed=True, complete=True, typed=True
    )
    for missing in ("price", "level", "tags", "time"):
        document = {name: value for name, value in full.items() if name != missing}
        with pytest.raises(SchemaError, match=f"'{missing}': missing"):
            SCHEMA.validate(document, complete=True)
    for extra in ("other", "votes"):
        SCHEMA.validate({**full, extra: 1})
        with pytest.raises(SchemaError, match=f"'{extra}': not declared"):
            SCHEMA.validate({**full, extra: 1}, closed=True)
    for type_ in ({"type": "Unknown"}, {}, {"type": ["Stock"], "price": 1}, {"type": 5}):
        SCHEMA.validate(type_)
        for option in ("typed", "complete"):
            with pytest.raises(SchemaError, match="not declared"):
                SCHEMA.validate(type_, **{option: True})


OPEN = Schema(
    [
        Attribute("a", Real()),
        Attribute("b", String(), multiple=True),
        Attribute("null", Timestamp()),
    ],
    [EventType("Thing"), EventType("Stock", (), ["Thing"])],
)


@given(events())
def test_the_promise_to_whoever_folds_intervals(event):
    try:
        valid = OPEN.validate(event)
    except SchemaError:
        return
    for name, value in valid.attributes.items():
        if OPEN.is_single(name):
            assert not isinstance(value, tuple)
        if OPEN.attribute(name):
            elements = value if isinstance(value, tuple) else (value,)
            assert all(map(OPEN.attribute(name).domain.contains, elements))
    assert OPEN.validate(valid) is valid


def test_what_is_no_event_is_an_event_error():
    with pytest.raises(EventError):
        SCHEMA.validate(5)


# --- documents ------------------------------------------------------------------------------------


def test_a_schema_comes_back_from_its_document():
    document = SCHEMA.to_document()
    assert Schema.from_document(document) == SCHEMA
    assert Schema.from_document(json.decode(json.encode(document))) == SCHEMA
    assert Schema.from_document({}) == Schema()


@pytest.mark.parametrize(
    "some", [*FINITE, Integer(), Real(), Real(0), Real(high=1.5), String(), Timestamp(), Boolean()]
)
def test_a_domain_comes_back_from_its_document(some):
    assert domain.from_document(json.decode(json.encode(some.to_document()))) == some


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (None, "a schema: expected an object"),
        ([], "a schema: expected an object"),
        ({"type": {}}, "no member 'type'; expected attributes, domains, types"),
        ({"attributes": []}, "attributes: expected an object"),
        ({"attributes": {"a": "string"}}, "attribute 'a': an attribute: expected an object"),
        ({"attributes": {"a": {}}}, "attribute 'a': None is not a domain"),
        (
            {"attributes": {"a": {"domain": "text"}}},
            "'text' is not a domain; expected one of integer",
        ),
        ({"attributes": {"a": {"domain": []}}}, "not a domain"),
        (
            {"attributes": {"a": {"domain": {"integer": {"min": 1}}}}},
            "integer cannot be made from min",
        ),
        ({"attributes": {"a": {"domain": {"integer": {"low": "x"}}}}}, "attribute 'a': 'x'"),
        ({"attributes": {"a": {"domain": {"integer": 5}}}}, "not a domain"),
        ({"attributes": {"a": {"domain": "fixed"}}}, "fixed cannot be made from nothing"),
        ({"attributes": {"a": {"domain": {"enumeration": []}}}}, "at least one"),
        ({"attributes": {"a": {"domain": {"enumeration": [[]]}}}}, "list of strings"),
        ({"attributes": {"a": {"domain": {"string": {}, "real": {}}}}}, "not a domain"),
        ({"attributes": {"a": {"domain": "string", "multiple": 1}}}, "multiple is 1"),
        ({"attributes": {"a": {"domain": "string", "required": "no"}}}, "required is 'no'"),
        ({"attributes": {"a": {"domain": "string", "many": True}}}, "no member 'many'"),
        ({"types": {"T": []}}, "type 'T': a type: expected an object"),
        ({"types": {"T": {"super": "A"}}}, "type 'T': a type has no member 'super'"),
        ({"types": {"T": {"supertypes": "A"}}}, "type 'T': supertypes is not a list of names"),
        ({"types": {"T": {"supertypes": [1]}}}, "type 'T': supertypes is not a list of names"),
        (
            {"types": {"T": {"attributes": {"a": {"domain": 1}}}}},
            "type 'T': attribute 'a': 1 is not",
        ),
        ({"types": {1: {}}}, "types: expected an object"),
    ],
)
def test_documents_that_are_no_schema(document, problem):
    with pytest.raises(SchemaError, match=problem):
        Schema.from_document(document)
