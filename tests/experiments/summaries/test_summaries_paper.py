"""The paper's figures: the model by hand, walks against a real overlay, all claims judged."""

from __future__ import annotations

import pytest

from fyke.assembly import assemble
from fyke.events.event import Event
from fyke.experiments.experiment import Results
from fyke.experiments.papers import paper
from fyke.experiments.summaries.model import SizeModel, graph
from fyke.experiments.summaries.workload import subscriptions
from fyke.experiments.table import Table
from fyke.filters.parser import parse_text
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe
from fyke.routing.summaries import Summaries
from fyke.simulation.simulation import Simulation
from fyke.testing.tables import broker_of
from fyke.traces.trace import Record, Sent

PAPER = paper("summaries")
VERDICTS = {
    **dict.fromkeys(("SUM-E1.a", "SUM-E1.b", "SUM-E1.c", "SUM-E1.d", "SUM-E2.a"), "reproduced"),
    **dict.fromkeys(("SUM-E2.b", "SUM-E2.c", "SUM-E3.b", "SUM-E3.c", "SUM-E3.d"), "reproduced"),
    **dict.fromkeys(("SUM-E1.e", "SUM-E3.a", "SUM-E3.e", "SUM-E3.f", "SUM-E4.a"), "differs"),
    **dict.fromkeys(("SUM-E4.b", "SUM-E4.c", "SUM-E5.a", "SUM-S", "SUM-Q12"), "reproduced"),
}


@pytest.fixture(scope="module")
def results() -> Results:
    """The studies at their smallest; of those that take long, a part."""
    found = {}
    for study in PAPER.studies:
        grid = study.grid("tiny")
        if study.name == "real":
            grid = [each for each in grid if each["sigma"] == 10 or each["p"] == 0.9]
        if study.name == "matching":
            grid = [each for each in grid if each["p"] == 0.5]
        found[study.name] = Table.of(row for each in grid for row in study.run(each, 0))
    return found


def test_every_claim_is_judged_and_there_are_fifteen(results: Results) -> None:
    found = {claim.id: claim.judge(results).verdict for claim in PAPER.claims}
    assert len(found) >= 15
    assert {id: found[id] for id in VERDICTS} == VERDICTS


def test_every_figure_has_rows(results: Results) -> None:
    for figure in PAPER.figures:
        rows = figure.rows(results)
        for panel in figure.panels:
            assert len(rows.where(**panel.where)), (figure.id, panel.title)


def test_sizes_by_hand() -> None:
    """4 * ((4 + m n_e) 4 + 4 m sigma/2) + 6 * (10 m n_r + 4 m sigma/2), m = 2, sigma = 10."""
    right = 4 * ((4 + 2 * 2.5) * 4 + 4 * 2 * 5) + 6 * (10 * 2 * 2.5 + 4 * 2 * 5)
    assert SizeModel().summary(2, 10, 0.5) == right


def test_walks_are_those_of_a_real_overlay() -> None:
    forest, _ = graph("cwix", 0)
    trace: list[Record] = []
    system = assemble("summaries", forest.topology, engine="scan")
    overlay = Simulation(forest.topology, system.make, codec=system.codec, write=trace.append)
    wanting = ["B3", "B8", "B17", "B20"]
    for broker in forest.topology.brokers:
        overlay.attach(f"c{broker}", broker)
        if broker in wanting:
            subscribe = Subscribe(Subscription("s", parse_text("a = 1")))
            overlay.say(f"c{broker}", subscribe)
    overlay.run()
    sent = [each for each in trace if isinstance(each, Sent) and each.kind == "Contribution"]
    assert len(sent) == forest.hops == 19
    for broker in forest.topology.brokers:
        strategy = broker_of(overlay, broker).strategy
        assert isinstance(strategy, Summaries)
        assert strategy.merged_brokers() == forest.merged[broker]
        trace.clear()
        overlay.say(f"c{broker}", Publish(f"e{broker}", Event({"a": 1})))
        overlay.run()
        walk = forest.walk(broker)
        right = len(walk) - 1 + sum(each not in walk for each in wanting)
        assert sum(isinstance(each, Sent) for each in trace) == right


def test_generated_subscriptions_have_five_attributes() -> None:
    for filter in subscriptions(20, 0.5, 1):
        assert len({child.attribute for child in filter.children}) == 5  # type: ignore[attr-defined]
