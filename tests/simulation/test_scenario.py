"""A workload played to an overlay."""

from __future__ import annotations

import pytest

from fyke.assembly import assemble
from fyke.errors import FykeError
from fyke.overlay.generators import line, tree
from fyke.simulation.faults import Fault
from fyke.simulation.scenario import Scenario
from fyke.traces.metrics import summarize
from fyke.traces.summary import RunSummary
from fyke.traces.trace import Record, Told
from fyke.workloads.named import workload


def played(scenario: Scenario) -> tuple[RunSummary, list[Record]]:
    trace: list[Record] = []
    system = assemble("event_forwarding", scenario.topology, engine="scan")
    scenario.play(system.make, system.codec, trace.append)
    return summarize(trace, scenario.topology), trace


def test_flooding_delivers_what_a_scan_finds():
    work = workload("auction", 3)
    found, trace = played(Scenario(tree(7), work, subscriptions=60, events=80, seed=1))
    filters = list(work.filters(60))
    matches = [sum(each.matches(event) for each in filters) for event in work.events(80)]
    assert found.notified == sum(matches)
    assert found.matched == sum(1 for each in matches if each)
    assert (found.events, found.subscribed, found.network_load) == (80, 60, 6)
    assert sum(load.held.subscriptions for load in found.brokers.values()) == 60
    said = [each.t for each in trace if isinstance(each, Told) and each.kind == "Publish"]
    assert said == pytest.approx([said[0] + at / 1000 for at in range(80)])
    assert len({each.client for each in trace if isinstance(each, Told)}) == 7


def test_clients_are_where_they_are_said_to_be():
    clients = {"alice": "b1", "carl": "b3"}
    scenario = Scenario(line(3), workload("stock"), 10, 10, clients=clients)
    _, trace = played(scenario)
    assert {(each.client, each.at) for each in trace if isinstance(each, Told)} == set(
        clients.items()
    )


def test_faults_count_from_the_first_event():
    faults = (Fault(0.0, "crash", ("b2",)), Fault(0.5, "restart", ("b2",)))
    scenario = Scenario(line(3), workload("stock"), 5, 100, rate=100, faults=faults)
    found, _ = played(scenario)
    assert found.subscribed == 5
    assert 40 < found.events < 100, "some of those who wanted to publish found nobody there"
    assert found.network_load < 2


def test_what_cannot_be_played_is_refused():
    with pytest.raises(FykeError, match="rate is 0; expected more than 0"):
        Scenario(line(3), workload("stock"), 1, 1, rate=0)
    with pytest.raises(FykeError, match="unknown broker 'z'"):
        Scenario(line(3), workload("stock"), 1, 1, faults=(Fault(0, "crash", ("z",)),))
