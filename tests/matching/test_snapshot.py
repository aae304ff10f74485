"""Snapshots as folders: what comes back, and everything that is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fyke
from fyke.matching import snapshot
from tests.synced import Synced

FACTS: dict[str, object] = {"engine": "scan", "subscriptions": 3, "nested": {"a": [1, None, "é"]}}


def some_arrays() -> dict[str, npt.NDArray[Any]]:
    return {
        "ids.bytes": np.frombuffer(b"alicebob", np.uint8),
        "ids.places": np.array([5, 83886083], np.int64),
        "matrix": np.arange(12, dtype=np.float64).reshape(3, 4).T,
        "nothing": np.empty(0, np.int32),
        "flags": np.array([True, False]),
    }


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "snapshot"
    snapshot.save(path, FACTS, some_arrays())
    return path


def files(path: Path) -> list[Path]:
    return sorted(each for each in path.rglob("*") if each.is_file())


def data_file(path: Path, name: str) -> Path:
    (found,) = path.glob(f"data-*/{name}.bin")
    return found


def test_what_comes_back(saved: Path) -> None:
    facts, arrays = snapshot.load(saved)
    assert facts == FACTS
    assert arrays.keys() == some_arrays().keys()
    for name, array in some_arrays().items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
        assert not arrays[name].flags.writeable
        assert arrays[name].ctypes.data % 64 == 0 or not array.size


def test_the_folder(saved: Path) -> None:
    assert [each.name for each in files(saved)] == [
        *(f"{name}.bin" for name in sorted(some_arrays())),
        "manifest.json",
    ]
    manifest = json.loads((saved / "manifest.json").read_text())
    assert manifest["version"] == snapshot.VERSION
    assert manifest["files"]["matrix"]["shape"] == [4, 3]
    assert data_file(saved, "flags").read_bytes() == b"\1\0"


@pytest.mark.parametrize("big_endian", [np.dtype(">i4"), np.dtype(">f8")])
def test_the_order_of_bytes_is_the_files(tmp_path: Path, big_endian: np.dtype[Any]) -> None:
    snapshot.save(tmp_path / "s", {}, {"a": np.array([1, 2], big_endian)})
    _, arrays = snapshot.load(tmp_path / "s")
    assert arrays["a"].tolist() == [1, 2]
    assert memoryview(arrays["a"])[1] == 2


@pytest.mark.parametrize(
    "array", [np.array(["a"]), np.array([None]), np.array([1j]), np.array(["2026"], "M8[s]")]
)
def test_only_numbers(tmp_path: Path, array: npt.NDArray[Any]) -> None:
    with pytest.raises(fyke.FykeError, match="expected numbers"):
        snapshot.save(tmp_path / "s", {}, {"a": array})
    assert not list((tmp_path / "s").iterdir())


@pytest.mark.parametrize("name", ["", "../a", "a/b", "A", "a..b", ".", "a\0", "a\n", "/a"])
def test_names_that_could_lead_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(fyke.FykeError, match="no name"):
        snapshot.save(tmp_path / "s", {}, {name: np.zeros(1)})


# --- damage --------------------------------------------------------------------------------------


def damages() -> list[tuple[str, Callable[[Path], None]]]:
    def flipped(at: int) -> Callable[[Path], None]:
        def flip(path: Path) -> None:
            data = bytearray(path.read_bytes())
            data[at % len(data)] ^= 0x10
            path.write_bytes(data)

        return flip

    return [
        ("first byte", flipped(0)),
        ("middle byte", flipped(len(FACTS) + 2)),
        ("last byte", flipped(-1)),
        ("cut", lambda path: path.write_bytes(path.read_bytes()[:-1])),  # type: ignore[list-item]
        ("emptied", lambda path: path.write_bytes(b"")),  # type: ignore[list-item]
        ("longer", lambda path: path.write_bytes(path.read_bytes() + b"x")),  # type: ignore[list-item]
        ("deleted", lambda path: path.unlink()),
        ("a folder", lambda path: (path.unlink(), path.mkdir())),  # type: ignore[list-item]
    ]


@pytest.mark.parametrize("damage", damages(), ids=lambda each: each[0])
def test_damage_to_any_file(saved: Path, damage: tuple[str, Callable[[Path], None]]) -> None:
    for name in [each.relative_to(saved) for each in files(saved)]:
        file = saved / name
        whole = file.read_bytes()
        if not whole and damage[0] in ("first byte", "middle byte", "last byte", "cut", "emptied"):
            continue
        damage[1](file)
        with pytest.raises(fyke.FykeError, match=r"torn|corrupt|no snapshot|has no"):
            snapshot.load(saved)
        if file.is_dir():
            file.rmdir()
        file.write_bytes(whole)
        snapshot.load(saved)


def test_any_changed_byte_of_the_manifest(saved: Path) -> None:
    """Refused, or the manifest means the same: blanks may change, and case within an escape."""
    manifest = saved / "manifest.json"
    whole = manifest.read_bytes()
    refused = 0
    for at in range(len(whole)):
        for bit in (0, 5):
            changed = bytearray(whole)
            changed[at] ^= 1 << bit
            manifest.write_bytes(changed)
            try:
                facts, arrays = snapshot.load(saved)
            except fyke.FykeError:
                refused += 1
            else:
                assert facts == FACTS
                assert arrays.keys() == some_arrays().keys()
    assert refused > len(whole)


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A manifest that is wrong, with the checksum that makes it look right."""
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["sha256"]
    change(manifest)
    manifest["sha256"] = snapshot._seal(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("another release of Fyke", lambda m: m.update(version=4)),
        ("version", lambda m: m.update(version=99)),
        ("version", lambda m: m.update(version=None)),
        ("no snapshot", lambda m: m.pop("format")),
        ("corrupt", lambda m: m.pop("data")),
        ("corrupt", lambda m: m.pop("facts")),
        ("corrupt", lambda m: m.pop("files")),
        ("corrupt", lambda m: m.update(data="..")),
        ("corrupt", lambda m: m.update(data="/etc")),
        ("corrupt", lambda m: m.update(data=7)),
        ("corrupt", lambda m: m.update(facts=7)),
        ("corrupt", lambda m: m.update(files=[1])),
        ("corrupt", lambda m: m.update(files={"../../x": m["files"]["flags"]})),
        ("corrupt", lambda m: m.update(files={"/etc/passwd": m["files"]["flags"]})),
        ("has no", lambda m: m["files"].update(other=m["files"]["flags"])),
        ("corrupt", lambda m: m["files"].update(flags=None)),
        ("corrupt", lambda m: m["files"].update(flags=[])),
        ("corrupt", lambda m: m["files"]["flags"].update(type="|O")),
        ("corrupt", lambda m: m["files"]["flags"].update(type=None)),
        ("corrupt", lambda m: m["files"]["flags"].update(type="<i8")),
        ("corrupt", lambda m: m["files"]["flags"].update(shape=[3])),
        ("corrupt", lambda m: m["files"]["flags"].update(shape=[-1, -2])),
        ("corrupt", lambda m: m["files"]["flags"].update(shape=[2.0])),
        ("corrupt", lambda m: m["files"]["flags"].update(shape=[True, 2])),
        ("corrupt", lambda m: m["files"]["flags"].update(shape=None)),
        ("corrupt", lambda m: m["files"]["flags"].update(size="2")),
        ("torn", lambda m: m["files"]["flags"].update(shape=[2**60], size=2**60)),
        ("corrupt", lambda m: m["files"]["flags"].update(sha256=None)),
        ("corrupt", lambda m: m["files"]["flags"].pop("sha256")),
    ],
)
def test_manifests_that_lie(saved: Path, said: str, change: Callable[[Any], object]) -> None:
    rewritten(saved, change)
    with pytest.raises(fyke.FykeError, match=said):
        snapshot.load(saved)


@pytest.mark.parametrize("text", ["", "[]", "7", "{", '{"version": 1}', "[" * 100_000, "\ufffd"])
def test_manifests_that_are_none(saved: Path, text: str) -> None:
    (saved / "manifest.json").write_text(text)
    with pytest.raises(fyke.FykeError):
        snapshot.load(saved)


# --- replacing -----------------------------------------------------------------------------------


def test_saving_again_replaces_and_leaves_nothing_behind(saved: Path) -> None:
    (saved / "data-0123456789abcdef").mkdir()  # an interrupted writer
    (saved / "manifest-0123456789abcdef.new").write_text("{")
    _, before = snapshot.load(saved)
    snapshot.save(saved, {"second": True}, {"a": np.arange(3)})
    facts, after = snapshot.load(saved)
    assert facts == {"second": True}
    assert after["a"].tolist() == [0, 1, 2]
    assert [each.name for each in files(saved)] == ["a.bin", "manifest.json"]
    assert before["ids.bytes"].tobytes() == b"alicebob"  # still mapped


def test_a_crash_at_any_moment_leaves_the_old_or_the_new(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call that changes the disk fails once; also as if the process had died there."""
    for died in (False, True):
        for moment in range(100):
            calls = 0

            def failing(
                real: Callable[..., Any], moment: int = moment, died: bool = died
            ) -> Callable[..., Any]:
                def fail(*given: Any, **named: Any) -> Any:
                    nonlocal calls
                    calls += 1
                    if calls == moment + 1 or (died and calls > moment):
                        raise OSError("the disk is full")
                    return real(*given, **named)

                return fail

            with monkeypatch.context() as patch:
                for owner, name in (
                    (os, "fsync"),
                    (Path, "mkdir"),
                    (Path, "replace"),
                    (Path, "unlink"),
                    (snapshot.shutil, "rmtree"),
                ):
                    patch.setattr(owner, name, failing(getattr(owner, name)))
                with suppress(fyke.FykeError):
                    snapshot.save(saved, {"moment": moment}, {"a": np.arange(moment)})
            facts, arrays = snapshot.load(saved)
            if "moment" in facts:
                assert arrays["a"].size == facts["moment"]
            else:
                assert facts == FACTS
            if calls <= moment:
                break
        else:
            pytest.fail("a hundred calls are not enough")
        assert facts == {"moment": moment}
        snapshot.save(saved, FACTS, some_arrays())
        assert len(files(saved)) == len(some_arrays()) + 1


def test_saving_never_overwrites_what_is_no_snapshot(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    for name, text in (("thesis.txt", "years"), ("manifest.json", '{"name": "an extension"}')):
        (mine / name).write_text(text)
        with pytest.raises(fyke.FykeError, match="nothing was written"):
            snapshot.save(mine, {}, {})
        assert [each.name for each in mine.iterdir()] == [name]
        (mine / name).unlink()
    snapshot.save(mine, {}, {})  # an empty folder is nobody's
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(fyke.FykeError):
            snapshot.save(path, {}, {})
    with pytest.raises(fyke.FykeError, match="no snapshot"):
        snapshot.load(tmp_path / "file")


def test_a_power_cut_at_any_moment_leaves_the_old_or_the_new(synced: Synced) -> None:
    path, place = synced.folder / "new" / "snapshot", Path("new") / "snapshot"
    snapshot.save(path, FACTS, some_arrays())

    def check() -> None:
        for copy in synced.possible():
            facts, arrays = snapshot.load(copy / place)
            assert (facts, len(arrays)) in ((FACTS, len(some_arrays())), ({"second": True}, 1))

    synced.before_each = check
    snapshot.save(path, {"second": True}, {"a": np.arange(3)})
    assert snapshot.load(synced.left() / place)[0] == {"second": True}


def test_a_power_cut_after_the_first_one_was_saved(synced: Synced) -> None:
    """Also where an earlier writer was interrupted after it had made the folder."""
    (synced.folder / "begun").mkdir()
    for name in ("begun", "new"):
        snapshot.save(synced.folder / name, FACTS, some_arrays())
        for copy in synced.possible():
            assert snapshot.load(copy / name)[0] == FACTS


class Meanwhile:
    """Saves another snapshot just before this process opens a file for the n-th time."""

    def __init__(self, path: Path, moments: set[int], patch: pytest.MonkeyPatch) -> None:
        self._path, self._moments = path, moments
        self._open = Path.open
        self._patch = patch
        self.opened = 0
        self.saved = 0
        patch.setattr(Path, "open", self._opened())

    def _opened(self) -> Callable[..., Any]:
        def opened(path: Path, *given: Any, **named: Any) -> Any:
            self.opened += 1
            if self.opened in self._moments:
                self.saved += 1
                with self._patch.context() as patch:
                    patch.setattr(Path, "open", self._open)
                    size = 10 + self.saved
                    arrays = {name: np.full(size, size) for name in ("a", "b", "c")}
                    snapshot.save(self._path, {"size": size}, arrays)
            return self._open(path, *given, **named)

        return opened


@pytest.mark.parametrize("moments", [*({at} for at in range(1, 6)), {2, 5}, {2, 4}, {3, 6, 8, 9}])
def test_another_saves_while_this_one_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moments: set[int]
) -> None:
    """Whenever that is and however often, what is opened is one of them, as a whole."""
    arrays = {name: np.full(10, 10) for name in ("a", "b", "c")}
    snapshot.save(tmp_path, {"size": 10}, arrays)
    with monkeypatch.context() as patch:
        others = Meanwhile(tmp_path, moments, patch)
        facts, arrays = snapshot.load(tmp_path)
        name = snapshot.identity(tmp_path)
    assert 10 <= facts["size"] <= 10 + others.saved
    assert all(each.tolist() == [facts["size"]] * facts["size"] for each in arrays.values())
    assert others.saved
    assert name == snapshot.identity(tmp_path)


def test_one_who_never_stops_saving_is_given_up_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot.save(tmp_path, {}, {"a": np.arange(3)})
    monkeypatch.setattr(snapshot, "_ATTEMPTS", 5)
    with monkeypatch.context() as patch:
        others = Meanwhile(tmp_path, set(range(2, 1000)), patch)
        with pytest.raises(fyke.FykeError, match="has no"):
            snapshot.load(tmp_path)
    assert others.saved > 5


READER = """
import sys
from pathlib import Path
import fyke
from fyke.matching import snapshot
seen = set()
print("ready", flush=True)
while len(seen) < 3 or max(seen) < 30:
    facts, arrays = snapshot.load(Path(sys.argv[1]))
    if facts["size"] != arrays["a"].size or (arrays["a"] != facts["size"]).any():
        sys.exit("mixed")
    seen.add(facts["size"])
"""


def test_two_processes(tmp_path: Path) -> None:
    """One reads all the time while this one saves: it sees whole snapshots, old or new."""
    path = tmp_path / "shared"
    snapshot.save(path, {"size": 1}, {"a": np.full(1, 1)})
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
        size = 0
        while reader.poll() is None and size < 5000:
            size += 1
            snapshot.save(path, {"size": size}, {"a": np.full(size, size)})
        _, errors = reader.communicate(timeout=20)
    finally:
        reader.kill()
    assert reader.returncode == 0, errors
