"""A rule as plain values: dicts with text keys, lists, and scalars.

YAML reads `0x17` as 23 and `yes` as true, but a rule may mean the text that it shows: `Written`
holds both. A rule that arrives parsed has lost that text.

What stands outside of `detection` decides nothing. There a value that cannot be compared, such as
an integer beyond 64 bits, is kept as text instead of being refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, TypeAlias

from fyke.errors import EventError, FilterError, shown
from fyke.events.value import admit
from fyke.limits import Limits

DETECTION: Final = "detection"


@dataclass(frozen=True, slots=True, repr=False)
class Written:
    """A number or a boolean, and the text in which the rule writes it."""

    value: bool | int | float
    text: str

    def __repr__(self) -> str:
        return self.text


Value: TypeAlias = Written | bool | int | float | str | None
Plain: TypeAlias = Value | list["Plain"] | dict[str, "Plain"]


def copy_plain(given: object, limits: Limits) -> Plain:
    """Copy nested dictionaries and lists, checked, within the limits on depth and size."""
    return _Copy(limits).value(given, 1)


def copy_rule(given: object, limits: Limits) -> Plain:
    """Return a checked copy of a rule, tolerant of what stands outside of its detection."""
    if not isinstance(given, Mapping):
        return copy_plain(given, limits)
    copy = _Copy(limits)
    detection = copy.map({DETECTION: given[DETECTION]} if DETECTION in given else {}, 1)
    copy.tolerant = True
    return copy.map({key: given[key] for key in given if key != DETECTION}, 1) | detection


class _Copy:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.nodes_max
        self.tolerant = False

    def value(self, given: object, depth: int) -> Plain:
        self.left -= 1
        if self.left < 0:
            raise FilterError(f"the rule holds more than {self.limits.nodes_max} values")
        if not isinstance(given, (Mapping, list, tuple)):
            return self._scalar(given)
        if depth > self.limits.depth_max:
            raise FilterError(f"the rule is nested deeper than {self.limits.depth_max} levels")
        if isinstance(given, Mapping):
            return self.map(given, depth)
        return [self.value(element, depth + 1) for element in given]

    def map(self, given: Mapping[Any, object], depth: int) -> dict[str, Plain]:
        copy: dict[str, Plain] = {}
        for key, value in given.items():
            name = self._name(key)
            if name in copy and not self.tolerant:
                raise FilterError(f"the key {shown(name)} is given twice")
            copy[name] = self.value(value, depth + 1)
        return copy

    def _name(self, key: object) -> str:
        name = self._scalar(key)
        if isinstance(name, bool) or not isinstance(name, (str, int)):
            if self.tolerant:
                return shown(key)
            raise FilterError(f"the key {shown(key)} is not a name")
        return str(name)

    def _scalar(self, given: object) -> Value:
        if isinstance(given, date):
            return given.isoformat()
        try:
            return admit(given)  # type: ignore[return-value]
        except EventError as error:
            if self.tolerant:
                return shown(given)
            raise FilterError(f"the rule cannot be read: {error.problem}") from None
