"""A micro-batch of a pipeline: events in, notifications out, each of them once.

It follows the protocol of all batches (`spark.step`). What it publishes, in this order:

    journal          what matching finds, as journal/batch=12
    notifications    made of the journal, as notifications.*/batch=12
    refusals         made of the journal, as refused-events.ndjson/batch=12

What is published stays as it is, if the batch is done again, and the rest is made of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
import pyarrow.parquet as pq

from fyke.durable import publish_folder
from fyke.pipeline.configuration import Notifications
from fyke.pipeline.live.batch_counts import BatchCounts, CountsLog
from fyke.pipeline.live.journal import journal
from fyke.pipeline.live.standing import Standing
from fyke.pipeline.results.counting import SAMPLE_EVENTS
from fyke.pipeline.results.notifying import notifications
from fyke.pipeline.sources.sources import Events, Shape
from fyke.spark.sinks import FolderSink
from fyke.spark.streams.step import BatchProtocol, Following, Worked
from fyke.spark.versions.pins import Pinned, Pins

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HOLDERS: Final = "id string, subscriber string"


@dataclass(frozen=True, slots=True)
class Places:
    """The places that a stream writes to, as plain paths."""

    pins: str
    journal: str
    parquet: str
    ndjson: str
    refused: str
    sample: str
    counts_log: str


@dataclass(frozen=True, slots=True)
class _Counts:
    events: int
    refused: int
    matches: int
    digests: int
    notifications: int = 0


@dataclass(frozen=True, slots=True)
class MicroBatch(BatchProtocol[_Counts]):
    """Publishes what each batch brings; `start` counts the starts of a stream, `run` names one."""

    run: str
    start: int
    shape: Shape
    standing: Standing
    wanted: Notifications
    at: Places

    def start_id(self) -> str:
        return self.run

    def pins(self) -> Pins:
        return Pins(self.at.pins)

    def following_now(self) -> Following:
        return self.standing.following()

    def is_matched(self, batch: int) -> bool:
        return FolderSink(self.at.journal).has(batch)

    def may_change(self, batch: int) -> bool:
        return not self.is_matched(batch)

    def publish(self, rows: DataFrame, batch: int, pinned: Pinned, begun: float | None) -> _Counts:
        found = FolderSink(self.at.journal)
        journalled = self._write_journal(rows, batch, pinned, found)
        counts = _counted(found.folder(batch))
        if counts.events and not Path(self.at.sample).exists():
            self._keep_sample(rows)
        sent = self._notify(journalled, batch, pinned, counts)
        if counts.refused:
            bad = journalled.where("reason is not null").select("event", "text", "reason")
            _publish(FolderSink(self.at.refused, "json"), bad, batch)
        return replace(counts, notifications=sent)

    def keep(self, batch: int, pinned: Pinned, counts: _Counts, worked: Worked) -> None:
        CountsLog(self.at.counts_log).add(
            BatchCounts(
                batch=batch,
                start=self.start,
                version=pinned.version,
                began=worked.began,
                duration_s=worked.duration_s,
                events=counts.events,
                refused=counts.refused,
                matches=counts.matches,
                notifications=counts.notifications,
            )
        )

    def _keep_sample(self, rows: DataFrame) -> None:
        """Keep some events of the first batch that has any, for the report."""
        path = Path(self.at.sample)
        staging = path.with_name(f"_{path.name}")
        rows.limit(SAMPLE_EVENTS).write.mode("overwrite").parquet(str(staging))
        publish_folder(staging, path)

    def _write_journal(
        self, rows: DataFrame, batch: int, pinned: Pinned, sink: FolderSink
    ) -> DataFrame:
        found = journal(Events(rows, self.shape), pinned.pin)
        _publish(sink, found, batch)
        written = rows.sparkSession.read.schema(found.schema)
        return written.parquet(str(sink.folder(batch)))

    def _notify(self, journalled: DataFrame, batch: int, pinned: Pinned, counts: _Counts) -> int:
        """Publish what subscribers get. Return the number of notifications."""
        session, form = journalled.sparkSession, self.wanted.form
        table = self.standing.table(pinned.version)
        sent = notifications(journalled, session.read.schema(_HOLDERS).parquet(table), form)
        if self.wanted.parquet:
            sink = FolderSink(self.at.parquet)
            _publish(sink, sent, batch)
            sent = session.read.schema(sent.schema).parquet(str(sink.folder(batch)))
        if self.wanted.ndjson:
            _publish(FolderSink(self.at.ndjson, "json"), sent, batch)
        return counts.digests if form == "digest" else sent.count()


def _publish(sink: FolderSink, rows: DataFrame, batch: int) -> None:
    if not sink.has(batch):
        sink.write(rows, batch)


def _counted(folder: Path) -> _Counts:
    """Count the rows of a published journal, read here: a few numbers beside the digests."""
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
