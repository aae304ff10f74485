"""Pipelines over streams: every event is matched once, whatever comes between."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fyke
from fyke.errors import FykeError
from fyke.logs.partitions import Partitions
from fyke.pipeline.live.batch_counts import BatchCounts, CountsLog
from fyke.pipeline.results.folder import Folder, replacing
from fyke.workloads.named import workload

Pair = tuple[str, object, str]
"""(subscriber, event, subscription)"""


def put(folder: Path, number: int, lines: Iterable[str | bytes | dict]) -> None:
    """A file that appears whole; later ones are newer."""
    folder.mkdir(exist_ok=True)
    hidden = folder / f".{number}"
    texts = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
    data = (text.encode() if isinstance(text, str) else text for text in texts)
    hidden.write_bytes(b"".join(line + b"\n" for line in data))
    os.utime(hidden, (1_700_000_000 + number, 1_700_000_000 + number))
    hidden.rename(folder / f"{number}.jsonl")


def put_subscriptions(file: Path, filters: dict[str, str]) -> None:
    file.with_suffix(".new").write_text(
        "".join(
            json.dumps({"id": id, "filter": filter, "subscriber": f"holder of {id}"}) + "\n"
            for id, filter in filters.items()
        ),
        "utf-8",
    )
    file.with_suffix(".new").rename(file)


def counts_log(out: Path) -> list[BatchCounts]:
    return list(CountsLog(str(out / "batches.ndjson")).entries())


def batch_of(file: Path) -> int:
    return int(file.parent.name.removeprefix("batch="))


def parquet(out: Path) -> list[tuple[int, dict]]:
    """(batch, notification)"""
    return [
        (batch_of(file), row)
        for file in sorted((out / "notifications.parquet").glob("batch=*/*.parquet"))
        for row in pq.ParquetFile(file).read().to_pylist()
    ]


def ndjson(folder: Path) -> list[tuple[int, dict]]:
    """(batch, document)"""
    return [
        (batch_of(file), json.loads(line))
        for file in sorted(folder.glob("batch=*/part-*"))
        for line in file.read_text("utf-8").splitlines()
    ]


def pairs(notifications: Iterable[tuple[int, dict]]) -> list[Pair]:
    return sorted(
        (each["subscriber"], event, subscription)
        for _, each in notifications
        for event in each.get("events", [each.get("event")])
        for subscription in each.get("subscriptions", [each.get("subscription")])
    )


def accepted(events: list[dict], filters: dict[str, str]) -> list[Pair]:
    """By trying every filter on every event."""
    return sorted(
        (f"holder of {id}", event["id"], id)
        for id, filter in filters.items()
        for event in events
        if fyke.parse(filter).matches(event)
    )


def in_auctions(first: int, end: int, filters: dict[str, str]) -> list[Pair]:
    """As the library finds them in generated events, from one number to before another."""
    matcher = fyke.Matcher()
    matcher.add_many(filters.items())
    found = matcher.match_batch(workload("auction").columns(end - first, first)).to_pylist()
    return sorted(
        (f"holder of {row['subscription']}", first + row["event"], row["subscription"])
        for row in found
    )


def await_that(condition: Callable[[], object], alive: Callable[[], bool]) -> None:
    end = time.monotonic() + 240
    while not condition():
        assert alive() and time.monotonic() < end
        time.sleep(0.02)


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
}
EVENTS = [
    {"id": "e0", "price": 8.4, "name": "x", "flag": True},
    {"id": "e1", "price": -0.0, "name": "", "flag": 1},
    {"id": "e2", "n": 2**53 + 1, "name": "a 🐟"},
    {"id": "e3", "n": 2**53, "name": None, "tags": ["a", "b", "b"]},
    {"id": "e4", "price": 8.4, "tags": []},
    {"id": "e5", "price": [20, 5]},
]
FILES = """
[events]
format = "json"
path = "in"
key = "id"
refused_max = 0.0
stream = true
options = { maxFilesPerTrigger = 1 }
[subscriptions]
format = "json"
path = "subscriptions.jsonl"
[notifications]
form = "digest"
[stream]
until = "available"
[output]
path = "out"
"""


def test_files_that_appear(run_stream, watcher, tmp_path):
    """Two starts, with other subscriptions for the second; what cannot be read is put aside."""
    put_subscriptions(tmp_path / "subscriptions.jsonl", FILTERS)
    broken = ["not json", '{"id": "nan", "price": NaN}', b'{"id": "\xff"}', '{"price": 1}', ""]
    put(tmp_path / "in", 0, [*EVENTS[:3], *broken])
    put(tmp_path / "in", 1, EVENTS[3:])
    out = tmp_path / "out"
    first = run_stream(FILES)
    assert [entry.events for entry in counts_log(out)] == [7, 3]
    assert pairs(parquet(out)) == pairs(ndjson(out / "notifications.ndjson"))
    assert pairs(parquet(out)) == accepted(EVENTS, FILTERS)
    refused = ndjson(out / "refused-events.ndjson")
    assert {batch for batch, _ in refused} == {0}
    assert sorted(each["text"] for _, each in refused) == [
        "not json",
        '{"id": "nan", "price": NaN}',
        '{"id": "\ufffd"}',
        '{"price": 1}',
    ]
    assert (first.events, first.events_refused, first.stream.batches) == (10, 4, 2)
    assert sum(each.rows for each in first.statistics.refusals) == 4
    assert "the event has no key" in {each.example for each in first.statistics.refusals}

    others = {"late": "exists id", "cheap": "price < 1"}
    put_subscriptions(tmp_path / "subscriptions.jsonl", others)
    more = [{"id": "e6", "price": 0}, {"id": "e7", "price": 5}]
    put(tmp_path / "in", 2, more)
    second = run_stream(FILES)
    wanted = [*accepted(EVENTS, FILTERS), *accepted(more, others)]
    assert pairs(parquet(out)) == sorted(wanted)
    assert pairs(ndjson(out / "notifications.ndjson")) == sorted(wanted)
    assert [(each.batch, each.start, each.version) for each in counts_log(out)] == [
        *((0, 1, 1), (1, 1, 1), (2, 2, 2))
    ]
    assert (second.events, second.events_refused, second.matches) == (12, 4, len(wanted))
    assert second.notifications == len(parquet(out))
    assert second.stream.starts == 2 and second.stream.version == 2
    assert second.subscribers == len({subscriber for subscriber, _, _ in wanted})
    counts = {
        row["subscription"]: row for row in pq.read_table(out / "statistics.parquet").to_pylist()
    }
    assert set(counts) == {*FILTERS, *others}
    assert all(
        row["matches"] == sum(pair[2] == id for pair in wanted) for id, row in counts.items()
    )
    assert counts["cheap"]["filter"] == "price < 1"
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["matches"] == len(wanted) and summary["stream"]["batches"] == 3
    sizes = Counter(Counter(event for _, event, _ in wanted).values())
    assert dict(summary["statistics"]["events_by_size"]) == sizes
    page = (out / "report.html").read_text("utf-8")
    assert "Events over time" in page and page.count("<img ") >= 6
    assert watcher.pulses[-1].matches == len(wanted) and watcher.pulses[-1].batch == 2


def test_a_log(run_stream, tmp_path):
    """Each subscriber gets an event once, with all the subscriptions that accept it."""
    log = Partitions.create(tmp_path / "log", 2)
    for number, event in enumerate(EVENTS):
        log.log(number % 2).append([json.dumps(event)])
    put_subscriptions(tmp_path / "subscriptions.jsonl", FILTERS)
    text = FILES.replace('"json"', '"fyke"', 1).replace('"in"', '"log"').replace("digest", "event")
    text = text.replace("stream = true", "").replace("maxFilesPerTrigger", "maxRecordsPerTrigger")
    text = text.replace("= 1 }", "= 4 }").replace("[stream]", "ndjson = false\n[stream]")
    log.log(0).append(["[]"])
    outcome = run_stream(text)
    wanted = accepted(EVENTS, FILTERS)
    assert len(counts_log(tmp_path / "out")) == 2
    found = parquet(tmp_path / "out")
    assert pairs(found) == wanted
    assert outcome.notifications == len(found) == len({pair[:2] for pair in wanted})
    assert (outcome.events_refused, outcome.matches) == (1, len(wanted))
    assert not (tmp_path / "out" / "notifications.ndjson").exists()


def test_tables_that_appear(run_stream, tmp_path):
    """Columns are those of the first files."""
    text = FILES.replace('"json"', '"parquet"', 1).replace('"id"', '"at"')
    put_subscriptions(tmp_path / "subscriptions.jsonl", {"s": "price < 10 and a.b = 'x'"})
    (tmp_path / "in").mkdir()
    with pytest.raises(FykeError, match=r"columns from the first files, or from events\.schema"):
        run_stream(text)
    table = pa.table(
        {
            "at": pa.array([3, 1, None, 9], pa.int32()),
            "price": [8.0, float("nan"), 1.0, 20.0],
            "a.b": ["x", "x", "x", "x"],
        }
    )
    pq.write_table(table, tmp_path / "in" / "0.parquet")
    outcome = run_stream(text)
    assert pairs(parquet(tmp_path / "out")) == [("holder of s", 3, "s")]
    assert (outcome.events, outcome.events_refused) == (4, 2)
    assert "a.b" in outcome.statistics.selectivities


PACED = """
[events]
workload = "auction"
rate = 600
[subscriptions]
format = "json"
path = "subscriptions.jsonl"
[stream]
every = 0.2
[output]
path = "out"
"""
OLD = {id: workload("auction").text(number) for number, id in enumerate(["a", "b 🐟", "c"])}
OLD |= {"cheap": "current_price < 3 or buy_now_price < 5", "all": "exists category"}
NEW = {"all": "exists category", "new": "bids > 5"}


@contextmanager
def meanwhile(work: Callable[[Callable[[], bool]], None]) -> Iterator[None]:
    """Does something in another thread, then interrupts this one; what goes wrong there is told.

    The work is given a function that says whether this one still runs.
    """
    over = threading.Event()
    problems: list[BaseException] = []

    def run() -> None:
        try:
            work(lambda: not over.is_set())
        except BaseException as problem:
            problems.append(problem)
        if not over.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert not problems


def by_version(out: Path, filters: dict[int, dict[str, str]]) -> list[Pair]:
    """What the batches of a counts_log should have sent."""
    wanted, first = [], 0
    for entry in counts_log(out):
        wanted += in_auctions(first, first + entry.events, filters[entry.version])
        first += entry.events
    return sorted(wanted)


def test_interrupted_with_subscriptions_that_change(run_stream, watcher, tmp_path):
    """Ctrl-C ends a stream well; new subscriptions count from a batch on, broken ones never."""
    out, file = tmp_path / "out", tmp_path / "subscriptions.jsonl"
    put_subscriptions(file, OLD)

    def change(alive: Callable[[], bool]) -> None:
        await_that(lambda: len(counts_log(out)) >= 2, alive)
        file.write_text('{"id": "x", "filter": "?"}\n')
        await_that(lambda: any("the old ones stay" in note for note in watcher.notes), alive)
        put_subscriptions(file, NEW)
        await_that(lambda: counts_log(out)[-1].version > 1, alive)

    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with meanwhile(change):
        outcome = run_stream(PACED, None)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert any("stopping" in note for note in watcher.notes)
    newest = counts_log(out)[-1].version
    assert newest == 3 and {entry.version for entry in counts_log(out)} == {1, 3}
    wanted = by_version(out, {1: OLD, 3: NEW})
    done = {entry.batch for entry in counts_log(out)}
    assert pairs(each for each in parquet(out) if each[0] in done) == wanted
    assert outcome.matches == len(wanted)
    assert max(pulse.arriving_per_s for pulse in watcher.pulses) > 50
    assert any(pulse.matches_per_s and pulse.latency_s for pulse in watcher.pulses)

    with meanwhile(lambda alive: await_that(lambda: counts_log(out)[-1].start == 2, alive)):
        again = run_stream(PACED, None)
    wanted = by_version(out, {1: OLD, 3: NEW})
    assert pairs(parquet(out)) == wanted == pairs(ndjson(out / "notifications.ndjson"))
    assert again.events == sum(entry.events for entry in counts_log(out)) > outcome.events
    assert again.stream.starts == 2


# --- what cannot be run --------------------------------------------------------------------------

WORKLOADS = """
[events]
workload = "auction"
count = 30
[subscriptions]
workload = "auction"
count = 20
[output]
path = "out"
"""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (FILES, r"events\.path is '.*in', but there is no folder .*in$"),
        (FILES.replace('"in"', '"no/*.jsonl"'), r"there is no folder .*no$"),
        (
            FILES.replace('"json"', '"fyke"', 1).replace("stream = true", ""),
            r"events\.path is '.*in'; expected the folder of a log",
        ),
    ],
)
def test_nothing_is_written_without_a_place_to_read(run_stream, tmp_path, text, problem):
    with pytest.raises(FykeError, match=problem):
        run_stream(text)
    assert not (tmp_path / "out").exists()


def test_folders_of_others(run_stream, run_pipeline, tmp_path):
    out = tmp_path / "out"
    (tmp_path / "in").mkdir()
    put_subscriptions(tmp_path / "subscriptions.jsonl", FILTERS)
    with replacing(out, {"events": "a workload"}):
        pass
    with pytest.raises(FykeError, match="the results of a run that was no stream; --out names"):
        run_stream(FILES)
    (out / "pipeline.json").write_text("{")
    with pytest.raises(FykeError, match=r"pipeline\.json cannot be read"):
        run_stream(FILES)
    (out / "pipeline.json").unlink()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(FykeError, match="holds no results of a pipeline; nothing was written"):
        run_stream(FILES)
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]

    (out / "thesis.txt").unlink()
    with pytest.raises(FykeError, match=r"topic t at .*\"spark\.jars\.packages\" = \"org\."):
        run_stream(
            FILES.replace('"json"', '"kafka"\nservers = "127.0.0.1:1"\ntopic = "t"', 1)
            .replace('path = "in"', "")
            .replace("stream = true", "")
        )
    nothing = run_stream(FILES)  # nothing came of that other stream: the folder is free
    assert (nothing.events, nothing.stream) == (0, None) and (out / "report.html").exists()
    put(tmp_path / "in", 0, EVENTS)
    run_stream(FILES)
    with pytest.raises(FykeError, match=r"holds another stream: its events is .*; --out names"):
        run_stream(FILES.replace('"id"', '"name"'))
    with pytest.raises(FykeError, match="its notifications is"):
        run_stream(FILES.replace("digest", "event"))
    with pytest.raises(FykeError, match="results of a stream, which another run must not replace"):
        run_pipeline(WORKLOADS)
    with (
        Folder.resume(out, json.loads((out / "pipeline.json").read_text())["stream"]).held(),
        pytest.raises(FykeError, match="is being written to by another run"),
    ):
        run_stream(FILES)
    assert pairs(parquet(out)) == accepted(EVENTS, FILTERS)


# --- as a command --------------------------------------------------------------------------------


BRIEF = """
[spark.conf]
"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1"
"spark.sql.codegen.wholeStage" = false
"""
"""What is worth it for a Spark that lives for a few seconds."""


@contextmanager
def command(folder: Path, log: Path) -> Iterator[subprocess.Popen]:
    """`fyke pipeline run` in a process of its own, which does not outlive this."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "fyke", "pipeline", "run", "p.toml", "--master=local[2]"],
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "COLUMNS": "80"},
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(60)


@pytest.mark.long
def test_killed_and_terminated(tmp_path):
    """kill -9 between journal and notifications; the same command goes on, until SIGTERM."""
    (tmp_path / "p.toml").write_text(PACED + BRIEF, "utf-8")
    put_subscriptions(tmp_path / "subscriptions.jsonl", OLD)
    out, log = tmp_path / "out", tmp_path / "log.txt"
    with command(tmp_path, tmp_path / "killed.txt") as process:
        await_that((out / "journal" / "batch=1").exists, lambda: process.poll() is None)
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
    done = counts_log(out)
    assert len(done) in (1, 2) and not (out / "report.html").exists()

    with command(tmp_path, log) as process:
        await_that(lambda: len(counts_log(out)) >= 3, lambda: process.poll() is None)
        process.send_signal(signal.SIGTERM)
        assert process.wait(240) == 0, log.read_text("utf-8")[-2000:]
    text = log.read_text("utf-8")
    assert "Traceback" not in text and "Exception" not in text
    assert "stopping" in text and re.search(r"\d events/s, .* matches, 0 refused, batch \d", text)
    assert counts_log(out)[: len(done)] == done
    assert [entry.batch for entry in counts_log(out)] == list(range(len(counts_log(out))))
    wanted = by_version(out, {1: OLD})
    assert wanted and pairs(parquet(out)) == wanted
    assert pairs(ndjson(out / "notifications.ndjson")) == wanted
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["matches"] == len(wanted) and summary["stream"]["starts"] == 2
    assert re.search(rf"^matches +{len(wanted):,} ", text, re.M)
    assert (out / "report.html").exists()
