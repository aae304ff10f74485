"""check_matcher: holds an engine against the scan.

One seeded history of adds, one by one and many at once, removes, replacements, saves and
reopenings, over random filters and events; after every step some events must have the verdicts of
`filter.matches`, now and then also as rows of a batch, and after a reopening every filter and
explanation must be what it was.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fyke.events.event import Event
from fyke.events.number import meaning
from fyke.events.value import Kind, kind
from fyke.filters.explanation import explain
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher

if TYPE_CHECKING:
    import pyarrow as pa


def check_matcher(
    engine: str,
    filters: Sequence[Filter],
    events: Sequence[Event],
    *,
    seed: int = 0,
    steps: int = 60,
) -> int:
    """Raise AssertionError with the event whose matches differ. Return the number of verdicts."""
    draw = random.Random(seed)
    matcher = Matcher(engine)
    expected: dict[str, Filter] = {}
    verdicts = 0
    for step in range(steps):
        _change(matcher, expected, draw, filters, f"s{step}")
        if draw.random() < 0.1:
            matcher = _reopen(matcher)
            _check_filters(matcher, expected, draw.choice(events))
        for event in draw.sample(events, min(len(events), 4)):
            right = sorted(id for id, filter in expected.items() if filter.matches(event))
            found = sorted(matcher.match(event))
            assert found == right, _difference(engine, event, expected, found, right)
            verdicts += len(expected)
        if draw.random() < 0.1:
            verdicts += check_batch(matcher, expected, as_table(events, draw))
    assert len(matcher) == len(expected)
    assert sorted(matcher) == sorted(expected)
    return verdicts


def _change(
    matcher: Matcher,
    expected: dict[str, Filter],
    draw: random.Random,
    filters: Sequence[Filter],
    id: str,
) -> None:
    """Make one random change to both."""
    filter = draw.choice(filters)
    action = draw.random()
    if not expected or action < 0.45:
        matcher.add(id, filter)
        expected[id] = filter
        return
    if action < 0.6:
        several = {f"{id}.{number}": draw.choice(filters) for number in range(draw.randrange(6))}
        matcher.add_many(several.items())
        expected.update(several)
        return
    known = draw.choice(list(expected))
    del expected[known]
    if action < 0.85:
        matcher.remove(known)
    else:
        matcher.replace(known, filter)
        expected[known] = filter


def _reopen(matcher: Matcher) -> Matcher:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot"
        matcher.save(path)
        return Matcher.open(path)


def _check_filters(matcher: Matcher, expected: dict[str, Filter], event: Event) -> None:
    for id, filter in expected.items():
        assert matcher.filter(id) == filter, f"{id} has another filter: {matcher.filter(id)}"
        explained = matcher.explain(event, id)
        assert explained == explain(filter, event), f"{id} is explained otherwise: {explained}"


def _difference(
    engine: str, event: Event, filters: dict[str, Filter], found: list[str], right: list[str]
) -> str:
    wrong = sorted(set(found) ^ set(right)) or ["(an id occurs twice)"]
    shown = "\n".join(f"  {id}: {filters.get(id)}" for id in wrong)
    return f"{engine} differs from the scan on {event!r}\n{shown}"


# --- batches -------------------------------------------------------------------------------------


def check_batch(matcher: Matcher, filters: dict[str, Filter], table: pa.Table) -> int:
    """Raise AssertionError with the first row whose matches differ. Return the verdicts."""
    from fyke.events.columns import read

    columns = read(table)
    found: dict[int, list[str]] = {row: [] for row in range(columns.rows)}
    matched = matcher.match_batch(table)
    numbers = matched["event"].to_pylist()
    assert numbers == sorted(numbers), "matches do not come by event"
    for row, id in zip(numbers, matched["subscription"].to_pylist(), strict=True):
        found[row].append(id)
    for row, ids in found.items():
        event = columns.event(row)
        right = sorted(id for id, filter in filters.items() if filter.matches(event))
        assert sorted(ids) == right, _difference("a batch", event, filters, sorted(ids), right)
    return columns.rows * len(filters)


def as_table(events: Sequence[Event], draw: random.Random) -> pa.Table:
    """Return events as rows, as far as columns can express them.

    A column has one kind, drawn from those that occur. Values of another kind are left out.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {"row": pa.array(range(len(events)), pa.int64())}
    for name in sorted({name for event in events for name in event.attributes}):
        cells: list[Any] = [event.attributes.get(name) for event in events]
        elements = [each for cell in cells for each in (cell if _is_list(cell) else (cell,))]
        kinds = sorted({kind(each) for each in elements} - {Kind.NULL}, key=lambda each: each.name)
        if kinds:
            columns[name] = _column(cells, draw.choice(kinds))
    return pa.table(columns)


def _is_list(cell: object) -> bool:
    return isinstance(cell, tuple)


def _column(cells: list[Any], shared: Kind) -> Any:
    import pyarrow as pa

    types = {
        Kind.BOOL: pa.bool_(),
        Kind.STRING: pa.string(),
        Kind.TIMESTAMP: pa.timestamp("us", "UTC"),
    }
    lists = [cell if _is_list(cell) else (cell,) for cell in cells]
    kept = [[each for each in cell if kind(each) is shared] for cell in lists]
    type_ = types.get(shared) or _number_type([each for cell in kept for each in cell])
    alike = [[_alike(each, type_) for each in cell] for cell in kept]
    if not any(map(_is_list, cells)):
        return pa.array([cell[0] if cell else None for cell in alike], type_)
    rows = [
        cell if cell or _is_list(whole) else None for cell, whole in zip(alike, cells, strict=True)
    ]
    return pa.array(rows, pa.list_(type_))


def _number_type(numbers: Sequence[Any]) -> Any:
    """Return integers if all are, decimals if some are and all fit, else float64."""
    import pyarrow as pa

    if all(isinstance(each, int) for each in numbers):
        return pa.int64()
    decimals = [_decimal(each) for each in numbers]
    scale = max(0, *(-int(each.as_tuple().exponent) for each in decimals))
    width = scale + max(1, *(each.adjusted() + 1 for each in decimals))
    if width > 76 or not any(isinstance(each, Decimal) for each in numbers):
        return pa.float64()
    return pa.decimal128(38, scale) if width <= 38 else pa.decimal256(76, scale)


def _alike(cell: Any, type_: Any) -> Any:
    """Return a number as a column of this type holds it."""
    if kind(cell) is not Kind.NUMBER:
        return cell
    if str(type_).startswith("decimal"):
        return _decimal(cell)
    return float(cell) if str(type_) == "double" else cell


def _decimal(number: Any) -> Decimal:
    return meaning(number) if isinstance(number, float) else Decimal(number)
