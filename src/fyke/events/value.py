"""Values and their comparison: the only place that decides whether 1 equals 1.0.

A scalar is null, a boolean, a number (int64, float64 or a decimal of up to 38 digits), a string or
a timestamp (UTC, microseconds); a value is a scalar or a list of scalars, held as a tuple. Numbers
compare by value, in the order of `events.number`: 8.4 is Decimal("8.40"), 2**53 + 1 is not 2.0**53.
Different kinds never compare, so `equal("5", 5)` and `less("5", 7)` are both false. NaN, the
infinities, integers beyond int64 and strings with lone surrogates are refused at the door
(`admit`).

Python compares our numbers as we do, and gives equal ones one hash; but it also holds that True ==
1; `kind` keeps them apart.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import IntEnum
from numbers import Integral, Real
from typing import Final, TypeAlias

from fyke.errors import EventError
from fyke.events.number import (
    DIGITS_MAX,
    INT_MAX,
    INT_MIN,
    ExactDecimal,
    canonical_decimal,
    canonical_float,
    digits,
)

Scalar: TypeAlias = bool | int | float | ExactDecimal | str | datetime | None
Value: TypeAlias = Scalar | tuple[Scalar, ...]


class Kind(IntEnum):
    """The kinds of scalars, in the order in which mixed values are sorted."""

    NULL = 0
    BOOL = 1
    NUMBER = 2
    STRING = 3
    TIMESTAMP = 4


KINDS: Final[dict[type, Kind]] = {
    type(None): Kind.NULL,
    bool: Kind.BOOL,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    ExactDecimal: Kind.NUMBER,
    str: Kind.STRING,
    datetime: Kind.TIMESTAMP,
}
ORDERED: Final = frozenset({Kind.NUMBER, Kind.STRING, Kind.TIMESTAMP})


def kind(scalar: Scalar) -> Kind:
    """Return the kind of an admitted scalar."""
    return KINDS[type(scalar)]


def equal(a: Scalar, b: Scalar) -> bool:
    """Return True if both the kind and the value are the same."""
    return KINDS[type(a)] is KINDS[type(b)] and a == b


def less(a: Scalar, b: Scalar) -> bool:
    """Return True if both are of the same ordered kind and a is before b."""
    shared = KINDS[type(a)]
    return shared is KINDS[type(b)] and shared in ORDERED and a < b  # type: ignore[operator]


def sort_key(scalar: Scalar) -> tuple[Kind, Scalar]:
    """Return a key that orders scalars of mixed kinds; equal keys mean equal values."""
    return KINDS[type(scalar)], 0 if scalar is None else scalar


def canonical(scalar: Scalar | Decimal) -> Scalar:
    """Return the same value in its one form: a number is int64, else float64, else ExactDecimal."""
    if type(scalar) is float:
        return canonical_float(scalar)
    return canonical_decimal(scalar) if isinstance(scalar, Decimal) else scalar


def admit(value: object, attribute: str | None = None) -> Scalar:
    """Check a scalar that arrives from outside and return it as one of our kinds."""
    cls = type(value)
    if cls is str:
        if not value.isascii() and _has_surrogate(value):  # type: ignore[attr-defined,arg-type]
            raise EventError("the string holds a lone surrogate", attribute=attribute)
        return value  # type: ignore[return-value]
    if cls is int:
        return _admit_int(value, attribute)  # type: ignore[arg-type]
    if cls is float:
        return _admit_float(value, attribute)  # type: ignore[arg-type]
    if value is None or cls is bool:
        return value  # type: ignore[return-value]
    try:
        return _admit_relative(value, attribute)
    except (TypeError, ValueError, OverflowError) as refused:
        raise EventError(
            f"a {cls.__name__} cannot be read: {refused}", attribute=attribute
        ) from None


def _admit_int(number: int, attribute: str | None) -> int:
    if INT_MIN <= number <= INT_MAX:
        return number
    raise EventError("the integer does not fit in 64 bits", attribute=attribute)


def _admit_float(number: float, attribute: str | None) -> float:
    if math.isfinite(number):
        return number
    raise EventError(f"{number} is not a number that can be compared", attribute=attribute)


def _admit_relative(value: object, attribute: str | None) -> Scalar:
    """Admit relatives of our kinds: subclasses, enumerations, numpy scalars, dates, durations."""
    if isinstance(value, datetime):
        return _admit_timestamp(value, attribute)
    if isinstance(value, date):
        return datetime.combine(value, time.min, tzinfo=UTC)
    if isinstance(value, timedelta):
        return canonical_float(value.total_seconds())
    if isinstance(value, str):
        return admit(str.__str__(value), attribute)
    if isinstance(value, Integral):
        return _admit_int(int(value), attribute)
    if isinstance(value, Decimal):
        return _admit_decimal(value, attribute)
    if isinstance(value, Real):
        return _admit_real(value, attribute)
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise EventError(
        f"a value of type {type(value).__name__} cannot be compared"
        " (expected null, boolean, number, string, timestamp or a list of these)",
        attribute=attribute,
    )


def _admit_real(number: Real, attribute: str | None) -> float:
    try:
        return _admit_float(float(number), attribute)
    except OverflowError:
        raise EventError("the number is beyond float64", attribute=attribute) from None


def _admit_timestamp(moment: datetime, attribute: str | None) -> datetime:
    """Return a moment in UTC and of our own class.

    Subclasses such as pandas' are not in the table of kinds.
    """
    if type(moment) is datetime and moment.tzinfo is UTC and not moment.fold:
        return moment
    if moment.utcoffset() is None:
        problem = "the timestamp has no time zone; write datetime.now(UTC), or .replace(tzinfo=UTC)"
        raise EventError(f"{problem} if it is in UTC", attribute=attribute)
    try:
        day, clock = moment.astimezone(UTC).date(), moment.astimezone(UTC).time()
    except OverflowError:
        problem = "the timestamp is outside the years 1 to 9999 in UTC"
        raise EventError(problem, attribute=attribute) from None
    return datetime.combine(day, clock.replace(fold=0), UTC)


def _admit_decimal(number: Decimal, attribute: str | None) -> Scalar:
    try:
        admitted = canonical_decimal(number)
    except ValueError as refused:
        raise EventError(str(refused), attribute=attribute) from None
    if isinstance(admitted, Decimal) and digits(admitted) > DIGITS_MAX:
        problem = f"a decimal of more than {DIGITS_MAX} digits"
        raise EventError(problem, attribute=attribute)
    return admitted


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


# --- timestamps and durations as text ------------------------------------------------------------


_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)?)?", re.ASCII
)


def parse_timestamp(text: str) -> datetime:
    """Read RFC 3339; a missing time is midnight, a missing zone is UTC. ValueError otherwise."""
    if not _TIMESTAMP.fullmatch(text):
        raise ValueError("expected a timestamp such as 2026-01-31T12:00:00Z")
    moment = datetime.fromisoformat(text.upper())
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("the timestamp is outside the years 1 to 9999 in UTC") from None


def format_timestamp(moment: datetime) -> str:
    """Return RFC 3339 in UTC, with microseconds only where there are any."""
    return moment.replace(tzinfo=None).isoformat() + "Z"


_SECONDS: Final = {
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1,
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "week": 604_800,
}
_SHORT: Final = {
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "sec": "second",
    "m": "minute",
    "min": "minute",
    "h": "hour",
    "d": "day",
    "w": "week",
}
_DURATION = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-z]+)", re.ASCII)


def parse_duration(text: str) -> timedelta:
    """Read `1 day`, `2 hours 30 minutes`, `90s`. ValueError otherwise."""
    total, position = timedelta(), 0
    lowered = text.lower().rstrip()
    while position < len(lowered) or not lowered:
        found = _DURATION.match(lowered, position)
        unit = found and _SHORT.get(found[2], found[2].removesuffix("s"))
        if not found or unit not in _SECONDS:
            raise ValueError("expected a duration such as '1 day' or '2 hours 30 minutes'")
        try:
            total += timedelta(seconds=float(found[1]) * _SECONDS[unit])
        except OverflowError:
            raise ValueError("the duration is too long") from None
        position = found.end()
    return total
