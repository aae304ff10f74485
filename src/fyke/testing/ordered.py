"""Schemas with enumerations and timestamps, and filters and events that are about their order.

The members of an enumeration are drawn from few words and stand in no order of texts. Events hold
members, text that is not a member, other kinds, lists, or nothing. Moments come as text and as
timestamps.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from typing import Final

from fyke.events.domain import Domain, Enumeration, Integer, String, Timestamp
from fyke.events.schema import Attribute, Schema
from fyke.events.value import Scalar, format_timestamp
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.comparison import COMPARISONS, Compare
from fyke.filters.filter import Filter, conjunction, disjunction, negation

WORDS: Final = ("", "a", "aa", "b", "high", "low", "medium", "z")
MOMENTS: Final = tuple(datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3, 4))
ORDERED: Final = ("level", "peak", "state")
"""The first two are of one enumeration, the third of another."""


def schema(rng: Random, *, is_single: bool = False) -> Schema:
    """Return a schema with enumerations, a text, a number and a time. The others may be lists."""
    order, other = (
        Enumeration(tuple(rng.sample(WORDS, rng.randint(1, 6)))),
        Enumeration(tuple(rng.sample(WORDS, rng.randint(1, 3)))),
    )
    domains: dict[str, Domain] = {"level": order, "peak": order, "state": other}
    domains |= {"note": String(), "count": Integer(0, 9), "at": Timestamp()}
    return Schema(
        [
            Attribute(name, domain, multiple=not is_single and rng.random() < 0.6)
            for name, domain in domains.items()
        ]
    )


# --- filters --------------------------------------------------------------------------------------


def filters(rng: Random, schema: Schema, count: int, *, is_ordered: bool = True) -> list[Filter]:
    """Return small trees over a few leaves. With `is_ordered`, the schema orders all values."""
    leaves = [leaf(rng, schema, is_ordered) for _ in range(4)]
    return [_tree(rng, leaves) for _ in range(count)]


def _tree(rng: Random, leaves: Sequence[Filter]) -> Filter:
    taken = rng.sample(leaves, rng.choice((1, 1, 2, 3)))
    parts = [negation(each) if rng.random() < 0.3 else each for each in taken]
    joined = rng.choice((conjunction, disjunction))(parts)
    return negation(joined) if rng.random() < 0.15 else joined


def leaf(rng: Random, schema: Schema, is_ordered: bool = True) -> Filter:
    """Return a comparison with a member or of two attributes, now and then another leaf."""
    name = rng.choice(ORDERED)
    members = schema.orders[name].values
    words = members if is_ordered or rng.random() < 0.7 else WORDS
    match rng.randrange(10):
        case 0 | 1 | 2 | 3:
            return _interval(rng, name, words)
        case 4 | 5:
            operator = rng.choice(sorted(COMPARISONS))
            return Compare(*_pair(rng, schema, operator, is_ordered))
        case 6:
            return rng.choice((p.In, p.NotIn))(name, tuple(rng.choices(WORDS, k=2)))
        case 7:
            return rng.choice((p.Exists(name), t.starts_with(name, rng.choice(WORDS))))
        case 8:
            return p.Range("count", rng.randrange(10), None)
    return _moment_leaf(rng)


def _interval(rng: Random, name: str, ends: Sequence[Scalar]) -> Filter:
    low, high = rng.choice(ends), rng.choice(ends)
    kept = rng.choice(((low, high), (low, None), (None, high)))
    return p.Range(name, *kept, low_open=rng.random() < 0.5, high_open=rng.random() < 0.5)


def _pair(rng: Random, schema: Schema, operator: str, is_ordered: bool) -> tuple[str, str, str]:
    """Return two attributes. They have different enumerations only if no order is needed."""
    one, other = rng.choices(("level", "peak", "state", "note", "count"), k=2)
    orders = [schema.orders[name] for name in (one, other) if name in schema.orders]
    if is_ordered and operator not in ("=", "!=") and len(set(orders)) > 1:
        return "level", operator, "peak"
    return one, operator, other


def _moment_leaf(rng: Random) -> Filter:
    """Return a leaf with moments, or with text that stands for them."""
    ends: Sequence[Scalar] = rng.choice((MOMENTS, [format_timestamp(each) for each in MOMENTS]))
    if rng.random() < 0.7:
        return _interval(rng, "at", ends)
    return rng.choice((p.In, p.NotIn))("at", tuple(rng.choices(ends, k=2)))


# --- events ---------------------------------------------------------------------------------------


def document(rng: Random, schema: Schema, *, fits: bool = True) -> dict[str, object]:
    """Return an event as it comes in: moments may be text. Values that fit are in their domains."""
    found: dict[str, object] = {}
    for name in (*ORDERED, "note", "count", "at"):
        if rng.random() < 0.8:
            pool = _held(name, schema) if fits or rng.random() < 0.7 else _other(name)
            found[name] = rng.choice(pool)
            if not fits or not schema.is_single(name):
                elements = rng.choices(pool, k=rng.choice((0, 1, 2, 2)))
                found[name] = rng.choice((found[name], elements))
    return found


def _held(name: str, schema: Schema) -> Sequence[Scalar]:
    if name in schema.orders:
        return schema.orders[name].values
    if name == "count":
        return range(10)
    return WORDS if name == "note" else [*MOMENTS, *map(format_timestamp, MOMENTS)]


def _other(name: str) -> Sequence[Scalar]:
    return (None, 3, True, MOMENTS[0]) if name == "at" else (*WORDS, "lo", None, 3, False)
