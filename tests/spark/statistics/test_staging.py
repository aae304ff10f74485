"""Stages from events and from what subscriptions read, all together and by type."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from fyke import parse
from fyke.errors import FykeError
from fyke.routing.stages.generality import Generality, in_order, share_of_readers, stages_of
from fyke.spark.statistics import stages_by_type

KNOWN = {
    "title": Generality(0.001, 900),
    "author": Generality(0.1, 10),
    "year": Generality(0.05, 20),
    "venue": Generality(0.1, 9),
}


def test_what_is_read_by_more_stays_longer() -> None:
    assert in_order(KNOWN) == ("venue", "author", "year", "title")
    reads = {"title": 1.0, "author": 0.98, "year": 1.0, "venue": 0.6}
    assert in_order(KNOWN, reads) == ("author", "year", "title", "venue")
    assert in_order(KNOWN, {}) == in_order(KNOWN)
    order = in_order(KNOWN)
    kept = stages_of(order, 3)
    assert kept == (order, order[:3], order[:2], order[:1])
    assert [len(each) for each in stages_of(order, 9)] == [4, 4, 4, 3, 3, 2, 2, 2, 1, 1]
    assert stages_of(order, 0) == (order,)


def test_shares_of_readers_count_an_attribute_once_for_each_filter() -> None:
    texts = ["year > 1 and year < 9", "year = 1 or title = 'a'", "title = 'b'", "a = 1 and b = 2"]
    shares = share_of_readers(map(parse, texts))
    assert shares == {"year": 0.5, "title": 0.5, "a": 0.25, "b": 0.25}


def test_each_type_has_stages_of_its_own(spark: SparkSession) -> None:
    rows = [("Stock", f"s{n % 3}", n % 30, None) for n in range(60)]
    rows += [("Auction", None, n % 2, f"i{n % 20}") for n in range(40)]
    events = spark.createDataFrame(rows, "type string, symbol string, price long, item string")
    subscriptions = spark.createDataFrame(
        [
            ("1", "type is Stock and price < 9"),
            ("2", "type is Stock and price > 3 and symbol = 's1'"),
            ("3", "type = 'Stock' and price = 4"),
            ("4", "type is Auction and item = 'i1' and price = 1"),
            ("5", "price = 5"),
        ],
        "id string, filter string",
    )

    made = stages_by_type(events, 1, subscriptions=subscriptions)
    found = {(row["type"], row["stage"]): row["attributes"] for row in made.collect()}
    assert found == {
        ("Auction", 0): ["price", "item"],
        ("Auction", 1): ["price"],
        ("Stock", 0): ["price", "symbol"],  # by events alone symbol were first
        ("Stock", 1): ["price"],
    }
    with pytest.raises(FykeError, match="count"):
        stages_by_type(events, -1)
    with pytest.raises(FykeError, match="type"):
        stages_by_type(events.drop("type"), 1)
