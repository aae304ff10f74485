"""Stock ticks and the subscriptions of traders, after the example of SUM (figures 2 and 3).

An event has exchange, symbol, when, price, volume, high and low, as in SUM-X1; its type is Stock,
a MarketEvent. Symbols are made up and follow a tamed Zipf law; each has its exchange and a price
around which its ticks move by 5 %. Three kinds of subscriptions: a symbol within a price window (S1
of SUM-X2), a prefix of symbols with bounds on price, volume and low (S2), and large trades at one
exchange. An event matches about two of a thousand subscriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import product
from typing import ClassVar, Final

import numpy as np

from fyke.workloads.draw import Choice, Codes, Draw, RandomStream, Ranges, popularity, row_numbers
from fyke.workloads.drawn import DrawnWorkload, DrawPlan, RecordForm, Wording
from fyke.workloads.form import Fixed, Moment, Names, Sentence, Whole

SYMBOLS: Final = 2_000
TRADERS: Final = 5_000
EXCHANGES: Final = ("NYSE", "NASE", "NOVSE", "LUX", "FERX", "TOKO", "ATHX", "SYDX")
START: Final = datetime(2003, 7, 1, 7, tzinfo=UTC)
TICK_US: Final = 50_000
"""Ticks are 50 ms apart on average."""
TICKS: Final = 10**12
"""Time begins again after this number of events."""

_BY_EXCHANGE: Final = Choice((30, 12, 8, 15, 12, 10, 8, 5))
_BY_SYMBOL: Final = popularity(SYMBOLS, flat=20)
_KINDS: Final = np.array((0, 0, 0, 0, 0, 1, 1, 1, 2, 2))
_BASE_CENTS: Final = Ranges((100, 500, 2_000, 6_000, 15_000, 50_000), (15, 35, 30, 15, 5))
_LOTS: Final = Ranges((1, 10, 100, 1_000, 10_000), (30, 40, 22, 8))
"""Volumes in lots of a hundred."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share that is traded: its symbol, its exchange, and its price.

    The price, in cents, is that around which it moves.
    """

    symbol: str
    exchange: str
    cents: int


@lru_cache(maxsize=8)
def market(seed: int) -> tuple[Share, ...]:
    """Return the shares of a seed, the most popular first."""
    stream, rows = RandomStream(seed, "shares"), row_numbers(SYMBOLS)
    names = stream.shuffled(
        "".join(parts)
        for parts in product("BCDFGKLMNPRSTVZ", "AEIOU", "BDGKLMNRSTX", ("", "A", "O"))
    )
    exchanges = [EXCHANGES[at] for at in _BY_EXCHANGE.pick(stream.half(rows, 0)).tolist()]
    cents = _BASE_CENTS.pick(stream.half(rows, 1), stream.half(rows, 2)).tolist()
    return tuple(map(Share, names, exchanges, cents))


@dataclass(frozen=True, slots=True)
class StockWorkload(DrawnWorkload):
    """Stock ticks and those who wait for them."""

    name: ClassVar[str] = "stock"
    supertypes: ClassVar[tuple[str, ...]] = ("MarketEvent",)

    def plan(self) -> DrawPlan:
        return _plan(self)


@lru_cache(maxsize=8)
def _plan(workload: StockWorkload) -> DrawPlan:
    shares = market(workload.seed)
    trade = _Trade(np.array([share.cents for share in shares]))
    cents, whole = Fixed(2), Whole()
    symbol = Names(share.symbol for share in shares)
    exchange = Names(share.exchange for share in shares)
    prefix = Names(share.symbol[:2] for share in shares)
    at_exchange = Names(map(_at_exchange, shares))
    tick = {
        **{"exchange": exchange, "symbol": symbol, "when": Moment(START), "price": cents},
        **{"volume": whole, "high": cents, "low": cents},
    }
    window = Sentence(
        "type is Stock and {share} and symbol = '{symbol}' and price > {low} and price < {high}",
        **{"share": at_exchange, "symbol": symbol, "low": cents, "high": cents},
    )
    below = Sentence(
        "type is Stock and symbol starts with '{prefix}' and price {operator} {price}"
        " and volume > {volume} and low < {low}",
        **{"prefix": prefix, "operator": Names("=<<<<<<<<<"), "price": cents},
        **{"volume": whole, "low": cents},
    )
    large = Sentence(
        "type is Stock and exchange = '{exchange}' and volume >= {volume}"
        " and (price < {cheap} or price > {dear})",
        **{"exchange": Names(EXCHANGES), "volume": whole, "cheap": cents, "dear": cents},
    )
    return DrawPlan(
        events=RandomStream(workload.seed, "ticks"),
        records=(RecordForm("Stock", tick, trade.tick),),
        filters=RandomStream(workload.seed, "traders"),
        wordings=(
            Wording(window, trade.window),
            Wording(below, trade.below),
            Wording(large, trade.large),
        ),
        subscriber=Wording(Sentence("trader-{trader}", trader=whole), trade.trader),
        which_wording=trade.kind,
    )


def _at_exchange(share: Share) -> str:
    if share.exchange[0] == "N" and share.exchange.endswith("SE"):
        return "exchange like 'N%SE'"
    return f"exchange = '{share.exchange}'"


@dataclass(frozen=True, slots=True)
class _Trade:
    """The columns to draw; `cents` are the shares' prices."""

    cents: Codes

    def tick(self, draw: Draw) -> dict[str, Codes]:
        share = draw.pick(_BY_SYMBOL, 0)
        base = self.cents[share]
        price = base * (950 + draw.below(1, 101)) // 1_000
        return {
            "exchange": share,
            "symbol": share,
            "when": draw.number % TICKS * TICK_US + draw.below(4, TICK_US),
            "price": price,
            "volume": 100 * draw.within(_LOTS, 5, 6),
            "high": price + base * draw.below(3, 21) // 1_000,
            "low": price - base * draw.below(2, 21) // 1_000,
        }

    def kind(self, draw: Draw) -> Codes:
        return _KINDS[draw.below(0, len(_KINDS))]

    def trader(self, draw: Draw) -> dict[str, Codes]:
        return {"trader": draw.below(15, TRADERS)}

    def window(self, draw: Draw) -> dict[str, Codes]:
        """Draw S1: exchange ~ N*SE, symbol = OTE, price < 8.70, price > 8.30."""
        share = draw.pick(_BY_SYMBOL, 1)
        base = self.cents[share]
        low = base * (940 + draw.below(2, 70)) // 1_000
        high = low + 1 + base * (20 + draw.below(3, 60)) // 1_000
        return {"share": share, "symbol": share, "low": low, "high": high}

    def below(self, draw: Draw) -> dict[str, Codes]:
        """Draw S2: symbol >* OT, price = 8.20, volume > 130000, low < 8.05.

        Few prices are exact.
        """
        share = draw.pick(_BY_SYMBOL, 1)
        price = self.cents[share] * (970 + draw.below(2, 100)) // 1_000
        return {
            "prefix": share,
            "operator": draw.below(3, 10),
            "price": price,
            "volume": 100 * (1 + draw.below(4, 200)),
            "low": price * (960 + draw.below(5, 60)) // 1_000,
        }

    def large(self, draw: Draw) -> dict[str, Codes]:
        return {
            "exchange": draw.pick(_BY_EXCHANGE, 1),
            "volume": 10_000 * (10 + draw.below(2, 70)),
            "cheap": 100 * (5 + draw.below(3, 15)),
            "dear": 100 * (50 + draw.below(4, 150)),
        }
