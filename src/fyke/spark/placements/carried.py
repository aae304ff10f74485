"""Carried: subscriptions that are too many to be sent to every executor come as rows.

Idea. It is a split whose shards lie on the driver's disk alone. Each shard is packed, cut into
chunks, and joins the shuffle of the events: a task gets the chunks of its shard first, and the
events after them. The first task of a host that has all chunks puts the snapshot together in the
host's cache; the others only read past them.

    task 3:  chunk 0 of shard 1, chunk 1 of shard 1, event, event, event ...

On the way. A small job for every few chunks puts them on the executors' disks, two of them where
there are two (a local checkpoint); the driver's Java then forgets them, so that it holds one piece
at a time, whatever the size of all.
Invariant. A snapshot appears in the cache when it is whole, under its identity; chunks have
checksums. A task that is repeated elsewhere gets its chunks again, as long as one executor has
them.
Cost. The packed shards pass the driver when `match` is called, up to CARRIED_MAX. They are shuffled
once for each task of a shard.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from fyke.errors import FykeError
from fyke.spark.columns import map_batches, quoted
from fyke.spark.placements.placing import Batches, by_value, gathered, numbering
from fyke.spark.placements.split import Split
from fyke.spark.sessions.reasons import in_a_sentence
from fyke.spark.shipping.archives import pack
from fyke.spark.shipping.attempts import attempting
from fyke.spark.shipping.delivering import FIELDS, Taking, chunks_of
from fyke.spark.shipping.shipping import copies_folder
from fyke.spark.task import Task
from fyke.spark.versions.snapshots import Part, Pin, opened_only
from fyke.spark.versions.temporary import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARCEL: Final = pa.schema([("shard", pa.int32()), *FIELDS])
_CHUNKS_AT_ONCE: Final = 16
"""Chunks that a job takes from the driver, whose Java holds them several times."""
CARRIED_MAX: Final = 2**30
"""Bytes of packed subscriptions that were seen to pass, at 1 GB of the driver's memory."""


@dataclass(frozen=True, slots=True)
class Carried:
    """Shards, and how many tasks each of them has."""

    shards: Pin
    slices: int

    def matches(self, events: DataFrame, needed: list[str], task: Task) -> DataFrame:
        copied, place, number = Split(self.shards, self.slices).copied(events, needed)
        if not task.output.arrays:
            return self._searched(copied, place, number, task)
        return gathered(self._searched(copied, place, number, numbering(task, number)), number)

    def _met(self, copied: DataFrame, place: str, number: str) -> DataFrame:
        """Return for each task the chunks of its shard, and its events after them."""
        from pyspark.sql import functions as f

        plain = [f.col(quoted(name)).alias(f"c{at}") for at, name in enumerate(copied.columns)]
        task = Split(self.shards, self.slices).task(f.col(place), f.col(number))
        rows = copied.select(task.alias("task"), f.struct(*plain).alias("event"))
        first = f.col("shard") * self.slices
        every = f.explode(f.sequence(first, first + (self.slices - 1)))
        parcels = parcels_of(self.shards, copied.sparkSession)
        parcels = parcels.select(every.alias("task"), *parcels.columns)
        met = rows.unionByName(parcels, allowMissingColumns=True)
        met = met.repartitionById(len(self.shards.parts) * self.slices, "task")
        return met.sortWithinPartitions(f.col("chunk").asc_nulls_last())

    def _searched(self, copied: DataFrame, place: str, number: str, task: Task) -> DataFrame:
        met, names, shards = self._met(copied, place, number), copied.columns, self.shards.parts

        def search(batches: Batches) -> Iterator[pa.RecordBatch]:
            return task.search(
                (opened_only(shards[shard]), rows)
                for batch in _without_parcels(batches, shards)
                for shard, rows in by_value(_events_of(batch).rename_columns(names), place)
            )

        return map_batches(met, met.columns, search, task.output.schema(copied))


def parcels_of(shards: Pin, session: SparkSession) -> DataFrame:
    """Return the chunks of the packed shards as rows.

    Raise FykeError if they are more than may pass the driver.
    """
    folder = Path(temporary_folder())
    archives = [folder / f"{at}.zip" for at in range(len(shards.parts))]
    for part, archive in zip(shards.parts, archives, strict=True):
        pack(Path(part.path), archive)
    size = sum(each.stat().st_size for each in archives)
    if size > CARRIED_MAX:
        raise FykeError(
            f"{size / 1e6:,.0f} MB of packed subscriptions lie on the driver, and "
            f"{CARRIED_MAX / 1e6:,.0f} MB may go to the workers as rows; name a place that the "
            "driver and all workers see, with folder= or fyke.spark.compile"
        )
    tables = (table for at, archive in enumerate(archives) for table in _tables(at, archive))
    with in_a_sentence("the subscriptions cannot be sent to the workers"):
        pieces = [_spread(session.createDataFrame(table)) for table in tables]
    return reduce(lambda one, other: one.union(other), pieces)


def _spread(piece: DataFrame) -> DataFrame:
    """Put rows on the executors' disks; the driver holds them no longer."""
    from pyspark import StorageLevel

    return piece.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY_2)


def _tables(shard: int, archive: Path) -> Iterator[pa.Table]:
    chunks = chunks_of(archive, {"shard": shard})
    while rows := list(islice(chunks, _CHUNKS_AT_ONCE)):
        yield pa.Table.from_pylist(rows, _PARCEL)


# --- in the workers ------------------------------------------------------------------------------


def _events_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(batch.column("event"))


def _without_parcels(batches: Batches, shards: tuple[Part, ...]) -> Iterator[pa.RecordBatch]:
    """Put the chunks that come first together; pass on the batches of events."""
    taking = Taking(copies_folder())
    with attempting(taking.folder) as attempt:
        for batch in batches:
            is_event = pc.is_null(batch.column("chunk"))
            for row in batch.filter(pc.invert(is_event)).to_pylist():
                name = shards[row["shard"]].identity
                _take(taking, {**row, "name": name, "attempt": f"{attempt}-{name}"})
            if (events := batch.filter(is_event)).num_rows:
                taking.check()
                yield events


def _take(taking: Taking, row: dict[str, Any]) -> None:
    """Take a chunk, unless another task of this host has brought the snapshot meanwhile."""
    if (taking.folder / row["name"]).exists():
        taking.forget(row["attempt"])
        return
    try:
        taking.take(row)
    except OSError as error:
        host = socket.gethostname()
        raise FykeError(f"worker {host} cannot keep subscriptions: {error}") from None
