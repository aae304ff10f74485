"""Whatever breaks and comes back: messages of a link arrive once, in order, none from before."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from fyke.nodes.effect import Effect, Send, Wake
from fyke.nodes.inputs import Input, LinkDown, LinkUp, Received, Tick
from fyke.nodes.message import Unsubscribe
from fyke.nodes.node import Stats
from fyke.overlay.generators import random_tree
from fyke.simulation.faults import Fault, check, schedule
from fyke.simulation.network import Network
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Lost, Record, Sent

TICKS = 30
STEP_S = 0.1


class Chatter:
    """Tells all neighbours the time, every now and then, and checks what they say."""

    heard = 0

    def __init__(self, name: str, neighbours: tuple[str, ...], random: Random) -> None:
        self.name = name
        self.up_since: dict[str, float] = {}
        self.last: dict[str, float] = {}
        self.is_awake = False

    def handle(self, input: Input, now: float) -> list[Effect]:
        match input:
            case LinkUp(peer):
                assert peer not in self.up_since, "it was up already"
                self.up_since[peer] = now
                self.last.pop(peer, None)
                if not self.is_awake:
                    self.is_awake = True
                    return [Wake(now + STEP_S)]
            case LinkDown(peer):
                del self.up_since[peer]
            case Tick():
                again = [Wake(now + STEP_S)] if now < TICKS * STEP_S else []
                return [Send(peer, Unsubscribe(repr(now))) for peer in self.up_since] + again
            case Received(sender, Unsubscribe(id)):
                sent = float(id)
                assert self.up_since[sender] <= sent <= now, "said before the link was up"
                assert sent > self.last.get(sender, -1.0), "said twice, or out of order"
                self.last[sender] = sent
                Chatter.heard += 1
        return []

    def stats(self) -> Stats:
        return Stats()


@st.composite
def troubles(draw: st.DrawFn, brokers: tuple[str, ...], links: tuple) -> list[Fault]:
    """Faults that a schedule accepts, in the order of their times."""
    things = [("cut", "heal", link) for link in links]
    things += [("crash", "restart", (broker,)) for broker in brokers]
    things += [("part", "join", (broker,)) for broker in brokers]
    broken: set[tuple] = set()
    faults = []
    for at in sorted(draw(st.lists(st.floats(0, TICKS * STEP_S), max_size=12))):
        thing = draw(st.sampled_from(things))
        faults.append(Fault(at, thing[thing in broken], thing[2]))
        broken ^= {thing}
    return faults


@given(st.data(), st.integers(2, 6), st.integers(0, 20), st.sampled_from([0.0, 0.4]))
def test_links_keep_their_promise(data: st.DataObject, brokers: int, seed: int, loss: float):
    topology = random_tree(brokers, seed)
    faults = data.draw(troubles(topology.brokers, topology.links))
    check(faults, topology)
    trace: list[Record] = []
    network = Network(latency_s=0.15, bandwidth=200, loss=loss, duplication=loss, timeout_s=0.3)
    overlay = Simulation(topology, Chatter, seed=seed, network=network, write=trace.append)
    schedule(overlay, faults)
    before = Chatter.heard
    assert overlay.run()
    sent = sum(isinstance(each, Sent) for each in trace)
    lost = sum(isinstance(each, Lost) for each in trace)
    assert Chatter.heard - before == sent - lost, "every message arrives, or is said to be lost"
    if not faults:
        assert lost == 0 < sent
