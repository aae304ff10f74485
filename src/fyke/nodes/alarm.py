"""Alarm: the one time at which a part of a node wants to be woken, if there is one.

A `Wake` cannot be taken back, and a node gets the ticks of all its parts: each asks its alarm
whether a tick is its own. Clocks add floats, so a tick may come a hair too early.
"""

from __future__ import annotations

from typing import Final

from fyke.nodes.effect import Wake

_SLACK_S: Final = 1e-9


class Alarm:
    """A time that is agreed with whoever wakes the node."""

    def __init__(self) -> None:
        self._due: float | None = None

    @property
    def is_set(self) -> bool:
        return self._due is not None

    def set(self, due: float, *, is_background: bool = False) -> list[Wake]:
        """Agree on a time, and return what asks for it; nothing if one is agreed already."""
        if self._due is not None:
            return []
        self._due = due
        return [Wake(due, is_background)]

    def is_over(self, now: float) -> bool:
        """Return True once when the time has come."""
        if self._due is None or now < self._due - _SLACK_S:
            return False
        self._due = None
        return True

    def forget(self) -> None:
        """Agree on nothing any more: the tick that was asked for may never come."""
        self._due = None
