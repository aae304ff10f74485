"""`fyke simulate`: the numbers of an overlay, as a table, as JSON, as a trace and as a picture."""

from __future__ import annotations

import sys

import pytest

from fyke.assembly import STRATEGIES
from fyke.overlay.named import named
from fyke.traces.metrics import summarize
from fyke.traces.trace import read
from fyke.workloads.named import workload

FLOOD = ("simulate", "--strategy", "event_forwarding")
SMALL = ("--brokers", "5", "--subscriptions", "20", "--events", "30")
FILE = """
links = [["a", "b"], { between = ["b", "c"], latency_s = 0.05 }]
clients = { alice = "a", carl = "c" }
network = { latency_s = 0.01 }
"""


def cells(out: str) -> dict[str, list[str]]:
    """The numbers of the table, by the name of their row."""
    rows = [line.split("  ") for line in out.splitlines()[2:]]
    return {row[0] or row[1]: [each.strip() for each in row[1:] if each.strip()] for row in rows}


def test_a_table(fyke):
    run = fyke(*FLOOD, *SMALL)
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("5 brokers, stock, seed 0, 20 subscriptions, 30 events\n")
    found = cells(run.out)
    assert found["messages an event"][0] == "4.00"
    assert found["duplication"][0] == "1.00"
    assert "sent again" not in found


def test_a_tree_of_stages(fyke, write):
    write("tree.toml", """
links = [["r", "m"], ["r", "n"], ["m", "a"], ["m", "b"], ["n", "c"]]
rendezvous = { "*" = "r" }
placement = "similarity"
stages = { Stock = [["symbol", "price"], ["symbol"], []] }
""")  # fmt: skip
    asked = ("simulate", "tree.toml", "--strategy", "multistage", "--subscriptions", "20")
    run = fyke(*asked, "--events", "30")
    assert (run.code, run.err) == (0, "")
    rows = [line.split() for line in run.out.partition("stage by stage\n")[2].splitlines()]
    assert rows[0] == ["stage", "brokers", "rows", "largest", "events", "busiest", "load"]
    assert [row[:2] for row in rows[1:]] == [["3", "1"], ["2", "2"], ["1", "3"]]
    assert int(rows[1][2]) < int(rows[3][2]) and int(rows[1][4]) >= 30
    assert all(0 < float(row[6].rstrip("%")) < 100 for row in rows[1:])
    write("f.toml", 'faults = [{at = 0.005, crash = ["r"]}]')
    run = fyke(*asked, "--events", "30", "--faults", "f.toml")
    assert run.code == 0 and "\n down  " in run.out


def test_numbers_are_those_of_a_scan(fyke):
    run = fyke(*FLOOD, *SMALL, "--workload", "auction", "--seed", "3", "--json")
    (found,) = run.documents
    work = workload("auction", 3)
    filters = list(work.filters(20))
    matches = [sum(each.matches(event) for each in filters) for event in work.events(30)]
    assert found["strategy"] == "event_forwarding"
    assert found["notified"] == sum(matches)
    assert found["event_messages"] == 30 * 4


def test_strategies_side_by_side_deliver_the_same(fyke):
    names = [name for name in ("ef", "pf8", "rn8", "pf4") if name in STRATEGIES]
    names = names or ["event_forwarding"]
    chosen = [part for name in names for part in ("--strategy", name)]
    run = fyke("simulate", *chosen, *SMALL, "--json")
    assert run.code == 0
    assert [each["strategy"] for each in run.documents] == names
    assert len({(each["matched"], each["notified"]) for each in run.documents}) == 1
    assert fyke("simulate", *chosen, *SMALL).err == ""


@pytest.mark.parametrize("engine", ["scan", "compiled"])
def test_a_trace_says_what_the_summary_says(fyke, tmp_path, engine):
    options = ("--loss", "0.2", "--duplication", "0.1", "--bandwidth", "1e5", "--engine", engine)
    run = fyke(*FLOOD, *SMALL, *options, "--trace", "t.jsonl", "--json")
    (found,) = run.documents
    again = summarize(read(tmp_path / "t.jsonl"), named("tree", 5))
    assert found == {"strategy": "event_forwarding", **again.document()}
    assert again.resent > 0 and again.copies > 0
    assert "sent again" in cells(fyke(*FLOOD, *SMALL, *options).out)
    first = (tmp_path / "t.jsonl").read_bytes()
    fyke(*FLOOD, *SMALL, *options, "--trace", "t.jsonl")
    assert (tmp_path / "t.jsonl").read_bytes() == first


def test_a_topology_file_and_faults(fyke, write):
    write("o.toml", FILE)
    write("f.toml", 'faults = [{at = 0.005, crash = ["b"]}, {at = 9, restart = ["b"]}]')
    run = fyke(*FLOOD, "o.toml", "--subscriptions", "9", "--events", "40", "--json")
    (whole,) = run.documents
    assert set(whole["brokers"]) == {"a", "b", "c"}
    assert whole["network_load"] == 2
    run = fyke(*FLOOD, "o.toml", "--events", "40", "--faults", "f.toml", "--json")
    (broken,) = run.documents
    assert broken["network_load"] < 1
    assert broken["lost"] > 0


def test_a_folder_with_a_picture(fyke, tmp_path):
    pytest.importorskip("matplotlib")
    run = fyke(*FLOOD, *SMALL, "--out", "deep/results")
    assert (run.code, run.err) == (0, "")
    folder = tmp_path / "deep" / "results"
    assert (folder / "overlay.png").read_bytes().startswith(b"\x89PNG")
    assert len((folder / "summary.jsonl").read_text("utf-8").splitlines()) == 1
    assert sorted(each.name for each in folder.iterdir()) == ["overlay.png", "summary.jsonl"]


def test_without_matplotlib_all_but_the_picture_is_there(fyke, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    run = fyke(*FLOOD, *SMALL, "--out", "results")
    assert run.code == 0
    assert run.err == "fyke: a picture needs matplotlib: pip install 'fyke[experiments]'\n"
    assert "messages an event" in run.out
    assert [each.name for each in (tmp_path / "results").iterdir()] == ["summary.jsonl"]


def test_nothing_published_is_no_trouble(fyke):
    run = fyke(*FLOOD, "--brokers", "1", "--subscriptions", "0", "--events", "0")
    assert (run.code, run.err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["o.toml", "--overlay", "tree"], "from TOPOLOGY, or from --overlay and --brokers"),
        (["o.toml", "--brokers", "3"], "from TOPOLOGY, or from --overlay and --brokers"),
        (["nothing.toml"], "nothing.toml: No such file"),
        (["bad.toml"], "bad.toml: clients.alice: unknown broker 'z'"),
        (["ring.toml"], "not a tree: there is a cycle, b - a - c - b"),
        (["--overlay", "cwix"], "not a tree: there is a cycle"),
        (["--overlay", "das_bus", "--brokers", "9"], "das_bus has 4 brokers, not 9"),
        (["--overlay", "zork"], "zork"),
        (["--strategy", "zork"], "zork"),
        (["--workload", "zork"], "zork"),
        (["--brokers", "0"], "--brokers"),
        (["--brokers", "1000000"], "expected 1 to 100,000"),
        (["--loss", "1"], "--loss"),
        (["--rate", "0"], "--rate"),
        (["--faults", "f.toml"], "crash of z at 1 s: unknown broker 'z'"),
        (["--trace", "no/where/t.jsonl"], "t.jsonl: No such file"),
        (["--out", "o.toml/results"], "o.toml/results: Not a directory"),
        (["--out", "o.toml"], "o.toml: File exists"),
    ],
    ids=str,
)
def test_bad_input(fyke, write, arguments, problem):
    write("o.toml", FILE)
    write("bad.toml", 'links = [["a", "b"]]\nclients = { alice = "z" }')
    write("ring.toml", 'links = [["a", "b"], ["b", "c"], ["c", "a"]]')
    write("f.toml", 'faults = [{at = 1, crash = ["z"]}]')
    run = fyke(*FLOOD, "--events", "1", "--subscriptions", "1", *arguments)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("fyke: ")
    assert problem in run.err


def test_one_trace_is_of_one_strategy(fyke):
    run = fyke(*FLOOD, "--strategy", list(STRATEGIES)[-1], "--trace", "t.jsonl", *SMALL)
    if len(STRATEGIES) > 1:
        assert (run.code, run.out) == (2, "")
        assert "give one --strategy" in run.err


def test_brokers_with_little_memory_prune_and_deliver_the_same(fyke):
    options = ["--strategy", "pf8", "--brokers", "4", "--subscriptions", "60", "--events", "40"]
    run = fyke("simulate", *options, "--memory", "10kB")
    assert run.code == 0 and "did not deliver the same" not in run.err
    for words in ("pf8, 10kB", "pruned", "saved by that", "messages because of pruning"):
        assert words in run.out
    plain = fyke("simulate", *options)
    assert "pruned" not in plain.out


def test_a_limit_below_what_clients_want_is_said_in_words(fyke):
    options = ["--strategy", "pf8", "--brokers", "4", "--subscriptions", "60", "--events", "1"]
    run = fyke("simulate", *options, "--memory", "3kB")
    assert run.code == 0 and "4 brokers hold more than 3 kB" in run.err
    assert "own clients want is never pruned" in run.err and "cannot be met" in run.err
    assert fyke("simulate", *options, "--memory", "1MB").err == ""


def test_how_summaries_are_made(fyke, write):
    options = ["--strategy", "summaries", "--subscriptions", "60", "--events", "40", "--json"]
    settings = ["--summaries", "neighbours=2", "--summaries", "budget=2kB"]
    (usual,) = fyke("simulate", "--overlay", "cwix", *options).documents
    (other,) = fyke("simulate", "--overlay", "cwix", *options, *settings).documents
    assert other["notified"] == usual["notified"]
    assert other["event_messages"] < usual["event_messages"], "searches are shorter"
    place = named("cwix")
    brokers, links = list(place.brokers), [list(each) for each in place.links]
    said = f"brokers = {brokers}\nlinks = {links}\n[summaries]\nneighbours = 2\nbudget = 2_000"
    write("o.toml", said)
    (read,) = fyke("simulate", "o.toml", *options).documents
    assert read["event_messages"] == other["event_messages"]


def test_settings_of_summaries_hold_for_every_column(fyke):
    options = ["--overlay", "line", "--brokers", "9", "--subscriptions", "40", "--events", "20"]
    settings = ["--json", "--summaries", "neighbours=2", "--summaries", "degree_max=1"]
    alone = fyke("simulate", *options, *settings, "--strategy", "summaries").documents
    beside = fyke(
        "simulate", *options, *settings, "--strategy", "ef", "--strategy", "summaries"
    ).documents
    assert beside[1:] == alone
    assert alone != fyke("simulate", *options, "--json", "--strategy", "summaries").documents


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (["budget"], "'budget'; expected NAME=VALUE"),
        (["mode=exact", "mode=coarse"], "expected NAME=VALUE, each name once"),
        (["mode=exakt"], "mode is 'exakt'; expected one of coarse, exact"),
        (["nab=3"], "nab is unknown; expected mode, budget"),
        (["period_s=0"], "period_s is 0.0; expected more than 0"),
    ],
)
def test_settings_of_summaries_that_are_none(fyke, said, problem):
    typed = [part for each in said for part in ("--summaries", each)]
    run = fyke("simulate", "--strategy", "summaries", "--events", "1", *typed)
    assert run.code == 2 and problem in run.err and "Traceback" not in run.err


@pytest.mark.parametrize(("size", "problem"), [("2XB", "--memory: "), ("0", "--memory: ")])
def test_a_limit_that_is_none_is_refused(fyke, size, problem):
    run = fyke("simulate", "--strategy", "pf8", "--events", "1", "--memory", size)
    assert run.code == 2 and problem in run.err and "Traceback" not in run.err
