"""The workloads of the benchmarks: rows alone, in ranges and as columns are the same rows."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.workloads.conjunctive import ConjunctiveWorkload
from fyke.workloads.named import workload
from fyke.workloads.predicates import NONE
from fyke.workloads.workload import FILTERS_AT_ONCE, ColumnarWorkload
from tests.workloads import one_row

NAMES = ["w1", "w2_3", "w2_10", "w3", "w4", "w5"]
CONJUNCTIVE = ["w1", "w2_3", "w2_10", "w3"]
FAR = [0, 1, FILTERS_AT_ONCE - 2, 10**6, 10**12]

seeds = st.one_of(st.integers(0, 5), st.integers(-(2**70), 2**70))
starts = st.one_of(st.integers(0, 10), st.sampled_from(FAR), st.integers(0, 2**48))


def columnar(name: str, seed: int = 7) -> ColumnarWorkload:
    made = workload(name, seed)
    assert isinstance(made, ColumnarWorkload)
    return made


def conjunctive(name: str, seed: int = 7) -> ConjunctiveWorkload:
    made = workload(name, seed)
    assert isinstance(made, ConjunctiveWorkload)
    return made


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(seed=seeds, start=starts, count=st.integers(0, 6))
def test_columns_are_the_events(name: str, seed: int, start: int, count: int) -> None:
    work = columnar(name, seed)
    table = work.columns(count, start)
    rows = [one_row.event(work, number) for number in range(start, start + count)]
    assert table.to_pylist() == [dict(row.attributes) for row in rows]
    assert list(work.events(count, start)) == rows
    assert {str(kind) for kind in table.schema.types} <= {"string", "int64"}
    assert table.column_names == list(work.event(0).attributes)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(seed=seeds, start=starts, count=st.integers(0, 6))
def test_filters_are_the_texts(name: str, seed: int, start: int, count: int) -> None:
    work = columnar(name, seed)
    numbers = range(start, start + count)
    filters = list(work.filters(count, start))
    assert filters == [work.filter(number) for number in numbers]
    assert filters == [one_row.filter(work, number) for number in numbers]
    assert filters == [fyke.parse(work.text(number)) for number in numbers]
    assert list(work.texts(count, start)) == [work.text(number) for number in numbers]
    subscriptions = list(work.subscriptions(count, start))
    assert subscriptions == [work.subscription(number) for number in numbers]
    assert [one.filter for one in subscriptions] == filters


@pytest.mark.parametrize("name", NAMES)
def test_blocks_leave_no_seam(name: str) -> None:
    work = columnar(name)
    start = 5
    for number, filter in enumerate(work.filters(FILTERS_AT_ONCE + 40, start), start):
        if number < start + 30 or number > start + FILTERS_AT_ONCE - 30:
            assert filter == work.filter(number)
    assert number == start + FILTERS_AT_ONCE + 39


@pytest.mark.parametrize("name", NAMES)
def test_workloads_are_values(name: str) -> None:
    work, other = columnar(name), columnar(name, 8)
    assert pickle.loads(pickle.dumps(work)) == work != other
    assert work.name == name
    assert work.id(3) == f"{name}-3"
    pairs = zip(work.events(60), other.events(60), strict=True)
    assert all(one != two for one, two in pairs)
    # W5 has few patterns that are frequent; the others share nothing
    assert len(set(work.texts(60)) & set(other.texts(60))) < 6
    for event in work.events(100):
        assert event == Event(event.document)
    assert list(work.events(0)) == list(work.filters(0)) == []
    assert work.columns(0).num_rows == 0


@pytest.mark.parametrize("name", CONJUNCTIVE)
@settings(max_examples=20)
@given(seed=seeds, start=starts)
def test_matrices_mean_the_filters(name: str, seed: int, start: int) -> None:
    """Codes within low and high, at every place, is `matches`."""
    work = conjunctive(name, seed)
    codes, drawn = work.codes(40, start), work.conjunctions(40, start)
    assert codes.shape == (40, len(work.attributes))
    assert len(drawn) == 40
    used = drawn.attribute != NONE
    assert (drawn.is_equality <= (used & (drawn.low == drawn.high))).all()
    filters = list(work.filters(40, start))
    for row, event in enumerate(work.events(40, start)):
        values = codes[row][drawn.attribute * used]
        accepted = (drawn.low <= values) & (values <= drawn.high) | ~used
        assert accepted.all(axis=1).tolist() == [filter.matches(event) for filter in filters]
        assert event.attributes == {
            attribute.name: attribute.value(code)
            for attribute, code in zip(work.attributes, codes[row].tolist(), strict=True)
        }


@pytest.mark.parametrize("name", CONJUNCTIVE)
def test_matrices_are_the_predicates(name: str) -> None:
    """Random events match few filters, so compare each filter with its own row too."""
    work = conjunctive(name)
    drawn = work.conjunctions(300, 10)
    for row, filter in enumerate(work.filters(300, 10)):
        texts = []
        for at, low, high in zip(
            drawn.attribute[row], drawn.low[row], drawn.high[row], strict=True
        ):
            if at != NONE:
                texts.append(str(work.attributes[at].predicate(int(low), int(high))))
        assert " and ".join(texts) == str(filter)


def test_rows_need_no_compiler() -> None:
    code = (
        "import sys, fyke.workloads.named as named\n"
        "[(named.workload(n).event(3), named.workload(n).text(3)) for n in named.WORKLOADS]\n"
        "print([name for name in ('numba', 'pyspark') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
