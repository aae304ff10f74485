"""What a worker finds in a column of JSON, without Spark: what the library finds one by one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke import EventError, Matcher
from fyke.events import cloudevents
from fyke.events.json import decode_event, encode
from fyke.spark.reading import Reading
from tests.events.test_documents import NASTY, REFUSED, TEXTS
from tests.matching.test_document_batches import KNOWN, as_bytes, matcher_of

ITEMS = list(KNOWN.items())
SHARDS = [matcher_of("compiled", dict(ITEMS[::2])), matcher_of("compiled", dict(ITEMS[1::2]))]
ROWS = st.one_of(TEXTS, TEXTS, TEXTS, st.sampled_from(REFUSED), st.none())


def right(texts: list[bytes | None]) -> tuple[list[tuple[int, str]], dict[int, str]]:
    """The matches of a scan over all rows, and why rows are no events."""
    pairs, bad = [], {}
    for row, text in enumerate(texts):
        try:
            event = decode_event(text)
        except EventError as refused:
            bad[row] = "the row is null" if text is None else str(refused)
        else:
            pairs += [(row, id) for id, filter in ITEMS if filter.matches(event)]
    return sorted(pairs), bad


@settings(max_examples=60)
@given(st.lists(ROWS, max_size=8), st.integers(0, 3), st.sampled_from(["string", "binary"]))
def test_documents_match_as_they_do_alone(rows, first, kind):
    texts = [None if row is None else as_bytes(row) for row in rows]
    padded = pa.array([*map(as_bytes, NASTY[:first]), *texts, b"{}"], pa.binary())
    if kind == "string":  # Spark lets any bytes be cast to a string
        padded = pa.Array.from_buffers(pa.string(), len(padded), padded.buffers())
    batch = pa.record_batch({"other": pa.nulls(len(padded)), "v": padded})
    batch = batch.slice(first, len(texts))
    pairs, bad = right(texts)
    reading = Reading("json", ("v",))
    found = reading.match(SHARDS, batch, strict=True)
    numbers = found.rows.to_pylist()
    assert numbers == sorted(numbers)
    assert sorted(zip(numbers, found.ids.to_pylist(), strict=True)) == pairs
    assert found.bad == bad == reading.bad(batch)
    event = reading.events(batch)
    for row, text in enumerate(texts):
        if row not in bad:
            assert event(row) == decode_event(text)
            continue
        with pytest.raises(EventError):
            event(row)


def right_by_the_doors(texts: list[bytes | None]) -> tuple[list[tuple[int, str]], dict[int, str]]:
    """The matches of a scan over what each shard reads, and why rows are no events for one."""
    pairs, bad = [], {}
    for row, text in enumerate(texts):
        if text is None or not text.strip():
            bad[row] = "the row is null" if text is None else "not JSON: the text is empty"
            continue
        held = []
        for shard in SHARDS:
            try:
                event = shard._subscriptions.door().projection.event(text)
            except EventError as refused:
                bad[row] = str(refused)
            else:
                held += [(row, id) for id, filter in shard.items() if filter.matches(event)]
        pairs += [] if row in bad else held
    return sorted(pairs), bad


@settings(max_examples=60)
@given(st.lists(ROWS, max_size=8), st.integers(0, 3))
def test_documents_are_read_by_the_door(rows, first):
    texts = [None if row is None else as_bytes(row) for row in rows]
    padded = pa.array([*map(as_bytes, NASTY[:first]), *texts, b"{}"], pa.binary())
    batch = pa.record_batch({"v": padded}).slice(first, len(texts))
    pairs, bad = right_by_the_doors(texts)
    found = Reading("json", ("v",)).match(SHARDS, batch)
    numbers = found.rows.to_pylist()
    assert numbers == sorted(numbers)
    assert sorted(zip(numbers, found.ids.to_pylist(), strict=True)) == pairs
    assert found.bad == bad


def test_what_no_shard_reads_is_not_checked_and_one_refusal_is_enough():
    shards = [matcher_of("compiled", {name: f"{name} = 1"}) for name in "ab"]
    rows = [b'{"a": 1, "b": 1, "c": 1e400}', b'{"a": 1, "b": 1e400}', b'{"a": 1, "a": 2}', b" \n"]
    batch = pa.record_batch({"v": pa.array([*rows, None], pa.binary())})
    found = Reading("json", ("v",)).match(shards, batch)
    assert sorted(zip(found.rows.to_pylist(), found.ids.to_pylist(), strict=True)) == [
        (0, "a"),
        (0, "b"),
    ]
    assert list(found.bad) == [1, 3, 4]
    assert list(Reading("json", ("v",)).match(shards, batch, strict=True).bad) == [0, 1, 2, 3, 4]


def test_cloud_events_match_as_they_do_alone():
    envelope = {"specversion": "1.0", "id": "1", "source": "/s", "type": "Stock"}
    times = {"time": "2024-01-01T00:00:00Z"}
    texts = [encode({**envelope, **times, "data": {"a": value}}) for value in (None, 1, [None])]
    texts += [encode(envelope), "{}"]
    matcher = Matcher()
    for text in ("data.a is null", "not exists data.a", "type is Stock", "data.a != 2"):
        matcher.add(text, text)
    matcher.add("then", "time = timestamp '2024-01-01T00:00:00Z'")
    batch = pa.record_batch({"v": texts})
    found = Reading("cloudevents", ("v",)).match([matcher], batch)
    assert list(found.bad) == [4]
    assert sorted(zip(found.rows.to_pylist(), found.ids.to_pylist(), strict=True)) == sorted(
        (row, id)
        for row, text in enumerate(texts[:4])
        for id in matcher.match(cloudevents.decode(text))
    )
