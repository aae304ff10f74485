"""Inputs: what a node is told."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from fyke.nodes.effect import Key
from fyke.nodes.message import Message, NodeId


class Received(Struct, frozen=True, gc=False):
    """A message came over a link, from a client, or straight from a node anywhere.

    The runtime says that a message came straight, and from a node. No client can say so.
    """

    sender: NodeId
    message: Message
    is_straight: bool = False


class Unreachable(Struct, frozen=True):
    """A message could not be sent: the node's name is unknown, or it does not answer."""

    peer: NodeId
    message: Message


class Tick(Struct, frozen=True):
    """The time of a `Wake` has come. Ticks may come more often than asked for."""


class Joined(Struct, frozen=True):
    """A node is a neighbour from now on. Its link is not up yet."""

    peer: NodeId


class Left(Struct, frozen=True):
    """A node is no longer a neighbour, and does not come back."""

    peer: NodeId


class LinkUp(Struct, frozen=True):
    """The link to a neighbour or a client works. No earlier message is still on its way."""

    peer: NodeId
    is_client: bool = False


class LinkDown(Struct, frozen=True):
    """A link works no longer. Messages on their way may be lost; the other node may still run."""

    peer: NodeId


class Stored(Struct, frozen=True):
    """The record under a key is safe."""

    key: Key


class Recovered(Struct, frozen=True):
    """The safe records of this node's earlier life; the first input, if there were any."""

    records: dict[Key, Message]


Input: TypeAlias = (
    Received | Unreachable | Tick | Joined | Left | LinkUp | LinkDown | Stored | Recovered
)
