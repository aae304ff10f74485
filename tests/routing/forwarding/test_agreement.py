"""Who is the rendezvous of what: all brokers that are left agree on it, whoever has gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from fyke.assembly import CODEC, Options, make_broker
from fyke.events.event import Event
from fyke.nodes.message import Publish
from fyke.overlay.topology import Topology
from fyke.routing.forwarding.reach import COORDINATOR
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Record, Sent


@pytest.mark.parametrize("strategy", ["rn1", "rn4", "rn8", "adaptive"])
def test_events_go_straight_to_the_rendezvous_that_is_left(
    strategy: str, seeds: Callable[[int], Iterator[int]]
):
    """Brokers that do not agree flood, which costs a message for each link, for ever."""
    taken_over = 0
    for seed in seeds(25):
        draw = Random(seed)
        names = [f"b{number}" for number in range(draw.randint(3, 7))]
        draw.shuffle(names)
        links = [(draw.choice(names[:at]), names[at]) for at in range(1, len(names))]
        claims = {each: draw.sample(names, draw.choice((1, 2, 2, 3))) for each in ("", "T")}
        options = Options(strategy, first="rendezvous", engine="scan")

        def make(name, neighbours, random, names=names, claims=claims, options=options):
            owns = [each for each, owners in claims.items() if name in owners]
            owns += [COORDINATOR] if name == names[0] else []
            return make_broker(name, neighbours, options, random, owns=owns)

        topology, trace = Topology.of(links), list[Record]()
        run = Simulation(topology, make, write=trace.append, codec=CODEC)
        for name in names:
            run.attach(f"c{name}", name)
        assert run.run(messages_max=10_000)
        while len(names) > 1:
            check(run, trace, links, names, claims)
            leaves = [name for name in names[1:] if sum(name in link for link in links) == 1]
            gone = draw.choice(leaves)
            taken_over += any(gone == min(each) for each in claims.values() if len(each) > 1)
            run.remove(gone)
            assert run.run(messages_max=10_000)
            names.remove(gone)
            links = [link for link in links if gone not in link]
            claims = {name: [each for each in claims[name] if each != gone] for name in claims}
    assert taken_over > 5


def check(
    run: Simulation,
    trace: list[Record],
    links: list[tuple[str, str]],
    names: list[str],
    claims: dict[str, list[str]],
) -> None:
    """An event that nobody wants takes the way to its rendezvous, or all links if it has none."""
    topology = Topology.of(links, names)
    for type_ in ("T", "U"):
        owners = claims.get(type_, []) or claims[""]
        for name in names:
            trace.clear()
            run.say(f"c{name}", Publish("", Event({"type": type_})))
            assert run.run(messages_max=10_000)
            sent = sum(isinstance(each, Sent) and each.kind == "Publish" for each in trace)
            far = topology.distances(name)
            assert sent == (far[min(owners)] if owners else len(names) - 1), (type_, name, claims)
