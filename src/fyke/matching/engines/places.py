"""Places: one total order of all that an event may hold at an attribute.

    missing < the empty list < null < false < true < numbers < strings < timestamps

The papers index attributes over one ordered domain. Ours hold values of any kind, none, or several;
giving each of these a place makes one domain of them, in which every constraint on an attribute is
a set of spans: "a > 60" reaches from just after 60 to the end of the numbers, "not exists a" is the
first place alone, "not (a = 1)" is all but one point.

A cut is a triple as in `filters.intervals`, whose set algebra therefore works here too. The values
of kind k have rank 2k + 1; the cut (2k, None, 0) lies before all of them, (2k + 2, None, 0) behind.
A value is looked up by the cut just before it.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from fyke.events.event import Event
from fyke.events.value import KINDS, Kind, Scalar
from fyke.filters.algebra.intervals import EMPTY_TEXT, Cut, Span, Spans, union
from fyke.filters.algebra.value_set import ValueSet

Dimension: TypeAlias = str | None
"""The subject of a node or a level: an attribute, or TYPES."""

TYPES: Final = None
"""The dimension of `type is T`: the names of the event's type and of its supertypes."""

BEGIN: Final[Cut] = (-4, None, 0)
_EMPTY: Final[Cut] = (-2, None, 0)
_SCALARS: Final[Cut] = (0, None, 0)
END: Final[Cut] = (2 * len(Kind), None, 0)

ALL: Final[Span] = (BEGIN, END)
MISSING: Final[Spans] = ((BEGIN, _EMPTY),)
PRESENT: Final[Spans] = ((_EMPTY, END),)
SCALARS: Final[Spans] = ((_SCALARS, END),)
"""Present, and not the empty list."""

AT_MISSING: Final[Cut] = (-3, 0, 0)
AT_EMPTY: Final[Cut] = (-1, 0, 0)

_RANKS: Final = {cls: 2 * int(kind) + 1 for cls, kind in KINDS.items()}
_TRUE: Final[Cut] = (_RANKS[bool], True, 0)


def place(scalar: Scalar) -> Cut:
    """Return the cut just before a scalar."""
    return _RANKS[type(scalar)], 0 if scalar is None else scalar, 0


def places(event: Event, dimension: Dimension) -> tuple[list[Cut], bool]:
    """Return the places of the event in a dimension, and True if there are several.

    A list of one element is as good as the element.
    """
    if dimension is None:
        listed: tuple[Scalar, ...] = _type_names(event)
    elif dimension not in event.attributes:
        return [AT_MISSING], False
    else:
        value = event.attributes[dimension]
        if type(value) is not tuple:
            return [place(value)], False  # type: ignore[arg-type]
        listed = value
    if not listed:
        return [AT_EMPTY], False
    return [place(element) for element in listed], len(listed) > 1


def _type_names(event: Event) -> tuple[str, ...]:
    declared = event.attributes.get("type")
    named = declared if isinstance(declared, tuple) else (declared,)
    return (*(name for name in named if isinstance(name, str)), *event.supertypes)


def spans(values: ValueSet) -> Spans:
    """Return the places of a set of scalars, its languages apart."""
    placed = [
        *(_placed(Kind.NUMBER, each) for each in values.numbers),
        *(_placed(Kind.STRING, each) for each in values.strings),
        *(_placed(Kind.TIMESTAMP, each) for each in values.timestamps),
    ]
    if values.null:
        placed.append((_start(Kind.NULL), _start(Kind.BOOL)))
    if False in values.booleans:
        placed.append((_start(Kind.BOOL), _TRUE))
    if True in values.booleans:
        placed.append((_TRUE, _start(Kind.NUMBER)))
    return union(placed)


def _start(shared: Kind) -> Cut:
    return 2 * int(shared), None, 0


def _placed(shared: Kind, bounds: Span) -> Span:
    """Move a span to where its kind lies. Nothing lies before the empty string."""
    low, high = bounds
    rank = 2 * int(shared) + 1
    first = _start(shared) if low == EMPTY_TEXT else (rank + low[0], low[1], low[2])
    return first, (rank + high[0], high[1], high[2])
