"""Reading ahead: a thread decompresses the next pieces of a file while others are matched.

Decompression runs outside of Python's lock, so it takes another core. A few pieces wait at most.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

PIECE: Final = 1 << 20
"""Bytes that are decompressed at a time."""
WAITING_MAX: Final = 4
"""Pieces that wait."""


class ReadAhead:
    """Bytes of a stream, read by a thread until it is stopped."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._waiting: queue.Queue[bytes | Exception] = queue.Queue(WAITING_MAX)
        self._is_stopped = threading.Event()
        self._left = b""
        self._end: bytes | Exception | None = None
        self._thread = threading.Thread(target=self._run, name="fyke-read-ahead", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        piece: bytes | Exception = b"?"
        while piece and not isinstance(piece, Exception) and not self._is_stopped.is_set():
            try:
                piece = self._read(PIECE)
            except Exception as refused:
                piece = refused
            while not self._is_stopped.is_set():
                try:
                    self._waiting.put(piece, timeout=0.1)
                    break
                except queue.Full:
                    continue

    def read1(self, size: int = PIECE) -> bytes:
        """Return some bytes, as they come; none at the end. What reading raised is raised here."""
        if not self._left and self._end is None:
            piece = self._waiting.get()
            if isinstance(piece, Exception) or not piece:
                self._end = piece
            else:
                self._left = piece
        if isinstance(self._end, Exception):
            raise self._end
        part, self._left = self._left[:size], self._left[size:]
        return part

    read = read1

    def stop(self) -> None:
        """End the thread; the stream may be closed afterwards."""
        self._is_stopped.set()
        self._thread.join()


@contextmanager
def read_ahead(read: Callable[[int], bytes]) -> Iterator[ReadAhead]:
    """Read ahead while the block runs."""
    ahead = ReadAhead(read)
    try:
        yield ahead
    finally:
        ahead.stop()
