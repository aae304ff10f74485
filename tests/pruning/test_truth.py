"""Truth: a bit is what the predicate says; and the census counts the same."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
from hypothesis import given

from fyke import Event, parse
from fyke.events.columns import read
from fyke.events.documents import in_columns
from fyke.filters.filter import TRUE
from fyke.filters.predicate import TypeIs
from fyke.pruning.predicate_statistics import PredicateStatistics
from fyke.pruning.truth import truth
from fyke.testing.generators import randoms
from fyke.testing.related import events_about, leaf
from fyke.testing.stories.reaching import examples, reached, reaches


def bits(rows) -> list[list[bool]]:
    return [np.unpackbits(row.view(np.uint8), bitorder="little").tolist() for row in rows]


@reaches(held=0.3)
@examples(0.5)
@given(randoms())
def test_bits_are_verdicts(rng: Random) -> None:
    leaves = [leaf(rng, "a") for _ in range(6)] + [TRUE, TypeIs("Stock")]
    events = events_about(rng, leaves, rng.choice((1, 40, 64, 70)))
    events.append(Event({"a": []}))
    events.append(Event({"a": [1, "x", None]}, supertypes=("Stock",)))
    columns = in_columns(events)
    found = bits(truth(columns, leaves))
    counted = PredicateStatistics.of(columns, leaves)
    for each, row in zip(leaves, found, strict=True):
        right = [each.matches(event) for event in events]
        assert row[: len(events)] == right and not any(row[len(events) :])
        assert each == TRUE or counted.satisfied[each] == sum(right)
        reached(held=any(right) and not all(right))


def test_columns_of_a_table() -> None:
    table = pa.table({"price": [1, None, 2**53 + 1, 5], "name": ["x", "y", "x", None]})
    leaves = [parse(text) for text in ("price <= 5", f"price = {2**53 + 1}", "name = 'x'")]
    leaves += [parse(text) for text in ("exists name", "name like '%y%'", "price = name")]
    columns = read(table)
    for each, row in zip(leaves, bits(truth(columns, leaves)), strict=True):
        assert row[:4] == [each.matches(columns.event(at)) for at in range(4)]
