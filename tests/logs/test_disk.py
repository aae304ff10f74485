"""Logs on a disk: nothing acknowledged is lost, nothing half written is seen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke import FykeError
from fyke.logs.disk import DiskLog
from fyke.logs.log import Origin
from fyke.logs.partitions import Partitions
from fyke.logs.segment import file_of, frames, segments
from tests.synced import Synced

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


# --- any history ---------------------------------------------------------------------------------

appends = st.tuples(
    st.sampled_from(["", "v", "w"]),  # who writes; "" is nobody
    st.integers(-2, 2),  # how far its batch is from its last one
    st.lists(st.text(max_size=12), max_size=3),
    st.sampled_from(["", "", "opened again", "the disk fails"]),
)


@pytest.fixture(scope="module")
def reached() -> Iterator[Counter[str]]:
    """How many histories had what they are about."""
    counts: Counter[str] = Counter()
    yield counts
    assert min(counts["several files"], counts["repeated"]) >= 50, counts


@dataclass(frozen=True)
class Kept:
    """What a log should hold."""

    values: tuple[str, ...] = ()
    batches: frozenset[tuple[str, int]] = frozenset()

    def last(self, writer: str) -> int:
        return max((batch for name, batch in self.batches if name == writer), default=-1)

    def after(self, writer: str, batch: int, given: list[str]) -> Kept:
        """The law of `append`: all of the values at the end, unless the batch was appended."""
        if not writer:
            return replace(self, values=(*self.values, *given))
        if batch <= self.last(writer):
            return self
        return Kept((*self.values, *given), self.batches | {(writer, batch)})


def append(log: DiskLog, writer: str, batch: int, given: list[str]) -> int:
    return log.append(given, Origin(writer, batch) if writer else None)


@given(st.lists(appends, max_size=25), st.integers(20, 400))
def test_each_batch_of_each_writer_is_appended_once(
    tmp_path_factory: pytest.TempPathFactory,
    reached: Counter[str],
    steps: list[tuple[str, int, list[str], str]],
    most: int,
) -> None:
    """However writers take turns, batches are repeated, files are full and the log is reopened."""
    folder = tmp_path_factory.mktemp("log")
    log, reader, kept = DiskLog(folder, segment_max=most), DiskLog(folder), Kept()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)  # which takes its time
        for writer, step, given_values, event in steps:
            batch = max(0, kept.last(writer) + step)
            kept = kept.after(writer, batch, given_values)
            assert append(log, writer, batch, given_values) == len(kept.values) == reader.end()
            if event == "opened again":
                log = DiskLog(folder, segment_max=most)
        for writer, batch in kept.batches:
            assert append(log, writer, batch, ["twice"]) == len(kept.values)
    assert values(reader) == list(kept.values)
    for start in range(0, len(kept.values), 5):
        assert values(reader, start, start + 1) == [kept.values[start]]
    reached["several files"] += len(segments(folder)) > 2
    reached["repeated"] += any(step <= 0 and writer for writer, step, *_ in steps)


@settings(max_examples=60)
@given(st.lists(appends, min_size=1, max_size=12), st.integers(20, 400))
def test_a_power_cut_takes_nothing_that_was_acknowledged(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int, list[str], str]],
    most: int,
) -> None:
    """At any moment, also after a disk that failed: then a group is there, whole, or it is not."""
    disk = Synced(tmp_path_factory.mktemp("disk"), tmp_path_factory.mktemp("left"))
    log = DiskLog(disk.folder / "log", segment_max=most)
    possible, coming, fails = {Kept()}, {Kept()}, False

    def check() -> None:
        for copy in disk.possible():
            assert tuple(values(DiskLog(copy / "log"))) in {each.values for each in coming}

    def moment() -> None:
        check()
        if fails:
            raise OSError("the disk is broken")

    with disk.watching():
        disk.before_each = moment
        for writer, step, given_values, event in steps:
            batch = max(0, max(kept.last(writer) for kept in possible) + step)
            after = {kept.after(writer, batch, given_values) for kept in possible}
            coming = possible | after
            if fails := event == "the disk fails":
                with suppress(FykeError):
                    append(log, writer, batch, given_values)
                fails, possible = False, coming
            else:
                end = append(log, writer, batch, given_values)
                found = tuple(record.value for record in log.read(0, end))
                possible = {kept for kept in after if kept.values == found}
                assert possible
            coming = possible
            check()
            if event == "opened again":
                log = DiskLog(disk.folder / "log", segment_max=most)


def test_what_a_reader_says_is_there_for_good(synced: Synced) -> None:
    """Its writer was killed, or its disk failed, before it was on the disk."""

    def fail() -> None:
        raise OSError("the disk is broken")

    writer = DiskLog(synced.folder / "new" / "log")
    writer.append(["first"])
    synced.before_each = fail
    with pytest.raises(FykeError, match="is broken"):
        writer.append(["second"])
    synced.before_each = lambda: None
    assert values(DiskLog(synced.left() / "new" / "log")) == ["first"]
    assert DiskLog(synced.folder / "new" / "log").end() == 2
    assert values(DiskLog(synced.left() / "new" / "log")) == ["first", "second"]


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
    untorn = DiskLog(folder / "another")
    untorn.append(["first"], Origin("w", 0))
    untorn.append(["again"], Origin("w", 1))
    assert file.stat().st_size == last_file(folder / "another").stat().st_size  # nothing is left


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


def in_one_write(log: DiskLog, groups: list[list[str]], fails: bool) -> list[int | str]:
    """Appends groups by threads that wait while another is written; the end or the problem."""
    said: list[int | str] = [""] * len(groups)

    def work(number: int) -> None:
        try:
            said[number] = log.append(groups[number])
        except FykeError as problem:
            said[number] = str(problem)

    threads = [threading.Thread(target=work, args=[number]) for number in range(len(groups))]
    sync = os.fsync
    calls = count()

    def fsync(handle: int) -> None:
        if next(calls) == 0:  # of the one that they wait for
            for thread in threads:
                thread.start()
            while len(log._waiting) < len(threads):
                time.sleep(0.001)
        elif fails:
            raise OSError("the disk is broken")
        sync(handle)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        log.append(["waited for"])
        for thread in threads:
            thread.join(20)
    return said


def test_who_waits_learns_that_the_disk_failed(tmp_path: Path) -> None:
    log = DiskLog(tmp_path)
    log.append(["first"])
    said = in_one_write(log, [["a"], ["b", "c"], []], fails=True)
    assert all("the disk is broken" in str(each) for each in said)


def test_groups_that_were_written_at_once_are_cut_at_once(tmp_path: Path) -> None:
    """Of a write that a crash interrupted, its later part may be on the disk before its first."""
    log = DiskLog(tmp_path)
    log.append(["first"])
    said = in_one_write(log, [["a"], ["b", "c"], ["d"]], fails=False)
    assert set(said) < {3, 4, 5, 6} and max(map(int, said)) == 6
    file = last_file(tmp_path)
    data = file.read_bytes()
    whole = next(at for frame, at in frames(BytesIO(data), 0) if frame.end == 2)
    for at in range(whole, whole + 30, 7):
        file.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        assert DiskLog(tmp_path).append(["again"]) == 3
        assert values(DiskLog(tmp_path)) == ["first", "waited for", "again"]


def test_logs_of_one_folder_take_turns(tmp_path: Path) -> None:
    def work(name: int) -> None:
        log = DiskLog(tmp_path, segment_max=500)
        for batch in range(25):
            log.append([f"{name} {batch}"] * 2, Origin(str(name), batch))

    threads = [threading.Thread(target=work, args=[name]) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = values(DiskLog(tmp_path))
    assert found[::2] == found[1::2]
    for name in range(4):
        mine = [value for value in found[::2] if value.startswith(f"{name} ")]
        assert mine == [f"{name} {batch}" for batch in range(25)]


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


def test_partitions_are_there_for_good(synced: Synced) -> None:
    Partitions.create(synced.folder / "logs" / "log", 3)
    assert Partitions.open(synced.left() / "logs" / "log").count == 3


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
