"""Every kind of message there is, of all that its fields may hold: as bytes, and how many."""

from __future__ import annotations

import types
import typing
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import fyke
from fyke.assembly import CODEC
from fyke.events import binary
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.codec import Codec, MessageError
from fyke.nodes.message import Connect, Control, Declare, Message, Publish, Route, Subscribe
from fyke.testing import generators as g

KINDS = tuple(CODEC._kinds.values())
MESSAGES = [kind for kind in KINDS if issubclass(kind, Message)]
ROUTES = [kind for kind in KINDS if issubclass(kind, Route)]
LENGTHS = (0, 1, 15, 16, 31, 32, 127, 128, 255, 256, 65_535, 65_536)
"""Where MessagePack writes a length in another way."""
EDGES = [
    sign * ((1 << bits) + more)
    for bits in (0, 4, 5, 7, 8, 15, 16, 31, 32, 63)
    for more in (-1, 0, 1)
    for sign in (1, -1)
]

long_texts = st.tuples(st.sampled_from("aé日𝒳"), st.sampled_from(LENGTHS))
texts = st.one_of(g.strings(), g.strings(), long_texts.map(lambda each: each[0] * each[1]))
integers = st.one_of(
    st.sampled_from([each for each in EDGES if -(1 << 63) <= each < 1 << 64]),
    st.integers(-(2**63), 2**63 - 1),
)
payloads = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | g.strings(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(g.strings(), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def events(draw: st.DrawFn) -> fyke.Event:
    """Events with everything that they can carry."""
    plain = draw(g.events())
    more: dict[str, object] = dict(plain.document)
    if draw(st.booleans()):
        more |= draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "nested": st.just({"ⓐ": [{"b": 1}, {"b": [2, None]}], "é": {}}),
                    "a.b": st.integers(0, 3),
                    "moment": st.just(datetime(2024, 2, 29, tzinfo=UTC)),
                    "long": texts,
                },
            )
        )
    payload = draw(st.one_of(st.none(), payloads, st.binary(max_size=300)))
    return fyke.Event(more, supertypes=plain.supertypes, payload=payload)


def values(hint: Any, depth: int) -> st.SearchStrategy[Any]:
    """Return values of a field, by how it is declared."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return st.one_of([values(each, depth) for each in arguments])
    if origin is tuple and arguments[-1] is Ellipsis:
        most = 20 if arguments[0] in (str, int) else 2
        return st.lists(values(arguments[0], depth), max_size=most).map(tuple)
    if origin is tuple:
        return st.tuples(*(values(each, depth) for each in arguments))
    if origin is dict:
        keys, parts = (values(each, depth) for each in arguments)
        return st.dictionaries(keys, parts, max_size=18)
    known: dict[Any, st.SearchStrategy[Any]] = {
        str: texts,
        int: integers,
        bool: st.booleans(),
        bytes: st.binary(max_size=300),
        type(None): st.none(),
        object: payloads,
        Filter: g.filters(max_leaves=3),
        fyke.Event: events(),
        Subscription: st.builds(Subscription, texts, g.filters(max_leaves=3), st.none() | texts),
        Message: of_any(MESSAGES, depth - 1) if depth else st.builds(Connect),
        Route: of_any(ROUTES, depth - 1) if depth else st.none(),
    }
    return known[hint] if hint in known else of(hint, depth)


def of(kind: type[Any], depth: int = 1) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind)
    return st.builds(kind, *(values(hints[name], depth) for name in kind.__struct_fields__))


def of_any(kinds: list[type[Any]], depth: int) -> st.SearchStrategy[Any]:
    return st.deferred(lambda: st.one_of([of(kind, depth) for kind in kinds]))


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
def test_what_is_encoded_is_decoded_and_its_size_is_computed(kind):
    @settings(max_examples=40)
    @given(of(kind, depth=2))
    def check(message: Message) -> None:
        data = CODEC.encode(message)
        assert CODEC.size(message) == len(data)
        again = CODEC.decode(data)
        assert again == message
        assert type(again) is type(message)
        assert CODEC.encode(again) == data
        event(f"{len(data).bit_length()} bits of length")

    check()


def test_there_are_messages_of_every_kind():
    names = {kind.__name__ for kind in KINDS}
    assert {"Publish", "Declare", "Within", "Gathered", "Flooded", "Addressed", "Offered"} <= names
    assert len(MESSAGES) >= 18 and len(ROUTES) >= 4


@settings(max_examples=80)
@given(events(), st.sampled_from(ROUTES), st.data())
def test_the_bytes_of_an_event_do_not_depend_on_who_asks(given_event, route, data):
    """Decoded, it keeps the bytes that it came in; and they are those it is encoded to anew."""
    encoded = binary.encode(given_event)
    message = Publish("e", given_event, data.draw(integers), data.draw(of(route)))
    again = CODEC.decode(CODEC.encode(message))
    assert isinstance(again, Publish)
    assert again.event.encoded == encoded
    again.event.encoded = None
    assert binary.encode(again.event) == encoded


@pytest.mark.parametrize("length", [*LENGTHS, 70_000])
@pytest.mark.parametrize("text", ["a", "é", "日", "𝒳"])
def test_lengths_of_texts_and_lists_at_every_border(text: str, length: int):
    for message in (
        Declare("type", text * length, None),
        Declare("type", "T", {text * length: [1] * length}),
        Subscribe(Subscription("s", fyke.parse("a = 1"), text * length)),
    ):
        assert CODEC.size(message) == len(CODEC.encode(message))


@pytest.mark.parametrize("border", [256, 65_536])
def test_lengths_of_events_at_every_border(border: int):
    lengths = set()
    for length in range(border - 30, border + 5):
        message = Publish("e", fyke.Event({}, payload=b"x" * length))
        assert CODEC.size(message) == len(CODEC.encode(message))
        lengths.add(len(binary.encode(message.event)))
    assert {border - 1, border, border + 1} <= lengths


@pytest.mark.parametrize("number", EDGES)
def test_sizes_of_integers_at_every_border(number: int):
    message = Publish("e", fyke.Event({}), epoch=number)
    try:
        size: int | None = len(CODEC.encode(message))
    except MessageError:
        size = None
    if size is None:
        with pytest.raises(MessageError):
            CODEC.size(message)
    else:
        assert CODEC.size(message) == size


# --- what an algorithm may define -----------------------------------------------------------------


class Inner(msgspec.Struct, frozen=True):
    """No message itself."""

    filter: Filter
    news: fyke.Event | None = None
    wanted: tuple[Subscription, ...] = ()


class Told(Control, frozen=True):
    inner: Inner
    many: tuple[Inner, ...]
    by_name: dict[str, Filter]
    by_pair: dict[tuple[str, str], int]
    message: Message | None = None
    route: Route | None = None


class Towards(Route, frozen=True):
    inner: Inner


class Bundle(Control, frozen=True):
    """What nobody could read: messages elsewhere than in `message`."""

    parts: tuple[Message, ...] = ()
    inner: object = None


INNER = Inner(fyke.parse("a = 1"))
OWN = Codec([Told, Towards, Bundle])


@settings(max_examples=60)
@given(
    of(Inner),
    st.lists(of(Inner), max_size=2),
    st.dictionaries(texts, g.filters(max_leaves=3), max_size=2),
)
def test_filters_and_events_may_stand_anywhere_in_a_message(inner, many, by_name):
    inside = Told(inner, tuple(many), by_name, {("a", "b"): 1}, route=Towards(inner))
    message = Told(inner, tuple(many), by_name, {}, inside, Towards(inner))
    data = OWN.encode(message)
    assert OWN.size(message) == len(data)
    assert OWN.decode(data) == message


@pytest.mark.parametrize(
    "message",
    [
        Bundle((Connect(),)),
        Bundle((), Connect()),
        Bundle((), [{"deep": Towards(INNER)}]),
        Told(INNER, (), {}, {}, message=Towards(INNER)),
        Told(INNER, (), {}, {}, route=Connect()),
    ],
)
def test_what_could_not_be_decoded_is_not_encoded(message: Message):
    for writes in (OWN.encode, OWN.size):
        with pytest.raises(MessageError, match=r"expected|belong"):
            writes(message)
