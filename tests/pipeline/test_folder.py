"""The folder of results: whatever happens to a run, it holds the old results or the new ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fyke import durable
from fyke.errors import FykeError
from fyke.pipeline.results.folder import Folder, replacing
from tests.synced import Synced

Files = dict[str, str]


def results(word: str) -> Files:
    """What a run leaves that says a word."""
    files = {"report.html": word, "journal/part-0": word, f"compiled/{word}/shard": word}
    return files | ({"refused-events.ndjson/part-0": word} if word == "old" else {})


def run(out: Path, word: str) -> None:
    """A run as far as the disk is concerned."""
    with replacing(out, {"events": word}) as folder:
        write(folder, word)


def write(folder: Folder, word: str) -> None:
    for name, text in results(word).items():
        file = folder.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def held_in(out: Path) -> Files | None:
    """The results in a folder; None if there are none."""
    files = [file for file in sorted(out.rglob("*")) if file.is_file()]
    found = {str(file.relative_to(out)): file.read_text() for file in files}
    mark = found.pop("pipeline.json", None)
    found.pop("notes.txt", None)
    assert not found or mark is not None
    return found if mark is not None else None


def beside(out: Path) -> list[str]:
    return sorted(each.name for each in out.parent.iterdir() if each != out)


def test_the_old_results_stay_until_the_new_ones_are_there(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "below" / "out"
    run(out, "old")
    (out / "notes.txt").write_text("mine")
    with replacing(out, {}) as folder:
        assert held_in(out) == results("old")
        write(folder, "new")
        assert held_in(out) == results("old")
    assert held_in(out) == results("new")
    assert (out / "notes.txt").read_text() == "mine"
    assert beside(out) == []


@pytest.mark.parametrize("failure", [FykeError, KeyboardInterrupt, MemoryError, SystemExit])
def test_a_run_that_fails_leaves_no_trace(tmp_path: Path, failure: type[BaseException]) -> None:
    out = tmp_path / "out"
    for before in (None, results("old")):
        if before:
            run(out, "old")
        with pytest.raises(failure), replacing(out, {}) as folder:
            write(folder, "new")
            raise failure
        assert held_in(out) == before
        assert beside(out) == []
    assert out.exists()


KILLED = """
import os, random, signal, sys
from itertools import count
from pathlib import Path
from fyke import durable
from tests.pipeline.test_folder import run

base, exchanges = sys.argv[1], sys.argv[2] == "True"
left = None
exchange = durable._exchange

def step(event, arguments):
    global left
    if left is not None and event in WATCHED and base in str(arguments[0]):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

def exchanged(one, other):
    step("os.rename", (one,))
    return exchange(one, other) if exchanges else False

def is_killed(out, word, steps):
    global left
    child = os.fork()
    if not child:
        left = steps
        run(out, word)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

durable._exchange = exchanged
os.fsync = lambda handle: None  # a kill loses nothing that was written
WATCHED = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "open"}
sys.addaudithook(step)
for steps in count():
    out = Path(base, str(steps), "out")
    run(out, "old")
    (out / "notes.txt").write_text("mine")
    if not is_killed(out, "new", steps):
        break
    if steps % 3 == 0 and out.exists():
        is_killed(out, "newer", random.Random(steps).randrange(70))
"""
"""Kills runs (-9) after every number of their steps on the disk; every third, also the next run."""


@pytest.mark.parametrize("exchanges", [True, False])
def test_killed_at_any_step(tmp_path: Path, exchanges: bool) -> None:
    """Old or new results, and the next run tidies up; files of others survive."""
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(exchanges)]
    subprocess.run(command, check=True)
    seen: Counter[str] = Counter()
    for out in sorted(tmp_path.glob("*/")):
        out /= "out"
        found = held_in(out) if exchanges or out.exists() else None
        word = found["report.html"] if found else "aside"
        assert found == (results(word) if found else None)
        seen[word] += 1
        with pytest.raises(KeyboardInterrupt), replacing(out, {}):
            raise KeyboardInterrupt
        assert held_in(out) in ([found] if found else [results("old"), results("new")])
        assert (out / "notes.txt").read_text() == "mine"
        assert beside(out) == []
    assert seen["old"] > 10 and seen["new"] > 5, seen
    assert bool(seen["aside"]) != exchanges


def test_a_cut_of_power_at_any_moment(tmp_path_factory: pytest.TempPathFactory) -> None:
    disk_folder = tmp_path_factory.mktemp("disk")
    run(disk_folder / "out", "old")
    (disk_folder / "out" / "notes.txt").write_text("mine")
    seen: list[Files | None] = []
    notes: list[bool] = []
    with Synced(disk_folder, tmp_path_factory.mktemp("left")).watching() as disk:

        def look() -> None:
            cut, removed, crashed = disk.possible()
            seen.extend(held_in(copy / "out") for copy in (cut, removed, crashed))
            notes.extend(bool(list(copy.rglob("notes.txt"))) for copy in (cut, crashed))

        disk.before_each = look
        run(disk_folder / "out", "new")
        look()
    assert all(each in (results("old"), results("new")) for each in seen)
    assert seen.count(results("old")) > 3 and results("new") in seen
    assert all(notes)


def test_what_someone_else_is_writing_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(out, "old")
    with replacing(out, {}) as folder:
        write(folder, "new")
        with pytest.raises(FykeError, match="is being written to by another run"):
            run(out, "other")
        assert folder.path.exists() and held_in(out) == results("old")
    assert held_in(out) == results("new")
    assert beside(out) == []


def test_neighbours_with_similar_names_stay(tmp_path: Path) -> None:
    names = [
        ".out.run-mine",
        ".out.run-0123456789abcdef0",
        ".outer.run-0123456789abcdef",
        "out.old",
    ]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.html").write_text("mine")
    (tmp_path / ".out.run-0123456789abcdef").mkdir()
    run(tmp_path / "out", "old")
    run(tmp_path / "out", "new")
    assert beside(tmp_path / "out") == sorted(names)


def test_a_link_to_a_folder_stays_one(tmp_path: Path) -> None:
    (tmp_path / "large disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "large disk" / "results")
    for word in ("old", "new"):
        run(tmp_path / "out", word)
        assert (tmp_path / "out").is_symlink()
        assert held_in(tmp_path / "large disk" / "results") == results(word)
    assert beside(tmp_path / "large disk" / "results") == []


@pytest.mark.parametrize("place", ["file", "file/out", "file/below/out", "/proc/fyke/out", "mount"])
def test_a_place_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "mount").mkdir()
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path).name == "mount")
    with pytest.raises(FykeError) as refused, replacing(tmp_path / place, {}):
        raise AssertionError("nothing is begun")
    assert str(tmp_path / place) in str(refused.value)
    assert "; expected a folder" in str(refused.value) or "holds no results" in str(refused.value)
    assert beside(tmp_path / "mount") == ["file"] and (tmp_path / "file").read_text() == "mine"


def test_results_that_cannot_take_the_name_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream may have begun there meanwhile, or the disk may refuse."""
    out = tmp_path / "out"
    problem = r"the results are in .*out\.run-\w+: .* of a stream"
    with pytest.raises(FykeError, match=problem), replacing(out, {}) as folder:
        write(folder, "new")
        Folder.resume(out, {"events": "a stream"})
    (kept,) = tmp_path.glob("out.run-*")
    assert held_in(kept) == results("new") and held_in(out) == {}
    assert beside(out) == [kept.name]

    def refuse(one: Path, other: Path) -> bool:
        raise OSError(18, "Invalid cross-device link")

    out = tmp_path / "elsewhere" / "out"
    run(out, "old")
    monkeypatch.setattr(durable, "_exchange", refuse)
    with pytest.raises(FykeError, match=r"the results are in .*Invalid cross-device link"):
        run(out, "new")
    assert held_in(out) == results("old")
    (kept,) = out.parent.glob("out.run-*")
    assert held_in(kept) == results("new")


def test_a_rename_that_is_refused_half_way_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where names cannot be exchanged, and the disk refuses the second of two renames."""
    out, rename = tmp_path / "out", Path.rename
    run(out, "old")

    def refuse(path: Path, target: Path) -> Path:
        if Path(target) == out and path.name.startswith(".out.run-"):
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(durable, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(FykeError, match=r"the results are in .*No space left on device"):
        run(out, "new")
    (kept,) = tmp_path.glob("out.run-*")
    assert held_in(out) == results("old") and held_in(kept) == results("new")
    assert beside(out) == [kept.name]
