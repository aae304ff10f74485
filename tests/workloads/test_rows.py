"""Rows draw what Row draws, forms and sentences write many as they write one."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.workloads.draw import Choice, Ranges, Stream
from fyke.workloads.drawn import kind_by_kind
from fyke.workloads.form import Fixed, Flag, Form, Moment, Names, Whole
from fyke.workloads.row import Code, Draw, Row
from fyke.workloads.rows import Rows, rows_of
from fyke.workloads.sentence import Sentence

seeds = st.integers(-(2**70), 2**70)
numbers = st.lists(st.integers(0, 2**58), max_size=12)
columns = st.integers(0, 15)
weights = st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any)

FORMS: list[Form] = [
    *(Whole(), Fixed(1), Fixed(6), Flag(), Names(["", "a b", "ß𝄞", "NYSE"])),
    Moment(datetime(1969, 12, 31, tzinfo=UTC)),
]


def many(given: list[int]) -> np.ndarray:
    return np.array(given, dtype=np.int64)


@given(seeds, numbers, columns, st.integers(1, 2**32), st.lists(weights, min_size=1, max_size=4))
def test_rows_are_rows(
    seed: int, given: list[int], column: int, limit: int, several: list[list[int]]
) -> None:
    stream, other = Stream(seed, "one"), Stream(seed, "other")
    choices = tuple(map(Choice, several))
    ranges = Ranges((-7, -7, 0, 3, 2**31), (1, 2, 3, 4))
    sizes = (3, 2**40, -1, 0)

    def drawn(draw: Draw[Code]) -> dict[str, Code]:
        key = draw.number % len(choices)
        away = draw.seek(draw.number // 3, other)
        return {
            "below": draw.below(column, limit),
            "pick": draw.pick(choices[0], column),
            "by": draw.pick_by(choices, key, column),
            "chance": draw.chance(draw.number % 1_001, column),
            "within": draw.within(ranges, column, 15 - column),
            "table": draw.look_up(sizes, draw.number % 4),
            "away": away.below(column, 1_000) + draw.seek(key).below(column, 10),
        }

    found = drawn(Rows(stream, many(given)))
    assert all(codes.dtype == np.int64 for codes in found.values())
    rows = [drawn(Row(stream, number)) for number in given]
    for name, codes in found.items():
        assert codes.tolist() == [row[name] for row in rows], name


def test_rare_and_impossible_choices() -> None:
    """Weight zero is never picked, also at the seam between two choices."""
    choices = (Choice((0, 1, 0)), Choice((1, 0)), Choice((0, 0, 5, 0)))
    rows = rows_of(Stream(1, "x"), 3_000, 0)
    assert rows.pick_by(choices, rows.number % 3, 0).tolist() == [1, 0, 2] * 1_000


@given(st.lists(st.integers(-(2**40), 2**40), max_size=8), st.sampled_from(FORMS))
def test_forms_write_many_as_one(given: list[int], form: Form) -> None:
    if isinstance(form, (Names, Flag)):
        given = [code % (2 if isinstance(form, Flag) else 4) for code in given]
    values = form.column(many(given)).to_pylist()
    assert values == [form.value(code) for code in given]
    assert list(map(type, values)) == [type(form.value(code)) for code in given]
    if not isinstance(form, Moment):
        assert form.words(many(given)).to_pylist() == [form.word(code) for code in given]


@given(st.integers(-(10**12), 10**12), st.integers(1, 6))
def test_a_fixed_point_number_reads_back(code: int, decimals: int) -> None:
    form = Fixed(decimals)
    filter = fyke.parse(f"a = {form.word(code)}")
    assert filter.matches({"a": form.value(code)})
    assert not filter.matches({"a": form.value(code + 1)})


def test_fixed_point_words() -> None:
    form = Fixed(2)
    assert [form.word(code) for code in (0, 5, -5, 100, -123, 99_999)] == [
        *("0.00", "0.05", "-0.05", "1.00", "-1.23", "999.99")
    ]


def test_sentences() -> None:
    sentence = Sentence("{a} of '{name}', {a}", a=Whole(), name=Names(["x", "y"]))
    codes = {"a": [-1, 2**62], "name": [1, 0]}
    texts = ["-1 of 'y', -1", f"{2**62} of 'x', {2**62}"]
    assert sentence.column({key: many(value) for key, value in codes.items()}).to_pylist() == texts
    assert [sentence.text({"a": -1, "name": 1}), sentence.text({"a": 2**62, "name": 0})] == texts
    nothing = sentence.column({"a": many([]), "name": many([])})
    assert nothing.equals(pa.array([], pa.string()))


def test_kinds_are_put_back_in_order() -> None:
    rows = rows_of(Stream(1, "x"), 7, 10)
    makers = [
        lambda some: pa.table({"even": some.number, "all": some.number}),
        lambda some: pa.table({"all": some.number, "odd": some.number}),
    ]
    table = kind_by_kind(rows, rows.number % 2, makers)
    assert table.column_names == ["even", "all", "odd"]
    assert table["all"].to_pylist() == list(range(10, 17))
    assert table["odd"].to_pylist() == [None, 11, None, 13, None, 15, None]
    none = rows_of(Stream(1, "x"), 0, 10)
    assert kind_by_kind(none, none.number % 2, makers).schema == table.schema
