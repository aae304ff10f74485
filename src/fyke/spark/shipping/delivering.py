"""Delivering: snapshots that workers make come to a folder of the driver's.

Idea. The driver leaves a mark with a random name in the folder. A worker that sees the mark saves
its snapshot there; one that does not sends it as rows, chunk by chunk, through Spark itself. So
nobody has to say whether the folder is shared, and a folder of the same name on another machine
deceives nobody.
Invariant. A snapshot appears under its name when it is whole, and never changes again: the first
complete attempt of a task wins. Chunks have checksums, and so has the snapshot.
Cost. Rows pass the driver a partition at a time; together they may be what
`spark.driver.maxResultSize` allows, 1 GB where nothing is set.
"""

from __future__ import annotations

import hashlib
import secrets
import socket
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from fyke.durable import make_folder, publish_folder
from fyke.errors import FykeError
from fyke.spark.placements.memory import passing_max
from fyke.spark.sessions.reasons import in_a_sentence
from fyke.spark.shipping.archives import pack, unpack
from fyke.spark.shipping.attempts import ATTEMPT, remove

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from fyke.matching.matcher import Matcher

CHUNK: Final = 2**20
FIELDS: Final = [
    ("name", pa.string()),
    ("attempt", pa.string()),
    ("count", pa.int64()),
    ("chunk", pa.int32()),
    ("chunks", pa.int32()),
    ("at", pa.int64()),
    ("data", pa.binary()),
    ("sha256", pa.string()),
]
DDL: Final = (
    "name string, attempt string, count long, chunk int, chunks int, at long, data binary, "
    "sha256 string"
)
_MARK: Final = "_mark-"


@dataclass(frozen=True, slots=True)
class SnapshotDelivery:
    """A folder, and the mark by which workers know it."""

    folder: str
    mark: str

    @classmethod
    def begin(cls, folder: Path) -> SnapshotDelivery:
        make_folder(folder)
        mark = f"{_MARK}{secrets.token_hex(16)}"
        (folder / mark).touch()
        return cls(str(folder), mark)

    def deliver(self, name: str, matcher: Matcher) -> Iterator[dict[str, Any]]:
        """In a worker: yield rows that say where a matcher is, or hold it."""
        attempt = f"{ATTEMPT}{name}-{secrets.token_hex(8)}"
        row = {"name": name, "attempt": attempt, "count": len(matcher)}
        try:
            if (Path(self.folder) / self.mark).exists():
                matcher.save(Path(self.folder) / attempt)
                if (Path(self.folder) / self.mark).exists():
                    yield row
                else:  # meanwhile the driver has what it wanted, or gave up
                    remove(Path(self.folder) / attempt)
                return
            with tempfile.TemporaryDirectory(prefix="fyke-") as folder:
                matcher.save(Path(folder) / "snapshot")
                pack(Path(folder) / "snapshot", Path(folder) / "archive")
                yield from chunks_of(Path(folder) / "archive", row)
        except (FykeError, OSError) as error:
            raise FykeError(f"worker {socket.gethostname()}: {error}") from None

    def receive(self, rows: DataFrame) -> Iterator[Row]:
        """On the driver: have the rows made, take the snapshots in them, pass on the others.

        All tasks run at once and leave their rows on the executors' disks; then the rows come one
        partition after the other.
        """
        from pyspark import StorageLevel

        taking = Taking(Path(self.folder))
        kept = rows.persist(StorageLevel.DISK_ONLY)
        try:
            with in_a_sentence("the subscriptions cannot be compiled"):
                self._check_size(kept)
                for row in kept.toLocalIterator():
                    if row["name"] is None:
                        yield row
                    else:
                        taking.take(row)
                        if row["chunk"] in (None, 0):
                            yield row
                taking.check()
        finally:
            kept.unpersist()
            self._sweep()

    def _check_size(self, rows: DataFrame) -> None:
        from pyspark.sql import functions as f

        found = rows.agg(f.sum(f.length("data")).alias("size")).first()
        size = (found["size"] if found is not None else None) or 0
        limit = passing_max(rows.sparkSession)
        if limit is not None and size > limit:
            raise FykeError(
                f"{size / 1e6:,.0f} MB of compiled subscriptions lie on workers that do not see "
                f"{self.folder}, and {limit / 1e6:,.0f} MB may pass the driver "
                "(spark.driver.maxResultSize); name a folder that the driver and all workers see"
            )

    def _sweep(self) -> None:
        """Remove the mark, and what attempts left that did not win."""
        (Path(self.folder) / self.mark).unlink(missing_ok=True)
        for left in Path(self.folder).glob(f"{ATTEMPT}*"):
            remove(left)


def chunks_of(archive: Path, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut an archive into rows: each is `row` with a chunk, its number and its checksum."""
    count = -(-archive.stat().st_size // CHUNK)
    with archive.open("rb") as file:
        for chunk in range(count):
            data = file.read(CHUNK)
            digest = hashlib.sha256(data).hexdigest()
            place = {"chunk": chunk, "chunks": count, "at": chunk * CHUNK}
            yield {**row, **place, "data": data, "sha256": digest}


@dataclass(slots=True)
class Taking:
    """Snapshots on their way into a folder, of which rows hold chunks or say that it is there.

    A row: name and attempt of a snapshot; chunk, chunks, at, data, sha256.
    """

    folder: Path
    waiting: dict[str, set[int]] = field(default_factory=dict)
    """The chunks that have come of an attempt."""

    def take(self, row: Row | Mapping[str, Any]) -> None:
        attempt = self.folder / row["attempt"]
        if row["data"] is None:
            self._publish(attempt, row["name"])
            return
        data = bytes(row["data"])
        if hashlib.sha256(data).hexdigest() != row["sha256"]:
            raise FykeError(f"a part of {row['name']} was damaged on its way")
        archive = attempt.with_suffix(".zip")
        with archive.open("r+b" if archive.exists() else "wb") as file:
            file.seek(row["at"])
            file.write(data)
        come = self.waiting.setdefault(row["attempt"], set())
        come.add(row["chunk"])
        if len(come) < row["chunks"]:
            return
        del self.waiting[row["attempt"]]
        unpack(archive, attempt)
        archive.unlink()
        self._publish(attempt, row["name"])

    def _publish(self, attempt: Path, name: str) -> None:
        if not (self.folder / name).exists():
            try:
                publish_folder(attempt, self.folder / name)
            except OSError:  # another process of this host was quicker
                if not (self.folder / name).exists():
                    raise

    def forget(self, attempt: str) -> None:
        """Remove what came of an attempt."""
        self.waiting.pop(attempt, None)
        remove(self.folder / f"{attempt}.zip")
        remove(self.folder / attempt)

    def check(self) -> None:
        if self.waiting:
            raise FykeError(f"{len(self.waiting)} snapshots came incomplete from the workers")
