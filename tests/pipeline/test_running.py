"""Pipelines over files: what subscribers get is what the library's scan gives them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fyke
from fyke.errors import FykeError
from fyke.pipeline.configuration import parse
from fyke.pipeline.results.folder import replacing
from fyke.pipeline.running import run
from tests.pipeline.conftest import Listening

SUBSCRIPTIONS = [
    {"id": "cheap", "filter": "price < 10", "subscriber": "ann"},
    {"id": "none", "filter": "not exists price", "subscriber": "ann"},
    {"id": "exact", "filter": "n = 9007199254740993"},
    {"id": "zero", "filter": "price = 0", "subscriber": "bob"},
    {"id": "yes", "filter": "flag = true", "subscriber": "bob"},
    {"id": "one", "filter": "flag = 1", "subscriber": "bob"},
    {"id": "astral 🐟 <b> $x$ $", "filter": "name contains '🐟'", "subscriber": "zoë"},
    {"id": "empty", "filter": "name = ''", "subscriber": "zoë"},
    {"id": "list", "filter": "tags = 'b'", "subscriber": "zoë"},
    {"id": "null", "filter": "name is null", "subscriber": "ann"},
    {"id": "bridge", "filter": {"name": ["x"]}, "dialect": "eventbridge", "subscriber": "ann"},
    {"id": "nobody's", "filter": "price > 1000000"},
]
EVENTS = [
    {"id": "e0", "price": 8.4, "name": "x", "flag": True},
    {"id": "e1", "price": -0.0, "name": "", "flag": 1},
    {"id": "e2", "n": 2**53 + 1, "name": "a 🐟"},
    {"id": "e3", "n": 2**53, "name": None, "tags": ["a", "b", "b"]},
    {"id": "e4", "price": 8.4, "tags": []},
    {"id": "e5", "price": [20, 5]},
]


def lines(*documents: object) -> str:
    return "".join(
        (each if isinstance(each, str) else json.dumps(each)) + "\n" for each in documents
    )


def documents(folder: Path) -> list[dict]:
    texts = [part.read_text("utf-8") for part in sorted(folder.glob("part-*"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def expected(events: list[dict], subscriptions: list[dict]) -> set[tuple[str, str, str]]:
    """(subscriber, event, subscription), by trying every filter on every event."""
    return {
        (each.get("subscriber", each["id"]), event["id"], each["id"])
        for each in subscriptions
        for event in events
        if fyke.parse(each["filter"], each.get("dialect", "fyke")).matches(event)
    }


def pairs(notifications: list[dict]) -> list[tuple[str, str, str]]:
    return [
        (each["subscriber"], event, subscription)
        for each in notifications
        for event in each.get("events", [each.get("event")])
        for subscription in each.get("subscriptions", [each.get("subscription")])
    ]


JSON_PIPELINE = """
[events]
format = "json"
path = "events.jsonl"
key = "id"
[subscriptions]
format = "json"
path = "subscriptions.jsonl"
shards = 2
[notifications]
form = "{form}"
[output]
path = "out"
"""


@pytest.mark.parametrize("form", ["digest", "event"])
def test_documents(run_pipeline, tmp_path, form):
    (tmp_path / "events.jsonl").write_text(lines(*EVENTS), "utf-8")
    (tmp_path / "subscriptions.jsonl").write_text(lines(*SUBSCRIPTIONS), "utf-8")
    outcome = run_pipeline(JSON_PIPELINE.format(form=form))

    wanted = expected(EVENTS, SUBSCRIPTIONS)
    sent = documents(tmp_path / "out" / "notifications.ndjson")
    assert sorted(pairs(sent)) == sorted(wanted)
    kept = pq.read_table(tmp_path / "out" / "notifications.parquet").to_pylist()
    assert sorted(pairs(kept)) == sorted(wanted)
    assert outcome.notifications == len(sent) == len(kept)
    if form == "event":
        assert len({(each["subscriber"], each["event"]) for each in sent}) == len(sent)

    assert outcome.matches == len(wanted)
    assert outcome.events == len(EVENTS)
    assert outcome.events_matched == len({event for _, event, _ in wanted})
    assert outcome.subscriptions == len(SUBSCRIPTIONS)
    assert outcome.subscribers == len({subscriber for subscriber, _, _ in wanted})
    assert outcome.events_refused == outcome.subscriptions_refused == 0
    assert not list((tmp_path / "out").glob("refused-*"))


MEANING = {
    "attributes": {
        "level": {"domain": {"enumeration": ["low", "medium", "high"]}},
        "price": {"domain": "decimal"},
    }
}
MEANT = [
    {"id": "alarming", "filter": "level > 'low'"},
    {"id": "late", "filter": "at > timestamp '2026-01-31'"},
    {"id": "exact", "filter": "price = 0.10000000000000001"},
    {"id": "tenth", "filter": "price = 0.10"},
    {"id": "nothing", "filter": "level > 'lwo'"},
]


def test_a_schema_gives_values_their_meaning(run_pipeline, tmp_path):
    """As a matcher with that schema; what has no order is refused, and text that is no time."""
    events = [
        '{"id": "e0", "level": "medium", "at": "2026-02-01", "price": 0.10000000000000001}',
        '{"id": "e1", "level": "low", "at": "2026-01-31T00:00:00Z", "price": 0.10}',
        '{"id": "e2", "level": "high", "at": null, "price": "0.1"}',
        '{"id": "e3", "level": "odd", "at": "soon"}',
    ]
    (tmp_path / "events.jsonl").write_text(lines(*events), "utf-8")
    (tmp_path / "subscriptions.jsonl").write_text(lines(*MEANT), "utf-8")
    (tmp_path / "schema.json").write_text(json.dumps(MEANING), "utf-8")
    declared = '[schema]\npath = "schema.json"\ntimestamps = ["at"]\n'
    outcome = run_pipeline(JSON_PIPELINE.format(form="digest") + declared)
    sent = documents(tmp_path / "out" / "notifications.ndjson")
    found = {each["subscription"]: sorted(each["events"]) for each in sent}
    assert found == {"alarming": ["e0", "e2"], "late": ["e0"], "exact": ["e0"], "tenth": ["e1"]}
    assert (outcome.events_refused, outcome.subscriptions_refused) == (1, 1)


def test_what_is_refused_is_counted_and_kept_with_the_reason(run_pipeline, tmp_path):
    (tmp_path / "events.jsonl").write_text(
        lines(
            EVENTS[0],
            '{"id": "bad", "price": NaN}',
            "",
            '{"id": "twice", "a": 1, "a": 2}',
            "[]",
            '{"price": 1}',
        ),
        "utf-8",
    )
    good = SUBSCRIPTIONS[0]
    (tmp_path / "subscriptions.jsonl").write_text(
        lines(
            good,
            {"id": "cheap", "filter": "symbol = 'A'", "subscriber": "eve"},
            {"id": "wrong", "filter": "price <"},
            {"id": "tongue", "filter": "price < 1", "dialect": "latin"},
            {"filter": "price < 1"},
            {"id": "empty"},
            "{not json",
        ),
        "utf-8",
    )
    text = JSON_PIPELINE.format(form="digest")
    with pytest.raises(FykeError, match=r"^4 of 5 events were refused .*allows the share 0\.79"):
        run_pipeline(text.replace('"id"', '"id"\nrefused_max = 0.79'))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("events.jsonl", "subscriptions.jsonl")
    ]
    outcome = run_pipeline(text.replace('"id"', '"id"\nrefused_max = 0.8'))
    assert pairs(documents(tmp_path / "out" / "notifications.ndjson")) == [("ann", "e0", "cheap")]
    assert (outcome.events, outcome.events_refused, outcome.matches) == (5, 4, 1)
    assert sorted(each.rows for each in outcome.statistics.refusals) == [1, 1, 1, 1]
    assert outcome.statistics.events_by_size == ((1, 1),)
    refused = documents(tmp_path / "out" / "refused-events.ndjson")
    reasons = {each["text"]: each["reason"] for each in refused}
    assert "NaN" in reasons['{"id": "bad", "price": NaN}']
    assert "'a'" in reasons['{"id": "twice", "a": 1, "a": 2}']
    assert reasons['{"price": 1}'] == "the event has no key"
    assert "[]" in reasons
    assert {each.example for each in outcome.statistics.refusals} == set(reasons.values())
    assert "Why events were refused" in (tmp_path / "out" / "report.html").read_text("utf-8")

    assert (outcome.subscriptions, outcome.subscriptions_refused) == (1, 6)
    refused = documents(tmp_path / "out" / "refused-subscriptions.ndjson")
    reasons = {each.get("id", each.get("broken")): each["reason"] for each in refused}
    assert len(refused) == 6
    assert "taken" in reasons["cheap"]
    assert "expected" in reasons["wrong"]
    assert "latin" in reasons["tongue"]
    assert reasons["empty"] == "the filter is null"
    assert reasons["{not json"] == "the row cannot be read"
    assert "the id is null" in reasons.values()


def test_a_wrong_key_keeps_the_earlier_results(run_pipeline, tmp_path):
    with replacing(tmp_path / "out", {}) as folder:
        folder.write("report.html", "earlier")
    events = [{**EVENTS[0], "id": f"e{number}"} for number in range(40)]
    broken = [f'{{"idd": {number}, "price": }}' for number in range(7)]
    (tmp_path / "events.jsonl").write_text(lines(*events, *broken, "[]"), "utf-8")
    (tmp_path / "subscriptions.jsonl").write_text(lines(*SUBSCRIPTIONS), "utf-8")
    with pytest.raises(FykeError) as refused:
        run_pipeline(JSON_PIPELINE.format(form="digest").replace('"id"', '"idd"'))
    first, *reasons = str(refused.value).split("\n")
    assert first == (
        "48 of 48 events were refused (events.key is 'idd'); events.refused_max (--refused-max) "
        "allows the share 0.5; most often:"
    )
    counts = [int(line.split()[0]) for line in reasons]
    assert counts == [40, 7, 1], reasons
    assert reasons[0].split(maxsplit=1)[1] == "the event has no key"
    assert "JSON" in reasons[1]
    assert (tmp_path / "out" / "report.html").read_text() == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("events.jsonl", "out", "subscriptions.jsonl")
    ]


def test_tables_of_a_run_that_failed_do_not_count(run_pipeline, tmp_path):
    """Nothing is replaced by URI: a run writes under a new name, and its summary comes last."""
    (tmp_path / "events.jsonl").write_text(lines(*EVENTS), "utf-8")
    (tmp_path / "subscriptions.jsonl").write_text(lines(*SUBSCRIPTIONS), "utf-8")
    text = JSON_PIPELINE.format(form="digest") + 'tables = "tables"\n'
    outcome = run_pipeline(text)
    (good,) = (tmp_path / "tables").iterdir()
    assert outcome.tables == str(good) and list((good / "summary.json").glob("part-*"))
    assert set(pairs(documents(good / "notifications.ndjson"))) == expected(EVENTS, SUBSCRIPTIONS)
    assert json.loads((tmp_path / "out" / "pipeline.json").read_text())["tables"] == str(good)
    with pytest.raises(FykeError, match="6 of 6 events were refused"):
        run_pipeline(text.replace('key = "id"', 'key = "di"'))
    (bad,) = set((tmp_path / "tables").iterdir()) - {good}
    assert (bad / "journal").is_dir() and not (bad / "summary.json").exists()
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["tables"] == str(good)


def test_tables_with_keys_of_any_type(run_pipeline, tmp_path):
    table = pa.table(
        {
            "at": pa.array([3, 1, 2, 9], pa.int32()),
            "price": [8.0, float("nan"), None, 20.0],
            "a.b": ["x", "x", "y", "x"],
        }
    )
    pq.write_table(table, tmp_path / "events.parquet")
    subscriptions = pa.table(
        {
            "id": ["s", "t"],
            "filter": ["price < 10 and a.b = 'x'", "not exists price"],
            "more": [1, 2],
        }
    )
    pq.write_table(subscriptions, tmp_path / "subscriptions.parquet")
    outcome = run_pipeline(
        """
        [events]
        format = "parquet"
        path = "*events.parquet"
        key = "at"
        [subscriptions]
        format = "parquet"
        path = "subscriptions.parquet"
        [notifications]
        parquet = false
        [output]
        path = "out"
        """
    )
    sent = documents(tmp_path / "out" / "notifications.ndjson")
    assert sorted(pairs(sent)) == [("s", 3, "s"), ("t", 2, "t")]
    assert not (tmp_path / "out" / "notifications.parquet").exists()
    (refused,) = documents(tmp_path / "out" / "refused-events.ndjson")
    assert refused["event"] == 1
    assert outcome.events_refused == 1


def test_csv_with_rows_that_do_not_fit(run_pipeline, tmp_path):
    (tmp_path / "events.csv").write_text("id,price\na,8\nb,dear\nc,\nd,12\n", "utf-8")
    (tmp_path / "subscriptions.csv").write_text(
        'id,filter,dialect,subscriber\ns,"price < 10",,ann\nt,"price = ""x""",fyke,ann\n', "utf-8"
    )
    outcome = run_pipeline(
        """
        [events]
        format = "csv"
        path = "events.csv"
        key = "id"
        schema = "id string, price double"
        options = { header = true }
        [subscriptions]
        format = "csv"
        path = "subscriptions.csv"
        options = { header = true, escape = '"' }
        [output]
        path = "out"
        """
    )
    assert pairs(documents(tmp_path / "out" / "notifications.ndjson")) == [("ann", "a", "s")]
    (refused,) = documents(tmp_path / "out" / "refused-events.ndjson")
    assert refused["text"] == "b,dear"
    assert refused["reason"] == "the row does not fit the schema"
    assert outcome.events == 4


WORKLOADS = """
[events]
workload = "auction"
count = 300
[subscriptions]
workload = "auction"
count = 200
[output]
path = "out"
"""


def test_a_folder_with_other_things_is_left_alone(run_pipeline, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(FykeError, match="holds no results of a pipeline; nothing was written"):
        run_pipeline(WORKLOADS)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def contents(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_a_second_run_replaces_the_first(run_pipeline, spark, tmp_path):
    """In one step: a kill in any stage would have left the first results, and nothing mixed."""
    out, seen = tmp_path / "out", {}
    first = run_pipeline(WORKLOADS)
    (out / "notes.txt").write_text("mine")
    before = contents(out)

    class Looking(Listening):
        def begin(self, name: str) -> None:
            super().begin(name)
            seen[name] = contents(out)

    text = WORKLOADS.replace("300", "100")
    second = run(parse(text, "pipeline.toml", tmp_path), Looking(), spark)
    assert list(seen) == ["ingest", "compile", "match", "notify", "count", "report"]
    assert all(each == before for each in seen.values())
    assert (first.events, second.events) == (300, 100)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["events"] == 100
    assert (out / "notes.txt").read_text() == "mine"
    assert len(pq.read_table(out / "events")) == 100
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_no_subscription_that_can_be_used(run_pipeline, tmp_path):
    rules = [{"id": f"a{number}", "filter": f"price < {number} <"} for number in range(3)]
    (tmp_path / "bad").write_text(lines(*rules, {"id": "b", "filter": "x ="}, "{"), "utf-8")
    text = WORKLOADS.replace('workload = "auction"\ncount = 200', 'format = "json"\npath = "bad"')
    with pytest.raises(FykeError, match="no subscription that can be used; most often:") as refused:
        run_pipeline(text)
    reasons = str(refused.value).split("\n")[1:]
    assert [line.split()[0] for line in reasons] == ["3", "1", "1"]
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]
