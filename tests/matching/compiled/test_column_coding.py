"""Coding columns: a batch has the codes that `code_event` gives to each of its rows."""

from __future__ import annotations

import sys
import threading
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke import Event, parse
from fyke.events.columns import Columns, read
from fyke.events.documents import in_columns
from fyke.events.number import ExactDecimal
from fyke.filters.filter import Filter
from fyke.filters.texts.glob import glob
from fyke.matching.compiled.boxes.program import program
from fyke.matching.compiled.coding.axes import AxisKind
from fyke.matching.compiled.coding.codes import MISSING, OTHER
from fyke.matching.compiled.coding.column_coding import code_columns
from fyke.matching.compiled.coding.column_texts import frozen, texts
from fyke.matching.compiled.coding.event_coding import Codes, code_event
from fyke.matching.compiled.coding.symbol_tables import TextTable
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.testing import generators

NAMES = generators.NAMES
MOMENT = datetime(2024, 1, 1, tzinfo=UTC)


def vocabulary_of(*filters: Filter | str) -> Vocabulary:
    """The axes and symbols that some filters speak of."""
    vocabulary = Vocabulary()
    for each in filters:
        program(parse(each) if isinstance(each, str) else each, vocabulary)
    return vocabulary


def check(columns: Columns, vocabulary: Vocabulary) -> Codes:
    """Every row has the codes of its event."""
    codes = code_columns(columns, vocabulary)
    axes = max(len(vocabulary.axes), 1)
    assert codes.events == columns.rows
    for matrix in (codes.lows, codes.highs):
        assert matrix.shape == (columns.rows, axes) and matrix.dtype == np.int32
        assert matrix.flags.c_contiguous
    for array in (codes.wide, codes.lists, codes.accepted_at, codes.accepted):
        assert array.dtype == np.int32 and array.flags.c_contiguous
    assert len(codes.accepted) == codes.accepted_at[-1] + 1
    assert codes.is_wide is bool((codes.wide >= 0).any())
    for row in range(columns.rows):
        event = Event({}) if row in columns.bad else columns.event(row)
        assert meaning(codes, row, vocabulary) == meaning(
            code_event(event, vocabulary), 0, vocabulary
        )
    return codes


def meaning(codes: Codes, row: int, vocabulary: Vocabulary) -> dict[int, object]:
    """What an event has on each axis: least, greatest and all codes; accepted patterns for text."""
    found: dict[int, object] = {}
    lists = lists_of(codes, row)
    for axis, (kind, _) in enumerate(vocabulary.axes):
        low, high = int(codes.lows[row, axis]), int(codes.highs[row, axis])
        listed = lists.pop(axis, [low])
        assert listed == sorted(set(listed))
        assert (listed[0], listed[-1]) == (low, high)
        if kind is AxisKind.TEXT:
            found[axis] = sorted(accepted(codes, each) for each in listed)
        else:
            found[axis] = listed
    assert not lists
    return found


def lists_of(codes: Codes, row: int) -> dict[int, list[int]]:
    runs: dict[int, list[int]] = {}
    place = int(codes.wide[row])
    while place >= 0 and codes.lists[place] >= 0:
        axis, size = codes.lists[place : place + 2].tolist()
        assert axis not in runs and size > 1
        runs[axis] = codes.lists[place + 2 : place + 2 + size].tolist()
        place += 2 + size
    assert place < 0 or (codes.lists[place] == -1 and runs)
    return runs


def accepted(codes: Codes, text_row: int) -> tuple[int, ...] | None:
    if text_row == MISSING:
        return None
    start, end = codes.accepted_at[text_row : text_row + 2].tolist()
    return tuple(codes.accepted[start:end].tolist())


# --- the law --------------------------------------------------------------------------------------

TEXTS = st.one_of(
    generators.strings(),
    st.sampled_from(["Thing", "Stock", "a b", "\0", "a\0", "abcd", "abc\0", "abcdefg", "abcdefgh"]),
    st.text("aé日", max_size=24),
)
WHOLE = generators.numbers().filter(lambda number: isinstance(number, int))
FLOATS = generators.numbers().map(float)
DECIMALS = st.one_of(
    st.sampled_from(["0.10", "0.5", "1.00", "-1", "3", "9007199254740993", "-0.01"]).map(Decimal),
    st.integers(-(10**17), 10**17).map(lambda number: Decimal(number) / 100),
)
MOMENTS = st.one_of(
    generators.moments(), st.datetimes().map(lambda moment: moment.replace(tzinfo=UTC))
)
SCALARS = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-3, 6)),
    (pa.int64(), WHOLE),
    (pa.float64(), FLOATS),
    (pa.string(), TEXTS),
    (pa.large_string(), TEXTS),
    (pa.string_view(), TEXTS),
    (pa.dictionary(pa.int8(), pa.string()), TEXTS),
    (pa.dictionary(pa.uint16(), pa.large_string()), TEXTS),
    (pa.timestamp("us", "UTC"), MOMENTS),
    (pa.date32(), st.sampled_from([date(2024, 1, 1), date(1, 1, 1), date(9999, 12, 31)])),
    (pa.decimal128(19, 2), DECIMALS),
    (pa.null(), st.none()),
]
BAD = [
    (pa.float64(), st.sampled_from([float("nan"), float("inf"), 1.0, 0.5])),
    (pa.uint64(), st.sampled_from([2**64 - 1, 2**63, 2**63 - 1, 1])),
]


@st.composite
def typed(draw: st.DrawFn, depth: int = 2) -> tuple[pa.DataType, st.SearchStrategy[object]]:
    """An Arrow type, and a generator of its cells."""
    shapes = ["scalar", "scalar", "bad", "list", "struct"] if depth else ["scalar"]
    match draw(st.sampled_from(shapes)):
        case "list":
            inner, elements = draw(typed(depth - 1))
            type_, cells = pa.list_(inner), st.lists(elements, max_size=4)
        case "struct":
            fields = {name: draw(typed(depth - 1)) for name in draw(st.sampled_from(["d", "db"]))}
            type_ = pa.struct([(name, inner) for name, (inner, _) in fields.items()])
            cells = st.fixed_dictionaries({name: each for name, (_, each) in fields.items()})
        case "bad":
            type_, cells = draw(st.sampled_from(BAD))
        case _:
            type_, cells = draw(st.sampled_from(SCALARS))
    return type_, (st.one_of(st.none(), cells, cells) if draw(st.booleans()) else cells)


@st.composite
def tables(draw: st.DrawFn) -> object:
    """A table, whole, sliced or in chunks; names come twice at times, and meet nested ones."""
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "c.d", "type", "null"]), max_size=5))
    types = [draw(typed()) for _ in names]
    count = draw(st.integers(0, 6))
    arrays = [
        pa.array(draw(st.lists(cells, min_size=count, max_size=count)), type_)
        for type_, cells in types
    ]
    batch = pa.RecordBatch.from_arrays(arrays, names)
    first = draw(st.integers(0, batch.num_rows))
    match draw(st.sampled_from(["batch", "sliced", "chunked"])):
        case "sliced":
            return batch.slice(first)
        case "chunked":
            return pa.Table.from_batches([batch.slice(0, first), batch.slice(first)])
    return batch


@given(st.lists(generators.filters(), min_size=1, max_size=6), tables())
def test_a_row_has_the_codes_of_its_event(filters, table):
    check(read(table, errors="collect"), vocabulary_of(*filters))


@settings(max_examples=80)
@given(
    st.lists(generators.filters(), min_size=1, max_size=6),
    st.lists(st.one_of(generators.documents().map(Event), generators.events()), max_size=6),
)
def test_a_document_has_the_codes_of_its_event(filters, events):
    nulls = [f"{name} is null" for name in ("a", "b", "c.d")]
    check(in_columns(events), vocabulary_of(*filters, *nulls))


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.one_of(generators.scalars(), TEXTS))),
    st.lists(st.lists(st.one_of(TEXTS, WHOLE, FLOATS, MOMENTS, st.booleans()), max_size=3)),
)
def test_values_have_their_symbols(known, lists):
    """All values that are drawn may be known, one way or the other; so many are hits."""
    vocabulary = Vocabulary()
    for attribute, value in known:
        vocabulary.value(attribute, value)
    for elements in lists[::2]:
        for each in elements:
            vocabulary.value("a", each)
    check(read(table_of(lists)), vocabulary)


def table_of(lists: list[list[object]]) -> pa.Table:
    """Mixed lists at `a`: a column of lists for each kind of elements."""
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    kinds[datetime] = pa.timestamp("us", "UTC")
    arrays = [
        pa.array([[each for each in row if type(each) is kind] for row in lists], pa.list_(type_))
        for kind, type_ in kinds.items()
    ]
    return pa.Table.from_arrays(arrays, ["a"] * len(arrays))


# --- strings --------------------------------------------------------------------------------------

WORDS = [
    *("", "a", "ab", "abcdef", "abcdefg", "abcdefgh", "abcdefgX", "zzzz", "abc\x01", "abc\x04"),
    *("abcdefghijklmn", "abcdefghijklmX", "abcdefghijklmno", "abcdefghijklmnX"),
    *("abcdefghijklmnopqrstu", "abcdefghijklmnopqrstX", "x" * 1000, "x" * 999 + "y"),
    *("\0", "\0\0", "a\0", "\0" * 7, "\0" * 8, "\0" * 14, "\0" * 15),
    *("é", "日本", "日本語です", "\U0010ffff", "\U0010ffff" * 5),
]


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("first", range(9))
def test_strings_at_any_place_of_a_word(type_, first):
    vocabulary = Vocabulary()
    for word in WORDS[::2]:
        vocabulary.value("a", word)
    program(parse("a < 'm'"), vocabulary)
    words = ["-" * first, *WORDS, "-" * (8 - first), *reversed(WORDS)]
    check(read(pa.table({"a": pa.array(words, type_)})), vocabulary)
    check(read(pa.table({"a": pa.array(words, type_)}).slice(1)), vocabulary)


def test_bytes_that_start_anywhere():
    """Buffers of others need not start at a word."""
    vocabulary = Vocabulary()
    for word in WORDS:
        vocabulary.value("a", word)
    plain = pa.array(WORDS)
    _, ends, characters = plain.buffers()
    for shift in range(8):
        moved = pa.py_buffer(b"-" * shift + characters.to_pybytes())[shift:]
        array = pa.Array.from_buffers(pa.string(), len(plain), [None, ends, moved])
        codes = check(read(pa.table({"a": array})), vocabulary)
        assert len(set(codes.lows[:, 0].tolist())) == len(WORDS)


def test_many_strings():
    vocabulary = Vocabulary()
    known = [f"{'prefix' * (number % 4)}{number}" for number in range(3000)]
    for word in known:
        vocabulary.value("a", word)
    sought = [*known, *(word + "x" for word in known), *(word[1:] for word in known)]
    codes = code_columns(read(pa.table({"a": sought})), vocabulary)
    symbols = vocabulary.attributes["a"].symbols
    assert codes.lows[:, 0].tolist() == [symbols.get(word, OTHER) for word in sought]


def test_a_long_text_is_compared_with_the_one_held():
    table, sought = TextTable(), texts(pa.array(["a text of more than fourteen bytes"]))
    found = np.zeros((1, 1), np.int32)
    table.add({"a text of more than fourteen bytes": 6})
    table.find(sought, found, 0)
    assert found[0, 0] == 6
    table._held[2] += 1  # as if two texts had one hash
    table.find(sought, found, 0)
    assert found[0, 0] == OTHER


def test_a_table_of_texts_is_shared_until_it_grows():
    words = [f"{'prefix' * (number % 4)}{number}" for number in range(300)]
    known, later = {word: 2 * at + 2 for at, word in enumerate(words[:250])}, words[250:]
    table = TextTable()
    table.add(known)
    slots, held = (frozen(array.copy()) for array in table.arrays())
    opened = TextTable.of(slots, held, known.values())
    assert found_in(opened, words) == [known.get(word, OTHER) for word in words]
    assert all(np.shares_memory(*pair) for pair in zip(opened.arrays(), (slots, held), strict=True))
    for at, word in enumerate(later, 1_000):
        known[word] = 2 * at
        opened.add({word: known[word]})
        assert found_in(opened, words) == [known.get(each, OTHER) for each in words]
    assert found_in(TextTable.of(slots, held, list(known.values())[:250]), later) == [OTHER] * 50


def found_in(table, words):
    found = np.zeros((len(words), 1), np.int32)
    table.find(texts(pa.array(words)), found, 0)
    return found[:, 0].tolist()


def test_patterns_of_several_attributes():
    table = pa.table({"a": ["x", "y", "xy", "y"], "b": [["x"], ["y", "xy", "x"], [], ["z", "z"]]})
    codes = check(
        read(table), vocabulary_of("a like 'x%' and b like '%y'", "b like '%x' or a like 'y'")
    )
    assert len(codes.accepted_at) == 3 + 4 + 1


def test_dictionaries_with_words_that_repeat_or_that_no_row_has():
    words = pa.array(["x", "y", "x", "unused", "long enough to be held apart"])
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, 4, None, 0], pa.int8()), words)
    vocabulary = vocabulary_of("a = 'x' or a = 'long enough to be held apart'", "a like 'x%'")
    table = pa.table({"a": coded})
    for each in (table, table.slice(1, 2), table.slice(2)):
        check(read(each), vocabulary)


# --- numbers and others ---------------------------------------------------------------------------

EDGES = [
    *(0, 1, -1, 2**20, 2**20 + 1, 2**53, 2**53 + 1, 2**53 + 2, 2**60, 2**60 + 1, 2**60 - 1),
    *(2**63 - 1, 2**63 - 2, 2**63 - 2**10, 2**62 + 1, 2**62 - 1),
    *(-(2**63), -(2**63) + 1, -(2**60) - 1, -(2**60) + 1, -(2**53) - 1),
]


@pytest.mark.parametrize("known", [EDGES, EDGES[::2], list(map(float, EDGES)), [1.5, 1e300], []])
def test_numbers(known):
    vocabulary = vocabulary_of("a < 5")
    for number in known:
        vocabulary.value("a", number)
    floats = [*map(float, EDGES), 0.5, -0.0, 1.5, 5e-324, 1e300, -1e300, 2.0**63, -(2.0**64)]
    moments = [MOMENT + timedelta(microseconds=number) for number in range(-3, 4)]
    check(read(pa.table({"a": pa.array(EDGES)})), vocabulary)
    check(read(pa.table({"a": pa.array(floats)})), vocabulary)
    check(read(pa.table({"a": pa.array(moments)})), vocabulary)
    check(read(pa.table({"a": pa.array(list(map(Decimal, EDGES)))})), vocabulary)
    check(read(pa.table({"a": [True, False]})), vocabulary)


@pytest.mark.parametrize("scale", [-250, -3, 0, 2, 25, 300])
def test_decimals(scale):
    digits = [3, -3, 0, 10**9, 10**17 + 1, 2**60, -(2**53) - 1, 5**10]
    words = np.array([(number, number >> 63) for number in digits], np.int64)
    array = pa.Array.from_buffers(
        pa.decimal128(38, scale), len(digits), [None, pa.py_buffer(words)]
    )
    vocabulary = vocabulary_of("a < 5 and a != 0 and a != 3")
    for number in (2**60, 2**53 + 1, -(2**53) - 1, 10**17 + 1, 1e9):
        vocabulary.value("a", number)
    check(read(pa.table({"a": array})), vocabulary)


def test_decimals_beside_numbers_that_are_no_floats():
    """2**53 and 2**53 + 1 have one nearest float64."""
    near = [Decimal(2**53 + more) for more in (-1, 0, 1, 2)]
    table = pa.table({"a": pa.array([*near, Decimal("0.1"), Decimal("0.5")], pa.decimal128(38, 2))})
    for known in ([2**53 + 1], [2**53], [0.1, 0.5], [2**53, 2**53 + 1]):
        vocabulary = Vocabulary()
        for number in known:
            vocabulary.value("a", number)
        codes = check(read(table), vocabulary)
        assert (codes.lows[:, 0] != OTHER).sum() == len(known)


def test_decimals_for_which_no_float_stands():
    """The cells beside it have the same nearest float64."""
    long = ExactDecimal("0.10000000000000001")
    near = [long, Decimal("0.1"), Decimal("0.10000000000000002")]
    vocabulary = Vocabulary()
    vocabulary.value("a", long)
    codes = check(read(pa.table({"a": pa.array(near, pa.decimal128(38, 17))})), vocabulary)
    assert (codes.lows[:, 0] != OTHER).tolist() == [True, False, False]


def test_moments_and_booleans():
    near = [MOMENT + timedelta(microseconds=number) for number in (-1, 0, 1, 2**28, 2**28 + 1)]
    vocabulary = vocabulary_of("a < timestamp '2024-01-01T00:00:00Z'", "b = true", "b = 1")
    for moment in (MOMENT, near[-1], datetime.max.replace(tzinfo=UTC)):
        vocabulary.value("a", moment)
    moments = [*near, datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC), None]
    codes = check(
        read(pa.table({"a": moments, "b": [True, False, None] * 2 + [True] * 2})), vocabulary
    )
    assert codes.lows[0, vocabulary.attributes["b"].value] != OTHER
    assert codes.lows[1, vocabulary.attributes["b"].value] == OTHER


# --- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_no_axes_and_no_columns(rows):
    check(read(pa.table({"a": list(range(rows))})), Vocabulary())
    check(read(pa.table({"b": list(range(rows))})), vocabulary_of("a = 1", "type is T"))
    empty = pa.table({"a": pa.array([[]] * rows, pa.list_(pa.string()))})
    check(read(empty), vocabulary_of("a = 1", "exists a", "a like 'x%'"))


def test_lists_of_several_axes():
    lists = [["x", "y", "x"], ["x"], [], None, ["q", "r"], ["y", "x", "z"]]
    numbers = [[1, 2], [3, 3], [2, 1], [], [1], [1, 2**53 + 1]]
    table = pa.table({"a": lists, "b": pa.array(numbers)})
    vocabulary = vocabulary_of(
        "a = 'x' and a = 'y' and a < 'b' and a like 'x%' and b < 2 and b = 1"
    )
    codes = check(read(table), vocabulary)
    assert codes.is_wide and codes.wide.tolist()[1] == codes.wide.tolist()[3] == -1
    assert not check(read(table.slice(1, 1)), vocabulary).is_wide


def test_types():
    vocabulary = vocabulary_of("type is Stock or type is Share or type is Thing", "type = 'Stock'")
    for cells in (
        ["Stock", "Share", None, "Bond"],
        [["Stock", "Share"], ["Bond"], [], ["Thing", "Thing"]],
        pa.array(["Thing", "Stock", "Thing"]).dictionary_encode(),
        [1, 2],
    ):
        check(read(pa.table({"type": cells})), vocabulary)


def test_rows_that_are_no_events_have_no_codes():
    nan = float("nan")
    table = pa.table(
        {"a": [1.0, nan, 2.0], "b": [["x", "y"]] * 3, "c": ["x"] * 3, "type": ["Thing"] * 3}
    )
    columns = read(table, errors="collect")
    vocabulary = vocabulary_of("a < 5 and b = 'x' and c like 'x%' and exists c and type is Thing")
    codes = check(columns, vocabulary)
    assert set(codes.lows[1].tolist()) == {MISSING} and codes.wide[1] == -1
    only = check(read(table.slice(1, 1), errors="collect"), vocabulary)
    assert not only.is_wide


# --- growing --------------------------------------------------------------------------------------


def test_what_is_learned_later_is_found():
    vocabulary = vocabulary_of("exists a")
    columns = read(
        pa.table({"a": pa.array([["one", "a word of some length", "x"], ["one"]]), "b": [1, 2]})
    )
    check(columns, vocabulary)
    for text in ("a = 'one'", "b = 2", "a = 'a word of some length'", "b = 1.5", "a like '%o%'"):
        program(parse(text), vocabulary)
        check(columns, vocabulary)
    for number in range(200):
        vocabulary.value("a", f"another word {number}")
        vocabulary.value("b", number)
        if number % 40 == 0:
            check(columns, vocabulary)
    vocabulary.pattern("a", glob(["x"]), False)
    check(columns, vocabulary)


def test_a_vocabulary_that_grows_while_columns_are_coded():
    vocabulary = Vocabulary()
    words = [f"word number {number}" for number in range(2000)]
    columns = read(pa.table({"a": words[::20], "b": list(range(0, 2000, 20))}))
    problems: list[object] = []

    def code() -> None:
        while not done.is_set():
            before = [dict(vocabulary.attribute(name).symbols) for name in "ab"]
            codes = code_columns(columns, vocabulary)
            for axis, known, values in (
                (0, before[0], words[::20]),
                (1, before[1], range(0, 2000, 20)),
            ):
                if codes.lows.shape[1] > axis:
                    for row, value in enumerate(values):
                        found = codes.lows[row, axis]
                        if found not in (OTHER, symbol_of(vocabulary, "ab"[axis], value)):
                            problems.append((value, found))
                        if value in known and found == OTHER:
                            problems.append((value, "lost"))

    vocabulary.value("a", words[0])
    vocabulary.value("b", 0)
    code_columns(columns, vocabulary)
    done = threading.Event()
    threads = [threading.Thread(target=code) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for number, word in enumerate(words):
            vocabulary.value("a", word)
            vocabulary.value("b", number)
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert problems == []
    check(columns, vocabulary)


def symbol_of(vocabulary: Vocabulary, attribute: str, value: object) -> int:
    return vocabulary.attributes[attribute].symbols.get(value, OTHER)
