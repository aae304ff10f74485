"""Matching streams: `match_stream` on a streaming DataFrame.

    checkpoint/
        stream.json         the id of the stream
        spark/              Spark's own checkpoint, unless `journal` says where
        pins/               which version each of the last batches saw
        tally.json          what came of all batches
        subscriptions/      versions, where a Matcher or a snapshot was given
        errors/             rows that cannot be read, unless `errors` says where

Subscriptions may change while the stream runs: `compile` publishes a new version, the next batch
sees it. All events of a batch see one version, also when the batch is repeated after a crash.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fyke.errors import FykeError, shown
from fyke.matching.matcher import Matcher
from fyke.spark.columns import need_frame
from fyke.spark.reading import Reading
from fyke.spark.sessions.connect import is_remote, shares_disk
from fyke.spark.sessions.reasons import reason
from fyke.spark.sessions.workers import check_seen, check_workers
from fyke.spark.shipping.shipping import ship
from fyke.spark.sinks import FolderSink, Sink, sink_of
from fyke.spark.streams import batch_counts
from fyke.spark.streams.step import COUNTS, Following, Step
from fyke.spark.task import Output
from fyke.spark.versions import places, versions
from fyke.spark.versions.places import Place, absolute, below, is_address, told
from fyke.spark.versions.snapshots import local
from fyke.spark.versions.versions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    AnySink: TypeAlias = str | Path | Sink | Callable[[DataFrame, int], object]

AVAILABLE: Final = "available"
_PATIENCE: Final = (1, 2, 4, 8)
_STREAM: Final = "stream.json"
_SPARK: Final = "spark"
_ERRORS: Final = "errors"
_SUBSCRIPTIONS: Final = "subscriptions"
_INTERRUPTED: Final = re.compile(r"java\.[\w.]*(?:Interrupted|ClosedByInterrupt)\w*Exception")


def match_stream(
    events: DataFrame,
    subscriptions: Matcher | Version | str | Path,
    sink: AnySink,
    *,
    checkpoint: str | Path,
    key: str | Sequence[str] | None = None,
    arrays: bool = False,
    attributes: Sequence[str] | None = None,
    json: str | None = None,
    cloudevents: str | None = None,
    errors: AnySink | None = None,
    trigger: float | str | None = None,
    name: str | None = None,
    sweep: bool = False,
    journal: str | Path | None = None,
) -> Stream:
    """Start matching a streaming DataFrame; the rows are those of `match`.

    `subscriptions` is the folder that `compile` publishes versions to, each batch seeing the newest
    one; or they stay as they are: a Version, a Matcher, the path of a snapshot. `sink` is a folder,
    a sink, or a function of the rows and the batch's number; `errors` likewise, for rows that
    cannot be read. `checkpoint` is the folder or URI by which a stream that ended, however it did,
    goes on where it was; Spark's own part of it lies below, or in any path that Spark writes,
    named by `journal`. `trigger` is the time between batches in seconds (without it, as soon as
    there are events), or "available": what there is now, then the stream ends. `sweep` removes
    versions that this stream does not need any more; nobody else should be using them then.
    """
    need_frame(events, "events")
    if not events.isStreaming:
        raise FykeError("events: expected a streaming DataFrame; fyke.spark.match takes others")
    reading = Reading.of(events, attributes, json, cloudevents)
    output = Output.of(events, key, arrays)
    when = timing(trigger)
    folder = _folder(checkpoint)
    out, bad = sink_of(sink, "sink"), sink_of(_errors(errors, folder), "errors")
    check_workers(events.sparkSession)
    for given in (out, bad if errors else None):
        if isinstance(given, FolderSink) and not is_remote(events.sparkSession):
            check_seen(events.sparkSession, Path(given.path))
    stream = _identity(folder, None if journal is None else absolute(journal))
    out = out.claim(stream, output.schema(events).names) or out
    bad = bad.claim(f"{stream}-errors", list(output.columns)) or bad
    following = _following(subscriptions, folder, sweep)
    session, is_here = events.sparkSession, not is_address(following.path)
    if is_here and is_remote(session) and not shares_disk(session):
        following = _sent(following, session)
    if following.sent is not None:
        reading = reading.under(following.sent.pin.schema())
    step = Step(
        start=secrets.token_hex(8),
        checkpoint=folder,
        following=following,
        reading=reading,
        output=output,
        sink=out,
        errors=bad,
    )
    place = below(told(folder), _SPARK) if journal is None else absolute(journal)
    return Stream(start_query(events, step, place, when, name), folder)


# --- what was given ------------------------------------------------------------------------------


def timing(trigger: float | str | None) -> dict[str, Any]:
    """Return the trigger as Spark takes it."""
    if trigger is None:
        return {}
    if trigger == AVAILABLE:
        return {"availableNow": True}
    if isinstance(trigger, int | float) and not isinstance(trigger, bool) and 0 <= trigger < 1e9:
        return {"processingTime": f"{round(trigger * 1000)} milliseconds"}
    raise FykeError(f"trigger={shown(trigger)}; expected seconds, or {shown(AVAILABLE)}")


def _folder(checkpoint: str | Path) -> str:
    """Return the absolute path of a folder, or a URI that can be opened."""
    if not isinstance(checkpoint, str | Path):
        raise FykeError(f"checkpoint={shown(checkpoint)}; expected the path of a folder, or a URI")
    path = absolute(checkpoint)
    if is_address(path):
        Place.of(path)
    return path


def _errors(errors: AnySink | None, checkpoint: str) -> AnySink:
    """Return the sink for rows that cannot be read."""
    if errors is None and is_address(checkpoint):
        raise FykeError(
            f"checkpoint={shown(told(checkpoint))} has no folder for rows that cannot be read; say "
            "with errors= where they go"
        )
    return errors or below(checkpoint, _ERRORS)


def _identity(checkpoint: str, journal: str | None) -> str:
    """Return the name that the checkpoint has for its stream."""
    file, where = below(checkpoint, _STREAM), told(checkpoint)
    try:
        text = places.read(file)
        if text is None:
            if places.names(checkpoint):
                raise FykeError(f"{where} exists and is no checkpoint; nothing was written")
            text = json.dumps({"stream": secrets.token_hex(16), "journal": journal})
            places.write(file, text)
        facts = json.loads(text)
        stream, known = str(facts["stream"]), facts.get("journal")
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise FykeError(f"the checkpoint {where} cannot be used: {shown(error)}") from None
    if known != journal:
        raise FykeError(
            f"the checkpoint {where} goes with journal={known!r}; with another one, batches "
            "would be counted from 0 again"
        )
    return stream


def _following(
    subscriptions: Matcher | Version | str | Path, checkpoint: str, sweeps: bool
) -> Following:
    if isinstance(subscriptions, Version):
        return Following(absolute(subscriptions.path), subscriptions.number, sweeps)
    if isinstance(subscriptions, Matcher):
        return _save(subscriptions, checkpoint)
    if not isinstance(subscriptions, str | Path):
        raise FykeError(
            f"subscriptions: expected a folder of versions, a Version or a Matcher, not "
            f"{type(subscriptions).__name__}; fyke.spark.compile makes a Version of a DataFrame"
        )
    if versions.is_snapshot(absolute(subscriptions)):
        return _save(Matcher.open(local(absolute(subscriptions))), checkpoint)
    path = absolute(subscriptions)
    versions.current(path)
    return Following(path, None, sweeps)


def _sent(following: Following, session: SparkSession) -> Following:
    """Return the version as it is now, sent to the workers.

    Over Spark Connect, the server works on the batches, and sees nothing of what lies here.
    """
    chosen = following.choose()
    ship(chosen.pin, session)
    return replace(following, sent=chosen)


def _save(matcher: Matcher, checkpoint: str) -> Following:
    """Return the state of a matcher as a version in the checkpoint, where repetitions find it."""
    made = versions.add(below(checkpoint, _SUBSCRIPTIONS), matcher)
    return Following(made.path, made.number, sweeps=True)


def start_query(
    events: DataFrame,
    step: Callable[[DataFrame, int], None],
    journal: str,
    when: dict[str, Any],
    name: str | None,
) -> StreamingQuery:
    """Start a query that calls a step with each batch; Spark keeps its checkpoint in `journal`."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    def run(rows: DataFrame, batch: int) -> None:
        try:
            step(rows, batch)
        except Py4JJavaError as error:
            raise _brief(str(error)) from None

    writer = events.writeStream.foreachBatch(run)
    writer = writer.option("checkpointLocation", journal)
    if when:
        writer = writer.trigger(**when)
    try:
        return (writer.queryName(name) if name else writer).start()
    except PySparkException as error:
        raise FykeError(f"the stream does not start: {reason(str(error))}") from error


def _brief(text: str) -> FykeError:
    """Return what Java said, shortened.

    Spark looks for an interruption in the text of what a batch raised, to tell `stop` from a
    failure, with a regular expression that overflows the stack on the long traces of Java.
    """
    interrupted = _INTERRUPTED.search(text)
    if interrupted is None:
        return FykeError(reason(text))
    return FykeError(
        f"py4j.protocol.Py4JJavaError: An error occurred while calling Spark: {interrupted[0]}"
    )


# --- a stream that runs --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a stream.

    `batch` is the last one that was finished (-1: none), `version` the one it saw, `matches` and
    `errors` what all batches brought together; rates are those of the last batch, in events a
    second: as they arrived, and as they could be processed.
    """

    batch: int
    version: int
    matches: int
    errors: int
    arriving_per_s: float
    processed_per_s: float


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream that was started; `query` is Spark's own handle."""

    query: StreamingQuery
    checkpoint: str

    @property
    def is_active(self) -> bool:
        return bool(self.query.isActive)

    def stop(self) -> None:
        """End the stream; a batch that is being worked on is repeated at the next start.

        Spark cancels the jobs of a stream and waits for its batch; a job that the batch starts
        just then would be waited for, however long. So after a while, they are cancelled again.
        """
        with ThreadPoolExecutor() as threads:
            stopped = threads.submit(self.query.stop)
            for seconds in _PATIENCE:
                if wait([stopped], seconds).done:
                    break
                threads.submit(self.query.stop)
            stopped.result()

    def await_end(self, timeout: float | None = None) -> bool:
        """Wait until the stream ends, or for some seconds. Return True if it did.

        Raises what made it fail.
        """
        from pyspark.errors import PySparkException

        try:
            if timeout is None:
                self.query.awaitTermination()
                return True
            return bool(self.query.awaitTermination(max(1, round(timeout))))
        except PySparkException as error:
            raise FykeError(f"the stream failed: {reason(str(error))}") from error

    @property
    def exception(self) -> FykeError | None:
        """Why the stream failed, if it did."""
        error = self.query.exception()
        return None if error is None else FykeError(f"the stream failed: {reason(str(error))}")

    def progress(self) -> Progress:
        found = batch_counts.load(below(self.checkpoint, COUNTS))
        last: Any = self.query.lastProgress or {}
        return Progress(
            batch=found.batch,
            version=found.version,
            matches=found.matches,
            errors=found.errors,
            arriving_per_s=_rate(last.get("inputRowsPerSecond")),
            processed_per_s=_rate(last.get("processedRowsPerSecond")),
        )


def _rate(told: float | None) -> float:
    """Return a rate; 0 where Spark does not say it, as of the first batch."""
    return 0.0 if told is None or told != told else float(told)
