"""A line of the report: a figure and the bar that the project promises."""

from __future__ import annotations

import re
from dataclasses import dataclass

_UNITS = {
    "": "{:,.0f}",
    "x": "{:,.2f}x",
    "%": "{:.1f} %",
    "s": "{:.3g} s",
    "B": "{:.1f} B",
    "GB": "{:.2f} GB",
    "/s": "{:,.0f}/s",
    "GB/s": "{:.1f} GB/s",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit; `aim` is what we would like beyond it and is not judged."""

    limit: float
    is_most: bool = False
    aim: float | None = None

    def admits(self, value: float) -> bool:
        return value <= self.limit if self.is_most else value >= self.limit

    def text(self, unit: str) -> str:
        words = f"{'at most' if self.is_most else 'at least'} {amount(self.limit, unit)}"
        return words if self.aim is None else f"{words}, aim {amount(self.aim, unit)}"


def at_least(limit: float, aim: float | None = None) -> Bar:
    return Bar(limit, aim=aim)


def at_most(limit: float) -> Bar:
    return Bar(limit, is_most=True)


@dataclass(frozen=True, slots=True)
class Line:
    """What was measured: ours, the reference beside it, and the figure that the bar is about.

    A line without a value says in its note why nothing was measured; one without a bar informs.
    """

    name: str
    ours: str = ""
    reference: str = ""
    value: float | None = None
    unit: str = "x"
    bar: Bar | None = None
    note: str = ""

    @property
    def figure(self) -> str:
        return "-" if self.value is None else amount(self.value, self.unit)

    @property
    def promised(self) -> str:
        return "" if self.bar is None else self.bar.text(self.unit)

    @property
    def is_missed(self) -> bool:
        return self.bar is not None and self.value is not None and not self.bar.admits(self.value)


def amount(value: float, unit: str) -> str:
    """A number with its unit; whole numbers without a fraction."""
    return re.sub(r"\.0+(?!\d)", "", _UNITS[unit].format(value))


def micros(seconds: float) -> str:
    return f"{seconds * 1e6:,.2f} µs"
