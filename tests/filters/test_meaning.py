"""What a filter accepts, against a second reading of what its words say.

Here nothing is compiled, cached or taken together: numbers are fractions, patterns are regular
expressions, lists are walked element by element and pair by pair.
"""

from __future__ import annotations

import ipaddress
import operator
import re
from fractions import Fraction
from random import Random
from typing import Any

from hypothesis import given

from fyke.events.event import Event
from fyke.events.value import Scalar
from fyke.filters.comparison import Compare
from fyke.filters.filter import And, Constant, Filter, Not, Or
from fyke.filters.predicate import Exists, In, NotIn, Range, TypeIs
from fyke.filters.text_predicate import InNetwork, Like, Matches
from fyke.filters.texts.glob import ONE
from fyke.testing.generators import randoms
from fyke.testing.related import events_about, leaf, tree
from fyke.testing.stories.reaching import examples, reached, reaches

HOLDS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def sort_of(value: Scalar) -> tuple[str, Any]:
    """The kind of a value, and the value itself as something that compares exactly."""
    match value:
        case None | bool() | str():
            return type(value).__name__, value
    if hasattr(value, "year"):
        return "timestamp", value
    if isinstance(value, float) and not (value.is_integer() and -(2**63) <= value < 2**63):
        return "number", Fraction(repr(value))
    return "number", Fraction(value)


def compares(left: Scalar, sign: str, right: Scalar) -> bool:
    """Values of different kinds are unequal and have no order; nor have nulls and booleans."""
    (one, ours), (other, theirs) = sort_of(left), sort_of(right)
    if sign in ("=", "!="):
        return (one == other and ours == theirs) is (sign == "=")
    return one == other and one in ("number", "str", "timestamp") and HOLDS[sign](ours, theirs)


def folded(char: str) -> str:
    return next((each for each in (char.casefold(), char.lower()) if len(each) == 1), char)


def fits(text: str, like: Like) -> bool:
    text = "".join(map(folded, text)) if like.ignore_case else text
    pieces = ("".join("." if c == ONE else re.escape(c) for c in s) for s in like.pattern.segments)
    return re.fullmatch(".*".join(pieces), text, re.DOTALL) is not None


def is_within(text: str, network: object) -> bool:
    try:
        return ipaddress.ip_address(text) in network  # type: ignore[operator]
    except ValueError:
        return False


def accepts(filter: Filter, value: Scalar) -> bool:
    """What a predicate says of one element."""
    match filter:
        case In(_, values):
            return any(compares(value, "=", each) for each in values)
        case NotIn(_, values):
            return all(compares(value, "!=", each) for each in values)
        case Range(_, low, high, low_open, high_open):
            above = low is None or compares(value, ">" if low_open else ">=", low)
            below = high is None or compares(value, "<" if high_open else "<=", high)
            return above and below
        case Like():
            return isinstance(value, str) and fits(value, filter)
        case Matches(_, pattern):
            return isinstance(value, str) and re.search(pattern, value) is not None
        case InNetwork(_, network):
            return isinstance(value, str) and is_within(value, network)
    raise TypeError(filter)


def elements(event: Event, name: str) -> tuple[Scalar, ...]:
    """None at all where the attribute is missing."""
    value = event.attributes.get(name, ())
    return value if isinstance(value, tuple) else (value,)


def means(filter: Filter, event: Event) -> bool:
    match filter:
        case Constant(value):
            return value
        case And():
            return all(means(child, event) for child in filter.children)
        case Or():
            return any(means(child, event) for child in filter.children)
        case Not():
            return not means(filter.child, event)
        case Exists(name):
            return name in event.attributes
        case TypeIs(name):
            return name in event.supertypes or name in elements(event, "type")
        case Compare(name, sign, other):
            return any(
                compares(left, sign, right)
                for left in elements(event, name)
                for right in elements(event, other)
            )
    return any(accepts(filter, value) for value in elements(event, filter.attribute))  # type: ignore[attr-defined]


@reaches(accepted=0.25, refused=0.25)
@examples(3)
@given(randoms())
def test_a_predicate_accepts_what_its_words_say(rng: Random) -> None:
    filter = leaf(rng)
    for event in events_about(rng, [filter], 40):
        expected = means(filter, event)
        reached(accepted=expected, refused=not expected)
        assert filter.matches(event) is expected, (str(filter), event)


@reaches(accepted=0.25, refused=0.25)
@given(randoms())
def test_a_tree_accepts_what_its_words_say(rng: Random) -> None:
    filter = tree(rng, leaves=5)
    for event in events_about(rng, [filter], 40):
        expected = means(filter, event)
        reached(accepted=expected, refused=not expected)
        assert filter.matches(event) is expected, (str(filter), event)


LISTS: list[tuple[Scalar, ...]] = [
    *((), (None,), (1,), (1, 2), (2, 1), (1.5, "a"), ("a",), ("b", None), (True,), (True, 1)),
]


@reaches(held=0.2)
@given(randoms())
def test_attributes_are_compared_pair_by_pair(rng: Random) -> None:
    left, right = rng.choice(LISTS), rng.choice(LISTS)
    event = Event.flat({"a": left, "a.b": right[0] if len(right) == 1 else right})
    for sign in HOLDS:
        filter = Compare("a", sign, "a.b")
        expected = means(filter, event)
        reached(held=expected)
        assert filter.matches(event) is expected, (str(filter), event)
