"""Unread: an event that keeps the JSON it came in, and is read when somebody looks into it.

Idea. Most events are matched and passed on, and nobody looks into them. A matcher reads no more of
the text than its subscriptions ask for (`door`); the whole is read once, and strictly, by whoever
first asks for `attributes` or `document`. So a text that is no event is refused then.
"""

from __future__ import annotations

from fyke.errors import EventError
from fyke.events.event import Document, Event
from fyke.events.json import decode_event
from fyke.events.value import Value


class UnreadEvent(Event):
    """The event of a JSON text; `Event.from_json` makes it."""

    __slots__ = ("_read", "json")

    json: bytes

    def __init__(self, text: bytes | bytearray | memoryview | str) -> None:
        if isinstance(text, str):
            text = text.encode(errors="surrogatepass")  # refused where it is read
        if not isinstance(text, bytes | bytearray | memoryview):
            raise EventError(f"expected JSON text, not {text.__class__.__name__}")
        self.json = bytes(text)
        self.supertypes = ()
        self.payload = None
        self.encoded = None
        self._read: Event | None = None

    @property
    def unread(self) -> bytes | None:
        return self.json if self._read is None else None

    def _whole(self) -> Event:
        if self._read is None:
            self._read = decode_event(self.json)
        return self._read

    @property
    def attributes(self) -> dict[str, Value]:  # type: ignore[override]
        return self._whole().attributes

    @property
    def document(self) -> Document:  # type: ignore[override]
        return self._whole().document
