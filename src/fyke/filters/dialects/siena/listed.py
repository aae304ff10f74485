"""The notation as a list of constraints, and as the JSON of such a list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

from fyke.errors import EventError, FilterError, shown
from fyke.events.value import admit, canonical
from fyke.filters.dialects.siena.constraint import (
    OPERATOR,
    OPERATORS,
    TYPES,
    Constraint,
    predicate,
)
from fyke.filters.filter import Filter, conjunction
from fyke.limits import Limits

_KEYS: Final = {"name": "name", "attribute": "name", "op": "op", "value": "value", "type": "type"}
_SHAPE: Final = '{"name", "op", "value"}, [name, op, value] or [type, name, op, value]'


def from_json(text: str, limits: Limits) -> Filter:
    if len(text) > limits.text_length_max:
        raise FilterError(
            f"the text is {len(text)} characters long; the limit is {limits.text_length_max}"
        )
    try:
        read = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise FilterError(f"this is not JSON: {error.msg}", text=text, position=error.pos) from None
    except (ValueError, RecursionError) as error:
        raise FilterError(f"this JSON cannot be read: {shown(str(error))}") from None
    assert isinstance(read, list)
    return from_list(read, limits)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise FilterError("a constraint gives a key twice", expected=_SHAPE)
    return made


def _no_number(word: str) -> NoReturn:
    raise FilterError(f"{word} is not a number that can be compared")


def from_list(constraints: Sequence[object], limits: Limits) -> Filter:
    if len(constraints) > limits.nodes_max:
        raise FilterError(f"there are more than {limits.nodes_max} constraints")
    return conjunction(_read(number, given) for number, given in enumerate(constraints))


def _read(number: int, given: object) -> Filter:
    try:
        return predicate(_constraint(given))
    except FilterError as error:
        problem, expected = error.problem, error.expected
    except EventError as error:
        problem, expected = error.problem, None
    raise FilterError(f"constraint {number} (from 0): {problem}", expected=expected)


def _constraint(given: object) -> Constraint:
    fields = _fields(given)
    name, operator, declared = fields.get("name"), fields.get("op"), fields.get("type")
    if not isinstance(name, str):
        raise FilterError(f"{_brief(name)} is no name", expected="the name of an attribute")
    admit(name)
    if not isinstance(operator, str) or operator not in OPERATORS:
        raise FilterError(f"unknown operator {_brief(operator)}", expected=OPERATOR)
    if declared is not None and (not isinstance(declared, str) or declared not in TYPES):
        raise FilterError(f"unknown type {_brief(declared)}", expected=f"one of {', '.join(TYPES)}")
    return Constraint(name, operator, canonical(admit(fields.get("value"))), declared)


def _fields(given: object) -> dict[str, object]:
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in _KEYS]
        if unknown or ("name" in given and "attribute" in given):
            raise FilterError(
                f"the keys {shown(list(map(str, given)))} make no constraint", expected=_SHAPE
            )
        return {_KEYS[key]: value for key, value in given.items()}
    if isinstance(given, (list, tuple)):
        if len(given) == 4:
            return dict(zip(("type", "name", "op", "value"), given, strict=True))
        if len(given) == 3:
            return dict(zip(("name", "op", "value"), given, strict=True))
        if len(given) == 2:
            return dict(zip(("name", "op"), given, strict=True))
    raise FilterError(f"{_brief(given)} is no constraint", expected=_SHAPE)


def _brief(given: object) -> str:
    """Name a value shortly, without a walk into something nested."""
    return shown(given) if isinstance(given, str) else f"a value of type {type(given).__name__}"
