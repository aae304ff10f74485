"""Counting in a tree of stages, against a count by hand; all claims have something to say."""

from __future__ import annotations

from collections import Counter

import pytest

from fyke.experiments.multistage import PAPER, placing
from fyke.experiments.multistage.tree import STAGES, Tree
from fyke.experiments.table import Table
from fyke.filters.algebra.weakening import weaken
from fyke.routing.stages.hosting import EDGE, LOCALITY, RANDOM, SIMILARITY
from fyke.workloads.bibliography import BibliographyWorkload


@pytest.mark.parametrize("placement", [RANDOM, LOCALITY, SIMILARITY, EDGE])
def test_nodes_see_what_the_weakened_filters_below_them_let_through(placement: str) -> None:
    readers, events = 60, 150
    tree = Tree(placement, 3, readers, 1)
    tree.draw(events)
    rows = list(tree.rows())
    workload = BibliographyWorkload(1)
    filters = [workload.filter(number) for number in range(readers)]
    drawn = [workload.event(number) for number in range(events)]
    by_stage = Counter(row["stage"] for row in rows)
    assert by_stage == {0: readers, 1: 9, 2: 3, 3: 1}
    kept = [[weaken(each, {"type", *names}) for each in filters] for names in STAGES]
    root = next(row for row in rows if row["stage"] == 3)
    assert root["received"] == events and root["filters"] == len(set(kept[3]))
    assert root["matched"] == sum(any(f.matches(e) for f in kept[3]) for e in drawn)
    subscribers = [row for row in rows if row["stage"] == 0]
    for row, exact, weak in zip(subscribers, filters, kept[1], strict=True):
        assert row["received"] == sum(weak.matches(event) for event in drawn)
        assert row["matched"] == sum(exact.matches(event) for event in drawn)
    assert root["relative_load"] == events * root["filters"] / (events * readers)
    edge = [row for row in rows if row["stage"] == 1]
    assert sum(row["filters"] for row in edge) >= len(set(kept[1]))
    assert all(row["matched"] <= row["received"] for row in rows)


@pytest.mark.long
def test_every_claim_can_be_judged_and_can_fail() -> None:
    results = {
        study.name: Table.of(
            row
            for parameters in study.grid("tiny")
            for row in study.run({**parameters, "events": 60}, 0)
        )
        for study in PAPER.studies
        if study is not placing.STUDY
    }
    results["placing"] = Table.of(
        row
        for parameters in placing.STUDY.grid("tiny")
        for row in placing.run({**parameters, "events": 150}, 0)
    )
    verdicts = {claim.id: claim.judge(results).verdict for claim in PAPER.claims}
    assert len(verdicts) >= 12
    assert verdicts["MSF-E1.3"] == "reproduced" and verdicts["MSF-E1.4"] == "differs"
    twisted = {
        name: Table.of(
            {**row, **{key: 3.0 - value for key, value in row.items() if key in COLUMNS and value}}
            for row in table
        )
        for name, table in results.items()
    }
    other = {claim.id: claim.judge(twisted).verdict for claim in PAPER.claims}
    assert sum(other[id] != verdicts[id] for id in verdicts) >= 8


COLUMNS = ("relative_load", "match_rate", "received", "largest_load", "detour")
