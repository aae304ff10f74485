"""Kafka: notifications as messages of a topic, each of them once.

Idea. Spark's connector sends at least once: a batch that is repeated after a crash would be sent
again. But a repeated batch has the same rows, so that what is missing can be told from what is
there. Every message says in its headers where it comes from:

    fyke-stream     the stream's id
    fyke-batch      the number of the batch
    fyke-id         a hash of these two and of the message

A batch that was begun before is *completed*: what the topic has of it is read, from the time on at
which it was begun, and only the rest is sent.

Example. Batch 7 is to send a, a, b, c, and the driver dies when a and b have arrived. The next
start finds one a and one b, and sends a and c.

Invariant. Only the first attempt of a task sends. Where Spark would repeat a task, the second
attempt refuses, the job fails, and the batch is completed as after a crash.

What remains. A process that was given up for dead may send after the topic was looked at: we look
until two looks, `settle_s` apart, find the same. What comes later yet arrives twice, with one id.

Cost. A new batch reads nothing; its messages pass through Python once more. A batch to complete
costs two or more readings of what the topic got since it was begun, from everybody.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError, shown

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

STREAM: Final = "fyke-stream"
BATCH: Final = "fyke-batch"
ID: Final = "fyke-id"

ATTEMPTS: Final = 3
"""So often a batch is completed before its failure is the stream's."""
SKEW_S: Final = 600
"""The clocks of the driver, the workers and the broker differ by less."""
LOOKS_MAX: Final = 100
_REFUSAL: Final = "a task that sends messages is not repeated"
_PATIENCE: Final = {"kafka.default.api.timeout.ms": "15000", "kafka.request.timeout.ms": "15000"}
_CAUSE: Final = re.compile(r"^Caused by: (.+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KafkaSink:
    """A topic of Kafka, through Spark's connector (the package spark-sql-kafka-0-10).

    The message is the row as JSON, its key the subscription; headers say where it comes from.
    `options` are the connector's, such as `kafka.security.protocol`. After a crash the sink looks
    at the topic every `settle_s` seconds until it stays the same. `stream` is the id of the stream
    that claims the sink.
    """

    topic: str
    servers: str
    options: Mapping[str, str] = field(default_factory=dict)
    settle_s: float = 3.0
    stream: str = ""

    def __post_init__(self) -> None:
        for name, value in (("topic", self.topic), ("servers", self.servers)):
            if not isinstance(value, str) or not value:
                raise FykeError(f"{name}={shown(value)}; expected a text that is not empty")
        if not isinstance(self.options, Mapping) or not all(
            isinstance(each, str) for pair in self.options.items() for each in pair
        ):
            raise FykeError(f"options={shown(self.options)}; expected texts by name")
        if not isinstance(self.settle_s, int | float) or not 0 <= self.settle_s < 1e6:
            raise FykeError(f"settle_s={shown(self.settle_s)}; expected seconds")

    @property
    def is_atomic(self) -> bool:
        return False

    def claim(self, stream: str, columns: list[str]) -> KafkaSink:
        from pyspark.sql import SparkSession

        with _failures(f"the topic {shown(self.topic)} at {shown(self.servers)} cannot be used"):
            self._arrived(SparkSession.active(), time.time()).isEmpty()
        return replace(self, stream=stream)

    def has(self, batch: int) -> bool:
        return False

    def write(self, rows: DataFrame, batch: int) -> None:
        begun = time.time()
        if not self._send(messages(rows, self.stream, batch), batch):
            self.complete(rows, batch, begun)

    def complete(self, rows: DataFrame, batch: int, begun: float) -> None:
        wanted = messages(rows, self.stream, batch)
        for _ in range(ATTEMPTS):
            sent = self._settled(rows.sparkSession, batch, begun)
            if self._send(without(wanted, sent), batch):
                return
        raise FykeError(f"batch {batch}: workers that sent messages were lost {ATTEMPTS} times")

    def _send(self, messages: DataFrame, batch: int) -> bool:
        """Send them. Return True if all were sent, False if Spark wanted to repeat a task."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        once = messages.mapInArrow(first_attempt, messages.schema)
        writer = labelled(once, self.stream, batch).write.format("kafka").options(**self.options)
        writer = writer.option("kafka.bootstrap.servers", self.servers).option("topic", self.topic)
        try:
            writer.save()
        except (Py4JJavaError, PySparkException) as error:
            if _REFUSAL in str(error):
                return False
            raise
        return True

    def _settled(self, session: SparkSession, batch: int, begun: float) -> DataFrame:
        """Return what the topic has of a batch, when nobody sends any more."""
        before = -1
        for _ in range(LOOKS_MAX):
            sent = self._sent(session, batch, begun)
            count = sent.count()
            if count == before:
                return sent
            before = count
            time.sleep(self.settle_s)
        raise FykeError(
            f"the topic {shown(self.topic)} goes on getting messages of batch {batch}: does the "
            "stream run elsewhere, too?"
        )

    def _sent(self, session: SparkSession, batch: int, begun: float) -> DataFrame:
        """Return the ids (column `id`) of the messages of a batch that are in the topic."""
        arrived = self._arrived(session, begun - SKEW_S)
        ours = (_header(STREAM) == self.stream) & (_header(BATCH) == str(batch))
        return arrived.where(ours).select(_header(ID).alias("id"))

    def _arrived(self, session: SparkSession, since: float) -> DataFrame:
        """Return what everybody sent to the topic from a time on."""
        given = {name: value for name, value in self.options.items() if name.startswith("kafka.")}
        patience = {} if _PATIENCE.keys() & given.keys() else _PATIENCE
        look = {
            "kafka.bootstrap.servers": self.servers,
            "subscribe": self.topic,
            "includeHeaders": "true",
            "startingTimestamp": str(max(0, int(since * 1000))),
            "startingOffsetsByTimestampStrategy": "latest",
            "fetchOffset.numRetries": "1",
        }
        return session.read.format("kafka").options(**{**patience, **given, **look}).load()


def messages(rows: DataFrame, stream: str, batch: int) -> DataFrame:
    """Return rows as messages: key, value, id."""
    from pyspark.sql import functions as f

    key = f.col("subscription") if "subscription" in rows.columns else f.lit(None).cast("string")
    named = rows.select(key.alias("key"), f.to_json(f.struct("*")).alias("value"))
    hashed = f.sha2(f.concat_ws("\n", f.lit(stream), f.lit(str(batch)), "value"), 256)
    return named.withColumn("id", f.substring(hashed, 1, 32))


def labelled(messages: DataFrame, stream: str, batch: int) -> DataFrame:
    """Return messages with headers, as the connector takes them."""
    from pyspark.sql import functions as f

    def header(name: str, text: Column) -> Column:
        return f.struct(f.lit(name).alias("key"), f.encode(text, "utf-8").alias("value"))

    headers = f.array(
        header(STREAM, f.lit(stream)), header(BATCH, f.lit(str(batch))), header(ID, f.col("id"))
    )
    return messages.select("key", "value", headers.alias("headers"))


def without(messages: DataFrame, sent: DataFrame) -> DataFrame:
    """Return the messages that were not sent; of equal ones, fewer by the number that were."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    alike = Window.partitionBy("id").orderBy("value")
    numbered = messages.withColumn("nth", f.row_number().over(alike))
    times = sent.groupBy("id").agg(f.count("*").alias("times"))
    missing = numbered.join(times, "id", "left").where("nth > coalesce(times, 0)")
    return missing.select("key", "value", "id")


def first_attempt(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In a worker: let batches pass, unless the task was tried before."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        raise FykeError(_REFUSAL)
    yield from batches


def _header(name: str) -> Column:
    """Return the first header of that name, as text; null without one."""
    from pyspark.sql import functions as f

    named = f.filter("headers", lambda header: header["key"] == name)
    return f.get(named, 0)["value"].cast("string")


@contextmanager
def _failures(what: str) -> Iterator[None]:
    """Raise errors of Spark and Kafka as one sentence."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from fyke.spark.connector import advice
    from fyke.spark.sessions.starting import reason_of

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if "data source: kafka" in str(error).lower():
            raise FykeError(f"{what}: {advice()}") from None
        causes = _CAUSE.findall(str(error))
        raise FykeError(f"{what}: {causes[-1] if causes else reason_of(error)}") from None
