"""Warming: all kernels compiled at once, by small sets of filters and patterns that use each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Any, Final

import numpy as np
import pyarrow as pa

from fyke.events.columns import read
from fyke.events.event import Event
from fyke.filters.language.parser import parse_text
from fyke.filters.texts.glob import from_like

FILTERS: Final = (
    *(f"a = 'v{number}' and b between {number} and {number + 9}" for number in range(40)),
    *(f"b between {number} and {number + 9} and c > 1.5" for number in range(40)),
    *("a in ('v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7', 'v8', 'v9') and b < 3", "true", "not c = 1"),
    *(
        "d starts with 'x'",
        "d ends with 'y'",
        "d contains 'long enough'",
        "d like 'a%b_c' and b > 1",
    ),
    *("d ilike 'A%'", "e > timestamp '2024-01-01T00:00:00Z'", "d < 'm'", "exists f", "type is T"),
    *("b = 5 and c > 1", "b in (6, 2.5)"),
    *(f"a = 'v1' and f = 'x' and b > {number}" for number in range(40)),
)
EVENTS: Final = (
    {"a": "v1", "b": 5, "c": 0.1, "d": "a long enough b c", "e": datetime.now(UTC), "type": "T"},
    {"a": ["v1", "v2"], "b": [1, 2.5], "d": ["x", "y"], "f": ["x"]},
)

PATTERNS: Final = tuple(
    from_like(form.format(f"{word}{number}"))
    for form, word, number in product(
        ("{}%", "%{}", "%{}%", "%{}_x%", "a%{}%b", "{}"),
        ("é", "word", "much longer "),
        range(100),
    )
)


def steps() -> Iterator[None]:
    """Call all kernels, each with all types it is used with: none is compiled or loaded after.

    Yield after each step, so that the caller can stop.
    """
    from fyke.matching.compiled.engine import CompiledEngine
    from fyke.matching.compiled.search.results import interleave

    filters = [parse_text(text) for text in FILTERS]
    events = [Event(document) for document in EVENTS]
    engine = CompiledEngine(filters.__getitem__, tree_from=4)
    for slot, filter in enumerate(filters):
        engine.add(slot, filter)
        if slot % 50 == 0:
            engine.match(events[0])
            yield
    engine.match(events[1])
    engine.remove(0)
    yield
    engine.match_columns(read(pa.Table.from_pylist([EVENTS[0]] * 3)))
    engine.match_columns(read(pa.Table.from_pylist([EVENTS[1]])))
    yield
    engine.compact()
    for event in events:
        engine.match(event)
    yield
    plain = CompiledEngine(filters.__getitem__)
    plain.add(0, filters[0])
    for kept, slots in ((engine, range(1, len(filters))), (plain, range(1))):
        arrays, details = kept.save()
        mapped = {name: _read_only(part) for name, part in arrays.items()}
        reopened = CompiledEngine(filters.__getitem__)
        reopened.load(mapped, details, np.array(slots))
        yield
    interleave(np.array([[0, 1], [0, 1]], np.int32), np.zeros(2, np.int32))
    yield
    _use_patterns()


def _read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array as it comes from a snapshot: for kernels, that is another type."""
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)


def _use_patterns() -> None:
    from fyke.matching.compiled.patterns.pattern_set import PatternSet

    patterns = PatternSet()
    for number, pattern in enumerate(PATTERNS):
        patterns.add(number, pattern, ignore_case=number % 2 == 0)
    patterns.merge()
    texts = ("a much longer 7_x word7", "é9", "")
    patterns.accepted(texts[0])
    patterns.accepted_many(texts)
