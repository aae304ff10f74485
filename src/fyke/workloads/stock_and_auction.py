"""Both markets at once: two types of events, subscriptions for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pyarrow as pa

from fyke.events.event import Event
from fyke.workloads.auction import AuctionWorkload
from fyke.workloads.stock import StockWorkload
from fyke.workloads.workload import Workload, in_order


@dataclass(frozen=True, slots=True)
class StockAndAuctionWorkload(Workload):
    """Stock at even numbers, auctions at odd ones."""

    name: ClassVar[str] = "stock_and_auction"

    def event(self, number: int) -> Event:
        return self._part(number).event(number // 2)

    def id(self, number: int) -> str:
        return self._part(number).id(number // 2)

    def columns(self, count: int, start: int = 0) -> pa.Table:
        stock, auction = _parts(self.seed)
        return _alternating(stock.columns, auction.columns, count, start)

    def filter_columns(self, count: int, start: int = 0) -> pa.Table:
        stock, auction = _parts(self.seed)
        return _alternating(stock.filter_columns, auction.filter_columns, count, start)

    def subscription_columns(self, count: int, start: int = 0) -> pa.Table:
        stock, auction = _parts(self.seed)
        return _alternating(stock.subscription_columns, auction.subscription_columns, count, start)

    def _part(self, number: int) -> Workload:
        return _parts(self.seed)[number % 2]


@lru_cache(maxsize=8)
def _parts(seed: int) -> tuple[Workload, Workload]:
    return StockWorkload(seed), AuctionWorkload(seed)


def _alternating(
    even: Callable[[int, int], pa.Table],
    odd: Callable[[int, int], pa.Table],
    count: int,
    start: int,
) -> pa.Table:
    numbers = np.arange(start, start + count)
    places = [np.flatnonzero(numbers % 2 == parity) for parity in (0, 1)]
    tables = [
        even(len(places[0]), (start + 1) // 2),
        odd(len(places[1]), start // 2),
    ]
    return in_order(tables, places)
