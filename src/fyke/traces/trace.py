"""Trace: what happened in an overlay, one record at a time, as JSON lines.

Every metric is a function of a trace (`metrics`). A record's names are short: there are millions.

    {"is":"told","t":0.0,"at":"b1","client":"c1","kind":"Publish","id":"e1"}
    {"is":"sent","t":0.0,"at":"b1","to":"b2","kind":"Publish","id":"e1","bytes":41}
    {"is":"delivered","t":0.001,"at":"b2","client":"c2","id":"e1","subscriptions":["s1"]}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from fyke.errors import FykeError
from fyke.nodes.message import EventId, Message, NodeId, Subscribe, SubscriptionId
from fyke.nodes.node import Stats


class Told(Struct, frozen=True, tag="told", tag_field="is"):
    """A client said something to its broker; `id` is that of the event or the subscription."""

    t: float
    at: NodeId
    client: NodeId
    kind: str
    id: str = ""


class Sent(Struct, frozen=True, omit_defaults=True, gc=False, tag="sent", tag_field="is"):
    """A message left a node."""

    t: float
    at: NodeId
    to: NodeId
    kind: str
    id: str
    bytes: int
    resent: int = 0
    """Frames that got lost below the link and were sent again."""
    copies: int = 0
    """Frames that came twice and were thrown away."""
    straight: bool = False
    """It went to a node by its name, not over a link."""


class Delivered(Struct, frozen=True, gc=False, tag="delivered", tag_field="is"):
    """A client got an event."""

    t: float
    at: NodeId
    client: NodeId
    id: EventId
    subscriptions: tuple[SubscriptionId, ...]


class Informed(Struct, frozen=True, tag="informed", tag_field="is"):
    """A client was told which schema is in force."""

    t: float
    at: NodeId
    client: NodeId
    schema: dict[str, Any]


class Accepted(Struct, frozen=True, tag="accepted", tag_field="is"):
    """A node gave an id to a message that came without one."""

    t: float
    at: NodeId
    to: NodeId
    about: str
    id: str


class Rejected(Struct, frozen=True, tag="rejected", tag_field="is"):
    """A node, or its runtime, did not accept a message."""

    t: float
    at: NodeId
    to: NodeId
    about: str
    reason: str


class Lost(Struct, frozen=True, tag="lost", tag_field="is"):
    """A message was on its way when its link broke or its receiver stopped."""

    t: float
    at: NodeId
    to: NodeId
    kind: str
    id: str


class Happened(Struct, frozen=True, tag="happened", tag_field="is"):
    """A fault or its end: cut, healed, crashed, restarted; or a broker was added or removed."""

    t: float
    what: str
    at: NodeId
    to: NodeId = ""


class Held(Struct, frozen=True, tag="held", tag_field="is"):
    """Stats of a node at this time."""

    t: float
    at: NodeId
    stats: Stats


class Linked(Struct, frozen=True, gc=False, tag="linked", tag_field="is"):
    """The ring links of a peer's subscription at this time, all by their ids."""

    t: float
    at: NodeId
    id: SubscriptionId
    sequence: int
    to: tuple[SubscriptionId, ...]


Record: TypeAlias = (
    Told | Sent | Delivered | Informed | Accepted | Rejected | Lost | Happened | Held | Linked
)


def name_of(message: Message) -> tuple[str, str]:
    """Return the kind of a message, and the id of its event or subscription."""
    if isinstance(message, Subscribe):
        return "Subscribe", message.subscription.id
    return type(message).__name__, getattr(message, "id", "")


_DECODER: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Record)


def read(path: str | Path) -> Iterator[Record]:
    """Yield the records of a file. FykeError names the line that is not a record."""
    try:
        with Path(path).open("rb") as lines:
            yield from _records(lines, path)
    except (OSError, ValueError) as refused:
        raise FykeError(f"{path}: {getattr(refused, 'strerror', None) or refused}") from None


def _records(lines: Iterable[bytes], path: str | Path) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        try:
            yield _DECODER.decode(line)
        except (msgspec.DecodeError, RecursionError) as refused:
            raise FykeError(f"{path}, line {number}: {refused}") from None


def lines(records: Iterable[Record]) -> bytes:
    """Return records as JSON lines."""
    return _ENCODER.encode_lines(records)


_ENCODER: Final = msgspec.json.Encoder()
