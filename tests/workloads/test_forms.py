"""Forms and sentences write many codes as they write one; kinds are put back in order."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.workloads.draw import Draw, RandomStream, row_numbers
from fyke.workloads.drawn import kind_by_kind
from fyke.workloads.form import Fixed, Flag, Form, Moment, Names, Sentence, Whole
from tests.workloads import one_row

FORMS: list[Form] = [
    *(Whole(), Fixed(1), Fixed(6), Flag(), Names(["", "a b", "ß𝄞", "NYSE"])),
    Moment(datetime(1969, 12, 31, tzinfo=UTC)),
]


def many(given: list[int]) -> np.ndarray:
    return np.array(given, dtype=np.int64)


@given(st.lists(st.integers(-(2**40), 2**40), max_size=8), st.sampled_from(FORMS))
def test_forms_write_many_as_one(given: list[int], form: Form) -> None:
    if isinstance(form, (Names, Flag)):
        given = [code % (2 if isinstance(form, Flag) else 4) for code in given]
    values = form.column(many(given)).to_pylist()
    assert values == [one_row.value(form, code) for code in given]
    assert list(map(type, values)) == [type(one_row.value(form, code)) for code in given]
    if not isinstance(form, Moment):
        assert form.words(many(given)).to_pylist() == [one_row.word(form, code) for code in given]


@given(st.integers(-(10**12), 10**12), st.integers(1, 6))
def test_a_fixed_point_number_reads_back(code: int, decimals: int) -> None:
    form = Fixed(decimals)
    value, next_value = form.column(many([code, code + 1])).to_pylist()
    filter = fyke.parse(f"a = {form.words(many([code]))[0]}")
    assert filter.matches({"a": value})
    assert not filter.matches({"a": next_value})


def test_fixed_point_words() -> None:
    assert Fixed(2).words(many([0, 5, -5, 100, -123, 99_999])).to_pylist() == [
        *("0.00", "0.05", "-0.05", "1.00", "-1.23", "999.99")
    ]


def test_sentences() -> None:
    sentence = Sentence("{a} of '{name}', {a}", a=Whole(), name=Names(["x", "y"]))
    codes = {"a": [-1, 2**62], "name": [1, 0]}
    texts = ["-1 of 'y', -1", f"{2**62} of 'x', {2**62}"]
    assert sentence.column({key: many(value) for key, value in codes.items()}).to_pylist() == texts
    assert one_row.fill(sentence, {"a": -1, "name": 1}) == texts[0]
    nothing = sentence.column({"a": many([]), "name": many([])})
    assert nothing.equals(pa.array([], pa.string()))


def test_kinds_are_put_back_in_order() -> None:
    rows = Draw(RandomStream(1, "x"), row_numbers(7, 10))
    makers = [
        lambda some: pa.table({"even": some.number, "all": some.number}),
        lambda some: pa.table({"all": some.number, "odd": some.number}),
    ]
    table = kind_by_kind(rows, rows.number % 2, makers)
    assert table.column_names == ["even", "all", "odd"]
    assert table["all"].to_pylist() == list(range(10, 17))
    assert table["odd"].to_pylist() == [None, 11, None, 13, None, 15, None]
    none = Draw(RandomStream(1, "x"), row_numbers(0, 10))
    assert kind_by_kind(none, none.number % 2, makers).schema == table.schema
