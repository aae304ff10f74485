"""The stock workload: laws, ranges, shapes and selectivity."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from fyke.filters.filter import walk
from fyke.filters.predicate import Predicate, TypeIs
from fyke.filters.text_predicate import Like
from fyke.testing.workload import check_workload, match_fraction
from fyke.workloads.stock import EXCHANGES, START, SYMBOLS, StockWorkload, market

STOCK = StockWorkload(seed=7)


def test_laws() -> None:
    check_workload(STOCK, StockWorkload(seed=8))


def test_events_stay_in_their_ranges() -> None:
    names = {"type", "exchange", "symbol", "when", "price", "volume", "high", "low"}
    shares = {share.symbol: share for share in market(7)}
    before = START
    for event in STOCK.events(3_000):
        tick = event.attributes
        assert event.supertypes == ("MarketEvent",)
        share = shares[str(tick["symbol"])]
        assert set(tick) == names
        assert tick["exchange"] == share.exchange
        assert 0 < tick["low"] <= tick["price"] <= tick["high"]  # type: ignore[operator]
        assert abs(100 * tick["price"] / share.cents - 1) < 0.06  # type: ignore[operator]
        assert type(tick["volume"]) is int
        assert tick["volume"] % 100 == 0
        assert 100 <= tick["volume"] < 1_000_000
        assert before <= tick["when"] < before + timedelta(seconds=1)  # type: ignore[operator]
        before = tick["when"]  # type: ignore[assignment]


def test_the_market_of_a_seed() -> None:
    shares = market(7)
    assert len({share.symbol for share in shares}) == SYMBOLS
    assert {share.exchange for share in shares} == set(EXCHANGES)
    assert all(100 <= share.cents < 50_000 for share in shares)
    assert shares != market(8)


def test_symbols_are_popular_to_different_degrees() -> None:
    counts = Counter(event.attributes["symbol"] for event in STOCK.events(20_000))
    assert len(counts) > SYMBOLS / 2
    (first, most), *_ = counts.most_common(1)
    assert 0.005 < most / 20_000 < 0.03
    assert first in {share.symbol for share in market(7)[:20]}


def test_subscriptions_have_the_shapes_of_the_paper() -> None:
    shapes: Counter[tuple[str, ...]] = Counter()
    for subscription in STOCK.subscriptions(1_000):
        leaves = [node for node in walk(subscription.filter) if isinstance(node, Predicate)]
        assert leaves[0] == TypeIs("Stock")
        shapes[tuple(leaf.attribute for leaf in leaves[1:])] += 1
    window = ("exchange", "symbol", "price", "price")
    prefix = ("symbol", "price", "volume", "low")
    large = ("exchange", "volume", "price", "price")
    assert set(shapes) == {window, prefix, large}
    assert shapes[window] > shapes[prefix] > shapes[large] > 100
    patterns = {
        node.pattern.segments
        for subscription in STOCK.subscriptions(200)
        for node in walk(subscription.filter)
        if isinstance(node, Like) and node.attribute == "exchange"
    }
    assert patterns == {("N", "SE")}


def test_events_match_few_subscriptions_and_most_subscriptions_something() -> None:
    assert 0.0005 < match_fraction(STOCK, events=1_000, subscriptions=500) < 0.01
    events = list(STOCK.events(4_000))
    filters = [subscription.filter for subscription in STOCK.subscriptions(100)]
    assert sum(any(map(filter.matches, events)) for filter in filters) > 60


@pytest.mark.parametrize("number", [0, 10**9, 10**11])
def test_rows_far_away_cost_no_more(number: int) -> None:
    assert STOCK.event(number).type == "Stock"
    assert STOCK.subscription(number).id == f"stock-{number}"


def test_rows_stay_what_they_are() -> None:
    """Numbers that others recorded with a seed must keep their meaning."""
    event = StockWorkload(seed=7).event(1).attributes
    assert (event["exchange"], event["symbol"], event["price"]) == ("NYSE", "CAR", 36.64)
    assert STOCK.text(1) == (
        "type is Stock and exchange like 'N%SE' and symbol = 'TOMA'"
        " and price > 5.76 and price < 5.94"
    )
