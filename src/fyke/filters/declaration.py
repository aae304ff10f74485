"""Declarations: how a predicate is written, said once above its class.

Idea. Most predicates are a name and a text: an attribute and an expression, a dialect and a source.
Such a class declares how it is written. The rest follows from the declaration: its document
(`codec`), its bytes (`packed`), its native text, its row in a summary, and
what the generators of the tests draw.
Example.

    @declare("matches", code=8, words="matches", expected="a regular expression in quotes")
    @dataclass(frozen=True, slots=True, eq=False, repr=False)
    class Matches(TextPredicate):
        attribute: str
        pattern: str

    {"matches": ["name", "^x+$"]}       name matches '^x+$'       08, the name, the text

Invariant. A member, a code or the words of one operator never come to mean another: filters that
are stored stay readable.
Irregular. Values, intervals, patterns and comparisons of attributes have shorter forms. They are
written by hand in the same modules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from fyke.filters.filter import Filter

Kind = TypeVar("Kind", bound=type[Filter])


@dataclass(frozen=True, slots=True)
class Declaration:
    """The way in which one class of predicates is written."""

    name: str
    """The field that holds the name."""
    text: str | None
    """The field that holds the text, if there is one."""
    member: str
    """The member of a document that holds the fields."""
    code: int
    """The first byte of the packed form, below 32."""
    words: str
    """The words between attribute and text in native text; empty if the syntax is irregular."""
    expected: str
    """The text behind the words, as errors name it."""
    examples: tuple[str, ...]
    """Texts that the generators of the tests draw."""
    make: Callable[..., Filter]
    """Makes the predicate from its strings."""

    @property
    def keyword(self) -> str:
        """The last of the words."""
        return self.words.rpartition(" ")[2]

    def strings(self, filter: Filter) -> tuple[str, ...]:
        """Return the name of a predicate and, if it has one, its text."""
        if self.text is None:
            return (getattr(filter, self.name),)
        return getattr(filter, self.name), str(getattr(filter, self.text))


DECLARATIONS: Final[dict[type[Filter], Declaration]] = {}
BY_MEMBER: Final[dict[str, Declaration]] = {}
BY_CODE: Final[dict[int, Declaration]] = {}
BY_KEYWORD: Final[dict[str, Declaration]] = {}
BY_FIRST_WORD: Final[dict[str, tuple[Declaration, ...]]] = {}


def declare(
    member: str,
    *,
    code: int,
    words: str = "",
    expected: str = "a 'string'",
    examples: tuple[str, ...] = (),
) -> Callable[[Kind], Kind]:
    """Declare how a class is written. Its `from_text`, if it has one, reads the strings."""

    def register(kind: Kind) -> Kind:
        make = getattr(kind, "from_text", kind)
        name, *text = kind.__match_args__  # type: ignore[attr-defined]
        declaration = Declaration(
            name, text[0] if text else None, member, code, words, expected, examples, make
        )
        assert member not in BY_MEMBER and code not in BY_CODE, "the member or the code is taken"
        DECLARATIONS[kind] = BY_MEMBER[member] = BY_CODE[code] = declaration
        if words:
            assert declaration.keyword not in BY_KEYWORD, "the last word is taken"
            BY_KEYWORD[declaration.keyword] = declaration
            first = words.partition(" ")[0]
            BY_FIRST_WORD[first] = (*BY_FIRST_WORD.get(first, ()), declaration)
        return kind

    return register
