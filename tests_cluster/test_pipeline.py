"""The pipeline on a cluster that shares nothing: what is read and written goes by URI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import fyke
from tests_cluster.cluster import Cluster

EVENTS = [{"id": f"e{at}", "price": at % 40, "name": f"n{at % 7}"} for at in range(500)]
SUBSCRIPTIONS = [
    *({"id": f"s{at}", "filter": f"price < {at}", "subscriber": f"u{at % 4}"} for at in range(30)),
    {"id": "named", "filter": {"name": ["n3"]}, "dialect": "eventbridge", "subscriber": "u9"},
    {"id": "bad", "filter": "price <"},
]


def test_a_run(cluster: Cluster, files: Path, place: str, tmp_path: Path) -> None:
    """`fyke pipeline run`: the compiled subscriptions lie on the driver, tables where Spark writes.

    The oracle is every filter on every event.
    """
    for name, rows in (("events", EVENTS), ("rules", SUBSCRIPTIONS)):
        (files / "in").mkdir(exist_ok=True)
        (files / "in" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = "\n".join(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in cluster.conf.items())
    (tmp_path / "pipeline.toml").write_text(f"""
        [events]
        format = "json"
        path = "{place}/in/events.jsonl"
        key = "id"
        [subscriptions]
        format = "json"
        path = "{place}/in/rules.jsonl"
        [spark]
        master = "{cluster.master}"
        [output]
        path = "out"
        tables = "{place}/pipeline"
        [spark.conf]
        {settings}
    """)
    done = subprocess.run(
        [sys.executable, "-m", "fyke", "pipeline", "run", "pipeline.toml"],
        cwd=tmp_path,
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (run,) = (files / "pipeline").iterdir()
    got = {
        (row["subscriber"], row["subscription"], event)
        for file in (run / "notifications.ndjson").glob("part-*")
        for row in map(json.loads, file.read_text().splitlines())
        for event in row["events"]
    }
    assert got == expected()
    ours = json.loads((tmp_path / "out" / "summary.json").read_text())
    (theirs,) = (run / "summary.json").glob("part-*")
    assert json.loads(theirs.read_text()) == ours
    assert ours["tables"] == f"{place}/pipeline/{run.name}" and ours["tables"] in done.stdout
    assert ours["matches"] == len(expected()) and ours["subscriptions_refused"] == 1
    assert f"{ours['tables']}/refused-subscriptions.ndjson" in done.stderr
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == [
        *("compiled", "pipeline.json", "report.html", "summary.json")
    ]


def expected() -> set[tuple[str, str, str]]:
    """(subscriber, subscription, event)."""
    return {
        (each["subscriber"], each["id"], event["id"])
        for each in SUBSCRIPTIONS[:-1]
        for filter in [fyke.parse(each["filter"], each.get("dialect", "fyke"))]
        for event in EVENTS
        if filter.matches(event)
    }
