"""A declaration is enough: documents, bytes, text, covering, summaries and matching follow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pytest

import fyke
from fyke.errors import FilterError
from fyke.filters import codec, declaration, packed
from fyke.filters.declaration import DECLARATIONS, Declaration, declare
from fyke.filters.filter import Filter, conjunction
from fyke.filters.packed import codes
from fyke.filters.predicate import Accepts, Exists
from fyke.filters.text_predicate import TextPredicate
from fyke.testing.covering import check_covers

TABLES = (
    declaration.DECLARATIONS,
    declaration.BY_MEMBER,
    declaration.BY_CODE,
    declaration.BY_KEYWORD,
    declaration.BY_FIRST_WORD,
)


@pytest.fixture
def made_of() -> Iterator[Declaration]:
    """A new operator: a string whose letters are all among those of the text."""
    before = [dict(table) for table in TABLES]

    @declare("made of", code=31, words="in letters", examples=("ab", "abc"))
    @dataclass(frozen=True, slots=True, eq=False, repr=False)
    class MadeOf(TextPredicate):
        attribute: str
        letters: str

        def __post_init__(self) -> None:
            if not self.letters:
                raise FilterError("there are no letters", expected="at least one letter")

        def key(self) -> tuple[object, ...]:
            return self.attribute, self.letters

        def accepts(self) -> Accepts:
            letters = frozenset(self.letters)
            return lambda value: type(value) is str and letters.issuperset(value)

        def covers(self, other: MadeOf) -> bool:
            return set(self.letters) >= set(other.letters)

        def some_string(self) -> str:
            return self.letters

    yield DECLARATIONS[MadeOf]
    for table, content in zip(TABLES, before, strict=True):
        table.clear()
        table.update(content)  # type: ignore[arg-type]


def test_a_new_operator_is_written_and_read(made_of: Declaration) -> None:
    filter = conjunction((made_of.make("a", "it's"), Exists("b")))
    assert str(filter) == "a in letters 'it''s' and exists b"
    assert fyke.parse(str(filter)) == filter
    document = json.loads(json.dumps(codec.to_document(filter)))
    assert document == {"and": [{"made of": ["a", "it's"]}, {"exists": "b"}]}
    assert codec.from_document(document) == filter == codec.decode(codec.encode(filter))
    names = packed.NameTable()
    assert packed.unpack(packed.pack(filter, names), names) == filter


def test_what_the_class_refuses_every_reader_refuses(made_of: Declaration) -> None:
    with pytest.raises(FilterError, match=r"there are no letters.*\(at position 13\)"):
        fyke.parse("a in letters ''")
    with pytest.raises(FilterError, match="made of: there are no letters"):
        codec.from_document({"made of": ["a", ""]})
    with pytest.raises(FilterError, match="there are no letters"):
        packed.unpack(bytes((made_of.code, 0, 1, ord("a"), 0)), packed.NameTable())


def test_a_new_operator_is_indexed_covered_and_summarised(made_of: Declaration) -> None:
    rng = Random(1)
    filters: list[Filter] = [
        made_of.make("a", "".join(rng.sample("abcd", rng.randint(1, 4)))) for _ in range(40)
    ]
    texts = ["".join(rng.choices("abcd", k=rng.randint(0, 4))) for _ in range(200)]
    events = [{"a": text} for text in texts] + [{"a": ["b", 5]}, {"b": "a"}, {"a": None}]
    pairs = [(str(at), filter) for at, filter in enumerate(filters)]
    matcher = fyke.Matcher()
    matcher.add_many(pairs)
    summary = fyke.Summary.of(pairs)
    hits = 0
    for event in events:
        wanted = sorted(key for key, filter in pairs if filter.matches(event))
        assert sorted(matcher.match(event)) == wanted
        assert summary.may_match(event) or not wanted
        hits += bool(wanted)
    assert hits > 50
    assert fyke.Summary.from_bytes(summary.to_bytes()).may_match({"a": filters[0].letters})
    covered = [(one, two) for one in filters for two in filters if fyke.covers(one, two)]
    assert len(covered) > len(filters)
    for one, two in covered:
        check_covers(one, two, events)


def test_what_is_stored_stays_readable() -> None:
    written = {each.member: (each.code, each.words) for each in DECLARATIONS.values()}
    assert written == {
        "exists": (10, ""),
        "type is": (11, ""),
        "matches": (8, "matches"),
        "in network": (9, "in cidr"),
        "residual": (13, ""),
    }
    by_hand = {*range(codes.ILIKE + 1), codes.COMPARE}
    assert by_hand.isdisjoint(declaration.BY_CODE) and max(declaration.BY_CODE) < codes.EQUAL


@pytest.mark.parametrize("each", DECLARATIONS.values(), ids=lambda each: each.member)
def test_every_example_is_read(each: Declaration) -> None:
    if each.words:
        assert each.examples
    for text in each.examples:
        assert fyke.parse(f"a {each.words} '{text}'") == each.make("a", text)


def test_a_member_a_code_and_a_keyword_are_given_once() -> None:
    for taken in ({"member": "exists", "code": 30}, {"member": "new", "code": 10}):
        with pytest.raises(AssertionError, match="taken"):
            declare(**taken)(Exists)  # type: ignore[arg-type]
