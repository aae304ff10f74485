"""Criteria: what one value of a rule demands of a field.

Each criterion says it twice: `accepts` is the meaning, on one scalar of an event; `tree` is the
same as predicates on a field. Where predicates cannot say it, the tree is a residual of the value
behind predicates that cover it.

    Fits        Image|endswith: '\\cmd.exe'      the scalar's text fits a pattern
    Finds       CommandLine|re: 'a+b'            RE2 finds the expression in the scalar's text
    Within      SourceIp|cidr: '10.0.0.0/8'      an address of the network
    Compared    Size|gt: 10                      a number, or a string that spells one
    Dated       Time|hour: 3                     a part of a timestamp
    Absent      Details: null                    null, or no such field
    Present     Details|exists: true             there at all, null or not
    Refers      Image|fieldref: ParentImage      the text of another field

Text predicates see strings only. Numbers, booleans and timestamps are compared in their text as
well: where only a few can fit, they become values of an in-set; where a pattern may fit many, "is
a number" covers them and the residual decides.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Final, TypeAlias

from fyke.events.event import Event
from fyke.events.value import Kind, Scalar, kind, parse_timestamp
from fyke.filters.dialects.sigma import pattern as patterns
from fyke.filters.dialects.sigma.pattern import DASH
from fyke.filters.filter import Filter, Or, conjunction, disjunction, negation
from fyke.filters.predicate import Exists, In, NotIn, Range, compare
from fyke.filters.text_predicate import InNetwork, Matches, like
from fyke.filters.texts import glob as globs
from fyke.filters.texts.glob import fold
from fyke.filters.texts.regular_expression import finder
from fyke.filters.texts.wording import text_of

Rest: TypeAlias = Callable[[], Filter]
"""Makes the residual that means all that the value demands."""

VARYING_DASHES_MAX: Final = 2
"""With more varying dashes, any character in their place covers the pattern."""


class Criterion:
    """A demand on the values of one field."""

    def accepts(self, value: Scalar) -> bool:
        """Return True if one scalar meets the criterion."""
        raise NotImplementedError

    def tree(self, field: str, rest: Rest) -> Filter:
        """Return the criterion as predicates on a field;

        `rest` makes the residual if one is needed.
        """
        raise NotImplementedError

    def holds(self, field: str, event: Event) -> bool:
        """Return True if some element of the event's field meets the criterion."""
        return any(map(self.accepts, elements(event, field)))

    @property
    def references(self) -> frozenset[str]:
        """The other fields that it reads."""
        return frozenset()

    @property
    def needle(self) -> str | None:
        """A folded text that is in the folded text of whatever meets it, if there is one."""
        return None


def elements(event: Event, field: str) -> tuple[Scalar, ...]:
    """Return the scalars of a field; empty if the field is missing."""
    value = event.attributes.get(field, ())
    return value if isinstance(value, tuple) else (value,)


# --- text ---------------------------------------------------------------------------------------

_ANY_NUMBER: Final = -sys.float_info.max
_ANY_MOMENT: Final = datetime.min.replace(tzinfo=UTC)


def _numbers(field: str) -> Filter:
    return Range(field, _ANY_NUMBER)


def _moments(field: str) -> Filter:
    return Range(field, _ANY_MOMENT)


@dataclass(frozen=True)
class Fits(Criterion):
    """The text fits `pattern`, with its case only if `cased`."""

    pattern: str
    cased: bool = False

    def __post_init__(self) -> None:
        if DASH in self.pattern:
            _ = self.fits  # RE2 refuses what is too long now, not when an event comes

    @cached_property
    def fits(self) -> Callable[[str], bool]:
        """The test of a text, which is folded before unless case counts."""
        pattern = self.pattern if self.cased else fold(self.pattern)
        if DASH not in pattern:
            return globs.matcher(patterns.as_glob(pattern))
        return finder(patterns.dash_expression(pattern))

    @property
    def needle(self) -> str | None:
        segments = patterns.as_glob(self.pattern).segments
        pieces = (piece for segment in segments for piece in segment.split(globs.ONE))
        return fold(max(pieces, key=len)) or None

    def accepts(self, value: Scalar) -> bool:
        text = text_of(value)
        return text is not None and self.fits(text if self.cased else fold(text))

    def tree(self, field: str, rest: Rest) -> Filter:
        varying = self.pattern.count(DASH)
        if varying > VARYING_DASHES_MAX:
            cover = like(field, patterns.as_glob(self.pattern), ignore_case=not self.cased)
            return conjunction([disjunction([cover, *self._others(field)]), rest()])
        if varying:
            return alternatives(
                Fits(variant, self.cased).tree(field, rest)
                for variant in patterns.dash_variants(self.pattern)
            )
        return self._plain_tree(field, rest)

    def _plain_tree(self, field: str, rest: Rest) -> Filter:
        glob = patterns.as_glob(self.pattern)
        if glob.accepts_all:
            return NotIn(field, (None,))
        strings = like(field, glob, ignore_case=not self.cased)
        if glob.is_exact:
            others = patterns.others_with_text(glob.segments[0], self.cased)
            return alternatives([strings, *(In(field, (other,)) for other in others)])
        booleans = [In(field, (value,)) for value in (True, False) if self.accepts(value)]
        unsure = list(self._others(field))
        if unsure:
            unsure = [conjunction([disjunction(unsure), rest()])]
        return alternatives([strings, *booleans, *unsure])

    def _others(self, field: str) -> Iterator[Filter]:
        """Yield covers of the numbers and the timestamps whose text may fit."""
        if patterns.may_fit_number(self.pattern):
            yield _numbers(field)
        if patterns.may_fit_moment(self.pattern):
            yield _moments(field)


@dataclass(frozen=True)
class Finds(Criterion):
    """RE2 finds `expression` in the text."""

    expression: str

    def __post_init__(self) -> None:
        _ = self._is_found

    @cached_property
    def _is_found(self) -> Callable[[str], bool]:
        return finder(self.expression)

    def accepts(self, value: Scalar) -> bool:
        text = text_of(value)
        return text is not None and self._is_found(text)

    def tree(self, field: str, rest: Rest) -> Filter:
        booleans = [In(field, (value,)) for value in (True, False) if self.accepts(value)]
        unsure = conjunction([disjunction([_numbers(field), _moments(field)]), rest()])
        return alternatives([Matches(field, self.expression), *booleans, unsure])


@dataclass(frozen=True)
class Within(Criterion):
    """A string that is an address of the network."""

    network: InNetwork

    @cached_property
    def _accepts(self) -> Callable[[Scalar], bool]:
        return self.network.accepts()

    def accepts(self, value: Scalar) -> bool:
        return self._accepts(value)

    def tree(self, field: str, rest: Rest) -> Filter:
        return InNetwork(field, self.network.network)


def alternatives(filters: Iterable[Filter]) -> Filter:
    """Join filters of which one must accept.

    In-sets of one field become one, at the place of the first.
    """
    parts: dict[Filter | str, list[Scalar]] = {}
    for filter in filters:
        for part in filter.children if isinstance(filter, Or) else (filter,):
            if isinstance(part, In):
                parts.setdefault(part.attribute, []).extend(part.values)
            else:
                parts.setdefault(part, [])
    return disjunction(
        In(part, tuple(values)) if isinstance(part, str) else part for part, values in parts.items()
    )


# --- numbers and timestamps ---------------------------------------------------------------------

_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}


@dataclass(frozen=True)
class Compared(Criterion):
    """A number, or a string that spells one, that compares so with `number`."""

    operator: str
    number: int | float

    def accepts(self, value: Scalar) -> bool:
        if isinstance(value, str):
            value = patterns.decimal(value)
        if value is None or kind(value) is not Kind.NUMBER:
            return False
        return _COMPARISONS[self.operator](value, self.number)  # type: ignore[arg-type]

    def tree(self, field: str, rest: Rest) -> Filter:
        spelled = conjunction([Matches(field, patterns.DECIMAL), rest()])
        return disjunction([compare(field, self.operator, self.number), spelled])


PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "minute": lambda moment: moment.minute,
    "hour": lambda moment: moment.hour,
    "day": lambda moment: moment.day,
    "week": lambda moment: moment.isocalendar().week,
    "month": lambda moment: moment.month,
    "year": lambda moment: moment.year,
}


@dataclass(frozen=True)
class Dated(Criterion):
    """A timestamp, or a string that spells one, whose part in UTC meets `number`."""

    part: str
    number: Compared

    def accepts(self, value: Scalar) -> bool:
        if isinstance(value, str):
            try:
                value = parse_timestamp(value)
            except ValueError:
                return False
        return isinstance(value, datetime) and self.number.accepts(PARTS[self.part](value))

    def tree(self, field: str, rest: Rest) -> Filter:
        spelled = Matches(field, "^[0-9]{4}-[0-9]{2}-[0-9]{2}")
        return conjunction([disjunction([_moments(field), spelled]), rest()])


# --- the event ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Absent(Criterion):
    """Null, or no such field."""

    def accepts(self, value: Scalar) -> bool:
        return value is None

    def holds(self, field: str, event: Event) -> bool:
        return field not in event.attributes or super().holds(field, event)

    def tree(self, field: str, rest: Rest) -> Filter:
        return disjunction([negation(Exists(field)), In(field, (None,))])


@dataclass(frozen=True)
class Present(Criterion):
    """The field is there, whatever its value, or is not."""

    expected: bool

    def holds(self, field: str, event: Event) -> bool:
        return (field in event.attributes) is self.expected

    def tree(self, field: str, rest: Rest) -> Filter:
        return Exists(field) if self.expected else negation(Exists(field))


_EDGE: Final = globs.ONE
SHAPES: Final = {
    "contains": ("", ""),
    "startswith": (_EDGE, ""),
    "endswith": ("", _EDGE),
}
"""Which edges of the two texts must meet; no text holds the character that stands for one."""


@dataclass(frozen=True)
class Refers(Criterion):
    """The text equals, contains, starts with or ends with that of the field `other`."""

    other: str
    shape: str = ""
    cased: bool = False

    def holds(self, field: str, event: Event) -> bool:
        ours, theirs = self._texts(event, field), self._texts(event, self.other)
        if not ours or not self.shape:
            return not ours.isdisjoint(theirs)
        before, after = SHAPES[self.shape]
        joined = _EDGE + _EDGE.join(ours) + _EDGE
        return any(before + their + after in joined for their in theirs)

    def _texts(self, event: Event, field: str) -> set[str]:
        texts = map(text_of, elements(event, field))
        return {text if self.cased else fold(text) for text in texts if text is not None}

    def tree(self, field: str, rest: Rest) -> Filter:
        return conjunction([Exists(field), Exists(self.other), rest()])

    @property
    def references(self) -> frozenset[str]:
        return frozenset({self.other})
