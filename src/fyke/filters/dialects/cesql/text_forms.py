"""Which values have a given text: the inverse of CESQL's cast to String, as exact predicates.

`a = '5'` is true of the string, of the integer 5, and of whatever else reads "5" as a String; so
the set of an equality holds all of them. A pattern that only strings and Booleans can fit is a
plain `Like`; one that a number or a timestamp may fit (`'2024-%'`) leaves these to a check.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from fyke.events.number import INT_MAX, INT_MIN
from fyke.events.value import Scalar, format_timestamp, parse_timestamp
from fyke.filters.dialects.cesql.values import primitive, to_string
from fyke.filters.filter import Filter, disjunction
from fyke.filters.predicate import In, NotIn, Range
from fyke.filters.text_predicate import Like
from fyke.filters.texts import glob as globs
from fyke.filters.texts.glob import ONE, Glob

_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?", re.ASCII)
_NUMBER_OR_TIMESTAMP_CHARACTERS: Final = frozenset("0123456789+-.eTZ:")
_FIRST_CHARACTERS: Final = frozenset("0123456789-")
_FLOAT_MAX: Final = 1.7976931348623157e308
_TEXT_LENGTH_MAX: Final = 40
"""No number and no timestamp has a longer text."""


def present(attribute: str) -> Filter:
    """Accept a present attribute that is not null, nor a list of nulls."""
    return NotIn(attribute, (None,))


def values_of(text: str) -> list[Scalar]:
    """Return every scalar that has this text."""
    candidates: list[Scalar] = [text, True, False]
    if text[:1] in _FIRST_CHARACTERS and len(text) <= _TEXT_LENGTH_MAX:
        if _INTEGER.fullmatch(text) and INT_MIN <= int(text) <= INT_MAX:
            candidates.append(int(text))
        elif _FLOAT.fullmatch(text) and abs(float(text)) <= _FLOAT_MAX:
            candidates.append(float(text))
        candidates += _timestamps_of(text)
    return [value for value in candidates if to_string(primitive(value)) == text]


def _timestamps_of(text: str) -> list[Scalar]:
    try:
        moment = parse_timestamp(text)
    except ValueError:
        return []
    return [moment] if format_timestamp(moment) == text else []


def text_is(attribute: str, text: str) -> Filter:
    """Accept if some element has this text."""
    return In(attribute, tuple(values_of(text)))


def text_fits(attribute: str, pattern: Glob, exactly: Filter) -> Filter:
    """Accept if some element's text fits the pattern; `exactly` checks numbers and timestamps."""
    if pattern.is_exact:
        return text_is(attribute, pattern.segments[0])
    if pattern.accepts_all:
        return present(attribute)
    parts: list[Filter] = [Like(attribute, pattern)]
    fits = globs.matcher(pattern)
    booleans = tuple(value for value in (False, True) if fits(to_string(value)))
    if booleans:
        parts.append(In(attribute, booleans))
    if may_be_number_or_timestamp(*pattern.segments):
        parts.append(disjunction(numbers_and_timestamps(attribute)) & exactly)
    return disjunction(parts)


def may_be_number_or_timestamp(*segments: str) -> bool:
    """Return False only if no number or timestamp has these segments in its text.

    `ONE` fits any character.
    """
    characters = {char for segment in segments for char in segment} - {ONE}
    length_min = sum(map(len, segments))
    return length_min <= _TEXT_LENGTH_MAX and characters <= _NUMBER_OR_TIMESTAMP_CHARACTERS


def numbers_and_timestamps(attribute: str) -> list[Filter]:
    return [
        Range(attribute, -_FLOAT_MAX, _FLOAT_MAX),
        Range(attribute, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)),
    ]
