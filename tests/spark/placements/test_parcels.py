"""What a worker does with the chunks that come before its events."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from fyke import FykeError, Matcher
from fyke.spark.placements.carried import _PARCEL, _without_parcels
from fyke.spark.shipping import delivering
from fyke.spark.shipping.archives import pack
from fyke.spark.shipping.delivering import chunks_of
from fyke.spark.shipping.shipping import copies_folder
from fyke.spark.versions.snapshots import Part, Pin

Rows = list[dict[str, Any]]
_SCHEMA = pa.schema([*_PARCEL, ("event", pa.struct([("n", pa.int64())]))])
EVENTS = [{"event": {"n": number}} for number in range(3)]


@pytest.fixture
def part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Part:
    """A snapshot on another machine's disk, whose archive has many chunks."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(delivering, "CHUNK", 700)
    matcher = Matcher()
    matcher.add_many((f"s{number}", f"n = {number * 7919 % 1_000}") for number in range(200))
    matcher.save(tmp_path / "snapshot")
    (found,) = Pin.of([str(tmp_path / "snapshot")]).parts
    pack(tmp_path / "snapshot", tmp_path / "archive")
    return found


@pytest.fixture
def chunks(part: Part, tmp_path: Path) -> Rows:
    found = list(chunks_of(tmp_path / "archive", {"shard": 0}))
    assert len(found) > 5
    return found


def passed_on(part: Part, *batches: Rows) -> list[Any]:
    made: Iterable[pa.RecordBatch] = (pa.RecordBatch.from_pylist(each, _SCHEMA) for each in batches)
    return [row["event"] for batch in _without_parcels(made, (part,)) for row in batch.to_pylist()]


def arrived(part: Part) -> list[str]:
    """The ids of the snapshot in the cache, which holds nothing else."""
    assert [each.name for each in copies_folder().iterdir()] == [part.identity]
    return list(Matcher.open(copies_folder() / part.identity))


@pytest.mark.parametrize("seed", range(5))
def test_chunks_in_any_order_and_twice(part: Part, chunks: Rows, seed: int) -> None:
    draw = random.Random(seed)
    rows = [*chunks, *draw.choices(chunks, k=4)]
    draw.shuffle(rows)
    cut = draw.randrange(len(rows))
    assert passed_on(part, rows[:cut], [*rows[cut:], *EVENTS]) == [row["event"] for row in EVENTS]
    assert arrived(part) == [f"s{number}" for number in range(200)]


def test_a_chunk_that_is_missing(part: Part, chunks: Rows) -> None:
    """Nothing gets a name, and no event is matched without its subscriptions."""
    with pytest.raises(FykeError, match="1 snapshots came incomplete"):
        passed_on(part, chunks[:-1], EVENTS)
    assert list(copies_folder().iterdir()) == []


def test_another_task_was_quicker(part: Part, chunks: Rows) -> None:
    def batches() -> Iterable[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist(chunks[:3], _SCHEMA)
        assert passed_on(part, chunks, EVENTS)
        yield pa.RecordBatch.from_pylist([*chunks[3:], *EVENTS], _SCHEMA)

    found = [batch.num_rows for batch in _without_parcels(batches(), (part,))]
    assert found == [len(EVENTS)]
    assert len(arrived(part)) == 200


def test_a_full_disk(part: Part, chunks: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(delivering, "unpack", full)
    with pytest.raises(FykeError, match=r"^worker \S+ cannot keep subscriptions: .*No space left"):
        passed_on(part, chunks, EVENTS)
    assert list(copies_folder().iterdir()) == []
