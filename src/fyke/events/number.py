"""Numbers: integers, floats and decimals in one total order.

Idea. Every number is a decimal. An integer and a decimal are themselves. A float64 that is an int64
is that integer; any other float64 stands for the shortest decimal that is read back as it, which
is what `repr` prints. So money compares as it is written: Decimal("8.40"), 8.4 and a float64 column
that shows 8.4 are one number.

    8.4 = Decimal("8.40")                      both are 84 / 10
    0.1 < Decimal("0.10000000000000001")       though float("0.10000000000000001") is 0.1
    2**53 < 2**53 + 1 < 2**53 + Decimal("1.5")

The canonical form of a number is an int where it is an int64, else the float64 that stands for it,
else an `ExactDecimal`. Each number has one, so equal numbers have one hash and one code.

Invariant. The order is total and equality transitive. Python's own order of int and float is
already this one: rounding is monotonic, so a decimal that rounds to f lies on the same side of
every other float64 (and of every integer) as f does. Only a decimal beside a float has to be told,
and `ExactDecimal` tells it; `<`, `sorted`, `bisect`, sets and dictionaries then work as they are.
Cost. Nothing for integers and floats. A decimal of up to 15 digits, as money is, becomes a float on
arrival; longer ones take a microsecond each, on arrival and for a comparison with a float.
"""

from __future__ import annotations

import math
import re
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
DIGITS_MAX: Final = 38
"""The digits of a decimal in an event: those of Arrow's decimal128 and of Spark's DecimalType."""

_EXACT: Final = Context(prec=100_000)
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_SHORT: Final = re.compile(r"[+-]?(?=[0-9.]{1,16}\Z)[0-9]+\.[0-9]+")
"""At most 15 digits around a point: no two of them have one nearest float64."""


class ExactDecimal(Decimal):
    """A decimal for which no int64 and no float64 stands; `canonical` makes them."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(_comparable(other))

    def __ne__(self, other: object) -> bool:
        return super().__ne__(_comparable(other))

    def __lt__(self, other: Any) -> bool:
        return super().__lt__(_comparable(other))

    def __le__(self, other: Any) -> bool:
        return super().__le__(_comparable(other))

    def __gt__(self, other: Any) -> bool:
        return super().__gt__(_comparable(other))

    def __ge__(self, other: Any) -> bool:
        return super().__ge__(_comparable(other))

    __hash__ = Decimal.__hash__


def _comparable(other: Any) -> Any:
    return meaning(other) if isinstance(other, float) else other


def meaning(number: float) -> Decimal:
    """Return the decimal that a finite float64 stands for."""
    whole = canonical_float(number)
    return Decimal(whole) if type(whole) is int else Decimal(repr(float(number)))


def canonical_float(number: float) -> int | float:
    """Return an int where the number is an int64, -0.0 included; else the number itself."""
    return int(number) if number.is_integer() and INT_MIN <= number <= INT_MAX else number


def canonical_decimal(number: Decimal) -> int | float | ExactDecimal:
    """Return the canonical form of a decimal.

    ValueError where it is not finite, or so large or small that float64 has nothing near it.
    """
    if type(number) is ExactDecimal:
        return number
    if not number.is_finite():
        raise ValueError(f"{number} is not a number that can be compared")
    nearest = float(number)
    if math.isinf(nearest):
        raise ValueError(f"the number {number:.3E} is too large to be compared")
    if nearest == 0 and number != 0:
        raise ValueError(f"the number {number:.3E} is too small to be compared")
    if meaning(nearest) == number:
        return canonical_float(nearest)
    if number.adjusted() < 19 and number == number.to_integral_value():
        whole = int(number)
        if INT_MIN <= whole <= INT_MAX:
            return whole
    return ExactDecimal(number.normalize(_EXACT))


def read_number(text: str) -> int | float | ExactDecimal:
    """Return the number of a text, in canonical form: `8.40` is 8.4. ValueError for other text."""
    if _SHORT.fullmatch(text):
        return canonical_float(float(text))
    if _WHOLE.fullmatch(text) and INT_MIN <= (whole := int(text)) <= INT_MAX:
        return whole
    try:
        return canonical_decimal(Decimal(text))
    except InvalidOperation:
        raise ValueError("expected a number such as 42, -1.5 or 1e3") from None


def digits(number: Decimal) -> int:
    """Return how many digits a decimal has, without zeros at the end."""
    return len(number.normalize(_EXACT).as_tuple().digits)
