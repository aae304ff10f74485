"""Readers at real brokers, against a count by hand; each study has the rows of its figures."""

from __future__ import annotations

import pytest

from fyke.errors import FykeError
from fyke.experiments.multistage import PAPER, joins, leases, orders
from fyke.experiments.multistage.readers import Readers
from fyke.experiments.multistage.tree import CLASSES, STAGES
from fyke.experiments.table import Table
from fyke.filters.algebra.weakening import weaken
from fyke.overlay.generators import hierarchy
from fyke.workloads.bibliography import BibliographyWorkload

TREE = hierarchy((3, 3))


def test_messages_are_those_that_weakened_filters_let_through() -> None:
    workload = BibliographyWorkload(2)
    filters = {f"r{number}": workload.filter(number) for number in range(60)}
    events = list(workload.events(120))
    readers = Readers(TREE, 2, "multistage", stages=CLASSES)
    readers.subscribe(filters)
    homes = dict(readers._homes)
    readers.forget()
    readers.publish(events)
    above = {b: a for a, b in TREE.links}
    messages = 0
    for broker, stage in readers.stages.items():
        if broker == readers.root:
            continue
        below = [id for id, home in homes.items() if broker in (home, above[home])]
        weak = [weaken(filters[id], {"type", *STAGES[stage + 1]}) for id in below]
        messages += sum(any(each.matches(event) for each in weak) for event in events)
    whole = readers.whole()
    assert messages > 30 and round(whole["messages"] * len(events)) == messages
    assert whole["hops"] == 2 and whole["straight"] == 0
    root = next(row for row in readers.brokers() if row["broker"] == readers.root)
    told = readers.strategy(readers.root).tables()["heard"].values()
    assert root["load"] == root["filters"] == sum(map(len, told))


def test_who_is_placed_elsewhere_is_served_straight() -> None:
    workload = BibliographyWorkload(3, years=2, conferences=2, authors=2)
    readers = Readers(TREE, 3, "multistage", stages=CLASSES, placement="random")
    readers.subscribe({f"r{number}": workload.filter(number) for number in range(20)})
    assert 20 <= readers.sent["Join"] <= 60
    readers.publish(workload.events(30))
    whole = readers.whole()
    assert whole["straight"] > 0 and 2 < whole["hops"] <= 3 == whole["hops_max"]


def test_a_delivery_that_is_missing_is_noticed() -> None:
    workload = BibliographyWorkload(3, years=1, conferences=1, authors=1)
    readers = Readers(TREE, 3, "event_forwarding")
    readers.subscribe({"r0": workload.filter(0)})
    readers._exact.add("r1", workload.filter(0))
    with pytest.raises(FykeError, match="deliveries; expected"):
        readers.publish(workload.events(10))


def test_leases_cost_a_message_a_link_and_clear_what_has_stopped() -> None:
    parameters = {"churn": 0.05, "readers": 60}
    [with_], [without] = (leases.lease({**parameters, "leases": each}, 1) for each in (True, False))
    assert with_["messages"] - without["messages"] == pytest.approx(110, abs=1)
    assert with_["rows_before"] > 0 == with_["rows_after"]
    assert without["rows_after"] == without["rows_before"]


def test_an_order_that_counts_readers_puts_what_half_of_them_skip_last() -> None:
    found = {
        order: orders.choose({"order": order, "readers": 60, "events": 40}, 0)[0]["attributes"]
        for order in (orders.BY_HAND, orders.BY_EVENTS, orders.BY_BOTH)
    }
    assert found[orders.BY_HAND].startswith("year") and found[orders.BY_BOTH].endswith("year")
    assert found[orders.BY_EVENTS].startswith("author")


def test_claims_of_joins_are_judged_by_their_rows() -> None:
    rows = [
        row
        for placement in joins.PLACEMENTS
        for row in joins.run({"placement": placement, "readers": 20, "events": 5}, 0)
    ]
    results = {"joins": Table.of(rows)}
    judged = {claim.id: claim for claim in PAPER.claims}
    assert judged["MSF-E3.4"].judge(results).holds
    longer = Table.of({**row, "steps_max": 4} for row in rows)
    assert judged["MSF-E3.4"].judge({"joins": longer}).holds is False
    for hops, holds in (((2, 3, 2.9), True), ((2, 3, 3.1), False), ((2, 3, 2), False)):
        of_placement = dict(zip(joins.PLACEMENTS, hops, strict=True))
        said = Table.of({**row, "hops": of_placement[row["placement"]]} for row in rows)
        assert judged["MSF-E3.7"].judge({"joins": said}).holds is holds, hops
