"""Texts that go wrong, or nearly: one by one, as lines, and as rows of Spark's, with one outcome.

Each stands between good ones, which it must not harm; and what a hostile text costs is bounded.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import NamedTuple

import pyarrow as pa
import pytest

from fyke import EventError, Matcher
from fyke.filters.dialects import parse
from fyke.matching import lines
from fyke.spark.reading import Reading
from tests.matching.test_document_batches import matcher_of

FILTERS = {
    "one": parse("a = 1"),
    "nested": parse("a.b = 2"),
    "last": parse("n = 49999"),
    "absent": parse("not exists a"),
}
GOOD = b'{"a": 1}'
BELOW = ["nested", "absent"]
"""Where `a` is an object: it has `a.b`, and no `a`."""
MILLION = b"[" + b"0," * 999_999 + b"0]"
MIB = 1 << 20


class Case(NamedTuple):
    """A text, and what it comes to: ids, or a part of the refusal."""

    text: bytes
    outcome: list[str] | str


CASES = {
    "CRLF": Case(b'{"a": 1}\r', ["one"]),
    "spaces around": Case(b' \t{"a": 1} \t ', ["one"]),
    "a byte order mark": Case(b'\xef\xbb\xbf{"a": 1}', ["one"]),
    "two marks": Case(b'\xef\xbb\xbf\xef\xbb\xbf{"a": 1}', "not JSON"),
    "half a mark": Case(b'\xef\xbb{"a": 1}', "not UTF-8"),
    "a NUL": Case(b'{"a": 1\x00}', "not JSON"),
    "a NUL behind": Case(b'{"a": 1}\x00', "not JSON"),
    "a NUL in a text that is skipped": Case(b'{"z": "\x00", "a": 1}', "not JSON"),
    "a NUL that is escaped": Case(b'{"z": "\\u0000", "a": 1}', ["one"]),
    "bad UTF-8 in a text that is skipped": Case(b'{"z": "\xff", "a": 1}', "not UTF-8 at byte 7"),
    "bad UTF-8 in a key that is skipped": Case(b'{"\xc3": 0, "a": 1}', "not UTF-8"),
    "a surrogate in UTF-8": Case(b'{"z": "\xed\xa0\x80", "a": 1}', "not UTF-8"),
    "a key of 64 kB": Case(b'{"%s": 0, "a": 1}' % (b"k" * 65_536), ["one"]),
    "a key of 64 kB below": Case(b'{"a": {"%s": 0, "b": 2}}' % (b"k" * 65_536), BELOW),
    "a key of 200 kB": Case(b'{"%s": 0, "a": 1}' % (b"k" * 200_000), ["one"]),
    "10,000 keys": Case(json.dumps(dict.fromkeys(map(str, range(10_000)), 1)).encode(), ["absent"]),
    "10^6 elements that are skipped": Case(b'{"z": %s, "a": 1}' % MILLION, ["one"]),
    "10^6 elements that are read": Case(b'{"n": %s, "a": 1}' % MILLION, "longer than 50000"),
    "10^6 elements below": Case(b'{"a": {"b": %s}}' % MILLION, "longer than 50000"),
    "as many as may be": Case(
        json.dumps({"n": list(range(50_000))}).encode(), ["last", "absent"]
    ),
    "a number here": Case(b'{"a": 1}', ["one"]),
    "an object there": Case(b'{"a": {"b": 2}}', BELOW),
    "both": Case(b'{"a": [1, {"b": 2}]}', ["one", "nested"]),
    "neither": Case(b'{"a": [{}, [], "1"], "a.b": "2"}', []),
    "10,000 levels that are skipped": Case(
        b'{"z": %s, "a": 1}' % (b"[" * 10_000 + b"]" * 10_000), "nested deeper than 100"
    ),
    "10,000 that stay open": Case(b'{"a": ' + b'{"a": ' * 10_000, "nested deeper than 100"),
    "no end": Case(b'{"a": 1', "not JSON"),
    "16 MiB less a little": Case(b'{"z": "%s", "a": 1}' % (b"y" * (16 * MIB - 20)), ["one"]),
    "an array": Case(b'[{"a": 1}]', "an event is a JSON object"),
    "two in a line": Case(b'{"a": 1} {"a": 1}', "not JSON"),
}  # fmt: skip


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return matcher_of("compiled", FILTERS)


@pytest.mark.parametrize("name", CASES)
def test_one_by_one(matcher: Matcher, name: str) -> None:
    text, outcome = CASES[name]
    if isinstance(outcome, str):
        with pytest.raises(EventError) as refused:
            matcher.match_json(text)
        assert outcome in str(refused.value)
        assert len(str(refused.value)) < 300
    else:
        assert sorted(matcher.match_json(text)) == sorted(outcome)


def test_as_lines(matcher: Matcher, tmp_path) -> None:
    """All in one file; a byte order mark in its middle is passed over as in a text alone."""
    texts = [text for case in CASES.values() for text in (case.text, GOOD)]
    (tmp_path / "lines").write_bytes(b"\n".join(texts) + b"\n")
    found = matcher.match_ndjson(tmp_path / "lines")
    table = found.table.to_pydict()
    check(zip(table["event"], table["subscription"], strict=True), dict(found.refused))
    assert found.events + len(found.refused) == len(texts)


def test_as_rows_of_spark(matcher: Matcher) -> None:
    texts = [text for case in CASES.values() for text in (case.text, GOOD)]
    batch = pa.record_batch({"value": pa.array(texts, pa.large_binary())})
    found = Reading("json", ("value",)).match([matcher], batch)
    check(zip(found.rows.to_pylist(), found.ids.to_pylist(), strict=True), found.bad)


def check(matches, refused: dict[int, str]) -> None:
    """Even rows are the cases, odd ones are good."""
    ids: dict[int, list[str]] = {}
    for row, id in matches:
        ids.setdefault(row, []).append(id)
    for place, (name, case) in enumerate(CASES.items()):
        row = 2 * place
        if isinstance(case.outcome, str):
            assert case.outcome in refused.pop(row), name
            assert row not in ids, name
        else:
            assert sorted(ids.get(row, [])) == sorted(case.outcome), name
        assert ids[row + 1] == ["one"], f"beside {name}"
    assert refused == {}


class Endless:
    """A line without an end, of which so many bytes come; and one that is good, behind it."""

    def __init__(self, size: int) -> None:
        self.left = size

    def read(self, size: int) -> bytes:
        if self.left <= 0:
            self.left, last = -1, b"\n" + GOOD if not self.left else b""
            return last
        size = min(size, self.left)
        self.left -= size
        return b"y" * size


def test_a_line_without_an_end_is_never_held(matcher: Matcher) -> None:
    tracemalloc.start()
    try:
        found = matcher.match_ndjson(Endless(100 * MIB))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.table.to_pydict() == {"event": [1], "subscription": ["one"]}
    assert found.refused == ((0, f"the line is longer than {lines.LENGTH_MAX} bytes"),)
    assert most < 3 * lines.LENGTH_MAX


@pytest.mark.parametrize(
    "text",
    [
        b'{"z": %s, "a": 1}' % MILLION,
        b'{"a": [%s1]}' % (b'{"b": 3},' * 40_000),
        b'{"z": %s1%s}' % (b"[" * 500_000, b"]" * 500_000),
        b'{"a": "%s"}' % (b'\\"' * 500_000),
        b'{"a": %s' % (b"1" * 1_000_000),
        b'{"%s": 1}' % (b"a." * 500_000),
        b'{%s"a": 1}' % (b'"a": [{}], ' * 100_000),
    ],
    ids=["elements", "objects", "levels", "escapes", "digits", "dots", "keys"],
)
def test_a_megabyte_of_anything_takes_a_second_at_most(matcher: Matcher, text: bytes) -> None:
    """Linear work: some 0.1 s of a core; what grows with the square would take minutes."""
    begun = time.process_time()
    for read in (matcher.match_json, matcher.match_ndjson):
        try:
            read(text)
        except EventError as refused:
            assert len(str(refused)) < 300
    assert time.process_time() - begun < 2
