"""`fyke prune`: budgets, files, the report and exit codes."""

from __future__ import annotations

import json

import pytest

from fyke import parse
from fyke.testing.covering import check_covers
from fyke.workloads.auction import AuctionWorkload

AUCTION = AuctionWorkload(typed=False)
RULES = [{"id": AUCTION.id(n), "filter": AUCTION.text(n), "subscriber": "x"} for n in range(60)]
EVENTS = [AUCTION.event(n).document for n in range(300)]


@pytest.fixture
def files(write):
    return write("rules", RULES), "--sample", write("events", EVENTS)


def test_the_pruned_set_has_the_same_ids_and_covers(fyke, files, tmp_path):
    out = tmp_path / "pruned.jsonl"
    run = fyke("prune", *files, "--budget", "40%", "--out", str(out), "--json")
    assert run.code == 0
    (facts,) = run.documents
    assert facts["after"]["predicates"] <= 0.4 * facts["before"]["predicates"]
    assert facts["after"]["bytes"] < facts["before"]["bytes"]
    pruned = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(each["id"], each["subscriber"]) for each in pruned] == [
        (each["id"], "x") for each in RULES
    ]
    for old, new in zip(RULES, pruned, strict=True):
        check_covers(parse(new["filter"]), parse(old["filter"]), EVENTS)


def test_budgets(fyke, files):
    bend = fyke("prune", *files, "--json").documents[0]
    assert bend["steps"] == bend["bend"] and 0 < bend["bend"] < bend["possible"]
    size = bend["before"]["bytes"] * 2 // 3
    fitting = fyke("prune", *files, "--budget", f"{size}B", "--json").documents[0]
    assert fitting["after"]["predicates"] < fitting["before"]["predicates"]
    grown = fyke("prune", *files, "--budget", "+50%", "--json").documents[0]
    assert grown["after"]["matched"] <= 1.5 * grown["before"]["matched"]


def test_a_budget_that_cannot_be_met_prunes_what_can_be(fyke, files):
    run = fyke("prune", *files, "--budget", "1%", "--json")
    assert run.code == 1 and "the smallest set takes" in run.err
    assert run.documents[0]["steps"] == run.documents[0]["possible"]


def test_what_was_dropped_and_why(fyke, files):
    run = fyke("prune", *files)
    assert "dropped" in run.out and "cover = 'hard' or cover = 'soft'" in run.out
    run = fyke("prune", *files, "--explain", AUCTION.id(0))
    assert "step " in run.out and "lets through" in run.out and "leaves title" in run.out


def test_a_plot(fyke, files, tmp_path):
    plot = tmp_path / "curve.png"
    assert fyke("prune", *files, "--plot", str(plot)).code == 0
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_without_a_sample_everything_is_a_guess(fyke, files):
    run = fyke("prune", files[0], "--budget", "50%")
    assert run.code == 0 and "guesses" in run.err and "held out" not in run.out


def test_any_dialect_in_native_out(fyke, write, tmp_path):
    rule = {"id": "e", "filter": {"a": ["x"], "b": [{"prefix": "y"}]}, "dialect": "eventbridge"}
    out = tmp_path / "out"
    fyke("prune", write("rules", [rule]), "--budget", "50%", "--out", str(out))
    assert parse(json.loads(out.read_text())["filter"]).matches({"a": "x"})


def test_conditions_that_make_no_difference(fyke, write):
    rules = [
        {"id": "misspelt", "filter": "colour = 'red' and price < 5"},
        {"id": "everyone", "filter": "exists price and price < 5"},
        {"id": "twice", "filter": "price < 5 and price < 7"},
        {"id": "fine", "filter": "price < 5 and name = 'a'"},
    ]
    events = [{"price": number, "name": "ab"[number % 2]} for number in range(10)]
    run = fyke("prune", write("r", rules), "--sample", write("e", events), "--report", "--json")
    found = {
        (each["difference"], each["condition"], tuple(each["subscriptions"]))
        for each in run.documents
    }
    assert found == {
        ("never holds", "colour = 'red'", ("misspelt",)),
        ("always holds", "exists price", ("everyone",)),
        ("never decides", "price < 7", ("twice",)),
    }
    shown = fyke("prune", write("r", rules), "--sample", write("e", events), "--report")
    assert "1 never holds, 1 always holds, 1 never decides" in shown.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--budget", "much"], "expected bend, 40%, 64MB or +10%"),
        (["--budget", "150%"], "share from 0 to 1"),
        (["--report"], "--report needs events"),
        (["--explain", "nobody"], "no subscription 'nobody'"),
        (["--sample", "nowhere"], "no such file"),
        (["--order", "size"], "order"),
        (["--out", "/nowhere/at/all"], "cannot be written"),
    ],
)
def test_bad_input(fyke, write, arguments, sentence):
    run = fyke("prune", write("rules", RULES[:3]), *arguments)
    assert run.code == 2 and sentence in run.err and "Traceback" not in run.err


def test_a_folder_of_rules(fyke, write, tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.fyke").write_text("a = 1 and b = 2")
    (tmp_path / "rules" / "b.json").write_text('{"a": [1], "c": [3]}')
    run = fyke("prune", "rules", "--json")
    assert (run.code, run.documents[0]["subscriptions"]) == (0, 2)
    assert fyke("summarise", "rules", "--json").documents[0]["subscriptions"] == 2
