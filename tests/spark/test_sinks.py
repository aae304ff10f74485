"""Sinks: a batch is written once; one that was begun before is completed by who can do that."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from fyke import FykeError, Matcher
from fyke.spark.reading import Reading
from fyke.spark.sinks import Completing, FolderSink, FunctionSink, Sink, publish, sink_of
from fyke.spark.streams.step import Following, Step
from fyke.spark.task import Output
from fyke.spark.versions import versions
from tests.synced import Synced

ROWS: Any = "some rows"


@dataclass
class Plain:
    """Tells which calls came."""

    is_atomic: bool = False
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    fails: bool = False

    def claim(self, stream: str, columns: list[str]) -> None: ...

    def has(self, batch: int) -> bool:
        return False

    def write(self, rows: Any, batch: int) -> None:
        self._note("write", rows, batch)

    def _note(self, name: str, rows: Any, *rest: Any) -> None:
        seen = sorted(map(tuple, rows.collect())) if isinstance(rows, DataFrame) else rows
        self.calls.append((name, seen, *rest))
        if self.fails:
            raise FykeError("the power is gone")


class Whole(Plain):
    """One that can complete what it has."""

    def complete(self, rows: Any, batch: int, begun: float) -> None:
        self._note("complete", rows, batch, begun)


def test_who_can_complete_is_asked_to() -> None:
    plain, whole = Plain(), Whole()
    assert isinstance(whole, Completing) and not isinstance(plain, Completing)
    for sink in (plain, whole):
        publish(sink, ROWS, 3, None)
        publish(sink, ROWS, 4, 0.0)
    assert plain.calls == [("write", ROWS, 3), ("write", ROWS, 4)]
    assert whole.calls == [("write", ROWS, 3), ("complete", ROWS, 4, 0.0)]


def test_a_batch_done_again_is_completed(spark: SparkSession, tmp_path: Path) -> None:
    """With the rows and the time of the first attempt, although there is a newer version."""
    events = spark.createDataFrame([('{"a": 1}',), ('{"a": 2}',), ("{",)], "value string")
    matcher = Matcher()
    matcher.add("one", "a = 1")
    versions.add(tmp_path / "s", matcher)
    matches, errors = Whole(fails=True), Whole()
    step = Step(
        start="1",
        checkpoint=str(tmp_path / "c"),
        following=Following(str(tmp_path / "s"), None, sweeps=False),
        reading=Reading("json", ("value",)),
        output=Output(("value",), False),
        sink=matches,
        errors=errors,
    )
    before = time.time()
    with pytest.raises(FykeError, match="power"):
        step(events, 0)
    begun, matches.fails = time.time(), False
    matcher.add("two", "a = 2")
    versions.add(tmp_path / "s", matcher)
    step(events, 0)
    step(events, 1)
    one = ('{"a": 1}', "one")
    (_, _, _, at), (_, refused, _, at_errors) = matches.calls[1], errors.calls[0]
    assert before <= at == at_errors <= begun
    assert matches.calls == [
        ("write", [one], 0),
        ("complete", [one], 0, at),
        ("write", [one, ('{"a": 2}', "two")], 1),
    ]
    assert [each[0] for each in errors.calls] == ["complete", "write"]
    assert [row[0] for row in refused] == ["{"]


class Frame:
    """Stands for the rows of a batch: writes a file."""

    sparkSession = SimpleNamespace(conf={"spark.master": "local[2]"})
    format = property(lambda self: lambda name: self)
    write = property(lambda self: self)

    def save(self, path: str) -> None:
        Path(path).mkdir()
        (Path(path) / "part-0").write_text("rows")


def test_a_folder_has_a_batch_whole_or_not_at_all(synced: Synced) -> None:
    sink, frame = FolderSink(str(synced.folder / "new" / "out")), Frame()

    def check() -> None:
        for copy in synced.possible():
            left = FolderSink(str(copy / "new" / "out"))
            for batch in range(3):
                assert left.has(batch) == (left.folder(batch) / "part-0").exists()
                if batch in done or left.has(batch):
                    assert (left.folder(batch) / "part-0").read_text() == "rows"

    done: list[int] = []
    synced.before_each = check
    sink.claim("s", ["value"])
    for batch in range(3):
        (Path(sink.path) / f"_staging-{batch}-left").mkdir()
        assert not sink.has(batch)
        sink.write(frame, batch)  # type: ignore[arg-type]
        done.append(batch)
        check()
    assert sorted(each.name for each in Path(sink.path).iterdir()) == [
        *("_stream.json", "batch=0", "batch=1", "batch=2")
    ]
    sink.write(frame, 1)  # type: ignore[arg-type]  # another driver was quicker: its rows stay
    assert (sink.folder(1) / "part-0").read_text() == "rows"


def test_a_folder_belongs_to_one_stream(tmp_path: Path) -> None:
    sink = FolderSink(str(tmp_path / "out"))
    sink.claim("one", ["value"])
    sink.claim("one", ["value"])
    with pytest.raises(FykeError, match="of another stream"):
        sink.claim("other", ["value"])
    with pytest.raises(FykeError, match="'batch'"):
        FolderSink(str(tmp_path / "new")).claim("one", ["Batch"])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    with pytest.raises(FykeError, match="nothing was written"):
        FolderSink(str(tmp_path / "mine")).claim("one", ["value"])


def test_what_is_a_sink(tmp_path: Path) -> None:
    assert sink_of(tmp_path, "sink") == FolderSink(str(tmp_path))
    assert sink_of(print, "sink") == FunctionSink(print)
    assert isinstance(plain := sink_of(Plain(), "sink"), Plain) and isinstance(plain, Sink)
    for wrong in (5, None):
        with pytest.raises(FykeError, match="sink="):
            sink_of(wrong, "sink")
