"""CloudEvents SQL 1.0 (CESQL): expressions over the context attributes of an event.

Inside:

    tokens, parser, syntax      text <-> tree
    values, functions, like     types, casts, errors, functions, patterns
    interpreter                 tree -> value and error: the language's meaning
    text_forms                  which values have a given text
    meaning, atoms, compiler    tree -> Filter: predicates where they say the same, else residuals

As a filter, an expression accepts the events on which it is true and raises no error. A function
that does not exist is an error of the evaluation in CESQL; a filter that names one is refused,
since that cannot be meant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from fyke.errors import FilterError
from fyke.events.event import Document, Event, as_event
from fyke.filters.dialects.cesql.compiler import compile_expression
from fyke.filters.dialects.cesql.functions import FUNCTIONS
from fyke.filters.dialects.cesql.interpreter import Attributes, Evaluate, evaluator
from fyke.filters.dialects.cesql.parser import DEPTH_MAX, parse_text
from fyke.filters.dialects.cesql.syntax import names
from fyke.filters.dialects.cesql.values import Error, Primitive, is_integer
from fyke.filters.filter import Filter
from fyke.limits import DEFAULT_LIMITS, Limits

_EXPRESSIONS_KEPT = 1024
_RESIDUAL_LIMITS: Final = Limits(
    text_length_max=2**31, depth_max=DEPTH_MAX + 4, nodes_max=2**31, list_size_max=2**31
)
"""A residual was bounded when its filter was read; it may be wrapped in NOT and a cast."""


@dataclass(frozen=True, slots=True)
class Result:
    """The value of an expression on an event. `error` is None, or the name of the first error."""

    value: Primitive
    error: Error | None = None


@dataclass(frozen=True, slots=True)
class _Check:
    evaluate: Evaluate
    attributes: frozenset[str]

    def __call__(self, event: Event) -> bool:
        value, error = self.evaluate(event.attributes)
        return value is True and error is None


def parse(source: object, limits: Limits = DEFAULT_LIMITS) -> Filter:
    """Read the filter of an expression."""
    if not isinstance(source, str):
        raise FilterError(f"a CESQL expression is text, not {type(source).__name__}")
    return compile_expression(parse_text(source, _bound(limits), FUNCTIONS))


def check(text: str) -> _Check:
    """Return the interpreter of one expression, as a test of events."""
    expression = parse_text(text, _RESIDUAL_LIMITS)
    return _Check(evaluator(expression), names(expression))


def evaluate(text: str | int, event: Event | Document) -> Result:
    """Return the value of an expression on an event, with the error if there is one.

    Readers of JSON and YAML turn the expressions `TRUE` and `-10` into values; values are read too.
    """
    if isinstance(text, int) and is_integer(text):
        text = str(text)
    if not isinstance(text, str):
        return Result(False, Error.PARSE)
    try:
        run = _evaluator(text)
    except FilterError:
        return Result(False, Error.PARSE)
    attributes: Attributes = as_event(event).attributes
    value, error = run(attributes)
    return Result(value, error)


@lru_cache(maxsize=_EXPRESSIONS_KEPT)
def _evaluator(text: str) -> Evaluate:
    return evaluator(parse_text(text, _bound(DEFAULT_LIMITS)))


def _bound(limits: Limits) -> Limits:
    return replace(limits, depth_max=min(limits.depth_max, DEPTH_MAX))
