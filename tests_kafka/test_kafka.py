"""Kafka to Kafka, with a real broker: nothing is lost, nothing doubled, whatever is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import fyke.spark
from fyke import FykeError, Matcher
from fyke.spark.streams import kafka
from fyke.spark.streams.kafka import KafkaSink
from fyke.spark.versions import versions
from tests_kafka.broker import Broker, Message

WAIT_S = 300
Publish = Callable[[Iterable[str | None]], None]
Start = Callable[..., subprocess.Popen[bytes]]


def matcher(version: int) -> Matcher:
    made = Matcher()
    made.add(f"{version} every \U0001f600", "exists k")
    made.add(f"{version} even", "even = true")
    made.add(f"{version} none", "k < 0")
    return made


def events(first: int, end: int) -> list[str]:
    """Every tenth of them comes twice: twins that nothing tells apart."""
    return [
        json.dumps({"k": k, "even": k % 2 == 0, "text": "ü\t\U0001f600", "big": 2**53 + 1})
        for k in range(first, end)
        for _ in range(1 + (k % 10 == 0))
    ]


def expected(lines: Iterable[str]) -> Counter[tuple[int, str]]:
    """How often each event is found by each subscription, whatever the version."""
    facts = [json.loads(line) for line in lines]
    found = Counter((each["k"], "every \U0001f600") for each in facts)
    return found + Counter((each["k"], "even") for each in facts if each["even"])


def check(found: list[Message], lines: list[str]) -> dict[int, int]:
    """Everything is there, as often as it should be; the version that each batch saw."""
    versions: dict[int, set[int]] = {}
    rows: Counter[tuple[int, str]] = Counter()
    for message in found:
        version, _, name = message.value["subscription"].partition(" ")
        assert message.key == message.value["subscription"]
        versions.setdefault(int(message.headers["fyke-batch"]), set()).add(int(version))
        rows[json.loads(message.value["event"])["k"], name] += 1
    assert rows == expected(lines)
    assert all(len(saw) == 1 for saw in versions.values()), versions
    assert len({message.headers["fyke-stream"] for message in found}) == 1
    return {batch: min(saw) for batch, saw in sorted(versions.items())}


def ended(process: subprocess.Popen[bytes], folder: Path, code: int = 0) -> str:
    """What streams said, the last of which ended as it should."""
    found = process.wait(WAIT_S)
    said = (folder / "driver.log").read_text("utf-8", "replace")
    assert found == code, said[-3000:]
    return said


def killed(process: subprocess.Popen[bytes], folder: Path) -> None:
    ended(process, folder, -signal.SIGKILL)


def test_killed_before_amid_and_after(
    broker: Broker, publish: Publish, start: Start, tmp_path: Path
) -> None:
    """A batch is repeated against the version that it saw; only what is missing is sent."""
    lines = events(0, 200)
    publish([*lines, "broken", "", None, '{"k": 1e999}'])
    for version, (moment, batch) in enumerate([("before", 1), ("amid", 2), ("after", 3)], 1):
        versions.add(tmp_path / "subscriptions", matcher(version))
        killed(start("40", moment, str(batch)), tmp_path)
        assert not (tmp_path / "checkpoint" / "spark" / "commits" / str(batch)).exists()
        before = [message.headers["fyke-batch"] for message in broker.messages("found")]
        assert (str(batch) in before) == (moment != "before")
    versions.add(tmp_path / "subscriptions", matcher(4))
    assert "errors=4" in ended(start("40"), tmp_path)
    saw = check(broker.messages("found"), lines)
    assert [saw[batch] for batch in range(5)] == [1, 1, 2, 3, 4]
    refused = [message.value for message in broker.messages("refused")]
    assert Counter(each.get("event") for each in refused) == Counter(
        ["broken", "", None, '{"k": 1e999}']
    )
    assert all(each["reason"] for each in refused)


def test_killed_at_any_time(broker: Broker, publish: Publish, start: Start, tmp_path: Path) -> None:
    """Subscriptions change all the while, and so does what is in the topic."""
    dice = random.Random(4)
    lines = events(0, 600)
    publish(lines[:400])
    versions.add(tmp_path / "subscriptions", matcher(1))
    done = threading.Event()

    def change() -> None:
        version = 1
        while not done.wait(0.5):
            version += 1
            versions.add(tmp_path / "subscriptions", matcher(version))

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for round in range(3):
            process = start("60", "never", "0")
            await_batch(process, tmp_path / "checkpoint" / "tally.json")
            time.sleep(dice.uniform(0, 2))
            process.kill()
            killed(process, tmp_path)
            if round == 0:
                publish(lines[400:])
        ended(start("60"), tmp_path)
    finally:
        done.set()
        changing.join()
    saw = check(broker.messages("found"), lines)
    assert len(set(saw.values())) > len(saw) // 2
    assert list(saw.values()) == sorted(saw.values())


def await_batch(process: subprocess.Popen[bytes], tally: Path) -> None:
    """Waits until a stream has finished a batch since it was started."""

    def batch() -> int:
        return int(json.loads(tally.read_text("utf-8"))["batch"]) if tally.exists() else -1

    first, end = batch(), time.monotonic() + WAIT_S
    while batch() == first:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)


def dying_once(folder: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """In a worker: ends it when a part of the messages has passed on their way to Kafka."""
    guard = kafka.first_attempt

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for at, batch in enumerate(guard(batches)):
            yield batch
            if at == 10:
                time.sleep(3)
                try:
                    Path(folder, "died").touch(exist_ok=False)
                except FileExistsError:
                    continue
                os.kill(os.getpid(), signal.SIGKILL)

    return run


def test_a_worker_killed_while_it_sends(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark would send the rows of that task again; ours are completed.

    They are long, so that they do not wait in the worker for more.
    """
    monkeypatch.setattr(kafka, "first_attempt", dying_once(str(tmp_path)))
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 50)
    sink = Counting("found", broker.servers, settle_s=1).claim("one", [])
    try:
        rows = spark.range(0, 2000, 1, 2).selectExpr("id as k", "repeat('long', 500) as text")
        sink.write(rows, 0)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert (tmp_path / "died").exists()
    (found_first,) = Counting.found
    assert 0 < found_first < 2000
    found = broker.messages("found")
    assert Counter(message.value["k"] for message in found) == Counter(range(2000))
    assert len({message.headers["fyke-id"] for message in found}) == 2000


class Counting(KafkaSink):
    """Notes how many messages it found when it had to complete a batch."""

    found: ClassVar[list[int]] = []

    def _settled(self, session: SparkSession, batch: int, begun: float) -> DataFrame:
        sent = super()._settled(session, batch, begun)
        self.found.append(sent.count())
        return sent


def test_streams_share_a_topic(spark: SparkSession, broker: Broker) -> None:
    """What another stream or another batch sent is none of ours."""
    rows = spark.createDataFrame([(k % 2, "s") for k in range(6)], "k long, subscription string")
    one, other = (KafkaSink("found", broker.servers, settle_s=0).claim(name, []) for name in "ab")
    one.write(rows, 0)
    one.write(rows, 1)
    begun = time.time()
    one.complete(rows, 1, begun)
    assert len(broker.messages("found")) == 12
    other.complete(rows.limit(3), 1, begun)
    other.complete(rows, 1, begun)
    counts = Counter(
        (each.headers["fyke-stream"], each.headers["fyke-batch"], each.value["k"])
        for each in broker.messages("found")
    )
    assert counts == Counter({(*name, k): 3 for name in ("a0", "a1", "b1") for k in range(2)})


def test_what_cannot_be_reached(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    def begin(topic: str, servers: str) -> Any:
        source = spark.readStream.format("kafka").option("subscribe", "events")
        frame = source.option("kafka.bootstrap.servers", broker.servers).load()
        names = ("kafka.default.api.timeout.ms", "kafka.request.timeout.ms")
        sink = KafkaSink(topic, servers, dict.fromkeys(names, "3000"))
        rows = frame.selectExpr("cast(value as string) as event")
        return fyke.spark.match_stream(rows, matcher(1), sink, checkpoint=tmp_path / topic)

    with pytest.raises(FykeError, match=r"(?s)'absent' at '127.0.0.1:\d+'.*UnknownTopic"):
        begin("absent", broker.servers)
    with pytest.raises(FykeError, match=r"'a b'.*InvalidTopic"):
        begin("a b", broker.servers)
    with pytest.raises(FykeError, match=r"'found' at '127.0.0.1:1' cannot be used.*Timeout"):
        begin("found", "127.0.0.1:1")
    with pytest.raises(FykeError, match=r"'found' at 'nonsense' cannot be used.*bootstrap"):
        begin("found", "nonsense")


def test_the_topic_of_events_is_missing(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    source = spark.readStream.format("kafka").option("subscribe", "absent")
    frame = source.option("kafka.bootstrap.servers", broker.servers).load()
    stream = fyke.spark.match_stream(
        frame.selectExpr("cast(value as string) as event"),
        matcher(1),
        KafkaSink("found", broker.servers),
        checkpoint=tmp_path / "checkpoint",
        json="event",
        trigger="available",
    )
    with pytest.raises(FykeError, match="UnknownTopicOrPartition"):
        stream.await_end(WAIT_S)


def test_the_broker_goes_and_comes_back(
    spark: SparkSession, broker: Broker, publish: Publish, tmp_path: Path
) -> None:
    """The stream fails; started again, it goes on where it was."""
    quick = {"max.block.ms": "3000", "delivery.timeout.ms": "4000", "request.timeout.ms": "3000"}
    quick["default.api.timeout.ms"] = "3000"
    options = {f"kafka.{name}": value for name, value in quick.items()}
    asked: list[int] = []

    class Breaking(KafkaSink):
        def _send(self, messages: DataFrame, batch: int) -> bool:
            asked.append(batch)
            if asked == [0, 1]:
                super()._send(messages.where("id < '8'"), batch)
                broker.stop()
            return super()._send(messages, batch)

    def begin() -> Any:
        source = spark.readStream.format("kafka").option("subscribe", "events")
        source = source.option("kafka.bootstrap.servers", broker.servers)
        source = source.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", "60")
        return fyke.spark.match_stream(
            source.load().selectExpr("cast(value as string) as event"),
            matcher(1),
            Breaking("found", broker.servers, options, settle_s=1),
            checkpoint=tmp_path / "checkpoint",
            json="event",
            trigger="available",
        )

    lines = events(0, 150)
    publish(lines)
    with pytest.raises(FykeError, match="the stream failed"):
        begin().await_end(WAIT_S)
    broker.start()
    assert begin().await_end(WAIT_S)
    check(broker.messages("found"), lines)
    assert asked.count(1) > 1
