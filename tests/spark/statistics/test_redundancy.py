"""Duplicates and coverings: what holding all pairs against each other finds."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from fyke import Filter, covers, parse
from fyke.filters.algebra.covering import is_never_true
from fyke.filters.algebra.subsumption import COVERING_BUDGET
from fyke.filters.analysis import canonical_form
from fyke.spark.statistics import coverings, duplicates
from fyke.spark.statistics.places import asked, waited
from fyke.testing.generators import filters
from fyke.workloads.named import workload

PARTS = [
    *("a = 1", "a = true", "a = '1'", "a = 1.0", "a < 5", "a < 3", "a != 1", "a in (1, 2)"),
    *("b starts with 'x'", "b like 'xy%'", "b = 'xyz'", "b = '\U0001f600'", "b = ''"),
    *("b contains 'Midnight'", "b like '%Midnight_Almanac%'", "b = 'A Midnight Almanac'"),
    *("b ilike '%MIDNIGHT%'", "b ilike '%x 2024-05%'", "b contains '2024-05'"),
    *("b like 'A Midnight%c'", "b between 'A Midnight A' and 'A Midnight B'"),
    *("exists c", "c is null", "c between 1 and 5", "type is Stock", "type = 'Stock'", "a = b"),
]


def texts(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)

    def made() -> str:
        parts = [("" if rng.random() < 0.9 else "not ") + f"({rng.choice(PARTS)})"
                 for _ in range(rng.randrange(1, 4))]  # fmt: skip
        return (" and " if rng.random() < 0.7 else " or ").join(parts)

    return [*(made() for _ in range(count)), "true", "false", "a < 1 and not (a < 1)"]


def table(spark: SparkSession, given: Sequence[str]) -> DataFrame:
    rows = [(f"s{number:03}", text) for number, text in enumerate(given)]
    return spark.createDataFrame(rows, "id string, filter string").repartition(2)


def firsts(given: Sequence[str]) -> dict[Filter, str]:
    first: dict[Filter, str] = {}
    for number, text in enumerate(given):
        first.setdefault(canonical_form(parse(text)), f"s{number:03}")
    return first


def test_duplicates(spark: SparkSession) -> None:
    given = [*texts(1, 60), "b = 'x' and a = 1", "a = 1.0 and b = 'x'", "a = true and b = 'x'"]
    given += ["not (a = 1 or b = 2)", "not b = 2 and not a = 1", "a = 1 and a = 1"]
    found = {row["subscription"]: row["first"] for row in duplicates(table(spark, given)).collect()}
    first = firsts(given)
    right = {
        f"s{number:03}": first[canonical_form(parse(text))] for number, text in enumerate(given)
    }
    assert found == {id: other for id, other in right.items() if id != other}
    assert len(found) > 3


def test_coverings(spark: SparkSession) -> None:
    given = texts(2, 90)
    first = {f: id for f, id in firsts(given).items() if not is_never_true(f)}
    right = {
        (first[wide], first[narrow])
        for wide in first
        for narrow in first
        if wide != narrow and covers(wide, narrow, budget=COVERING_BUDGET)
    }
    found = [(row["wide"], row["narrow"]) for row in coverings(table(spark, given)).collect()]
    assert len(found) == len(set(found))
    assert set(found) == right and len(right) > 100


def test_coverings_of_a_workload(spark: SparkSession) -> None:
    given = list(workload("auction", 7).texts(150))
    first = firsts(given)
    right = {
        (first[wide], first[narrow])
        for wide in first
        for narrow in first
        if wide != narrow and covers(wide, narrow, budget=COVERING_BUDGET)
    }
    found = {(row["wide"], row["narrow"]) for row in coverings(table(spark, given)).collect()}
    assert found == right


def test_many_wait_at_one_place(spark: SparkSession) -> None:
    given = [f"a < {n}" for n in range(200)]
    found = {(row["wide"], row["narrow"]) for row in coverings(table(spark, given)).collect()}
    assert found == {(f"s{w:03}", f"s{n:03}") for w in range(200) for n in range(w)}


def test_intervals_of_a_crowd(spark: SparkSession) -> None:
    """None covers another but those at the same place, among thousands."""
    given = [f"a between {10 * n} and {10 * n + 12} and b < {n % 7}" for n in range(3_000)]
    given += [f"a between {10 * n + 1} and {10 * n + 3} and b < {n % 7}" for n in range(0, 999, 9)]
    ids = pa.table({"id": [str(n) for n in range(len(given))], "filter": given})
    found = {(int(w), int(n)) for w, n in coverings(spark.createDataFrame(ids)).collect()}
    right = {(9 * n, 3_000 + n) for n in range(111)}
    assert found == right


@settings(max_examples=300, deadline=None)
@given(filters(), filters())
def test_what_covers_waits_where_the_covered_asks(wide: Filter, narrow: Filter) -> None:
    wide, narrow = canonical_form(wide), canonical_form(narrow & wide)
    assume(not is_never_true(narrow) and covers(wide, narrow))
    assert all(clause & asked(narrow) for clause in waited(wide))


@given(st.lists(filters(), min_size=1, max_size=3))
def test_places_of_all_filters(given: list[Filter]) -> None:
    for each in given:
        assert all(clause & asked(each) for clause in waited(each))
