"""Messages as bytes: every kind comes back equal, and nothing else gets in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.errors import FykeError
from fyke.filters.subscription import Subscription
from fyke.nodes.codec import VERSION, Codec, MessageError
from fyke.nodes.message import (
    MESSAGES,
    Advertise,
    Connect,
    Control,
    Declare,
    Disconnect,
    Learn,
    Message,
    Publish,
    Route,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from fyke.testing.generators import events, filters, strings


class Towards(Route, frozen=True):
    """A route as an algorithm might define one."""

    broker: str
    epoch: int = 0
    passed: tuple[str, ...] = ()


class Gossip(Control, frozen=True):
    """A message of an algorithm's own."""

    wanted: Subscription
    filter: fyke.Filter
    seen: dict[str, int]
    tables: tuple[Subscription, ...] = ()
    news: fyke.Event | None = None


CODEC = Codec(kinds=[Towards, Gossip])
ids = strings()
counts = st.integers(-(2**63), 2**63 - 1)
subscriptions = st.builds(Subscription, ids, filters(), st.none() | ids)
routes = st.none() | st.builds(Towards, ids, counts, st.lists(ids, max_size=3).map(tuple))
plain = st.recursive(
    st.none() | st.booleans() | counts | ids | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ids, inner, max_size=3),
    max_leaves=6,
)
MADE = {
    Connect: st.builds(Connect),
    Disconnect: st.builds(Disconnect),
    Subscribe: st.builds(Subscribe, subscriptions, routes),
    Unsubscribe: st.builds(Unsubscribe, ids, routes),
    Advertise: st.builds(Advertise, ids, filters()),
    Unadvertise: st.builds(Unadvertise, ids),
    Publish: st.builds(Publish, ids, events(), counts, routes),
    Declare: st.builds(
        Declare, ids, ids, st.none() | st.dictionaries(ids, plain, max_size=3), counts, ids
    ),
    Learn: st.builds(Learn),
    Gossip: st.builds(
        Gossip,
        subscriptions,
        filters(),
        st.dictionaries(ids, counts, max_size=3),
        st.lists(subscriptions, max_size=2).map(tuple),
        st.none() | events(),
    ),
}
messages = st.one_of(*MADE.values())


def test_no_kind_is_forgotten():
    assert set(MESSAGES) | {Gossip} == set(MADE)


@given(messages)
def test_a_message_comes_back_equal(message: Message):
    data = CODEC.encode(message)
    again = CODEC.decode(data)
    assert again == message
    assert type(again) is type(message)
    assert CODEC.encode(again) == data
    assert CODEC.size(message) == len(data)


def packed(*parts: object) -> bytes:
    return msgspec.msgpack.encode(parts)


PUBLISH = {"id": "e", "event": b"", "epoch": 0}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not a message"),
        (b"\xc1", "not a message"),
        (b"\x91" * 100_000, "not a message"),
        (packed(VERSION, "Connect"), r"expected \[version, kind, fields\]"),
        (packed(VERSION, "Connect", {}, 1), r"expected \[version, kind, fields\]"),
        (packed(2, "Connect", {}), "a message of version 2; expected 1"),
        (packed(True, "Connect", {}), "a message of version True"),
        (packed(1.0, "Connect", {}), "a message of version 1.0"),
        (packed(None, "Connect", {}), "a message of version None"),
        (packed(VERSION, "Rumour", {}), "unknown kind of message 'Rumour'; expected one of Adv"),
        (packed(VERSION, ["Connect"], {}), "unknown kind of message"),
        (packed(VERSION, "Connect", []), "Connect: expected fields by name"),
        (packed(VERSION, "Towards", {"broker": "a"}), "Towards travels along"),
        (packed(VERSION, "Unsubscribe", {}), "Unsubscribe: .*missing required field `id`"),
        (packed(VERSION, "Unsubscribe", {"id": 1}), "Unsubscribe: .*Expected `str`"),
        (packed(VERSION, "Publish", PUBLISH), "Publish: .*empty"),
        (packed(VERSION, "Publish", {**PUBLISH, "event": "x"}), "Publish: expected bytes"),
        (packed(VERSION, "Publish", {**PUBLISH, "event": b"\x07"}), "Publish: version 7"),
        (packed(VERSION, "Publish", {**PUBLISH, "epoch": 1.5}), "Publish: "),
        (packed(VERSION, "Advertise", {"id": "a", "filter": b"\x01\xc1"}), "Advertise: .*corrupt"),
        (packed(VERSION, "Subscribe", {"subscription": {"id": "s"}}), "Subscribe: .*filter"),
        (packed(VERSION, "Unsubscribe", {"id": "s", "route": 5}), "route: expected"),
        (packed(VERSION, "Unsubscribe", {"id": "s", "route": ["Nowhere", {}]}), "unknown kind"),
        (
            packed(VERSION, "Unsubscribe", {"id": "s", "route": ["Connect", {}]}),
            "does not belong there",
        ),
        (packed(VERSION, "Connect", {"route": ["Towards", {"broker": "a"}]}), "route: expected"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes, problem: str):
    with pytest.raises(MessageError, match=problem):
        CODEC.decode(data)


def test_kinds_of_another_algorithm_are_unknown():
    message = Unsubscribe("s", Towards("a"))
    with pytest.raises(MessageError, match="unknown kind of message Towards"):
        Codec().encode(message)
    with pytest.raises(MessageError, match="unknown kind of message 'Towards'"):
        Codec().decode(CODEC.encode(message))


@given(messages, st.data())
def test_damaged_bytes_are_refused_or_are_another_message(message: Message, data: st.DataObject):
    whole = bytearray(CODEC.encode(message))
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        del whole[at:]
    else:
        whole[at] = data.draw(st.integers(0, 255))
    try:
        found = CODEC.decode(bytes(whole))
    except FykeError:
        return
    again = CODEC.encode(found)  # as bytes, since a number that is none does not equal itself
    assert CODEC.encode(CODEC.decode(again)) == again


@pytest.fixture(scope="module")
def taken() -> Iterator[Counter[bool]]:
    """How often something else was taken for a message, and how often it was refused."""
    counts: Counter[bool] = Counter()
    yield counts
    assert min(counts[True], counts[False]) >= 25, counts


@st.composite
def alike(draw: st.DrawFn) -> bytes:
    """A message with another value, a value less or one more among its fields."""
    version, kind, fields = msgspec.msgpack.decode(CODEC.encode(draw(messages)))
    name = draw(st.sampled_from([*fields, "route", "unknown"]))
    fields.pop(name, None)
    if draw(st.booleans()):
        fields[name] = draw(plain | st.binary(max_size=9))
    return packed(version, kind, fields)


@given(
    st.binary(max_size=60)
    | st.tuples(st.just(VERSION), st.sampled_from([kind.__name__ for kind in MADE]), plain).map(
        msgspec.msgpack.encode
    )
    | alike()
    | alike()
)
def test_anything_else_is_refused_or_is_a_message(taken: Counter[bool], data: bytes):
    """No other error gets out, and what is taken for a message is one: it comes back equal."""
    try:
        message = CODEC.decode(data)
    except MessageError:
        taken[False] += 1
        return
    taken[True] += 1
    assert type(message) in MADE
    again = CODEC.encode(message)
    assert CODEC.decode(again) == message
    assert CODEC.size(message) == len(again)


@pytest.mark.parametrize(
    "message",
    [
        Unsubscribe("\ud800"),
        Publish("e", fyke.Event({"a": 1}), epoch=2**70),
        Declare("type", "T", {"deep": 2**64}),
        Declare("type", "T", {"what": object()}),
    ],
)
def test_what_has_no_bytes_is_refused(message: Message):
    with pytest.raises(MessageError, match=type(message).__name__):
        CODEC.encode(message)
