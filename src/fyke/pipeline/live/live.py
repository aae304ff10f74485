"""Running a pipeline whose events are a stream: until it is stopped, and on from there next time.

    start -> open -> compile -> stream -> count -> report

What a batch leaves behind is in `micro_batch`; here it is started, watched and stopped. Statistics
and the report are made when the stream ends, of everything since it first began.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fyke.pipeline.checking import check
from fyke.pipeline.configuration import UNTIL, Pipeline
from fyke.pipeline.live.batch_counts import CountsLog
from fyke.pipeline.live.micro_batch import MicroBatch, Places
from fyke.pipeline.live.rates import Now, Totals, summarize
from fyke.pipeline.live.renewal import Renewal
from fyke.pipeline.live.standing import Current, Standing, state_of
from fyke.pipeline.live.stopping import Request, stop_requests
from fyke.pipeline.results import counting
from fyke.pipeline.results.folder import Folder
from fyke.pipeline.results.outcome import RunOutcome, RunStatistics
from fyke.pipeline.results.refusals import commonest
from fyke.pipeline.running import report
from fyke.pipeline.sources import origins, streams
from fyke.pipeline.sources.sources import Events, Shape
from fyke.pipeline.stages import Stages
from fyke.pipeline.watching import Watcher
from fyke.spark.sessions.workers import check_seen
from fyke.spark.streams.streaming import AVAILABLE, Stream, start_query, timing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LOOKED_EVERY_S: Final = 0.2
_BATCH_AWAITED_S: Final = 30.0
"""A batch that is being worked on may end within this time; otherwise it is repeated."""


def run(
    pipeline: Pipeline,
    watcher: Watcher,
    session: SparkSession | None = None,
    *,
    seconds: float | None = None,
) -> RunOutcome:
    """Run a stream until a signal, for some seconds, or if "available" to the end of what is there.

    A session that is given is used and stays.
    """
    check(pipeline)
    folder = Folder.resume(pipeline.out, _identity(pipeline))
    stages = Stages(watcher)
    with folder.held(), stages.on(pipeline.place, {}, session) as found:
        check_seen(found, folder.path)
        return _Live(pipeline, folder, stages, Standing.of(folder)).on(found, seconds)


def _identity(pipeline: Pipeline) -> Mapping[str, Any]:
    """Return what must not change from start to start: batches would not fit together."""
    return {
        "events": origins.identity(pipeline.events),
        "notifications": asdict(pipeline.notifications),
    }


@dataclass(frozen=True, slots=True)
class _Live:
    pipeline: Pipeline
    folder: Folder
    stage: Stages
    standing: Standing

    def on(self, session: SparkSession, seconds: float | None) -> RunOutcome:
        events = self.open(session)
        current = self.compile(session)
        self.stream(session, events, seconds)
        current = self.standing.current() or current
        return self.conclude(session, events.shape, current)

    @property
    def counts_log(self) -> CountsLog:
        return CountsLog(self.folder.at("batches.ndjson"))

    # --- the stages

    def open(self, session: SparkSession) -> Events:
        with self.stage("open", "stream") as counted:
            events = streams.stream(session, self.pipeline.events)
            counted.append(1)
        return events

    def compile(self, session: SparkSession) -> Current:
        """Return the subscriptions of the last start if they are the same, or a new version."""
        with self.stage("compile", "subscriptions") as counted:
            state, found = state_of(self.pipeline), self.standing.current()
            if found is None or found.state != state or not self.standing.is_whole(found.version):
                found = self.standing.renew(session, self.pipeline, state)
            counted.append(found.subscriptions)
        return found

    def stream(self, session: SparkSession, events: Events, seconds: float | None) -> None:
        with self.stage("stream", "events", has_bar=False) as counted, stop_requests() as request:
            now = Now(self.counts_log)
            before = now.totals.events
            running = self._start(events)
            end = None if seconds is None else time.monotonic() + seconds
            self._watch(session, running, now, request, end)
            if request.is_made:
                self.stage.watcher.note("stopping; a second time, at once")
            try:
                self._await_batch(running)
            finally:
                running.stop()
            if running.exception is not None:
                raise running.exception
            self.stage.watcher.pulse(now.look())
            counted.append(now.totals.events - before)

    def conclude(self, session: SparkSession, shape: Shape, current: Current) -> RunOutcome:
        totals, found = summarize(self.counts_log)
        statistics, subscribers = RunStatistics(), 0
        if found is not None:
            statistics, subscribers = self.count(session, shape, totals)
        outcome = RunOutcome(
            events=totals.events,
            events_refused=totals.refused,
            subscriptions=current.subscriptions,
            subscriptions_refused=current.refused,
            matches=totals.matches,
            notifications=totals.notifications,
            subscribers=subscribers,
            stages=tuple(self.stage.done),
            statistics=statistics,
            stream=found,
        )
        return report(outcome, self.pipeline, self.folder, self.stage)

    def count(
        self, session: SparkSession, shape: Shape, totals: Totals
    ) -> tuple[RunStatistics, int]:
        """Return statistics of all batches done, and how many subscribers got something."""
        last = self.counts_log.last()
        assert last is not None
        with self.stage("count", "subscriptions") as counted:
            found = session.read.parquet(self.folder.at("journal"))
            found = found.where(f"batch <= {last.batch}").drop("batch")
            standing = self.standing.newest(session)
            counts = self._counts(session, found, standing, totals.events)
            path = self.folder.at("sample")
            sample = Events(session.read.parquet(path), shape) if Path(path).exists() else None
            busiest = self.pipeline.report.busiest
            statistics = counting.statistics(found, counts, sample, standing, busiest)
            if totals.refused:
                statistics = replace(statistics, refusals=commonest(found))
            reached = counts.where("matches > 0").select("subscriber").distinct().count()
            counted.append(counts.count())
        return statistics, reached

    def _counts(
        self, session: SparkSession, found: DataFrame, standing: DataFrame, seen: int
    ) -> DataFrame:
        name = "statistics.parquet"
        self.folder.clear(name)
        path = self.folder.at(name)
        counting.matches_by_subscription(found, standing, seen).write.parquet(path)
        return session.read.parquet(path)

    # --- while it runs

    def _start(self, events: Events) -> Stream:
        last, at = self.counts_log.last(), self.folder.at
        step = MicroBatch(
            run=secrets.token_hex(8),
            start=1 if last is None else last.start + 1,
            shape=events.shape,
            standing=self.standing,
            wanted=self.pipeline.notifications,
            at=Places(
                pins=f"{at('checkpoint')}/pins",
                journal=at("journal"),
                parquet=at("notifications.parquet"),
                ndjson=at("notifications.ndjson"),
                refused=at("refused-events.ndjson"),
                sample=at("sample"),
                counts_log=at("batches.ndjson"),
            ),
        )
        pace, checkpoint = self.pipeline.pace, at("checkpoint")
        when = timing(pace.every_s if pace.until == UNTIL[0] else AVAILABLE)
        return Stream(
            start_query(events.frame, step, f"{checkpoint}/spark", when, None), checkpoint
        )

    def _watch(
        self,
        session: SparkSession,
        running: Stream,
        now: Now,
        request: Request,
        end: float | None,
    ) -> None:
        """Tell how it goes and look after the subscriptions, until there is a reason to stop."""
        renewal = Renewal(self.pipeline, self.standing, self.stage.watcher)
        while running.is_active and not request.is_made:
            if end is not None and time.monotonic() >= end:
                return
            self.stage.watcher.pulse(now.look())
            renewal.look(session)
            time.sleep(_LOOKED_EVERY_S)

    def _await_batch(self, running: Stream) -> None:
        """Wait for the end of a batch that is being worked on, if it ends soon."""
        before, end = self.counts_log.last(), time.monotonic() + _BATCH_AWAITED_S
        while (
            running.is_active
            and running.query.status["isTriggerActive"]
            and self.counts_log.last() == before
            and time.monotonic() < end
        ):
            time.sleep(0.02)
