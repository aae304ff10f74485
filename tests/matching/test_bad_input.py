"""Bad and odd input in JSON: a defined result or a refusal, the same one by one, in blocks and in a
column of Spark's, and the lines beside it are unharmed.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

from fyke import EventError, FykeError, Matcher
from fyke.matching import lines
from fyke.spark.reading import Reading

LARGE = 1_000_000
MATCHES = ["one"]
CASES: dict[str, tuple[bytes, list[str] | str]] = {
    "a carriage return": (b'{"a": 1}\r', MATCHES),
    "a tab and blanks": (b' \t{"a" : 1}\t ', MATCHES),
    "a byte order mark": (b'\xef\xbb\xbf{"a": 1}', MATCHES),
    "a NUL in a text": (b'{"a": 1, "z": "\x00"}', "control character"),
    "a NUL after the event": (b'{"a": 1}\x00', "extra data"),
    "a NUL escaped, skipped": (b'{"a": 1, "z": "\\u0000"}', MATCHES),
    "no UTF-8 in a skipped text": (b'{"a": 1, "z": "\xff"}', "not UTF-8 at byte 15"),
    "no UTF-8 in a skipped key": (b'{"a": 1, "\xc3\x28": 1}', "not UTF-8"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
    "a surrogate, skipped": (b'{"a": 1, "z": "\\ud800"}', MATCHES),
    "a surrogate, read": (b'{"a": "\\ud800"}', "surrogate"),
    "a key of 64 kB": (b'{"' + b"k" * 65_536 + b'": 0, "a": 1}', MATCHES),
    "10,000 keys": (
        b"{" + b"".join(b'"k%d": %d, ' % (at, at) for at in range(10_000)) + b'"a": 1}',
        MATCHES,
    ),
    "10^6 elements, skipped": (b'{"z": [' + b"1," * LARGE + b'1], "a": 1}', MATCHES),
    "10^6 elements, read": (b'{"a": [' + b"1," * LARGE + b"1]}", "longer than"),
    "a number too large, skipped": (b'{"z": 1e400, "a": 1}', MATCHES),
    "a number too large, read": (b'{"a": 1e400}', "attribute 'a'"),
    "an integer too large, read": (b'{"a": 9223372036854775808}', "64 bits"),
    "NaN, skipped": (b'{"z": NaN, "a": 1}', "NaN"),
    "deep, skipped": (b'{"a": 1, "z": ' + b"[" * 101 + b"]" * 101 + b"}", "nested deeper"),
    "very deep, skipped": (b'{"a": 1, "z": ' + b"[" * LARGE, "nested deeper|not JSON"),
    "a text of a megabyte": (b'{"z": "' + b"x" * LARGE + b'", "a": 1}', MATCHES),
    "a text without an end": (b'{"a": 1, "z": "', "not JSON"),
    "two events": (b'{"a": 1} {"a": 1}', "extra data"),
    "no object": (b'[{"a": 1}]', "an event is a JSON object"),
    "an object where others have a number": (b'{"a": {"b": 1}}', ["inner"]),
    "both": (b'{"a": [{"b": 1}, 1]}', ["one", "inner"]),
    "keys with dots": (b'{"a.b": 1}', ["inner"]),
}


def matcher() -> Matcher:
    made = Matcher("scan")
    made.add_many([("one", "a = 1"), ("inner", "a.b = 1")])
    return made


@pytest.fixture(params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> tuple[bytes, list[str] | str]:
    return CASES[request.param]


def test_one_by_one(case: tuple[bytes, list[str] | str]) -> None:
    text, expected = case
    if isinstance(expected, list):
        assert matcher().match_json(text) == expected
        return
    with pytest.raises(EventError, match=f"(?i){expected}"):
        matcher().match_json(text)


def test_in_a_block_and_in_a_column(case: tuple[bytes, list[str] | str]) -> None:
    text, expected = case
    texts = [b'{"a": 1}', text, b"", b'{"a": 1}']
    found = matcher().match_lines(texts)
    batch = pa.record_batch({"v": pa.array([*texts[:2], texts[3]], pa.binary())})
    column = Reading("json", ("v",)).match([matcher()], batch)
    pairs = list(zip(*found.table.to_pydict().values(), strict=True))
    in_column = list(zip(column.rows.to_pylist(), column.ids.to_pylist(), strict=True))
    assert (pairs[0], pairs[-1]) == ((0, "one"), (3, "one"))
    assert (in_column[0], in_column[-1]) == ((0, "one"), (2, "one"))
    ids = [] if isinstance(expected, str) else expected
    assert [id for _, id in pairs[1:-1]] == [id for _, id in in_column[1:-1]] == ids
    reasons = dict(found.refused)
    assert reasons == column.bad
    assert list(reasons) == ([1] if isinstance(expected, str) else [])


def test_a_stream_with_all_of_them(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Lines end at line feeds alone, whatever else they hold; so numbers stay right."""
    path = tmp_path / "events"
    path.write_bytes(b"".join(text + b"\n\r\n" for text, _ in CASES.values()))
    found = matcher().match_ndjson(path)
    refused = [2 * at for at, (_, said) in enumerate(CASES.values()) if isinstance(said, str)]
    mark = 2 * list(CASES).index("a byte order mark")
    assert [each.number for each in found.refused] == refused
    assert mark not in refused
    assert found.events == len(CASES) - len(refused)
    ids = [id for text, said in CASES.values() if isinstance(said, list) for id in said]
    assert sorted(found.table["subscription"].to_pylist()) == sorted(ids)


@pytest.mark.parametrize("end", [b"", b"\n", b'\n{"a": 1}'])
def test_a_line_of_sixteen_megabytes_is_read_and_one_byte_more_is_not(end: bytes) -> None:
    line = b'{"a": 1, "z": "'
    line += b"x" * (lines.LENGTH_MAX - len(line) - 2) + b'"}'
    found = matcher().match_ndjson(line + end)
    assert (found.refused, found.events) == ((), 2 if end[1:] else 1)
    found = matcher().match_ndjson(line[:-2] + b'x"}' + end)
    (refused,) = found.refused
    assert refused == (0, f"the line is longer than {lines.LENGTH_MAX} bytes")
    assert found.events == (1 if end[1:] else 0)


def test_what_is_no_bytes_is_refused() -> None:
    for given in (5, None, [b"{}"]):
        with pytest.raises(FykeError):
            matcher().match_json(given)  # type: ignore[arg-type]
