"""What bounds the work that one input may cause. Every limit has a name here and a safe default."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on filters and events that arrive from outside."""

    text_length_max: int = 1_000_000
    """Characters of a filter's text."""
    depth_max: int = 100
    """Nesting of a filter's tree, and of a document."""
    nodes_max: int = 50_000
    """Operators and predicates in one filter."""
    list_size_max: int = 50_000
    """Values in one in-set, elements in one list of an event."""
    attributes_max: int = 50_000
    """Attribute values of one event, after flattening."""
    path_length_max: int = 1_000
    """Characters of the path to a nested object."""


DEFAULT_LIMITS = Limits()
