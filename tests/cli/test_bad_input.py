"""Whatever is typed or stands in a file: a sentence on stderr and code 2, never a traceback."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fyke.cli.reading import inputs
from fyke.filters.dialects import DIALECTS
from fyke.matching import lines

GOOD = b'{"a": 1}'
BAD_EVENTS = {
    "not JSON": (b"a = 1", "not JSON"),
    "half an object": (b'{"a": 1', "not JSON"),
    "two objects": (b'{"a": 1} {"a": 1}', "not JSON"),
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8"),
    "an array": (b"[1]", "an array"),
    "a string": (b'"a"', "a string"),
    "null": (b"null", "null"),
    "a key twice": (b'{"a": 1, "a": 1}', "twice"),
    "NaN": (b'{"a": NaN}', "NaN"),
    "Infinity": (b'{"a": -Infinity}', "Infinity"),
    "overflow": (b'{"a": 1e999}', "'a'"),
    "2**70": (b'{"a": %d}' % 2**70, "64 bits"),
    "10**5000": (b'{"a": 1%s}' % (b"0" * 5000), "64 bits"),
    "a lone surrogate": (rb'{"a": "\ud800"}', "surrogate"),
    "a lone surrogate in a key": (rb'{"\ud800": 1}', "surrogate"),
    "too deep": (b'{"a":' * 150 + b"1" + b"}" * 150, "deep"),
    "far too deep": (b"[" * 100_000, "deep"),
    "a zero byte": (b'{"a": 1}\0', "not JSON"),
    "binary": (bytes(set(range(256)) - {10}), "not UTF-8"),
}
BAD_SUBSCRIPTIONS = {
    "not JSON": (b"price < 10", "not JSON"),
    "not UTF-8": (b'{"id": "\xff"}', "not UTF-8"),
    "not an object": (b'["id"]', "a subscription is an object"),
    "no id": (b'{"filter": "a = 1"}', 'no "id"'),
    "no filter": (b'{"id": "x"}', 'no "filter"'),
    "a null filter": (b'{"id": "x", "filter": null}', 'no "filter"'),
    "a number as id": (b'{"id": 7, "filter": "a = 1"}', '"id" is 7; expected a string'),
    "a filter that ends early": (b'{"id": "x", "filter": "a ="}', "expected"),
    "an empty filter": (b'{"id": "x", "filter": ""}', "expected"),
    "a number as filter": (b'{"id": "x", "filter": 7}', "fyke: s:2: "),
    "an object in the native language": (b'{"id": "x", "filter": {"a": 1}}', "fyke: s:2: "),
    "an unknown dialect": (b'{"id": "x", "filter": "a = 1", "dialect": "zork"}', "zork"),
    "an empty dialect": (b'{"id": "x", "filter": "a = 1", "dialect": ""}', "dialect"),
    "a number as dialect": (b'{"id": "x", "filter": "a = 1", "dialect": 1}', '"dialect" is 1'),
    "an id that is taken": (b'{"id": "first", "filter": "a = 1"}', "taken by line 1"),
    "a filter too deep": (b'{"id": "x", "filter": "%sa = 1"}' % (b"not (" * 5000), "deep"),
}


LENIENT = {"a key twice": [0, 2, 3], "a lone surrogate in a key": [0, 3]}
"""What is passed over where only what filters read is read, and the events that match then."""


@pytest.mark.parametrize("name", LENIENT)
def test_what_no_filter_reads_need_only_be_well_formed(fyke, write, name):
    events = write("events.jsonl", GOOD + b"\n\n" + BAD_EVENTS[name][0] + b"\n" + GOOD)
    run = fyke("match", "-e", "a = 1", events)
    assert [each["event"] for each in run.documents] == LENIENT[name]
    assert (run.code, run.err) == (0, "")


@pytest.mark.parametrize("name", sorted(BAD_EVENTS.keys() - LENIENT.keys()))
def test_a_bad_event_is_reported_and_the_others_count(fyke, write, name):
    line, problem = BAD_EVENTS[name]
    events = write("events.jsonl", GOOD + b"\n\n" + line + b"\n" + GOOD)
    run = fyke("match", "-e", "a = 1", events)
    assert [each["event"] for each in run.documents] == [0, 3]
    assert run.err.startswith("fyke: events.jsonl:3: ")
    assert problem in run.err
    assert run.err.count("fyke: ") == 1
    assert run.code == 2


@pytest.mark.parametrize("name", BAD_SUBSCRIPTIONS)
@pytest.mark.parametrize("command", [["match", "-s"], ["lint", "--json"]])
def test_a_bad_subscription_is_reported_and_the_others_count(fyke, write, name, command):
    line, problem = BAD_SUBSCRIPTIONS[name]
    good = b'{"id": "%s", "filter": "true"}\n'
    subscriptions = write("s", good % b"first" + line + b"\n" + good % b"last")
    run = fyke(*command, subscriptions, stdin=b"{}")
    if command[0] == "match":
        assert run.documents == [{"event": 0, "matches": ["first", "last"]}]
    else:
        assert [each["subscription"] for each in run.documents] == ["first", "last"]
    assert run.err.startswith("fyke: s:2: ")
    assert problem in run.err
    assert run.err.count("fyke: ") == 1
    assert run.code == 2


@pytest.mark.parametrize("name", BAD_EVENTS)
def test_explain_refuses_a_bad_event(fyke, write, name):
    line, problem = BAD_EVENTS[name]
    run = fyke("explain", "a = 1", "@" + write("event.json", line))
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("fyke: event.json: ")
    assert problem in run.err


def test_the_caret_points_at_the_problem(fyke, write):
    run = fyke("match", "-s", write("s", '{"id": "x", "filter": "price < < 5"}\n'), stdin=b"{}")
    first, text, caret, *_ = run.err.splitlines()
    assert first.startswith("fyke: s:1: ")
    assert text[caret.index("^") :] == "< 5"


def test_a_file_without_subscriptions(fyke, write):
    for content in ["", "\n\n", "\ufeff"]:
        run = fyke("match", "-s", write("s", content), stdin=GOOD)
        assert (run.code, run.out) == (2, "")
        assert run.err == "fyke: s: no subscription that can be read\n"


def test_a_line_that_is_too_long_is_not_held(fyke, monkeypatch):
    match = sys.modules["fyke.cli.match"]
    monkeypatch.setattr(match, "LENGTH_MAX", 100)
    monkeypatch.setattr(lines.blocks, "__defaults__", (100,))
    long = b'{"a": 1, "b": "' + b"x" * 200_000 + b'"}\n'
    run = fyke("match", "-e", "a = 1", stdin=GOOD + b"\n" + long + GOOD)
    assert [each["event"] for each in run.documents] == [0, 2]
    assert run.err == "fyke: standard input:2: the line is longer than 100 bytes\n"
    assert run.code == 2


def test_a_file_that_is_too_long(fyke, write, monkeypatch):
    monkeypatch.setattr(inputs, "LENGTH_MAX", 100)
    run = fyke("explain", "a = 1", "@" + write("e", b" " * 101))
    assert (run.code, run.out) == (2, "")
    assert "longer than" in run.err


def test_an_event_outside_the_schema(fyke, write):
    domain = '{"integer": {"low": 0, "high": 9}}'
    schema = write("schema", f'{{"attributes": {{"a": {{"domain": {domain}}}}}}}')
    run = fyke("match", "-e", "exists a", "--schema", schema, stdin=b'{"a": 10}\n{"a": 1}\n')
    assert [each["event"] for each in run.documents] == [1]
    assert run.err.startswith("fyke: standard input:1: attribute 'a': 10 is not in the domain")
    assert run.code == 2


@pytest.mark.parametrize("schema", ["", "[]", "{", '{"attributes": 1}', '{"a": 1}', "\x00"])
def test_a_bad_schema(fyke, write, schema):
    write("s", [{"id": "x", "filter": "a = 1"}])
    path = write("schema", schema)
    for arguments in (["match", "-s", "s"], ["lint", "s"], ["explain", "a = 1", "{}"]):
        run = fyke(*arguments, "--schema", path)
        assert (run.code, run.out) == (2, "")
        assert run.err.startswith("fyke: schema: ")


# --- files and arguments --------------------------------------------------------------------------

NAMING_A_FILE = [
    ["match", "-s", "PATH"],
    ["match", "-e", "a = 1", "PATH"],
    ["match", "-e", "a = 1", "--schema", "PATH"],
    ["lint", "PATH"],
    ["lint", "-s", "PATH"],
    ["explain", "@PATH", "{}"],
    ["explain", "a = 1", "@PATH"],
    ["explain", "a = 1", "{}", "--schema", "PATH"],
]


@pytest.mark.parametrize("arguments", NAMING_A_FILE, ids=" ".join)
def test_files_that_cannot_be_opened(fyke, tmp_path, arguments):
    (tmp_path / "folder").mkdir()
    for path, problem in {
        "missing": "there is no such file",
        "folder": "is a directory",
        "a\0b": "null",
        "x" * 5000: "long",
        "missing/\udcff": "there is no such file",
    }.items():
        run = fyke(*(each.replace("PATH", path) for each in arguments))
        assert (run.code, run.out) == (2, "")
        assert run.err.startswith("fyke: ")
        assert problem in run.err


def test_a_file_that_may_not_be_read(fyke, monkeypatch):
    def refuse(path, mode):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(inputs, "open", refuse, raising=False)
    run = fyke("match", "-e", "a = 1", "secret")
    assert (run.code, run.err) == (2, "fyke: secret: may not be read (permission denied)\n")


def test_a_disk_that_fails_while_reading(fyke, monkeypatch):
    class Failing(io.BytesIO):
        def readline(self, size=-1):
            raise OSError(5, "Input/output error")

        read1 = readline

    monkeypatch.setattr(inputs, "open", lambda path, mode: Failing(), raising=False)
    run = fyke("match", "-e", "a = 1", "disk")
    assert (run.code, run.err) == (2, "fyke: disk: Input/output error\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["zork"], "unknown command 'zork'; expected match, explain, lint, prune, summarise, simu"),
        (["pipeline", "zork"], "unknown command 'pipeline zork'"),
        (["--zork"], "--zork"),
        (["match"], "either with -s FILE or with -e FILTER"),
        (["match", "-s", "s", "-e", "a = 1"], "either with -s FILE or with -e FILTER"),
        (["match", "-s", "-"], "cannot both come from standard input"),
        (["match", "-e", "a = 1", "--count", "--explain"], "drop one of them"),
        (["match", "-e", "a = 1", "--cuont"], "There is no such option."),
        (["match", "-e", "a = 1", "one", "two"], "one: there is no such file"),
        (["match", "-e", "a = 1", "--count", "--events"], "--count and --events exclude"),
        (["match", "-e", "a = 1", "-v", "--format", "{id}"], "no matches that --format"),
        (["match", "-e", "a = 1", "-m", "0"], "expected 1 or more"),
        (["match", "-e", "a = 1", "x*.jsonl"], "no file has such a name"),
        (["match", "-e"], "-e"),
        (["match", "-s"], "-s"),
        (["match", "-e", "a ="], "ends here; expected a number"),
        (["match", "-e", "a = 1", "--dialect", "zork"], "zork"),
        (["match", "-e", "a = '\udcff'"], "an argument is not UTF-8"),
        (["explain"], "FILTER"),
        (["explain", "a = 1"], "EVENT"),
        (["explain", "a =", "{}"], "ends here; expected a number"),
        (["explain", "a = 1", "{"], "event: not JSON"),
        (["explain", "a = 1", ""], "event: not JSON"),
        (["explain", "a = 1", "\udcff"], "an argument is not UTF-8"),
        (["explain", "a = 1", "{}", "--dialect", "zork"], "zork"),
        (["explain", "a = 1", "{}", "--jsno"], "--json"),
        (["lint", "s", "--tests-max", "many"], "many"),
    ],
    ids=str,
)
def test_usage(fyke, write, arguments, problem):
    write("s", [{"id": "x", "filter": "a = 1"}])
    run = fyke(*arguments)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("fyke: ")
    assert problem in run.err


def test_messages_cannot_move_the_cursor(fyke, write):
    line = '{"id": "\\u001b[2J", "filter": "a = 1"}\n'
    run = fyke("match", "-s", write("\x1b[2J", line * 2), stdin=b"{}")
    assert run.code == 2
    assert "\x1b" not in run.err


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    source=st.one_of(
        st.text(max_size=30), st.binary(max_size=30).map(lambda b: b.decode("latin-1"))
    )
)
def test_any_text_as_a_filter_or_an_event(fyke, dialect, source):
    if source.startswith(("-", "@")):
        source = " " + source
    assert fyke("explain", source, "{}", "--dialect", dialect).code in (0, 1, 2)
    assert fyke("explain", "a = 1", source).code in (1, 2)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_as_files(fyke, write, content):
    assert fyke("match", "-e", "a = 1", stdin=content).code in (1, 2)
    assert fyke("lint", write("s", content), "--json").code == 2


# --- the command itself ---------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(fyke, arguments):
    run = fyke(*arguments)
    assert run.code == 0
    for name in ("match", "explain", "lint", "simulate", "demo"):
        assert name in run.out


@pytest.mark.parametrize("name", ["match", "explain", "lint", "simulate", "demo"])
def test_each_command_has_examples(fyke, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    run = fyke(name, "--help")
    assert run.code == 0
    assert f"Examples\n  fyke {name}" in run.out
    assert max(map(len, run.out.splitlines())) <= 80


def test_version(fyke):
    from importlib.metadata import version

    assert fyke("--version").out == f"fyke {version('fyke')}\n"


def test_the_real_command_refuses_with_2(command):
    process = command("zork")
    out, err = process.communicate()
    assert (process.returncode, out) == (2, b"")
    assert err.startswith(b"fyke: unknown command")
