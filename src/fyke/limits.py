"""Limits: bounds on the work that one input may cause, each with a safe default."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from fyke.errors import FykeError

DEPTH_CEILING: Final = 120
"""The ceiling of all settings: a deeper tree could exhaust the stack of its readers."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on filters and events that arrive from outside."""

    text_length_max: int = 1_000_000
    """Characters of a filter's text."""
    depth_max: int = 100
    """Nesting of a filter's text, and of a document; 120 at most."""
    nodes_max: int = 50_000
    """Operators and predicates in one filter."""
    list_size_max: int = 50_000
    """Values in one in-set, elements in one list of an event."""
    attributes_max: int = 50_000
    """Attribute values of one event, after flattening."""
    path_length_max: int = 1_000
    """Characters of the path to a nested object."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if type(value) is not int or value < 1:
                raise FykeError(f"{each.name} is {value!r}; expected a positive integer")
        if self.depth_max > DEPTH_CEILING:
            raise FykeError(f"depth_max is {self.depth_max}; expected at most {DEPTH_CEILING}")


DEFAULT_LIMITS = Limits()
