"""The contract of a log: records in one order, numbered from 0, that stay as they are.

Whatever keeps records can stand behind it: a folder of this machine (`disk`), a broker elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fyke.errors import FykeError, shown

WRITER_MAX: Final = 1000
"""Bytes of a writer's name."""


@dataclass(frozen=True, slots=True)
class Record:
    """A value at its place; `time` is when it was appended, in microseconds since 1970."""

    offset: int
    time: int
    value: str


@dataclass(frozen=True, slots=True)
class Origin:
    """The writer of a batch and the batch's number. Numbers grow, and each is appended once."""

    writer: str
    batch: int

    def __post_init__(self) -> None:
        if not 0 < len(self.writer.encode("utf-8", "replace")) <= WRITER_MAX:
            raise FykeError(f"writer={shown(self.writer)}; expected 1 to {WRITER_MAX} bytes")
        if not 0 <= self.batch < 2**63:
            raise FykeError(f"batch={shown(self.batch)}; expected a number from 0 on")


class Log(ABC):
    """Records in order.

    Law: what `append` was given and returned from is there for good, whole, once, at consecutive
    offsets; `read(a, b)` gives the records a, a+1, .. b-1 and always the same ones, for b <= end().
    """

    @abstractmethod
    def append(self, values: Sequence[str], origin: Origin | None = None) -> int:
        """Append all of the values or none. Return the end after them; they are on the disk then.

        If the origin's batch was appended before, or a later one of the same writer, nothing
        happens.
        """

    @abstractmethod
    def read(self, start: int, end: int) -> Iterator[Record]:
        """Yield the records from `start` on, up to and without `end`."""

    @abstractmethod
    def end(self) -> int:
        """Return the offset of the next record, which is the number of records. It never falls."""
