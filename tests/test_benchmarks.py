"""The benchmarks run, and their references agree with us; figures are for `make bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import fyke
from fyke.filters.filter import Filter
from fyke.testing.generators import filters
from fyke.workloads.conjunctive import MixedWorkload

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.line import Line, at_least, at_most
from benchmarks.pairs import Disagreement, lists, must_agree, pairs, pairs_of_lists
from benchmarks.references.broadcast import Broadcast
from benchmarks.references.hash_join import HashJoin
from benchmarks.references.lambdas import Lambdas
from benchmarks.references.lark_native import lark_parser

ROOT = Path(__file__).parent.parent
parse = lark_parser()

TOPICS = (
    "filters",
    "kernel",
    "table",
    "single",
    "snapshot",
    "machine",
    "live",
    "simulation",
    "typed",
)


def test_a_quick_run() -> None:
    command = [sys.executable, "-m", "benchmarks", "--quick", "--only", *TOPICS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]
    for word in (
        "lark",
        "DuckDB",
        "numpy",
        "lambdas",
        "snapshot",
        "bandwidth",
        "removes",
        "flooding",
    ):
        assert word in done.stdout


def test_an_unknown_topic_is_refused() -> None:
    command = [sys.executable, "-m", "benchmarks", "--only", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "invalid choice" in done.stderr


def test_the_references_find_what_the_filters_accept() -> None:
    count, events = 3_000, 40
    workload = MixedWorkload(3)
    given_events = list(workload.events(events))
    accepted = [
        [at for at, each in enumerate(workload.filters(count)) if each.matches(event)]
        for event in given_events
    ]
    lambdas = Lambdas(workload, count)
    join = HashJoin(workload, count)
    join.load_codes(workload.codes(events))
    broadcast = Broadcast(workload.conjunctions(count), len(workload.attributes))
    found = must_agree(
        filters=pairs_of_lists(lists(accepted), events),
        numpy=pairs_of_lists(broadcast.match(workload.codes(events)), events),
        duckdb=pairs(*join.match()),
        lambdas=pairs_of_lists(
            lists([lambdas.match(event.attributes) for event in given_events]), events
        ),
    )
    assert found > 0
    table = join.match_table()
    assert table.column_names == ["event", "subscription"]
    assert table.num_rows == found


def test_one_pair_that_differs_is_noticed() -> None:
    a = pairs(np.array([0, 0, 1]), np.array([5, 7, 5]))
    assert must_agree(a=a, b=pairs(np.array([1, 0, 0]), np.array([5, 7, 5]))) == 3
    for events, subscriptions in (([0, 0, 1], [5, 7, 6]), ([0, 1, 1], [5, 7, 5]), ([0, 0], [5, 7])):
        with pytest.raises(Disagreement):
            must_agree(a=a, b=pairs(np.array(events), np.array(subscriptions)))


def test_bars() -> None:
    assert Line("a", value=39.9, bar=at_least(40)).is_missed
    assert not Line("a", value=40, bar=at_least(40)).is_missed
    assert Line("a", value=16.1, bar=at_most(16)).is_missed
    assert not Line("a", value=16, bar=at_most(16)).is_missed
    assert not Line("a", note="skipped", bar=at_least(1)).is_missed
    assert Line("a", value=0.3, bar=at_least(0.25, aim=0.5)).promised.startswith("at least 0.25x")


@given(filters(max_leaves=4))
def test_an_independent_grammar_reads_the_same_trees(filter: Filter) -> None:
    text = str(filter)
    assert parse(text) == fyke.parse(text)
