"""The binary form brings every event back, is canonical, and refuses everything else."""

from __future__ import annotations

import contextlib
import math
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke import Event, EventError
from fyke.events import binary
from fyke.limits import Limits
from fyke.testing.generators import events, randoms, scalars, strings
from fyke.testing.stories.reaching import examples, reached, reaches

documents = st.recursive(
    st.dictionaries(strings(), st.one_of(scalars(), st.lists(scalars(), max_size=3)), max_size=4),
    lambda inner: st.dictionaries(
        st.one_of(st.sampled_from(["a", "a.b", "b", "", "a.b.c"]), strings()),
        st.one_of(scalars(), inner, st.lists(inner, max_size=2)),
        max_size=4,
    ),
    max_leaves=6,
)
moments = st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(fold=0))


def exactly(value: object) -> object:
    """A form in which 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if isinstance(value, dict):
        return {key: exactly(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [exactly(child) for child in value]
    return type(value).__name__, repr(value)


def assert_same(one: Event, other: Event) -> None:
    assert one == other
    for part in ("attributes", "document", "payload", "supertypes"):
        assert exactly(getattr(one, part)) == exactly(getattr(other, part))


@given(documents)
def test_every_document_comes_back_exactly(document):
    event = Event(document)
    assert_same(binary.decode(binary.encode(event)), event)


@given(events(), st.one_of(st.binary(), documents, scalars(), moments, st.lists(scalars())))
def test_every_event_and_payload_comes_back_exactly(event, payload):
    whole = Event(event.document, supertypes=event.supertypes, payload=payload)
    assert_same(binary.decode(binary.encode(whole)), whole)


@given(moments)
def test_timestamps_keep_their_microseconds(moment):
    event = Event({"t": moment})
    assert binary.decode(binary.encode(event)).attributes["t"] == moment


@pytest.mark.parametrize(
    "moment",
    [
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ],
)
def test_the_first_and_last_timestamps(moment):
    assert binary.decode(binary.encode(Event({"t": moment}))).attributes["t"] == moment


def test_nasty_values_keep_their_type():
    values = [None, True, 1, 1.0, 0, -0.0, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63), 5e-324, ""]
    back = binary.decode(binary.encode(Event({"a": values, "empty": [], "nested": {"é": []}})))
    assert exactly(back.document["a"]) == exactly(values)
    assert math.copysign(1, back.attributes["a"][5]) == -1
    assert back.attributes["empty"] == ()
    assert back.attributes["nested.é"] == ()


def test_the_envelope_comes_back():
    event = Event(
        {"x": 1},
        id="1",
        source="s",
        type="T",
        time=datetime(2026, 1, 1, tzinfo=UTC),
        supertypes=["A", "B"],
    )
    back = binary.decode(binary.encode(event))
    assert (back.id, back.source, back.type, back.time) == ("1", "s", "T", event.time)
    assert back.supertypes == ("A", "B")


def test_relatives_of_our_kinds_become_our_kinds():
    local = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    back = binary.decode(binary.encode(Event({"t": local, "list": (1, 2)})))
    assert back.document == {"t": datetime(2026, 1, 1, tzinfo=UTC), "list": [1, 2]}


# --- canonical ------------------------------------------------------------------------------------


@given(st.dictionaries(strings().filter(lambda name: "." not in name), scalars()), st.randoms())
def test_the_order_of_keys_makes_no_difference(document, random):
    items = list(document.items())
    random.shuffle(items)
    assert binary.encode(Event({"x": dict(items)})) == binary.encode(Event({"x": document}))


def test_names_that_meet_at_a_path_keep_the_order_of_their_list():
    one = Event({"z": 0, "a.b": 1, "c": 0, "a": {"b": 2}})
    other = Event({"c": 0, "a": {"b": 2}, "z": 0, "a.b": 1})
    assert one.attributes["a.b"] == (1, 2)
    assert other.attributes["a.b"] == (2, 1)
    assert_same(binary.decode(binary.encode(one)), one)
    assert_same(binary.decode(binary.encode(other)), other)
    assert binary.encode(one) == binary.encode(Event({"a.b": 1, "a": {"b": 2}, "z": 0, "c": 0}))


KIN = ["a", "a.b", "a.b.c", "a-b", "a b", "a!", "ab", "a.bc", "a.", "b", "b.c", "", ".b"]
"""Names that begin alike, some of them with a character below the dot, and some that meet."""


def kin_document(rng, depth=2):
    """Objects within objects under names that may meet at one path."""
    names = rng.sample(KIN if depth == 2 else ["b", "b.c", "bc", "c", ""], rng.randint(1, 5))
    return {
        name: kin_document(rng, depth - 1) if depth and rng.random() < 0.7 else rng.randrange(9)
        for name in names
    }


def reordered(rng, document):
    """Any order of the names, but for those that may meet: they stay as they are in turn."""
    groups = []
    for name in sorted(document):
        kin = [each for each in groups if any(name.startswith(f"{one}.") for one in each)]
        groups = [each for each in groups if each not in kin]
        groups.append({name}.union(*kin))
    shuffled = rng.sample(list(document), len(document))
    for group in groups:
        in_turn = iter([name for name in document if name in group])
        shuffled = [next(in_turn) if name in group else name for name in shuffled]
    return {
        name: reordered(rng, document[name]) if isinstance(document[name], dict) else document[name]
        for name in shuffled
    }


@reaches(met=0.08, moved=0.4)
@examples(2.5)
@given(randoms())
def test_names_that_begin_alike_come_back_in_one_form(rng):
    event = Event(kin_document(rng))
    other = Event(reordered(rng, event.document))
    lists = [value for value in event.attributes.values() if isinstance(value, tuple)]
    reached(met=bool(lists), moved=list(other.document) != list(event.document))
    assert exactly(other.attributes) == exactly(event.attributes)
    assert_same(binary.decode(binary.encode(event)), event)
    assert binary.encode(other) == binary.encode(event)


def test_kinds_and_types_of_numbers_make_a_difference():
    forms = {binary.encode(Event({"a": value})) for value in (1, 1.0, True, "1", None, [1])}
    assert len(forms) == 6


# --- refusals -------------------------------------------------------------------------------------

SAMPLE = binary.encode(
    Event({"id": "1", "a": [1, 2.5, None], "t": datetime(2026, 1, 1, tzinfo=UTC)}, payload=b"xyz")
)


@pytest.mark.parametrize("length", range(len(SAMPLE)))
def test_truncated(length):
    with pytest.raises(EventError):
        binary.decode(SAMPLE[:length])


def test_trailing():
    with pytest.raises(EventError, match="corrupt"):
        binary.decode(SAMPLE + b"\x00")


@pytest.mark.parametrize("version", [0, 2, 255])
def test_another_version_is_named(version):
    with pytest.raises(EventError, match=f"version {version} "):
        binary.decode(bytes([version]) + SAMPLE[1:])


@pytest.mark.parametrize(
    "parts",
    [
        None,
        [],
        [{}, []],
        [{}, [], None, None],
        [[], [], None],
        [{}, [1], None],
        [{}, "ab", None],
        [{1: 2}, [], None],
        [{"a": b"x"}, [], None],
        [{"a": 2**64 - 1}, [], None],
        [{"a": math.nan}, [], None],
        [{"a": msgspec.msgpack.Ext(5, b"")}, [], None],
        [{}, [], {"a": math.inf}],
        [{}, [], {1: 2}],
        [{}, [], [b"x"]],
        [{}, [], 2**64 - 1],
        [{}, [], msgspec.msgpack.Ext(5, b"")],
    ],
)
def test_other_contents_are_refused(parts):
    with pytest.raises(EventError):
        binary.decode(b"\x01" + msgspec.msgpack.encode(parts))


@pytest.mark.parametrize("head", [b"\xdd", b"\xdf", b"\xc6", b"\xdb", b"\xc9"])
def test_a_promise_of_four_billion_elements_costs_nothing(head):
    with pytest.raises(EventError):
        binary.decode(b"\x01\x93" + head + b"\xff" * 4)


@pytest.mark.parametrize("depth", [10_000, 1_000_000])
@pytest.mark.parametrize("opening", [b"\x91", b"\x81\xa1a"])
def test_depth_is_bounded(opening, depth):
    with pytest.raises(EventError, match="deep"):
        binary.decode(b"\x01\x93" + opening * depth)


def test_limits_hold_for_document_and_payload():
    deep: object = 1
    for _ in range(8):
        deep = {"a": deep}
    limits = Limits(depth_max=5)
    for event in (Event(deep), Event({}, payload=deep)):
        with pytest.raises(EventError, match="deeper than 5"):
            binary.decode(binary.encode(event), limits)


@pytest.mark.parametrize(
    "payload",
    [object(), {1: 2}, [b"x"], {"a": math.nan}, 2**64, {"\ud800": 1}, {"a": ["\ud800"]}, "\ud800"],
)
def test_a_payload_that_cannot_travel_is_refused_at_once(payload):
    with pytest.raises(EventError):
        binary.encode(Event({}, payload=payload))


def test_a_payload_without_end_is_refused():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(EventError, match="deep"):
        binary.encode(Event({}, payload=endless))


@given(st.binary(max_size=200))
def test_random_bytes_are_an_event_or_an_event_error(data):
    for candidate in (data, b"\x01" + data, b"\x01\x93" + data):
        with contextlib.suppress(EventError):
            assert isinstance(binary.decode(candidate), Event)


@given(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255))
def test_a_changed_byte_is_an_event_or_an_event_error(place, byte):
    changed = bytearray(SAMPLE)
    changed[place] = byte
    with contextlib.suppress(EventError):
        assert isinstance(binary.decode(bytes(changed)), Event)
