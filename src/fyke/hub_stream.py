"""Stream: the events that a filter accepts, for a coroutine that reads them one after the other.

    async with hub.stream("price < 10") as events:
        async for event in events:
            ...

Idea. The stream is a callback of the hub with a queue. The queue is bounded, so that a reader that
falls behind costs no more memory than that. A publisher never waits for it.

When the queue is full:

    "end"       the stream ends: the reader gets what waits, and then a StreamOverflow. So no event
                is lost unnoticed. This is the default.
    "drop"      the oldest event makes room, and `dropped` counts it.

Events are published from any thread. The stream begins when it is made, not when it is first read.
It ends with `close()` and with its `async with` block. One that nobody holds any more ends with the
next event that it would get.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias, get_args

from fyke.errors import FykeError, shown

WhenFull: TypeAlias = Literal["end", "drop"]
SIZE: Final = 1_000
"""Events that wait, unless somebody says otherwise."""


class StreamOverflow(FykeError):
    """A reader fell behind, and its stream has ended; events that came since are not in it."""


class Stream:
    """An asynchronous iterator over events. Several readers share the events between them."""

    def __init__(self, size: int = SIZE, when_full: WhenFull = "end") -> None:
        if type(size) is not int or size < 1:
            raise FykeError(f"size is {shown(size)}; expected 1 or more")
        if when_full not in get_args(WhenFull):
            raise FykeError(f"when_full is {shown(when_full)}; expected 'end' or 'drop'")
        self.size = size
        self.dropped = 0
        """The number of events that made room for others."""
        self._drops = when_full == "drop"
        self._events: deque[Any] = deque()
        self._readers: set[asyncio.Future[None]] = set()
        self._lock = threading.Lock()
        self._is_open = True
        self._overflow = False
        self._end: Callable[[], object] = lambda: None

    def attach(self, subscribe: Callable[[Callable[[Any], None]], Callable[[], None]]) -> None:
        """Begin: `subscribe` takes the callback and returns what ends the subscription."""
        this = weakref.ref(self)

        def put(event: Any) -> None:
            stream = this()
            if stream is None:  # no finalizer ends it, for these run while locks are held
                end()
            else:
                stream._put(event)

        self._end = end = subscribe(put)

    def _put(self, event: Any) -> None:
        with self._lock:
            if not self._is_open:
                return
            if len(self._events) >= self.size:
                if self._drops:
                    self._events.popleft()
                    self.dropped += 1
                else:
                    self._is_open, self._overflow = False, True
            if self._is_open:
                self._events.append(event)
            readers = list(self._readers)
        self._wake(readers)
        if self._overflow:
            self._end()

    def close(self) -> None:
        """End the stream: a reader gets what waits, and no more. Closing twice does nothing."""
        with self._lock:
            self._is_open = False
            readers = list(self._readers)
        self._wake(readers)
        self._end()

    async def aclose(self) -> None:
        """Do what `close` does, for whoever closes by `contextlib.aclosing`."""
        self.close()

    def _wake(self, readers: list[asyncio.Future[None]]) -> None:
        for reader in readers:
            try:
                reader.get_loop().call_soon_threadsafe(_finish, reader)
            except RuntimeError:  # its loop has been closed
                with self._lock:
                    self._readers.discard(reader)

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Any:
        while True:
            with self._lock:
                if self._events:
                    return self._events.popleft()
                if self._overflow:
                    self._overflow = False
                    raise StreamOverflow(
                        f"the stream has ended: {self.size} events waited and one more came; read"
                        " faster, or give it a larger size= or when_full='drop'"
                    )
                if not self._is_open:
                    raise StopAsyncIteration
                reader = asyncio.get_running_loop().create_future()
                self._readers.add(reader)
            try:
                await reader
            finally:
                with self._lock:
                    self._readers.discard(reader)

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Return how many events wait."""
        return len(self._events)

    def __repr__(self) -> str:
        state = "open" if self._is_open else "ended"
        return f"<Stream, {state}, {len(self)} of {self.size} waiting, {self.dropped} dropped>"


def _finish(reader: asyncio.Future[None]) -> None:
    if not reader.done():
        reader.set_result(None)
