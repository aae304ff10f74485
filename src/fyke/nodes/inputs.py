"""Inputs: what a node is told."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from fyke.nodes.message import Message, NodeId


class Received(Struct, frozen=True):
    """A message came over a link, or straight from a node that is no neighbour."""

    sender: NodeId
    message: Message


class Tick(Struct, frozen=True):
    """The time has come that a `Wake` asked for."""


class LinkUp(Struct, frozen=True):
    """A link to another node works; nothing of what was said before is on its way any more."""

    peer: NodeId
    is_client: bool = False


class LinkDown(Struct, frozen=True):
    """It no longer does. What was on its way may be lost; the other node may be gone or not."""

    peer: NodeId


class Stored(Struct, frozen=True):
    """What was to be stored under a key is safe."""

    key: str


class Recovered(Struct, frozen=True):
    """What was safe when this node's forerunner stopped; the first input, if there is any."""

    records: dict[str, Message]


Input: TypeAlias = Received | Tick | LinkUp | LinkDown | Stored | Recovered
