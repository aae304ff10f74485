"""Clients that ask learn the schema in force, and every change of it (DAS-7)."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from fyke.events.domain import Integer, Named, Real
from fyke.events.schema import Schema
from fyke.nodes.message import Declare, Disconnect, Learn
from fyke.simulation.network import Network
from fyke.traces.trace import Informed, lines, read
from tests.overlays import Overlay

CELSIUS = {"real": {"low": -50, "high": 50}}
SENSOR = {"attributes": {"inside": {"domain": "celsius", "required": True}}}


def told(overlay: Overlay, client: str) -> list[Schema]:
    """Return the schemas that a client was told of, the last one last."""
    return [
        Schema.from_document(each.schema)
        for each in overlay.trace
        if isinstance(each, Informed) and each.client == client
    ]


@pytest.mark.parametrize("strategy", ["event_forwarding", "subscription_forwarding", "rendezvous"])
def test_a_client_that_asks_is_told_now_and_at_every_change(strategy: str):
    overlay = Overlay(strategy)
    assert overlay.say("cd", Learn()) == []
    assert told(overlay, "cd") == [Schema()]
    overlay.say("ca", Declare("domain", "celsius", CELSIUS))
    overlay.say("cb", Declare("type", "Sensor", SENSOR))
    overlay.say("cc", Declare("domain", "celsius", {"integer": {"low": 0, "high": 9}}))
    known = told(overlay, "cd")
    assert [each.domains for each in known[1:]] == [
        {"celsius": Real(-50, 50)},
        {"celsius": Real(-50, 50)},
        {"celsius": Integer(0, 9)},
    ]
    assert known[-1] == overlay.run.node("d").schema
    assert known[-1].types[0].attributes[0].domain == Named("celsius")
    assert known[-1].attribute("inside").domain == Integer(0, 9), "the name stands for another one"
    assert told(overlay, "ca") == [], "nobody is told without asking"
    overlay.say("cd", Learn())
    assert told(overlay, "cd") == [*known, known[-1]], "one may ask again"


def test_what_changes_nothing_is_not_told():
    overlay = Overlay("event_forwarding")
    overlay.say("ca", Declare("type", "Sensor", {"attributes": {}}))
    overlay.say("cb", Learn())
    for wrong in (
        Declare("type", "Sensor", {"supertypes": ["Nothing"]}),
        Declare("domain", "celsius", {"real": {"low": 2, "high": 1}}),
        Declare("domain", "string", CELSIUS),
        Declare("attribute", "x", {"domain": "celsius"}),
    ):
        assert overlay.say("ca", wrong) != []
    assert overlay.say("ca", Declare("type", "Sensor", {})) == [], "the same in other words"
    assert len(told(overlay, "cb")) == 1


def test_a_domain_that_is_in_use_does_not_go():
    overlay = Overlay("event_forwarding")
    overlay.say("ca", Declare("domain", "celsius", CELSIUS))
    overlay.say("cb", Declare("type", "Sensor", SENSOR))
    (refused,) = overlay.say("cc", Declare("domain", "celsius", None))
    assert "'celsius' is not a domain" in refused
    overlay.say("cc", Declare("type", "Sensor", None))
    assert overlay.say("cc", Declare("domain", "celsius", None)) == []
    assert overlay.run.node("a").schema == Schema()


def test_a_broker_that_comes_back_tells_those_who_asked_once_more():
    """What it had said before it stopped may not have arrived."""
    overlay = Overlay("event_forwarding")
    overlay.say("ca", Declare("domain", "celsius", CELSIUS))
    overlay.say("cb", Learn())
    overlay.run.crash("b")
    overlay.say("ca", Declare("type", "Sensor", SENSOR))
    assert len(told(overlay, "cb")) == 1
    overlay.run.restart("b")
    overlay.settle()
    first, again, now = told(overlay, "cb")
    assert first == again
    assert now == overlay.run.node("a").schema != again
    assert told(overlay, "ca") == []


def test_who_has_left_is_told_no_more():
    overlay = Overlay("event_forwarding")
    overlay.say("cb", Learn())
    overlay.say("cb", Disconnect())
    for broker in "ab":
        overlay.run.crash(broker)
        overlay.run.restart(broker)
    overlay.say("ca", Declare("domain", "celsius", CELSIUS))
    assert told(overlay, "cb") == [Schema()]
    overlay.run.attach("cb", "b")
    overlay.settle()
    assert told(overlay, "cb") == [Schema()], "one that comes again asks again"


@pytest.mark.parametrize("seed", range(12))
def test_all_who_ask_come_to_know_the_schema_in_force(seed: int):
    """Whatever is cut, crashes and contradicts itself meanwhile."""
    draw = Random(seed)
    network = Network(latency_s=0.001, store_s=draw.choice((0.0, 0.002)))
    overlay = Overlay("event_forwarding", network=network)
    run = overlay.run
    for client in ("ca", "cb", "cc"):
        run.say(client, Learn(), 0.01 * draw.random())
    domains = [{"integer": {"low": 0, "high": high}} for high in (5, 9)]
    for _ in range(14):
        name = draw.choice(("x", "y"))
        attribute = {"domain": draw.choice(("celsius", "string", *domains))}
        wanted = draw.choice(
            [
                Declare("domain", "celsius", draw.choice((*domains, CELSIUS, None))),
                Declare("type", draw.choice("TU"), {"attributes": {name: attribute}}),
                Declare("attribute", name, attribute if draw.random() < 0.8 else None),
            ]
        )
        run.say(f"c{draw.choice('abcd')}", wanted, 0.02 * draw.random())
    link, broker = draw.choice(overlay.topology.links), draw.choice("abc")
    run.do(lambda: run.cut(*link), 0.004)
    run.do(lambda: run.heal(*link), 0.025)
    run.do(lambda: run.crash(broker), 0.012)
    run.do(lambda: run.restart(broker), 0.016)
    overlay.settle()
    lost = {each.client for each in overlay.trace if getattr(each, "kind", "") == "Learn"} - {
        client for client in ("ca", "cb", "cc") if told(overlay, client)
    }
    assert lost <= {f"c{broker}"}, "only who spoke to nobody is not told"
    for client in {"ca", "cb", "cc"} - lost:
        known = told(overlay, client)
        assert known[-1] == run.node(client[1]).schema
        if client != f"c{broker}":
            assert all(a != b for a, b in pairwise(known)), "only changes"
    assert told(overlay, "cd") == []


def test_what_was_told_is_in_the_trace_file(tmp_path):
    overlay = Overlay("event_forwarding")
    overlay.say("ca", Declare("domain", "celsius", CELSIUS))
    overlay.say("cb", Learn())
    (tmp_path / "trace.jsonl").write_bytes(lines(overlay.trace))
    assert list(read(tmp_path / "trace.jsonl")) == overlay.trace
