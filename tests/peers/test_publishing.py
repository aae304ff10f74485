"""A publisher hands an event over until somebody has it who can pass it on, or who is alone."""

from __future__ import annotations

from random import Random

import fyke
from fyke.events.domain import Integer
from fyke.events.event import Event
from fyke.events.schema import Attribute, Schema
from fyke.filters import codec as filters
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Deliver, Effect, Send
from fyke.nodes.inputs import Received, Tick
from fyke.nodes.message import Message, Publish, Subscribe
from fyke.peers.geometry.space import Space
from fyke.peers.member import NEW_CYCLES
from fyke.peers.messages import Found, Passage, Profile, Ring, Seek, Taken
from fyke.peers.peer import Peer
from fyke.peers.registry import Registry
from fyke.peers.settings import PAPER, Settings

SPACE = Space.of(Schema([Attribute("a", Integer(0, 100))]))
EVENT = Event({"a": 70})


def a_peer(text: str = "a < 50", settings: Settings | None = None) -> Peer:
    peer = Peer("me", ["first"], Registry(SPACE), settings or Settings(), Random(1))
    peer.handle(Received("client", Subscribe(Subscription("s", fyke.parse(text)))), 0)
    return peer


def profile(name: str, text: str = "a > 60") -> Profile:
    return Profile(name, f"s-{name}", 7, 0, filters.encode(fyke.parse(text)))


def told(peer: Peer, message: Message, sender: str) -> list[Effect]:
    return list(peer.handle(Received(sender, message, is_straight=True), 1.0))


def published(peer: Peer) -> list[Effect]:
    return list(peer.handle(Received("client", Publish("e", EVENT)), 1.0))


def ticked(peer: Peer) -> list[Effect]:
    return list(peer.handle(Tick(), 1.0))


def sent(effects: list[Effect], kind: type[Message]) -> list[str]:
    """Return to whom messages of a kind leave."""
    return [each.to for each in effects if isinstance(each, Send) and type(each.message) is kind]


def handed(peer: Peer, id: str) -> list[Effect]:
    return told(peer, Publish(id, Event({"a": 5}), route=Passage("s")), "publisher")


def is_alone(effects: list[Effect]) -> bool:
    """Return what a publisher is told of the event that it handed over."""
    [taken] = [each.message for each in effects
               if isinstance(each, Send) and isinstance(each.message, Taken)]  # fmt: skip
    assert sent(effects, Taken) == ["publisher"]
    return taken.is_alone


# --- who takes an event ---------------------------------------------------------------------------


def test_a_newcomer_that_knows_nobody_says_that_it_is_alone() -> None:
    peer = a_peer()
    effects = handed(peer, "e1")
    assert any(isinstance(each, Deliver) for each in effects)
    assert is_alone(effects)
    assert is_alone(handed(peer, "e1"))  # its answer got lost
    for _ in range(NEW_CYCLES):
        ticked(peer)
    assert not is_alone(handed(peer, "e1"))
    assert not is_alone(handed(peer, "e2"))
    peer.handle(Received("client", Subscribe(Subscription("s", fyke.parse("a < 9")))), 0)
    assert is_alone(handed(peer, "e3"))  # other rings now


def test_a_newcomer_that_passes_an_event_on_is_not_alone() -> None:
    peer = a_peer()
    told(peer, Ring(SPACE.fingerprint, 1, "s", profile("x", "a < 50"), (), ()), "x")
    effects = handed(peer, "e")
    assert sent(effects, Publish) == ["x"]
    assert not is_alone(effects)
    assert sent(handed(a_peer(settings=PAPER), "e"), Taken) == []
    along_a_ring = Publish("f", Event({"a": 5}), route=Passage("s", "s-y"))
    assert sent(told(peer, along_a_ring, "y"), Taken) == []


# --- who hands it over ----------------------------------------------------------------------------


def knowing(*profiles: Profile) -> tuple[Peer, list[Effect]]:
    """Return a publisher that asks for who wants its event, and hears of some."""
    peer = a_peer()
    asked = sent(published(peer), Seek)
    assert asked == ["first"]
    found = Found(SPACE.fingerprint, "e", profiles, (0,) * len(profiles))
    return peer, told(peer, found, "first")


def test_beside_those_that_are_alone_others_are_looked_for() -> None:
    peer, effects = knowing(*map(profile, "xyz"))
    given = sent(effects, Publish)
    for _ in range(2):
        given += sent(told(peer, Taken(SPACE.fingerprint, "e", True), given[-1]), Publish)
    assert sorted(given) == ["x", "y", "z"]
    effects = told(peer, Taken(SPACE.fingerprint, "e", True), given[-1])
    assert sent(effects, Publish) == []
    [asked, *_] = sent(effects, Seek)  # nobody else is known: it asks
    found = Found(SPACE.fingerprint, "e", (profile("last"),), (0,))
    [last] = [to for who in dict.fromkeys(sent(effects, Seek))
              for to in sent(told(peer, found, who), Publish)]  # fmt: skip
    assert asked in "xyz" and last == "last"
    assert told(peer, Taken(SPACE.fingerprint, "e"), "last") == []
    assert not any(sent(ticked(peer), Publish) for _ in range(9))


def test_who_was_handed_an_event_and_does_not_answer_is_handed_it_again() -> None:
    peer, effects = knowing(profile("x"))
    assert sent(effects, Publish) == ["x"]
    assert [to for _ in range(7) for to in sent(ticked(peer), Publish)] == ["x"] * 3
    told(peer, Taken(SPACE.fingerprint, "e"), "x")
    assert not any(sent(ticked(peer), Publish) for _ in range(9))
