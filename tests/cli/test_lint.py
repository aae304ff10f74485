"""`fyke lint`: findings, summary and exit codes."""

from __future__ import annotations

import json

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


def test_names_that_are_probably_slips(fyke, write):
    number = '{"domain": {"integer": {}}}'
    schema = write(
        "schema.json", f'{{"attributes": {{"price": {number}}}, "types": {{"Stock": {{}}}}}}'
    )
    subscriptions = write(
        "s",
        [
            {"id": "wide", "filter": "price < 10"},
            {"id": "string", "filter": 'symbol = "A" and price < 5'},
            {"id": "names", "filter": "prise < 10 and type is Stok"},
            {"id": "fine", "filter": "a = b"},
        ],
    )
    run = fyke("lint", subscriptions, "--json")
    found = [(each["problem"], each["subscription"], each.get("meant")) for each in run.documents]
    assert found == [("subsumed", "string", None), ("quoted name", "string", "'A'")]
    assert run.code == 1
    run = fyke("lint", subscriptions, "--schema", schema, "--json")
    assert [(each["problem"], each.get("meant")) for each in run.documents] == [
        ("subsumed", None),
        ("quoted name", "'A'"),
        ("misspelt name", "price"),
        ("misspelt name", "Stock"),
    ]
    shown = fyke("lint", subscriptions, "--schema", schema).out
    assert "meant 'A'?" in shown
    assert "meant price?" in shown
    assert "a string is in single quotes" in shown


def test_a_number_that_no_float_stands_for(fyke, write):
    """Unless a schema says that JSON is read for the decimals that are written."""
    subscriptions = write(
        "s",
        [
            {"id": "long", "filter": "price = 0.10000000000000001 and lot > 9007199254740992.5"},
            {"id": "money", "filter": "price in (8.40, 0.1, 9007199254740993) and lot < 1e-300"},
        ],
    )
    run = fyke("lint", subscriptions, "--json")
    found = [(each["problem"], each["subscription"], each["meant"]) for each in run.documents]
    assert found == [("long number", "long", "0.1"), ("long number", "long", "9007199254740992")]
    assert run.code == 1
    decimal = {"price": {"domain": "decimal"}, "lot": {"domain": "real"}}
    schema = write("schema.json", json.dumps({"attributes": decimal}))
    run = fyke("lint", subscriptions, "--schema", schema, "--json")
    assert [each["meant"] for each in run.documents] == ["9007199254740992"]


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


LATE = [
    {"id": "late", "filter": "a.at > timestamp '2026-01-01' and price < 5"},
    {"id": "then", "filter": "not a.at = timestamp '2026-01-01'"},
    {"id": "text", "filter": "a.at > '2026-01-01' and other > timestamp '2026-01-01'"},
]
TEXTS = '{"a": {"at": null}, "other": 5}\n{"a": [{"at": 1}, {"at": "2026-01-31"}], "other": null}\n'


def test_a_sample_shows_text_where_a_time_is_asked_for(fyke, write):
    subscriptions, sample = write("s", LATE), write("sample", TEXTS)
    run = fyke("lint", subscriptions, "--sample", sample, "--json")
    found = [
        (each["subscription"], each["attribute"])
        for each in run.documents
        if each["problem"] == "text for time"
    ]
    assert found == [("late", "a.at"), ("then", "a.at")]
    assert run.code == 1
    run = fyke("lint", subscriptions, "--sample", sample)
    assert "at a.at" in run.out and "--timestamps NAME" in run.out


def test_what_is_declared_is_no_finding(fyke, write):
    subscriptions, sample = write("s", LATE), write("sample", TEXTS)
    run = fyke("lint", subscriptions, "--sample", sample, "--timestamps", "a.at", "--json")
    assert "text for time" not in run.out
    run = fyke("lint", subscriptions, "--json")
    assert "text for time" not in run.out


def test_the_order_of_an_enumeration_proves_more(fyke, write):
    schema = '{"attributes": {"level": {"domain": {"enumeration": ["low", "medium", "high"]}}}}'
    standing = [
        {"id": "some", "filter": "level > 'low'"},
        {"id": "high", "filter": "level > 'medium'"},
        {"id": "none", "filter": "level < 'low'"},
    ]
    run = fyke("lint", write("s", standing), "--schema", write("schema", schema), "--json")
    assert [(each["problem"], each["subscription"]) for each in run.documents] == [
        ("subsumed", "high"),
        ("never true", "none"),
    ]


def test_filters_are_checked_against_classes(fyke, write):
    classes = "import fyke\n@fyke.event\nclass Ticket: price: float; symbol: str\n"
    write("shop_events.py", classes)
    rules = [
        {"id": "never", "filter": "price < 5 and price > 9"},
        {"id": "slip", "filter": "type is Ticket and prise < 5"},
    ]
    run = fyke("lint", write("s", rules), "--types", "shop_events", "--json")
    found = {(each["problem"], each["subscription"]) for each in run.documents}
    assert found == {("never true", "never"), ("misspelt name", "slip")}
    for arguments, problem in (
        (("--types", "no_such_module"), "cannot be imported"),
        (("--types", "json"), "no event classes"),
        (("--types", "shop_events", "--schema", "s"), "give one of them"),
    ):
        run = fyke("lint", "s", *arguments)
        assert run.code == 2 and problem in run.err


def test_a_folder_of_rules_and_what_the_engine_cannot_look_up(fyke, write, tmp_path):
    (tmp_path / "rules").mkdir()
    many = " or ".join(f"a{number} = 1" for number in range(9))
    for name, text in {"few": "a = 1 or b like '%x%'", "many": many, "not": "not a = 1"}.items():
        (tmp_path / "rules" / f"{name}.fyke").write_text(text)
    run = fyke("lint", "rules", "--json")
    found = [(each["problem"], each["subscription"]) for each in run.documents]
    assert found == [("unguarded", "rules/many.fyke"), ("unguarded", "rules/not.fyke")]
