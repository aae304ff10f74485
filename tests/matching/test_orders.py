"""A matcher under a schema gives the verdicts of the declared order, whoever searches."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings

import fyke
from fyke.errors import EventError, SchemaError
from fyke.events.columns import read
from fyke.events.domain import Enumeration, Timestamp
from fyke.events.schema import Attribute, Schema
from fyke.filters.filter import Filter
from fyke.matching.engines.registry import ENGINES
from fyke.matching.matcher import Matcher
from fyke.testing import ordered
from fyke.testing.generators import randoms
from fyke.testing.ordering import accepts
from fyke.testing.stories.reaching import reached, reaches


def right(filters: dict[str, Filter], document: dict[str, object], schema: Schema) -> list[str]:
    event = schema.read(document)
    return sorted(id for id, filter in filters.items() if accepts(filter, event, schema))


def drawn(rng: Random, schema: Schema, count: int) -> dict[str, Filter]:
    return {f"s{at}": each for at, each in enumerate(ordered.filters(rng, schema, count))}


@pytest.mark.parametrize("engine", ENGINES)
@reaches(found=0.3, by_order=0.12)
@settings(max_examples=40, deadline=None)
@given(randoms())
def test_every_engine_goes_by_the_order(engine: str, rng: Random) -> None:
    schema = ordered.schema(rng)
    filters = drawn(rng, schema, 8)
    matcher = Matcher(engine, schema=schema)
    for id, filter in filters.items():
        matcher.add(id, str(filter) if rng.random() < 0.5 else filter)
    matcher.replace("s0", filters["s1"])
    filters["s0"] = filters["s1"]
    plain = Matcher("scan")
    plain.add_many(filters.items())
    for _ in range(8):
        document = ordered.document(rng, schema, fits=True)
        expected = right(filters, document, schema)
        reached(found=bool(expected), by_order=expected != sorted(plain.match(document)))
        assert sorted(matcher.match(document)) == expected, document
        for id in filters:
            assert matcher.explain(document, id).holds is (id in expected)
        near = {miss.id for miss in matcher.why_not(document, limit=100)}
        assert near == set(filters) - set(expected)


def table(documents: list[dict[str, object]], rng: Random) -> pa.Table:
    """Documents as rows: each column all lists or all single, times all text or all timestamps."""
    columns: dict[str, pa.Array] = {}
    for name in (*ordered.ORDERED, "note", "count", "at"):
        cells = [document.get(name) for document in documents]
        if name == "at" and rng.random() < 0.7:
            cells = [_as_text(cell) for cell in cells]
        elif name == "at":
            cells = [_as_moment(cell) for cell in cells]
        if any(isinstance(cell, list) for cell in cells):
            cells = [cell if isinstance(cell, list) or cell is None else [cell] for cell in cells]
        columns[name] = pa.array(cells)
        if name == "at" and pa.types.is_string(columns[name].type) and rng.random() < 0.3:
            columns[name] = columns[name].dictionary_encode()
    whole = pa.table(columns)
    return whole.slice(1) if rng.random() < 0.3 else whole


def _as_text(cell: object) -> object:
    if isinstance(cell, list):
        return [_as_text(each) for each in cell]
    return cell.isoformat() if isinstance(cell, datetime) else cell


def _as_moment(cell: object) -> object:
    if isinstance(cell, list):
        return [_as_moment(each) for each in cell]
    return datetime.fromisoformat(cell) if isinstance(cell, str) else cell


@pytest.mark.parametrize("engine", ENGINES)
@reaches(found=0.5, text=0.3)
@settings(max_examples=25, deadline=None)
@given(randoms())
def test_every_engine_goes_by_the_order_in_batches(engine: str, rng: Random) -> None:
    schema = ordered.schema(rng)
    filters = drawn(rng, schema, 8)
    matcher = Matcher(engine, schema=schema, self_check=0.0)
    matcher.add_many(filters.items())
    rows = table([ordered.document(rng, schema) for _ in range(10)], rng)
    columns = read(rows, timestamps=schema.timestamps)
    matched = matcher.match_batch(rows)
    expected = [
        (row, id)
        for row in range(columns.rows)
        for id in right(filters, columns.event(row).document, schema)
    ]
    pairs = zip(matched["event"].to_pylist(), matched["subscription"].to_pylist(), strict=True)
    text = str(rows.schema.field("at").type)
    reached(found=bool(expected), text="string" in text)
    assert sorted(pairs) == expected
    for row, each in enumerate(rows.to_pylist()):
        given = {name: value for name, value in each.items() if value is not None}
        assert columns.event(row) == schema.read(given)


@settings(max_examples=10, deadline=None)
@given(randoms())
def test_a_snapshot_keeps_the_order_and_the_times(tmp_path_factory, rng: Random) -> None:
    schema = ordered.schema(rng)
    filters = drawn(rng, schema, 4)
    matcher = Matcher(schema=schema)
    matcher.add_many(filters.items())
    path: Path = tmp_path_factory.mktemp("snapshot") / "it"
    matcher.save(path)
    again = Matcher.open(path)
    assert again.schema == schema
    more = ordered.filters(rng, schema, 2)
    for at, filter in enumerate(more):
        again.add(f"m{at}", filter)
        filters[f"m{at}"] = filter
    for _ in range(8):
        document = ordered.document(rng, schema)
        assert sorted(again.match(document)) == right(filters, document, schema)


# --- times ----------------------------------------------------------------------------------------

TEXTS = [
    "2026-01-31",
    "2026-01-31T12:00:00Z",
    "2026-01-31 12:00:00.000000001+02:00",
    "2026-01-31t12:00z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
]
NO_TIMES = [
    "",
    "now",
    "2026-02-30",
    "0001-01-01T00:00:00+01:00",
    "20260131",
    "2026-01-31T25:00:00Z",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_read_as_it_is_in_a_filter(text: str) -> None:
    matcher = Matcher(timestamps=["a.at"])
    matcher.add("is", f"a.at = timestamp '{text}'")
    matcher.add("text", f"a.at = '{text}'")
    matcher.add("like", "a.at like '2%'")
    assert matcher.match({"a": {"at": text}}) == ["is", "text"]
    assert matcher.match({"a": [{"at": text}, {"at": 5}]}) == ["is", "text"]
    cells = pa.table({"a": [{"at": text}, {"at": None}, None]})
    assert matcher.match_batch(cells)["subscription"].to_pylist() == ["is", "text"]
    assert matcher.match_batch(pa.table({"a.at": [[], [text, text]]}))["event"].to_pylist() == [
        1,
        1,
    ]


@pytest.mark.parametrize("text", NO_TIMES)
def test_text_that_is_no_time_is_an_error_that_names_the_attribute(text: str) -> None:
    matcher = Matcher(timestamps=["a.at"])
    matcher.add("any", "exists a")
    with pytest.raises(EventError) as refused:
        matcher.match({"a": {"at": ["2026-01-31", text]}})
    assert refused.value.attribute == "a.at"
    rows = pa.table({"a": [{"at": ["2026-01-31"]}, {"at": ["2026-01-31", text]}]})
    with pytest.raises(EventError, match=r"row 1: attribute 'a\.at'.*2026-01-31T12:00:00Z"):
        matcher.match_batch(rows)
    columns = read(rows, errors="collect", timestamps=["a.at"])
    assert list(columns.bad) == [1]
    assert columns.event(0).attributes["a.at"] == (datetime(2026, 1, 31, tzinfo=UTC),)


def test_without_a_word_text_stays_text() -> None:
    matcher = Matcher()
    matcher.add("time", "at > timestamp '2026-01-01'")
    matcher.add("text", "at > '2026-01-01'")
    assert matcher.match({"at": "2026-01-31"}) == ["text"]
    assert matcher.match_batch(pa.table({"at": ["2026-01-31"]}))["subscription"].to_pylist() == [
        "text"
    ]


def test_other_kinds_are_left_alone() -> None:
    matcher = Matcher(timestamps=["at"])
    matcher.add("null", "at is null")
    matcher.add("number", "at = 5")
    assert matcher.match({"at": None}) == ["null"]
    assert matcher.match({"at": 5}) == ["number"]
    assert matcher.match({"at": datetime(2026, 1, 1, tzinfo=UTC)}) == []


def test_names_of_times_are_a_list_that_agrees_with_the_schema() -> None:
    level = Attribute("level", Enumeration(("low", "high")))
    with pytest.raises(SchemaError, match="list of names"):
        Matcher(timestamps="at")
    with pytest.raises(SchemaError, match=r"'level'.*not as a timestamp"):
        Matcher(schema=Schema([level]), timestamps=["level"])
    declared = Schema([level, Attribute("at", Timestamp())])
    assert Matcher(schema=declared, timestamps=["at"]).schema == declared
    assert Matcher(timestamps=iter(["at"])).schema.timestamps == {"at"}


def test_a_time_without_a_zone_is_refused_with_what_to_write() -> None:
    with pytest.raises(EventError, match=r"attribute 'at'.*now\(UTC\).*replace\(tzinfo=UTC\)"):
        fyke.parse("exists at").matches({"at": datetime(2026, 1, 31)})
