"""Sigma's strings: wildcards, escapes, and what the string modifiers make of them.

A string is held as text in which three characters that no rule can hold stand for the wildcards:
ANY for `*`, ONE for `?`, DASH for a dash that `windash` lets vary. A backslash makes the next
`*`, `?` or `\\` literal and is literal itself in front of anything else: `C:\\Windows\\*` ends in
a backslash-escaped star, `C:\\Windows\\\\*` in a wildcard.

Every scalar has a text, in which Sigma compares it: 4688 and "4688" have the same, true and
"True" differ in case only.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from itertools import product
from typing import Final

from fyke.errors import EventError, FilterError, shown
from fyke.events.number import ExactDecimal, read_number
from fyke.events.value import Scalar, admit, canonical, parse_timestamp
from fyke.filters.dialects.sigma.plain import Value, Written
from fyke.filters.texts.glob import ONE, Glob, fold, glob
from fyke.filters.texts.wording import text_of

ANY: Final = "\udc2a"
DASH: Final = "\udc2d"
DASHES: Final = "-/\u2013\u2014\u2015"

_TOKEN = re.compile(r"\\([*?\\])|([*?])")
_WILDCARDS: Final = {"*": ANY, "?": ONE}
_MARKS = re.compile(f"[{ANY}{ONE}{DASH}]")
_LITERAL = re.compile(f"[^{ANY}{ONE}{DASH}]+")
_WINDASH = re.compile(rf"\B[{DASHES}]\b")


def wildcards(text: str) -> str:
    """Read the wildcards and escapes of a rule's string."""
    return _TOKEN.sub(lambda found: found[1] or _WILDCARDS[found[2]], text)


def has_wildcards(pattern: str) -> bool:
    return _MARKS.search(pattern) is not None


def as_glob(pattern: str) -> Glob:
    """Return the pattern with any character in place of a varying dash."""
    return glob(pattern.replace(DASH, ONE).split(ANY))


# --- what modifiers make of a string ------------------------------------------------------------


def vary_dashes(pattern: str) -> str:
    """Mark the dashes and slashes that begin a word, as `windash` wants; others stay."""
    return _LITERAL.sub(lambda part: _WINDASH.sub(DASH, part[0]), pattern)


def dash_variants(pattern: str) -> Iterator[str]:
    """Yield the pattern with each combination of dashes."""
    parts = pattern.split(DASH)
    for dashes in product(DASHES, repeat=len(parts) - 1):
        yield parts[0] + "".join(map("".join, zip(dashes, parts[1:], strict=True)))


def dash_expression(pattern: str) -> str:
    """Return a regular expression that fits the whole pattern with varying dashes."""
    written = {ANY: ".*", ONE: ".", DASH: f"[{DASHES}]"}
    return "(?s)^" + "".join(written.get(char) or _quote(char) for char in pattern) + "$"


def _quote(char: str) -> str:
    return char if char.isalnum() else f"\\x{{{ord(char):x}}}"


ENCODINGS: Final = {
    "wide": "utf-16-le",
    "utf16le": "utf-16-le",
    "utf16be": "utf-16-be",
    "utf16": "utf-16",
}


def encode(text: str, encoding: str) -> bytes:
    """Encode as UTF-8 or a form of UTF-16; plain `utf-16` is little-endian with a mark."""
    if encoding == "utf-16":
        return b"\xff\xfe" + text.encode("utf-16-le")
    return text.encode(encoding)


def spell(pattern: str, encoding: str) -> str:
    """Return a pattern as a log shows its UTF-16 bytes: a zero beside each character."""
    literal = _MARKS.sub("", pattern)
    if not literal.isascii():
        raise FilterError(
            f"{shown(literal)} in UTF-16 is not text",
            expected="ASCII, or base64 after the encoding",
        )
    spelt = "".join(
        char if _MARKS.match(char) else _beside_zero(char, encoding) for char in pattern
    )
    return "\ufeff" + spelt if encoding == "utf-16" else spelt


def _beside_zero(char: str, encoding: str) -> str:
    return "\0" + char if encoding == "utf-16-be" else char + "\0"


def base64(data: bytes) -> str:
    return b64encode(data).decode()


_START: Final = (0, 2, 3)
_END: Final = (None, -3, -2)


def base64_offsets(data: bytes) -> list[str]:
    """Return the text that Base64 has for `data` 0, 1 or 2 bytes beyond a multiple of three."""
    found = [
        base64(bytes(offset) + data)[_START[offset] : _END[(len(data) + offset) % 3]]
        for offset in range(3)
    ]
    if not all(found):
        raise FilterError(
            "the value is too short for base64offset", expected="at least two characters"
        )
    return found


# --- the text of a scalar -----------------------------------------------------------------------


def spellings(value: Value) -> list[str]:
    """Return the texts that equal a rule's value: its own, and the one that the rule shows.

    The value is not null.
    """
    held, written = (value.value, value.text) if isinstance(value, Written) else (value, None)
    if isinstance(held, float) and written is None:
        written = repr(held)
    text = text_of(held)
    assert text is not None
    return list(dict.fromkeys([text, written or text]))


def others_with_text(text: str, cased: bool) -> list[Scalar]:
    """Return the scalars beside the string itself that have this text."""
    wanted = text if cased else fold(text)
    return [
        value
        for value in (True, False, _number(text), _moment(text))
        if value is not None and _as_compared(value, cased) == wanted
    ]


def _as_compared(value: Scalar, cased: bool) -> str:
    text = text_of(value)
    assert text is not None
    return text if cased else fold(text)


_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
DECIMAL: Final = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""The strings that are read as numbers where a rule compares numbers."""


def decimal(text: str) -> int | float | ExactDecimal | None:
    """Return the number that a string spells, however large; None if it spells none."""
    if not _DECIMAL.fullmatch(text):
        return None
    try:
        return read_number(text)
    except ValueError:
        return float(text)


def _number(text: str) -> Scalar:
    number = decimal(text)
    try:
        return None if number is None else canonical(admit(number))
    except EventError:
        return None


def _moment(text: str) -> datetime | None:
    try:
        return parse_timestamp(text)
    except ValueError:
        return None


_NUMBER_PART = re.compile(r"-?\d*\.?\d*e?[+-]?\d*", re.ASCII)
_MOMENTS: Final = ("0000-00-00t00:00:00z", "0000-00-00t00:00:00.000000z")
_DIGITS = str.maketrans("123456789", "0" * 9)


def may_fit_number(pattern: str) -> bool:
    """Return False only if the text of no number fits."""
    return (
        (has_wildcards(pattern[0]) or pattern[0] in "-0123456789")
        and (has_wildcards(pattern[-1]) or pattern[-1] in "0123456789")
        and all(_NUMBER_PART.fullmatch(fold(part)) for part in _MARKS.split(pattern))
    )


def may_fit_moment(pattern: str) -> bool:
    """Return False only if the text of no timestamp fits."""
    parts = [fold(part).translate(_DIGITS) for part in _MARKS.split(pattern)]
    return any(
        moment.startswith(parts[0])
        and moment.endswith(parts[-1])
        and all(part in moment for part in parts)
        for moment in _MOMENTS
    )
