"""Inputs: what a node is told."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from fyke.nodes.effect import Key
from fyke.nodes.message import Message, NodeId


class Received(Struct, frozen=True, gc=False):
    """A message came: over a link, from a client, or straight from a node that need not be near.

    That it came straight, and from a node, is the runtime's word; no client can say so.
    """

    sender: NodeId
    message: Message
    is_straight: bool = False


class Unreachable(Struct, frozen=True):
    """A node could not be sent a message: its name is unknown, or nobody answers there."""

    peer: NodeId
    message: Message


class Tick(Struct, frozen=True):
    """The time has come that a `Wake` asked for. It may come more often than asked."""


class Joined(Struct, frozen=True):
    """A node is a neighbour from now on. Its link is not up yet."""

    peer: NodeId


class Left(Struct, frozen=True):
    """A neighbour is none any more, and does not come back."""

    peer: NodeId


class LinkUp(Struct, frozen=True):
    """The link to a neighbour or a client works; nothing said before is on its way any more."""

    peer: NodeId
    is_client: bool = False


class LinkDown(Struct, frozen=True):
    """It no longer does. What was on its way may be lost; the other node may be gone or not."""

    peer: NodeId


class Stored(Struct, frozen=True):
    """What was to be stored under a key is safe."""

    key: Key


class Recovered(Struct, frozen=True):
    """What was safe when this node's forerunner stopped; the first input, if there is any."""

    records: dict[Key, Message]


Input: TypeAlias = (
    Received | Unreachable | Tick | Joined | Left | LinkUp | LinkDown | Stored | Recovered
)
