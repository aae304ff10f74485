"""Running a pipeline: one stage after the other, on any Spark session.

    start -> ingest -> compile -> match -> notify -> count -> report

What a stage leaves behind lies in the folder of results, and the next one reads it there. The keys
of events, ids and counts travel through Spark; nothing grows with the events in this process.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fyke.pipeline.checking import check
from fyke.pipeline.compiling import Compiled, compile_subscriptions
from fyke.pipeline.configuration import Pipeline
from fyke.pipeline.live.journal import planned_journal, sizes_of
from fyke.pipeline.results import counting
from fyke.pipeline.results.folder import Folder, replacing
from fyke.pipeline.results.notifying import notifications
from fyke.pipeline.results.outcome import Reason, RunOutcome, RunStatistics
from fyke.pipeline.results.refusals import check_refused, commonest
from fyke.pipeline.sources import sources
from fyke.pipeline.sources.origins import Files, Generated
from fyke.pipeline.sources.sources import Events
from fyke.pipeline.stages import Stages
from fyke.pipeline.watching import Watcher
from fyke.spark.placements.planning import plan
from fyke.spark.sessions.reasons import in_a_sentence
from fyke.spark.sessions.workers import check_seen
from fyke.spark.uri_sink import write_document
from fyke.spark.versions.places import absolute, below, is_address, told
from fyke.spark.versions.versions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SETTINGS: Final = {"spark.sql.files.minPartitionNum": 16}
"""So that bars move, and no task holds too much; what the pipeline says wins."""


def run(pipeline: Pipeline, watcher: Watcher, session: SparkSession | None = None) -> RunOutcome:
    """Run a pipeline; a session that is given is used and stays."""
    check(pipeline)
    stages, description = Stages(watcher), {"events": str(pipeline.events)}
    with (
        replacing(pipeline.out, description, pipeline.tables) as folder,
        stages.on(pipeline.place, _SETTINGS, session) as found,
    ):
        tables = folder.tables or str(folder.path)
        if not is_address(tables):
            check_seen(found, Path(absolute(tables)))
        return _Run(pipeline, folder, stages).on(found)


@dataclass(frozen=True, slots=True)
class _Run:
    pipeline: Pipeline
    folder: Folder
    stage: Stages

    def on(self, session: SparkSession) -> RunOutcome:
        events, seen = self.ingest(session)
        made = self.compile(session)
        found, refused, reasons = self.match(session, events, made.version, seen)
        notifications = self.notify(session, found, made.standing)
        statistics, subscribers = self.count(session, found, made.standing, events, seen)
        outcome = RunOutcome(
            events=seen,
            events_refused=refused,
            subscriptions=made.version.subscriptions,
            subscriptions_refused=made.refused,
            matches=sum(size * rows for size, rows in statistics.events_by_size),
            notifications=notifications,
            subscribers=subscribers,
            stages=tuple(self.stage.done),
            statistics=replace(statistics, refusals=reasons),
            tables=None if self.folder.tables is None else told(self.folder.tables),
        )
        outcome = report(outcome, self.pipeline, self.folder, self.stage)
        if self.folder.tables is not None:  # the last that is written: now they count
            with in_a_sentence("report"):
                summary = below(self.folder.tables, "summary.json")
                write_document(session, summary, outcome.document())
        return outcome

    def ingest(self, session: SparkSession) -> tuple[Events, int]:
        """Write generated events once; read files where they lie."""
        source = self.pipeline.events
        assert isinstance(source, Generated | Files)
        with self.stage("ingest", "events") as counted:
            events = sources.events(session, source)
            if isinstance(source, Generated):
                path = self.folder.at("events")
                events.frame.write.parquet(path)
                events = sources.generated(session.read.parquet(path))
            seen = events.frame.count()
            counted.append(seen)
        return events, seen

    def compile(self, session: SparkSession) -> Compiled:
        names = ("subscriptions", "compiled", "refused-subscriptions.ndjson")
        with self.stage("compile", "subscriptions") as counted:
            made = compile_subscriptions(session, self.pipeline, *map(self.folder.at, names))
            counted.append(made.version.subscriptions)
        return made

    def match(
        self, session: SparkSession, events: Events, version: Version, seen: int
    ) -> tuple[DataFrame, int, tuple[Reason, ...]]:
        """Return the journal, how many rows are no events, and the commonest reasons."""
        with self.stage("match", "events") as counted:
            path, chosen = self.folder.at("journal"), plan(events.frame, version)
            self.stage.watcher.note(str(chosen))
            planned_journal(events, version.pin(), chosen).write.parquet(path)
            found = session.read.parquet(path)
            if chosen.placement != "replicate":
                sizes_of(found, seen).write.mode("append").parquet(path)
                found = session.read.parquet(path)
            bad = found.where("reason is not null").select("event", "text", "reason")
            refused = bad.count()
            reasons = commonest(bad) if refused else ()
            check_refused(self.pipeline, refused, seen, reasons)
            if refused:
                bad.write.json(self.folder.at("refused-events.ndjson"), ignoreNullFields=True)
            counted.append(seen)
        return found, refused, reasons

    def notify(self, session: SparkSession, found: DataFrame, standing: DataFrame) -> int:
        """Write what subscribers get."""
        wanted = self.pipeline.notifications
        with self.stage("notify", "notifications") as counted:
            sent = notifications(found, standing, wanted.form)
            if wanted.parquet:
                path = self.folder.at("notifications.parquet")
                sent.write.parquet(path)
                sent = session.read.parquet(path)
            if wanted.ndjson:
                sent.write.json(self.folder.at("notifications.ndjson"))
            counted.append(sent.count())
        return counted[0]

    def count(
        self,
        session: SparkSession,
        found: DataFrame,
        standing: DataFrame,
        events: Events,
        seen: int,
    ) -> tuple[RunStatistics, int]:
        """Return statistics, and the number of subscribers that got something."""
        with self.stage("count", "subscriptions") as counted:
            path = self.folder.at("statistics.parquet")
            counting.matches_by_subscription(found, standing, seen).write.parquet(path)
            counts = session.read.parquet(path)
            busiest = self.pipeline.report.busiest
            statistics = counting.statistics(found, counts, events, standing, busiest)
            statistics = replace(statistics, events_by_step=counting.by_step(found))
            reached = counts.where("matches > 0").select("subscriber").distinct().count()
            counted.append(counts.count())
        return statistics, reached


def report(outcome: RunOutcome, pipeline: Pipeline, folder: Folder, stage: Stages) -> RunOutcome:
    """Write the report and the summary."""
    from fyke.pipeline.results.report import page

    with stage("report", "page") as counted:
        folder.write("report.html", page(outcome, pipeline))
        counted.append(1)
    outcome = replace(outcome, stages=tuple(stage.done))
    folder.write("summary.json", json.dumps(outcome.document(), indent=1) + "\n")
    return outcome
