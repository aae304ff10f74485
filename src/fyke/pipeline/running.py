"""Running a pipeline: one stage after the other, on any Spark session.

    start -> ingest -> compile -> match -> notify -> count -> report

What a stage leaves behind lies in the folder of results, and the next one reads it there. The keys
of events, ids and counts travel through Spark; nothing grows with the events in this process.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING, Final

from fyke import spark
from fyke.errors import FykeError
from fyke.pipeline import counting, sources
from fyke.pipeline.configuration import Generated, Pipeline
from fyke.pipeline.folder import Folder
from fyke.pipeline.journal import journal
from fyke.pipeline.outcome import Outcome, Stage, Statistics
from fyke.pipeline.sources import Events
from fyke.pipeline.watching import Watcher, following
from fyke.spark.versions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SETTINGS: Final = {"spark.sql.files.minPartitionNum": 16}
"""So that bars move, and no task holds too much; what the pipeline says wins."""
_TAKEN: Final = "the id is taken by another subscription"


def run(pipeline: Pipeline, watcher: Watcher, session: SparkSession | None = None) -> Outcome:
    """Runs a pipeline; a session that is given is used and stays."""
    if find_spec("matplotlib") is None:
        raise FykeError("the report needs matplotlib: pip install 'fyke[pipeline]'")
    folder = Folder.begin(pipeline.out, {"events": str(pipeline.events)})
    work = _Run(pipeline, folder, watcher)
    own = None
    try:
        if session is None:
            own = session = work.start()
        return work.on(session)
    finally:
        if own is not None:
            own.stop()


@dataclass(slots=True)
class _Run:
    pipeline: Pipeline
    folder: Folder
    watcher: Watcher
    stages: list[Stage] = field(default_factory=list)
    session: SparkSession | None = None

    def start(self) -> SparkSession:
        place = self.pipeline.place
        with self._stage("start", "session") as counted:
            counted.append(1)
            conf = {**_SETTINGS, **place.conf}
            return spark.session(
                master=place.master, remote=place.remote, name="fyke pipeline", conf=conf
            )

    def on(self, session: SparkSession) -> Outcome:
        self.session = session
        events, seen = self.ingest(session)
        standing, version, refused = self.compile(session)
        found = self.match(session, events, version, seen)
        notifications = self.notify(session, found, standing)
        statistics, subscribers = self.count(session, found, standing, events, seen)
        bad = self._put_aside(found)
        return self.report(
            Outcome(
                events=seen,
                events_refused=bad,
                subscriptions=version.subscriptions,
                subscriptions_refused=refused,
                matches=sum(size * rows for size, rows in statistics.events_by_size),
                notifications=notifications,
                subscribers=subscribers,
                stages=tuple(self.stages),
                statistics=statistics,
            )
        )

    # --- the stages

    def ingest(self, session: SparkSession) -> tuple[Events, int]:
        """Generated events are written once; files are read where they lie."""
        with self._stage("ingest", "events") as counted:
            events = sources.events(session, self.pipeline.events)
            if isinstance(self.pipeline.events, Generated):
                path = self.folder.at("events")
                events.frame.write.parquet(path)
                events = sources.generated(session.read.parquet(path))
            seen = events.frame.count()
            counted.append(seen)
        return events, seen

    def compile(self, session: SparkSession) -> tuple[DataFrame, Version, int]:
        """The subscriptions that can be used, compiled; how many cannot."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        with self._stage("compile", "subscriptions") as counted:
            rows = sources.subscriptions(
                session, self.pipeline.subscriptions, self.pipeline.dialect
            )
            same_id = Window.partitionBy("id").orderBy("filter", "dialect", "subscriber")
            broken = f.when(f.col("broken").isNotNull(), "the row cannot be read")
            again = f.when(f.col("id").isNotNull() & (f.row_number().over(same_id) > 1), _TAKEN)
            path = self.folder.at("subscriptions")
            rows.withColumn("reason", f.coalesce(broken, again)).write.parquet(path)
            rows = session.read.parquet(path)
            good = rows.where("reason is null").drop("reason", "broken")
            version = spark.compile(good, self.folder.at("compiled"), shards=self.pipeline.shards)
            bad = rows.where("reason is not null").drop("class")
            refused = version.refused + bad.count()
            if refused:
                errors = version.errors(session)
                bad.unionByName(errors, allowMissingColumns=True).write.json(
                    self.folder.at("refused-subscriptions.ndjson"), ignoreNullFields=True
                )
                good = good.join(errors.select("id"), "id", "left_anti")
            counted.append(version.subscriptions)
        if not version.subscriptions:
            raise FykeError(
                f"{self.pipeline.subscriptions}: no subscription that can be used; "
                f"{self.folder.path} holds the reasons"
            )
        return good, version, refused

    def match(
        self, session: SparkSession, events: Events, version: Version, seen: int
    ) -> DataFrame:
        with self._stage("match", "events") as counted:
            path = self.folder.at("journal")
            journal(events, version.pin()).write.parquet(path)
            counted.append(seen)
        return session.read.parquet(path)

    def notify(self, session: SparkSession, found: DataFrame, standing: DataFrame) -> int:
        """What subscribers get, in files."""
        wanted = self.pipeline.notifications
        with self._stage("notify", "notifications") as counted:
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
    ) -> tuple[Statistics, int]:
        """Statistics, and how many subscribers got something."""
        with self._stage("count", "subscriptions") as counted:
            path = self.folder.at("statistics.parquet")
            counting.matches_by_subscription(found, standing, seen).write.parquet(path)
            counts = session.read.parquet(path)
            busiest = self.pipeline.report.busiest
            statistics = counting.statistics(found, counts, events, standing, busiest)
            reached = counts.where("matches > 0").select("subscriber").distinct().count()
            counted.append(counts.count())
        return statistics, reached

    def report(self, outcome: Outcome) -> Outcome:
        from fyke.pipeline.report import page

        with self._stage("report", "page") as counted:
            self.folder.write("report.html", page(outcome, self.pipeline))
            counted.append(1)
        outcome = replace(outcome, stages=tuple(self.stages))
        self.folder.write("summary.json", json.dumps(outcome.document(), indent=1) + "\n")
        return outcome

    def _put_aside(self, found: DataFrame) -> int:
        """Rows that are no events."""
        bad = found.where("reason is not null").select("event", "text", "reason")
        refused = bad.count()
        if refused:
            bad.write.json(self.folder.at("refused-events.ndjson"), ignoreNullFields=True)
        return refused

    @contextmanager
    def _stage(self, name: str, unit: str) -> Iterator[list[int]]:
        """Times a stage, which says how many rows it handled; Spark's errors become sentences."""
        from pyspark.errors import PySparkException

        counted: list[int] = []
        self.watcher.begin(name)
        started = perf_counter()
        session = self.session
        try:
            with following(session, self.watcher) if session else nullcontext():
                yield counted
        except PySparkException as failed:
            raise FykeError(f"{name}: {_reason(failed)}") from failed
        stage = Stage(name, counted[0], unit, perf_counter() - started)
        self.stages.append(stage)
        self.watcher.end(stage)


def notifications(found: DataFrame, standing: DataFrame, form: str) -> DataFrame:
    """The digests of a journal with their subscribers; or, event by event, who gets it and why."""
    from pyspark.sql import functions as f

    holders = standing.select(f.col("id").alias("subscription"), "subscriber")
    digests = found.where("subscription is not null").select("subscription", "events")
    held = digests.join(f.broadcast(holders), "subscription")
    if form == "digest":
        return held.select("subscriber", "subscription", "events")
    each = held.select("subscriber", f.explode("events").alias("event"), "subscription")
    ids = f.array_sort(f.collect_list("subscription"))
    return each.groupBy("subscriber", "event").agg(ids.alias("subscriptions"))


def _reason(failed: Exception) -> str:
    """The line that says what went wrong: our own in a worker's traceback, else Spark's first."""
    lines = [line.strip() for line in str(failed).splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("fyke.errors.")]
    if ours:
        return ours[-1].partition(": ")[2]
    return lines[0] if lines else type(failed).__name__
