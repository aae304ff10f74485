"""A pipeline whose events are a topic, as the command that people run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import fyke
from fyke import FykeError
from fyke.cli.stages import showing
from fyke.pipeline.configuration import parse
from fyke.pipeline.live import live
from fyke.pipeline.live.batch_counts import BatchCounts, CountsLog
from tests_kafka.broker import Broker
from tests_kafka.jars import jars

WAIT_S = 240
Publish = Callable[[Iterable[str | bytes | None]], None]
Found = Counter[tuple[str, str, str]]
"""How often (subscriber, event, subscription) was told."""

PIPELINE = """
[events]
format = "kafka"
servers = "SERVERS"
topic = "events"
key = "id"
options = { maxOffsetsPerTrigger = 40 }
[subscriptions]
format = "json"
path = "subscriptions.jsonl"
[stream]
every = 0.2
until = "stopped"
[spark]
master = "local[2]"
[spark.conf]
"spark.jars" = "JARS"
"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1"
[output]
path = "out"
"""
FILTERS = {
    "cheap": "price < 10",
    "none": "not exists price",
    "exact": "n = 9007199254740993",
    "zero": "price = 0",
    "yes": "flag = true",
    "one": "flag = 1",
    "astral 🐟": "name contains '🐟'",
    "empty": "name = ''",
    "null": "name is null",
    "list": "tags = 'b'",
    "never": "price < 0 and price > 0",
}
KINDS: list[dict[str, Any]] = [
    {"price": 8.4, "name": "x", "flag": True},
    {"price": -0.0, "name": "", "flag": 1},
    {"n": 2**53 + 1, "name": "a 🐟"},
    {"n": 2**53, "name": None, "tags": ["a", "b", "b"]},
    {"price": 20, "tags": []},
    {"price": [20, 5]},
    {},
]
BROKEN: dict[str | bytes | None, str | None] = {
    "not json": "not json",
    '{"id": "cut", "price": ': '{"id": "cut", "price": ',
    '{"id": "nan", "price": NaN}': '{"id": "nan", "price": NaN}',
    b'{"id": "\xff"}': '{"id": "\ufffd"}',
    '{"price": 1}': '{"price": 1}',
    '{"id": null, "price": 1}': '{"id": null, "price": 1}',
    "[]": "[]",
    "": "",
    None: None,
}
"""Messages that are no events, and the text that is put aside."""


def events(first: int, end: int) -> list[dict[str, Any]]:
    """Every tenth of them comes twice: twins that nothing tells apart."""
    return [
        {"id": f"e{at} ü", **KINDS[at % len(KINDS)]}
        for at in range(first, end)
        for _ in range(1 + (at % 10 == 0))
    ]


def accepted(events: list[dict[str, Any]]) -> Found:
    """By trying every filter on every event."""
    return Counter(
        (f"holder of {id}", event["id"], id)
        for id, filter in FILTERS.items()
        for event in events
        if fyke.parse(filter).matches(event)
    )


def told(digests: Iterable[dict[str, Any]]) -> Found:
    return Counter(
        (each["subscriber"], event, each["subscription"])
        for each in digests
        for event in each["events"]
    )


def in_parquet(out: Path) -> Iterator[dict[str, Any]]:
    for file in (out / "notifications.parquet").glob("batch=*/*.parquet"):
        yield from pq.ParquetFile(file).read().to_pylist()


def in_lines(folder: Path) -> Iterator[dict[str, Any]]:
    for file in folder.glob("batch=*/part-*"):
        yield from map(json.loads, file.read_text("utf-8").splitlines())


def counts(out: Path) -> list[BatchCounts]:
    return list(CountsLog(str(out / "batches.ndjson")).entries())


def prepare(folder: Path, servers: str, connector: list[Path], until: str = "stopped") -> None:
    text = PIPELINE.replace("SERVERS", servers).replace("JARS", ",".join(map(str, connector)))
    (folder / "pipeline.toml").write_text(text.replace("stopped", until), "utf-8")
    rows = [
        {"id": id, "filter": filter, "subscriber": f"holder of {id}"}
        for id, filter in FILTERS.items()
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if not (folder / "subscriptions.jsonl").exists():
        (folder / "subscriptions.jsonl").write_text(lines, "utf-8")


@contextmanager
def command(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`fyke pipeline run` in a process of its own, which does not outlive this."""
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "fyke", "pipeline", "run", "pipeline.toml"],
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, "COLUMNS": "80"},
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(60)


def said(folder: Path) -> str:
    return (folder / "log.txt").read_text("utf-8", "replace")


def kill_when_there_is(path: Path, folder: Path) -> None:
    """kill -9, the moment that a run has written something."""
    with command(folder) as process:
        end = time.monotonic() + WAIT_S
        while not path.exists():
            assert process.poll() is None and time.monotonic() < end, said(folder)[-3000:]
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL


def test_killed_twice(broker: Broker, publish: Publish, tmp_path: Path) -> None:
    """In the midst of a batch, before and after it has notified; the same command goes on."""
    first, more, last = events(0, 150), events(150, 250), events(250, 300)
    out = tmp_path / "out"
    prepare(tmp_path, broker.servers, jars("connector"))
    publish([*map(json.dumps, first), *BROKEN])
    kill_when_there_is(out / "journal" / "batch=1", tmp_path)
    publish(map(json.dumps, more))
    kill_when_there_is(out / "notifications.parquet" / "batch=4", tmp_path)
    publish([*map(json.dumps, last), "not json"])
    done = counts(out)
    everything = [*first, *more, *last]
    wanted, refused = accepted(everything), Counter([*BROKEN.values(), "not json"])
    assert 0 < sum(entry.events for entry in done) < len(everything)
    assert 0 < told(in_parquet(out)).total() < wanted.total()

    prepare(tmp_path, broker.servers, jars("connector"), until="available")
    with command(tmp_path) as process:
        assert process.wait(WAIT_S) == 0, said(tmp_path)[-3000:]
    assert "Traceback" not in said(tmp_path) and "Exception" not in said(tmp_path)
    assert counts(out)[: len(done)] == done
    assert [entry.batch for entry in counts(out)] == list(range(len(counts(out))))
    assert {entry.start for entry in counts(out)} == {1, 2, 3}
    assert told(in_parquet(out)) == wanted == told(in_lines(out / "notifications.ndjson"))
    put_aside = list(in_lines(out / "refused-events.ndjson"))
    assert Counter(each.get("text") for each in put_aside) == refused
    assert all(each["reason"] for each in put_aside)
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["matches"] == wanted.total()
    assert summary["events"] == len(everything) + refused.total()
    assert summary["events_refused"] == refused.total()
    assert (out / "report.html").exists()

    with command(tmp_path) as process:
        assert process.wait(WAIT_S) == 0, said(tmp_path)[-3000:]
    assert told(in_parquet(out)) == wanted == told(in_lines(out / "notifications.ndjson"))


def test_a_part_of_the_connector(tmp_path: Path) -> None:
    """The error says what to write."""
    prepare(tmp_path, "127.0.0.1:1", jars("connector")[:1])
    with command(tmp_path) as process:
        assert process.wait(WAIT_S) not in (0, None)
    text = " ".join(said(tmp_path).split())
    assert "topic events at 127.0.0.1:1 cannot be read" in text and "NoClassDefFound" in text
    assert '"spark.jars.packages" = "org.apache.spark:spark-sql-kafka-0-10_2.13:' in text
    assert "Traceback" not in text


def test_what_cannot_be_read(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """A sentence, and no advice on the connector, which is there."""

    def attempt(old: str, new: str) -> str:
        prepare(tmp_path, broker.servers, [])
        text = (tmp_path / "pipeline.toml").read_text("utf-8").replace(old, new)
        with showing(True) as watcher, pytest.raises(FykeError) as refused:
            live.run(parse(text, "pipeline.toml", tmp_path), watcher, spark, seconds=WAIT_S)
        assert not re.search("spark\\.jars|Streaming Query|\n", str(refused.value))
        return str(refused.value)

    assert "UnknownTopicOrPartition" in attempt('topic = "events"', 'topic = "absent"')
    quick = 'options = { "kafka.default.api.timeout.ms" = 3000, "kafka.request.timeout.ms" = 2000,'
    assert "imeout" in attempt(
        f'"{broker.servers}"\ntopic = "events"\nkey = "id"\noptions = {{',
        f'"127.0.0.1:1"\ntopic = "events"\nkey = "id"\n{quick}',
    )
    assert "assign" in attempt("options = {", "options = { assign = '{\"events\": [0]}',")
