"""Pins and tallies: what a batch saw stays what it saw."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from fyke import FykeError, Matcher
from fyke.spark.reading import Reading
from fyke.spark.sinks import FolderSink, FunctionSink, Sink
from fyke.spark.streams import batch_counts
from fyke.spark.streams.batch_counts import MatchCounts, MatchTotals
from fyke.spark.streams.step import Following, Step
from fyke.spark.task import Output
from fyke.spark.versions import versions
from fyke.spark.versions.pins import Pinned, Pins
from fyke.spark.versions.snapshots import Pin
from tests.synced import Synced


def version(folder: Path, *ids: str) -> versions.Version:
    matcher = Matcher()
    for id in ids:
        matcher.add(id, "a = 1")
    return versions.add(folder, matcher)


def never() -> Pinned:
    raise AssertionError("the batch was pinned already")


def test_a_pin_is_decided_once(tmp_path: Path) -> None:
    pins = Pins(str(tmp_path / "pins"))
    first = Pinned.of(version(tmp_path / "s", "one"))
    assert pins.begun(0) is None
    before = time.time()
    assert pins.get(0, lambda: first) == first
    begun = pins.begun(0)
    assert begun is not None and before <= begun <= time.time()
    second = Pinned.of(version(tmp_path / "s", "one", "two"))
    assert pins.get(0, never) == first and pins.begun(0) == begun
    assert pins.get(1, lambda: second) == second
    assert Pins(str(tmp_path / "pins")).get(1, never) == second
    assert pins.needed(str(tmp_path / "s")) == {1, 2} and pins.needed("elsewhere") == set()
    pins.forget_before(1)
    assert pins.get(0, never) == first
    pins.forget_before(2)
    assert not Path(pins.file(0)).exists() and pins.get(1, never) == second
    Path(pins.file(1)).write_text('{"path": 1}')
    with pytest.raises(FykeError, match="cannot be read"):
        pins.get(1, never)
    with pytest.raises(FykeError, match="cannot be read"):
        pins.begun(1)


def test_a_pin_is_there_for_good(synced: Synced) -> None:
    """Also after a power cut, the batch that is repeated sees what it saw."""
    pins, place = Pins(str(synced.folder / "checkpoint" / "pins")), Path("checkpoint") / "pins"
    for batch in range(3):
        chosen = Pinned("s", batch, Pin(()))

        def check(batch: int = batch) -> None:
            for copy in synced.possible():
                left = Pins(str(copy / place))
                assert all(left.get(each, never).version == each for each in range(batch))

        synced.before_each = check
        pins.get(batch, lambda chosen=chosen: chosen)
        check(batch + 1)


def step(folder: Path, sink: Sink, start: str) -> Any:
    return Step(
        start=start,
        checkpoint=str(folder / "c"),
        following=Following(str(folder / "s"), None, sweeps=False),
        reading=Reading("json", ("value",)),
        output=Output(("value",), False),
        sink=sink,
        errors=FolderSink(str(folder / "errors")),
    )


def test_a_version_that_is_lost_after_it_was_pinned(tmp_path: Path) -> None:
    """Another one takes its place only if nothing of the batch can have got out."""
    careless = FunctionSink(lambda rows, batch: None)
    first = version(tmp_path / "s", "one")
    version(tmp_path / "s", "two")
    pins = Pins(str(tmp_path / "c" / "pins"))
    pins.put(5, Pinned.of(first))
    assert step(tmp_path, careless, "1").pin(5).version == 1
    shutil.rmtree(first.folder)
    with pytest.raises(FykeError, match=r"was begun with version 1 .*batch-5\.json"):
        step(tmp_path, careless, "2").pin(5)
    folder = FolderSink(str(tmp_path / "out"))
    (tmp_path / "out" / "batch=5").mkdir(parents=True)
    with pytest.raises(FykeError, match="was begun with version 1"):
        step(tmp_path, folder, "3").pin(5)
    (tmp_path / "out" / "batch=5").rmdir()
    assert step(tmp_path, folder, "4").pin(5).version == 2
    assert pins.get(5, never).version == 2


def test_versions_that_a_batch_may_need_are_kept(tmp_path: Path) -> None:
    made = [version(tmp_path / "s", str(number)) for number in range(5)]
    pins = Pins(str(tmp_path / "pins"))
    pins.put(7, Pinned.of(made[2]))
    Following(str(tmp_path / "s"), None, sweeps=False).sweep(pins)
    assert versions.numbers(tmp_path / "s") == [1, 2, 3, 4, 5]
    Following(str(tmp_path / "s"), 2, sweeps=True).sweep(pins)
    assert versions.numbers(tmp_path / "s") == [2, 3, 4, 5]
    Following(str(tmp_path / "s"), None, sweeps=True).sweep(pins)
    assert versions.numbers(tmp_path / "s") == [3, 4, 5]
    pins.forget_before(9)
    Following(str(tmp_path / "s"), None, sweeps=True).sweep(pins)
    assert versions.numbers(tmp_path / "s") == [5]


def test_a_repeated_batch_counts_once(tmp_path: Path) -> None:
    file = str(tmp_path / "tally.json")
    assert batch_counts.load(file) == MatchTotals()
    for batch in (0, 1, 1, 2):
        batch_counts.store(file, batch_counts.load(file).add(batch, 3, MatchCounts(10, 1)))
    assert batch_counts.load(file) == MatchTotals(batch=2, version=3, matches=30, errors=3)
    Path(file).write_text("{}")
    with pytest.raises(FykeError, match="cannot be read"):
        batch_counts.load(file)
