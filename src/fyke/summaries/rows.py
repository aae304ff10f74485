"""Rows: all rows of one attribute, of every kind of value.

A row is a set of values. Numbers, places in a declared enumeration, strings and timestamps have
lines of spans (AACS, and the spans among SACS: a string, a prefix, a string range); other patterns,
expressions and networks are languages; null, the booleans, types, presence and "a list of two or
more elements" are flags. Rows are numbered in this order: flags, lines, languages.

    Rows.of(pieces)           from pieces, which are rows as values: ("null",), (NUMBER, span), ...
    rows.find(value, event)   the rows that an event satisfies
    rows.pieces()             back
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np

from fyke.events.domain import Enumeration
from fyke.events.value import KINDS, Kind, Scalar, Value
from fyke.filters.algebra.intervals import Span, point, union
from fyke.filters.algebra.value_set import ValueSet, without
from fyke.filters.declaration import BY_KEYWORD, DECLARATIONS
from fyke.filters.predicate import ValuePredicate
from fyke.filters.text_predicate import Like, TextPredicate
from fyke.filters.texts.glob import from_like, to_like
from fyke.summaries import line as lines
from fyke.summaries.constraints import Constraint
from fyke.summaries.line import EMPTY, Ints, Line

NUMBERS, PLACES, STRINGS, MOMENTS = range(4)
LINES: Final = range(4)
FLAG, LANGUAGE = -1, 9
LINE_OF: Final = {Kind.NUMBER: NUMBERS, Kind.STRING: STRINGS, Kind.TIMESTAMP: MOMENTS}

Piece: TypeAlias = tuple[int, Any]
"""A row as a value: the number of its line and a span; FLAG and a name; LANGUAGE and a key."""

NULL: Final[Piece] = (FLAG, "null")
BOOLEANS: Final[dict[bool, Piece]] = {False: (FLAG, "false"), True: (FLAG, "true")}
PRESENT: Final[Piece] = (FLAG, "present")
LIST: Final[Piece] = (FLAG, "list")
TYPE: Final = "type "
"""The beginning of the name of a flag that a type has."""


def pieces_of(constraint: Constraint, order: Enumeration | None = None) -> list[Piece]:
    """Return a constraint as the rows that it is the union of."""
    values = constraint.values
    found: list[Piece] = [(FLAG, TYPE + name) for name in constraint.types]
    found += [PRESENT] * constraint.present + [LIST] * constraint.lists + [NULL] * values.null
    found += [BOOLEANS[each] for each in values.booleans]
    found += [(NUMBERS, span) for span in values.numbers]
    found += [(MOMENTS, span) for span in values.timestamps]
    if order is not None and (values.strings or values.languages):
        found += [(PLACES, span) for span in _places(values, order)]
        values = without(values, _members(order))
    found += [(STRINGS, span) for span in values.strings]
    found += [(LANGUAGE, key_of(language)) for language in values.languages]
    return found


def _places(values: ValueSet, order: Enumeration) -> Iterable[Span]:
    """Return the members of an enumeration that a set holds, as spans of their places."""
    for place, member in enumerate(order.values):
        if without(ValueSet(strings=(point(member),)), values).is_empty:
            yield point(place)


def _members(order: Enumeration) -> ValueSet:
    return ValueSet(strings=union(map(point, order.values)))


# --- languages ------------------------------------------------------------------------------------

Key: TypeAlias = tuple[str, str]
"""A language as data: its kind and its text."""


def key_of(language: ValuePredicate) -> Key:
    match language:
        case Like(_, pattern, ignore_case):
            return "ilike" if ignore_case else "like", to_like(pattern)
        case TextPredicate():
            declaration = DECLARATIONS[type(language)]
            return declaration.keyword, declaration.strings(language)[1]
    raise TypeError(f"{type(language).__name__} is no language")


def language_of(key: Key) -> ValuePredicate:
    """Return the language of a key; FilterError or ValueError if there is none."""
    kind, text = key
    if kind in ("like", "ilike"):
        return Like("", from_like(text), kind == "ilike")
    if kind in BY_KEYWORD:
        language = BY_KEYWORD[kind].make("", text)
        assert isinstance(language, ValuePredicate)
        return language
    raise ValueError(f"no kind of language is called {kind!r}")


def key_text(key: Key) -> str:
    """Return a language as it is written in filters."""
    return f"{key[0]} '{key[1]}'"


# --- rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """The rows of one attribute. `order` is that of the enumeration that a schema declares."""

    flags: tuple[str, ...] = ()
    lines: tuple[Line, Line, Line, Line] = (EMPTY, EMPTY, EMPTY, EMPTY)
    languages: tuple[Key, ...] = ()
    order: Enumeration | None = None

    def __len__(self) -> int:
        return len(self.flags) + sum(map(len, self.lines)) + len(self.languages)

    @staticmethod
    def of(pieces: Iterable[Piece], order: Enumeration | None = None) -> tuple[Rows, Ints]:
        """Return the rows of distinct pieces, and the row of each of them."""
        given = list(pieces)
        parts: dict[int, list[Any]] = {}
        for which, what in given:
            parts.setdefault(which, []).append(what)
        made = tuple(Line.of(parts.get(which, ())) for which in LINES)
        flags, languages = sorted(parts.get(FLAG, ())), sorted(parts.get(LANGUAGE, ()))
        rows = Rows(tuple(flags), made, tuple(languages), order)  # type: ignore[arg-type]
        places = {piece: at for at, piece in enumerate(rows.pieces())}
        return rows, np.array([places[piece] for piece in given], np.int64)

    def pieces(self) -> list[Piece]:
        """Return all rows, in their order."""
        found: list[Piece] = [(FLAG, flag) for flag in self.flags]
        for which in LINES:
            found += [(which, span) for span in self.lines[which].spans()]
        return found + [(LANGUAGE, key) for key in self.languages]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first row of each line, and of the languages."""
        at, found = len(self.flags), []
        for each in self.lines:
            found.append(at)
            at += len(each)
        return (*found, at)

    # --- searching --------------------------------------------------------------------------------

    def find(self, value: Value, is_there: bool, types: Sequence[str]) -> list[int]:
        """Return the rows that are satisfied, some perhaps twice.

        `value` is the attribute's, if it is there; `types` are those that an event conforms to.
        """
        found: list[int] = []
        flags = self._flag_rows
        if flags:
            for name in types:
                if TYPE + name in flags:
                    found.append(flags[TYPE + name])
            if is_there and "present" in flags:
                found.append(flags["present"])
        if not is_there:
            return found
        if type(value) is tuple:
            if len(value) > 1 and "list" in flags:
                found.append(flags["list"])
            for element in value:
                self._find_scalar(element, found)
        else:
            self._find_scalar(value, found)  # type: ignore[arg-type]
        return found

    def _find_scalar(self, value: Scalar, found: list[int]) -> None:
        place = self.place_of(value)
        if place is None:
            name = "null" if value is None else "true" if value else "false"
            if name in self._flag_rows:
                found.append(self._flag_rows[name])
            return
        which, value = place
        line = self.lines[which]
        if len(line):
            start = self.starts[which]
            found += [start + at for at in line.find(value)]
        if which == STRINGS and self.languages:
            start = self.starts[-1]
            found += [start + at for at, accepts in enumerate(self._accepts) if accepts(value)]

    def place_of(self, value: Scalar) -> tuple[int, Scalar] | None:
        """Return the line that a value belongs to, and what it is there."""
        which = LINE_OF.get(KINDS[type(value)])
        if which == STRINGS and self.order is not None and self.order.contains(value):
            return PLACES, self.order.index(value)
        return None if which is None else (which, value)

    @cached_property
    def _flag_rows(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.flags)}

    @cached_property
    def _accepts(self) -> list[Callable[[Any], bool]]:
        return [language_of(key).accepts() for key in self.languages]


def merged(parts: Sequence[Rows]) -> tuple[Rows, list[Ints]]:
    """Return the rows of several summaries side by side, and where each row of each is."""
    if len(parts) == 1:
        return parts[0], [np.arange(len(parts[0]))]
    flags = tuple(sorted({flag for each in parts for flag in each.flags}))
    languages = tuple(sorted({key for each in parts for key in each.languages}))
    united = [lines.union([each.lines[which] for each in parts]) for which in LINES]
    rows = Rows(flags, tuple(line for line, _ in united), languages, parts[0].order)  # type: ignore[arg-type]
    flag_at = {name: at for at, name in enumerate(flags)}
    language_at = {key: rows.starts[-1] + at for at, key in enumerate(languages)}
    mappings = []
    for number, each in enumerate(parts):
        moved = [np.array([flag_at[name] for name in each.flags], np.int64)]
        moved += [rows.starts[which] + united[which][1][number] for which in LINES]
        moved.append(np.array([language_at[key] for key in each.languages], np.int64))
        mappings.append(np.concatenate(moved))
    return rows, mappings
