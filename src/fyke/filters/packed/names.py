"""Names: the names that many packed filters share, each under a small number.

Attributes, types and dialects are few and occur everywhere, so a packed filter holds their numbers.
A number takes one byte up to 127, two beyond. Numbers are given out once and stay, because packed
filters hold them; so that a history of ever new names cannot grow the table without end, it takes
`NAMES_MAX` names of at most `NAME_SIZE_MAX` bytes. Any other name stands in the filter itself,
behind the number 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError
from fyke.filters.packed.varint import pack_text, read_text, read_varint, varint

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NAMES_MAX: Final = 2**14 - 1
NAME_SIZE_MAX: Final = 255
_SMALL: Final = 128


class NameTable:
    """Names from number 1 on."""

    __slots__ = ("_codes", "_names")

    def __init__(self) -> None:
        self._names = [""]
        self._codes: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._codes)

    def pack(self, name: str) -> bytes:
        """Return the bytes that stand for a name in a filter. A new name gets a number."""
        try:
            return self._codes[name]
        except KeyError:
            return self._new(name)

    def _new(self, name: str) -> bytes:
        text = pack_text(name)
        if len(self._names) > NAMES_MAX or len(text) > NAME_SIZE_MAX + 2:
            return b"\0" + text
        code = self._codes[name] = varint(len(self._names))
        self._names.append(name)
        return code

    def read(self, data: bytes, at: int) -> tuple[str, int]:
        """Read the name at a place. Return it and its end; IndexError if no name has the number."""
        number = data[at]
        if 0 < number < _SMALL:
            return self._names[number], at + 1
        number, at = read_varint(data, at)
        return (self._names[number], at) if number else read_text(data, at)

    # --- the snapshot

    def array(self) -> npt.NDArray[np.uint8]:
        """Return all names, in the order of their numbers."""
        import numpy as np

        return np.frombuffer(b"".join(map(pack_text, self._names[1:])), np.uint8)

    @classmethod
    def of(cls, array: npt.NDArray[np.uint8]) -> NameTable:
        """Read the table that an array holds; FykeError if it holds none."""
        table, data, at = cls(), array.tobytes(), 0
        while at < len(data):
            try:
                name, at = read_text(data, at)
            except (IndexError, ValueError):
                raise FykeError("the table of names is corrupt") from None
            table._new(name)
        if at != len(data) or len(table) != len(table._names) - 1:
            raise FykeError("the table of names is corrupt")
        return table
