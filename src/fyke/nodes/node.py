"""Node: an input and the time in, effects out.

Law. What a node does depends on its inputs, their times and the random numbers it was given, and on
nothing else: no clock, socket, thread, disk or global random inside. What must survive a crash
leaves as `Store` and comes back as `Recovered`. A message from outside never raises: what cannot be
accepted leaves as `Reject`.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from fyke.nodes.effect import Effect
from fyke.nodes.inputs import Input


class Stats(Struct):
    """Sizes and counts of a node: one record for all kinds of nodes.

    Sizes are as of now, counts are from the start.
    """

    subscriptions: int = 0
    """Of its own clients."""
    rows: int = 0
    """Subscriptions heard from neighbours."""
    filtered: int = 0
    """Rows and subscriptions that events are held against."""
    forwarded: int = 0
    """Subscriptions that neighbours hold because of this node."""
    matched: int = 0
    """Events held against them."""
    probes: int = 0
    candidates: int = 0
    checks: int = 0
    covering_tests: int = 0
    rejected: int = 0
    bytes: int = 0
    """Of what it filters for neighbours and has told them, about."""
    own_bytes: int = 0
    """Of these, those of its own clients' subscriptions, which are never pruned."""
    pruned: int = 0
    """Rows that are wider than what neighbours said, for want of memory."""
    saved: int = 0
    """Bytes that this saves."""
    stage: int = 0
    """In a tree of stages: one more than that of the highest child."""


class Node(Protocol):
    """A broker, or a peer."""

    def handle(self, input: Input, now: float) -> list[Effect]: ...

    def stats(self) -> Stats: ...
