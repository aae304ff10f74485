"""A step of a stream: what happens with one micro-batch.

    1. pin        the version it sees is written down, or was, if the batch is repeated
    2. matches    are published, unless the sink has them
    3. errors     rows that cannot be read are published with the reason, unless that was done
    4. tally      what came of it is counted

Dying between any two of these and doing the batch again gives the same rows, each of them once, if
the sinks are atomic, or complete what they have in part. A step has no state but files: over Spark
Connect it runs in another process.

Cost. One job in Spark, which matches and counts; a second one only where there were errors, or
where a sink is not ours and may look at its rows any number of times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError
from fyke.spark import tally, versions
from fyke.spark.columns import map_batches
from fyke.spark.matching import REASON, Output, Task
from fyke.spark.pins import Pinned, Pins
from fyke.spark.places import below, told
from fyke.spark.reading import Reading
from fyke.spark.shipping import ship
from fyke.spark.sinks import FolderSink, Sink, publish
from fyke.spark.snapshots import Pin, mapped
from fyke.spark.tally import Counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PINS: Final = "pins"
TALLY: Final = "tally.json"


@dataclass(frozen=True, slots=True)
class Following:
    """Which version a new batch sees: the newest in a folder, or always the same one."""

    path: str
    number: int | None
    sweeps: bool
    sent: Pinned | None = None
    """What was sent to the workers before, where batches are worked on by a machine without it."""

    def choose(self) -> Pinned:
        if self.sent is not None:
            return self.sent
        if self.number is None:
            return Pinned.of(versions.current(self.path))
        return Pinned.of(versions.version(self.path, self.number))

    def sweep(self, pins: Pins) -> None:
        """Drops the versions that are older than all that a batch can need."""
        if not self.sweeps or self.sent is not None:
            return
        needed = pins.needed(self.path) | {versions.current(self.path).number}
        if self.number is not None:
            needed.add(self.number)
        for number in versions.numbers(self.path):
            if number < min(needed):
                versions.drop(self.path, number)


@dataclass(frozen=True, slots=True)
class Step:
    """Called by Spark with the rows of each micro-batch; `start` names the start of the stream."""

    start: str
    checkpoint: str
    following: Following
    reading: Reading
    output: Output
    sink: Sink
    errors: Sink

    def __call__(self, events: DataFrame, batch: int) -> None:
        begun = self._pins.begun(batch)
        pinned = self._pinned(batch)
        rows = self._rows(events, pinned.pin)
        counts = self._publish(rows, batch, begun)
        if counts.errors and not self.errors.has(batch):
            publish(self.errors, _refused(rows, self.output), batch, begun)
        file = below(self.checkpoint, TALLY)
        tally.store(file, tally.load(file).add(batch, pinned.version, counts))
        self._pins.forget_before(batch)
        self.following.sweep(self._pins)

    @property
    def _pins(self) -> Pins:
        return Pins(below(self.checkpoint, PINS))

    def _pinned(self, batch: int) -> Pinned:
        """The batch's version, found to be whole; another one only if that cannot mix two."""

        def choose() -> Pinned:
            chosen = self.following.choose()
            self._check(chosen.pin)
            return chosen

        pinned = self._pins.get(batch, choose)
        try:
            self._check(pinned.pin)
        except FykeError as lost:
            if self.sink.is_atomic and not self.sink.has(batch):
                return self._pins.put(batch, choose())
            raise FykeError(
                f"batch {batch} was begun with version {pinned.version} of {told(pinned.path)}, "
                f"which is lost: {lost}; bring it back, or remove {told(self._pins.file(batch))} "
                "to go on with the newest one"
            ) from None
        return pinned

    def _check(self, pin: Pin) -> None:
        """FykeError where the snapshots of a pin are not as they were."""
        sent = self.following.sent
        if sent is None:
            check(self.start, pin)
        elif [part.identity for part in pin.parts] != [part.identity for part in sent.pin.parts]:
            raise FykeError("this start of the stream has sent other subscriptions to the workers")

    def _rows(self, events: DataFrame, pin: Pin) -> DataFrame:
        """Matches, and rows that cannot be read: those have a reason."""
        from pyspark.sql.types import StringType, StructField, StructType

        columns = {*self.reading.names, *self.output.columns}
        needed = [name for name in events.columns if name in columns]
        reading = self.reading
        if self.following.sent is None:
            ship(pin, events.sparkSession)
            reading = reading.under(pin.schema())
        task = Task(pin, reading, self.output, sets_aside=True)
        found = self.output.schema(events, all_match=False).fields
        schema = StructType([*found, StructField(REASON, StringType())])
        return map_batches(events, needed, task.everything, schema)

    def _publish(self, rows: DataFrame, batch: int, begun: float | None) -> Counts:
        if self.sink.has(batch):
            return _counted(rows)
        if isinstance(self.sink, FolderSink):
            return self._write_counting(rows, batch)
        kept = rows.persist()
        try:
            counts = _counted(kept)
            publish(self.sink, _matches(kept), batch, begun)
        finally:
            kept.unpersist()
        return counts

    def _write_counting(self, rows: DataFrame, batch: int) -> Counts:
        """Counts while rows pass by on their way to the folder, which takes each of them once."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        seen = Observation()
        passing = rows.observe(seen, f.count("*").alias("rows"), f.count(REASON).alias("errors"))
        self.sink.write(_matches(passing), batch)
        return Counts(seen.get["rows"] - seen.get["errors"], seen.get["errors"])


@lru_cache(maxsize=16)
def check(start: str, pin: Pin) -> None:
    """Reads and verifies the snapshots of a pin, once per start of a stream."""
    for part in pin.parts:
        mapped(part)


def _matches(rows: DataFrame) -> DataFrame:
    return rows.where(f"{REASON} is null").drop(REASON)


def _refused(rows: DataFrame, output: Output) -> DataFrame:
    from pyspark.sql import functions as f

    from fyke.spark.columns import quoted

    kept = [f.col(quoted(name)) for name in (*output.columns, REASON)]
    return rows.where(f"{REASON} is not null").select(*kept)


def _counted(rows: DataFrame) -> Counts:
    from pyspark.sql import functions as f

    found = rows.agg(f.count("*").alias("rows"), f.count(REASON).alias("errors")).first()
    assert found is not None
    return Counts(found["rows"] - found["errors"], found["errors"])
