"""A batch of a stream, without Spark: which version of the subscriptions it sees."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fyke import FykeError, Matcher
from fyke.pipeline.live.micro_batch import MicroBatch, Places
from fyke.spark.streams.step import Following
from fyke.spark.versions import versions
from fyke.spark.versions.pins import Pinned, Pins


def version(folder: Path, *ids: str) -> versions.Version:
    matcher = Matcher()
    for id in ids:
        matcher.add(id, "a = 1")
    return versions.add(folder, matcher)


@dataclass(frozen=True)
class Chosen:
    """Subscriptions of which a version was chosen."""

    chosen: Following

    def following(self) -> Following:
        return self.chosen


def pinned(folder: Path, run: str, batch: int, number: int | None = None) -> Pinned:
    """What a batch sees in a start of the stream of its own."""
    nothing: Any = None
    names = Places(**{name: str(folder / name) for name in Places.__slots__})
    following = Following(str(folder / "compiled"), number, sweeps=True)
    standing: Any = Chosen(following)
    return MicroBatch(run, 1, nothing, standing, nothing, names).pin(batch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Batch 5 sees version 1; there is a newer one."""
    version(tmp_path / "compiled", "one")
    assert pinned(tmp_path, "first", 5).version == 1
    version(tmp_path / "compiled", "one", "two")
    return tmp_path


def test_a_repeated_batch_sees_what_it_saw(folder: Path) -> None:
    assert pinned(folder, "second", 5).version == 1
    assert pinned(folder, "second", 6).version == 2
    assert pinned(folder, "second", 7, number=1).version == 1


@pytest.mark.parametrize("is_journalled", [False, True])
@pytest.mark.parametrize("damage", ["lost", "torn"])
def test_a_lost_version_is_replaced_only_before_the_journal(
    folder: Path, is_journalled: bool, damage: str
) -> None:
    """What is in the journal was found with the old one: notifications are made of nothing else."""
    first = versions.version(folder / "compiled", 1)
    if is_journalled:
        (folder / "journal" / "batch=5").mkdir(parents=True)
    if damage == "lost":
        shutil.rmtree(first.folder)
    else:
        (first.folder / first.shards[0] / "manifest.json").write_text("{")
    number = 1 if is_journalled else 2
    for run in ("second", "third"):
        assert pinned(folder, run, 5).version == number
        assert Pins(str(folder / "pins")).get(5, pytest.fail).version == number


def test_nothing_is_pinned_that_cannot_be_read(folder: Path) -> None:
    for number in (1, 2):
        shutil.rmtree(versions.version(folder / "compiled", number).folder)
    with pytest.raises(FykeError):
        pinned(folder, "second", 5)
