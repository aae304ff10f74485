"""Curve: what a set of subscriptions is like after each step of a plan.

A point is (steps, predicates left, bytes left, fraction of events that match at least one), where
the fraction is expected, from the shares of predicates, and measured, where there was a sample.

Bend (PRU-Q12). The point that lies deepest below the chord from the first to the last: before it
pruning is cheap, after it dear. Distances to a line do not change their order with the scales of
the axes, so the vertical one is taken. Where every event matches something already, or pruning
lets in none, no more events can match: then the bend is that of all matches. Where these do not
grow either, it is the last point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fyke.errors import FykeError, shown
from fyke.pruning.measuring import Measured

if TYPE_CHECKING:
    import pyarrow as pa

Floats: TypeAlias = npt.NDArray[np.float64]
By: TypeAlias = Literal["events", "matches"]


@dataclass(frozen=True, slots=True)
class Point:
    """A set of subscriptions after so many steps."""

    steps: int
    predicates: int
    size: int
    """Bytes of a snapshot, estimated from those of the whole set."""
    expected: float
    """The fraction of events that match at least one subscription, were all independent."""
    measured: float | None
    """The same, counted."""
    matches: float
    """Subscriptions that an event matches on average: counted, or else expected."""


@dataclass(frozen=True)
class Curve:
    """Points in the order of steps, in arrays; point 0 is the whole set."""

    predicates: npt.NDArray[np.int64]
    size: Floats
    expected: Floats
    expected_matches: Floats
    counted: Measured | None

    def __len__(self) -> int:
        return len(self.predicates)

    def __getitem__(self, steps: int) -> Point:
        at = range(len(self))[steps]
        return Point(
            steps=at,
            predicates=int(self.predicates[at]),
            size=int(self.size[at]),
            expected=float(self.expected[at]),
            measured=None if self.measured is None else float(self.measured[at]),
            matches=float(self.matches[at]),
        )

    def __iter__(self) -> Iterator[Point]:
        return (self[steps] for steps in range(len(self)))

    @property
    def measured(self) -> Floats | None:
        """The fraction of events that match at least one subscription."""
        return None if self.counted is None else self.counted.fraction

    @cached_property
    def fraction(self) -> Floats:
        """The measured fraction, or else the expected one."""
        return self.expected if self.measured is None else self.measured

    @cached_property
    def matches(self) -> Floats:
        """Matches per event: measured, or else expected."""
        if self.counted is None:
            return self.expected_matches
        found: Floats = self.counted.matches / max(self.counted.events, 1)
        return found

    def bend(self, by: By = "events") -> int:
        """Return the steps up to the bend, by events that match at least one or by all matches."""
        if by not in ("events", "matches"):
            raise FykeError(f"by={shown(by)}; expected 'events' or 'matches'")
        heights = self.fraction if by == "events" else self.matches
        if heights[0] == heights[-1]:
            return len(self) - 1 if by == "matches" else self.bend("matches")
        chord = np.linspace(heights[0], heights[-1], len(self))
        return int(np.argmax(np.round(chord - heights, 12)))

    def table(self) -> pa.Table:
        """Return the curve as a pyarrow table, a row per point."""
        import pyarrow as pa

        columns: dict[str, Any] = {
            "steps": np.arange(len(self)),
            "predicates": self.predicates,
            "size": self.size.astype(np.int64),
            "expected": self.expected,
            "measured": pa.nulls(len(self), pa.float64())
            if self.measured is None
            else self.measured,
            "matches": self.matches,
        }
        return pa.table(columns)
