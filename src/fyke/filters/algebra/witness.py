"""Witness: an event that a filter accepts, found quickly or not at all.

Idea. Whoever covers a filter accepts each event that it accepts. So one such event refutes most
coverings, at the cost of evaluating a filter once; only what accepts the witness is worth a proof.

    a = 1 and (b > 5 or c like 'x%')        {"a": 1, "b": 6}

The event is guessed: of a conjunction all parts are met, of a disjunction one, and what is negated
is left out. What meets at one attribute is a list, since one element of it is enough. The filter
has the last word, so a wrong guess costs time and nothing else.
Law. `filter.matches(witness(filter))`; under a schema the witness fits the schema.
Cost. Linear in the filter, times `TRIES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from fyke.errors import EventError, FykeError
from fyke.events.event import Event
from fyke.events.number import ExactDecimal
from fyke.events.value import Scalar, admit
from fyke.filters.algebra.normal_form import negation_normal_form
from fyke.filters.comparison import Compare
from fyke.filters.filter import And, Constant, Filter, Not, Or
from fyke.filters.predicate import Exists, In, NotIn, Predicate, Range, TypeIs
from fyke.filters.residual import Residual
from fyke.filters.text_predicate import InNetwork, Like, Matches
from fyke.filters.texts.glob import ONE

if TYPE_CHECKING:
    from fyke.events.schema import Schema

TRIES: Final = 4
"""Guesses that are made: each takes other alternatives."""
_ANYWHERE: Final = "text"
"""The attribute that holds what a residual looks for in all of them."""
_HARD: Final = (Not, Residual, Matches, Compare)
"""Filters for which no value is guessed."""


def witness(filter: Filter, schema: Schema | None = None) -> Event | None:
    """Return an event that the filter accepts; None where no guess is one."""
    normal = negation_normal_form(filter)
    for attempt in range(TRIES):
        guess: dict[str, list[Scalar]] = {}
        _meet(normal, guess, attempt)
        event = _event(guess, schema)
        if event is not None and filter.matches(event):
            return event
    return None


def _event(guess: dict[str, list[Scalar]], schema: Schema | None) -> Event | None:
    document = {
        name: values[0] if len(values) == 1 else tuple(values) for name, values in guess.items()
    }
    if schema is None:
        return Event.flat(document)
    try:
        return schema.validate(Event.flat(document))
    except FykeError:
        return None


def _meet(filter: Filter, guess: dict[str, list[Scalar]], attempt: int) -> None:
    """Add values that a filter asks for."""
    match filter:
        case And():
            for child in filter.children:
                _meet(child, guess, attempt)
        case Or():
            easy = [each for each in filter.children if not _is_hard(each)] or filter.children
            _meet(easy[attempt % len(easy)], guess, attempt)
        case Residual():
            guess.setdefault(_ANYWHERE, []).extend(filter.needles or ())
        case TypeIs(name):
            guess.setdefault("type", []).append(name)
        case Exists(attribute):
            guess.setdefault(attribute, []).append("x") if attribute not in guess else None
        case Predicate():
            values = list(_admitted(_values(filter)))
            if values:
                held = guess.setdefault(filter.attribute, [])
                value = values[attempt % len(values)]
                if value not in held:
                    held.append(value)


def _is_hard(filter: Filter) -> bool:
    """Return True if no guess is likely to satisfy the filter."""
    if isinstance(filter, And):
        return any(map(_is_hard, filter.children))
    return isinstance(filter, _HARD) or (isinstance(filter, Constant) and not filter.value)


def _admitted(values: Iterator[Scalar]) -> Iterator[Scalar]:
    """Yield the values that events may hold, up to the first that nothing can be."""
    with suppress(OverflowError):
        for value in values:
            with suppress(EventError):
                yield admit(value)


def _values(leaf: Predicate) -> Iterator[Scalar]:
    """Yield values that a predicate accepts, the likeliest first."""
    match leaf:
        case In(_, values):
            yield from values[:TRIES]
        case NotIn(_, values):
            yield from (each for each in ("x", "xx", 0) if each not in values)
        case Like(_, pattern):
            yield "".join(pattern.segments).replace(ONE, "x")
            yield "x".join(pattern.segments).replace(ONE, "y")
        case InNetwork(_, network):
            yield str(network.network_address)
        case Range():
            yield from _between(leaf)


def _between(leaf: Range) -> Iterator[Scalar]:
    low, high = leaf.low, leaf.high
    if low is not None and not leaf.low_open:
        yield low
    if high is not None and not leaf.high_open:
        yield high
    if isinstance(low, str):
        yield low + "x"
    elif isinstance(high, str):
        yield ""
    elif isinstance(low, datetime):
        yield low + timedelta(microseconds=1)
    elif isinstance(high, datetime):
        yield high - timedelta(microseconds=1)
    elif not isinstance(low, ExactDecimal) and not isinstance(high, ExactDecimal):
        yield from _numbers_between(low, high)


def _numbers_between(low: Scalar, high: Scalar) -> Iterator[Scalar]:
    if isinstance(low, int | float) and isinstance(high, int | float):
        yield (low + high) / 2
    if isinstance(low, int | float):
        yield low + 1
    elif isinstance(high, int | float):
        yield high - 1
