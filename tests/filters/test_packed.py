"""Packed filters: every tree comes back equal; whatever the bytes, nothing but a FykeError."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fyke
from fyke.events.value import Scalar
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.comparison import COMPARISONS, Compare
from fyke.filters.declaration import DECLARATIONS
from fyke.filters.filter import (
    DEPTH_MAX,
    FALSE,
    TRUE,
    And,
    Filter,
    Or,
    conjunction,
    disjunction,
    negation,
)
from fyke.filters.packed import NameTable, codes, pack, unpack
from fyke.filters.packed.names import NAME_SIZE_MAX, NAMES_MAX
from fyke.filters.residual import Residual
from fyke.filters.texts.glob import ONE, Glob
from fyke.testing.generators import filters, predicates, scalars

A_MOMENT = datetime(2026, 1, 31, 12, 0, 0, 1, UTC)
RESIDUALS = [
    Residual("cesql", "a = b + 1"),
    Residual("eventbridge", '{"a":[{"prefix":"x"}]}'),
]


def round_trip(filter: Filter) -> Filter:
    names = NameTable()
    return unpack(pack(filter, names), names)


def details(filter: Filter) -> object:
    """What `==` of filters looks away from: 1 and 1.0, and the class of a number."""
    match filter:
        case p.In() | p.NotIn():
            return [(type(value), value) for value in filter.values]
        case p.Range():
            return [(type(end), end) for end in (filter.low, filter.high)]
    return [details(child) for child in filter.children]


@given(filters(st.one_of(predicates(), st.deferred(lambda: leaves), st.sampled_from(RESIDUALS))))
def test_every_tree_comes_back(filter: Filter) -> None:
    again = round_trip(filter)
    assert again == filter
    assert details(again) == details(filter)
    assert str(again) == str(filter)


numbers = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(lambda k, d: k / 10**d, st.integers(-(10**9), 10**9), st.integers(0, 6)),
    st.decimals(allow_nan=False, allow_infinity=False, places=30),
)
leaves = st.one_of(
    st.builds(p.equals, st.sampled_from("ab"), st.one_of(scalars(), numbers)),
    st.builds(p.Range, st.sampled_from("ab"), numbers, numbers, st.booleans(), st.booleans()),
    st.builds(p.Range, st.just("a"), st.none(), numbers, st.booleans(), st.booleans()),
    st.builds(p.Range, st.just("a"), numbers, st.none(), st.booleans(), st.booleans()),
)


@pytest.mark.parametrize("value", [None, True, False, 0, 1, "", "1", "\0", "\U0010ffff", A_MOMENT])
@pytest.mark.parametrize("make", [p.In, p.NotIn])
def test_kinds_stay_apart(make: type[p.In], value: Scalar) -> None:
    assert details(round_trip(make("a", (value,)))) == details(make("a", (value,)))
    several = make("a", (value, 1, 1.5, "x", True, None, A_MOMENT))
    assert details(round_trip(several)) == details(several)


@pytest.mark.parametrize("bits", range(64))
def test_integers_of_every_width(bits: int) -> None:
    for number in (2**bits - 1, 2**bits, -(2**bits), -(2**bits) - 1):
        if -(2**63) <= number < 2**63:
            assert details(round_trip(p.equals("a", number))) == [(int, number)]
            pair = p.Range("a", -1, number)
            assert details(round_trip(pair)) == details(pair)


@pytest.mark.parametrize(
    "filter",
    [
        TRUE,
        FALSE,
        *(p.Range("a", 8, 8.35, low, high) for low in (0, 1) for high in (0, 1)),
        p.Range("a", 8.3, 8.75),
        p.Range("a", 2**53 + 1, 0.5),
        p.Range("a", -0.0, 5e-324),
        p.Range("a", "", "z", True),
        p.Range("a", A_MOMENT),
        p.Range("a", 0, Decimal("0.1")),
        p.equals("a", Decimal("12345678901234567890.5")),
        Compare("a", "<=", "a very " + "long " * 100 + "name"),
        t.Like("a", Glob(("x", "", "y")), ignore_case=True),
        t.Like("a", Glob((ONE + "é", ONE))),
        t.in_network("a", "2001:db8::/32"),
        p.In("a", tuple(range(1000))),
        And(tuple(p.equals("a", i) for i in range(15))),
        Or(tuple(p.equals("a", i) for i in range(16))),
        And((p.Exists("a"), And((p.Exists("b"), p.Exists("c"))))),
        *(Compare("a", operator, "b") for operator in COMPARISONS),
    ],
    ids=str,
)
def test_odd_ones(filter: Filter) -> None:
    again = round_trip(filter)
    assert again == filter
    assert details(again) == details(filter)


def test_the_example_of_the_docstring() -> None:
    names = NameTable()
    packed = pack(fyke.parse("symbol = 'OTE' and price between 5 and 900"), names)
    assert packed == bytes.fromhex("42 2a0103") + b"OTE" + bytes.fromhex("c4 02 0500 8403")


def test_short_forms() -> None:
    names = NameTable()
    pack(conjunction([p.Exists("a"), p.Exists("b")]), names)
    for text, size in (
        ("a = 'v1234'", 8),
        ("a = 1", 3),
        ("a != null", 2),
        ("a between 100000 and 900000", 8),
        ("a < 8.35", 5),
        ("a between 8.3 and 8.75", 7),
        ("exists a", 2),
        ("a < b", 4),
        ("a in ('x', 'y')", 9),
    ):
        assert len(pack(fyke.parse(text), names)) == size, text


def test_the_deepest_tree_and_no_deeper() -> None:
    deep: Filter = p.Exists("a")
    for level in range(DEPTH_MAX - 1):
        deep = (conjunction, disjunction)[level % 2]((p.Exists("b"), deep))
    assert round_trip(deep) == deep
    names = NameTable()
    code = bytes([codes.NOT])
    with pytest.raises(fyke.FykeError, match="deeper than"):
        unpack(code * 100_000 + pack(TRUE, names), names)


@pytest.mark.parametrize(
    "filter",
    [
        p.equals("a", 2**70),
        p.equals("a", float("nan")),
        p.Range("a", 0.5, float("inf")),
        p.equals("a", datetime(2026, 1, 1)),
        p.equals("lone \ud800", 1),
        p.equals("a", "lone \udfff"),
        t.Like("a", Glob(("lone \ud802", ""))),
        Filter(),
        negation(Filter()),
    ],
    ids=lambda filter: type(filter).__name__,
)
def test_what_cannot_be_stored(filter: Filter) -> None:
    with pytest.raises(fyke.FilterError):
        pack(filter, NameTable())


def test_operators_without_need() -> None:
    assert round_trip(And(())) == TRUE
    assert round_trip(Or(())) == FALSE
    assert round_trip(And((p.Exists("a"),))) == p.Exists("a")


# --- garbage -------------------------------------------------------------------------------------


def known_names() -> NameTable:
    names = NameTable()
    for name in ("a", "b", "cesql"):
        names.pack(name)
    return names


def readable(data: bytes, names: NameTable) -> bool:
    """Reads, or refuses in the right way; what is read can be written again."""
    try:
        filter = unpack(data, names)
    except fyke.FykeError:
        return False
    assert round_trip(filter) == filter
    filter.matches({"a": 1, "b": ["x", None, 2.5]})
    return True


@given(st.binary(max_size=40))
@example(bytes([codes.AND, 255, 255, 255, 255, 15, codes.TRUE]))
@example(bytes([codes.IN, 1, 255, 255, 255, 255, 255, 255]))
@example(bytes([codes.EQUAL | 13, 1, 4]) + b"sNaN")
@example(bytes([codes.EQUAL | 11, 1]) + b"\xff" * 7 + b"\x7f")
def test_any_bytes(data: bytes) -> None:
    readable(data, known_names())


@given(filters(max_leaves=6), st.randoms())
def test_broken_bytes(filter: Filter, draw: object) -> None:
    names = NameTable()
    data = pack(filter, names)
    for size in range(len(data)):
        assert not readable(data[:size], names)
    assert not readable(data + b"\0", names)
    for _ in range(20):
        at = draw.randrange(len(data))  # type: ignore[attr-defined]
        flipped = data[at] ^ (1 << draw.randrange(8))  # type: ignore[attr-defined]
        readable(data[:at] + bytes([flipped]) + data[at + 1 :], names)


@pytest.mark.parametrize("dialect", ["cesql", "eventbridge", "sigma", "siena", "nonsense"])
@given(text=st.text(max_size=20))
def test_residuals_of_any_text(dialect: str, text: str) -> None:
    names = NameTable()
    data = text.encode("utf-8", "surrogatepass")
    head = bytes([DECLARATIONS[Residual].code])
    readable(head + names.pack(dialect) + bytes([len(data)]) + data, names)


# --- names ---------------------------------------------------------------------------------------


def test_names_beyond_the_table_stand_in_the_filter() -> None:
    names = NameTable()
    for number in range(NAMES_MAX):
        names.pack(f"n{number}")
    assert len(names) == NAMES_MAX
    for name in ("n0", "n200", f"n{NAMES_MAX - 1}", "one more", "", "é" * 200):
        assert unpack(pack(p.Exists(name), names), names) == p.Exists(name)
    assert len(names) == NAMES_MAX


def test_a_long_name_takes_no_place_in_the_table() -> None:
    names = NameTable()
    assert len(names.pack("x" * NAME_SIZE_MAX)) == 1
    assert len(names.pack("x" * (NAME_SIZE_MAX + 1))) > NAME_SIZE_MAX
    assert len(names) == 1


@given(st.lists(st.text(max_size=300), max_size=20))
def test_names_as_an_array(given: list[str]) -> None:
    names = NameTable()
    coded = [names.pack(name) for name in given]
    again = NameTable.of(names.array())
    assert [again.pack(name) for name in given] == coded
    assert len(again) == len(names)


@pytest.mark.parametrize("broken", [b"\x05abc", b"\x01a\x01a", b"\x01\xff", b"\xff" * 6, b"\xff"])
def test_names_of_a_broken_array(broken: bytes) -> None:
    import numpy as np

    with pytest.raises(fyke.FykeError):
        NameTable.of(np.frombuffer(broken, np.uint8))
