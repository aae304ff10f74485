"""Leases: a request that is not renewed ends by itself.

Idea. A node that wants something says so again every period; one that has not been heard for
several periods (the grace) is taken for gone, and its requests end. Nothing has to be unsubscribed,
and a broker that never comes back leaves nothing behind. A renewal carries a digest of all that it
renews, so it has the same few bytes for one subscription and for a thousand; a receiver that holds
something else asks.

    period 10 s, grace 3        renewed at 0, 10, 20; cut off at 25; ends at 50

Invariant. A request that is renewed in every period never ends. One that is no longer renewed ends
within the grace and a period.
Cost. A message for each neighbour and period, whatever is wanted.
Source. MSF-28 to MSF-30; MSF-Q7: the prose says one period, the algorithm three.
"""

from __future__ import annotations

from hashlib import blake2b
from math import inf, isfinite
from typing import Final

from fyke.errors import FykeError, shown
from fyke.filters import codec
from fyke.filters.filter import Filter
from fyke.nodes.alarm import Alarm
from fyke.nodes.effect import Wake
from fyke.nodes.message import NodeId, SubscriptionKey

GRACE: Final = 3
"""Periods for which a request is kept without a renewal."""


class Leases:
    """The times of the last renewals, by name. Without a period nothing ends."""

    def __init__(self, period_s: float | None, grace: int = GRACE) -> None:
        if period_s is not None and not (isfinite(period_s) and period_s > 0):
            raise FykeError(f"lease_s is {shown(period_s)}; expected more than 0 seconds")
        if grace < 2:
            raise FykeError(f"grace is {shown(grace)}; expected 2 periods or more")
        self.period_s = inf if period_s is None else period_s
        self.grace_s = self.period_s * grace
        self._heard: dict[NodeId, float] = {}
        self._alarm = Alarm()

    def __bool__(self) -> bool:
        return self.period_s < inf

    def begin(self, now: float) -> list[Wake]:
        """Return the time to be woken at, unless that is agreed."""
        return self._alarm.set(now + self.period_s, is_background=True) if self else []

    def is_over(self, now: float) -> bool:
        """Return True once in every period; the next begins."""
        return self._alarm.is_over(now)

    def renew(self, name: NodeId, now: float) -> None:
        if self:
            self._heard[name] = now

    def end(self, name: NodeId) -> None:
        self._heard.pop(name, None)

    def end_lapsed(self, now: float) -> list[NodeId]:
        """Return the names whose grace is over, and forget them."""
        gone = [name for name, at in self._heard.items() if now - at > self.grace_s]
        for name in gone:
            del self._heard[name]
        return gone


def digest(filters: dict[SubscriptionKey, Filter]) -> int:
    """Return a number that two brokers agree in if they hold the same, in whatever order."""
    return sum(_digest(key, filter) for key, filter in filters.items()) % 2**64


def _digest(key: SubscriptionKey, filter: Filter) -> int:
    text = "\0".join(map(repr, key)).encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text + codec.encode(filter), digest_size=8).digest(), "big")
