"""Names of brokers in few bytes: what is read is what was written, and it is short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.assembly import CODEC
from fyke.events.event import Event
from fyke.nodes.message import Publish
from fyke.routing.summaries import name_set
from fyke.routing.summaries.name_set import NameSet
from fyke.routing.summaries.summaries import Search

NAMES = st.text("B0129-é", max_size=5) | st.integers(0, 3_000).map("B{}".format) | st.text()


@given(st.sets(NAMES, max_size=40))
def test_what_is_read_is_what_was_written(names):
    written = name_set.write(names)
    assert name_set.read(*written) == names
    assert written == name_set.write(sorted(names, reverse=True)), "equal sets are written equally"
    assert _size(written) <= sum(map(len, names))


def _size(written: NameSet) -> int:
    stems = sum(len(stem) + len(bits) for stem, (_, bits) in written.numbered.items())
    return stems + sum(map(len, written.plain))


def test_an_example_by_hand():
    written = name_set.write({"B7", "B8", "B12", "athens", "B07", "x999999999999999999999"})
    assert written.numbered == {"B": (7, bytes([0b100011]))}
    assert written.plain == ("B07", "athens", "x999999999999999999999")


def test_a_thousand_brokers_take_a_bit_each():
    names = {f"B{number}" for number in range(1, 1_001)}
    publish = Publish("e", Event({"a": 1}), route=Search.after(names))
    alone = CODEC.size(Publish("e", Event({"a": 1}), route=Search.after(())))
    size = CODEC.size(publish)
    assert size == len(CODEC.encode(publish)) and size - alone < 140
    read = CODEC.decode(CODEC.encode(publish))
    assert isinstance(read, Publish) and isinstance(read.route, Search)
    assert read.route.examined == names


@pytest.mark.parametrize("far", ["B1000000000", "B999999999"])
def test_numbers_far_apart_go_as_names(far):
    assert name_set.write({"B1", far}) == ({}, ("B1", far))
