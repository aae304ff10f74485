"""A log on a disk: files of frames that only grow.

    00000000000000000000.log      the records from 0 on
    00000000000000052117.log      those from 52117 on; only the last file is written to

Idea. An append is a write and a sync at the end of the last file. Threads that append at once share
both: the first to come writes for all that wait (group commit). Processes take turns by a lock.
Crash. A group that is not whole at the end of the last file was never acknowledged: readers do not
see it, the next writer cuts it off.
Once. Each group says which batch of which writer it is; a file begins with what the files before it
hold, so that the last file is all one has to read.
Readers need no lock. What they report as the end they sync first, so that it cannot fall later.
Cost. Two system calls a write; opening reads the last file, at most `segment_max` and one group.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Final

from fyke.durable import make_folder, sync_folder, write_synced
from fyke.errors import FykeError
from fyke.logs.frames import encode, group, head
from fyke.logs.log import Log, Origin, Record
from fyke.logs.segment import Tail, check_cut, file_of, follow, frames, segments

SEGMENT_MAX: Final = 2**24


@dataclass(slots=True)
class _Waiting:
    """The values that a thread wants to append, and the end after them once that is done."""

    values: list[bytes]
    origin: Origin | None
    end: int | None = None
    problem: FykeError | None = None


class DiskLog(Log):
    """A log in a folder of its own; any number of processes may use it at once."""

    def __init__(self, folder: str | Path, *, segment_max: int = SEGMENT_MAX) -> None:
        self._folder = Path(folder)
        self._segment_max = segment_max
        self._waiting: list[_Waiting] = []
        self._queue = Lock()
        self._writing = Lock()
        self._seen: tuple[int, Tail] = (0, Tail(0, 0))
        self._synced: tuple[int, int] | None = None
        """The last segment and the tail up to which it is known to be on the disk."""

    def __reduce__(self) -> tuple[Callable[[Path], DiskLog], tuple[Path]]:
        """Pickle the place alone: other processes find the rest there."""
        return partial(DiskLog, segment_max=self._segment_max), (self._folder,)

    # --- appending -------------------------------------------------------------------------------

    def append(self, values: Sequence[str], origin: Origin | None = None) -> int:
        mine = _Waiting([encode(value) for value in values], origin)
        with self._queue:
            self._waiting.append(mine)
        with self._writing:
            if mine.end is None and mine.problem is None:
                self._write_all()
        if mine.problem is not None:
            raise mine.problem
        assert mine.end is not None
        return mine.end

    def _write_all(self) -> None:
        """Write for all threads that wait."""
        with self._queue:
            groups, self._waiting = self._waiting, []
        try:
            with _failures(self._folder), self._locked():
                ends = self._write(groups)
        except FykeError as problem:
            for each in groups:
                each.problem = problem
            return
        for each, end in zip(groups, ends, strict=True):
            each.end = end

    def _write(self, groups: list[_Waiting]) -> list[int]:
        first, tail, writers = self._recover()
        if tail.position > self._segment_max and tail.end > first:
            first, tail = tail.end, self._begin(tail.end, writers)
        now = time.time_ns() // 1000
        data: list[bytes] = []
        ends: list[int] = []
        end = tail.end
        for each in groups:
            if each.origin is None or each.origin.batch > writers.get(each.origin.writer, -1):
                data += group(each.values, end, now, each.origin, begins=not data)
                end += len(each.values)
                if each.origin is not None:
                    writers[each.origin.writer] = each.origin.batch
            ends.append(end)
        with file_of(self._folder, first).open("r+b") as file:
            file.seek(tail.position)
            file.write(b"".join(data))
            file.flush()
            os.fsync(file.fileno())
            self._synced = first, file.tell()
        return ends

    def _recover(self) -> tuple[int, Tail, dict[str, int]]:
        """Cut off what a crash has left. Return the last segment, its tail and its writers.

        A writer that failed may have left records that are whole, but not on the disk.
        """
        known = segments(self._folder)
        first = known[-1] if known else 0
        writers: dict[str, int] = {}
        if not known:
            sync_folder(self._folder.parent)
            return first, self._begin(0, writers), writers
        path = file_of(self._folder, first)
        with path.open("r+b") as file:
            tail = follow(file, Tail(first, 0), writers)
            if tail.position == 0:
                raise FykeError(f"{path} is damaged at byte 0")
            if os.fstat(file.fileno()).st_size > tail.position:
                check_cut(path, file, tail)
                file.truncate(tail.position)
            if self._synced != (first, tail.position):
                os.fsync(file.fileno())
        return first, tail, writers

    def _begin(self, first: int, writers: dict[str, int]) -> Tail:
        """Create a new segment, which appears whole."""
        data = head(first, writers)
        staging = self._folder / "segment.new"
        write_synced(staging, data)
        staging.replace(file_of(self._folder, first))
        sync_folder(self._folder)
        return Tail(first, len(data))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the log against other processes, if the system can. A crash gives the lock back."""
        make_folder(self._folder)
        handle = os.open(self._folder, os.O_RDONLY)
        try:
            with suppress(ImportError):
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    # --- reading ---------------------------------------------------------------------------------

    def end(self) -> int:
        with _failures(self._folder):
            known = segments(self._folder)
            if not known:
                return 0
            first, tail = self._seen
            if first != known[-1] or not tail.position:
                first, tail = known[-1], Tail(known[-1], 0)
            with file_of(self._folder, first).open("rb") as file:
                now = follow(file, tail)
                if now != tail:
                    os.fsync(file.fileno())
            self._seen = first, now
            return now.end

    def read(self, start: int, end: int) -> Iterator[Record]:
        if start < 0 or end < start:
            raise FykeError(f"records {start} to {end}; expected numbers from 0 on, in order")
        with _failures(self._folder):
            yield from self._read(start, end)

    def _read(self, start: int, end: int) -> Iterator[Record]:
        known = segments(self._folder)
        for first, until in pairwise([*known, max(end, known[-1])] if known else []):
            if until <= start or first >= end:
                continue
            path = file_of(self._folder, first)
            with path.open("rb") as file:
                start = yield from _records(file, start, min(end, until))
            if start < min(end, until):
                raise FykeError(f"{path} ends or is damaged at record {start}")
        if start < end:
            raise FykeError(f"{self._folder} holds no record {start}")


def _records(file: BinaryIO, start: int, end: int) -> Generator[Record, None, int]:
    """Yield the records of a segment. Return the offset after the last one."""
    for frame, _ in frames(file, 0):
        if start >= end:
            break
        if frame.end <= start:
            continue
        for record in frame.records():
            if start <= record.offset < end:
                yield record
        start = min(frame.end, end)
    return start


@contextmanager
def _failures(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FykeError(f"the log {folder} cannot be used: {error}") from None
