"""Stock ticks and the subscriptions of traders, after the example of SUM (figures 2 and 3).

An event has exchange, symbol, when, price, volume, high and low, as in SUM-X1; its type is Stock,
a MarketEvent. Symbols are made up and follow a tamed Zipf law; each has its exchange and a price
around which its ticks move by 5 %. Three kinds of subscriptions: a symbol within a price window (S1
of SUM-X2), a prefix of symbols with bounds on price, volume and low (S2), and large trades at one
exchange. An event matches about two of a thousand subscriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import product
from typing import ClassVar, Final

from fyke.events.event import Event
from fyke.workloads.draw import Choice, Ranges, Stream, popularity
from fyke.workloads.workload import Workload, money

SYMBOLS: Final = 2_000
TRADERS: Final = 5_000
EXCHANGES: Final = ("NYSE", "NASE", "NOVSE", "LUX", "FERX", "TOKO", "ATHX", "SYDX")
START: Final = datetime(2003, 7, 1, 7, tzinfo=UTC)
TICK_US: Final = 50_000
"""Ticks are 50 ms apart on average."""

_SUPERTYPES: Final = ("MarketEvent",)
_BY_EXCHANGE: Final = Choice((30, 12, 8, 15, 12, 10, 8, 5))
_BY_SYMBOL: Final = popularity(SYMBOLS, flat=20)
_BASE_CENTS: Final = Ranges((100, 500, 2_000, 6_000, 15_000, 50_000), (15, 35, 30, 15, 5))
_LOTS: Final = Ranges((1, 10, 100, 1_000, 10_000), (30, 40, 22, 8))
"""Volumes in lots of a hundred."""


@dataclass(frozen=True, slots=True)
class Share:
    """What is traded: its symbol, where, and the price in cents around which it moves."""

    symbol: str
    exchange: str
    cents: int


@lru_cache(maxsize=8)
def market(seed: int) -> tuple[Share, ...]:
    """The shares of a seed, the most popular first."""
    stream = Stream(seed, "shares")
    names = stream.shuffled(
        "".join(parts)
        for parts in product("BCDFGKLMNPRSTVZ", "AEIOU", "BDGKLMNRSTX", ("", "A", "O"))
    )
    return tuple(_share(stream, row, name) for row, name in enumerate(names[:SYMBOLS]))


def _share(stream: Stream, row: int, name: str) -> Share:
    exchange = EXCHANGES[_BY_EXCHANGE.pick(stream.half(row, 0))]
    return Share(name, exchange, _BASE_CENTS.pick(stream.half(row, 1), stream.half(row, 2)))


@lru_cache(maxsize=8)
def _streams(seed: int) -> tuple[Stream, Stream]:
    return Stream(seed, "ticks"), Stream(seed, "traders")


@dataclass(frozen=True, slots=True)
class StockWorkload(Workload):
    """Stock ticks and those who wait for them."""

    name: ClassVar[str] = "stock"

    def event(self, number: int) -> Event:
        ticks = _streams(self.seed)[0]
        share = market(self.seed)[_BY_SYMBOL.pick(ticks.half(number, 0))]
        base = share.cents
        price = base * (950 + ticks.below(number, 1, 101)) // 1_000
        low = price - base * ticks.below(number, 2, 21) // 1_000
        high = price + base * ticks.below(number, 3, 21) // 1_000
        when = START + timedelta(microseconds=number * TICK_US + ticks.below(number, 4, TICK_US))
        return Event.flat(
            {
                "type": "Stock",
                "exchange": share.exchange,
                "symbol": share.symbol,
                "when": when,
                "price": price / 100,
                "volume": 100 * _LOTS.pick(ticks.half(number, 5), ticks.half(number, 6)),
                "high": high / 100,
                "low": low / 100,
            },
            _SUPERTYPES,
        )

    def text(self, number: int) -> str:
        traders = _streams(self.seed)[1]
        kind = traders.below(number, 0, 10)
        if kind < 5:
            wanted = self._window(traders, number)
        elif kind < 8:
            wanted = self._prefix(traders, number)
        else:
            wanted = self._large_trades(traders, number)
        return f"type is Stock and {wanted}"

    def subscriber(self, number: int) -> str:
        return f"trader-{_streams(self.seed)[1].below(number, 15, TRADERS)}"

    def _window(self, traders: Stream, number: int) -> str:
        """S1: exchange ~ N*SE, symbol = OTE, price < 8.70, price > 8.30."""
        share = self._share(traders, number)
        low = share.cents * (940 + traders.below(number, 2, 70)) // 1_000
        high = low + 1 + share.cents * (20 + traders.below(number, 3, 60)) // 1_000
        exchange = f"exchange = '{share.exchange}'"
        if share.exchange[0] == "N" and share.exchange.endswith("SE"):
            exchange = "exchange like 'N%SE'"
        return (
            f"{exchange} and symbol = '{share.symbol}'"
            f" and price > {money(low)} and price < {money(high)}"
        )

    def _prefix(self, traders: Stream, number: int) -> str:
        """S2: symbol >* OT, price = 8.20, volume > 130000, low < 8.05; few prices are exact."""
        share = self._share(traders, number)
        cents = share.cents * (970 + traders.below(number, 2, 100)) // 1_000
        price = "=" if traders.below(number, 3, 10) == 0 else "<"
        volume = 100 * (1 + traders.below(number, 4, 200))
        low = cents * (960 + traders.below(number, 5, 60)) // 1_000
        return (
            f"symbol starts with '{share.symbol[:2]}' and price {price} {money(cents)}"
            f" and volume > {volume} and low < {money(low)}"
        )

    def _large_trades(self, traders: Stream, number: int) -> str:
        exchange = EXCHANGES[_BY_EXCHANGE.pick(traders.half(number, 1))]
        volume = 10_000 * (10 + traders.below(number, 2, 70))
        cheap = 100 * (5 + traders.below(number, 3, 15))
        dear = 100 * (50 + traders.below(number, 4, 150))
        return (
            f"exchange = '{exchange}' and volume >= {volume}"
            f" and (price < {money(cheap)} or price > {money(dear)})"
        )

    def _share(self, traders: Stream, number: int) -> Share:
        return market(self.seed)[_BY_SYMBOL.pick(traders.half(number, 1))]
