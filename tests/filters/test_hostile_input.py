"""Nothing that arrives from outside takes long, takes much memory, or raises errors not ours."""

from __future__ import annotations

import contextlib
import json
import time
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events import binary
from fyke.events import json as strict_json
from fyke.filters import codec
from fyke.filters.dialects import DIALECTS

SECONDS_MAX = 5.0
"""Process time for one hostile input; each is near a million characters, on a loaded machine."""
BYTES_MAX = 400_000_000

BIG = 200_000
DEEP = 10_000

TEXTS = {
    "open parentheses": "(" * DEEP,
    "balanced parentheses": "(" * DEEP + "a = 1" + ")" * DEEP,
    "many nots": "not " * DEEP + "a = 1",
    "many ands": " and ".join(["a = 1"] * (BIG // 8)),
    "many ors": " OR ".join(["a = 1"] * (BIG // 8)),
    "blanks": " " * BIG,
    "trailing blanks": "a = 1" + " " * BIG,
    "leading blanks": "\n" * BIG + "a = 1",
    "quotes": "'" * BIG,
    "odd quotes": "'" * (BIG + 1),
    "double quotes": '"' * (BIG + 1),
    "backslashes": "\\" * BIG,
    "quoted backslashes": "a = '" + "\\" * BIG + "'",
    "one long word": "a" * BIG,
    "one long number": "a = " + "9" * BIG,
    "one long fraction": "a = 0." + "9" * BIG,
    "dots": "a" + ".a" * BIG,
    "commas": "a in (" + "1," * BIG,
    "brackets": "[" * DEEP + "]" * DEEP,
    "braces": '{"a":' * DEEP + "1" + "}" * DEEP,
    "long key": '{"' + "a" * BIG + '": [1]}',
    "wide object": "{" + ",".join(f'"k{i}": ["{i}"]' for i in range(BIG // 20)) + "}",
    "wide list": '{"a": [' + ",".join(f'"{i}"' for i in range(BIG // 8)) + "]}",
    "wildcards": '{"a": [{"wildcard": "' + "a*" * 2000 + '"}]}',
    "stars": "a like '" + "%a" * (BIG // 2) + "'",
    "regular expression": "a matches '" + "(a*)*" * 1000 + "'",
    "repeated regular expression": "a matches '" + "(" * 500 + "a" + "){2}" * 500 + "'",
    "yaml anchors": "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n",
    "yaml nesting": "a: " + "[" * DEEP,
    "yaml keys": "\n".join(f"{' ' * i}a:" for i in range(1000)),
    "yaml tag": "!!python/object/apply:os.system ['true']",
    "nulls": "\0" * BIG,
    "emoji": "😀" * (BIG // 4),
    "surrogate": "a = '\ud800'",
    "nothing": "",
    "a sigma condition": json.dumps(
        {
            "title": "x",
            "logsource": {"product": "x"},
            "detection": {"s": {"a": 1}, "condition": "(" * DEEP + "s" + ")" * DEEP},
        }
    ),
    "a das profile": "PROFILE(PRI(" + "a1=5," * (BIG // 5),
}


def bounded(work: Callable[[], object]) -> None:
    """Runs the work: only our own errors, within the time."""
    started = time.process_time()
    try:
        work()
    except fyke.FykeError as error:
        assert len(str(error)) < 2_000
    assert time.process_time() - started < SECONDS_MAX


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", TEXTS)
def test_filters(dialect: str, name: str) -> None:
    bounded(lambda: fyke.parse(TEXTS[name], dialect=dialect))


@pytest.mark.parametrize("name", TEXTS)
def test_events(name: str) -> None:
    bounded(lambda: strict_json.decode_event(TEXTS[name]))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_memory(dialect: str) -> None:
    for name in ("commas", "wide object", "stars"):
        tracemalloc.start()
        with contextlib.suppress(fyke.FilterError):
            fyke.parse(TEXTS[name], dialect=dialect)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < BYTES_MAX, name


PIECES = st.sampled_from(
    [
        *(
            "a",
            "b.c",
            '"x y"',
            "type",
            "1",
            "-1.5",
            "1e400",
            "'x'",
            "''",
            "'%",
            "_",
            "null",
            "true",
        ),
        *(
            "=",
            "!=",
            "<",
            ">=",
            "(",
            ")",
            ",",
            "{",
            "}",
            "[",
            "]",
            ":",
            '"',
            "'",
            "\\",
            "\n",
            " ",
            "|",
        ),
        *(
            "and",
            "or",
            "not",
            "in",
            "between",
            "like",
            "is",
            "exists",
            "matches",
            "residual",
            "cidr",
        ),
        *("PROFILE", "PRI", "TYPE", "IN", "BETWEEN", "EXISTS", "LIKE", "XOR", "INT(", "CONCAT("),
        *('{"prefix":"x"}', '{"anything-but":', '{"numeric":[">",1]}', '"$or"', '"exists":true'),
        *("detection:", "condition:", "selection", "1 of them", "all of", "|contains", "- ", "  "),
        *("\0", "\ud800", "😀", "é", "9" * 30, "timestamp '2024-01-01'", "interval '1 day'"),
    ]
)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=150)
@given(pieces=st.lists(PIECES, max_size=25), glue=st.sampled_from(["", " "]))
def test_garbage(dialect: str, pieces: list[str], glue: str) -> None:
    bounded(lambda: fyke.parse(glue.join(pieces), dialect=dialect))


@given(st.binary(max_size=64))
def test_bytes(data: bytes) -> None:
    bounded(lambda: strict_json.decode_event(data))
    bounded(lambda: binary.decode(data))
    bounded(lambda: codec.decode(data))


documents = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=5), PIECES), inner, max_size=3),
    ),
)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(source=documents)
def test_any_object(dialect: str, source: object) -> None:
    """Dialects whose notation is JSON or YAML also take parsed objects; all refuse what is none."""
    bounded(lambda: fyke.parse(source, dialect=dialect))


@given(st.dictionaries(st.text(max_size=5), documents, max_size=3))
def test_any_document(document: dict[str, object]) -> None:
    bounded(lambda: fyke.Event(document))
