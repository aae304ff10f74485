"""Drivers killed in the midst of a batch: nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow.parquet as pq

from fyke import Matcher
from fyke.logs.partitions import Partitions
from fyke.spark import versions

STREAM = Path(__file__).parent / "stream.py"
LOG_STREAM = Path(__file__).parent / "log_stream.py"
Program = Callable[..., subprocess.CompletedProcess[str]]


def put(folder: Path, name: int, lines: Iterable[str]) -> None:
    """A file of the stream, which appears whole; later ones are newer."""
    folder.mkdir(exist_ok=True)
    hidden = folder / f".{name}"
    hidden.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    os.utime(hidden, (1_700_000_000 + name, 1_700_000_000 + name))
    hidden.rename(folder / f"{name}.txt")


def numbered(first: int, end: int) -> list[str]:
    return [json.dumps({"k": k}) for k in range(first, end)]


def matcher(mark: str) -> Matcher:
    made = Matcher()
    made.add(f"{mark} even", "even = true or not exists even")
    made.add(f"{mark} never", "k < 0")
    return made


def found(out: Path) -> list[tuple[int, int, str]]:
    """(batch, k, subscription) of all published rows; without Spark."""
    rows = []
    for file in out.glob("batch=*/*.parquet"):
        batch = int(file.parent.name.removeprefix("batch="))
        for row in pq.ParquetFile(file).read().to_pylist():
            rows.append((batch, json.loads(row["value"])["k"], row["subscription"]))
    return sorted(rows)


def all_of(path: Path) -> list[str]:
    logs = Partitions.open(path).logs()
    return [record.value for log in logs for record in log.read(0, log.end())]


def test_the_driver_killed_twice(program: Program, tmp_path: Path) -> None:
    """Once before a batch is published, once after; the versions change meanwhile."""
    for number in range(4):
        lines = [*numbered(number * 50, number * 50 + 50), "broken"]
        put(tmp_path / "events", number, lines)
    folder = str(tmp_path)
    versions.add(tmp_path / "subscriptions", matcher("1"))
    done = program(STREAM, folder, "staged", "1")
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert list((tmp_path / "out").glob("_staging-1*"))
    versions.add(tmp_path / "subscriptions", matcher("2"))
    done = program(STREAM, folder, "published", "2")
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert not (tmp_path / "checkpoint" / "spark" / "commits" / "2").exists()
    versions.add(tmp_path / "subscriptions", matcher("3"))
    done = program(STREAM, folder)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "batch=3, version=3, matches=200, errors=4" in done.stdout
    saw = {0: 1, 1: 1, 2: 2, 3: 3}
    expected = [(k // 50, k, f"{saw[k // 50]} even") for k in range(200)]
    assert found(tmp_path / "out") == expected
    assert not list((tmp_path / "out").glob("_staging*"))
    errors = sorted((tmp_path / "checkpoint" / "errors").glob("batch=*/*.parquet"))
    rows = [row for file in errors for row in pq.ParquetFile(file).read().to_pylist()]
    assert [row["value"] for row in rows] == ["broken"] * 4


def test_the_driver_killed_after_an_append(program: Program, tmp_path: Path) -> None:
    """The batch comes again and is not appended again; what was staged is swept."""
    Partitions.create(tmp_path / "from").log(0).append([str(k) for k in range(45)])
    done = program(LOG_STREAM, str(tmp_path), "appended")
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert len(all_of(tmp_path / "to")) >= 20
    done = program(LOG_STREAM, str(tmp_path))
    assert done.returncode == 0, done.stderr[-2000:]
    assert sorted(map(int, all_of(tmp_path / "to"))) == list(range(45))
    assert all(log.end() for log in Partitions.open(tmp_path / "to").logs())
    assert not list((tmp_path / "to" / "staged").iterdir())
