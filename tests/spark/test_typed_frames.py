"""The same classes on Spark: a DataFrame of objects, matched by conditions, and objects back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest

import fyke
from fyke import spark as fyke_spark
from fyke.typed import pack
from tests.typed.stocks import PaperStock, Share, Stock


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True)
class Place:
    city: str
    floor: int | None = None


@fyke.event
class Visit:
    type: str
    at: datetime
    day: date
    paid: Decimal
    who: UUID
    mood: Mood
    place: Place
    tags: list[str]
    note: str | None = None


VISIT = Visit(
    "walk-in", datetime(2026, 1, 2, 3, tzinfo=UTC), date(2026, 1, 3), Decimal("12.50"),
    UUID(int=5), Mood.GOOD, Place("Ghent", 2), ["a", "b"],
)  # fmt: skip
STOCKS = [Stock("Foo", 9), Share("Foo", 8.5, 300), Stock("Bar", 20.0), Share("Baz", 1.0, 7)]


def test_objects_on_spark_and_back(spark: Any) -> None:
    S, H, V = fyke.fields(Stock), fyke.fields(Share), fyke.fields(Visit)
    wanted: dict[str, Any] = {
        "cheap": (S.price < 10) & (S.symbol == "Foo"),
        "shares": Share,
        "large": H.volume > 100,
        "text": "type is Stock and price > 10",
    }
    events = fyke_spark.frame(STOCKS, Stock, spark)
    rows = fyke_spark.match(events, wanted)
    found = {(row["symbol"], row["price"], row["subscription"]) for row in rows.collect()}
    hub = fyke.Hub()
    for id, each in wanted.items():
        hub.subscribe(each, lambda event: None, id=id)
    assert found == {
        (stock.symbol, stock.price, id)
        for stock in STOCKS
        for id in hub.publish(stock).subscriptions
    }
    cheap = rows.filter("subscription = 'cheap'").orderBy("price")
    assert list(fyke_spark.objects(cheap, Stock)) == [Share("Foo", 8.5, 300), Stock("Foo", 9.0)]

    visits = fyke_spark.frame([VISIT], Visit, spark)
    matched = fyke_spark.match(visits, {
        "all": (V.type == "walk-in") & (V.mood == Mood.GOOD) & (V.place.city == "Ghent"),
        "none": V.note == "x",
    })  # fmt: skip
    assert [row["subscription"] for row in matched.collect()] == ["all"]
    assert list(fyke_spark.objects(matched, Visit)) == [VISIT]
    assert pack(VISIT).attributes["data.type"] == "walk-in"
    with pytest.raises(fyke.FykeError, match="closure, which runs in its subscriber's process"):
        fyke_spark.match(events, {"closure": lambda s: s.price < 10})
    with pytest.raises(fyke.FykeError, match="is no Share"):
        fyke_spark.frame(STOCKS, Share, spark)
    with pytest.raises(fyke.SchemaError, match="values of one type"):
        fyke_spark.frame([PaperStock("a", 1)], PaperStock, spark)
