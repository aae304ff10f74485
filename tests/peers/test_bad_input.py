"""What is malformed, oversized, replayed or a lie is ignored with a counter; the peer goes on."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest

import fyke
from fyke.events.domain import Enumeration, Integer
from fyke.events.event import Event
from fyke.events.schema import Attribute, Schema
from fyke.filters import codec as filters
from fyke.filters.subscription import Subscription
from fyke.nodes.codec import MessageError
from fyke.nodes.effect import Deliver, Reject, Send
from fyke.nodes.inputs import Received, Tick, Unreachable
from fyke.nodes.message import Learn, Message, Publish, Subscribe
from fyke.peers.geometry.space import Space
from fyke.peers.messages import (
    PROFILES_MAX,
    Announce,
    Found,
    Gossip,
    Leave,
    Near,
    Passage,
    PeerCodec,
    Profile,
    Refuse,
    Ring,
    Seek,
    Shuffle,
    Taken,
    Want,
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
    told(peer, gossip(number=request.number, is_reply=True, sender=profile("thief")), "thief")
    assert peer.ignored["not asked"] == 1
    reply = gossip(number=request.number, is_reply=True, sender=profile(to))
    told(peer, reply, sender=to)
    assert peer.ignored["not asked"] == 1
    told(peer, reply, sender=to)
    assert peer.ignored["not asked"] == 2


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


def test_more_newcomers_than_a_peer_can_know_are_turned_away() -> None:
    """A flood of profiles, in its own words and in those of others; who was known stays."""
    peer = a_peer(Settings(contacts_max=50))
    told(peer, gossip())
    for number in range(200):
        name = f"flood-{number}"
        sender = profile(name, f"a = {number % 100}", sequence=number + 100)
        others = tuple(
            profile(f"{name}-{n}", f"a = {n}", sequence=100 * number + n) for n in range(20)
        )
        told(peer, gossip(sender=sender, profiles=others, ages=(0,) * 20), name)
        assert len(peer._site.contacts.born) <= 50
    assert peer.ignored["flood"] > 150
    assert len(peer._site.registry.profiles) <= 60
    assert "s-other" in ring(peer)
    for _ in range(30):  # the flood is over; those who never were are found out
        for effect in peer.handle(Tick(), 3.0):
            if isinstance(effect, Send) and effect.to not in ("other", "third"):
                peer.handle(Unreachable(effect.to, effect.message), 3.0)
        told(peer, gossip())
    told(peer, gossip(sender=profile("late", "a < 9", sequence=77)), "late")
    assert "s-late" in ring(peer)
    assert "s-other" in ring(peer)


def test_who_is_silent_is_asked_before_it_is_forgotten() -> None:
    """In crowds of thousands some live ring links are not heard of for longer than `age_max`."""
    for answers in (False, True):
        peer = a_peer()
        told(peer, gossip(profiles=(), ages=()))
        asked = []
        for clock in range(1, 33):
            sent = [each for each in peer.handle(Tick(), float(clock)) if isinstance(each, Send)]
            to_other = [each.message for each in sent if each.to == "other"]
            asked.append(sum(isinstance(each, Ring) for each in to_other))
            if clock == 25 and answers:
                told(peer, gossip(profiles=(), ages=()))
            if clock < 32:
                assert ring(peer) == {"s-other"}
        assert asked[:31].count(2) == 1  # beside the exchange of every cycle
        assert asked[23] == 2
        assert ring(peer) == ({"s-other"} if answers else set())


def test_hearsay_does_not_bring_back_the_dead() -> None:
    peer = a_peer()
    told(peer, gossip(profiles=(), ages=()))
    for clock in range(1, 4):
        peer.handle(Tick(), float(clock))
    peer.handle(Unreachable("other", gossip()), 4.0)
    assert ring(peer) == set()
    third = profile("third", sequence=9)
    for age in (6, 0):  # issued before its death, and at that time
        told(peer, gossip(sender=third, profiles=(profile("other"),), ages=(age,)), "third")
        assert ring(peer) == {"s-third"}
    peer.handle(Tick(), 5.0)
    told(peer, gossip(sender=third, profiles=(profile("other"),), ages=(0,)), "third")
    assert ring(peer) == {"s-third", "s-other"}  # somebody has met it since


def test_an_attribute_outside_of_the_schema_is_pointed_out_and_left_to_the_filter() -> None:
    peer = a_peer()
    wide = Subscription("w", fyke.parse("aa < 3 and a < 50"))
    [said] = peer.handle(Received("client", Subscribe(wide)), 0)
    assert "'aa' is not in the schema" in said.id  # type: ignore[union-attr]
    assert peer.ignored["outside the schema"] == 1
    for wanted, event in ((True, {"aa": 1, "a": 4}), (False, {"aa": 9, "a": 4})):
        effects = told(peer, Publish(str(event), Event(event), route=Passage("w")))  # type: ignore[arg-type]
        assert any(isinstance(each, Deliver) for each in effects) is wanted


def test_an_order_that_a_schema_does_not_have_is_refused() -> None:
    space = Space.of(Schema([Attribute("size", Enumeration(("s", "m", "l")))]))
    peer = Peer("me", [], Registry(space), Settings(), Random(1))
    wrong = Subscription("s", fyke.parse("size < 'xl'"))
    [said] = peer.handle(Received("client", Subscribe(wrong)), 0)
    assert isinstance(said, Reject)
    assert "xl" in said.reason
    assert not peer.members


def test_a_peer_of_another_version_is_no_message() -> None:
    parts = msgspec.msgpack.decode(CODEC.encode(gossip()))
    parts[0] += 1
    with pytest.raises(MessageError, match="version 2"):
        CODEC.decode(msgspec.msgpack.encode(parts))


def test_an_event_that_is_replayed_is_delivered_once() -> None:
    peer = a_peer()
    delivered = [
        effect
        for _ in range(5)
        for effect in told(peer, Publish("e", Event({"a": 5}), route=Passage("s", "s-other")))
        if isinstance(effect, Deliver)
    ]
    assert len(delivered) == 1


def fuzz(count: int, seeds: Callable[[int], Any]) -> int:
    """Send mutations of good messages to a peer. Return how many could be read."""
    peer = a_peer()
    me, event, space = profile("x"), Event({"a": 5}), SPACE.fingerprint
    good = [
        CODEC.encode(each)
        for each in (gossip(), gossip(Shuffle), gossip(Near), gossip(is_reply=True),
                     gossip(recent=("e", "f")), Leave(space, me), Announce(space, me),
                     Seek(space, "e", event), Found(space, "e", (me,), (1,)),
                     Want(space, me, ("e",)), Refuse(space, "e", "s"), Taken(space, "e"),
                     Publish("e", event, route=Passage("s", "x")))
    ]  # fmt: skip
    read = 0
    for number, seed in enumerate(seeds(count)):
        draw = Random(seed)
        data = bytearray(draw.choice(good))
        for _ in range(draw.choice([0, 1, 1, 2, 5])):
            data[draw.randrange(len(data))] = draw.choice(
                [0, 1, 127, 128, 255, draw.randrange(256)]
            )
        if draw.random() < 0.1:
            del data[draw.randrange(len(data)) :]
        if number % 500 == 0:
            peer.handle(Tick(), float(number))
            peer.handle(Received("client", Publish(f"own-{number}", event)), 0)
        try:
            message = CODEC.decode(bytes(data))
        except MessageError:
            continue
        read += 1
        told(peer, message, draw.choice(["other", "x", "me"]))
    effects = told(peer, Publish("last", event, route=Passage("s")))
    assert any(isinstance(each, Deliver) for each in effects)
    assert len(peer._site.contacts.born) < 5_000
    return read


def test_fuzzed_messages_do_no_harm(seeds: Callable[[int], Any]) -> None:
    assert fuzz(4_000, seeds) > 1_000


@pytest.mark.long
def test_a_hundred_thousand_fuzzed_messages_do_no_harm(seeds: Callable[[int], Any]) -> None:
    assert fuzz(100_000, seeds) > 25_000


def test_settings_are_checked() -> None:
    for wrong in ({"random_view": 0}, {"shortcuts": -1}, {"period_s": 0.0}):
        with pytest.raises(fyke.FykeError, match="expected"):
            Settings(**wrong)  # type: ignore[arg-type]
    assert msgspec.structs.fields(Profile)
