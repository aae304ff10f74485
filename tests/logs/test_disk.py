"""Logs on a disk: nothing acknowledged is lost, nothing half written is seen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke import FykeError
from fyke.logs.disk import DiskLog
from fyke.logs.log import Origin
from fyke.logs.partitions import Partitions
from fyke.logs.segment import file_of, segments

NASTY = ["", "{}", "\U0001f600é\x00", "a\nb", "x" * 3_000_000, '{"n": 9007199254740993}']


def values(log: DiskLog, start: int = 0, end: int | None = None) -> list[str]:
    return [record.value for record in log.read(start, log.end() if end is None else end)]


def last_file(folder: Path) -> Path:
    return file_of(folder, segments(folder)[-1])


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    log = DiskLog(tmp_path / "log")
    assert log.end() == 0 and values(log) == []
    assert log.append(NASTY) == len(NASTY)
    assert log.append([]) == len(NASTY)
    assert log.append(["last"]) == len(NASTY) + 1
    other = DiskLog(tmp_path / "log")
    assert values(other) == [*NASTY, "last"]
    records = list(other.read(2, 5))
    assert [record.offset for record in records] == [2, 3, 4]
    assert all(record.time > 1_700_000_000_000_000 for record in records)
    with pytest.raises(FykeError, match="ends or is damaged at record 7"):
        list(other.read(5, 9))
    with pytest.raises(FykeError, match="in order"):
        list(other.read(5, 2))
    with pytest.raises(FykeError, match="not Unicode"):
        log.append(["good", "\ud800"])
    with pytest.raises(FykeError, match="text, not 5"):
        log.append([5])  # type: ignore[list-item]
    assert log.end() == len(NASTY) + 1


def test_files_follow_each_other(tmp_path: Path) -> None:
    log = DiskLog(tmp_path, segment_max=1000)
    reader = DiskLog(tmp_path)
    for batch in range(40):
        log.append([f"{batch}-{number}" * 9 for number in range(3)], Origin("w", batch))
        assert reader.end() == 3 * (batch + 1)
    assert len(segments(tmp_path)) > 4
    expected = [f"{batch}-{number}" * 9 for batch in range(40) for number in range(3)]
    assert values(reader) == expected
    for start in range(0, 120, 7):
        assert values(reader, start, min(120, start + 50)) == expected[start : start + 50]
    again = DiskLog(tmp_path, segment_max=1000)
    for batch in (0, 7, 39):
        assert again.append(["twice"], Origin("w", batch)) == 120
    assert again.append(["new"], Origin("other", 0)) == 121
    assert again.append(["new"], Origin("w", 40)) == 122


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_torn_end_is_cut(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Wherever a write breaks off, or whatever lies in its place, the groups before it stay."""
    folder = tmp_path_factory.mktemp("log")
    log = DiskLog(folder)
    log.append(["first"], Origin("w", 0))
    file = last_file(folder)
    whole = file.stat().st_size
    log.append(["second", "x" * data.draw(st.integers(0, 50)), "third"], Origin("w", 1))
    written = file.read_bytes()
    cut = data.draw(st.integers(whole, len(written) - 1))
    rest = data.draw(st.binary(max_size=40))
    file.write_bytes(written[:cut] + rest.replace(b"\xff", b""))
    reader = DiskLog(folder)
    assert reader.end() == 1 and values(reader) == ["first"]
    assert DiskLog(folder).append(["again"], Origin("w", 1)) == 2
    assert reader.end() == 2 and values(reader) == ["first", "again"]


@pytest.mark.parametrize("writer, batch", [("", 0), ("x" * 1001, 0), ("w", -1), ("w", 2**63)])
def test_an_origin_has_bounds(writer: str, batch: int) -> None:
    with pytest.raises(FykeError, match="expected"):
        Origin(writer, batch)


def test_a_large_group_is_whole_or_not_there(tmp_path: Path) -> None:
    log = DiskLog(tmp_path)
    log.append(["first"])
    log.append(["x" * 700_000] * 9)
    file = last_file(tmp_path)
    os.truncate(file, file.stat().st_size - 1)
    reader = DiskLog(tmp_path)
    assert reader.end() == 1
    DiskLog(tmp_path).append(["second"])
    assert values(reader) == ["first", "second"]


@pytest.mark.parametrize("place", [0, 4, 9, 40])
def test_damage_before_the_end_is_refused(tmp_path: Path, place: int) -> None:
    """Groups that were acknowledged are never cut off, whichever byte is wrong."""
    log = DiskLog(tmp_path)
    log.append(["first"])
    file = last_file(tmp_path)
    at = file.stat().st_size + place
    log.append(["second"])
    log.append(["third"])
    data = bytearray(file.read_bytes())
    data[at] ^= 0x55
    file.write_bytes(data)
    with pytest.raises(FykeError, match="damaged"):
        DiskLog(tmp_path).append(["fourth"])
    assert file.read_bytes() == data
    with pytest.raises(FykeError, match="damaged at record 1"):
        list(DiskLog(tmp_path).read(0, 3))


def test_threads_share_writes(tmp_path: Path) -> None:
    log = DiskLog(tmp_path)
    ends: list[int] = []

    def work(name: int) -> None:
        for batch in range(30):
            ends.append(log.append([f"{name} {batch}"] * 2, Origin(str(name), batch)))

    threads = [threading.Thread(target=work, args=[name]) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == list(range(2, 361, 2))
    found = values(log)
    for name in range(6):
        mine = [value for value in found if value.startswith(f"{name} ")]
        assert mine == [f"{name} {batch}" for batch in range(30) for _ in range(2)]


WRITER = """
import sys
from fyke.logs.disk import DiskLog
from fyke.logs.log import Origin
log = DiskLog(sys.argv[1], segment_max=20_000)
batch = int(sys.argv[2])
while True:
    end = log.append([f"{batch} {number}" * 20 for number in range(10)], Origin("w", batch))
    print(batch, end, flush=True)
    batch += 1
"""


def test_a_writer_killed_in_the_midst(tmp_path: Path) -> None:
    """What it said was appended is there; what it repeats afterwards is not doubled."""
    told, batch = -1, 0
    for round in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(batch)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        for _ in range(20 + round):
            told = int(writer.stdout.readline().split()[0])
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().split(b"\n")
        told = max([told, *(int(line.split()[0]) for line in rest[:-1])])
        writer.wait()
        batch = told  # as after a crash: the last one that is known comes again
    log = DiskLog(tmp_path)
    found = values(log)
    assert len(found) >= 10 * (told + 1)
    batches = len(found) // 10
    expected = [f"{batch} {number}" * 20 for batch in range(batches) for number in range(10)]
    assert found == expected


def test_partitions(tmp_path: Path) -> None:
    made = Partitions.create(tmp_path / "log", 3)
    assert Partitions.create(tmp_path / "log", 3) == made == Partitions.open(tmp_path / "log")
    for number, log in enumerate(made.logs()):
        log.append([str(number)])
    assert [log.end() for log in made.logs()] == [1, 1, 1]
    with pytest.raises(FykeError, match="has 3 partitions"):
        Partitions.create(tmp_path / "log", 2)
    with pytest.raises(FykeError, match="expected 1 to"):
        Partitions.create(tmp_path / "other", 0)
    with pytest.raises(FykeError, match="is no log"):
        Partitions.open(tmp_path)
    with pytest.raises(FykeError, match="is no log"):
        Partitions.create(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FykeError, match="cannot be used"):
        DiskLog(tmp_path / "file").append(["x"])
