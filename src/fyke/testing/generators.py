"""Hypothesis generators of scalars, events and filters: few names, nasty values.

Needs hypothesis, which is a development dependency; nothing outside `fyke.testing` imports this
module.
"""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

from hypothesis import strategies as st

from fyke.events.event import Event
from fyke.events.number import ExactDecimal
from fyke.events.value import Scalar, canonical
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.comparison import COMPARISONS, Compare
from fyke.filters.declaration import DECLARATIONS
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction, disjunction, negation
from fyke.filters.texts.glob import ONE, glob

NAMES = ["a", "b", "c.d", "type", "weird name", "null"]
NUMBERS = [
    *(0, 1, 2, 3, 5, -1, 0.5, 1.5, -0.0, 1e300, 5e-324),
    *(2**53, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63), 0.1, 2.0**-30, 2.0**64),
]
DECIMALS = [
    ExactDecimal(text) for text in ("0.10000000000000001", "18446744073709551616", f"{10**36}.5")
]
STRINGS = [
    *("", "a", "ab", "abc", "b", "ba", "A", "aB", "x%y", "a_b", "it's", "10.1.2.3", "5"),
    *("é", "ß", "ı", "K", "日本", "\U0010ffff"),
]
MOMENTS = [
    datetime(2024, 1, 1, tzinfo=UTC),
    datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime(2023, 12, 31, 23, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
]
TYPES = ["Thing", "Stock", "Share", "a b"]


def randoms() -> st.SearchStrategy[Random]:
    """Return a strategy of random sources, for functions of one, such as all of `related`."""
    return st.randoms(use_true_random=True)


def names() -> st.SearchStrategy[str]:
    return st.sampled_from(NAMES)


def numbers() -> st.SearchStrategy[int | float]:
    """Return numbers that JSON keeps."""
    return st.one_of(
        st.sampled_from(NUMBERS),
        st.integers(-3, 6),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
    )


def decimals() -> st.SearchStrategy[Scalar]:
    """Return decimals: for some of them there is a float64, for others not."""
    return st.one_of(
        st.sampled_from(DECIMALS),
        st.decimals(-10, 10, places=2).map(canonical),
        st.decimals(-(10**20), 10**20, places=17).map(canonical),
    )


def strings() -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(STRINGS),
        st.text("ab", max_size=4),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    )


def moments() -> st.SearchStrategy[datetime]:
    return st.sampled_from(MOMENTS)


def scalars() -> st.SearchStrategy[Scalar]:
    return st.one_of(st.none(), st.booleans(), numbers(), decimals(), strings(), moments())


def values() -> st.SearchStrategy[object]:
    """Return a scalar or a list of scalars, often empty or short."""
    return st.one_of(scalars(), scalars(), st.lists(scalars(), max_size=3))


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Return events over `NAMES`. Each attribute is often missing."""
    document = draw(st.dictionaries(names(), values(), max_size=len(NAMES)))
    supertypes = draw(st.lists(st.sampled_from(TYPES), max_size=2, unique=True))
    if draw(st.booleans()):
        document["type"] = draw(st.sampled_from(TYPES))
    return Event(document, supertypes=supertypes)


def documents() -> st.SearchStrategy[dict[str, object]]:
    """Return nested documents, as JSON has them. Their paths often meet those of `NAMES`."""
    scalar = st.one_of(st.none(), st.none(), st.booleans(), numbers(), strings())
    keys = st.sampled_from(["a", "b", "c", "d", "c.d", "a.b", "type", "weird name", "null", "é"])

    def objects(inner: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
        return st.dictionaries(keys, inner, max_size=4)

    value = st.recursive(
        scalar,
        lambda inner: st.one_of(st.lists(inner, max_size=3), objects(inner)),
        max_leaves=6,
    )
    return objects(value)


def globs() -> st.SearchStrategy[object]:
    segment = st.text(["a", "b", "A", "é", ONE], max_size=3)
    return st.lists(segment, min_size=1, max_size=4).map(glob)


@st.composite
def ranges(draw: st.DrawFn, attributes: st.SearchStrategy[str]) -> Filter:
    ends = draw(st.sampled_from([st.one_of(numbers(), decimals()), strings(), moments()]))
    low, high = draw(st.one_of(st.none(), ends)), draw(ends)
    if draw(st.booleans()):
        low, high = high, low
    return p.Range(draw(attributes), low, high, draw(st.booleans()), draw(st.booleans()))


def predicates(attributes: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Filter]:
    """Return one predicate of any kind."""
    named = names() if attributes is None else attributes
    several = st.lists(scalars(), min_size=1, max_size=3).map(tuple)
    on_texts = [each for each in DECLARATIONS.values() if each.words]
    return st.one_of(
        st.builds(p.equals, named, scalars()),
        st.builds(p.In, named, several),
        st.builds(p.NotIn, named, several),
        ranges(named),
        ranges(named),
        st.builds(t.like, named, globs(), st.booleans()),
        st.builds(t.starts_with, named, strings(), st.booleans()),
        st.builds(t.ends_with, named, strings()),
        st.builds(t.contains, named, strings()),
        *(st.builds(each.make, named, st.sampled_from(each.examples)) for each in on_texts),
        st.builds(p.Exists, named),
        st.builds(p.TypeIs, st.sampled_from(TYPES)),
        st.builds(Compare, named, st.sampled_from(sorted(COMPARISONS)), named),
    )


def filters(
    leaves: st.SearchStrategy[Filter] | None = None, max_leaves: int = 8
) -> st.SearchStrategy[Filter]:
    """Return trees of all operators over all predicates."""
    leaf = predicates() if leaves is None else leaves
    return st.recursive(
        st.one_of(leaf, leaf, st.sampled_from([TRUE, FALSE])),
        lambda children: st.one_of(
            st.lists(children, min_size=2, max_size=3).map(conjunction),
            st.lists(children, min_size=2, max_size=3).map(disjunction),
            children.map(negation),
        ),
        max_leaves=max_leaves,
    )
