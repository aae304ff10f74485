"""`fyke match`: what it prints, its exit codes, and its pipes."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke.cli.reading.inputs import Source
from fyke.cli.reading.lines import lines
from fyke.cli.writing.problems import Problems
from fyke.matching.engines.registry import ENGINES

SUBSCRIPTIONS = [
    {"id": "cheap", "filter": "price < 10"},
    {"id": "a", "filter": "symbol = 'A' or symbol starts with 'OT'"},
    {"id": "bridge", "filter": {"price": [{"numeric": ["<", 10]}]}, "dialect": "eventbridge"},
    {"id": "nobody", "filter": "price > 1000 and price < 0"},
]
EVENTS = [
    {"symbol": "OTE", "price": 8.4},
    {"symbol": "B", "price": 80},
    {"symbol": "A", "price": None},
    {"symbol": ["x", "A"], "price": -0.0},
    {},
]
EXPECTED = [
    {"event": 0, "matches": ["cheap", "a", "bridge"]},
    {"event": 2, "matches": ["a"]},
    {"event": 3, "matches": ["cheap", "a", "bridge"]},
]


def test_a_line_per_event_that_matched(fyke, write):
    run = fyke("match", "-s", write("s", SUBSCRIPTIONS), write("e", EVENTS))
    assert run.documents == EXPECTED
    assert run.err == ""
    assert run.code == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_finds_the_same(fyke, write, engine):
    run = fyke("match", "-s", write("s", SUBSCRIPTIONS), "--engine", engine, write("e", EVENTS))
    assert run.documents == EXPECTED


@pytest.mark.parametrize("dash", [[], ["-"]])
def test_events_from_standard_input(fyke, write, tmp_path, dash):
    write("e", EVENTS)
    run = fyke("match", "-s", write("s", SUBSCRIPTIONS), *dash, stdin=(tmp_path / "e").read_bytes())
    assert run.documents == EXPECTED


def test_subscriptions_from_standard_input(fyke, write, tmp_path):
    write("s", SUBSCRIPTIONS)
    run = fyke("match", "-s", "-", write("e", EVENTS), stdin=(tmp_path / "s").read_bytes())
    assert run.documents == EXPECTED


def test_filters_on_the_command_line(fyke, write):
    events = write("e", EVENTS)
    run = fyke("match", "-e", "price < 10", "-e", "exists symbol", events)
    assert run.documents[:2] == [
        {"event": 0, "matches": ["price < 10", "exists symbol"]},
        {"event": 1, "matches": ["exists symbol"]},
    ]
    assert fyke("match", "--filter=price = 80", events).documents == [
        {"event": 1, "matches": ["price = 80"]}
    ]


def test_nothing_matched(fyke, write):
    run = fyke("match", "-e", "price > 1000", write("e", EVENTS))
    assert (run.code, run.out, run.err) == (1, "", "")


def test_no_events_match_nothing(fyke, write):
    run = fyke("match", "-e", "price > 1000", write("e", ""))
    assert (run.code, run.out, run.err) == (1, "", "")


def test_count_is_the_number_of_events_that_matched(fyke, write):
    events = write("e", EVENTS)
    assert fyke("match", "-c", "-e", "exists symbol", "-e", "price < 10", events).out == "4\n"
    run = fyke("match", "--count", "-e", "price > 1000", events)
    assert (run.code, run.out) == (1, "0\n")


def test_dialect_is_the_default_of_lines_that_name_none(fyke, write):
    subscriptions = write(
        "s",
        [
            {"id": "bridge", "filter": {"symbol": [{"prefix": "O"}]}},
            {"id": "bridge as text", "filter": '{"symbol": [{"prefix": "O"}]}', "dialect": None},
            {"id": "own", "filter": "symbol = 'OTE'", "dialect": "fyke"},
        ],
    )
    run = fyke("match", "-s", subscriptions, "--dialect", "eventbridge", write("e", EVENTS))
    assert run.documents == [{"event": 0, "matches": ["bridge", "bridge as text", "own"]}]


def test_explain_adds_the_clauses_that_held(fyke, write):
    filter = "price < 10 and (symbol = 'A' or symbol starts with 'OT') and not exists urgent"
    run = fyke("match", "--explain", "-e", filter, write("e", EVENTS[:1]))
    assert run.documents[0]["explain"] == {
        filter: [
            {"clause": "price < 10", "seen": {"price": 8.4}},
            {"clause": "symbol starts with 'OT'", "seen": {"symbol": "OTE"}},
            {"clause": "not exists urgent", "seen": {}, "absent": ["urgent"]},
        ]
    }


def test_schema_gives_events_their_supertypes(fyke, write):
    schema = write("schema.json", '{"types": {"Share": {"supertypes": ["Stock"]}, "Stock": {}}}')
    events = write("e", [{"type": "Share"}, {"type": "Bond"}])
    assert fyke("match", "-e", "type is Stock", events).code == 1
    run = fyke("match", "-e", "type is Stock", "--schema", schema, events)
    assert run.documents == [{"event": 0, "matches": ["type is Stock"]}]


def test_filters_that_probably_mean_something_else_are_mentioned(fyke, write):
    schema = write("schema.json", '{"attributes": {"price": {"domain": "real"}}}')
    events = b'{"symbol": "A", "price": 1}\n'
    run = fyke("match", "-e", 'symbol = "A"', "-e", "price < 5", stdin=events)
    assert run.documents == [{"event": 0, "matches": ["price < 5"]}]
    assert run.err == (
        """fyke: subscription 'symbol = "A"': symbol = "A" compares two attributes; """
        "did you mean `'A'`?\n"
    )
    assert run.code == 0, "it could be read"
    subscriptions = write("s", [{"id": "cheap", "filter": "prise < 5"}])
    run = fyke("match", "-s", subscriptions, "--schema", schema, stdin=events)
    assert "'cheap': the attribute 'prise' is not declared; did you mean `price`?" in run.err
    assert run.code == 1
    assert fyke("match", "-s", subscriptions, stdin=events).err == ""


def test_blank_lines_count_as_lines(fyke):
    run = fyke("match", "-e", "a = 1", stdin=b'\n{"a": 1}\r\n \t\n\r\n{"a": 1.0}')
    assert [each["event"] for each in run.documents] == [1, 4]
    assert run.code == 0


def test_a_byte_order_mark_is_tolerated(fyke, write):
    subscriptions = write("s", b'\xef\xbb\xbf{"id": "x", "filter": "a = 1"}\n')
    run = fyke("match", "-s", subscriptions, stdin=b'\xef\xbb\xbf{"a": 1}\n')
    assert (run.code, run.documents) == (0, [{"event": 0, "matches": ["x"]}])
    assert fyke("match", "-s", subscriptions, stdin=b"\xef\xbb\xbf\n").code == 1


def test_ids_and_values_beyond_ascii_pass_unharmed(fyke, write):
    subscriptions = write("s", [{"id": "日本 \u202e\x1b[31m", "filter": "\"größe\" = 'ß'"}])
    run = fyke("match", "-s", subscriptions, stdin='{"größe": "ß"}\n'.encode())
    assert run.documents == [{"event": 0, "matches": ["日本 \u202e\x1b[31m"]}]


# --- lines ----------------------------------------------------------------------------------------


class _Silent(Problems):
    def report(self, place, problem):
        self.count += 1


@settings(max_examples=300)
@given(st.lists(st.text("ab \r", max_size=9).map(str.encode)), st.booleans(), st.integers(1, 12))
def test_lines_are_those_of_split_within_the_limit(contents, ends, length_max):
    import io

    text = b"\n".join(contents) + (b"\n" if ends else b"")
    problems = _Silent()
    found = list(lines(Source("x", io.BytesIO(text)), problems, length_max))
    parts = list(enumerate(text.split(b"\n")))
    fits = [(n, part) for n, part in parts if len(part) <= length_max]
    assert [(line.number, line.content.rstrip(b"\n")) for line in found] == [
        (n, part) for n, part in fits if part.strip()
    ]
    assert problems.count == len(parts) - len(fits)


# --- the real command -----------------------------------------------------------------------------


def test_matches_leave_before_the_input_ends(command):
    process = command("match", "-e", "a = 1")
    patience = threading.Timer(20, process.kill)
    patience.start()
    for number in range(3):
        process.stdin.write(b'{"a": 1}\n')
        process.stdin.flush()
        assert process.stdout.readline() == b'{"event":%d,"matches":["a = 1"]}\n' % number
    patience.cancel()
    assert process.communicate() == (b"", b"")
    assert process.returncode == 0


def test_a_reader_that_leaves_early_is_no_error(command, write):
    write("e", [{"a": 1}] * 20_000)
    process = command("match", "-e", "a = 1", "e")
    first = process.stdout.readline()
    assert first.startswith(b'{"event":0'), process.stderr.read()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=30) == 141


def test_interrupt_leaves_no_traceback(command):
    process = command("match", "-e", "a = 1")
    process.stdin.write(b'{"a": 1}\n')
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == (b"", b"")
    assert process.returncode == 130


def test_output_is_utf8_whatever_the_locale(command):
    process = command("match", "-e", "a = 'é'", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    out, err = process.communicate('{"a": "é"}\n'.encode())
    assert (out, err) == ('{"event":0,"matches":["a = \'é\'"]}\n'.encode(), b"")


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_is_a_sentence(tmp_path):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fyke", "match", "-e", "a = 1"],
            input=b'{"a": 1}\n',
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"fyke: cannot write the output: ")


@pytest.mark.parametrize(
    ("calls", "heavy"),
    [
        (
            "main(['match', '-e', 'a = 1']); main(['lint', 's']); main(['explain', 'a = 1', '{}'])",
            "{'numba', 'pyarrow', 'pandas', 'pyspark'}",
        ),
        (  # rows are drawn in columns, by pyarrow, which loads a pandas that is there
            "main(['demo', '--events', '1', '--subscriptions', '1'])",
            "{'numba', 'pyspark'}",
        ),
    ],
)
def test_no_heavy_library_is_loaded(tmp_path, calls, heavy):
    code = (
        f"import sys; from fyke.cli.main import main; {calls};"
        f"sys.exit(' '.join({heavy} & sys.modules.keys()) or 0)"
    )
    (tmp_path / "s").write_text('{"id": "x", "filter": "a = 1"}\n')
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, input=b"", capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


# --- what is declared -----------------------------------------------------------------------------

LEVELS = '{"attributes": {"level": {"domain": {"enumeration": ["low", "medium", "high"]}}}}'


def test_an_enumeration_compares_in_its_order(fyke, write):
    events = b'{"level": "high"}\n{"level": "low"}\n{"level": "medium"}\n{}\n'
    schema = write("schema", LEVELS)
    subscriptions = write("s", [{"id": "up", "filter": "level > 'low'"}])
    run = fyke("match", "-s", subscriptions, "--schema", schema, stdin=events)
    assert [each["event"] for each in run.documents] == [0, 2]
    run = fyke("match", "-e", "not level > 'low'", "--schema", schema, stdin=events)
    assert [each["event"] for each in run.documents] == [1, 3]
    run = fyke("match", "-s", subscriptions, stdin=events)
    assert [each["event"] for each in run.documents] == [2], "without a schema text is text"


def test_a_comparison_with_no_member_is_reported(fyke, write):
    schema = write("schema", LEVELS)
    run = fyke("match", "-e", "level > 'lwo'", "--schema", schema, stdin=b"{}\n")
    assert run.code == 2
    assert "'lwo' has no place in the order of 'low', 'medium', 'high'" in run.err
    lines = [{"id": "bad", "filter": "level > 'lwo'"}, {"id": "good", "filter": "level > 'low'"}]
    run = fyke("match", "-s", write("s", lines), "--schema", schema, stdin=b'{"level": "high"}\n')
    assert run.documents == [{"event": 0, "matches": ["good"]}]
    assert run.code == 2 and "'lwo'" in run.err


TIMES = b"""{"a": {"at": "2026-01-31T12:00:00Z"}}
{"a": {"at": "2025-01-31T12:00:00+02:00"}}
{"a": {"at": null}}
{"a": {"at": "later"}}
"""


def test_text_is_read_as_timestamps_where_that_is_said(fyke, write):
    filter = ("-e", "a.at > timestamp '2026-01-01'")
    run = fyke("match", *filter, stdin=TIMES)
    assert (run.documents, run.code) == ([], 1)
    run = fyke("match", *filter, "--timestamps", "b,a.at", stdin=TIMES)
    assert [each["event"] for each in run.documents] == [0]
    assert run.code == 2
    assert ":4: attribute 'a.at': 'later' is no timestamp" in run.err
    schema = write("schema", '{"attributes": {"a.at": {"domain": "timestamp"}}}')
    run = fyke("match", *filter, "--schema", schema, stdin=TIMES.splitlines()[0])
    assert [each["event"] for each in run.documents] == [0]


def test_names_of_timestamps_that_cannot_be_meant(fyke, write):
    run = fyke("match", "-e", "true", "--timestamps", "a,,b", stdin=b"{}")
    assert run.code == 2 and "expected names of attributes" in run.err
    run = fyke(
        "match", "-e", "true", "--timestamps", "level", "--schema", write("s", LEVELS), stdin=b"{}"
    )
    assert run.code == 2 and "not as a timestamp" in run.err
