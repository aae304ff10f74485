"""Notation: names and values as they stand in native text.

Every filter prints itself with these (`str(filter)`), and `parse(str(f)) == f` for every filter,
residuals included.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from fyke.events.value import Scalar, format_timestamp

RESERVED: Final = frozenset(
    [
        "and",
        "or",
        "not",
        "in",
        "between",
        "like",
        "ilike",
        "is",
        "null",
        "true",
        "false",
        "exists",
        "missing",
        "residual",
    ]
)
"""Words that are never a bare attribute name."""

_BARE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def attribute_name(name: str) -> str:
    """Return the name as it stands in native text, quoted if it must be."""
    if _BARE.fullmatch(name) and name.lower() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def literal(value: Scalar) -> str:
    """Return a scalar as it stands in native text."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return f"timestamp '{format_timestamp(value)}'"
    return str(value)


def type_name(name: str) -> str:
    """Return the name of a type as it stands in native text, as a string if it must be."""
    return attribute_name(name) if _BARE.fullmatch(name) else literal(name)
