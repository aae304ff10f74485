"""A batch of a stream: what happens with it, in an order that a crash cannot spoil.

    1. pin        the version it sees is written down, or was, if the batch is repeated
    2. publish    what it brings, each part unless the sink has it
    3. count      what came of it
    4. forget     pins and versions that no repetition can need

Dying between any two of these and doing the batch again gives the same rows, each of them once, if
the sinks are atomic, or complete what they have in part. There is no state but files: over Spark
Connect a batch is done in another process. `BatchProtocol` is this order; `Step` publishes matches
and rows that cannot be read, the pipeline's `MicroBatch` digests and notifications.

Cost of `Step`. One job in Spark, which matches and counts; a second one only where there were
errors, or where a sink is not ours and may look at its rows any number of times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter, time
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from fyke.errors import FykeError
from fyke.spark.columns import map_batches
from fyke.spark.reading import Reading
from fyke.spark.shipping.shipping import ship
from fyke.spark.sinks import FolderSink, Sink, publish
from fyke.spark.streams import batch_counts
from fyke.spark.streams.batch_counts import MatchCounts
from fyke.spark.task import REASON, Output, Task, WithErrors
from fyke.spark.uri_sink import UriSink
from fyke.spark.versions import versions
from fyke.spark.versions.pins import Pinned, Pins
from fyke.spark.versions.places import below, told
from fyke.spark.versions.snapshots import Pin, mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PINS: Final = "pins"
COUNTS: Final = "tally.json"


@dataclass(frozen=True, slots=True)
class Following:
    """Which version a new batch sees: the newest in a folder, or always the same one."""

    path: str
    number: int | None
    sweeps: bool
    sent: Pinned | None = None
    """The snapshots that were sent to the workers before, where these cannot see what lies here."""

    def choose(self) -> Pinned:
        if self.sent is not None:
            return self.sent
        if self.number is None:
            return Pinned.of(versions.current(self.path))
        return Pinned.of(versions.version(self.path, self.number))

    def check(self, start: str, pin: Pin) -> None:
        """Raise FykeError where the snapshots of a pin are not as they were."""
        if self.sent is None:
            _check(start, pin)
        elif [part.identity for part in pin.parts] != [
            part.identity for part in self.sent.pin.parts
        ]:
            raise FykeError("this start of the stream has sent other subscriptions to the workers")

    def sweep(self, pins: Pins) -> None:
        """Drop the versions that are older than all that a batch can need."""
        if not self.sweeps or self.sent is not None:
            return
        needed = pins.needed(self.path) | {versions.current(self.path).number}
        if self.number is not None:
            needed.add(self.number)
        for number in versions.numbers(self.path):
            if number < min(needed):
                versions.drop(self.path, number)


C = TypeVar("C")


class Worked(NamedTuple):
    """When a batch was worked on: seconds since 1970, and how long."""

    began: float
    duration_s: float


class BatchProtocol(ABC, Generic[C]):
    """Called by Spark with the rows of each batch; C is what comes of one."""

    __slots__ = ()

    def __call__(self, rows: DataFrame, batch: int) -> None:
        clock, began = perf_counter(), time()
        pins, following = self.pins(), self.following_now()
        begun = pins.begun(batch)
        pinned = self.pin(batch)
        counts = self.publish(rows, batch, pinned, begun)
        self.keep(batch, pinned, counts, Worked(began, perf_counter() - clock))
        pins.forget_before(batch)
        following.sweep(pins)

    def pin(self, batch: int) -> Pinned:
        """Return the batch's version, found to be whole if it is still needed.

        A lost one gives way to another only if that cannot mix two.
        """
        pins, following, start = self.pins(), self.following_now(), self.start_id()

        def choose() -> Pinned:
            chosen = following.choose()
            following.check(start, chosen.pin)
            return chosen

        pinned = pins.get(batch, choose)
        if self.is_matched(batch):
            return pinned
        try:
            following.check(start, pinned.pin)
        except FykeError as lost:
            if self.may_change(batch):
                return pins.put(batch, choose())
            raise FykeError(
                f"batch {batch} was begun with version {pinned.version} of {told(pinned.path)}, "
                f"which is lost: {lost}; bring it back, or remove {told(pins.file(batch))} "
                "to go on with the newest one"
            ) from None
        return pinned

    @abstractmethod
    def start_id(self) -> str:
        """Return the name of this start of the stream: snapshots are checked once for each."""

    @abstractmethod
    def pins(self) -> Pins: ...

    @abstractmethod
    def following_now(self) -> Following:
        """Return which version a new batch sees."""

    @abstractmethod
    def is_matched(self, batch: int) -> bool:
        """Return True if all that matching finds is published: the version is not needed again."""

    @abstractmethod
    def may_change(self, batch: int) -> bool:
        """Return True if nothing that a version gave is published yet."""

    @abstractmethod
    def publish(self, rows: DataFrame, batch: int, pinned: Pinned, begun: float | None) -> C:
        """Publish what is not yet published; return the counts of the batch.

        `begun` is when the batch was begun before, if it was.
        """

    @abstractmethod
    def keep(self, batch: int, pinned: Pinned, counts: C, worked: Worked) -> None:
        """Keep the counts; those of a batch that has been counted stay as they are."""


@dataclass(frozen=True, slots=True)
class Step(BatchProtocol[MatchCounts]):
    """Publishes matches, and rows that cannot be read; `start` names the start of the stream."""

    start: str
    checkpoint: str
    following: Following
    reading: Reading
    output: Output
    sink: Sink
    errors: Sink

    def start_id(self) -> str:
        return self.start

    def pins(self) -> Pins:
        return Pins(below(self.checkpoint, PINS))

    def following_now(self) -> Following:
        return self.following

    def is_matched(self, batch: int) -> bool:
        return False

    def may_change(self, batch: int) -> bool:
        return self.sink.is_atomic and not self.sink.has(batch)

    def publish(
        self, rows: DataFrame, batch: int, pinned: Pinned, begun: float | None
    ) -> MatchCounts:
        found = self._rows(rows, pinned.pin)
        counts = self._publish(found, batch, begun)
        if counts.errors and not self.errors.has(batch):
            publish(self.errors, _refused(found, self.output), batch, begun)
        return counts

    def keep(self, batch: int, pinned: Pinned, counts: MatchCounts, worked: Worked) -> None:
        file = below(self.checkpoint, COUNTS)
        batch_counts.store(file, batch_counts.load(file).add(batch, pinned.version, counts))

    def _rows(self, events: DataFrame, pin: Pin) -> DataFrame:
        """Return matches, and rows that cannot be read: those have a reason."""
        columns = {*self.reading.names, *self.output.columns}
        needed = [name for name in events.columns if name in columns]
        reading = self.reading
        if self.following.sent is None:
            ship(pin, events.sparkSession)
            reading = reading.under(pin.schema())
        task = Task(pin, reading, WithErrors(self.output), sets_aside=True)
        return map_batches(events, needed, task.matches, task.output.schema(events))

    def _publish(self, rows: DataFrame, batch: int, begun: float | None) -> MatchCounts:
        if self.sink.has(batch):
            return _counted(rows)
        if isinstance(self.sink, FolderSink | UriSink):
            return self._write_counting(rows, batch)
        kept = rows.persist()
        try:
            counts = _counted(kept)
            publish(self.sink, _matches(kept), batch, begun)
        finally:
            kept.unpersist()
        return counts

    def _write_counting(self, rows: DataFrame, batch: int) -> MatchCounts:
        """Count rows on their way to a folder or place, which takes each of them once."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        seen = Observation()
        passing = rows.observe(seen, f.count("*").alias("rows"), f.count(REASON).alias("errors"))
        self.sink.write(_matches(passing), batch)
        return MatchCounts(seen.get["rows"] - seen.get["errors"], seen.get["errors"])


@lru_cache(maxsize=16)
def _check(start: str, pin: Pin) -> None:
    """Read and verify the snapshots of a pin, once per start of a stream."""
    for part in pin.parts:
        mapped(part)


def _matches(rows: DataFrame) -> DataFrame:
    return rows.where(f"{REASON} is null").drop(REASON)


def _refused(rows: DataFrame, output: Output) -> DataFrame:
    from pyspark.sql import functions as f

    from fyke.spark.columns import quoted

    kept = [f.col(quoted(name)) for name in (*output.columns, REASON)]
    return rows.where(f"{REASON} is not null").select(*kept)


def _counted(rows: DataFrame) -> MatchCounts:
    from pyspark.sql import functions as f

    found = rows.agg(f.count("*").alias("rows"), f.count(REASON).alias("errors")).first()
    assert found is not None
    return MatchCounts(found["rows"] - found["errors"], found["errors"])
