"""Columns: every row is the event that its cells say, and the flat parts hold the same values."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke import Event, EventError, Limits, parse
from fyke.events.columns import read
from fyke.events.number import ExactDecimal
from fyke.events.value import admit, canonical
from fyke.testing.generators import randoms
from fyke.testing.stories.reaching import examples, reached, reaches
from tests.parts import check_parts

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def events(table: object) -> list[dict[str, object]]:
    """The attributes of every row; the parts hold the same."""
    columns = read(table)
    found = [columns.event(row) for row in range(columns.rows)]
    for row, event in enumerate(found):
        check_parts(columns, row, event)
    return [event.attributes for event in found]


# --- the law --------------------------------------------------------------------------------------


def moments(unit: str, zone: str | None) -> st.SearchStrategy[datetime]:
    first, last = (datetime(1678, 1, 1), datetime(2262, 1, 1)) if unit == "ns" else (None, None)
    drawn = st.datetimes(first or datetime.min, last or datetime.max)
    if unit in ("s", "ms"):
        drawn = drawn.map(
            lambda moment: moment.replace(
                microsecond=0 if unit == "s" else moment.microsecond // 1000 * 1000
            )
        )
    return drawn if zone is None else drawn.map(lambda moment: moment.replace(tzinfo=UTC))


def durations(unit: str) -> st.SearchStrategy[timedelta]:
    length = {"s": 10**6, "ms": 1000, "us": 1, "ns": 1}[unit]
    bound = 9 * 10**15 if unit == "ns" else 10**17
    ticks = st.one_of(st.integers(-5, 5), st.integers(-bound // length, bound // length))
    return ticks.map(lambda count: timedelta(microseconds=count * length))


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10 ** min(precision, 38) - 1  # more digits are refused
    digits = st.one_of(
        st.integers(-most, most), st.integers(-3, 3), st.just(5 ** max(0, min(scale, 9)))
    )
    return digits.filter(lambda n: abs(n) <= most).map(lambda n: Decimal(f"{n}E{-scale}"))


TEXT = st.one_of(
    st.sampled_from(["", "a", "b", "é", "日本", "\U0010ffff", "\0"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
SCALARS = [
    (pa.bool_(), st.booleans()),
    *(
        (type_, st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
        for bits, type_ in ((8, pa.int8()), (16, pa.int16()), (32, pa.int32()), (64, pa.int64()))
    ),
    *(
        (type_, st.integers(0, 2 ** min(bits, 63) - 1))
        for bits, type_ in (
            (8, pa.uint8()),
            (16, pa.uint16()),
            (32, pa.uint32()),
            (64, pa.uint64()),
        )
    ),
    *(
        (type_, st.floats(width=width, allow_nan=False, allow_infinity=False))
        for width, type_ in ((16, pa.float16()), (32, pa.float32()), (64, pa.float64()))
    ),
    *((type_, TEXT) for type_ in (pa.string(), pa.large_string(), pa.string_view())),
    *((pa.dictionary(pa.int8(), type_), TEXT) for type_ in (pa.string(), pa.large_string())),
    (pa.dictionary(pa.uint16(), pa.int64()), st.integers(-3, 3)),
    *(
        (pa.timestamp(unit, zone), moments(unit, zone))
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "+07:30")
    ),
    (pa.date32(), st.dates()),
    (pa.date64(), st.dates()),
    *((pa.duration(unit), durations(unit)) for unit in ("s", "ms", "us", "ns")),
    (pa.decimal32(9, 2), decimals(9, 2)),
    (pa.decimal64(18, 4), decimals(18, 4)),
    (pa.decimal128(15, 0), decimals(15, 0)),
    (pa.decimal128(38, 6), decimals(38, 6)),
    (pa.decimal128(20, 20), decimals(20, 20)),
    (pa.decimal128(5, -3), decimals(5, -3)),
    (pa.decimal256(76, 30), decimals(76, 30)),
    (pa.null(), st.none()),
]
FIELDS = ["a", "b", "c", "a.b", "b.c", "", "é"]


def records(cells: dict[str, st.SearchStrategy[object]]) -> st.SearchStrategy[dict[str, object]]:
    """A cell by name, in the order of the names: what meets at one path is a list in that order."""
    return st.fixed_dictionaries(cells).map(lambda drawn: {name: drawn[name] for name in cells})


@st.composite
def typed(draw: st.DrawFn, depth: int = 3) -> tuple[pa.DataType, st.SearchStrategy[object]]:
    """An Arrow type, and a generator of its cells."""
    shape = draw(st.sampled_from(["scalar", "scalar", "list", "struct"] if depth else ["scalar"]))
    if shape == "scalar":
        type_, cells = draw(st.sampled_from(SCALARS))
    elif shape == "list":
        inner, elements = draw(typed(depth - 1))
        make = [pa.list_, pa.large_list, pa.list_view, pa.large_list_view]
        if draw(st.integers(0, 3)):
            type_, cells = draw(st.sampled_from(make))(inner), st.lists(elements, max_size=3)
        else:
            type_, cells = pa.list_(inner, 2), st.lists(elements, min_size=2, max_size=2)
    else:
        names = draw(st.lists(st.sampled_from(FIELDS), unique=True, max_size=3))
        fields = {name: draw(typed(depth - 1)) for name in names}
        type_ = pa.struct([(name, inner) for name, (inner, _) in fields.items()])
        cells = records({name: each for name, (_, each) in fields.items()})
    return type_, st.one_of(st.none(), cells, cells)


@st.composite
def rows_and_table(draw: st.DrawFn) -> tuple[list[dict[str, object]], object]:
    """Rows as nested dictionaries, and the same as a table: whole, sliced, chunked or a batch."""
    names = draw(st.lists(st.sampled_from(FIELDS), unique=True, max_size=4))
    columns = {name: draw(typed()) for name in names}
    rows = draw(
        st.lists(
            records({name: cells for name, (_, cells) in columns.items()}),
            max_size=6 if names else 0,
        )
    )
    arrays = [pa.array([row[name] for row in rows], type_) for name, (type_, _) in columns.items()]
    batch = pa.RecordBatch.from_arrays(arrays, names)
    first = draw(st.integers(0, len(rows)))
    match draw(st.sampled_from(["batch", "sliced batch", "table", "sliced table", "chunked"])):
        case "batch":
            return rows, batch
        case "sliced batch":
            return rows[first:], batch.slice(first)
        case "table":
            return rows, pa.Table.from_batches([batch])
        case "sliced table":
            return rows[:first], pa.Table.from_batches([batch]).slice(0, first)
    return rows, pa.Table.from_batches([batch.slice(0, first), batch.slice(first)])


def without_nulls(value: object) -> object:
    """A cell as a value of a document."""
    if isinstance(value, dict):
        return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(element) for element in value if element is not None]
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return admit(value)


@given(rows_and_table())
def test_a_row_is_the_event_of_its_cells(given_):
    rows, table = given_
    columns = read(table)
    assert columns.rows == len(rows) and columns.bad == {}
    for number, row in enumerate(rows):
        event = columns.event(number)
        shown = Event(without_nulls(event.document))
        assert shown == Event(without_nulls(row))
        assert shown.attributes == {
            path: tuple(map(without_nulls, value)) if type(value) is tuple else without_nulls(value)
            for path, value in event.attributes.items()
        }
        check_parts(columns, number, event)


# --- shapes ---------------------------------------------------------------------------------------


def test_nulls_are_missing_and_lists_may_be_empty():
    table = pa.table(
        {
            "n": pa.array([1, None, 3]),
            "l": pa.array([["x", None], [None], None]),
            "o": pa.array([[{"b": 1}, None, {"b": None}], [None], [{"b": None}]]),
        }
    )
    assert events(table) == [
        {"n": 1, "l": ("x",), "o.b": (1,)},
        {"l": (), "o": ()},
        {"n": 3},
    ]
    parts = read(table).paths
    assert parts["l"][0].rows.tolist() == [0]
    assert parts["l"][0].present.tolist() == parts["l"][0].is_list.tolist() == [True, True, False]
    assert [part.kind for part in parts["o"]] == ["empty"]


def test_what_meets_at_one_path_is_a_list():
    table = pa.table({"a.b": pa.array([1, None, None]), "a": [{"b": 2}, {"b": 3}, None]})
    assert events(table) == [{"a.b": (1, 2)}, {"a.b": 3}, {}]
    assert [part.is_list for part in read(table).paths["a.b"]] == [None, None]


def test_columns_of_one_name_are_one_list():
    arrays = [pa.array([1, None, None]), pa.array(["x", "y", None]), pa.array([[], [2.5], None])]
    table = pa.Table.from_arrays(arrays, ["a", "a", "a"])
    assert events(table) == [{"a": (1, "x")}, {"a": ("y", 2.5)}, {}]
    assert [part.kind for part in read(table).paths["a"]] == ["number", "string", "number"]
    assert read(table).event(0).document == {"a": [1, "x", []]}


def test_fields_of_one_name_are_one_list():
    inner = pa.StructArray.from_arrays([pa.array([1, 2]), pa.array([None, 3])], ["b", "b"])
    assert events(pa.table({"a": inner})) == [{"a.b": (1,)}, {"a.b": (2, 3)}]


def test_nothing_below_a_null_is_seen():
    hidden = pa.array([float("nan"), 1.0, float("inf"), 2.0])
    struct = pa.StructArray.from_arrays([hidden], ["x"], mask=pa.array([True, False, True, False]))
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3, 4]), hidden, mask=pa.array([True, False, True, False])
    )
    table = pa.table({"s": struct, "l": lists})
    assert events(table) == [{}, {"s.x": 1.0, "l": (1.0,)}, {}, {"s.x": 2.0, "l": (2.0,)}]


def test_list_views_may_overlap_and_stand_in_any_order():
    views = pa.ListViewArray.from_arrays(
        pa.array([2, 0, 1], pa.int32()), pa.array([2, 3, 0], pa.int32()), pa.array([1, 2, 3, 4])
    )
    assert events(pa.table({"a": views})) == [{"a": (3, 4)}, {"a": (1, 2, 3)}, {"a": ()}]


def test_dictionaries_stay_coded():
    coded = pa.array(["x", None, "y", "x"]).dictionary_encode()
    (part,) = read(pa.table({"a": coded})).paths["a"]
    assert pa.types.is_dictionary(part.values.type)
    assert part.values.to_pylist() == ["x", "y", "x"] and part.rows.tolist() == [0, 2, 3]


def test_chunks_with_dictionaries_of_their_own():
    chunks = [pa.array(["x", None]).dictionary_encode(), pa.array(["y", "x"]).dictionary_encode()]
    assert events(pa.table({"a": pa.chunked_array(chunks)})) == [
        {"a": "x"},
        {},
        {"a": "y"},
        {"a": "x"},
    ]


def test_nulls_in_a_dictionary():
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array([None, text]))
        for text in ("x", "y")
    ]
    expected = [{"a": "x"}, {}, {}]
    assert events(pa.table({"a": chunks[0]})) == expected
    assert events(pa.table({"a": pa.chunked_array(chunks)})) == [*expected, {"a": "y"}, {}, {}]


def test_a_dictionary_of_string_views():
    coded = pa.DictionaryArray.from_arrays(
        pa.array([1, None, 0]), pa.array(["x", "a string that is not inline"], pa.string_view())
    )
    assert events(pa.table({"a": coded})) == [{"a": "a string that is not inline"}, {}, {"a": "x"}]


class Celsius(pa.ExtensionType):
    def __init__(self) -> None:
        super().__init__(pa.float64(), "test.celsius")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


def test_extension_types_are_read_by_storage():
    degrees = pa.ExtensionArray.from_storage(Celsius(), pa.array([1.5, None]))
    assert events(pa.table({"a": degrees})) == [{"a": 1.5}, {}]
    nested = pa.StructArray.from_arrays([degrees], ["x"])
    assert events(pa.table({"a": nested})) == [{"a.x": 1.5}, {}]


@pytest.mark.parametrize("table", [pa.table({}), pa.table({"a": [1, 2]}).select([])])
def test_no_columns(table):
    columns = read(table)
    assert columns.paths == {}
    assert events(table) == [{}] * table.num_rows


@pytest.mark.parametrize(
    "type_", [pa.string(), pa.list_(pa.int64()), pa.struct([("x", pa.bool_())])]
)
def test_no_rows(type_):
    for table in (
        pa.table({"a": pa.array([], type_)}),
        pa.table({"a": pa.chunked_array([], type_)}),
    ):
        columns = read(table)
        assert columns.rows == 0
        assert all(len(part.values) == 0 for parts in columns.paths.values() for part in parts)


def test_ten_thousand_columns():
    table = pa.table({f"c{number}": [number, None] for number in range(10_000)})
    columns = read(table)
    assert len(columns.paths) == 10_000
    assert columns.event(0)["c9999"] == 9999
    assert columns.event(1).attributes == {}


def test_numbers_are_not_copied():
    table = pa.table({"i": pa.array([1, 2, 3]), "f": pa.array([1.5, 2.5, 3.5])})
    for sliced in (table, table.slice(1)):
        for name, width in (("i", np.int64), ("f", np.float64)):
            found = read(sliced).paths[name][0].numbers()
            array = sliced[name].chunk(0)
            assert found.dtype == width
            assert found.ctypes.data == array.buffers()[1].address + 8 * array.offset


# --- kinds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "value"),
    [
        (pa.array([datetime(2026, 1, 31, 12)], pa.timestamp("us")), NOON),
        (pa.array([NOON], pa.timestamp("s", "Nowhere/Atlantis")), NOON),
        (pa.array([1999], pa.timestamp("ns")), datetime(1970, 1, 1, 0, 0, 0, 1, UTC)),
        (pa.array([-1], pa.timestamp("ns")), datetime(1969, 12, 31, 23, 59, 59, 999999, UTC)),
        (pa.array([date(1, 1, 1)]), datetime(1, 1, 1, tzinfo=UTC)),
        (pa.array([date(9999, 12, 31)], pa.date64()), datetime(9999, 12, 31, tzinfo=UTC)),
        (pa.array([datetime.max], pa.timestamp("us")), datetime.max.replace(tzinfo=UTC)),
        (pa.array([datetime.min], pa.timestamp("us")), datetime.min.replace(tzinfo=UTC)),
        (pa.array([1500], pa.duration("ms")), 1.5),
        (pa.array([2000], pa.duration("ms")), 2),
        (pa.array([5258986265376043509], pa.duration("us")), 5258986265376043509 / 10**6),
        (pa.array([-(2**63)], pa.duration("ns")), -(2**63) / 10**9),
        (pa.array([-(2**63)], pa.duration("s")), -(2**63)),
        (pa.array([2**63 - 1], pa.uint64()), 2**63 - 1),
        (pa.array([2**53 + 1]), 2**53 + 1),
        (pa.array([0.1], pa.float32()), float(np.float32(0.1))),
        (pa.array([Decimal("1.50")]), 1.5),
        (pa.array([Decimal("1.5")], pa.decimal128(38, 18)), 1.5),
        (pa.array([Decimal("7.00")]), 7),
        (pa.array([Decimal("0.10")]), 0.1),
        (pa.array([Decimal("0.10000000000000001")]), ExactDecimal("0.10000000000000001")),
        (pa.array([Decimal(2**53 + 1)]), 2**53 + 1),
        (pa.array([Decimal(10**30)], pa.decimal128(38)), 1e30),
        (pa.array([Decimal(2**70)], pa.decimal128(38)), ExactDecimal(2**70)),
    ],
)
def test_scalars(array, value):
    assert events(pa.table({"a": array})) == [{"a": value}]
    assert type(events(pa.table({"a": array}))[0]["a"]) is type(value)


def decimals_of_scale(scale: int) -> pa.Array:
    """3 and 0 with an exponent that Arrow's own constructors refuse."""
    digits = pa.py_buffer(np.array([3, 0, 0, 0], np.int64))
    return pa.Array.from_buffers(pa.decimal128(38, scale), 2, [None, digits])


@pytest.mark.parametrize("scale", [-300, 320])
def test_decimals_of_any_scale(scale):
    digits = pa.py_buffer(np.array([3, 0], np.int64))
    array = pa.Array.from_buffers(pa.decimal128(38, scale), 1, [None, digits])
    columns = read(pa.table({"a": array}))
    assert columns.event(0)["a"] == float(f"3E{-scale}")
    assert columns.paths["a"][0].numbers().tolist() == [float(f"3E{-scale}")]


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (pa.array([Decimal("1" * 39), Decimal(5)], pa.decimal256(76)), "more than 38 digits"),
        (decimals_of_scale(-400), "too large"),
        (decimals_of_scale(1000), "too small"),
    ],
)
def test_rows_with_decimals_that_cannot_be_compared_are_refused(array, problem):
    columns = read(pa.table({"a": array}), errors="collect")
    assert list(columns.bad) == [0] and problem in columns.bad[0]
    assert columns.event(1)["a"] in (0, 5)


DECIMALS = [
    *(pa.decimal32(9, scale) for scale in (0, 2, 9)),
    *(pa.decimal64(18, scale) for scale in (0, 1, 2, 18)),
    *(pa.decimal128(38, scale) for scale in (-2, 0, 1, 2, 6, 18, 19, 22, 23, 38)),
    *(pa.decimal256(76, scale) for scale in (0, 2, 30)),
]


def digits_of(rng: Random, sort: str, scale: int) -> int:
    """Digits around a power of two, where float64 and int64 end, or small ones."""
    number = rng.choice((2 ** rng.randint(45, 66), rng.randrange(10**17), rng.randrange(100)))
    number = rng.choice((-1, 1)) * (number + rng.randint(-3, 3))
    match sort:
        case "whole":
            return number * 10 ** max(scale, 0)
        case "short":  # around the most digits of which a float64 keeps all
            return rng.choice((number % 10**15, 10**15 - rng.randint(-2, 2)))
    return number


@reaches(whole=0.1, floats=0.1, decimals=0.15)
@examples(3)
@given(randoms())
def test_decimals_are_what_they_are_whatever_their_digits(rng: Random) -> None:
    """A whole column of one sort, since one cell that is no float makes decimals of them all."""
    type_, sort = rng.choice(DECIMALS), rng.choice(["whole", "short", "any", "any", "any"])
    most = 10**type_.precision - 1
    drawn = [digits_of(rng, sort, type_.scale) for _ in range(rng.randint(1, 3))]
    given_ = [Decimal(f"{digits}E{-type_.scale}") for digits in drawn if abs(digits) <= most]
    cells = [*given_, *rng.choice(([], [None]))]
    columns = read(pa.table({"a": pa.array(cells, type_)}))
    for row, cell in enumerate(cells):
        attributes = columns.event(row).attributes
        if cell is None:
            assert attributes == {}
            continue
        found = attributes["a"]
        assert canonical(found) == canonical(cell), (type_, cells)
        assert type(canonical(found)) is type(canonical(cell))
        reached(
            whole=type(canonical(cell)) is int,
            floats=type(canonical(cell)) is float,
            decimals=type(canonical(cell)) is ExactDecimal,
        )
    for part in columns.paths.get("a", ()):
        as_held = float if part.kind == "decimal" else canonical
        assert part.numbers().tolist() == list(map(as_held, given_))


def test_decimals_keep_their_order_as_floats():
    digits = [*range(-300, 300), 2**53, 2**53 + 1, 10**30, -(10**30)]
    for scale in (0, 2, 25):
        decimals_ = sorted(Decimal(f"{number}E{-scale}") for number in digits)
        array = pa.array(decimals_, pa.decimal256(76, scale))
        (part,) = read(pa.table({"a": array})).paths["a"]
        assert part.kind == "decimal"
        assert part.numbers().tolist() == [float(number) for number in decimals_]


def test_verdicts_on_decimals_are_exact():
    table = pa.table({"price": pa.array([Decimal("0.1"), Decimal("0.25"), None])})
    columns = read(table)
    for text, verdicts in {
        "price = 0.25": [False, True, False],
        "price = 0.1": [True, False, False],
        "price < 0.1": [False, False, False],
        "price <= 0.10": [True, False, False],
        "price < 0.10000000000000001": [True, False, False],
        "price != 0.1": [False, True, False],
        "price in (0.1, 0.25)": [True, True, False],
        "not (price > 0)": [False, False, True],
    }.items():
        assert [parse(text).matches(columns.event(row)) for row in range(3)] == verdicts, text


# --- what is refused ------------------------------------------------------------------------------

MAP = pa.map_(pa.string(), pa.int64())


@pytest.mark.parametrize(
    "array",
    [
        pa.array([b"x"]),
        pa.array([b"x"], pa.large_binary()),
        pa.array([b"x"], pa.binary_view()),
        pa.array([b"x"], pa.binary(1)),
        pa.array([b"x"]).dictionary_encode(),
        pa.array([[("k", 1)]], MAP),
        pa.array([None], MAP),
        pa.array([1], pa.time32("s")),
        pa.array([1], pa.time64("ns")),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]),
        pa.UnionArray.from_dense(
            pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])]
        ),
        pa.RunEndEncodedArray.from_arrays(pa.array([1]), pa.array([1])),
        pa.array([b"0123456789abcdef"], pa.uuid()),
    ],
    ids=lambda array: str(array.type),
)
def test_types_that_are_refused_by_name(array):
    for errors in ("raise", "collect"):
        with pytest.raises(
            EventError, match=r"attribute 'blob': a column of type .* cannot be read"
        ):
            read(pa.table({"fine": [1], "blob": array}), errors=errors)
    nested = pa.StructArray.from_arrays([array], ["inner"])
    with pytest.raises(EventError, match=r"'outer\.inner': a column of type") as refused:
        read(pa.table({"outer": nested}))
    assert refused.value.attribute == "outer.inner"


def bad_text() -> pa.Array:
    offsets = pa.py_buffer(np.array([0, 2, 3, 5], np.int32))
    return pa.Array.from_buffers(
        pa.string(), 3, [None, offsets, pa.py_buffer("é".encode() + b"\xffab")]
    )


BAD = [
    (pa.array([1.5, float("nan"), 2.5]), "nan is not a number"),
    (pa.array([1.5, float("inf"), 2.5]), "inf is not a number"),
    (pa.array([1.5, float("-inf"), 2.5], pa.float32()), "-inf is not a number"),
    (pa.array([np.float16(1), np.float16("nan"), np.float16(2)]), "nan is not a number"),
    (pa.array([1, 2**63, 2], pa.uint64()), "does not fit in 64 bits"),
    (pa.array([0, 2**40, 0], pa.timestamp("s")), "outside the years 1 to 9999"),
    (pa.array([0, -(2**63), 0], pa.timestamp("us", "UTC")), "outside the years 1 to 9999"),
    (pa.array([0, 2**30, 0], pa.int32()).cast(pa.date32()), "outside the years 1 to 9999"),
    (bad_text(), "not UTF-8"),
    (pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), bad_text()), "not UTF-8"),
]


@pytest.mark.parametrize(("array", "problem"), BAD)
def test_bad_cells(array, problem):
    listed = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3]), array)
    nested = pa.StructArray.from_arrays([array], ["y"])
    for column, path in ((array, "x"), (listed, "x"), (nested, "x.y")):
        table = pa.table({"n": [1, 2, 3], "x": column})
        with pytest.raises(EventError, match=f"attribute '{path}': row 1: .*{problem}") as refused:
            read(table)
        assert refused.value.attribute == path
        columns = read(table, errors="collect")
        assert list(columns.bad) == [1] and problem in columns.bad[1] and path in columns.bad[1]
        assert columns.event(0)["n"] == 1 and path in columns.event(2)
        assert columns.paths[path][0].rows.tolist() == [0, 2]
        with pytest.raises(EventError, match="row 1: "):
            columns.event(1)


def test_the_first_bad_row_is_named_and_all_are_collected():
    nan = float("nan")
    table = pa.table({"a": [1.0, None, nan, nan], "b": [1.0, nan, nan, 2.0]})
    with pytest.raises(EventError, match="attribute 'b': row 1"):
        read(table)
    assert read(table, errors="collect").bad == {
        1: "attribute 'b': nan is not a number that can be compared",
        2: "attribute 'a': nan is not a number that can be compared",
        3: "attribute 'a': nan is not a number that can be compared",
    }


def test_a_bad_string_at_a_null_is_not_seen():
    data = [pa.py_buffer(b"\x05"), *bad_text().buffers()[1:]]
    assert events(pa.table({"a": pa.Array.from_buffers(pa.string(), 3, data)})) == [
        {"a": "é"},
        {},
        {"a": "ab"},
    ]


def test_limits_on_lists():
    table = pa.table({"a": pa.array([[1, 2], [1, 2, None], [1, 2, 3]])})
    limits = Limits(list_size_max=2)
    assert read(table, errors="collect", limits=limits).bad == {
        2: "attribute 'a': a list of 3 elements is longer than 2"
    }


def test_limits_on_attribute_values():
    table = pa.table({"a": pa.array([[1, 2], [1], []]), "b": [1, 2, None], "c": ["x", None, "y"]})
    limits = Limits(attributes_max=3)
    assert read(table, errors="collect", limits=limits).bad == {0: "more than 3 attribute values"}
    with pytest.raises(EventError, match="row 0: more than 3 attribute values"):
        read(table, limits=limits)


def test_limits_on_nesting():
    type_ = pa.int64()
    for _ in range(99):
        type_ = pa.struct([("x", type_)])
    read(pa.table({"x": pa.array([None], type_)}))
    for deeper in (pa.struct([("x", type_)]), pa.list_(type_)):
        with pytest.raises(EventError, match="nested deeper than 100 levels"):
            read(pa.table({"x": pa.array([None], deeper)}))


def test_limits_on_paths():
    with pytest.raises(EventError, match="the path is longer than 1000 characters"):
        read(pa.table({"x" * 1000: [{"y": 1}]}))
    read(pa.table({"x" * 999: [{"y": 1}], "z" * 2000: [1]}))


@pytest.mark.parametrize("table", [None, {"a": [1]}, pa.array([1]), pa.chunked_array([[1]]), [1]])
def test_what_is_no_table(table):
    with pytest.raises(EventError, match="expected a pyarrow Table or RecordBatch, not "):
        read(table)


def test_misuse():
    with pytest.raises(EventError, match="expected 'raise' or 'collect'"):
        read(pa.table({}), errors="ignore")
    columns = read(pa.table({"a": [1]}))
    for row in (-1, 1):
        with pytest.raises(EventError, match=f"there is no row {row} among 1"):
            columns.event(row)


def test_fyke_does_not_load_pyarrow():
    code = "import sys, fyke, fyke.events.event; print('pyarrow' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
