"""The workloads by name, so that a command line or an experiment can say `stock_and_auction`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from fyke.errors import FykeError, shown
from fyke.events.event import Event
from fyke.workloads.auction import AuctionWorkload
from fyke.workloads.equalities import EqualitiesWorkload
from fyke.workloads.intervals import ThreeIntervalsWorkload, ThreeOfTenIntervalsWorkload
from fyke.workloads.mixed import MixedWorkload
from fyke.workloads.stock import StockWorkload
from fyke.workloads.strings import StringsWorkload
from fyke.workloads.trees import TreesWorkload
from fyke.workloads.workload import Workload


@dataclass(frozen=True, slots=True)
class StockAndAuctionWorkload(Workload):
    """Stock at even numbers, auctions at odd ones: two types of events, subscriptions for each."""

    name: ClassVar[str] = "stock_and_auction"

    def event(self, number: int) -> Event:
        return self._part(number).event(number // 2)

    def id(self, number: int) -> str:
        return self._part(number).id(number // 2)

    def text(self, number: int) -> str:
        return self._part(number).text(number // 2)

    def subscriber(self, number: int) -> str:
        return self._part(number).subscriber(number // 2)

    def _part(self, number: int) -> Workload:
        return _parts(self.seed)[number % 2]


@lru_cache(maxsize=8)
def _parts(seed: int) -> tuple[Workload, Workload]:
    return StockWorkload(seed), AuctionWorkload(seed)


WORKLOADS: Final[dict[str, type[Workload]]] = {
    kind.name: kind
    for kind in (
        StockWorkload,
        AuctionWorkload,
        StockAndAuctionWorkload,
        MixedWorkload,
        ThreeIntervalsWorkload,
        ThreeOfTenIntervalsWorkload,
        EqualitiesWorkload,
        TreesWorkload,
        StringsWorkload,
    )
}


def workload(name: str, seed: int = 0) -> Workload:
    """The workload of a name and a seed."""
    if name not in WORKLOADS:
        raise FykeError(f"unknown workload {shown(name)}; expected one of {', '.join(WORKLOADS)}")
    return WORKLOADS[name](seed)
