"""Residual: the exact check of a dialect, for what the index does not understand.

A residual is data: the name of a dialect and a text. The check itself is rebuilt from the text by
the dialect, on the machine that evaluates it, so a residual travels and is stored like any other
predicate. `attributes` names what it reads; None means that it may read anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fyke.events.event import Event
from fyke.filters.filter import Filter, Test


class Check(Protocol):
    """What a dialect makes of a residual's text: the dialect's own meaning, exactly."""

    attributes: frozenset[str] | None

    def __call__(self, event: Event) -> bool: ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Residual(Filter):
    """Accepts what the dialect's own interpreter accepts."""

    dialect: str
    text: str

    def __post_init__(self) -> None:
        self.check()

    def key(self) -> tuple[object, ...]:
        return self.dialect, self.text

    @property
    def attributes(self) -> frozenset[str] | None:
        return self.check().attributes

    @property
    def needles(self) -> tuple[str, ...] | None:
        """Texts of which one is in the wording of every accepted event (`wording`), if known."""
        found: tuple[str, ...] | None = getattr(self.check(), "needles", None)
        return found

    def check(self) -> Check:
        """The dialect's check, built from the text; FilterError where the text cannot be read."""
        from fyke.filters.dialects import check

        return check(self.dialect, self.text)

    def _compile(self) -> Test:
        check = self.check()
        return lambda attributes, event: check(event)
