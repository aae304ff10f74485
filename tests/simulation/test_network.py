"""Links: once and in order, whatever happens below; each with qualities of its own."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.errors import FykeError
from fyke.nodes.effect import Effect, Send
from fyke.nodes.inputs import Input, LinkUp, Received
from fyke.nodes.message import Unsubscribe
from fyke.nodes.node import Stats
from fyke.overlay.topology import Topology
from fyke.simulation.network import Channel, Network
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Record, Sent

PAIR = Topology.of([("a", "b")])


class Talker:
    """Says all it has to say as soon as it can, and remembers what it hears, and when."""

    def __init__(self, me: str, words: int) -> None:
        self.me = me
        self.words = words
        self.heard: list[tuple[float, str]] = []

    def handle(self, input: Input, now: float) -> list[Effect]:
        match input:
            case Received(message=Unsubscribe(id=id)):
                self.heard.append((now, id))
            case LinkUp(peer) if self.me == "a":
                return [Send(peer, Unsubscribe(f"{at:03}")) for at in range(self.words)]
        return []

    def stats(self) -> Stats:
        return Stats()


def talk(network: Network, words: int, seed: int = 0) -> tuple[list[tuple[float, str]], list[Sent]]:
    trace: list[Record] = []
    overlay = Simulation(
        PAIR,
        lambda name, neighbours, random: Talker(name, words),
        seed=seed,
        network=network,
        write=trace.append,
    )
    assert overlay.run()
    hearer = overlay.node("b")
    assert isinstance(hearer, Talker)
    return hearer.heard, [record for record in trace if isinstance(record, Sent)]


@given(
    st.floats(0, 0.9),
    st.floats(0, 0.9),
    st.sampled_from([None, 100.0, 1e6]),
    st.integers(0, 1_000),
)
def test_every_message_arrives_once_and_in_order(
    loss: float, duplication: float, bandwidth: float | None, seed: int
):
    network = Network(0.01, bandwidth, loss, duplication, timeout_s=0.5)
    heard, sent = talk(network, 30, seed)
    assert [id for _, id in heard] == [f"{at:03}" for at in range(30)]
    times = [at for at, _ in heard]
    assert times == sorted(times)
    late = 0.0
    for time, record in zip(times, sent, strict=True):
        late = max(late, record.resent * 0.5)
        assert time >= 0.01 + late
    if bandwidth is not None:
        frames = sum(each.bytes * (1 + each.resent + each.copies) for each in sent)
        assert times[-1] >= frames / bandwidth


def test_latency_and_bandwidth_are_exact():
    heard, sent = talk(Network(latency_s=0.25), 3)
    assert [at for at, _ in heard] == [0.25] * 3
    size = sent[0].bytes
    heard, _ = talk(Network(latency_s=0.25, bandwidth=size * 4.0), 3)
    assert [at for at, _ in heard] == [0.5, 0.75, 1.0]


def test_loss_and_duplication_cost_frames_about_as_often_as_they_should():
    _, sent = talk(Network(loss=0.5, duplication=0.2), 4_000)
    assert 3_600 < sum(each.resent for each in sent) < 4_400
    assert 850 < sum(each.copies for each in sent) < 1_150
    _, sent = talk(Network(), 10)
    assert not any(each.resent or each.copies for each in sent)


def test_a_link_may_be_different():
    network = Network(0.001, links={("b", "a"): {"latency_s": 2, "loss": 0.5}})
    assert network.of("a", "b") == network.of("b", "a") == Network(2, loss=0.5)
    assert network.of("b", "c") == Network(0.001)
    heard, _ = talk(network, 1)
    assert heard[0][0] >= 2


def test_a_broken_link_forgets_its_queue():
    channel = Channel(Network(latency_s=0, bandwidth=1), Random(0))
    assert channel.arrival(0.0, 100) == 100
    channel.break_()
    channel.is_up = True
    assert channel.arrival(5.0, 10) == 15


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"latency_s": -1}, "latency_s is -1; expected 0 or more"),
        ({"latency_s": float("nan")}, "latency_s is nan"),
        ({"latency_s": float("inf")}, "latency_s is inf"),
        ({"timeout_s": "x"}, "timeout_s is 'x'; expected 0 or more"),
        ({"store_s": True}, "store_s is True"),
        ({"loss": 1.0}, "loss is 1.0; expected 0 to 0.99"),
        ({"duplication": -0.1}, "duplication is -0.1; expected 0 to"),
        ({"bandwidth": 0}, "bandwidth is 0; expected more than 0"),
        ({"links": {("a", "b"): {"speed": 1}}}, "'a' and 'b': unknown 'speed'; expected latency_s"),
        ({"links": {("a", "b"): {"loss": 2}}}, "loss is 2"),
    ],
)
def test_what_is_no_network_is_refused(given: dict, problem: str):
    with pytest.raises(FykeError, match=problem):
        Network(**given)


def test_qualities_of_a_link_that_is_not_there():
    with pytest.raises(FykeError, match="no link between 'a' and 'z'"):
        Simulation(
            PAIR,
            lambda name, neighbours, random: Talker(name, 0),
            network=Network(links={("a", "z"): {"loss": 0.1}}),
        )
