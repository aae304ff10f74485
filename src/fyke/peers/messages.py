"""Messages of peers, as data, and their sizes by formula.

A *profile* is a ring member as others know it. Its boxes do not travel: whoever receives a profile
makes them from the filter, so that nobody can lie about them. The filter travels as bytes, which
are read once per process.

    Shuffle, Near, Ring     an exchange of one of the three layers, request or reply
    Announce, Leave         first-hand word: I want something else, I am gone
    Seek, Found             a publisher looks for any peer that wants its event (S2S-17)
    Taken                   the event that a publisher handed over is here
    Refuse                  the event is not for me: send it to somebody else
    Want                    a ring neighbour spoke of events that I did not get: send them

Every message has the fingerprint of the sender's space: peers with another schema are refused.
An event travels as `Publish` with a `Passage`.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from fyke.events.event import Event
from fyke.nodes.codec import Codec, _integer_size, _text_size
from fyke.nodes.message import Control, EventId, Message, NodeId, Route

PROFILES_MAX: Final = 4_096
"""Profiles of one message, at most."""
IDS_MAX: Final = 256


class Profile(Struct, frozen=True, cache_hash=True):
    """A subscription of a peer: its place in the cyclic order, its filter as bytes."""

    address: NodeId
    name: str
    sequence: int
    version: int
    filter: bytes


class Gossip(Control, frozen=True):
    """Profiles with their ages in cycles. `to` names a member of the receiver, "" any of them."""

    space: int
    number: int
    to: str
    sender: Profile
    profiles: tuple[Profile, ...]
    ages: tuple[int, ...]
    is_reply: bool = False
    recent: tuple[EventId, ...] = ()
    """Events of late that the receiver wants too."""


class Shuffle(Gossip, frozen=True):
    """Layer 1: random links (S2S-7)."""


class Near(Gossip, frozen=True):
    """Layer 2: links to overlapping interests (S2S-8)."""


class Ring(Gossip, frozen=True):
    """Layer 3: ring links (S2S-10)."""


class Announce(Control, frozen=True):
    """This is my profile now."""

    space: int
    sender: Profile


class Leave(Control, frozen=True):
    """This member is gone for good."""

    space: int
    sender: Profile


class Seek(Control, frozen=True):
    """A publisher asks who is close to an event. It is no subscriber and enters no view."""

    space: int
    id: EventId
    event: Event


class Found(Control, frozen=True):
    """The closest that the receiver of a `Seek` knows."""

    space: int
    id: EventId
    profiles: tuple[Profile, ...]
    ages: tuple[int, ...]


class Want(Control, frozen=True):
    """Send me these events."""

    space: int
    sender: Profile
    ids: tuple[EventId, ...]


class Refuse(Control, frozen=True):
    """The member that an event was sent to does not want it, or is gone; `by` is the event's."""

    space: int
    id: EventId
    by: str


class Taken(Control, frozen=True):
    """The event that a publisher handed over is here; alone if nobody else gets it from here."""

    space: int
    id: EventId
    is_alone: bool = False


class Passage(Route, frozen=True):
    """An event on its way to a member: who sent it ("" a publisher), and how far it has come."""

    to: str
    by: str = ""
    hops: int = 0
    is_repair: bool = False


KINDS: Final[tuple[type[Message] | type[Route], ...]] = (
    *(Shuffle, Near, Ring, Announce, Leave, Seek, Found, Want, Refuse, Taken),
    Passage,
)


class PeerCodec(Codec):
    """Messages of peers as bytes; the size of gossip is a sum over its profiles."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(KINDS)

    def size(self, message: Message) -> int:
        """Return the number of bytes that `encode` makes."""
        if not isinstance(message, Gossip):
            return super().size(message)
        profiles, ages = message.profiles, message.ages
        size = 2 + _text_size(type(message).__name__) + _GOSSIP + _profile_size(message.sender)
        size += _integer_size(message.space) + _integer_size(message.number)
        size += _text_size(message.to) + 2 * (1 if len(profiles) < 16 else 3) + 1
        known = list(map(_SIZES.get, profiles))
        size += sum(map(_profile_size, profiles)) if None in known else sum(known)  # type: ignore[arg-type]
        size += len(ages) if max(ages, default=0) < 128 else sum(map(_integer_size, ages))
        return size + (self._size(message.recent) if message.recent else 1)


def _profile_size(profile: Profile) -> int:
    known = _SIZES.get(profile)
    if known is None:
        if len(_SIZES) >= _SIZES_MAX:
            _SIZES.clear()
        filter_size = len(profile.filter) + (2 if len(profile.filter) < 1 << 8 else 3)
        names = _text_size(profile.address) + _text_size(profile.name)
        numbers = _integer_size(profile.sequence) + _integer_size(profile.version)
        known = _SIZES[profile] = _PROFILE + names + numbers + filter_size
    return known


_SIZES: Final[dict[Profile, int]] = {}
_SIZES_MAX: Final = 1 << 18
_PROFILE: Final = 1 + sum(map(_text_size, Profile.__struct_fields__))
_GOSSIP: Final = 1 + sum(map(_text_size, Gossip.__struct_fields__))
