"""`fyke explain`: the tree, its JSON, and its exit codes."""

from __future__ import annotations

import json

import pytest


def test_tree_of_a_refused_event(fyke):
    filter = "price < 10 and symbol = 'A' and (volume > 5 or not exists urgent)"
    run = fyke("explain", filter, '{"price": 8.4, "volume": [1, 2]}')
    assert run.out.splitlines() == [
        "✗ all of",
        "├── ✓ price < 10              price = 8.4",
        "├── ✗ symbol = 'A'            symbol is missing",
        "└── ✓ any of",
        "    ├── ✗ volume > 5          volume = [1, 2]",
        "    └── ✓ not exists urgent   urgent is missing",
        "refused",
    ]
    assert run.code == 1


def test_a_single_predicate_is_a_single_line(fyke):
    run = fyke("explain", "price < 10", '{"price": 8.4}')
    assert run.out == "✓ price < 10   price = 8.4\naccepted\n"
    assert run.code == 0


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("null", "a = null"),
        ("true", "a = true"),
        ("-0.0", "a = -0.0"),
        (str(2**53 + 1), f"a = {2**53 + 1}"),
        ("[]", "a = []"),
        ('[1, "x", null]', "a = [1, 'x', null]"),
        ("[1,2,3,4,5,6,7,8,9,10]", "a = [1, 2, 3, 4, 5, 6, 7, 8, and 2 more]"),
        ('"it\'s"', "a = 'it''s'"),
        ('"日本"', "a = '日本'"),
        ('"\\u001b[31m"', "a = '\\x1b[31m'"),
    ],
)
def test_values_are_shown_as_they_are(fyke, value, shown):
    run = fyke("explain", "exists a", f'{{"a": {value}}}')
    assert run.out == f"✓ exists a   {shown}\naccepted\n"


def test_long_values_are_cut(fyke):
    run = fyke("explain", "exists a", json.dumps({"a": "x" * 100_000}))
    assert "…" in run.out
    assert len(run.out) < 200


def test_a_deep_tree_keeps_its_lines_within_the_terminal(fyke, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    filter = "not (a = 1 or " * 40 + "a = 2" + ")" * 40
    run = fyke("explain", filter, '{"a": 2}')
    assert run.code == 0
    assert max(map(len, run.out.splitlines())) <= 80
    assert run.out.endswith("a = 2\naccepted\n")


def test_json_holds_every_node(fyke):
    run = fyke("explain", "a = 1 and not (b = 2 or c = 3)", '{"a": 1, "b": null}', "--json")
    assert run.documents == [
        {
            "accepted": True,
            "filter": "a = 1 and not (b = 2 or c = 3)",
            "tree": {
                "holds": True,
                "operator": "and",
                "children": [
                    {"holds": True, "filter": "a = 1", "seen": {"a": 1}, "absent": []},
                    {
                        "holds": True,
                        "operator": "not",
                        "children": [
                            {
                                "holds": False,
                                "operator": "or",
                                "children": [
                                    {
                                        "holds": False,
                                        "filter": "b = 2",
                                        "seen": {"b": None},
                                        "absent": [],
                                    },
                                    {
                                        "holds": False,
                                        "filter": "c = 3",
                                        "seen": {},
                                        "absent": ["c"],
                                    },
                                ],
                            }
                        ],
                    },
                ],
            },
        }
    ]


def test_json_says_refused_with_the_exit_code_too(fyke):
    run = fyke("explain", "a = 1", "{}", "--json")
    assert (run.code, run.documents[0]["accepted"]) == (1, False)


def test_another_dialect_shows_what_it_compiles_to(fyke):
    pattern = '{"price": [{"numeric": ["<", 10]}]}'
    run = fyke("explain", pattern, '{"price": 8.4}', "--dialect", "eventbridge")
    assert run.out.splitlines()[0].startswith("in fyke's own language: ")
    assert "price < 10" in run.out
    assert run.code == 0


def test_filter_and_event_from_files(fyke, write):
    write("filter.txt", "\ufeffa = 1\n")
    write("event.json", '{\n  "a": 1\n}\n')
    assert fyke("explain", "@filter.txt", "@event.json").code == 0
    assert fyke("explain", "a = 2", "@event.json").code == 1


def test_event_from_standard_input(fyke):
    assert fyke("explain", "a = 1", "-", stdin=b'{"a": 1}').code == 0
    assert fyke("explain", "a = 1", "-", stdin=b'{"a": 2}').code == 1


def test_schema_reads_timestamps(fyke, write):
    schema = write("s", '{"attributes": {"at": {"domain": "timestamp"}}}')
    filter = "at > timestamp '2026-01-01T00:00:00Z'"
    event = '{"at": "2026-02-01T00:00:00Z"}'
    assert fyke("explain", filter, event).code == 1
    assert fyke("explain", filter, event, "--schema", schema).code == 0


def test_plain_marks_where_the_terminal_knows_no_others(command):
    process = command("explain", "a = 1 and b = 'é'", '{"b": "é"}', PYTHONIOENCODING="ascii")
    out, err = process.communicate()
    assert out.decode("ascii").splitlines() == [
        "no  all of",
        "+-- no  a = 1        a is missing",
        r"`-- yes b = '\xe9'   b = '\xe9'",
        "refused",
    ]
    assert err == b""
    assert process.returncode == 1


def test_a_schema_gives_text_its_meaning(fyke, write):
    schema = write(
        "schema", '{"attributes": {"level": {"domain": {"enumeration": ["low", "high"]}}}}'
    )
    filter = "level > 'low' and at > timestamp '2026-01-01'"
    event = '{"level": "high", "at": "2026-01-31"}'
    assert fyke("explain", filter, event).code == 1
    run = fyke("explain", filter, event, "--schema", schema, "--timestamps", "at")
    assert run.code == 0
