"""Subscriptions with table 1's parameters: ten attributes, five in each, some values subsumed.

An attribute has two ranges, or two prefixes. With the probability of subsumption a constraint is
one of them or a value inside; else it is an equality with a value of its own. This is the paper's
probability, per value; that a whole subscription is covered by another one is rarer (SUM-Q15).
"""

from __future__ import annotations

from random import Random
from typing import Final

from fyke.events.event import Event
from fyke.filters.filter import Filter, conjunction
from fyke.filters.predicate import In, Range, equals
from fyke.filters.text_predicate import starts_with

NUMBERS: Final = ("n1", "n2", "n3", "n4")
TEXTS: Final = ("t1", "t2", "t3", "t4", "t5", "t6")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_RANGES: Final = ((1_000, 2_000), (5_000, 6_000))
_PREFIXES: Final = ("comp", "micro")


def subscription(draw: Random, p: float) -> Filter:
    """Return one with two arithmetic and three string attributes."""
    names = draw.sample(NUMBERS, 2)
    parts = [_number(draw, name, draw.random() < p) for name in names]
    parts += [_text(draw, name, draw.random() < p) for name in draw.sample(TEXTS, 3)]
    return conjunction(parts)


def _number(draw: Random, name: str, is_subsumed: bool) -> Filter:
    if not is_subsumed:
        return equals(name, draw.randrange(10_000, 1_000_000))
    low, high = draw.choice(_RANGES)
    if draw.random() < 0.5:
        return Range(name, low, high)
    return equals(name, draw.randrange(low, high))


def _text(draw: Random, name: str, is_subsumed: bool) -> Filter:
    if not is_subsumed:
        return equals(name, _word(draw, 10))
    prefix = draw.choice(_PREFIXES)
    if draw.random() < 0.5:
        return starts_with(name, prefix)
    return equals(name, prefix + _word(draw, 10 - len(prefix)))


def _word(draw: Random, length: int) -> str:
    return "".join(draw.choices(_LETTERS, k=length))


def subscriptions(count: int, p: float, seed: object) -> list[Filter]:
    draw = Random(f"subscriptions {seed} {p}")
    return [subscription(draw, p) for _ in range(count)]


def lies_inside(filter: Filter) -> bool:
    """Return True if each constraint is one of the ranges and prefixes, or a value inside."""
    return all(
        _is_inside(value)
        for part in filter.children
        if isinstance(part, In)
        for value in part.values
    )


def _is_inside(value: object) -> bool:
    if isinstance(value, str):
        return value.startswith(_PREFIXES)
    return isinstance(value, int) and any(low <= value < high for low, high in _RANGES)


def event(draw: Random) -> Event:
    """Return an event with all attributes, half of its values in the ranges."""
    values: dict[str, object] = {}
    for name in NUMBERS:
        low, high = draw.choice(_RANGES) if draw.random() < 0.5 else (10_000, 1_000_000)
        values[name] = draw.randrange(low, high)
    for name in TEXTS:
        values[name] = draw.choice((*_PREFIXES, "")) + _word(draw, 5)
    return Event(values)
