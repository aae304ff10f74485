"""Static analysis of a set of subscriptions: what is wrong, redundant or expensive before any event
arrives.

Never true, always true, duplicate, subsumed by another one, unguarded (no predicate that an index
could use, so evaluated for every event). Each of these findings is proved. Names that are probably
slips are guessed (`remarks`), and the estimated cost is a rank. What an index can use is for the
engine to say: `fyke.lint` (`matching.linting`) asks the compiled one.

Cost. Each subscription alone: linear. Pairs: see `subsumption.py`; the number of tests is bounded,
and the analysis says so when the bound was reached. 3,132 Sigma rules take some 20 s.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

from fyke.events.event import Event
from fyke.events.number import ExactDecimal
from fyke.events.value import Kind, Scalar, canonical, kind
from fyke.filters.algebra.covering import is_always_true, is_never_true
from fyke.filters.algebra.necessary import necessary
from fyke.filters.algebra.normal_form import negation_normal_form, rebuilt, simplify
from fyke.filters.algebra.subsumption import Subsumption
from fyke.filters.algebra.witness import witness
from fyke.filters.filter import And, Filter, Not, Or, walk
from fyke.filters.predicate import Exists, In, NotIn, Range
from fyke.filters.remarks import remarks
from fyke.filters.residual import Residual
from fyke.filters.resolution import resolve_values
from fyke.filters.subscription import Subscription
from fyke.filters.text_predicate import InNetwork, Like, Matches

if TYPE_CHECKING:
    from fyke.events.schema import Schema

COVERING_TESTS_MAX = 3_000_000
"""Tests of pairs that one analysis may make."""

IsGuarded: TypeAlias = Callable[[Filter], bool]
"""Says whether an index can leave out a filter for most events."""
Track: TypeAlias = Callable[[Sequence[Any], str], Iterable[Any]]
"""Yields the things it is given, and may show how far it is with what it is told is done."""


def has_necessary(filter: Filter) -> bool:
    """Return whether some predicate must hold for every event that a filter accepts."""
    return bool(necessary(simplify(filter)))


def _untracked(things: Sequence[Any], what: str) -> Iterable[Any]:
    return things


class Problem(StrEnum):
    """The problem that a finding is about, worst first."""

    NEVER_TRUE = "never true"
    ALWAYS_TRUE = "always true"
    DUPLICATE = "duplicate"
    SUBSUMED = "subsumed"
    UNGUARDED = "unguarded"
    TEXT_FOR_TIME = "text for time"
    QUOTED = "quoted name"
    MISSPELT = "misspelt name"
    LONG_NUMBER = "long number"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of one subscription.

    `other` is the one it repeats or is covered by; `meant` is what was probably meant, as
    written; `attribute` is the one at fault, where it is one.
    """

    problem: Problem
    subscription: str
    other: str | None = None
    attribute: str | None = None
    meant: str | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """Findings in the order of the subscriptions: at most one that is proved, then slips.

    The estimated cost of each; whether all pairs were judged.
    """

    findings: tuple[Finding, ...]
    costs: dict[str, float]
    is_complete: bool


def analyse(
    subscriptions: Iterable[Subscription],
    *,
    schema: Schema | None = None,
    covering_tests_max: int = COVERING_TESTS_MAX,
    is_guarded: IsGuarded = has_necessary,
    track: Track = _untracked,
) -> Analysis:
    """Look at each subscription alone, then at duplicates, then at coverings."""
    everything = [
        replace(each, filter=resolve_values(each.filter, schema)) for each in subscriptions
    ]
    findings: dict[str, Finding] = {}
    first_with: dict[Filter, str] = {}
    witnesses: dict[str, Event | None] = {}
    for each in track(everything, "looking at subscriptions"):
        witnesses[each.id] = witness(each.filter, schema)
        finding = _alone(each, schema, witnesses[each.id])
        finding = finding or _repeated(each, first_with, is_guarded)
        if finding is not None:
            findings[each.id] = finding
    distinct = [
        each
        for each in everything
        if each.id not in findings or findings[each.id].problem is Problem.UNGUARDED
    ]
    search = Subsumption(distinct, schema, covering_tests_max, witnesses)
    for each in track(distinct, "comparing subscriptions"):
        redundant = search.made_redundant_by(each)
        if redundant is not None:
            other, is_equivalent = redundant
            problem = Problem.DUPLICATE if is_equivalent else Problem.SUBSUMED
            findings[each.id] = Finding(problem, each.id, other.id)
    return Analysis(
        findings=tuple(
            finding
            for each in everything
            for finding in (findings.get(each.id), *_slips(each, schema))
            if finding is not None
        ),
        costs={each.id: estimated_cost(each.filter, is_guarded) for each in everything},
        is_complete=search.left > 0,
    )


def _slips(subscription: Subscription, schema: Schema | None) -> Iterator[Finding]:
    for remark in remarks(subscription.filter, schema):
        problem = Problem.QUOTED if remark.is_quoted else Problem.MISSPELT
        yield Finding(problem, subscription.id, meant=remark.meant)
    decimals = () if schema is None else schema.decimals
    numbers = dict.fromkeys(
        each for leaf in walk(subscription.filter) for each in _exact(leaf, decimals)
    )
    for number in numbers:
        yield Finding(Problem.LONG_NUMBER, subscription.id, meant=str(canonical(float(number))))


def _exact(leaf: Filter, decimals: Collection[str]) -> list[ExactDecimal]:
    """Return a predicate's numbers that are no float64, unless events hold decimals there."""
    values: tuple[Scalar, ...] = ()
    match leaf:
        case In(attribute) | NotIn(attribute) if attribute not in decimals:
            values = leaf.values
        case Range(attribute) if attribute not in decimals:
            values = leaf.low, leaf.high
    return [each for each in values if isinstance(each, ExactDecimal)]


_EMPTY: Final = Event.flat({})


def _alone(subscription: Subscription, schema: Schema | None, seen: Event | None) -> Finding | None:
    """Return what is wrong with one subscription; `seen` is an event that it accepts."""
    filter = subscription.filter
    if seen is None and is_never_true(filter, schema=schema):
        return Finding(Problem.NEVER_TRUE, subscription.id)
    refuses = schema is None and not filter.matches(_EMPTY)
    if not refuses and is_always_true(filter, schema=schema):
        return Finding(Problem.ALWAYS_TRUE, subscription.id)
    return None


def _repeated(
    subscription: Subscription, first_with: dict[Filter, str], is_guarded: IsGuarded
) -> Finding | None:
    key = canonical_form(subscription.filter)
    first = first_with.setdefault(key, subscription.id)
    if first != subscription.id:
        return Finding(Problem.DUPLICATE, subscription.id, first)
    if not is_guarded(key):
        return Finding(Problem.UNGUARDED, subscription.id)
    return None


# --- against a sample ----------------------------------------------------------------------------


def texts_for_times(
    subscriptions: Iterable[Subscription], events: Iterable[Event]
) -> list[Finding]:
    """Find the subscriptions that compare an attribute with a time where an event holds text."""
    asked: dict[str, dict[str, None]] = {}
    for each in subscriptions:
        for node in walk(each.filter):
            if _is_about_time(node):
                asked.setdefault(node.attribute, {})[each.id] = None
    texts = {name for event in events for name in asked if _holds_text(event, name)}
    return [
        Finding(Problem.TEXT_FOR_TIME, id, attribute=name)
        for name in asked
        if name in texts
        for id in asked[name]
    ]


def _is_about_time(node: Filter) -> TypeGuard[Range | In | NotIn]:
    match node:
        case Range():
            return node.kind is Kind.TIMESTAMP
        case In() | NotIn():
            return any(kind(value) is Kind.TIMESTAMP for value in node.values)
    return False


def _holds_text(event: Event, name: str) -> bool:
    value = event.attributes.get(name)
    return any(type(each) is str for each in (value if isinstance(value, tuple) else (value,)))


# --- equal filters -------------------------------------------------------------------------------


def canonical_form(filter: Filter) -> Filter:
    """Return a form without the order of operands, repetitions and the place of `not`.

    Filters that differ only in these have equal forms.
    """
    return _sorted(negation_normal_form(simplify(filter)))


def _sorted(filter: Filter) -> Filter:
    if isinstance(filter, And | Or):
        return rebuilt(filter, sorted(map(_sorted, filter.children), key=str))
    return filter


# --- cost ----------------------------------------------------------------------------------------

_UNGUARDED_FACTOR = 100.0


def estimated_cost(filter: Filter, is_guarded: IsGuarded = has_necessary) -> float:
    """Return a rank, not a time: equality costs 1.

    A filter that no index guards costs more, since it is evaluated for every event.
    """
    work = sum(_leaf_cost(node) for node in walk(filter))
    return work if is_guarded(simplify(filter)) else work * _UNGUARDED_FACTOR


def _leaf_cost(node: Filter) -> float:
    match node:
        case And() | Or() | Not():
            return 0.1
        case Residual():
            return 20.0
        case Matches():
            return 10.0
        case Like() | InNetwork():
            return 3.0
        case Exists():
            return 0.5
    return 1.0
