"""Buckets: an event reaches every subscription that could accept it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import fyke
from fyke.events.event import Event
from fyke.events.value import Scalar, Value, equal
from fyke.filters.filter import TRUE, Filter, conjunction
from fyke.filters.predicate import Exists, In
from fyke.spark.placements.buckets import bucket, buckets_of, column_bucket, filed_under
from fyke.testing.generators import NAMES, filters, scalars
from fyke.testing.stories.reaching import examples, reached, reaches

COUNT = 7


NUMBERS = {at: [each for each in range(200) if bucket(each, COUNT) == at] for at in range(COUNT)}
"""By the bucket that they share."""
SCALARS = scalars()
REST = st.sampled_from([TRUE, Exists(NAMES[0])]) | filters(max_leaves=2)


@st.composite
def met(draw: st.DrawFn) -> tuple[Filter, Event, str, tuple[Scalar, ...]]:
    """A filter that asks for some values of a name, and an event that likely has one of them.

    In other words than the filter's, perhaps: as a decimal, an element of a list.
    """
    name, another = draw(st.permutations(NAMES))[:2]
    first = draw(SCALARS.filter(lambda value: value is not None))
    numbers = NUMBERS[bucket(first, COUNT)] if draw(st.booleans()) else range(200)
    wanted = (first, *draw(st.lists(st.sampled_from(numbers), max_size=2)))
    value: Value = draw(st.sampled_from(wanted))
    if isinstance(value, int) and not isinstance(value, bool):
        value = draw(st.sampled_from([value, Decimal(value), Decimal(value) * Decimal("1.0")]))
    if draw(st.booleans()):
        value = tuple(draw(st.permutations([value, *draw(st.lists(SCALARS, max_size=2))])))
    event = Event({name: value, another: draw(SCALARS)})
    return conjunction([In(name, wanted), draw(REST)]), event, name, wanted


@reaches(accepted=0.4, of_several_values=0.1, a_list=0.15)
@examples(2)
@given(met())
def test_no_event_misses_the_bucket_of_a_filter(
    drawn: tuple[Filter, Event, str, tuple[Scalar, ...]],
) -> None:
    filter, event, name, wanted = drawn
    found = filed_under(filter, name, COUNT)
    buckets = {bucket(value, COUNT) for value in wanted}
    if len(buckets) == 1 and None not in wanted:
        assert found in buckets
    accepted = found is not None and filter.matches(event)
    if accepted:
        assert found in buckets_of(event.attributes[name], COUNT)
    reached(
        accepted=accepted,
        of_several_values=accepted and len(wanted) > 1,
        a_list=accepted and isinstance(event.attributes[name], tuple),
    )


@given(scalars(), scalars())
def test_equal_values_share_a_bucket(one: Scalar, other: Scalar) -> None:
    if equal(one, other):
        assert bucket(one, 10**9) == bucket(other, 10**9)


@pytest.mark.parametrize(
    "equals",
    [
        (1, 1.0, Decimal("1.00")),
        (0, -0.0, 0.0, Decimal("-0.0")),
        (0.25, Decimal("0.2500")),
        (2**53, float(2**53)),
        (2.0**900, Decimal(repr(2.0**900))),
        (8.4, Decimal("8.40")),
        (
            datetime(2026, 5, 1, 12, tzinfo=UTC),
            datetime(2026, 5, 1, 14, tzinfo=timezone(timedelta(hours=2))),
        ),
    ],
)
def test_types_make_no_difference(equals: tuple[Scalar, ...]) -> None:
    assert len({bucket(value, 10**9) for value in equals}) == 1


def test_what_has_no_bucket_of_its_own() -> None:
    for text in ("a is null", "a > 1", "not a = 1", "a = 1 or b = 1", "exists a", "b = 1"):
        assert filed_under(fyke.parse(text), "a", COUNT) is None, text
    many = ", ".join(map(str, range(50)))
    assert filed_under(fyke.parse(f"a in ({many})"), "a", COUNT) is None
    assert filed_under(fyke.parse("a in (1, null)"), "a", 1) is None
    assert filed_under(fyke.parse("a in (1, 'x')"), "a", 1) == 0
    assert filed_under(fyke.parse("a > 0 and a = 1"), "a", COUNT) == bucket(1, COUNT)
    assert filed_under(fyke.parse("type is Stock"), "type", COUNT) is None
    assert buckets_of((), COUNT) == buckets_of(None, COUNT) == []


@pytest.mark.parametrize(
    ("type", "values"),
    [
        ("string", ["", "a", "é", "\U0001f600", "1", "true", "a\0b", None]),
        ("boolean", [True, False, None]),
        ("tinyint", [-128, 0, 127]),
        ("bigint", [-(2**63), 2**63 - 1, 2**53 + 1, 0, None]),
    ],
)
def test_spark_computes_the_same(spark: SparkSession, type: str, values: list[Scalar]) -> None:
    frame = spark.createDataFrame([(value,) for value in values], f"v {type}")
    found = frame.select("v", column_bucket(f.col("v"), 1000).alias("b")).collect()
    assert {row["v"]: row["b"] for row in found} == {v: bucket(v, 1000) for v in values}
