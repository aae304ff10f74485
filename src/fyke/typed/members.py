"""Members: what a class shows by its own code.

An accessor is a public method without parameters, and stands for the attribute in its name:
`getPrice()` and `get_price()` for `price`, `getURL()` for `URL` (MSF-9).
"""

from __future__ import annotations

import inspect
import re
from types import FunctionType
from typing import Any, Final

_GET: Final = re.compile(r"get(?:_([A-Za-z]\w*)|([A-Z]\w*))")
_LIBRARIES: Final = ("builtins", "abc", "typing", "enum", "msgspec", "pydantic")


def is_of_library(cls: type) -> bool:
    """Return True if a class is one that others inherit from without having written it."""
    return cls.__module__.partition(".")[0] in _LIBRARIES


def public_members(cls: type) -> list[tuple[str, Any]]:
    """Return the public members that the class and its own ancestors define, nearest first."""
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        if not is_of_library(base):
            for member, each in vars(base).items():
                if not member.startswith("_"):
                    found.setdefault(member, each)
    return list(found.items())


def accessed(member: str, function: FunctionType) -> str | None:
    """Return the attribute that an accessor is for: `getPrice` for `price`, `getURL` for `URL`."""
    found = _GET.fullmatch(member)
    parameters = list(inspect.signature(function).parameters.values())
    if found is None or len(parameters) != 1 or inspect.iscoroutinefunction(function):
        return None
    if parameters[0].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
        return None
    if found[1]:
        return found[1]
    plain = found[2]
    return plain if plain[:2].isupper() and len(plain) > 1 else plain[0].lower() + plain[1:]
