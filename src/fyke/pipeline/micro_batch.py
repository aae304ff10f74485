"""A micro-batch of a stream: events in, notifications out, each of them once.

    1. pin              which version of the subscriptions it sees, written down before anything
    2. journal          what matching finds, published as journal/batch=12
    3. notifications    made of the journal, published as notifications.*/batch=12
    4. ledger           a line: what came of it

Whoever dies between any two of these, the batch is done again: what is published stays as it is,
and the rest is made of it. All state is files, so that a step may run in any process; over Spark
Connect it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
import pyarrow.parquet as pq

from fyke.durable import publish_folder
from fyke.errors import FykeError
from fyke.pipeline.configuration import Notifications
from fyke.pipeline.counting import SAMPLE_EVENTS
from fyke.pipeline.journal import journal
from fyke.pipeline.ledger import Entry, Ledger
from fyke.pipeline.notifying import notifications
from fyke.pipeline.sources import Events, Shape
from fyke.pipeline.standing import Standing
from fyke.spark.pins import Pinned, Pins
from fyke.spark.sinks import FolderSink
from fyke.spark.step import Following, check

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HOLDERS: Final = "id string, subscriber string"


@dataclass(frozen=True, slots=True)
class Places:
    """Where a stream writes; plain paths."""

    pins: str
    journal: str
    parquet: str
    ndjson: str
    refused: str
    sample: str
    ledger: str


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What is done with each batch; `start` counts the starts of a stream, `run` names this one."""

    run: str
    start: int
    shape: Shape
    standing: Standing
    wanted: Notifications
    at: Places

    def __call__(self, rows: DataFrame, batch: int) -> None:
        began, clock = time(), perf_counter()
        pins, found = Pins(self.at.pins), FolderSink(self.at.journal)
        following = self.standing.following()
        pinned = self._pinned(pins, batch, following)
        journalled = self._journalled(rows, batch, pinned, found)
        counts = _counted(found.folder(batch))
        if counts.events and not Path(self.at.sample).exists():
            self._keep_sample(rows)
        sent = self._notify(journalled, batch, pinned, counts)
        if counts.refused:
            bad = journalled.where("reason is not null").select("event", "text", "reason")
            _published(FolderSink(self.at.refused, "json"), bad, batch)
        Ledger(self.at.ledger).add(
            Entry(
                batch=batch,
                start=self.start,
                version=pinned.version,
                began=began,
                duration_s=perf_counter() - clock,
                events=counts.events,
                refused=counts.refused,
                matches=counts.matches,
                notifications=sent,
            )
        )
        pins.forget_before(batch)
        following.sweep(pins)

    def _pinned(self, pins: Pins, batch: int, following: Following) -> Pinned:
        """The version that the batch sees; a lost one is replaced if nothing is published yet."""
        pinned = pins.get(batch, following.choose)
        if not FolderSink(self.at.journal).has(batch):
            try:
                check(self.run, pinned.pin)
            except FykeError:
                pinned = pins.put(batch, following.choose())
                check(self.run, pinned.pin)
        return pinned

    def _keep_sample(self, rows: DataFrame) -> None:
        """Some events of the first batch that has any, for the report."""
        path = Path(self.at.sample)
        staging = path.with_name(f"_{path.name}")
        rows.limit(SAMPLE_EVENTS).write.mode("overwrite").parquet(str(staging))
        publish_folder(staging, path)

    def _journalled(
        self, rows: DataFrame, batch: int, pinned: Pinned, sink: FolderSink
    ) -> DataFrame:
        found = journal(Events(rows, self.shape), pinned.pin)
        _published(sink, found, batch)
        written = rows.sparkSession.read.schema(found.schema)
        return written.parquet(str(sink.folder(batch)))

    def _notify(self, journalled: DataFrame, batch: int, pinned: Pinned, counts: _Counts) -> int:
        """Publishes what subscribers get; how many notifications that is."""
        session, form = journalled.sparkSession, self.wanted.form
        table = self.standing.table(pinned.version)
        sent = notifications(journalled, session.read.schema(_HOLDERS).parquet(table), form)
        if self.wanted.parquet:
            sink = FolderSink(self.at.parquet)
            _published(sink, sent, batch)
            sent = session.read.schema(sent.schema).parquet(str(sink.folder(batch)))
        if self.wanted.ndjson:
            _published(FolderSink(self.at.ndjson, "json"), sent, batch)
        return counts.digests if form == "digest" else sent.count()


def _published(sink: FolderSink, rows: DataFrame, batch: int) -> None:
    if not sink.has(batch):
        sink.write(rows, batch)


@dataclass(frozen=True, slots=True)
class _Counts:
    events: int
    refused: int
    matches: int
    digests: int


def _counted(folder: Path) -> _Counts:
    """What a published journal says, read here: it is a few numbers beside the digests."""
    table = pq.read_table(folder, columns=["size", "at", "rows", "reason"], partitioning=None)
    rows = table["rows"]
    seen = rows.filter(pc.is_valid(table["at"]))
    matches = pc.sum(pc.multiply(table["size"], rows)).as_py()
    refused = len(table) - table["reason"].null_count
    sizes = len(table) - table["size"].null_count
    return _Counts(
        events=pc.sum(seen).as_py() or 0,
        refused=refused,
        matches=matches or 0,
        digests=len(table) - len(seen) - refused - sizes,
    )
