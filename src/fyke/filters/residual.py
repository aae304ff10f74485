"""Residual: the exact check of a dialect, for what the index does not understand.

A residual is data: the name of a dialect and a text. The check itself is rebuilt from the text by
the dialect, on the machine that evaluates it, so a residual travels and is stored like any other
predicate. `attributes` names what it reads; None means that it may read anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Final, Protocol

from fyke.errors import FilterError, shown
from fyke.events.event import Event
from fyke.filters.declaration import declare
from fyke.filters.filter import Filter, Test
from fyke.filters.language.notation import literal

DIALECTS: Final = ("fyke", "cloudevents", "cesql", "eventbridge", "sigma", "das", "siena")

_CHECKS_KEPT: Final = 4096


class Check(Protocol):
    """The meaning of a residual's text, exactly as its dialect defines it."""

    attributes: frozenset[str] | None

    def __call__(self, event: Event) -> bool: ...


@declare("residual", code=13)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Residual(Filter):
    """The events that the dialect's own interpreter accepts."""

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
        """Return the dialect's check, built from the text; FilterError if that cannot be read."""
        return check(self.dialect, self.text)

    def __str__(self) -> str:
        return f"residual {self.dialect} {literal(self.text)}"

    def _compile(self) -> Test:
        check = self.check()
        return lambda attributes, event: check(event)


@lru_cache(maxsize=_CHECKS_KEPT)
def check(dialect: str, text: str) -> Check:
    """Return the interpreter of a residual."""
    module = dialect_module(dialect)
    if not hasattr(module, "check"):
        raise FilterError(f"the dialect {dialect} has no residuals")
    built: Check = module.check(text)
    return built


@lru_cache
def dialect_module(dialect: str) -> ModuleType:
    """Return the module of a dialect; FilterError if the name is unknown."""
    if dialect not in DIALECTS:
        raise FilterError(
            f"unknown dialect {shown(dialect)}", expected=f"one of {', '.join(DIALECTS)}"
        )
    return import_module(f"fyke.filters.dialects.{dialect}")
