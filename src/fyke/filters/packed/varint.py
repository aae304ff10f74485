"""Lengths and texts as bytes: seven bits a byte, the lowest first; a text has its length in front.

The readers return a value and where it ends. They do not look whether that is within the data:
whoever reads the last value finds the end where it should be, or the data is cut.
"""

from __future__ import annotations

from typing import Final

_BYTES_MAX: Final = 5
_SHORT: Final = tuple(bytes([size]) for size in range(128))


def varint(number: int) -> bytes:
    """Encode a number of at most 35 bits."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number; IndexError at the end of the data, ValueError if it is too long."""
    number = 0
    for shift in range(0, 7 * _BYTES_MAX, 7):
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise ValueError("a number has too many bytes")


def pack_text(text: str) -> bytes:
    """Encode a text with its length; UnicodeEncodeError if it holds a lone surrogate."""
    data = text.encode()
    size = len(data)
    return (_SHORT[size] if size < 128 else varint(size)) + data


def read_text(data: bytes, at: int) -> tuple[str, int]:
    size = data[at]
    at += 1
    if size > 127:
        size, at = read_varint(data, at - 1)
    end = at + size
    return data[at:end].decode(), end
