"""The workloads by name, so that a command line or an experiment can say `stock_and_auction`.

    workload("auction", 7, classes=(1, 3)).description()
        {"name": "auction", "seed": 7, "classes": [1, 3], "typed": True}

A description is plain data that may travel as JSON; `described` makes the workload again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from fyke.errors import FykeError, shown
from fyke.workloads.auction import AuctionWorkload
from fyke.workloads.bibliography import BibliographyWorkload
from fyke.workloads.boxes import BoxesWorkload
from fyke.workloads.conjunctive import (
    EqualitiesWorkload,
    MixedWorkload,
    ThreeIntervalsWorkload,
    ThreeOfTenIntervalsWorkload,
)
from fyke.workloads.sensors import SensorsWorkload
from fyke.workloads.stock import StockWorkload
from fyke.workloads.stock_and_auction import StockAndAuctionWorkload
from fyke.workloads.strings import StringsWorkload
from fyke.workloads.trees import TreesWorkload
from fyke.workloads.workload import Workload

WORKLOADS: Final[dict[str, type[Workload]]] = {
    kind.name: kind
    for kind in (
        StockWorkload,
        AuctionWorkload,
        StockAndAuctionWorkload,
        BibliographyWorkload,
        SensorsWorkload,
        BoxesWorkload,
        MixedWorkload,
        ThreeIntervalsWorkload,
        ThreeOfTenIntervalsWorkload,
        EqualitiesWorkload,
        TreesWorkload,
        StringsWorkload,
    )
}


def workload(name: str, seed: int = 0, **options: Any) -> Workload:
    """Return the workload of a name, a seed and options of its own."""
    if not isinstance(name, str) or name not in WORKLOADS:
        raise FykeError(f"unknown workload {shown(name)}; expected one of {', '.join(WORKLOADS)}")
    kind = WORKLOADS[name]
    given = {"seed": seed, **options}
    return kind(**{key: _option(kind, key, value) for key, value in given.items()})


def described(description: Mapping[str, Any]) -> Workload:
    """Return the workload that gave this `description()`."""
    if "name" not in description or not all(isinstance(key, str) for key in description):
        raise FykeError(f"a workload's description names it, unlike {shown(description)}")
    return workload(**description)


def _option(kind: type[Workload], name: str, value: Any) -> Any:
    """Return the value of an option; a list becomes a tuple."""
    defaults = {field.name: field.default for field in fields(kind)}
    if name not in defaults:
        expected = ", ".join(defaults)
        raise FykeError(f"unknown option {shown(name)} of {kind.name}; expected {expected}")
    value = tuple(value) if isinstance(value, list) else value
    if type(value) is not type(defaults[name]):
        expected = type(defaults[name]).__name__
        raise FykeError(f"option {name} of {kind.name} is {shown(value)}; expected {expected}")
    return value
