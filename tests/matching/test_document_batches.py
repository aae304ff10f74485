"""Batches of documents have the verdicts of their events, one by one, in every engine and form."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.documents import in_columns
from fyke.events.json import decode_event
from fyke.filters.dialects import parse
from fyke.filters.filter import Filter
from fyke.matching import batch
from fyke.matching.engines.registry import ENGINES
from fyke.matching.matcher import Matcher
from fyke.testing import generators
from tests.events.test_documents import NASTY, REFUSED, TEXTS

FILTERS = [
    *("a is null", "a is not null", "exists a", "not exists a", "a != 1", "not a = 1", "a = null"),
    *("a in (null, 'x')", "a not in (1, null)", "a.b is null", "exists a.b", "not exists a.b"),
    *("a.b != 1", "a = 0", "a = 9007199254740993", "a > 9007199254740992", "a < 1", "a = true"),
    *("a = 'null'", "a like '%u%'", "a starts with ''", "a = a.b", "type is Stock", "true"),
    *("a = 1 and a is null", "not (a is null or a = 1)", "missing a and not a.b is null"),
]
PATTERNS = [
    {"a": [{"anything-but": [1]}]},
    {"a": [{"anything-but": ["x"]}]},
    {"a": [{"anything-but": {"prefix": "n"}}]},
    {"a": {"b": [{"anything-but": [1]}]}},
    {"a": {"b": [{"exists": False}]}},
    {"a": [None]},
    {"a": [{"exists": True}]},
    {"a": {"b": [None, 1]}},
    {"a": {"b": [None], "c": [1]}},
]


def known() -> dict[str, Filter]:
    """Filters that ask for null, and those that look at whole documents."""
    found = {text: parse(text) for text in FILTERS}
    for pattern in PATTERNS:
        found[json.dumps(pattern)] = parse(pattern, dialect="eventbridge")
    keywords = "detection:\n  words: ['null', 'x']\n  condition: words"
    found["keywords"] = parse(keywords, dialect="sigma")
    found["cesql"] = parse("EXISTS a AND NOT (a = 1)", dialect="cesql")
    return found


KNOWN = known()


def matcher_of(engine: str, filters: dict[str, Filter]) -> Matcher:
    matcher = Matcher(engine)
    matcher.add_many(filters.items())
    return matcher


def pairs(matcher: Matcher, documents: Any) -> list[tuple[int, str]]:
    found = matcher.match_batch(documents)
    assert found.schema.types == [pa.int64(), pa.string()]
    numbers = found["event"].to_pylist()
    assert numbers == sorted(numbers)
    return sorted(zip(numbers, found["subscription"].to_pylist(), strict=True))


def one_by_one(filters: dict[str, Filter], texts: list[str]) -> list[tuple[int, str]]:
    return sorted(
        (row, id)
        for row, text in enumerate(texts)
        for id, filter in filters.items()
        if filter.matches(decode_event(text))
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_nasty_documents_have_the_verdicts_of_their_events(engine):
    right = one_by_one(KNOWN, NASTY)
    assert {id for _, id in right} == KNOWN.keys()
    matcher = matcher_of(engine, KNOWN)
    assert pairs(matcher, NASTY) == right
    alone = [
        (row, id) for row, each in enumerate(NASTY) for id in matcher.match(decode_event(each))
    ]
    assert sorted(alone) == right
    for row, text in enumerate(NASTY):
        assert pairs(matcher, [text]) == [(0, id) for number, id in right if number == row]


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60)
@given(
    filters=st.lists(generators.filters(), max_size=8),
    texts=st.lists(TEXTS, min_size=1, max_size=8),
)
def test_documents_have_the_verdicts_of_their_events(engine, filters, texts):
    named = {f"f{number}": each for number, each in enumerate(filters)}
    assert pairs(matcher_of(engine, named), texts) == one_by_one(named, texts)


@settings(max_examples=60)
@given(
    filters=st.lists(generators.filters(), max_size=6),
    events=st.lists(generators.events(), max_size=6),
)
def test_events_keep_their_supertypes(filters, events):
    matcher = matcher_of("compiled", {f"f{number}": each for number, each in enumerate(filters)})
    right = [(row, id) for row, event in enumerate(events) for id in matcher.match(event)]
    assert pairs(matcher, events) == sorted(right)


@settings(max_examples=60)
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=9),
    size=st.integers(1, 4),
    first=st.integers(0, 3),
    blanks=st.randoms(use_true_random=False),
)
def test_parts_slices_and_blank_lines_shift_nothing(texts, size, first, blanks):
    matcher, right = COMPILED, one_by_one(KNOWN, texts)
    array = pa.array([*NASTY[:first], *texts, *NASTY[:2]]).slice(first, len(texts))
    lines = spaced(texts, blanks)
    number_of = [number for number, line in enumerate(lines) if line.strip()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "DOCUMENTS_MAX", size)
        assert pairs(matcher, array) == right
        assert pairs(matcher, pa.chunked_array([array.slice(0, 1), array.slice(1)])) == right
        assert pairs(matcher, iter(texts)) == right
        found = pairs(matcher, "\n".join(lines))
        assert found == pairs(matcher, "\n".join(lines).encode())
        assert found == sorted((number_of[row], id) for row, id in right)
    assert pairs(matcher, in_columns(list(map(decode_event, texts)))) == right


def spaced(texts: list[str], draw: Random) -> list[str]:
    return [line for text in texts for line in [*([""] * draw.randrange(3)), text]]


COMPILED = matcher_of("compiled", KNOWN)


@pytest.mark.parametrize("refused", REFUSED)
def test_a_document_that_is_refused_is_named_by_its_number(refused, monkeypatch):
    monkeypatch.setattr(batch, "DOCUMENTS_MAX", 2)
    with pytest.raises(fyke.EventError) as alone:
        decode_event(refused)
    expected = f"row 4: {alone.value}"
    for form in (["{}"] * 4 + [refused, "{"], pa.array([b"{}"] * 4 + [as_bytes(refused)])):
        with pytest.raises(fyke.EventError) as among:
            COMPILED.match_batch(form)
        assert str(among.value) == expected
    if refused:  # as a line it would be blank
        with pytest.raises(fyke.EventError) as among:
            COMPILED.match_batch(b"{}\n\n{}\n\n" + as_bytes(refused) + b"\n{}")
        assert str(among.value) == expected
    with pytest.raises(fyke.EventError, match="row 1: the row is null"):
        COMPILED.match_batch(pa.array(["{}", None]))


def as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


# --- five patterns -------------------------------------------------------------------------------


def generated(count: int, seed: int = 16) -> list[dict[str, Any]]:
    """Documents in which members are often null, and often missing."""
    draw = Random(seed)
    choices: dict[str, list[Any]] = {
        "source": ["aws.ec2", "aws.s3", "app", None],
        "region": ["eu-west-1", "us-east-1", None],
        "level": [1, 2, 2.5, "high", None],
        "tags": [[], ["red"], ["red", None], [None], None],
    }
    documents: list[dict[str, Any]] = []
    for _ in range(count):
        document = {
            name: draw.choice(each) for name, each in choices.items() if draw.random() < 0.8
        }
        if draw.random() < 0.8:
            document["detail"] = {"state": draw.choice(["running", "stopped", None])}
        documents.append(document)
    return documents


FIVE = {
    "source": {"source": [{"anything-but": ["aws.s3"]}]},
    "region": {"region": [{"anything-but": {"prefix": "eu-"}}]},
    "level": {"level": [{"anything-but": [1, 2]}]},
    "tags": {"tags": [{"anything-but": ["red"]}]},
    "state": {"detail": {"state": [{"anything-but": ["stopped"]}]}},
}


def test_anything_but_accepts_null_in_columns_as_it_does_one_by_one():
    documents = generated(4_000)
    matcher = Matcher()
    for id, pattern in FIVE.items():
        matcher.add(id, pattern, dialect="eventbridge")
    found = pairs(matcher, "\n".join(map(json.dumps, documents)))
    right = [(row, id) for row, document in enumerate(documents) for id in matcher.match(document)]
    assert found == sorted(right)
    plain = [
        {**each, "level": None} for each in documents
    ]  # one kind a column, as a table needs it
    in_table = matcher.match_batch(pa.Table.from_pylist(plain)).num_rows
    assert in_table < matcher.match_batch(plain).num_rows  # there null is missing
