"""JSON texts as they come: nested and dotted spellings, equal keys, numbers at the edges, damage.

A text is written token by token and not by an encoder, so that it can say what no document says: a
key twice, `1e400`, a lone surrogate, white space of all kinds. `damaged` changes some bytes.
"""

from __future__ import annotations

from random import Random
from typing import Final

KEYS: Final = (
    *('"a"', '"a"', '"b"', '"b"', '"c"', '"a.b"', '"a.b.c"', '"b.c"', '"c.d"', '""', '"z"'),
    *('"\\u0061"', '"é"', '"\\u00e9"', '"type"', '"a."', '".a"', '"weird name"'),
)
PATHS: Final = ("a", "b", "a.b", "a.b.c", "b.c", "c.d", "é", "type", "", "a.", ".a", "a..b", "x")
_NUMBERS: Final = (
    *("0", "-0", "1", "-1", "1.0", "-0.0", "1e2", "1E-2", "0.1", "5e-324", "1e-400", "1e308"),
    *("9007199254740993", "9007199254740992.0", "9223372036854775807", "-9223372036854775808"),
    *("2.2250738585072014e-308", "1.7976931348623157e308", "123456789.123456789123456789"),
)
_STRINGS: Final = (
    *('""', '"a"', '"ab"', '"x"', '"1"', '"null"', '"é"', '"日本"', '"\\ud83d\\ude00"', '"[{"'),
    *('"\\u0000"', '"\\"}]\\\\"', '"\U0010ffff"', '"\\\\"', '"Stock"', '"\\/"', '"\u2028"'),
)
_ODD: Final = (
    *("1e400", "-1e400", "1.7976931348623159e308", "9223372036854775808", "-9223372036854775809"),
    *("18446744073709551615", "1" + "0" * 30, "-" + "9" * 5000, '"\\ud800"', '"\\udc00x"'),
    *('"\\ud800\\ud800"', "NaN", "-Infinity", "Infinity"),
)
_SPACES: Final = ("", "", "", "", " ", "\t", "\r", "  ")
_TOKENS: Final = (b"{", b"}", b"[", b"]", b'"', b",", b":", b"1", b"-", b".", b"e", b"\\", b"\xff")
_RARE: Final = (b"\x00", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x0b", b"true", b"null", b"\x80", b"/")


def json_text(draw: Random, *, odd: float = 0.03) -> bytes:
    """Return the text of an object. `odd` is the share of scalars that some readers refuse."""
    mark = "\ufeff" if draw.random() < 0.02 else ""
    return (mark + _object(draw, draw.choice((0, 1, 2, 3, 4)), odd)).encode()


def damaged(draw: Random, text: bytes) -> bytes:
    """Return the text with some bytes changed, left out, doubled or put in."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        at, end = sorted((draw.randint(0, len(text)), draw.randint(0, len(text))))
        match draw.randrange(6):
            case 0:
                text = text[:at] + draw.choice(_TOKENS) + text[at:]
            case 1:
                text = text[:at] + draw.choice(_RARE) + text[at:]
            case 2:
                text = text[:at] + draw.choice(_TOKENS) + text[at + 1 :]
            case 3:
                text = text[:at] + text[at + 1 :]
            case 4:
                text = text[:at] + text[at:end] + text[at:]
            case 5:
                text = text[:at] + text[end:]
    return text.replace(b"\n", b" ")


def _object(draw: Random, depth: int, odd: float) -> str:
    space = draw.choice(_SPACES)
    members = (
        f"{space}{draw.choice(KEYS)}{space}:{space}{_value(draw, depth, odd)}"
        for _ in range(draw.choice((0, 1, 2, 3, 5, 6)))
    )
    return "{" + f"{space},".join(members) + space + "}"


def _value(draw: Random, depth: int, odd: float) -> str:
    if depth <= 0 or draw.random() < 0.4:
        return _scalar(draw, odd)
    if draw.random() < 0.5:
        return _object(draw, depth - 1, odd)
    if draw.random() < 0.02:
        levels = draw.choice((5, 98, 99, 100, 101, 150))
        return "[" * levels + _scalar(draw, odd) + "]" * levels
    space = draw.choice(_SPACES)
    elements = (_value(draw, depth - 1, odd) for _ in range(draw.choice((0, 1, 2, 3))))
    return "[" + space + f"{space},".join(elements) + "]"


def _scalar(draw: Random, odd: float) -> str:
    if draw.random() < odd:
        return draw.choice(_ODD)
    if draw.random() < 0.25:
        return draw.choice(("null", "true", "false"))
    return draw.choice(_NUMBERS if draw.random() < 0.5 else _STRINGS)
