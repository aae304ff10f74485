"""`fyke match` as a grep: rules from folders, events from files and output of all kinds."""

from __future__ import annotations

import bz2
import gzip
import json

import pyarrow as pa
import pytest

from fyke.matching.engines.registry import ENGINES

RULE = """
title: Shell from Word
id: 0b1f
level: high
tags: [attack.execution]
logsource: {product: windows, category: process_creation}
detection:
  selection:
    Image|endswith: '\\cmd.exe'
  condition: selection
"""
OTHER = RULE.replace("0b1f", "zeek").replace("windows", "zeek").replace("Shell", "Conn")
EVENTS = [
    {"product": "windows", "category": "process_creation", "Image": "C:\\cmd.exe", "n": 1},
    {"product": "zeek", "category": "conn", "Image": "x\\cmd.exe"},
    {"product": "windows", "category": "process_creation", "Image": "C:\\word.exe"},
]


@pytest.fixture
def rules(tmp_path):
    (tmp_path / "rules" / "deep").mkdir(parents=True)
    (tmp_path / "rules" / "word.yml").write_text(RULE)
    (tmp_path / "rules" / "deep" / "conn.yaml").write_text(OTHER)
    (tmp_path / "rules" / "pattern.json").write_text('{"n": [1]}')
    (tmp_path / "rules" / "native.fyke").write_text("n = 1 and product = 'windows'\n")
    (tmp_path / "rules" / "lines.jsonl").write_text('{"id": "line", "filter": "exists n"}\n')
    (tmp_path / "rules" / "README.md").write_text("not a rule")
    return "rules"


def ids(run):
    return [(each["event"], each["matches"]) for each in run.documents]


@pytest.mark.parametrize("engine", ["scan", "compiled"])
def test_a_folder_of_rules_in_any_dialect(fyke, write, rules, engine):
    run = fyke("match", "-s", rules, "--engine", engine, write("e", EVENTS))
    native, pattern = "rules/native.fyke", "rules/pattern.json"
    assert ids(run) == [(0, ["zeek", "line", native, pattern, "0b1f"]), (1, ["zeek", "0b1f"])]
    assert (run.code, run.err) == (0, "")


def test_single_files_patterns_of_names_and_several(fyke, write, rules):
    events = write("e", EVENTS)
    assert ids(fyke("match", "-s", "rules/word.yml", events)) == [(0, ["0b1f"]), (1, ["0b1f"])]
    run = fyke("match", "-s", "rules/**/*.y*ml", events)
    assert ids(run) == [(0, ["zeek", "0b1f"]), (1, ["zeek", "0b1f"])]
    run = fyke("match", "-s", "rules/pattern.json", "-s", "rules/lines.jsonl", events)
    assert ids(run) == [(0, ["rules/pattern.json", "line"])]
    run = fyke("match", "-e", "@rules/native.fyke", events)
    assert ids(run) == [(0, ["@rules/native.fyke"])]
    assert fyke("match", "-s", "rules/*.nope", events).code == 2


def test_log_sources_route_rules(fyke, write, rules):
    run = fyke("match", "-s", "rules/**/*.y*ml", "--logsource", write("e", EVENTS))
    assert ids(run) == [(0, ["0b1f"])]


def test_a_rule_that_cannot_be_read_or_comes_twice(fyke, write, rules, tmp_path):
    (tmp_path / "rules" / "bad.yml").write_text("detection: 5")
    (tmp_path / "rules" / "zz.yml").write_text(RULE)
    run = fyke("match", "-s", rules, write("e", EVENTS))
    assert len(run.documents) == 2
    assert run.code == 2
    assert "fyke: rules/bad.yml: the rule has no detection" in run.err
    assert "fyke: rules/zz.yml: the id '0b1f' is taken by rules/word.yml" in run.err


def test_format_fills_in_what_is_known(fyke, write, rules):
    text = "{level} {title} [{tags}] {Image} {missing} {event} {{}} {file}"
    run = fyke("match", "-s", "rules/word.yml", "--format", text, write("e", EVENTS[:1]))
    assert run.out == "high Shell from Word [attack.execution] C:\\cmd.exe - 0 {} e\n"
    run = fyke("match", "-e", "a = 1", "--format", "{a.b}", stdin=b'{"a": [1, {"b": "x\\ny"}]}')
    assert run.out == "x\\ny\n"


COMPRESSED = {
    "e.jsonl": bytes,
    "e.jsonl.gz": gzip.compress,
    "e.jsonl.bz2": bz2.compress,
    "e.jsonl.zst": lambda text: pa.compress(text, "zstd", asbytes=True),
    "two.gz": lambda text: gzip.compress(text[:5]) + gzip.compress(text[5:]),
}


@pytest.mark.parametrize("name", COMPRESSED)
def test_compressed_events(fyke, write, name):
    text = "".join(json.dumps(each) + "\n" for each in EVENTS).encode()
    run = fyke("match", "-e", "n = 1", write(name, COMPRESSED[name](text)))
    assert (ids(run), run.err) == ([(0, ["n = 1"])], "")


@pytest.mark.parametrize("name", ["e.gz", "e.bz2", "e.zst"])
def test_what_is_not_compressed_as_its_name_says(fyke, write, name):
    for content in (b'{"n": 1}\n', b""):
        run = fyke("match", "-e", "n = 1", write(name, content))
        assert run.code in ((2,) if content else (1, 2))
        assert run.out == ""


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n "])
def test_arrays_and_pretty_printed_json(fyke, write, indent, mark):
    array = write("array", mark + json.dumps(EVENTS, indent=indent))
    pretty = write("pretty", mark + "\n\n".join(json.dumps(each, indent=2) for each in EVENTS))
    for path in (array, pretty):
        run = fyke("match", "-e", "product = 'windows'", path)
        assert [number for number, _ in ids(run)] == [0, 2]
    run = fyke("match", "-e", "n = 1", "--events", array)
    assert [json.loads(line) for line in run.out.splitlines()] == EVENTS[:1]


@pytest.mark.parametrize("content", ["[1, 2", "[", '{\n "a": 1', "[" * 2000, '{\n"a": 1}\nx'])
def test_json_that_is_not_whole(fyke, write, content):
    run = fyke("match", "-e", "a = 1", write("e", content))
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("fyke: e: ")


def test_an_element_that_is_no_event_is_reported(fyke, write):
    run = fyke("match", "-e", "a = 1", write("e", '[{"a": 1}, 5, {"a": 1}]'))
    assert [number for number, _ in ids(run)] == [0, 2]
    assert "fyke: e:2: an event is a JSON object, not a number" in run.err


@pytest.mark.parametrize("engine", ENGINES)
def test_events_inverted_limited_and_quiet(fyke, write, engine):
    first = write("first", '{"a": 1}\n{"a":  2}\n\n{"a": 1}\n{"a": tru}\n{"b": 1}\n')
    second = write("second", '{"a": 1}\n')
    run = fyke("match", "-e", "a = 1", "--engine", engine, "--events", first, second)
    assert (run.out, run.code) == ('{"a": 1}\n{"a": 1}\n{"a": 1}\n', 2)
    run = fyke("match", "-e", "a = 1", "--engine", engine, "-v", "--events", first, second)
    assert run.out == '{"a":  2}\n{"b": 1}\n'
    run = fyke("match", "-e", "a = 1", "--engine", engine, "-m", "1", first, second)
    assert run.documents == [
        {"file": "first", "event": 0, "matches": ["a = 1"]},
        {"file": "second", "event": 0, "matches": ["a = 1"]},
    ]
    assert run.code == 0, "what was not read is no problem"
    run = fyke("match", "-e", "a = 1", "--engine", engine, "-q", first, "missing")
    assert (run.out, run.err, run.code) == ("", "", 0)
    assert fyke("match", "-e", "a = 7", "--engine", engine, "-q", second).code == 1
    assert fyke("match", "-e", "a = 1", "--engine", engine, "-c", "-v", second, first).out == "2\n"


def test_files_by_patterns(fyke, write):
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        write(name, '{"a": 1}\n')
    run = fyke("match", "-e", "a = 1", "*.jsonl")
    assert [each["file"] for each in run.documents] == ["a.jsonl", "b.jsonl"]


EXPANDED = RULE.replace("Image|endswith: '\\cmd.exe'", "User|expand: '%Admins%'")
MAPPING = """
fields: {Image: process.path, User: user}
logsources:
  - logsource: {product: windows}
    where: "channel = 'S'"
"""


def test_a_rule_file_as_a_filter(fyke, write, rules):
    events = write("e", EVENTS)
    run = fyke("match", "-e", "@rules/word.yml", "--format", "{id}: {title}", events)
    assert run.out.splitlines() == ["@rules/word.yml: Shell from Word"] * 2
    run = fyke("match", "-e", "@rules/pattern.json", "-e", "exists n", events)
    assert ids(run) == [(0, ["@rules/pattern.json", "exists n"])]
    run = fyke("match", "-e", "@rules/word.yml", "--dialect", "sigma", events)
    assert ids(run) == [(0, ["@rules/word.yml"]), (1, ["@rules/word.yml"])]
    assert "rules/none.yml: there is no such file" in fyke("match", "-e", "@rules/none.yml").err


@pytest.mark.parametrize("values", ["Admins: [root, adm*]", '{"Admins": ["root", "adm*"]}'])
def test_values_of_placeholders(fyke, write, values):
    rule, events = write("r.yml", EXPANDED), write("e", [{"User": "Admin"}, {"User": "ann"}])
    run = fyke("match", "-s", rule, "--values", write("values", values), events)
    assert (ids(run), run.err) == ([(0, ["0b1f"])], "")
    run = fyke("match", "-s", rule, events)
    assert "the placeholder %Admins% has no values" in run.err
    assert run.code == 2


def test_a_mapping_of_fields_and_log_sources(fyke, write, rules):
    mapping = write("mapping.yml", MAPPING)
    events = write("e", [{"process": {"path": "c:\\cmd.exe"}, "channel": c} for c in "ST"])
    run = fyke("match", "-s", "rules/word.yml", "--mapping", mapping, events)
    assert ids(run) == [(0, ["0b1f"]), (1, ["0b1f"])]
    run = fyke("match", "-e", "@rules/word.yml", "--mapping", mapping, "--logsource", events)
    assert ids(run) == [(0, ["@rules/word.yml"])]


@pytest.mark.parametrize(
    ("option", "content"),
    [("--mapping", "fields: 5"), ("--mapping", "a: ["), ("--values", "a"), ("--values", "\x00")],
)
def test_a_mapping_that_cannot_be_read(fyke, write, rules, option, content):
    run = fyke("match", "-s", "rules/word.yml", option, write("m", content), write("e", EVENTS))
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("fyke: m: ")


def damaged_gz(text: bytes) -> bytes:
    return gzip.compress(text)[:10] + b"\xff" * 20


TORN = {
    "torn.gz": lambda text: gzip.compress(text)[:-20],
    "damaged.gz": damaged_gz,
    "torn.bz2": lambda text: bz2.compress(text)[:-20],
    "torn.zst": lambda text: pa.compress(text, "zstd", asbytes=True)[:-20],
}


@pytest.mark.parametrize("name", TORN)
def test_a_compressed_file_that_is_torn(fyke, write, name):
    text = b"".join(b'{"n": %d}\n' % (at * at) for at in range(5_000))
    run = fyke("match", "--count", "-e", "n >= 0", write(name, TORN[name](text)))
    assert run.code == 2
    assert run.err.startswith(f"fyke: {name}: ")
    assert run.err.count("\n") == 1


def test_a_compressed_file_is_left_early(fyke, write):
    text = b"".join(b'{"n": %d}\n' % at for at in range(400_000))
    run = fyke("match", "-m", "2", "-e", "n >= 0", write("e.gz", gzip.compress(text, 1)))
    assert (len(run.documents), run.code) == (2, 0)
