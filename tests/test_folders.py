"""Folders for what can be made again, and whom they must belong to."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from fyke.folders import writable_folder


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))


def test_the_first_that_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert writable_folder("x") == tmp_path / "user" / "fyke" / "x"
    assert writable_folder("x", str(tmp_path / "ä 𝔣")) == tmp_path / "ä 𝔣" / "x"
    private = tmp_path / "tmp" / f"fyke-{os.getuid()}"
    assert writable_folder("x", str(tmp_path / "file")) == private / "x"
    assert private.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    assert writable_folder("y") == private / "y"


def test_a_temporary_folder_of_others_is_not_used(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "file")
    private = tmp_path / "tmp" / f"fyke-{os.getuid()}"
    private.mkdir()
    private.chmod(0o777)
    assert writable_folder("x", nowhere) is None
    private.rmdir()
    (tmp_path / "elsewhere").mkdir(0o700)
    private.symlink_to(tmp_path / "elsewhere")
    assert writable_folder("x", nowhere) is None
    private.unlink()
    private.write_text("a file")
    assert writable_folder("x", nowhere) is None
