"""Places: where filters of which one covers the other are sure to meet.

Idea. If W covers N then N implies every clause of W, so N must speak of what the clause needs: name
one of the values of `symbol = 'A' or title in ('B', 'C')`, hold a text with the letters that a
pattern of it needs, or else speak of one of its attributes. So W may wait at the places of any one
clause; N asks at all values that it names, all short parts of its texts and all attributes that it
speaks of.

    waited("title contains 'Midnight' and price < 9")    a part of Midnight; the attribute price
    asked("title = 'Midnight' and price < 5")            both of them, and the value

Invariant. A place is a text; different places have different ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Final

from fyke.events.value import sort_key
from fyke.filters.algebra.subsumption import spoken_of
from fyke.filters.filter import And, Filter, Or, walk
from fyke.filters.predicate import In, Predicate, Range, TypeIs
from fyke.filters.text_predicate import Like
from fyke.filters.texts.glob import ONE, fold

CLAUSES_MAX: Final = 16
"""At most this many clauses of a filter are considered."""
GRAM: Final = 6
"""Characters in the parts by which texts are known."""
GRAMS_MAX: Final = 4
_ANYWHERE: Final = ""


def waited(filter: Filter) -> list[frozenset[str]]:
    """Return for each clause the places of which a covered filter asks at one, at least."""
    return _clauses(filter) or [frozenset({_ANYWHERE})]


def _clauses(filter: Filter) -> list[frozenset[str]]:
    match filter:
        case And():
            found = (clause for child in filter.children for clause in _clauses(child))
            return list(dict.fromkeys(found))[:CLAUSES_MAX]
        case Or():
            choices = product(*map(_clauses, filter.children))
            some = islice((frozenset().union(*each) for each in choices), CLAUSES_MAX)
            return list(dict.fromkeys(some))
        case In():
            return [frozenset(_value(filter.attribute, sort_key(each)) for each in filter.values)]
        case TypeIs():
            return [frozenset({_value("type", sort_key(filter.name))})]
        case Like() if grams := _needed(filter):
            return [
                frozenset({_text(filter.attribute, gram, filter.ignore_case)}) for gram in grams
            ]
        case Predicate():
            return [frozenset({_attribute(filter.attribute)})]
    return []


def _needed(pattern: Like) -> list[str]:
    """Return parts of the longest text in a pattern; none of a prefix, which intervals imply."""
    *inner, last = pattern.pattern.segments
    if len(inner) == 1 and not last:
        return []
    longest = max(_pieces(pattern), key=len, default="")
    return list(dict.fromkeys(_grams(longest)))[:GRAMS_MAX]


def _pieces(pattern: Like) -> Iterator[str]:
    """Return the texts between wildcards."""
    for segment in pattern.pattern.segments:
        yield from segment.split(ONE)


def _grams(text: str) -> Iterator[str]:
    return (text[at : at + GRAM] for at in range(len(text) - GRAM + 1))


def asked(filter: Filter) -> set[str]:
    """Return all places that have to do with a leaf of the filter."""
    found = {_ANYWHERE}
    for leaf in walk(filter):
        found.update(map(_attribute, spoken_of(leaf)))
        for attribute, text in _texts(leaf):
            found.update(_text(attribute, gram, False) for gram in _grams(text))
            found.update(_text(attribute, gram, True) for gram in _grams(fold(text)))
        if isinstance(leaf, In):
            found.update(_value(leaf.attribute, sort_key(value)) for value in leaf.values)
        elif isinstance(leaf, TypeIs):
            found.add(_value("type", sort_key(leaf.name)))
    return found


def _texts(leaf: Filter) -> Iterator[tuple[str, str]]:
    """Return the attribute and all texts of a predicate that can imply a pattern."""
    match leaf:
        case In():
            yield from ((leaf.attribute, each) for each in leaf.values if isinstance(each, str))
        case Range():
            ends = (leaf.low, leaf.high)
            yield from ((leaf.attribute, each) for each in ends if isinstance(each, str))
        case Like():
            yield from ((leaf.attribute, each) for each in _pieces(leaf))


def _text(attribute: str, gram: str, folded: bool) -> str:
    return f"{'folded' if folded else 'text'} {gram!r} in {attribute}"


def _attribute(name: str) -> str:
    return f"attribute {name}"


def _value(attribute: str, key: object) -> str:
    """Return a text that tells keys apart: 1 and true, 1 and '1'."""
    return f"value {key!r} of {attribute}"
