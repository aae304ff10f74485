"""`fyke pipeline` as a user calls it: the sample, small, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fyke.cli.main import main
from fyke.workloads.named import workload

EVENTS, SUBSCRIPTIONS = 400, 900


def fyke(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fyke", *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("place", ["--master", pytest.param("--remote", marks=pytest.mark.long)])
def test_the_sample_at_small_size(tmp_path, place):
    assert fyke(tmp_path, "pipeline", "init").returncode == 0
    sizes = [f"--events={EVENTS}", f"--subscriptions={SUBSCRIPTIONS}"]
    done = fyke(tmp_path, "pipeline", "run", "pipeline.toml", *sizes, place, "local[2]")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "pipeline-out"

    work = workload("auction")
    subscriptions = list(work.subscriptions(SUBSCRIPTIONS))
    wanted = {
        (each.subscriber, number, each.id)
        for number, event in enumerate(work.events(EVENTS))
        for each in subscriptions
        if each.filter.matches(event)
    }
    assert wanted
    sent = pq.read_table(out / "notifications.parquet").to_pylist()
    found = [
        (each["subscriber"], event, each["subscription"])
        for each in sent
        for event in each["events"]
    ]
    assert sorted(found) == sorted(wanted)
    lines = [
        json.loads(line)
        for part in (out / "notifications.ndjson").glob("part-*")
        for line in part.read_text("utf-8").splitlines()
    ]
    assert sorted(lines, key=str) == sorted(sent, key=str)

    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["events"] == EVENTS
    assert summary["subscriptions"] == SUBSCRIPTIONS
    assert summary["matches"] == len(wanted)
    assert summary["subscribers"] == len({subscriber for subscriber, _, _ in wanted})
    sizes_seen = Counter(Counter(event for _, event, _ in wanted).values())
    sizes_seen[0] = EVENTS - sizes_seen.total()
    assert dict(summary["statistics"]["events_by_size"]) == sizes_seen
    counts = Counter(id for _, _, id in wanted)
    kept = pq.read_table(out / "statistics.parquet").to_pylist()
    assert {each["subscription"]: each["matches"] for each in kept} == {
        each.id: counts[each.id] for each in subscriptions
    }
    busiest = [(each["matches"], each["name"]) for each in summary["statistics"]["busiest"]]
    assert (
        busiest == [(n, id) for id, n in sorted(counts.items(), key=lambda c: (-c[1], c[0]))][:10]
    )

    assert re.search(rf"^matches +{len(wanted):,} ", done.stdout, re.M), done.stdout
    assert re.search(rf"^events +{EVENTS:,} ", done.stdout, re.M)
    assert done.stdout.endswith("\n\npipeline-out/report.html\n")
    assert [line.split()[0] for line in done.stderr.splitlines()] == [
        "running",
        *("start", "ingest", "compile", "replicate:", "match", "notify", "count", "report"),
    ]
    assert max(map(len, done.stdout.splitlines())) <= 80
    page = (out / "report.html").read_text("utf-8")
    assert page.count("<img ") >= 6
    assert not re.search(r"(?:src|href)=\"(?!data:)", page)
    assert "http" not in re.sub(r"base64,[^\"]*", "", page)


@pytest.mark.long
def test_killed_in_the_middle(tmp_path):
    """kill -9 while Spark works: the earlier results stay, and the next run leaves only its own."""
    run = ["pipeline", "run", "--subscriptions=50", "--master=local[2]", "--out=out"]
    assert fyke(tmp_path, *run, "--events=60").returncode == 0
    out = tmp_path / "out"
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with (tmp_path / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "fyke", *run, "--events=100000"],
            cwd=tmp_path,
            stdout=log,
            stderr=log,
        )
        while not list(tmp_path.glob(".out.run-*/journal")):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert list(tmp_path.glob(".out.run-*"))
    done = fyke(tmp_path, *run, "--events=70")
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "summary.json").read_text("utf-8"))["events"] == 70
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.txt", "out"]


def test_init_writes_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["pipeline", "init", "p.toml"]) == 0
    assert "fyke pipeline run p.toml" in capsys.readouterr().out
    (tmp_path / "p.toml").write_text("mine")
    assert main(["pipeline", "init", "p.toml"]) == 2
    assert capsys.readouterr().err == "fyke: p.toml exists; nothing was written\n"
    assert (tmp_path / "p.toml").read_text() == "mine"
    assert main(["pipeline", "init", "no/such/p.toml"]) == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["absent.toml"], "absent.toml: No such file"),
        (["--events=0"], "--events"),
        (["--events=x"], "--events"),
        (["a", "b"], "unexpected argument 'b'"),
        (["--master=local", "--remote=sc://h"], "a master or a remote address, not both"),
        (["bad.toml"], "bad.toml: events.count is 'x'; expected a whole number from 1 on"),
        (["--for=5"], "--for ends a stream, but the events are none"),
        (["--rate=0"], "--rate"),
        (["--refused-max=1.1"], "--refused-max"),
        (["--refused-max=-1"], "--refused-max"),
        (["--refused-max=0.5", "--rate=5"], "--refused-max is for runs that end"),
        (["--for=0", "--rate=5"], "--for"),
        (
            ["--events=5", "--rate=5"],
            "--events sizes a workload, but the events come from workload",
        ),
        (["stream.toml"], "events.path is '"),
        (["stream.toml", "--rate=5"], "--rate makes a stream of a workload, but the events come"),
        (["log.toml"], "expected the folder of a log"),
        (["kafka.toml"], "kafka.toml: events.topic is missing; expected the name of a topic"),
    ],
)
def test_what_cannot_be_run(tmp_path, monkeypatch, capsys, arguments, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text('[events]\nworkload = "auction"\ncount = "x"\n')
    files = 'format = "json"\npath = "in"\nkey = "id"\nstream = true\n'
    held = '[subscriptions]\nworkload = "auction"\ncount = 5\n'
    (tmp_path / "stream.toml").write_text(f"[events]\n{files}{held}")
    log = 'format = "fyke"\npath = "in"\nkey = "id"\n'
    (tmp_path / "log.toml").write_text(f"[events]\n{log}{held}")
    (tmp_path / "kafka.toml").write_text(f'[events]\nformat = "kafka"\nservers = "h:1"\n{held}')
    assert main(["pipeline", "run", *arguments]) == 2
    assert not (tmp_path / "pipeline-out").exists()
    captured = capsys.readouterr()
    assert problem in captured.err
    assert captured.out == ""
