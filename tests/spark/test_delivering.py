"""Snapshots on their way from workers to the driver: whole, once, or refused."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fyke import FykeError, Matcher
from fyke.matching.snapshot import identity
from fyke.spark.placements.memory import passing_max
from fyke.spark.shipping import delivering
from fyke.spark.shipping.archives import pack, unpack
from fyke.spark.shipping.delivering import SnapshotDelivery, Taking


@pytest.fixture
def matcher(monkeypatch: pytest.MonkeyPatch) -> Matcher:
    """One that takes several chunks."""
    monkeypatch.setattr(delivering, "CHUNK", 1000)
    made = Matcher()
    made.add_many((f"s{number}", f"n = {number}") for number in range(200))
    return made


def sent(folder: Path, matcher: Matcher) -> list[dict[str, Any]]:
    """The rows of a worker that does not see the folder."""
    folder.mkdir(exist_ok=True)
    rows = list(SnapshotDelivery(str(folder), "_mark-elsewhere").deliver("shard-00000", matcher))
    assert len(rows) > 3
    return rows


def test_chunks_in_any_order(tmp_path: Path, matcher: Matcher) -> None:
    rows = sent(tmp_path / "v", matcher)
    random.Random(1).shuffle(rows)
    taking = Taking(tmp_path / "v")
    for row in rows:
        assert not (tmp_path / "v" / "shard-00000").exists()  # it appears when it is whole
        taking.take(row)  # type: ignore[arg-type]
    taking.check()
    opened = Matcher.open(tmp_path / "v" / "shard-00000")
    assert opened.match({"n": 7}) == {"s7"} or list(opened.match({"n": 7})) == ["s7"]


def test_the_first_complete_attempt_wins(tmp_path: Path, matcher: Matcher) -> None:
    first, second = sent(tmp_path / "v", matcher), sent(tmp_path / "v", matcher)
    taking = Taking(tmp_path / "v")
    states = []
    for row in [*first[:-1], *second, first[-1]]:
        taking.take(row)  # type: ignore[arg-type]
        if (tmp_path / "v" / "shard-00000").exists():
            states.append(identity(tmp_path / "v" / "shard-00000"))
    assert len(states) == 2 and states[0] == states[1]


def test_a_worker_that_sees_the_folder_saves_there(tmp_path: Path, matcher: Matcher) -> None:
    delivery = SnapshotDelivery.begin(tmp_path / "v")
    (row,) = delivery.deliver("shard-00000", matcher)
    assert row.get("data") is None
    Taking(tmp_path / "v").take({"data": None, **row})  # type: ignore[arg-type]
    assert len(Matcher.open(tmp_path / "v" / "shard-00000")) == 200


def test_a_folder_of_the_same_name_deceives_nobody(tmp_path: Path, matcher: Matcher) -> None:
    """The mark is another one there."""
    elsewhere = SnapshotDelivery.begin(tmp_path / "v")
    rows = list(
        SnapshotDelivery(elsewhere.folder, "_mark-of-another-machine").deliver("s", matcher)
    )
    assert all(row["data"] for row in rows)


def test_a_task_that_is_late(
    tmp_path: Path, matcher: Matcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second attempt still works when the driver has all it wanted: it takes its own away."""
    delivery, save = SnapshotDelivery.begin(tmp_path / "v"), Matcher.save

    def late(matcher: Matcher, path: Path) -> None:
        delivery._sweep()
        save(matcher, path)

    monkeypatch.setattr(Matcher, "save", late)
    assert list(delivery.deliver("shard-00000", matcher)) == []
    assert list((tmp_path / "v").iterdir()) == []


def test_damage_on_the_way(tmp_path: Path, matcher: Matcher) -> None:
    rows = sent(tmp_path / "v", matcher)
    rows[1]["data"] = rows[1]["data"][:-1] + b"?"
    with pytest.raises(FykeError, match="damaged on its way"):
        for row in rows:
            Taking(tmp_path / "v").take(row)  # type: ignore[arg-type]


def test_what_is_incomplete(tmp_path: Path, matcher: Matcher) -> None:
    taking = Taking(tmp_path / "v")
    for row in sent(tmp_path / "v", matcher)[1:]:
        taking.take(row)  # type: ignore[arg-type]
    assert not (tmp_path / "v" / "shard-00000").exists()
    with pytest.raises(FykeError, match="incomplete"):
        taking.check()


class Told:
    """A session that knows one setting."""

    def __init__(self, value: str | None) -> None:
        self.conf = {} if value is None else {"spark.driver.maxResultSize": value}


@pytest.mark.parametrize(
    ("value", "limit"),
    [(None, 2**30), ("0", None), ("64m", 64 * 2**20), ("2g", 2**31), ("5000", 5000)],
)
def test_what_may_pass_the_driver(value: str | None, limit: int | None) -> None:
    assert passing_max(Told(value)) == limit  # type: ignore[arg-type]


def test_a_full_disk_is_a_sentence(
    tmp_path: Path, matcher: Matcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(delivering, "pack", full)
    with pytest.raises(FykeError, match=r"^worker \S+: .*No space left on device"):
        sent(tmp_path / "v", matcher)


LIMITED = """
import re, resource, sys
from pathlib import Path
from fyke.spark.versions.snapshots import Pin, mapped
small, large = Pin.of(sys.argv[1:]).parts
mapped(small)
used = 1024 * int(re.search(r"VmSize:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
resource.setrlimit(resource.RLIMIT_AS, (used + 2**20, used + 2**20))
mapped(large)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
def test_a_worker_with_too_little_memory(tmp_path: Path, matcher: Matcher) -> None:
    """Its addresses are bounded, as Spark does it."""
    matcher.save(tmp_path / "small")
    matcher.add_many((f"n{number}", f"name = '{'x' * 200}{number}'") for number in range(20_000))
    matcher.save(tmp_path / "large")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "small"), str(tmp_path / "large")],
        env={**os.environ, "FYKE_KERNELS": "plain"},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.splitlines()[-1]
    assert re.search(r"FykeError: worker \S+ has too little memory to map .*more shards=", last)


def test_an_archive_leads_nowhere_else(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("../outside", "x")
    with pytest.raises(FykeError, match="is no file of a snapshot"):
        unpack(tmp_path / "bad.zip", tmp_path / "opened")
    assert not (tmp_path / "outside").exists()


def test_an_archive_holds_a_snapshot(tmp_path: Path, matcher: Matcher) -> None:
    matcher.save(tmp_path / "snapshot")
    pack(tmp_path / "snapshot", tmp_path / "packed.zip")
    unpack(tmp_path / "packed.zip", tmp_path / "opened")
    assert identity(tmp_path / "opened") == identity(tmp_path / "snapshot")
