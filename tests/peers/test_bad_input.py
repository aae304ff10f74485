"""What is malformed, oversized, replayed or a lie is ignored with a counter; the peer goes on."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest

import fyke
from fyke.events.domain import Integer
from fyke.events.event import Event
from fyke.events.schema import Attribute, Schema
from fyke.filters import codec as filters
from fyke.filters.subscription import Subscription
from fyke.nodes.codec import MessageError
from fyke.nodes.effect import Deliver, Reject, Send
from fyke.nodes.inputs import Received, Tick
from fyke.nodes.message import Learn, Message, Publish, Subscribe
from fyke.peers.geometry.space import Space
from fyke.peers.messages import (
    PROFILES_MAX,
    Announce,
    Gossip,
    Leave,
    Near,
    Passage,
    PeerCodec,
    Profile,
    Ring,
    Shuffle,
)
from fyke.peers.peer import Peer
from fyke.peers.registry import Registry
from fyke.peers.settings import Settings

SPACE = Space.of(Schema([Attribute("a", Integer(0, 100))]))
CODEC = PeerCodec()


def profile(name: str, text: str = "a < 50", version: int = 0, sequence: int = 7) -> Profile:
    return Profile(name, f"s-{name}", sequence, version, filters.encode(fyke.parse(text)))


def a_peer(settings: Settings | None = None) -> Peer:
    peer = Peer("me", ["other"], Registry(SPACE), settings or Settings(), Random(1))
    peer.handle(Received("client", Subscribe(Subscription("s", fyke.parse("a < 50")))), 0)
    return peer


def gossip(kind: type[Gossip] = Ring, **changes: Any) -> Gossip:
    fields: dict[str, Any] = {
        "space": SPACE.fingerprint,
        "number": 1,
        "to": "s",
        "sender": profile("other"),
        "profiles": (profile("third", sequence=9),),
        "ages": (3,),
    }
    return kind(**{**fields, **changes})


def told(peer: Peer, message: Message, sender: str = "other") -> list[Any]:
    return list(peer.handle(Received(sender, message, is_straight=True), 1.0))


def ring(peer: Peer) -> set[str]:
    return {name for _, links in peer.links().values() for name in links}


def test_a_request_is_answered_and_learned_from() -> None:
    peer = a_peer()
    [answer] = told(peer, gossip())
    assert isinstance(answer, Send)
    assert isinstance(answer.message, Ring)
    assert answer.message.is_reply
    assert ring(peer) == {"s-other", "s-third"}


WRONG: dict[str, tuple[str, Callable[[], Message]]] = {
    "another space": ("another space", lambda: gossip(space=1)),
    "another's word": ("impostor", lambda: gossip(sender=profile("third"))),
    "too many": ("oversized", lambda: gossip(profiles=(profile("x"),) * (PROFILES_MAX + 1))),
    "no ages": ("malformed", lambda: gossip(ages=())),
    "ages below 0": ("malformed", lambda: gossip(ages=(-1,))),
    "a reply that was not asked for": ("not asked", lambda: gossip(is_reply=True)),
    "bytes that are no filter": (
        "unreadable profile", lambda: gossip(sender=Profile("other", "s", 1, 0, b"junk"))),
    "an event outside of the schema": (
        "malformed", lambda: Publish("e", Event({"a": "text"}), route=Passage("s"))),
    "an event without a passage": ("malformed", lambda: Publish("e", Event({"a": 1}))),
    "an event that is not wanted": (
        "unwanted", lambda: Publish("e", Event({"a": 90}), route=Passage("s"))),
    "somebody else who leaves": (
        "impostor", lambda: Leave(SPACE.fingerprint, profile("third"))),
    "somebody else who changes": (
        "impostor", lambda: Announce(SPACE.fingerprint, profile("third"))),
    "a message of brokers": ("unknown", Learn),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_refused_with_a_counter_and_a_sentence(name: str) -> None:
    reason, make = WRONG[name]
    peer = a_peer()
    effects = told(peer, make())
    assert peer.ignored[reason] == 1
    [rejected] = [each for each in effects if isinstance(each, Reject)]
    assert rejected.reason
    assert not any(isinstance(each, Deliver) for each in effects)
    assert ring(peer) == set()
    told(peer, gossip())
    assert ring(peer) == {"s-other", "s-third"}


def test_a_replayed_answer_counts_once() -> None:
    peer = a_peer()
    told(peer, gossip())
    asked = [e.message for e in peer.handle(Tick(), 2.0) if isinstance(e, Send)]
    request = next(each for each in asked if isinstance(each, Ring))
    to = request.to.removeprefix("s-")
    reply = gossip(number=request.number, is_reply=True, sender=profile(to))
    told(peer, reply, sender=to)
    assert peer.ignored["not asked"] == 0
    told(peer, reply, sender=to)
    assert peer.ignored["not asked"] == 1


def test_first_hand_word_wins_over_lies() -> None:
    """A liar says that another one wants nothing any more; the other speaks for itself."""
    peer = a_peer()
    told(peer, gossip(profiles=(), ages=()))
    lie = profile("other", "a > 99", version=5)
    told(peer, gossip(sender=profile("liar", sequence=3), profiles=(lie,), ages=(4,)), "liar")
    assert peer.ignored["contradicted"] == 1
    assert "s-other" in ring(peer)
    told(peer, gossip(sender=profile("liar", sequence=3), profiles=(lie,), ages=(0,)), "liar")
    peer.handle(Tick(), 2.0)
    told(peer, gossip(profiles=(), ages=()))
    assert "s-other" in ring(peer)


def test_the_boxes_of_others_are_made_from_their_filters() -> None:
    assert "boxes" not in Profile.__struct_fields__


def test_a_flood_of_newcomers_leaves_views_bounded() -> None:
    peer = a_peer()
    for number in range(600):
        name = f"flood-{number}"
        for kind in (Shuffle, Near):
            them = gossip(kind, sender=profile(name, f"a = {number % 100}", sequence=number),
                          profiles=(), ages=())  # fmt: skip
            told(peer, them, name)
    [member] = peer.members.values()
    assert len(member.random.view) <= 20
    assert len(member.near.view) <= 20
    for _ in range(8):
        peer.handle(Tick(), 3.0)
    assert len(peer._site.contacts.born) <= 41 + len(member.ring.view)


def test_a_filter_of_too_many_boxes_goes_on_and_says_so() -> None:
    peer = Peer("me", [], Registry(SPACE, boxes_max=2), Settings(), Random(1))
    wide = fyke.parse("a in (1, 3, 5, 7)")
    effects = peer.handle(Received("client", Subscribe(Subscription("s", wide))), 0)
    assert peer.ignored["too many boxes"] == 1
    assert "more than 2" in effects[0].id  # type: ignore[union-attr]
    [delivered] = [
        effect
        for effect in told(peer, Publish("e", Event({"a": 5}), route=Passage("s")))
        if isinstance(effect, Deliver)
    ]
    assert delivered.subscriptions == ("s",)


def test_fuzzed_messages_do_no_harm(seeds: Callable[[int], Any]) -> None:
    peer = a_peer()
    good = [
        CODEC.encode(each)
        for each in (gossip(), gossip(Shuffle), gossip(Near),
                     Leave(SPACE.fingerprint, profile("x")),
                     Publish("e", Event({"a": 5}), route=Passage("s", "x")))
    ]  # fmt: skip
    read = 0
    for seed in seeds(4_000):
        draw = Random(seed)
        data = bytearray(draw.choice(good))
        for _ in range(draw.choice([0, 1, 1, 2, 5])):
            data[draw.randrange(len(data))] = draw.choice(
                [0, 1, 127, 128, 255, draw.randrange(256)]
            )
        try:
            message = CODEC.decode(bytes(data))
        except MessageError:
            continue
        read += 1
        told(peer, message, draw.choice(["other", "x", "me"]))
    assert read > 1_000
    effects = told(peer, Publish("last", Event({"a": 5}), route=Passage("s")))
    assert any(isinstance(each, Deliver) for each in effects)


def test_settings_are_checked() -> None:
    for wrong in ({"random_view": 0}, {"shortcuts": -1}, {"period_s": 0.0}):
        with pytest.raises(fyke.FykeError, match="expected"):
            Settings(**wrong)  # type: ignore[arg-type]
    assert msgspec.structs.fields(Profile)
