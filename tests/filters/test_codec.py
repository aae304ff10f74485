"""Filters as documents and bytes: every tree comes back equal, anything else is refused."""

from __future__ import annotations

import contextlib
import json
import math
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke import FilterError
from fyke.filters import codec
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.comparison import Compare
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction, disjunction, negation
from fyke.limits import Limits
from fyke.testing.generators import events, filters, names, randoms, scalars, strings
from fyke.testing.related import family
from fyke.testing.stories.reaching import examples, reached, reaches

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)

SHAPES = [
    (TRUE, True),
    (FALSE, False),
    (p.equals("a", None), {"in": ["a", [None]]}),
    (p.In("a", ("x", 1, True)), {"in": ["a", [True, 1, "x"]]}),
    (p.NotIn("a", (2**53 + 1,)), {"not in": ["a", [2**53 + 1]]}),
    (p.Range("a", 1, 2.5, high_open=True), {"range": ["a", {">=": 1, "<": 2.5}]}),
    (
        p.Range("a", NOON, None, low_open=True),
        {"range": ["a", {">": {"timestamp": "2026-01-31T12:00:00Z"}}]},
    ),
    (p.Range("a", None, ""), {"range": ["a", {"<=": ""}]}),
    (t.starts_with("a", "50%_"), {"like": ["a", "50\\%\\_%"]}),
    (t.contains("a", "X", ignore_case=True), {"ilike": ["a", "%x%"]}),
    (t.Matches("a", "^x+$"), {"matches": ["a", "^x+$"]}),
    (t.in_network("a", "10.0.0.0/8"), {"in network": ["a", "10.0.0.0/8"]}),
    (p.Exists("weird name"), {"exists": "weird name"}),
    (p.TypeIs("Stock"), {"type is": "Stock"}),
    (Compare("a", "<", "b"), {"compare": ["a", "<", "b"]}),
    (negation(p.Exists("a")), {"not": {"exists": "a"}}),
    (conjunction([p.Exists("a"), p.Exists("b")]), {"and": [{"exists": "a"}, {"exists": "b"}]}),
    (disjunction([p.Exists("a"), p.Exists("b")]), {"or": [{"exists": "a"}, {"exists": "b"}]}),
]


@pytest.mark.parametrize(("filter", "document"), SHAPES)
def test_the_documented_shape(filter: Filter, document: object):
    assert codec.to_document(filter) == document
    assert codec.from_document(document) == filter


def assert_same(back: Filter, filter: Filter) -> None:
    assert back == filter
    assert str(back) == str(filter)


@given(filters())
def test_every_filter_comes_back(filter):
    assert_same(codec.from_document(codec.to_document(filter)), filter)
    assert_same(codec.from_document(json.loads(json.dumps(codec.to_document(filter)))), filter)
    assert_same(codec.decode(codec.encode(filter)), filter)


@given(filters(), events())
def test_what_comes_back_matches_the_same_events(filter, event):
    assert codec.decode(codec.encode(filter)).matches(event) == filter.matches(event)


@given(filters())
def test_the_bytes_are_a_function_of_the_filter(filter):
    assert codec.encode(codec.decode(codec.encode(filter))) == codec.encode(filter)


@reaches(told_apart=0.7)
@examples(1.5)
@given(randoms())
def test_bytes_tell_filters_apart(rng):
    """Relatives differ in a bound, a case, an end: each has a form of its own, and comes back."""
    relatives = family(rng, size=6)
    for filter in relatives:
        assert_same(codec.decode(codec.encode(filter)), filter)
        assert_same(codec.from_document(codec.to_document(filter)), filter)
    forms = {codec.encode(filter) for filter in relatives}
    reached(told_apart=len(forms) > 3)
    assert len(forms) == len(set(relatives))


@given(names(), scalars(), strings())
def test_nasty_values_and_names(name, value, text):
    for filter in (p.equals(name, value), p.NotIn(text, (value, None)), p.Exists(text)):
        assert_same(codec.decode(codec.encode(filter)), filter)


@pytest.mark.parametrize(
    ("dialect", "source"),
    [
        ("cesql", "lower(a) = 'x' OR INT(b) + 1 > 2"),
        ("eventbridge", '{"a": [{"wildcard": "x*y"}]}'),
    ],
)
def test_trees_of_other_dialects_come_back(dialect, source):
    filter = fyke.parse(source, dialect=dialect)
    assert_same(codec.decode(codec.encode(filter)), filter)


def test_a_residual_is_its_dialect_and_text():
    filter = fyke.parse("lower(a) = 'x'", dialect="cesql")
    document = codec.to_document(filter)
    assert '"residual": ["cesql", ' in json.dumps(document)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (None, "object with one member"),
        (1, "object with one member"),
        ("true", "object with one member"),
        ([], "object with one member"),
        ({}, "object with one member"),
        ({"and": [True], "or": [True]}, "object with one member"),
        ({"xor": []}, "'xor'"),
        ({1: []}, "unknown member 1"),
        ({"and": []}, "and: "),
        ({"or": {}}, "or: "),
        ({"and": [True, {"or": [{"not": 5}, True]}]}, r"and\[1\].or\[0\].not: "),
        ({"not": [True]}, "not: "),
        ({"in": ["a", []]}, "in: "),
        ({"in": ["a"]}, "in: "),
        ({"in": [1, [1]]}, "in: "),
        ({"in": ["a", 1]}, "in: "),
        ({"in": ["a", [[1]]]}, "in: "),
        ({"in": ["a", [2**63]]}, "in: .*64 bits"),
        ({"in": ["a", [math.nan]]}, "in: "),
        ({"in": ["a", ["\ud800"]]}, "in: .*surrogate"),
        ({"in": ["a", [{"timestamp": "yesterday"}]]}, "in: "),
        ({"in": ["a", [{"timestamp": "2026-01-31", "x": 1}]]}, "in: "),
        ({"in": ["a", [b"x"]]}, "in: "),
        ({"range": ["a", {}]}, "range: "),
        ({"range": ["a", {">": 1, ">=": 1}]}, "range: "),
        ({"range": ["a", {"=": 1}]}, "range: "),
        ({"range": ["a", {"<": None}]}, "range: "),
        ({"range": ["a", {"<": True}]}, "range: "),
        ({"range": ["a", {">": 1, "<": "x"}]}, "range: "),
        ({"range": ["a", 1]}, "range: "),
        ({"like": ["a", "x\\"]}, "like: .*backslash"),
        ({"like": ["a"]}, "like: "),
        ({"ilike": "a"}, "ilike: "),
        ({"matches": ["a", "(?=x)"]}, "matches: RE2"),
        ({"in network": ["a", "10/8/8"]}, "in network: "),
        ({"exists": 1}, "exists: "),
        ({"type is": ["T"]}, "type is: "),
        ({"compare": ["a", "~", "b"]}, "compare: "),
        ({"compare": ["a", "<"]}, "compare: "),
        ({"residual": ["cobol", "x"]}, "residual: unknown dialect"),
        ({"residual": ["fyke", "a = 1"]}, "residual: "),
        ({"residual": ["cesql", "(("]}, "residual: "),
        ({"residual": [[], "x"]}, "residual: "),
    ],
)
def test_what_is_no_filter_is_refused_by_place(document, place):
    with pytest.raises(FilterError, match=place):
        codec.from_document(document)


def test_a_name_that_arrives_is_never_printed_whole():
    with pytest.raises(FilterError) as refused:
        codec.from_document({"x" * 10**6: 1})
    assert len(str(refused.value)) < 1000


def nested(depth: int) -> object:
    document: object = {"exists": "a"}
    for level in range(depth):
        document = {("and", "or")[level % 2]: [document, {"exists": "b"}]}
    return document


def test_limits():
    small = Limits(depth_max=3, nodes_max=4, list_size_max=2, text_length_max=5)
    for document in (
        nested(20),
        {"or": [{"exists": "a"}] * 5},
        {"in": ["a", [1, 2, 3]]},
        {"exists": "abcdef"},
        {"in": ["a", ["abcdef"]]},
    ):
        codec.from_document(document)
        with pytest.raises(FilterError):
            codec.from_document(document, small)
    codec.from_document({"or": [{"exists": "a"}] * 4}, small)


@pytest.mark.parametrize("depth", [201, 300, 5000])
def test_deep_documents_are_refused(depth):
    with pytest.raises(FilterError, match="deep"):
        codec.from_document(nested(depth))
    document: object = True
    for _ in range(depth):
        document = {"not": document}
    with pytest.raises(FilterError, match="deep"):
        codec.from_document(document)


@pytest.mark.parametrize("depth", [10_000, 1_000_000])
@pytest.mark.parametrize("opening", [b"\x91", b"\x81\xa3not", b"\x81\xa3and\x91"])
def test_deep_bytes_are_refused(opening, depth):
    with pytest.raises(FilterError, match="deep"):
        codec.decode(b"\x01" + opening * depth)


@pytest.mark.parametrize("depth", [150, 400, 900])
def test_a_deep_list_in_place_of_a_filter_is_refused(depth):
    for head in (b"", b"\x81\xa2in", b"\x81\xa6exists", b"\x81\xa5range\x92\xa1a"):
        with pytest.raises(FilterError):
            codec.decode(b"\x01" + head + b"\x91" * depth + b"\x01")


@given(filters(max_leaves=12), st.integers(1, 4), st.integers(1, 12))
def test_what_parse_accepts_under_limits_is_decoded_under_them(filter, depth, nodes):
    limits = Limits(depth_max=depth, nodes_max=nodes)
    with contextlib.suppress(FilterError):
        read = fyke.parse(str(filter), limits=limits)
        assert codec.decode(codec.encode(read)) == read
        try:
            codec.decode(codec.encode(read), limits)
        except FilterError as refused:
            raise AssertionError(str(read)) from refused


SAMPLE = codec.encode(
    fyke.parse("a in (1, 'x') and not b like 'x%' or c >= timestamp '2026-01-31' and type is T")
)


@pytest.mark.parametrize("length", range(len(SAMPLE)))
def test_truncated(length):
    with pytest.raises(FilterError):
        codec.decode(SAMPLE[:length])


def test_trailing_bytes_and_other_versions():
    with pytest.raises(FilterError, match="corrupt"):
        codec.decode(SAMPLE + b"\x00")
    with pytest.raises(FilterError, match="version 2 "):
        codec.decode(b"\x02" + SAMPLE[1:])


@given(st.binary(max_size=200))
def test_random_bytes_are_a_filter_or_a_filter_error(data):
    for candidate in (data, b"\x01" + data):
        with contextlib.suppress(FilterError):
            assert isinstance(codec.decode(candidate), Filter)


@given(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255))
def test_a_changed_byte_is_a_filter_or_a_filter_error(place, byte):
    changed = bytearray(SAMPLE)
    changed[place] = byte
    with contextlib.suppress(FilterError):
        assert isinstance(codec.decode(bytes(changed)), Filter)


anything = st.recursive(
    st.one_of(scalars(), st.sampled_from(["a", ">=", "<", "cesql", "10.0.0.0/8"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from([*codec.members(), ">=", "<", "timestamp"]), inner, max_size=2
        ),
    ),
    max_leaves=10,
)


@given(anything)
def test_random_documents_are_a_filter_or_a_filter_error(document):
    for name in codec.members():
        with contextlib.suppress(FilterError):
            filter = codec.from_document({name: document})
            assert codec.decode(codec.encode(filter)) == filter


def test_msgpack_of_other_kinds_is_refused():
    for value in (NOON, b"x", msgspec.msgpack.Ext(5, b"x")):
        with pytest.raises(FilterError):
            codec.decode(b"\x01" + msgspec.msgpack.encode({"in": ["a", [value]]}))
