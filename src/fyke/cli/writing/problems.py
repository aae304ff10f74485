"""Problems with what is read, told on stderr as `fyke: events.jsonl:3: ...`."""

from __future__ import annotations

import contextlib
import sys
from typing import Final

from fyke.errors import FykeError, printable

SHOWN_MAX: Final = 100
"""Problems that one run shows on a terminal; a file or a pipe gets all of them."""


class Unusable(FykeError):
    """A command that cannot be carried out: a missing file, two options that exclude each other."""


class Problems:
    """Reports each problem when it is met and counts them."""

    def __init__(self) -> None:
        self.count = 0
        self._remarks = 0
        self._shown_max = SHOWN_MAX if _is_terminal() else None

    def report(self, place: str, problem: object) -> None:
        self.count += 1
        if self._shown_max is None or self.count <= self._shown_max:
            complain(f"{place}: {problem}")

    def remark(self, place: str, remark: object) -> None:
        """Mention something that can be read; it is no problem, and not counted as one."""
        self._remarks += 1
        if self._shown_max is None or self._remarks <= self._shown_max:
            complain(f"{place}: {remark}")

    def conclude(self) -> None:
        """Say how many were not shown."""
        if self._shown_max is not None and self.count > self._shown_max:
            complain(f"{self.count - self._shown_max} more problems; 2>FILE keeps all of them")


def complain(sentence: str) -> None:
    """Write a message to the person at the terminal. Nothing in it can move the cursor."""
    if sys.stderr is not None:
        lines = map(printable, sentence.split("\n"))
        with contextlib.suppress(OSError):  # the exit code says it too
            sys.stderr.write("fyke: " + "\n".join(lines) + "\n")
            sys.stderr.flush()


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
