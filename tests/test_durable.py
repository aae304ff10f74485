"""Files and folders that appear whole or not at all: at no moment is there anything else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fyke import durable
from fyke.durable import make_folder, publish_folder, replace_folder, restore_folder, write_whole
from tests.synced import Synced


def moments(disk: Synced, look: Callable[[Path], object]) -> list[object]:
    """What is seen at each moment of what follows, after a power cut and after a crash."""
    seen: list[object] = []
    disk.before_each = lambda: seen.extend(map(look, disk.possible()))
    return seen


def text_of(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


@pytest.mark.parametrize("before", [None, "the old text"])
def test_a_file_is_the_old_one_or_the_new_one(
    tmp_path_factory: pytest.TempPathFactory, before: str | None
) -> None:
    folder = tmp_path_factory.mktemp("disk")
    if before is not None:
        (folder / "file").write_text(before)
    with Synced(folder, tmp_path_factory.mktemp("left")).watching() as disk:
        seen = moments(disk, lambda copy: text_of(copy / "file"))
        write_whole(folder / "file", "the new text é")
        assert text_of(disk.left() / "file") == "the new text é"
    assert {before} <= {*seen} <= {before, "the new text é"}
    assert [each.name for each in folder.iterdir()] == ["file"]


def test_a_folder_is_published_whole(synced: Synced) -> None:
    staging = synced.folder / "staging"
    (staging / "below").mkdir(parents=True)
    (staging / "one").write_text("1")
    (staging / "below" / "two").write_text("2")

    def look(copy: Path) -> dict[str, str] | None:
        files = {str(each.relative_to(copy)): each for each in copy.rglob("*") if each.is_file()}
        found = {name: each.read_text() for name, each in files.items() if name[:3] == "new"}
        return found or ({} if (copy / "new").exists() else None)

    seen = moments(synced, look)
    publish_folder(staging, synced.folder / "new")
    whole = {"new/one": "1", "new/below/two": "2"}
    assert look(synced.left()) == whole
    assert all(each in (None, whole) for each in seen) and None in seen


def test_a_folder_is_made_for_good(synced: Synced) -> None:
    (synced.folder / "a").mkdir()
    make_folder(synced.folder / "a" / "b" / "c")
    make_folder(synced.folder / "x" / "y")
    left = synced.left()
    assert (left / "a" / "b" / "c").is_dir() and (left / "x" / "y").is_dir()
    make_folder(synced.folder / "x" / "y" / "z")
    assert (synced.left() / "x" / "y" / "z").is_dir()


OLD, NEW = {"one": "1", "gone/two": "2"}, {"one": "I", "below/three": "III"}


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def held_in(folder: Path) -> dict[str, str] | None:
    files = [each for each in folder.rglob("*") if each.is_file()]
    found = {str(each.relative_to(folder)): each.read_text() for each in files}
    return found if folder.exists() else None


@pytest.fixture
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synced]:
    """A disk with a folder `results`, and a new one beside it of which nothing is synced."""
    folder = tmp_path_factory.mktemp("disk")
    fill(folder / "results", OLD)
    with Synced(folder, tmp_path_factory.mktemp("left")).watching() as disk:
        fill(folder / "new", NEW)
        yield disk


def test_a_folder_is_the_old_one_or_the_new_one(two: Synced) -> None:
    seen = moments(two, lambda copy: held_in(copy / "results"))
    replace_folder(two.folder / "new", two.folder / "results")
    assert held_in(two.left() / "results") == held_in(two.folder / "results") == NEW
    assert OLD in seen and all(each in (OLD, NEW) for each in seen)
    assert held_in(two.folder / "new") == OLD
    assert sorted(each.name for each in two.folder.iterdir()) == ["new", "results"]


@pytest.mark.parametrize("renamed", [0, 1, 2, 3])
def test_without_an_exchange_what_was_there_is_put_back(
    two: Synced, monkeypatch: pytest.MonkeyPatch, renamed: int
) -> None:
    """Cut short after so many of the renames that stand for it."""

    def rename(path: Path, target: Path) -> None:
        if len(done) == renamed:
            raise KeyboardInterrupt
        done.append(path)
        os.rename(path, target)

    done: list[Path] = []
    monkeypatch.setattr(durable, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", rename)
    with suppress(KeyboardInterrupt):
        replace_folder(two.folder / "new", two.folder / "results")
    assert len(done) == renamed
    monkeypatch.undo()
    cut = two.left() / "results"
    restore_folder(cut)
    assert held_in(cut) == (OLD if renamed < 3 else NEW)
    restore_folder(two.folder / "results")
    assert held_in(two.folder / "results") == (OLD if renamed < 2 else NEW)


def test_a_replacement_that_is_refused_says_why(two: Synced) -> None:
    with pytest.raises(FileNotFoundError, match="results"):
        replace_folder(two.folder / "new", two.folder / "absent" / "results")
    assert held_in(two.folder / "new") == NEW and held_in(two.folder / "results") == OLD
