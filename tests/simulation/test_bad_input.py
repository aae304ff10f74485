"""What comes from outside and is no good is refused where it arrives, and the overlay goes on."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.assembly import STRATEGIES, assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.codec import Codec
from fyke.nodes.message import Disconnect, Publish, Subscribe, Unsubscribe
from fyke.overlay.generators import line
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Rejected, Sent

PUBLISH = Codec().encode(Publish("x", fyke.Event({"n": 1})))


class Overlay:
    """Three brokers in a row; carl, at the last, wants everything."""

    def __init__(self, strategy: str, in_bytes: bool = False) -> None:
        self.trace: list[Record] = []
        topology = line(3)
        system = assemble(strategy, topology, engine="scan")
        self.run = Simulation(
            topology,
            system.make,
            write=self.trace.append,
            codec=system.codec,
            in_bytes=in_bytes,
        )
        self.run.attach("alice", "b1")
        self.run.attach("carl", "b3")
        self.run.say("carl", Subscribe(Subscription("all", fyke.parse("exists n"))))
        assert self.run.run()

    def works(self) -> bool:
        """An event still gets through, once."""
        before = len(self.trace)
        self.run.say("alice", Publish("e", fyke.Event({"n": 1})))
        self.run.run()
        got = [each for each in self.trace[before:] if isinstance(each, Delivered)]
        return [(each.client, each.id) for each in got] == [("carl", "e")]

    def rejected(self) -> list[Rejected]:
        return [each for each in self.trace if isinstance(each, Rejected)]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (msgspec.msgpack.encode((9, "Publish", {})), "a message of version 9; expected 1"),
        (msgspec.msgpack.encode((1, "Rumour", {})), "unknown kind of message 'Rumour'"),
        (PUBLISH[:-3], "not a message"),
        (b"", "not a message"),
    ],
)
def test_bytes_that_are_no_message_do_not_reach_a_broker(strategy: str, data: bytes, reason: str):
    overlay = Overlay(strategy)
    overlay.run.arrive(data, "b1", "b2")
    (rejected,) = overlay.rejected()
    assert (rejected.at, rejected.to, rejected.about) == ("b2", "b1", "bytes")
    assert rejected.reason.startswith(reason)
    assert overlay.works()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("message", [Unsubscribe("all"), Disconnect()])
def test_a_stranger_is_refused(strategy: str, message):
    overlay = Overlay(strategy)
    for stranger in ("mallory", "b1", ""):
        overlay.run.arrive(Codec().encode(message), stranger, "b3")
    assert [(each.at, each.to) for each in overlay.rejected()] == [
        ("b3", "mallory"),
        ("b3", "b1"),
        ("b3", ""),
    ]
    assert "is no neighbour of b3" in overlay.rejected()[0].reason
    assert overlay.works()


@given(st.binary(max_size=40), st.data())
def test_no_bytes_break_a_broker(noise: bytes, data: st.DataObject):
    overlay = Overlay("event_forwarding")
    damaged = bytearray(PUBLISH)
    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    for each in (noise, bytes(damaged)):
        overlay.run.arrive(each, "b1", "b2")
    overlay.run.run()
    assert overlay.works()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_messages_that_travel_as_bytes_change_nothing(strategy: str):
    values, coded = Overlay(strategy), Overlay(strategy, in_bytes=True)
    assert values.works() and coded.works()
    assert values.trace == coded.trace
    assert any(isinstance(each, Sent) for each in coded.trace)
