"""Network: how long messages take, and what a link does about frames that are lost.

A link delivers messages once and in order (DAS-25). Below it, frames get lost and come twice: a
lost frame is sent again after a timeout and holds up those behind it, a second copy is thrown away.
So loss costs time and frames, never a message; only a broken link loses messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from fyke.errors import FykeError, shown


@dataclass(frozen=True, slots=True)
class Network:
    """The same for all links, seconds and bytes a second; probabilities per frame."""

    latency_s: float = 0.001
    bandwidth: float | None = None
    loss: float = 0.0
    duplication: float = 0.0
    timeout_s: float = 0.1
    store_s: float = 0.0
    """Until a record is safe."""

    def __post_init__(self) -> None:
        for name in ("latency_s", "timeout_s", "store_s"):
            if not getattr(self, name) >= 0:
                raise FykeError(f"{name} is {shown(getattr(self, name))}; expected 0 or more")
        for name in ("loss", "duplication"):
            if not 0 <= getattr(self, name) < 1:
                raise FykeError(f"{name} is {shown(getattr(self, name))}; expected 0 to below 1")
        if self.bandwidth is not None and not self.bandwidth > 0:
            raise FykeError(f"bandwidth is {shown(self.bandwidth)}; expected more than 0")


class Channel:
    """One direction of a link."""

    __slots__ = ("_free", "_last", "_network", "_random", "frames", "is_up", "life")

    def __init__(self, network: Network, random: Random) -> None:
        self._network = network
        self._random = random
        self._free = 0.0
        self._last = 0.0
        self.is_up = True
        self.life = 0
        """Grows when the link breaks: what left in an earlier life is lost."""
        self.frames = 0

    def arrival(self, now: float, size: int) -> float:
        """When a message that leaves now arrives."""
        network = self._network
        sent = now
        if network.bandwidth is not None:
            sent = self._free = max(now, self._free) + size / network.bandwidth
        self.frames += 1
        if network.loss or network.duplication:
            sent += self._troubles() * network.timeout_s
        self._last = max(self._last, sent + network.latency_s)
        return self._last

    def _troubles(self) -> int:
        """How often the frame got lost."""
        lost = 0
        while self._random.random() < self._network.loss:
            lost += 1
        self.frames += lost
        while self._random.random() < self._network.duplication:
            self.frames += 1
        return lost

    def break_(self) -> None:
        self.is_up = False
        self.life += 1
