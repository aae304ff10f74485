"""Being told to stop: Ctrl-C and SIGTERM ask for an end, and end what runs when they come again."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Request:
    """A request to end; somebody has made it or not."""

    is_made: bool = False


@contextmanager
def stop_requests() -> Iterator[Request]:
    """Turn signals into a request while this lasts, if it is in the main thread."""
    request = Request()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return

    def ask(number: int, frame: FrameType | None) -> None:
        # Nothing else: a handler may run in the midst of anything.
        request.is_made = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    before = {number: signal.signal(number, ask) for number in _SIGNALS}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
