"""The paper's example: stocks, and a filter that remembers the last price (MSF-11, X4)."""

from __future__ import annotations

import fyke


@fyke.event
class Stock:
    symbol: str
    price: float


@fyke.event
class Share(Stock):
    volume: int


@fyke.event(name="PaperStock")
class PaperStock:
    """As in the paper: state is encapsulated, accessors show it."""

    def __init__(self, symbol, price):  # type: ignore[no-untyped-def]
        self._symbol = symbol
        self._price = price

    def getSymbol(self):  # type: ignore[no-untyped-def]
        return self._symbol

    def getPrice(self):  # type: ignore[no-untyped-def]
        return self._price


class BuyFilter:
    """Cheaper than `max`, and by so much cheaper than the last one below it (MSF-Q1)."""

    def __init__(self, symbol: str, max: float, threshold: float) -> None:
        self.last = 0.0
        self.symbol = symbol
        self.max = max
        self.threshold = threshold

    def match(self, stock: Stock) -> bool:
        if stock.symbol != self.symbol:
            return False
        price = stock.price
        if price >= self.max:
            return False
        result = price <= self.last * self.threshold
        self.last = price
        return result
