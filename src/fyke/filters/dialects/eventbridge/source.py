"""The JSON of a pattern, from text or from Python objects, as one checked tree.

An object is kept as its pairs, because EventBridge lets a key occur twice: the later one wins, but
field by field. Everything else that makes JSON ambiguous is refused. Numbers are int64 or float64,
as in events of JSON, so that one text is one number on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NoReturn, TypeAlias

from fyke.errors import EventError, FilterError, shown
from fyke.events.json import encode
from fyke.events.number import ExactDecimal
from fyke.events.value import admit
from fyke.limits import Limits

Json: TypeAlias = "Object | list[Json] | str | int | float | ExactDecimal | bool | None"

_BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Object:
    """A JSON object: its pairs in order, a key possibly more than once."""

    pairs: tuple[tuple[str, Json], ...]


def read_source(source: object, limits: Limits) -> Json:
    """Read the tree of a pattern's source. Its depth is bounded, its scalars are admitted."""
    if isinstance(source, (str, bytes)):
        source = _decode(source, limits)
    return _check(source, None, limits, depth=1)


def write_source(value: Json) -> str:
    """Write the tree as compact JSON that reads back equal, repeated keys included."""
    if isinstance(value, Object):
        return "{" + ",".join(f"{encode(key)}:{write_source(c)}" for key, c in value.pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write_source, value)) + "]"
    return encode(value)


# --- text -----------------------------------------------------------------------------------------


def _decode(text: str | bytes, limits: Limits) -> object:
    if len(text) > limits.text_length_max:
        raise FilterError(f"the pattern is longer than {limits.text_length_max} characters")
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as refused:
            raise FilterError(f"the pattern is not UTF-8 at byte {refused.start}") from None
    text = text.removeprefix(_BYTE_ORDER_MARK)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as refused:
        problem = refused.msg[0].lower() + refused.msg[1:]
        raise FilterError(
            f"the pattern is not JSON: {problem}", text=text, position=refused.pos
        ) from None
    except RecursionError:
        raise _too_deep(limits) from None
    except ValueError:
        raise FilterError("an integer in the pattern does not fit in 64 bits") from None


def _refuse(constant: str) -> NoReturn:
    raise FilterError(f"the pattern is not JSON: {constant}", expected="a finite number")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=lambda pairs: Object(tuple(pairs)), parse_constant=_refuse
)


# --- values ---------------------------------------------------------------------------------------

_Place: TypeAlias = "tuple[_Place, object] | None"
"""The keys that lead to a value, innermost first; joined to a path only for an error."""


def _check(value: object, place: _Place, limits: Limits, depth: int) -> Json:
    if not isinstance(value, (Object, Mapping, list, tuple)):
        return _scalar(value, place)
    if depth > limits.depth_max:
        raise _too_deep(limits)
    if isinstance(value, (list, tuple)):
        _check_size(len(value), place, limits)
        return [_check(child, place, limits, depth + 1) for child in value]
    pairs = value.pairs if isinstance(value, Object) else tuple(value.items())
    _check_size(len(pairs), place, limits)
    return Object(
        tuple(
            (_key(key, place), _check(child, (place, key), limits, depth + 1))
            for key, child in pairs
        )
    )


def _check_size(size: int, place: _Place, limits: Limits) -> None:
    if size > limits.list_size_max:
        raise FilterError(f"{_place_name(place)}: more than {limits.list_size_max} values")


def _key(key: object, place: _Place) -> str:
    if not isinstance(key, str):
        raise FilterError(f"{_place_name(place)}: the key {shown(key)} is not a string")
    admitted = _scalar(key, place)
    assert isinstance(admitted, str)
    return admitted


def _scalar(value: object, place: _Place) -> str | int | float | ExactDecimal | bool | None:
    try:
        admitted = admit(value)
    except EventError as refused:
        raise FilterError(f"{_place_name(place)}: {refused.problem}") from None
    if isinstance(admitted, datetime):
        raise FilterError(
            f"{_place_name(place)}: a timestamp is no JSON value",
            expected="a string, a number, true, false or null",
        )
    return admitted


def _place_name(place: _Place) -> str:
    keys: list[str] = []
    while place is not None:
        place, key = place
        keys.append(str(key))
    return f"field {shown('.'.join(reversed(keys)))}" if keys else "the pattern"


def _too_deep(limits: Limits) -> FilterError:
    return FilterError(f"the pattern is nested deeper than {limits.depth_max} levels")
