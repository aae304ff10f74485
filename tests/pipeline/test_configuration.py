"""pipeline.toml: the sample reads, and every mistake is named with file, key and expectation."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fyke.errors import FykeError
from fyke.events.schema import Schema
from fyke.pipeline.configuration import Pace, parse, read, sample
from fyke.pipeline.sources.origins import Files, Generated, Log, Paced, Topic
from fyke.workloads.named import workload

HERE = Path("/somewhere")


def parsed(text: str):
    return parse(text, "p.toml", HERE)


EVENTS = '[events]\nworkload = "auction"\ncount = 5\n'
SUBSCRIPTIONS = '[subscriptions]\nworkload = "auction"\ncount = 3\n'


def test_the_sample_is_the_default_job():
    made = parsed(sample())
    assert made.events == Generated(workload("auction"), 1_000_000)
    assert made.subscriptions == Generated(workload("auction"), 100_000)
    assert made.out == HERE / "pipeline-out"
    assert made.place.master == "local[*]"


def uncommented(section: str) -> list[str]:
    """What is commented out in a section of the sample, as it would be used; a piece each."""
    body = re.split(r"^\[", sample(), flags=re.M)
    (lines,) = [part for part in body if part.startswith(section + "]")]
    pieces = ["\n".join(re.findall(r"^# (\S+ = .*)$", part, re.M)) for part in lines.split("\n\n")]
    return [piece for piece in pieces if piece]


def test_what_the_sample_leaves_as_comments_works_too():
    generated, files, log, kafka = uncommented("events")
    _, held = uncommented("subscriptions")
    assert files.startswith("format")
    files = files.replace('format = "parquet"', 'format = "csv"')
    made = parsed(f"[events]\n{files}\n[subscriptions]\n{held}\n")
    assert made.events == Files(
        "csv", "/somewhere/events", {"header": True}, "id", "id string, price double", True
    )
    assert made.subscriptions.path == "/somewhere/subscriptions.jsonl"
    (tables,) = uncommented("output")
    assert parsed(f"{EVENTS}{SUBSCRIPTIONS}[output]\n{tables}").tables == "s3a://bucket/run"
    assert parsed(f'{EVENTS}{SUBSCRIPTIONS}[output]\ntables = "there"').tables == "/somewhere/there"
    assert uncommented("spark") == ['remote = "sc://host:15002"    # or a Spark Connect server']
    live = parsed(f'[events]\nworkload = "auction"\n{generated}\n' + SUBSCRIPTIONS)
    assert live.events == Paced(workload("auction", typed=False), 2_000)
    assert parsed(f"[events]\n{log}\n" + SUBSCRIPTIONS).events == Log(
        "/somewhere/log", "id", {"maxRecordsPerTrigger": 50_000}
    )
    assert parsed(f"[events]\n{kafka}\n" + SUBSCRIPTIONS).events == Topic(
        "host:9092", "events", "id", {"startingOffsets": "earliest"}
    )


def test_a_schema_says_what_values_mean(tmp_path):
    assert parsed(sample()).schema is None
    (commented,) = uncommented("schema")
    level = {"domain": {"enumeration": ["low", "high"]}}
    (tmp_path / "schema.json").write_text(json.dumps({"attributes": {"level": level}}), "utf-8")
    made = parse(f"{EVENTS}{SUBSCRIPTIONS}[schema]\n{commented}", "p.toml", tmp_path).schema
    assert made.orders["level"].values == ("low", "high")
    assert made.timestamps == {"created_at"}
    alone = parsed(f'{EVENTS}{SUBSCRIPTIONS}[schema]\ntimestamps = ["at"]').schema
    assert alone == Schema().with_timestamps(["at"])


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ('path = "none.json"', r"schema.path is 'none.json': No such file"),
        ('path = "bad.json"', r"schema.path is 'bad.json': .*no member 'attribute'.*`attributes`"),
        ('path = "text"', r"schema.path is 'text': "),
        ('path = "bytes"', r"schema.path is 'bytes': "),
        ('path = "."', r"schema.path is '.': Is a directory"),
        ("path = 5", "schema.path is 5; expected text"),
        ('timestamps = "at"', "schema.timestamps is 'at'; expected a list of names"),
        ("timestamps = [5]", r"schema.timestamps is \[5\]; expected a list of names"),
        ('file = "x"', "schema.file is unknown; expected path, timestamps"),
    ],
)
def test_schemas_that_cannot_be_used_are_named(tmp_path, section, problem):
    (tmp_path / "bad.json").write_text('{"attribute": {}}', "utf-8")
    (tmp_path / "text").write_text("{", "utf-8")
    (tmp_path / "bytes").write_bytes(b"\xff{}")
    with pytest.raises(FykeError, match=f"^p.toml: {problem}"):
        parse(f"{EVENTS}{SUBSCRIPTIONS}[schema]\n{section}", "p.toml", tmp_path)


def test_the_share_of_events_that_may_be_refused():
    assert parsed(sample()).refused_max == parsed(EVENTS + SUBSCRIPTIONS).refused_max == 0.5
    for share in ("0", "1", "0.25", "1.0"):
        made = parsed(f"{EVENTS}refused_max = {share}\n{SUBSCRIPTIONS}")
        assert made.refused_max == made.tolerating(None).refused_max == float(share)
        assert made.tolerating(0.75).refused_max == 0.75
    with pytest.raises(FykeError, match="--refused-max is for runs that end"):
        parsed(sample()).paced(7).tolerating(1.0)


def test_what_is_a_stream():
    assert not parsed(sample()).is_stream
    assert parsed(sample()).paced(7).events == Paced(workload("auction"), 7)
    assert parsed(sample()).pace == Pace(1.0, "stopped")
    files = '[events]\nformat = "json"\npath = "x"\nkey = "id"\n'
    assert not parsed(files + SUBSCRIPTIONS).is_stream
    assert parsed(files + "stream = true\n" + SUBSCRIPTIONS).is_stream
    with pytest.raises(FykeError, match=r"--rate makes a stream of a workload, but .* from json"):
        parsed(files + SUBSCRIPTIONS).paced(7)
    with pytest.raises(FykeError, match=r"--events sizes a workload, but .* as a stream"):
        parsed(sample()).paced(7).resized(5, None)


def test_what_is_left_out_has_a_default():
    made = parsed(EVENTS + SUBSCRIPTIONS)
    assert made.shards is None
    assert made.dialect == "fyke"
    assert made.notifications.parquet
    assert made.notifications.ndjson
    assert made.place.master is None


def test_addresses_stay_and_relative_paths_start_at_the_file():
    text = '[events]\nformat = "parquet"\npath = "{}"\nkey = "id"\n' + SUBSCRIPTIONS
    assert parsed(text.format("s3://bucket/x")).events.path == "s3://bucket/x"
    assert parsed(text.format("/data/x")).events.path == "/data/x"
    assert parsed(text.format("x/*.parquet")).events.path == "/somewhere/x/*.parquet"


def test_sizes_from_the_command_line():
    made = parsed(EVENTS + SUBSCRIPTIONS).resized(7, None)
    assert made.events.count == 7
    assert made.subscriptions.count == 3
    files = parsed('[events]\nformat = "json"\npath = "x"\nkey = "id"\n' + SUBSCRIPTIONS)
    assert files.resized(None, 9).subscriptions.count == 9
    with pytest.raises(FykeError, match="--events sizes a workload, but the events come from json"):
        files.resized(7, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "events.workload is missing; expected the name of a workload, or format"),
        (EVENTS, "subscriptions.workload is missing"),
        ("[events]\n[events]\n", "not TOML"),
        ("a = [" * 4000, "not TOML"),
        ("events = 5", "events is 5; expected a table"),
        (EVENTS.replace("5", '"many"') + SUBSCRIPTIONS, "events.count is 'many'; expected a whole"),
        (EVENTS.replace("5", "true") + SUBSCRIPTIONS, "events.count is True; expected a whole"),
        (EVENTS.replace("5", "0") + SUBSCRIPTIONS, "events.count is 0; expected a whole number"),
        (EVENTS.replace("count = 5", "") + SUBSCRIPTIONS, "events.count is missing"),
        (EVENTS + "sed = 1\n" + SUBSCRIPTIONS, "events.sed is unknown; expected workload, seed"),
        (EVENTS + "seed = -1\n" + SUBSCRIPTIONS, "events.seed is -1; expected a whole number"),
        (EVENTS.replace("auction", "action") + SUBSCRIPTIONS, "unknown workload 'action'"),
        (EVENTS + "options = { x = 1 }\n" + SUBSCRIPTIONS, "unknown option 'x' of auction"),
        (EVENTS + "options = { classes = [9] }\n" + SUBSCRIPTIONS, "classes of auctions are"),
        (EVENTS + "options = 3\n" + SUBSCRIPTIONS, "events.options is 3; expected a table"),
        (EVENTS + 'format = "json"\n' + SUBSCRIPTIONS, "from a workload or from files; name one"),
        ('[events]\nformat = "xml"\n' + SUBSCRIPTIONS, "events.format is 'xml'; expected one of"),
        (
            '[events]\nformat = "kafka"\n' + SUBSCRIPTIONS,
            "events.servers is missing; expected host",
        ),
        (
            '[events]\nformat = "kafka"\nservers = "h:1"\nkey = "id"\n' + SUBSCRIPTIONS,
            "events.topic is missing; expected the name of a topic",
        ),
        (
            '[events]\nformat = "kafka"\nservers = ["h:1"]\n' + SUBSCRIPTIONS,
            "events.servers is ['h:1']; expected text",
        ),
        ('[events]\nformat = "fyke"\n' + SUBSCRIPTIONS, "events.path is missing; expected the fol"),
        ('[events]\nformat = "fyke"\npath = "s3://x"\n' + SUBSCRIPTIONS, "not an address"),
        (EVENTS + "rate = 7\n" + SUBSCRIPTIONS, "events.rate an endless stream; choose one"),
        (EVENTS.replace("count = 5", "rate = 0") + SUBSCRIPTIONS, "events.rate is 0; expected a"),
        (EVENTS.replace("count = 5", "rate = 1.5") + SUBSCRIPTIONS, "events.rate is 1.5; expected"),
        (
            EVENTS + "refused_max = 1.5\n" + SUBSCRIPTIONS,
            "events.refused_max is 1.5; expected a sha",
        ),
        (EVENTS + "refused_max = -0.1\n" + SUBSCRIPTIONS, "expected a share from 0 to 1"),
        (EVENTS + "refused_max = nan\n" + SUBSCRIPTIONS, "events.refused_max is nan; expected a s"),
        (EVENTS + 'refused_max = "1"\n' + SUBSCRIPTIONS, "events.refused_max is '1'; expected a s"),
        (EVENTS + "stream = true\n" + SUBSCRIPTIONS, "events.stream is unknown"),
        (
            '[events]\nformat = "json"\npath = "x"\nkey = "id"\nstream = 1\n' + SUBSCRIPTIONS,
            "events.stream is 1; expected true or false",
        ),
        (
            '[events]\nformat = "json"\npath = "x"\nkey = "id"\nschema = "id int"\n'
            + SUBSCRIPTIONS,
            "events.schema says the columns of csv files",
        ),
        (EVENTS + SUBSCRIPTIONS + "rate = 5\n", "subscriptions.rate is unknown"),
        (EVENTS + SUBSCRIPTIONS + '[stream]\nevery = "1"\n', "stream.every is '1'; expected a num"),
        (EVENTS + SUBSCRIPTIONS + "[stream]\nevery = true\n", "stream.every is True; expected a n"),
        (EVENTS + SUBSCRIPTIONS + "[stream]\nevery = -1\n", "stream.every is -1; expected a num"),
        (EVENTS + SUBSCRIPTIONS + "[stream]\nevery = nan\n", "stream.every is nan; expected a num"),
        (EVENTS + SUBSCRIPTIONS + '[stream]\nuntil = "dawn"\n', "one of stopped, available"),
        (
            EVENTS.replace("count", "rate") + SUBSCRIPTIONS + '[stream]\nuntil = "available"\n',
            "stream.until is 'available', but a workload at a rate never ends",
        ),
        ('[events]\nformat = "json"\n' + SUBSCRIPTIONS, "events.path is missing; expected a file"),
        ('[events]\nformat = "json"\npath = "x"\n' + SUBSCRIPTIONS, "events.key is missing"),
        (
            '[events]\nformat = "json"\npath = "x"\nkee = "id"\n' + SUBSCRIPTIONS,
            "; is events.kee meant for it?",
        ),
        (
            '[events]\nformat = "csv"\npath = "x"\nkey = "id"\n' + SUBSCRIPTIONS,
            "events.schema is missing; expected the columns of the csv files",
        ),
        (EVENTS + SUBSCRIPTIONS + 'dialect = "sql"\n', "subscriptions.dialect is 'sql'; expected"),
        (EVENTS + SUBSCRIPTIONS + "shards = 0\n", "subscriptions.shards is 0; expected a whole"),
        (EVENTS + SUBSCRIPTIONS + "[notifications]\nform = 1\n", "notifications.form is 1"),
        (EVENTS + SUBSCRIPTIONS + '[notifications]\nndjson = "no"\n', "expected true or false"),
        (EVENTS + SUBSCRIPTIONS + "[report]\nbusiest = 0\n", "report.busiest is 0"),
        (EVENTS + SUBSCRIPTIONS + '[output]\npath = ""\n', "output.path is ''; expected text"),
        (EVENTS + SUBSCRIPTIONS + '[output]\npath = "s3://b"\n', "expected a folder"),
        (
            EVENTS + SUBSCRIPTIONS + '[spark]\nmaster = "local"\nremote = "sc://h"\n',
            "a master or a remote address, not both",
        ),
        (EVENTS + SUBSCRIPTIONS + "[ouput]\n", "ouput is unknown; expected "),
    ],
)
def test_mistakes(text: str, problem: str) -> None:
    with pytest.raises(FykeError) as refused:
        parsed(text)
    assert str(refused.value).startswith("p.toml: ")
    assert problem in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"a = '\xe9'")
    with pytest.raises(FykeError, match="not UTF-8 at byte 5"):
        read(tmp_path / "latin.toml")
    with pytest.raises(FykeError, match="No such file"):
        read(tmp_path / "absent.toml")
    with pytest.raises(FykeError, match="directory"):
        read(tmp_path)


def test_the_page_shows_the_sample():
    page = Path(__file__).parents[2] / "docs" / "pipeline.md"
    assert f"```toml\n{sample()}```" in page.read_text("utf-8")
