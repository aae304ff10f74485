"""Everything Fyke raises on purpose.

    FykeError
    ├── FilterError     a filter that cannot be read: text, position, what was expected
    ├── EventError      an event that cannot be read: the attribute or the place, what was expected
    └── SchemaError     a schema that contradicts itself, or a value outside its domain

    FilterWarning       a filter that can be read and probably means something else (a warning)

Each error builds its own sentence and is addressed to the person who can act on it.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_SHOWN_MAX = 72


def printable(text: str) -> str:
    """Return the text with everything escaped that a terminal would not show as itself."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class FykeError(Exception):
    """Base of all errors that Fyke raises on purpose."""


class FilterError(FykeError):
    """A filter that cannot be read.

    `position` counts characters from 0 in `text`; both are None if the filter did not come from
    text. `meant` is what was probably meant, as it is written.
    """

    def __init__(
        self,
        problem: str,
        *,
        text: str | None = None,
        position: int | None = None,
        expected: str | None = None,
        meant: str | None = None,
    ) -> None:
        self.problem = problem
        self.text = text
        self.position = position
        self.expected = expected
        self.meant = meant
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        sentence = self.problem
        if self.expected is not None:
            sentence += f"; expected {self.expected}"
        if self.meant is not None:
            sentence += f"; did you mean `{self.meant}`?"
        if self.text is None or self.position is None:
            return sentence
        return f"{sentence} (at position {self.position})\n{caret(self.text, self.position)}"


class BudgetWarning(UserWarning):
    """A budget that cannot be met: what can be pruned is."""


class FilterWarning(UserWarning):
    """A filter that can be read and probably means something else, as `symbol = "A"` does."""


class EventError(FykeError):
    """An event that cannot be read. `attribute` names the path at fault where there is one."""

    def __init__(self, problem: str, *, attribute: str | None = None) -> None:
        self.problem = problem
        self.attribute = attribute
        where = "" if attribute is None else f"attribute {shown(attribute)}: "
        super().__init__(where + problem)


class SchemaError(FykeError):
    """A schema that contradicts itself, or an event that does not fit it.

    `meant` is the declared name that was probably meant.
    """

    def __init__(
        self,
        problem: str,
        *,
        attribute: str | None = None,
        type_name: str | None = None,
        meant: str | None = None,
    ) -> None:
        self.problem = problem
        self.attribute = attribute
        self.type_name = type_name
        self.meant = meant
        where = "" if type_name is None else f"type {shown(type_name)}: "
        where += "" if attribute is None else f"attribute {shown(attribute)}: "
        offer = "" if meant is None else f"; did you mean `{meant}`?"
        super().__init__(where + problem + offer)


def warn_outside(sentence: str, category: type[Warning]) -> None:
    """Warn at the line that called into this package, however deep inside the reason is."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_inside(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, category, stacklevel=level)


def _is_inside(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "fyke"


def shown(value: object) -> str:
    """Return a short, printable form of a value that came from outside."""
    if isinstance(value, str):
        value = shortened(value)
        return shortened(repr(value) if value.isprintable() else ascii(value))
    try:
        return shortened(repr(value))
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to show"


def shortened(text: str) -> str:
    """Return the beginning of a text that may be long."""
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 1] + "…"


def caret(text: str, position: int) -> str:
    """Return the line of `text` around `position`, with a caret below it."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    left = max(start, position - _SHOWN_MAX // 2)
    right = min(end, left + _SHOWN_MAX)
    line = ("…" if left > start else "") + text[left:right] + ("…" if right < end else "")
    line = "".join(c if c.isprintable() else "�" for c in line)
    return f"  {line}\n  {' ' * (position - left + (left > start))}^"
