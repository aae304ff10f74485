"""A trace on its way to a file: records are written as they come, in pieces; memory stays small.

    with TraceFile("trace.jsonl") as trace:
        Simulation(topology, make, write=trace.write).run()

The file has its name only once it is whole: until then, and if the run fails, there is none.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import BinaryIO, Final

from fyke.errors import FykeError
from fyke.traces.trace import Record, lines

PIECE: Final = 2_000
"""Records that are held before they are written."""


class TraceFile:
    """Takes records; one run, one file."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.records = 0
        self._held: list[Record] = []
        self._staging = self.path.with_name(
            f"{self.path.name}.{os.getpid()}-{secrets.token_hex(4)}.new"
        )
        self._stream: BinaryIO | None = None

    def __enter__(self) -> TraceFile:
        try:
            self._stream = self._staging.open("xb")
        except (OSError, ValueError) as refused:
            raise self._failed(refused) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: object,
    ) -> None:
        try:
            if kind is None:
                self._flush()
            self._open().close()
            if kind is None:
                self._staging.replace(self.path)
        except OSError as refused:
            raise self._failed(refused) from error
        finally:
            self._staging.unlink(missing_ok=True)

    def write(self, record: Record) -> None:
        self._held.append(record)
        if len(self._held) >= PIECE:
            self._flush()

    def _flush(self) -> None:
        try:
            self._open().write(lines(self._held))
        except OSError as refused:
            raise self._failed(refused) from None
        self.records += len(self._held)
        self._held.clear()

    def _open(self) -> BinaryIO:
        if self._stream is None:
            raise FykeError(f"{self.path}: the trace is not open")
        return self._stream

    def _failed(self, refused: OSError | ValueError) -> FykeError:
        return FykeError(f"{self.path}: {getattr(refused, 'strerror', None) or refused}")
