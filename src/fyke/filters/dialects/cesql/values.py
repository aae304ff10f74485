"""CESQL's three types, the casts between them, and what CESQL sees of an event's attribute.

    Boolean     True, False
    Integer     32 bits, signed
    String      everything else: a timestamp is its RFC 3339 text in UTC; a number that is no 32-bit
                integer, which CloudEvents does not have, is its decimal text
    missing     null, the empty list and an object are as good as absent

A cast that fails gives None; the operator that wanted it decides on the value beside the error.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from fyke.events.value import Scalar, canonical, format_timestamp

Primitive: TypeAlias = bool | int | str
Type: TypeAlias = type[bool] | type[int] | type[str]

INTEGER_MIN: Final = -(2**31)
INTEGER_MAX: Final = 2**31 - 1

ZERO: Final[dict[Type, Primitive]] = {bool: False, int: 0, str: ""}


class Error(StrEnum):
    """The errors of an evaluation, by the names of the conformance kit."""

    PARSE = "parse"
    MATH = "math"
    CAST = "cast"
    MISSING_ATTRIBUTE = "missingAttribute"
    MISSING_FUNCTION = "missingFunction"
    FUNCTION_EVALUATION = "functionEvaluation"
    GENERIC = "generic"


Outcome: TypeAlias = tuple[Primitive, Error | None]


def primitive(scalar: Scalar) -> Primitive:
    """Return the value that CESQL sees for a scalar that is not null."""
    if type(scalar) is str or type(scalar) is bool:
        return scalar
    if type(scalar) is datetime:
        return format_timestamp(scalar)
    number = canonical(scalar)
    if type(number) is int and is_integer(number):
        return number
    return str(number)


def is_integer(number: int) -> bool:
    return INTEGER_MIN <= number <= INTEGER_MAX


# --- casts ----------------------------------------------------------------------------------------

_DIGITS = re.compile(r"([+-]?)([0-9]++)")
_DIGITS_MAX = 10


def to_string(value: Primitive) -> str:
    if type(value) is bool:
        return "true" if value else "false"
    return str(value)


def to_integer(value: Primitive) -> int | None:
    if type(value) is not str:
        return int(value)
    found = _DIGITS.fullmatch(value)
    digits = "" if found is None else found[2].lstrip("0") or "0"
    if found is None or len(digits) > _DIGITS_MAX:
        return None
    number = int(found[1] + digits)
    return number if is_integer(number) else None


def to_boolean(value: Primitive) -> bool | None:
    if type(value) is str:
        return _BOOLEANS.get(value.lower())
    return bool(value)


_BOOLEANS: Final = {"true": True, "false": False}


def cast(value: Primitive, target: Type) -> Primitive | None:
    if type(value) is target:
        return value
    if target is str:
        return to_string(value)
    return to_integer(value) if target is int else to_boolean(value)
