"""Mistakes that are found before Spark starts: a sentence, and earlier results stay."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke.cli.main import main
from fyke.errors import FykeError
from fyke.logs.partitions import Partitions
from fyke.pipeline.checking import check
from fyke.pipeline.configuration import Pipeline, parse
from fyke.pipeline.results.folder import replacing
from fyke.pipeline.sources import paths

EVENTS = """
[events]
format = "json"
path = "in/events.jsonl"
key = "id"
"""
SUBSCRIPTIONS = """
[subscriptions]
format = "json"
path = "in/subscriptions.jsonl"
"""
OUTPUT = """
[output]
path = "out"
"""
WHOLE = EVENTS + SUBSCRIPTIONS + OUTPUT
PARQUET = WHOLE.replace('"json"', '"parquet"', 1).replace("events.jsonl", "events.parquet")
CSV = EVENTS.replace("jsonl", "csv").replace("json", "csv")
CSV += 'schema = "id string, price double"\n' + SUBSCRIPTIONS + OUTPUT
STORED = WHOLE.replace('"json"\npath = "in/sub', '"parquet"\npath = "in/sub')


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with inputs, and with the results of an earlier run in `out`."""
    (tmp_path / "in" / "table").mkdir(parents=True)
    for name in ("events.jsonl", "subscriptions.jsonl", "events.csv", "text.parquet"):
        (tmp_path / "in" / name).write_text("{}\n")
    pq.write_table(pa.table({"at": [1], "price": [2.0]}), tmp_path / "in" / "events.parquet")
    pq.write_table(pa.table({"id": ["a"], "rule": ["b"]}), tmp_path / "in" / "rules.parquet")
    with replacing(tmp_path / "out", {}) as folder:
        folder.write("report.html", "earlier")
    (tmp_path / "file").write_text("mine")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _no_spark(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def session(**settings: object) -> None:
        raise AssertionError("Spark was started")

    if "spark" not in request.fixturenames:
        monkeypatch.setattr(fyke.spark, "session", session)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            WHOLE.replace("events.jsonl", "evnts.jsonl"),
            "events.path is '{}/in/evnts.jsonl'; expected a file, a folder or a pattern of files "
            "that are there; did you mean '{}/in/events.jsonl'?",
        ),
        (
            WHOLE.replace("in/subs", "inn/subs"),
            "subscriptions.path is '{}/inn/subscriptions.jsonl'; expected a file, a folder or a "
            "pattern of files that are there; did you mean '{}/in'?",
        ),
        (WHOLE.replace("events.jsonl", "*.xml"), "events.path is '{}/in/*.xml'; expected a file"),
        (
            WHOLE.replace('"in/events', '"file:///no/events'),
            "events.path is '/no/events.jsonl'; ex",
        ),
        (
            WHOLE.replace("in/events.jsonl", "out/events"),
            "events.path is '{}/out/events'; expected a place outside of the results",
        ),
        (
            WHOLE.replace("in/subscriptions.jsonl", "in/../out/subscriptions/*.parquet"),
            "subscriptions.path is '{}/in/../out/subscriptions/*.parquet'; expected a place",
        ),
        (PARQUET, "events.key is 'id'; expected a column of {}/in/events.parquet: 'at', 'price'"),
        (
            PARQUET.replace("events.parquet", "text.parquet"),
            "events.path is '{}/in/text.parquet'; expected Parquet files, not {}/in/text.parquet",
        ),
        (
            PARQUET.replace("events.parquet", "table"),
            "events.path is '{}/in/table'; expected Parquet files, not nothing",
        ),
        (
            STORED.replace("subscriptions.jsonl", "rules.parquet"),
            "subscriptions.path is '{}/in/rules.parquet'; expected a column 'filter' in ",
        ),
        (
            CSV.replace("price double", "price duoble"),
            "p.toml: events.schema is 'id string, price duoble'; expected columns such as "
            "'id string, price double', but there is 'duoble' instead of a type of Spark; did you "
            "mean double?",
        ),
        (
            CSV.replace("string, price", "string price"),
            "but there is 'price' instead of a comma before the next column",
        ),
        (
            CSV.replace('"id"', '"idd"'),
            "p.toml: events.key is 'idd'; expected a column of events.schema: 'id', 'price'",
        ),
        (
            WHOLE.replace('"out"', '"file/out"'),
            "output.path is '{}/file/out'; expected a folder that can be written: {}/file: File ex",
        ),
        (WHOLE.replace('"out"', '"file"'), "{}/file exists and holds no results of a pipeline"),
        (WHOLE.replace('"out"', '"in"'), "{}/in exists and holds no results of a pipeline"),
        (
            WHOLE.replace('key = "id"', 'key = "id"\nrefused_max = 50'),
            "p.toml: events.refused_max is 50; expected a share from 0 to 1",
        ),
        (
            WHOLE.replace('key = "id"', 'key = "id"\nrefused_max = true'),
            "p.toml: events.refused_max is True; expected a share from 0 to 1",
        ),
    ],
)
def test_mistakes_cost_nothing(
    work: Path, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    (work / "p.toml").write_text(text)
    before = everything(work)
    assert main(["pipeline", "run", "p.toml"]) == 2
    said = capsys.readouterr()
    *begun, told = said.err.splitlines()
    assert said.out == "" and told.startswith("fyke: ")
    assert begun in ([], ["running p.toml; Spark is loaded..."])
    assert problem.replace("{}", str(work)) in told
    assert everything(work) == before


def pipeline(text: str, folder: Path) -> Pipeline:
    return parse(text, "p.toml", folder)


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        WHOLE.replace("events.jsonl", "{events,none}.js*"),
        WHOLE.replace("in/events.jsonl", "in"),
        WHOLE.replace('"in/events', '"file:///{}/in/events'),
        WHOLE.replace('"in/events', '"s3://bucket/in/events'),
        WHOLE.replace("in/events", "no/events") + '[spark]\nremote = "sc://host:15002"\n',
        PARQUET.replace('"id"', '"at"'),
        PARQUET.replace('"id"', '"at"').replace("events.parquet", "{e,x}vents.parquet"),
        PARQUET.replace("events.parquet", "day=*").replace('"id"', '"day"'),
        PARQUET.replace('key = "id"', 'key = "id"\noptions = { mergeSchema = true }'),
        CSV,
        CSV.replace("price double", "`id``2` array<struct<a: int, b: map<string, date>>>"),
        WHOLE.replace("in/subscriptions.jsonl", "out/mine.jsonl"),
    ],
)
def test_what_may_work_is_left_to_spark(work: Path, text: str) -> None:
    (work / "in" / "day=1").mkdir()
    pq.write_table(pa.table({"price": [2.0]}), work / "in" / "day=1" / "0.parquet")
    (work / "out" / "mine.jsonl").write_text("{}")
    check(pipeline(text.replace("{}", str(work).lstrip("/")), work))


def test_logs_and_streams_need_a_place(work: Path) -> None:
    log = WHOLE.replace('"json"', '"fyke"', 1).replace("in/events.jsonl", "log")
    with pytest.raises(FykeError, match=r"events\.path is .*log'; expected the folder of a log"):
        check(pipeline(log, work))
    Partitions.create(work / "log", 1)
    check(pipeline(log, work))
    stream = WHOLE.replace("in/events.jsonl", "news/*.jsonl")
    stream = stream.replace('key = "id"', 'key = "id"\nstream = true')
    with pytest.raises(FykeError, match=r"events\.path is .*, but there is no folder .*news$"):
        check(pipeline(stream, work))
    (work / "news").mkdir()
    check(pipeline(stream, work))
    with pytest.raises(FykeError, match=r"output\.tables is for runs that end"):
        check(replace(pipeline(stream, work), tables="s3a://bucket/out"))
    with pytest.raises(FykeError, match=r"subscriptions\.path is"):
        check(pipeline(stream.replace("in/subs", "in/sub"), work))


def test_any_slip_in_a_path_is_named(work: Path, seeds: Callable[[int], Iterator[int]]) -> None:
    """A letter too many, one too few, another one, two in the wrong order."""
    slips: Counter[str] = Counter()
    for seed in seeds(300):
        draw = Random(seed)
        path, letter = "in/events.jsonl", draw.choice("abcxyz.")
        at = draw.randrange(len(path))
        wrong = draw.choice(
            [
                path[:at] + path[at + 1 :],
                path[:at] + letter + path[at:],
                path[:at] + letter + path[at + 1 :],
                path[:at] + path[at : at + 2][::-1] + path[at + 2 :],
            ]
        )
        if (work / wrong).exists():
            continue
        name = draw.choice(["events", "subscriptions"])
        text = WHOLE.replace(f"in/{name}.jsonl", wrong)
        with pytest.raises(FykeError) as refused:
            check(pipeline(text, work))
        assert str(refused.value).startswith(f"{name}.path is '{work / wrong}'; expected a file")
        slips["all"] += 1
        slips["offered"] += "did you mean" in str(refused.value)
    assert slips["all"] >= 150 and slips["offered"] > 0.8 * slips["all"], slips


def test_unreadable_files(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("events.jsonl"))
    with pytest.raises(FykeError, match=r"events\.path is .*; expected files that may be read: "):
        check(pipeline(WHOLE, work))


def test_files_are_those_that_spark_reads(spark: SparkSession, tmp_path: Path) -> None:
    for name in (
        "a/1.txt",
        "a/_2.txt",
        "a/.3.txt",
        "a/k=1/4.txt",
        "b/1.txt",
        "bc/1.log",
        "b/2.log",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    patterns = ["a/1.txt", "a", "b", "*/1.txt", "{a,bc}/1.*", "b*/?.log", "[ab]/[12].txt", "{b,bc}"]
    for pattern in patterns:
        path = str(tmp_path / pattern)
        read = {each.removeprefix("file://") for each in spark.read.text(path).inputFiles()}
        assert set(paths.files(path)) == read != set(), pattern
        assert paths.places(path), pattern
