"""Strict JSON: the same text is the same event everywhere, or it is refused.

JSON parsers differ in what they let pass: duplicate keys, NaN, numbers that overflow, lone
surrogates. Two readers that differ give two verdicts on one event, so all of these are refused
here, by name and place. What RFC 8259 leaves open is tolerated: a byte order mark in front.

    decode('{"a": 1, "a": 2}')      EventError: attribute 'a': the key occurs twice in one object

`decode` gives plain dicts, lists and scalars; `decode_event` an Event, whose own door checks the
values, so that an event is walked once. Both cost time linear in the text, whatever the text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final, NoReturn, TypeAlias

import msgspec

from fyke.errors import EventError, shown
from fyke.events.event import Event
from fyke.events.number import INT_MAX, ExactDecimal, read_number
from fyke.events.value import admit, format_timestamp
from fyke.limits import DEFAULT_LIMITS, Limits

_BYTE_ORDER_MARK: Final = "\ufeff"


def decode(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> object:
    """Return the value of a JSON text, as dicts, lists and admitted scalars."""
    value = parse(text, limits)
    check(value, limits)
    return value


def decode_event(
    text: str | bytes, limits: Limits = DEFAULT_LIMITS, *, decimals: Collection[str] = ()
) -> Event:
    """Return the event that a JSON object describes.

    Numbers are int64 or float64; at the attributes in `decimals` they are what is written.
    """
    document = parse(text, limits, _EXACT_DECODER if decimals else _DECODER)
    if not isinstance(document, dict):
        raise EventError(f"an event is a JSON object, not {name_of(document)}")
    return Event(rounded(document, decimals) if decimals else document, limits=limits)  # type: ignore[arg-type]


def encode(value: object) -> str:
    """Return compact JSON of an admitted value, a list or a document.

    Timestamps become RFC 3339 text. A decimal is written with all its digits.
    """
    try:
        return _ENCODER.encode(value)
    except _HasDecimal:
        return _DECIMAL_ENCODER.encode(_with_decimals(value)).decode()
    except RecursionError:
        raise EventError("nested too deep for JSON") from None
    except (TypeError, ValueError) as refused:
        raise EventError(f"no JSON for this value: {refused}") from None


# --- reading --------------------------------------------------------------------------------------

_NAMES: Final = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
}


def name_of(value: object) -> str:
    """Return the name that JSON has for a value that was parsed."""
    return _NAMES.get(type(value), "a number")


def parse(text: str | bytes, limits: Limits, decoder: json.JSONDecoder | None = None) -> object:
    """Return what `decode` returns, but with scalars that the caller has to admit."""
    text = _text(text)
    try:
        return (decoder or _DECODER).decode(text)
    except json.JSONDecodeError as refused:
        raise EventError(_sentence(refused)) from None
    except RecursionError:
        raise _too_deep(limits) from None
    except ValueError:
        raise EventError("an integer does not fit in 64 bits") from None


def _text(text: str | bytes) -> str:
    if isinstance(text, (bytes, bytearray, memoryview)):
        try:
            text = str(text, "utf-8")
        except UnicodeDecodeError as refused:
            raise EventError(f"not UTF-8 at byte {refused.start}") from None
    if not isinstance(text, str):
        raise EventError(f"expected JSON text, not {type(text).__name__}")
    return text.removeprefix(_BYTE_ORDER_MARK)


def _sentence(refused: json.JSONDecodeError) -> str:
    if not refused.doc.strip(" \t\r\n"):
        return "not JSON: the text is empty"
    problem = refused.msg[0].lower() + refused.msg[1:]
    line = f"line {refused.lineno}, " if "\n" in refused.doc else ""
    return f"not JSON: {problem} ({line}column {refused.colno})"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) == len(pairs):
        return document
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise EventError("the key occurs twice in one object", attribute=key)
        seen.add(key)
    raise AssertionError("fewer keys than pairs, yet none twice")


def _refuse(constant: str) -> NoReturn:
    raise EventError(f"{constant} is not JSON, nor a number that can be compared")


def _exactly(text: str) -> object:
    try:
        return read_number(text)
    except ValueError as refused:
        raise EventError(str(refused)) from None


def rounded(value: object, decimals: Collection[str], path: str = "") -> object:
    """Return the value with int or float for every decimal, except at some attributes."""
    if isinstance(value, dict):
        at = f"{path}." if path else ""
        return {key: rounded(each, decimals, at + key) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each, decimals, path) for each in value]
    if not isinstance(value, ExactDecimal) or path in decimals:
        return value
    return int(value) if value == value.to_integral_value() else float(value)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
_EXACT_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_refuse, parse_float=_exactly, parse_int=_exactly
)

_DIGITS_MAX: Final = 20


def _any_integer(text: str) -> int:
    """Return the number; for very long text, which is slow to read, one that is out of range."""
    return int(text) if len(text) <= _DIGITS_MAX else INT_MAX + 1


def _any_number(text: str) -> object:
    try:
        return read_number(text)
    except ValueError:
        return math.inf


LENIENT: Final = json.JSONDecoder(parse_int=_any_integer, parse_constant=_refuse)
"""Takes the last of equal keys, and numbers that are not admitted; for who looks at a part only."""
LENIENT_EXACT: Final = json.JSONDecoder(
    parse_float=_any_number, parse_int=_any_number, parse_constant=_refuse
)


# --- checking -------------------------------------------------------------------------------------

_Place: TypeAlias = "tuple[_Place, str] | None"
"""The keys that lead to a container, innermost first; joined to a path only for an error."""


def check(value: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Admit every scalar and every key, level by level, so that no depth can exhaust the stack."""
    if not isinstance(value, (dict, list)):
        admit(value)
        return
    level: list[tuple[_Place, object]] = [(None, value)]
    for _ in range(limits.depth_max):
        deeper: list[tuple[_Place, object]] = []
        for place, container in level:
            if isinstance(container, dict):
                _check_object(container, place, deeper)
            elif isinstance(container, list):
                _check_array(container, place, deeper)
        if not deeper:
            return
        level = deeper
    raise _too_deep(limits, _path(level[0][0]))


def _check_object(
    document: dict[str, object], place: _Place, deeper: list[tuple[_Place, object]]
) -> None:
    for key, child in document.items():
        if type(key) is not str or not key.isascii():
            _admit_key(key, place)
        cls = type(child)
        if cls is dict or cls is list:
            deeper.append(((place, key), child))
        elif cls is not str or not child.isascii():  # type: ignore[attr-defined]
            _admit(child, (place, key))


def _check_array(
    elements: list[object], place: _Place, deeper: list[tuple[_Place, object]]
) -> None:
    for child in elements:
        if isinstance(child, (dict, list)):
            deeper.append((place, child))
        else:
            _admit(child, place)


def _admit(scalar: object, place: _Place) -> None:
    try:
        admit(scalar)
    except EventError as refused:
        raise EventError(refused.problem, attribute=_path(place)) from None


def _admit_key(key: object, place: _Place) -> None:
    if not isinstance(key, str):
        raise EventError(f"the key {shown(key)} is not a string", attribute=_path(place))
    _admit(key, place)


def _path(place: _Place) -> str | None:
    keys: list[str] = []
    while place is not None:
        place, key = place
        keys.append(key)
    return ".".join(reversed(keys)) or None


def _too_deep(limits: Limits, path: str | None = None) -> EventError:
    return EventError(f"nested deeper than {limits.depth_max} levels", attribute=path)


# --- writing --------------------------------------------------------------------------------------


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    scalar = admit(value)
    if isinstance(scalar, ExactDecimal):
        raise _HasDecimal
    return format_timestamp(scalar) if isinstance(scalar, datetime) else scalar


class _HasDecimal(Exception):
    """A decimal was met, which `json` cannot write as a number."""


def _with_decimals(value: object) -> object:
    """Return the value with each decimal in canonical form, for an encoder that writes decimals."""
    if isinstance(value, Mapping):
        return {key: _with_decimals(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_with_decimals, value))
    scalar = admit(value)
    return format_timestamp(scalar) if isinstance(scalar, datetime) else scalar


_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
)
_DECIMAL_ENCODER: Final = msgspec.json.Encoder(decimal_format="number", enc_hook=Decimal)
