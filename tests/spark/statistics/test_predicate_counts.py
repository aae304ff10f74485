"""PredicateCounts: for any predicates and events, what each predicate says about each event."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke import Event, Filter, parse
from fyke.events.domain import Decimals
from fyke.events.json import decode_event, encode
from fyke.events.schema import Attribute, Schema
from fyke.filters.predicate import TypeIs
from fyke.matching import predicate_counts as module
from fyke.matching.predicate_counts import PredicateCounts
from fyke.spark.reading import Reading
from fyke.spark.statistics.source import Rows
from fyke.testing.generators import NAMES, events, predicates

DECIMAL = Schema([Attribute(name, Decimals(), multiple=True) for name in NAMES])
JSON = Rows(Reading("json", ("body",), DECIMAL), skips=False)


def texts(given: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"body": pa.array(given, pa.string())})


@settings(max_examples=60, deadline=None)
@given(st.lists(predicates(), min_size=1, max_size=6), st.lists(events(), max_size=8))
def test_counts_are_those_of_the_predicates(leaves: list[Filter], given: list[Event]) -> None:
    bodies = [encode(event.document) for event in given]
    counter = PredicateCounts(leaves)
    counter.count(JSON.columns(texts(bodies)))
    counter.settle()
    counter.count(JSON.columns(texts(bodies[:3])))
    counter.settle()
    read = [decode_event(body, decimals=NAMES) for body in (*bodies, *bodies[:3])]
    assert counter.events == len(read)
    right = [sum(leaf.matches(event) for event in read) for leaf in leaves]
    assert counter.satisfied.tolist() == right


def test_settling_early_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = [parse(text) for text in ("a < 5", "a = 3", "a != 3", "exists a", "a like '%'")]
    leaves.append(TypeIs("Stock"))
    bodies = [f'{{"a": {n % 7}, "type": ["Stock", "x"]}}' for n in range(50)]
    monkeypatch.setattr(module, "KEYS_MAX", 2)
    counter = PredicateCounts(leaves)
    for start in range(0, 50, 10):
        counter.count(JSON.columns(texts(bodies[start : start + 10])))
    counter.settle()
    right = [sum(leaf.matches(decode_event(body)) for body in bodies) for leaf in leaves]
    assert counter.satisfied.tolist() == right
