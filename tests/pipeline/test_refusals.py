"""When a run has refused too many of its events, and what it says then."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from fyke.errors import FykeError
from fyke.pipeline.configuration import parse
from fyke.pipeline.results.outcome import Reason
from fyke.pipeline.results.refusals import REASONS_MAX, check_refused, commonest, listed

PIPELINE = parse(
    """
    [events]
    format = "json"
    path = "events"
    key = "idd"
    [subscriptions]
    workload = "auction"
    count = 1
    """,
    "p.toml",
    Path("/somewhere"),
)


@given(st.integers(0, 100), st.integers(0, 3_000), st.integers(0, 3_000))
def test_a_share_is_compared_exactly(percent: int, one: int, other: int) -> None:
    """As it is written: 0.07 of 100 are 7, and 7 pass."""
    refused, seen = sorted((one, other))
    pipeline = PIPELINE.tolerating(float(f"{percent / 100:.2f}"))
    if seen and Fraction(refused, seen) > Fraction(percent, 100):
        with pytest.raises(FykeError, match=f"^{refused:,} of {seen:,} events were refused"):
            check_refused(pipeline, refused, seen, [])
    else:
        check_refused(pipeline, refused, seen, [])


@given(st.integers(1, 5_000), st.integers(0, 100))
def test_the_edge_of_a_share(part: int, percent: int) -> None:
    pipeline = PIPELINE.tolerating(float(f"{percent / 100:.2f}"))
    check_refused(pipeline, part * percent, part * 100, [])
    if percent < 100:
        with pytest.raises(FykeError):
            check_refused(pipeline, part * percent + 1, part * 100, [])


def test_the_key_is_named_where_it_is_to_blame() -> None:
    def said(reasons: list[Reason]) -> str:
        with pytest.raises(FykeError) as refused:
            check_refused(PIPELINE, 3_000, 4_000, reasons)
        return str(refused.value)

    keyless = Reason("the event has no key", 2_999)
    assert "refused (events.key is 'idd'); events.refused_max" in said([keyless])
    assert said([keyless, Reason("a\nb", 1)]).splitlines()[1:] == [
        "      2,999  the event has no key",
        "          1  a",
    ]
    assert "events.key" not in said([Reason("not JSON", 3_000)])


def test_reasons_are_shown_in_a_line_each() -> None:
    lines = listed([Reason("x" * 500 + "\nmore", 7), Reason("", 1)]).split("\n")
    assert lines[0] == "" and len(lines) == 3 and max(map(len, lines)) < 90


def test_the_commonest_kinds_of_reasons(spark: SparkSession) -> None:
    reasons = {
        **{f"not JSON at byte {number}": 2 for number in range(10, 15)},
        **{f"attribute 'a': '{word}' is no number": 3 for word in ("x", "y z")},
        "attribute 'b': 'x' is no number": 4,
        'the key "p" comes twice': 1,
        "the key 'q' comes twice": 1,
        "the event has no key": 8,
        "rare": 1,
        "rarer": 1,
    }
    rows = [(reason,) for reason, count in reasons.items() for _ in range(count)] + [(None,)] * 9
    found = commonest(spark.createDataFrame(rows, "reason string").repartition(3))
    assert found == (
        Reason("not JSON at byte 10", 10),
        Reason("the event has no key", 8),
        Reason("attribute 'a': 'x' is no number", 6),
        Reason("attribute 'b': 'x' is no number", 4),
        Reason('the key "p" comes twice', 2),
    )
    assert len(found) == REASONS_MAX
    assert commonest(spark.createDataFrame([(None,)], "reason string")) == ()
