"""Reading a pattern: its branches, each a map from dotted paths to fields.

`$or` forks: every branch read so far continues once per alternative. A path that is written twice
in a branch keeps the later field, so order matters and a branch is built while reading.
    {"a": [1], "$or": [{"b": [2]}, {"a": [3]}]}      is      a: [1], b: [2]      or      a: [3]
Where some `$or` does not have the shape of alternatives, the whole pattern is read once more with
`$or` as an ordinary key, as event-ruler does for patterns that are older than `$or`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from fyke.errors import FilterError, shown
from fyke.filters.dialects.eventbridge.field import Field, read_field
from fyke.filters.dialects.eventbridge.source import Json, Object, read_source
from fyke.limits import Limits

Branch: TypeAlias = tuple[Field, ...]
"""Fields that must all hold, one per path, sorted by the segments of their paths."""

OR: Final = "$or"
COMBINATIONS_MAX: Final = 1000

_RESERVED_IN_OR: Final = frozenset(
    (
        *("exactly", "prefix", "suffix", "equals-ignore-case", "wildcard", "anything-but"),
        *("numeric", "cidr", "exists", "=", "<", "<=", ">", ">=", "regex"),
        *("not-wildcard", "not-equals-ignore-case", "ip-address-in-range"),
        *("ip-address-not-in-range", "date-after", "date-on-or-after", "date-before"),
        *("date-on-or-before", "in-date-range"),
    )
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A valid pattern: its JSON, and its branches, of which one must hold."""

    source: Object
    branches: tuple[Branch, ...]


def read_pattern(source: object, limits: Limits) -> Pattern:
    """Read the pattern of JSON text or of a parsed object; FilterError if it is not valid."""
    root = read_source(source, limits)
    if not isinstance(root, Object):
        raise FilterError("a pattern is not a JSON object", expected='such as {"state": ["on"]}')
    try:
        return _Reading(limits, forks=True).run(root)
    except FilterError:
        if not _mentions_or(root):
            raise
        try:
            return _Reading(limits, forks=False).run(root)
        except FilterError:
            pass
        raise


def _mentions_or(value: Json) -> bool:
    return isinstance(value, Object) and any(
        key == OR or _mentions_or(child) for key, child in value.pairs
    )


class _Reading:
    """One pass over a pattern, with budgets of predicates in all branches and letters in paths."""

    def __init__(self, limits: Limits, forks: bool) -> None:
        self.limits = limits
        self.predicates_left = limits.nodes_max
        self.letters_left = limits.text_length_max
        self.forks = forks
        self.branches: list[dict[str, Field]] = [{}]

    def run(self, root: Object) -> Pattern:
        self._object(root, "", within_or=False)
        return Pattern(root, tuple(dict.fromkeys(map(_sort, self.branches))))

    def _object(self, members: Object, prefix: str, within_or: bool) -> None:
        if not members.pairs:
            raise FilterError(f"{_place(prefix)}: the object is empty", expected="a field")
        for key, value in members.pairs:
            if self.forks and key == OR:
                self._fork(value, prefix)
            elif within_or and key in _RESERVED_IN_OR:
                raise FilterError(f"{_place(prefix)}: {shown(key)} is reserved within $or")
            elif isinstance(value, Object):
                self._object(value, f"{prefix}{key}.", within_or)
            elif isinstance(value, list):
                self._write(prefix + key, value)
            else:
                raise FilterError(
                    f"{_place(f'{prefix}{key}.')}: {shown(value)} stands alone",
                    expected="an array of values, or an object of fields",
                )

    def _fork(self, alternatives: Json, prefix: str) -> None:
        place = _place(f"{prefix}{OR}.")
        if not isinstance(alternatives, list) or len(alternatives) < 2:
            raise FilterError(
                f"{place}: no alternatives", expected="an array of two objects or more"
            )
        before, after = self.branches, []
        for alternative in alternatives:
            if not isinstance(alternative, Object):
                raise FilterError(f"{place}: {shown(alternative)}", expected="only objects")
            self._spend(sum(field.size for branch in before for field in branch.values()))
            self.branches = [dict(branch) for branch in before]
            self._object(alternative, prefix, within_or=True)
            after += self.branches
            if len(after) > COMBINATIONS_MAX:
                raise FilterError(f"{place}: more than {COMBINATIONS_MAX} combinations")
        self.branches = after

    def _write(self, path: str, values: list[Json]) -> None:
        self.letters_left -= len(path)
        if self.letters_left < 0:
            raise FilterError("the paths of the fields are too long together")
        field = read_field(path, values)
        self._spend(field.size * len(self.branches))
        for branch in self.branches:
            branch[path] = field

    def _spend(self, predicates: int) -> None:
        self.predicates_left -= predicates
        if self.predicates_left < 0:
            raise FilterError(f"the pattern has more than {self.limits.nodes_max} predicates")


def _sort(branch: dict[str, Field]) -> Branch:
    return tuple(sorted(branch.values(), key=lambda field: field.segments))


def _place(prefix: str) -> str:
    return f"field {shown(prefix[:-1])}" if prefix else "the pattern"
