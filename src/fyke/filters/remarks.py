"""Remarks: filters that can be read and probably mean something else.

    symbol = "A"      compares two attributes; 'A' is the string
    prise < 10        where a schema declares `price`, and no `prise`
    type is Stokc     where it declares Stock

A name in double quotes is remarked on only to the right of a comparison and if the parser saw the
quotes. It stays without remark where a schema declares both attributes. A schema does not forbid
other names than those it declares, so one that is not near to any of them stays without remark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fyke.errors import shown
from fyke.events.validation import ENVELOPE
from fyke.filters.comparison import Compare
from fyke.filters.filter import Filter, walk
from fyke.filters.predicate import In, NotIn, Predicate, TypeIs

if TYPE_CHECKING:
    from fyke.events.schema import Schema

_QUOTED: Final = re.compile(r'[=<>]\s*"')


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd about a filter, and what was probably meant, as it is written."""

    problem: str
    meant: str
    is_quoted: bool = False
    """True if the remark is about a name in double quotes."""

    def __str__(self) -> str:
        return f"{self.problem}; did you mean `{self.meant}`?"


def may_be_quoted(text: str) -> bool:
    """Return True if a native filter may compare with a name in quotes, by a look at its text."""
    return '"' in text and _QUOTED.search(text) is not None


def remarks(filter: Filter, schema: Schema | None = None) -> list[Remark]:
    """Return all remarks on a filter, each once, in the order of its predicates."""
    found: dict[Remark, None] = {}
    for leaf in walk(filter):
        if isinstance(leaf, Predicate):
            misspelt = _misspelt(leaf, schema) if schema is not None else []
            if isinstance(leaf, Compare) and leaf.is_quoted and not misspelt:
                misspelt = _quoted(leaf, schema)
            found |= dict.fromkeys(misspelt)
    return list(found)


def _quoted(leaf: Compare, schema: Schema | None) -> list[Remark]:
    if schema is not None and None not in map(schema.attribute, (leaf.attribute, leaf.other)):
        return []
    doubled, single = leaf.other.replace('"', '""'), leaf.other.replace("'", "''")
    written = f'{leaf.attribute} {leaf.operator} "{doubled}"'
    return [Remark(f"{written} compares two attributes", f"'{single}'", is_quoted=True)]


def _misspelt(leaf: Predicate, schema: Schema) -> list[Remark]:
    names = [leaf.attribute, leaf.other] if isinstance(leaf, Compare) else [leaf.attribute]
    found = []
    for name in names:
        if name not in ENVELOPE and (meant := schema.nearest_attribute(name)) is not None:
            found.append(Remark(f"the attribute {shown(name)} is not declared", meant))
    for name in _types_named(leaf):
        if (meant := schema.nearest_type(name)) is not None:
            found.append(Remark(f"the type {shown(name)} is not declared", meant))
    return found


def _types_named(leaf: Predicate) -> Sequence[str]:
    """Return the types that a predicate names."""
    if isinstance(leaf, TypeIs):
        return [leaf.name]
    if leaf.attribute == "type" and isinstance(leaf, In | NotIn):
        return [value for value in leaf.values if isinstance(value, str)]
    return ()
