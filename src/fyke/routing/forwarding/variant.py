"""Variants: the four choices that make up a filter algorithm, and the seventeen that make sense.

    location        where events are filtered: near subscribers, near publishers, at fixed brokers
    spreading       one broker filters for all behind it, or every broker on the way filters again
    memory          covered subscriptions are stored, not filtered (preventive), or not even stored
                    (optimistic)
    communication   how notifications reach a subscriber: straight, from broker to broker with the
                    subscriber's address, or from broker to broker that act as subscribers

Covering works among the subscriptions of one subscriber; where brokers act as subscribers
(transparent), among all. A broker that acts as subscriber filters, so transparent communication
excludes exclusive filtering. Events that go everywhere (near subscribers) leave nothing to choose.
Source. DAS-20 to DAS-24, Table 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from fyke.errors import FykeError


class Location(Enum):
    SUBSCRIBERS = "near subscribers"
    PUBLISHERS = "near publishers"
    FIXED = "at fixed brokers"


class Memory(Enum):
    """The use of covering. Exclusive filtering knows no covering."""

    EXCLUSIVE = "exclusive"
    PREVENTIVE = "preventive"
    OPTIMISTIC = "optimistic"


class Communication(Enum):
    DIRECT = "direct"
    FORWARDING = "forwarding"
    TRANSPARENT = "transparent"


@dataclass(frozen=True, slots=True)
class Variant:
    """One choice of each kind."""

    location: Location
    memory: Memory
    communication: Communication

    def __post_init__(self) -> None:
        if self.is_exclusive and self.communication is Communication.TRANSPARENT:
            raise FykeError("brokers that act as subscribers filter, so filtering is not exclusive")

    @property
    def is_exclusive(self) -> bool:
        return self.memory is Memory.EXCLUSIVE


def _family(prefix: str, location: Location) -> dict[str, Variant]:
    """Return variants by number, as in Table 1: by memory, then by communication."""
    choices = [
        (memory, communication)
        for memory in Memory
        for communication in Communication
        if (memory, communication) != (Memory.EXCLUSIVE, Communication.TRANSPARENT)
    ]
    return {f"{prefix}{at}": Variant(location, *each) for at, each in enumerate(choices, 1)}


VARIANTS: Final = {
    "ef": Variant(Location.SUBSCRIBERS, Memory.EXCLUSIVE, Communication.DIRECT),
    **_family("pf", Location.PUBLISHERS),
    **_family("rn", Location.FIXED),
}
"""All of Table 1, by name."""
