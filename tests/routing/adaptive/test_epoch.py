"""What brokers say about epochs, as bytes."""

from __future__ import annotations

import msgspec
import pytest

import fyke
from fyke.assembly import assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.codec import VERSION, MessageError
from fyke.nodes.message import Subscribe
from fyke.overlay.topology import Topology
from fyke.routing.adaptive.epoch import Closed, Complete, Status, Stopped, Switch, Within
from fyke.routing.adaptive.weighing import BrokerReport, Busy, Gathered, Poll
from fyke.routing.forwarding.reach import Reachable
from fyke.routing.forwarding.row import Offered

CODEC = assemble("adaptive", Topology.of([("a", "b")])).codec
SUBSCRIBE = Subscribe(
    Subscription("s", fyke.parse("a < 1")), Offered("b", ("T",), (("b", "r"), ("c", "q")))
)


@pytest.mark.parametrize(
    "message",
    [
        Status(((0, "ef"), (7, "pf8")), 7),
        Within(3, SUBSCRIBE),
        Within(3, Within(4, Closed(5))),
        Complete(1),
        Stopped(1),
        Switch("rn8"),
        Reachable({"": "b1", "T": "b2"}),
        Busy(),
        Poll(4),
        Gathered(4, (BrokerReport("b", "a", 1, 2, 3, 4, 5, 6, ("e1",), ()),)),
    ],
    ids=lambda message: type(message).__name__,
)
def test_messages_come_back_equal(message):
    assert CODEC.decode(CODEC.encode(message)) == message


@pytest.mark.parametrize("depth", [10, 450, 5_000])
def test_messages_in_messages_in_messages_are_read_or_refused(depth):
    outer = msgspec.msgpack.encode(["Within", {"epoch": 1, "message": None}])[:-1]
    inner = msgspec.msgpack.encode(["Closed", {"epoch": 1}])
    whole = outer * depth + inner
    data = msgspec.msgpack.encode([VERSION, "", {}])[:2] + whole[1:]
    try:
        made = CODEC.decode(data)
    except MessageError:
        assert depth > 100
    else:
        assert isinstance(made, Within)


def test_what_is_within_must_be_a_message():
    data = msgspec.msgpack.encode([VERSION, "Within", {"epoch": 1, "message": ["Offered", {}]}])
    with pytest.raises(MessageError):
        CODEC.decode(data)
