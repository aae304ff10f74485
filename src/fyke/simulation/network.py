"""Network: how long messages take, and what a link does about frames that are lost.

A message takes the latency of its link, up to `jitter_s` more, and its turn behind those before it.
A link delivers messages once and in order (DAS-25). Below it, frames get lost and come twice: a
lost frame is sent again after a timeout and holds up those behind it, a second copy is thrown away.
So loss costs time and frames, never a message; only a broken link loses messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from random import Random
from typing import Final

from fyke.errors import FykeError, shown
from fyke.nodes.message import NodeId

PROBABILITY_MAX: Final = 0.99
"""With more, a frame might take for ever."""


@dataclass(frozen=True, slots=True)
class Network:
    """Seconds, bytes a second, and probabilities per frame; `links` has what differs by link.

    Network(latency_s=0.01, links={("a", "b"): {"bandwidth": 1e6}})
    """

    latency_s: float = 0.001
    bandwidth: float | None = None
    loss: float = 0.0
    duplication: float = 0.0
    timeout_s: float = 0.1
    jitter_s: float = 0.0
    """An addition up to this, drawn anew each time."""
    store_s: float = 0.0
    """Until a record is safe."""
    straight_loss: float = 0.0
    """The share of straight messages that get lost, as datagrams do; nobody is told."""
    links: Mapping[tuple[NodeId, NodeId], Mapping[str, float]] = field(default_factory=dict)
    """By link, in either order of its ends: what is different there, by the names above."""

    def __post_init__(self) -> None:
        for name in ("latency_s", "jitter_s", "timeout_s", "store_s"):
            self._check(name, 0, None)
        for name in ("loss", "duplication", "straight_loss"):
            self._check(name, 0, PROBABILITY_MAX)
        if self.bandwidth is not None:
            self._check("bandwidth", 1e-9, None)
        for a, b in self.links:
            self.of(a, b)

    def of(self, a: NodeId, b: NodeId) -> Network:
        """Return the network of one link."""
        own = {**self.links.get((a, b), {}), **self.links.get((b, a), {})}
        for name in own:
            if name not in _OF_LINKS:
                where = f"the link of {shown(a)} and {shown(b)}"
                raise FykeError(f"{where}: unknown {shown(name)}; expected {', '.join(_OF_LINKS)}")
        return replace(self, links={}, **own)

    def _check(self, name: str, least: float, most: float | None) -> None:
        value = getattr(self, name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and isfinite(value) and least <= value <= (value if most is None else most):
            return
        expected = "0 or more" if most is None else f"0 to {most}"
        if least:
            expected = "more than 0"
        raise FykeError(f"{name} is {shown(value)}; expected {expected}")


_OF_LINKS: Final = ("latency_s", "jitter_s", "bandwidth", "loss", "duplication", "timeout_s")


class Channel:
    """One direction of a link."""

    __slots__ = (
        *("_free", "_is_plain", "_last", "_latency_s", "_network", "_random"),
        *("copies", "is_up", "life", "resent"),
    )

    def __init__(self, network: Network, random: Random) -> None:
        self._network = network
        self._latency_s = network.latency_s
        self._is_plain = network == Network(network.latency_s)
        """Every message takes the latency."""
        self._random = random
        self._free = 0.0
        self._last = 0.0
        self.is_up = True
        self.life = 0
        """Grows when the link breaks: what left in an earlier life is lost."""
        self.resent = 0
        """Frames of the last message that got lost and were sent again."""
        self.copies = 0
        """Frames of the last message that came once more than they should."""

    def arrival(self, now: float, size: int) -> float:
        """Return the time when a message that leaves now arrives."""
        sent = now + self._latency_s if self._is_plain else self._sent(now, size)
        if sent > self._last:
            self._last = sent
        return self._last

    def _sent(self, now: float, size: int) -> float:
        """Return the time when a message has passed, regardless of messages before it."""
        network = self._network
        sent = now
        if network.loss or network.duplication:
            self.resent = self._times(network.loss)
            self.copies = self._times(network.duplication)
        if network.bandwidth is not None:
            frames = 1 + self.resent + self.copies
            sent = self._free = max(now, self._free) + frames * size / network.bandwidth
        sent += self.resent * network.timeout_s + network.latency_s
        if network.jitter_s:
            sent += self._random.random() * network.jitter_s
        return sent

    def _times(self, probability: float) -> int:
        """Return how often an event of this probability happens in a row."""
        times = 0
        while self._random.random() < probability:
            times += 1
        return times

    def break_(self) -> None:
        """Lose all messages on their way. Later messages do not queue behind them."""
        self.is_up = False
        self.life += 1
        self._free = self._last = 0.0
