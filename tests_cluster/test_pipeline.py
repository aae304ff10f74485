"""The pipeline on a cluster: a master in pipeline.toml, URIs as what it reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from tests_cluster.cluster import Cluster

EVENTS = 300


def run(folder: Path, out: Path, cluster: Cluster) -> subprocess.CompletedProcess[str]:
    """The command, with events by URI and subscriptions by path."""
    for name, rows in {
        "events": [{"id": n, "n": n} for n in range(EVENTS)],
        "rules": [{"id": f"s{k}", "filter": f"n < {k}"} for k in (10, 100, 1_000)],
    }.items():
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    conf = "".join(f'"{key}" = "{_text(value)}"\n' for key, value in cluster.conf.items())
    (folder / "pipeline.toml").write_text(
        f"""
[events]
format = "json"
path = "{(folder / "events.jsonl").as_uri()}"
key = "id"
[subscriptions]
format = "json"
path = "rules.jsonl"
[notifications]
ndjson = false
[output]
path = "{out}"
[spark]
master = "{cluster.master}"
[spark.conf]
{conf}""",
        "utf-8",
    )
    return subprocess.run(
        [sys.executable, "-m", "fyke.cli.main", "pipeline", "run", folder / "pipeline.toml"],
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_results_in_a_shared_folder(cluster: Cluster, shared: Path) -> None:
    folder = shared / "pipeline"
    folder.mkdir()
    done = run(folder, folder / "out", cluster)
    assert done.returncode == 0, done.stderr[-3000:]
    found = pq.read_table(folder / "out" / "notifications.parquet").to_pylist()
    counted = {row["subscription"]: len(row["events"]) for row in found}
    assert counted == {"s10": 10, "s100": 100, "s1000": EVENTS}


def test_results_that_only_the_driver_sees(cluster: Cluster, shared: Path, tmp_path: Path) -> None:
    (shared / "refused").mkdir()
    done = run(shared / "refused", tmp_path / "out", cluster)
    assert done.returncode != 0
    assert "does not see" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/notifications*"))
