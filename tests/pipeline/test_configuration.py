"""pipeline.toml: the sample reads, and every mistake is named with file, key and expectation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fyke.errors import FykeError
from fyke.pipeline.configuration import parse, read, sample
from fyke.pipeline.origins import Files, Generated
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


def uncommented(section: str) -> str:
    """The lines of a section of the sample that are commented out, as they would be used."""
    body = re.split(r"^\[", sample(), flags=re.M)
    (lines,) = [part for part in body if part.startswith(section + "]")]
    return "\n".join(re.findall(r"^# ([a-z]+ = .*)$", lines, re.M))


def test_what_the_sample_leaves_as_comments_works_too():
    events = uncommented("events").split("\n", 1)[1]
    assert events.startswith("format")
    subscriptions = uncommented("subscriptions").split("\n", 1)[1]
    text = f"[events]\n{events}\n[subscriptions]\n{subscriptions}\n".replace(
        'format = "parquet"', 'format = "csv"'
    )
    made = parsed(text)
    assert made.events == Files(
        "csv", "/somewhere/events", {"header": True}, "id", "id string, price double"
    )
    assert made.subscriptions.path == "/somewhere/subscriptions.jsonl"
    assert uncommented("spark") == 'remote = "sc://host:15002"    # or a Spark Connect server'


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
        (EVENTS + "sed = 1\n" + SUBSCRIPTIONS, "events.sed is unknown; expected workload, count"),
        (EVENTS + "seed = -1\n" + SUBSCRIPTIONS, "events.seed is -1; expected a whole number"),
        (EVENTS.replace("auction", "action") + SUBSCRIPTIONS, "unknown workload 'action'"),
        (EVENTS + "options = { x = 1 }\n" + SUBSCRIPTIONS, "unknown option 'x' of auction"),
        (EVENTS + "options = { classes = [9] }\n" + SUBSCRIPTIONS, "classes of auctions are"),
        (EVENTS + "options = 3\n" + SUBSCRIPTIONS, "events.options is 3; expected a table"),
        (EVENTS + 'format = "json"\n' + SUBSCRIPTIONS, "from a workload or from files; name one"),
        ('[events]\nformat = "xml"\n' + SUBSCRIPTIONS, "events.format is 'xml'; expected one of"),
        ('[events]\nformat = "kafka"\n' + SUBSCRIPTIONS, "is a stream, which the pipeline does"),
        ('[events]\nformat = "json"\n' + SUBSCRIPTIONS, "events.path is missing; expected a file"),
        ('[events]\nformat = "json"\npath = "x"\n' + SUBSCRIPTIONS, "events.key is missing"),
        (
            '[events]\nformat = "csv"\npath = "x"\nkey = "id"\n' + SUBSCRIPTIONS,
            "events.schema says the columns of a csv file",
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
