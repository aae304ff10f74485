"""The functions of CESQL. A function is chosen by its name and the number of its arguments.

Beyond those of CESQL 1.0 there are INT, BOOL and STRING (the casts, which the conformance kit
calls) and IS_INT and IS_BOOL (whether such a cast would succeed), as the reference
implementations have them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from fyke.filters.dialects.cesql.values import (
    INTEGER_MAX,
    ZERO,
    Error,
    Outcome,
    Primitive,
    Type,
    cast,
    to_boolean,
    to_integer,
)


@dataclass(frozen=True, slots=True)
class Function:
    """`parameters`: the types of the first arguments (None: any); `rest`: that of further ones."""

    run: Callable[..., Outcome]
    returns: Type
    parameters: tuple[Type | None, ...]
    rest: Type | None = None

    def takes(self, count: int) -> bool:
        return count == len(self.parameters) or (
            self.rest is not None and count > len(self.parameters)
        )

    def types(self, count: int) -> tuple[Type | None, ...]:
        """Return the type of each of `count` arguments."""
        return self.parameters + (self.rest,) * (count - len(self.parameters))


def find(name: str, count: int) -> Function | None:
    """Return the function of that name that takes this number of arguments."""
    return next((each for each in FUNCTIONS.get(name, ()) if each.takes(count)), None)


def _sure(run: Callable[..., Primitive]) -> Callable[..., Outcome]:
    """Wrap a function that cannot fail."""
    return lambda *arguments: (run(*arguments), None)


_WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space; Python's own strip() takes some control characters as well."""


def _left(text: str, length: int) -> Outcome:
    return (text, Error.FUNCTION_EVALUATION) if length < 0 else (text[:length], None)


def _right(text: str, length: int) -> Outcome:
    if length < 0:
        return text, Error.FUNCTION_EVALUATION
    return text[max(0, len(text) - length) :], None


def _substring(text: str, position: int, length: int = INTEGER_MAX) -> Outcome:
    if length < 0 or abs(position) > len(text):
        return "", Error.FUNCTION_EVALUATION
    if position == 0:
        return "", None
    start = position - 1 if position > 0 else len(text) + position
    return text[start : start + length], None


def _abs(number: int) -> Outcome:
    return (INTEGER_MAX, Error.MATH) if -number > INTEGER_MAX else (abs(number), None)


def _casting(target: Type) -> Callable[[Primitive], Outcome]:
    def run(value: Primitive) -> Outcome:
        made = cast(value, target)
        return (ZERO[target], Error.CAST) if made is None else (made, None)

    return run


def _join(delimiter: str, *texts: Any) -> str:
    return delimiter.join(texts)


FUNCTIONS: Final[dict[str, tuple[Function, ...]]] = {
    "LENGTH": (Function(_sure(len), int, (str,)),),
    "CONCAT": (Function(_sure(lambda *texts: "".join(texts)), str, (), rest=str),),
    "CONCAT_WS": (Function(_sure(_join), str, (str,), rest=str),),
    "LOWER": (Function(_sure(str.lower), str, (str,)),),
    "UPPER": (Function(_sure(str.upper), str, (str,)),),
    "TRIM": (Function(_sure(lambda text: text.strip(_WHITE_SPACE)), str, (str,)),),
    "LEFT": (Function(_left, str, (str, int)),),
    "RIGHT": (Function(_right, str, (str, int)),),
    "SUBSTRING": (
        Function(_substring, str, (str, int)),
        Function(_substring, str, (str, int, int)),
    ),
    "ABS": (Function(_abs, int, (int,)),),
    "INT": (Function(_casting(int), int, (None,)),),
    "BOOL": (Function(_casting(bool), bool, (None,)),),
    "STRING": (Function(_casting(str), str, (None,)),),
    "IS_INT": (Function(_sure(lambda value: to_integer(value) is not None), bool, (None,)),),
    "IS_BOOL": (Function(_sure(lambda value: to_boolean(value) is not None), bool, (None,)),),
}
