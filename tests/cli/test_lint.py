"""`fyke lint`: findings, summary and exit codes."""

from __future__ import annotations

import pytest

SUBSCRIPTIONS = [
    {"id": "wide", "filter": "price < 10"},
    {"id": "narrow", "filter": "symbol = 'OTE' and price < 5"},
    {"id": "again", "filter": "price < 5 and symbol = 'OTE'"},
    {"id": "anything else", "filter": "not price < 10"},
    {"id": "never", "filter": "a = 1 and not a = 1"},
    {"id": "always", "filter": "true"},
    {"id": "fine", "filter": "title matches '^a'"},
]


def test_findings_in_the_order_of_the_file(fyke, write):
    run = fyke("lint", write("s", SUBSCRIPTIONS), "--json")
    found = [(each["problem"], each["subscription"], each["other"]) for each in run.documents]
    assert found == [
        ("subsumed", "narrow", "wide"),
        ("duplicate", "again", "narrow"),
        ("unguarded", "anything else", None),
        ("never true", "never", None),
        ("always true", "always", None),
    ]
    assert run.documents[0]["filter"] == "symbol = 'OTE' and price < 5"
    assert run.code == 1


def test_readable_report(fyke, write):
    run = fyke("lint", "-s", write("s", SUBSCRIPTIONS))
    rows = [line.split("  ") for line in run.out.splitlines()]
    assert [row[0] for row in rows[:5]] == [
        "subsumed",
        "duplicate",
        "unguarded",
        "never true",
        "always true",
    ]
    assert "within wide" in run.out
    assert "same as narrow" in run.out
    assert "add a condition that must hold" in run.out
    assert "most expensive" in run.out
    assert run.out.endswith("7 subscriptions, 5 findings\n")
    assert run.code == 1


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_report_fits_the_terminal(fyke, write, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    long = [
        {"id": f"subscription-{number}", "filter": f"symbol in ('{'x' * 100}{number}', 'y')"}
        for number in range(3)
    ]
    run = fyke("lint", write("s", long))
    assert max(map(len, run.out.splitlines())) <= int(columns)


def test_clean(fyke, write):
    run = fyke("lint", write("s", SUBSCRIPTIONS[:1]))
    assert run.code == 0
    assert run.out.endswith("1 subscription, 0 findings\n")
    assert fyke("lint", "s", "--json").out == ""


def test_a_schema_proves_more(fyke, write):
    subscriptions = write("s", [{"id": "x", "filter": "price < 5 and price > 10"}])
    assert fyke("lint", subscriptions).code == 0
    number = '{"integer": {"low": 0, "high": 100}}'
    schema = write("schema.json", f'{{"attributes": {{"price": {{"domain": {number}}}}}}}')
    run = fyke("lint", subscriptions, "--schema", schema, "--json")
    assert [each["problem"] for each in run.documents] == ["never true"]


def test_an_incomplete_analysis_says_so(fyke, write):
    run = fyke("lint", write("s", SUBSCRIPTIONS), "--tests-max", "1")
    assert "not all pairs were compared" in run.err


def test_bad_lines_do_not_hide_the_others(fyke, write):
    run = fyke(
        "lint",
        write("s", '{"id": "a", "filter": "x <"}\n{"id": "b", "filter": "true"}\n'),
        "--json",
    )
    assert [each["subscription"] for each in run.documents] == ["b"]
    assert run.err.startswith("fyke: s:1: ")
    assert "ends here; expected a number" in run.err
    assert run.code == 2


def test_subscriptions_from_standard_input(fyke):
    run = fyke("lint", "-", "--json", stdin=b'{"id": "x", "filter": "true"}')
    assert [each["problem"] for each in run.documents] == ["always true"]


@pytest.mark.parametrize("arguments", [[], ["s", "-s", "s"]])
def test_one_file_is_wanted(fyke, write, arguments):
    write("s", SUBSCRIPTIONS)
    run = fyke("lint", *arguments)
    assert (run.code, run.err) == (2, "fyke: name one file of subscriptions\n")
