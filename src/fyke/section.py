"""A table of a TOML file, read key by key.

Every key is asked for once; what was not asked for is unknown. A sentence about a value names the
file, the key and what was expected:

    pipeline.toml: events.count is 'many'; expected a whole number from 1 on
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from fyke.errors import FykeError, shown
from fyke.sizes import read_size


class Section:
    """A table and where it stands; `name` is empty for the file as a whole."""

    def __init__(self, place: str, name: str, values: Mapping[str, Any]) -> None:
        self._place = place
        self._name = name
        self._left = dict(values)
        self._asked: list[str] = []

    @classmethod
    def read(cls, path: str | Path) -> Section:
        """Read the whole of a file."""
        try:
            text = Path(path).read_bytes().decode()
        except (OSError, ValueError) as refused:
            raise FykeError(f"{path}: {_reason(refused)}") from None
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, place: str) -> Section:
        """Read the whole of a text; `place` is its name in errors."""
        try:
            document = tomllib.loads(text.removeprefix("\ufeff"))
        except (tomllib.TOMLDecodeError, RecursionError) as refused:
            raise FykeError(f"{place}: not TOML: {refused}") from None
        return cls(place, "", document)

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def offers(self, key: str) -> bool:
        """Return True if a key is there. It counts as one that may be there."""
        self._asked.append(key)
        return key in self._left

    def text(self, key: str, default: str | None = None) -> str | None:
        """Return text that is not empty."""
        value = self._value(key, default)
        if value is not None and (not isinstance(value, str) or not value):
            self._refuse(key, value, "text")
        return value

    def needed(self, key: str, expected: str) -> str:
        """Return text that has to be there."""
        value = self.text(key)
        if value is None:
            self._miss(key, expected)
        return value

    def choice(self, key: str, choices: Iterable[str], default: str) -> str:
        value, known = self._value(key, default), list(choices)
        if not isinstance(value, str) or value not in known:
            self._refuse(key, value, f"one of {', '.join(known)}")
        return value

    def whole(self, key: str, default: int | None, least: int) -> int:
        """Return a whole number; without a default it has to be there."""
        value = self._value(key, default)
        if value is None:
            self._miss(key, f"a whole number from {least} on")
        if type(value) is not int or value < least:
            self._refuse(key, value, f"a whole number from {least} on")
        return value

    def seconds(self, key: str, default: float) -> float:
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
            self._refuse(key, value, "a number of seconds")
        return float(value)

    def number(self, key: str, default: float, least: float = 0.0) -> float:
        """Return a finite number, whole or not."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            self._refuse(key, value, "a number")
        if value < least:
            self._refuse(key, value, f"a number from {least:g} on")
        return float(value)

    def size(self, key: str) -> int | None:
        """Return bytes, written as a number or as in "64 kB"; None if the key is missing."""
        value = self._value(key, None)
        try:
            return None if value is None else read_size(value)
        except FykeError:
            self._refuse(key, value, "bytes, as in 64000 or '64 kB'")

    def share(self, key: str, default: float) -> float:
        """Return a number from 0 to 1."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self._refuse(key, value, "a share from 0 to 1")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self._value(key, default)
        if type(value) is not bool:
            self._refuse(key, value, "true or false")
        return value

    def items(self, key: str, expected: str) -> list[Any]:
        """Return a list of any values; an empty one if the key is missing."""
        value = self._value(key, [])
        if not isinstance(value, list):
            self._refuse(key, value, expected)
        return value

    def options(self, key: str) -> dict[str, Any]:
        """Return a table whose keys are not ours."""
        value = self._value(key, {})
        if not isinstance(value, dict):
            self._refuse(key, value, "a table")
        return value

    def section(self, key: str) -> Section:
        """Return a table within; an empty one if the key is missing."""
        return Section(self._place, self._path(key), self.options(key))

    def within(self, place: str, values: Mapping[str, Any]) -> Section:
        """Return a table that was found inside of this one."""
        return Section(self._place, self._path(place), values)

    def end(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self._left:
            expected = ", ".join(dict.fromkeys(self._asked))
            self.fail(f"{self._path(key)} is unknown; expected {expected}")

    def _miss(self, key: str, expected: str) -> NoReturn:
        """Raise the error of a key that is not there; one that is nearly it is named."""
        written = get_close_matches(key, self._left, n=1)
        offer = f"; is {self._path(written[0])} meant for it?" if written else ""
        self.fail(f"{self._path(key)} is missing; expected {expected}{offer}")

    def fail(self, problem: str) -> NoReturn:
        raise FykeError(f"{self._place}: {problem}")

    def _value(self, key: str, default: Any) -> Any:
        self._asked.append(key)
        return self._left.pop(key, default)

    def _refuse(self, key: str, value: object, expected: str) -> NoReturn:
        self.fail(f"{self._path(key)} is {shown(value)}; expected {expected}")

    def _path(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key


def _reason(refused: OSError | ValueError) -> str:
    if isinstance(refused, UnicodeDecodeError):
        return f"not UTF-8 at byte {refused.start}"
    return getattr(refused, "strerror", None) or str(refused)
