"""Truth: what can be said about a Python expression, as two filters.

`can` accepts every event for which the expression may be true, `cannot` every event for which it
may be false. Each is a cover on its own: what is not understood is (TRUE, TRUE). An event for which
the expression raises is in neither, because a closure that raises accepts nothing.

Python and filters disagree in places; each leaf here says where. The attribute's shape tells which
values there may be, and all others are in doubt and never meet a leaf (`showing`).

    True == 1, True < 10      hold in Python; filters keep booleans and numbers apart
    Decimal("0.1") < 0.1      holds in Python; to filters both are the number 0.1
    [3] != 3, [] != 3         hold in Python; a filter looks at the elements of a list
    x != "a" where x is None  holds in Python; an attribute that is None is missing in an event
    "ß".upper() == "SS"       a text may change its length with its case
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum, Flag
from typing import Any, Final, NamedTuple

from fyke.errors import FykeError
from fyke.events.domain import Enumeration
from fyke.events.number import canonical_float, meaning
from fyke.events.value import Scalar, admit
from fyke.filters.comparison import Compare
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction, disjunction, negation
from fyke.filters.predicate import Exists, In, NotIn, Range
from fyke.filters.text_predicate import like
from fyke.filters.texts.glob import ONE, glob
from fyke.typed.shapes import NOTHING, Shape, shown_value

NUMBERS: Final = (int, float, Decimal)
_LISTED_MAX: Final = 64
"""Elements of a range that are listed one by one."""


class Truth(NamedTuple):
    can: Filter
    cannot: Filter

    def __invert__(self) -> Truth:
        return Truth(self.cannot, self.can)


UNKNOWN: Final = Truth(TRUE, TRUE)
ALWAYS: Final = Truth(TRUE, FALSE)
NEVER: Final = Truth(FALSE, TRUE)


def known(value: object) -> Truth:
    return ALWAYS if value else NEVER


def all_of(*parts: Truth) -> Truth:
    return Truth(conjunction(p.can for p in parts), disjunction(p.cannot for p in parts))


def any_of(*parts: Truth) -> Truth:
    return Truth(disjunction(p.can for p in parts), conjunction(p.cannot for p in parts))


@dataclass(frozen=True, slots=True)
class Read:
    """An attribute that is shown and stable: an event has the value that the closure will see.

    `case` is lower or upper where the text was changed so, `is_stripped` where spaces were cut.
    """

    name: str
    shape: Shape
    case: str | None = None
    is_stripped: bool = False

    @property
    def is_plain(self) -> bool:
        return self.case is None and not self.is_stripped

    @property
    def classes(self) -> frozenset[type]:
        """The classes of its values, None apart."""
        return self.shape.classes - {NOTHING}

    @property
    def is_text(self) -> bool:
        return self.shape.is_scalar and self.classes == {str}


# --- comparisons ----------------------------------------------------------------------------------

FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(read: Read, sign: str, value: Any) -> Truth:
    """Return the truth of `read sign value` for the six comparisons; the value is a plain one."""
    if sign == "==":
        return equal(read, value)
    if sign == "!=":
        return ~equal(read, value)
    return _ordered(read, sign, value)


def compare_both(left: Read, sign: str, right: Read) -> Truth:
    """Compare two attributes, if both have values of one kind and are never None."""
    sides = (left, right)
    alike = any(
        all(s.is_plain and s.shape.is_scalar and s.shape.classes <= kind for s in sides)
        for kind in ({int, float}, {str}, {datetime})
    )
    if not alike or any(isinstance(side.shape.domain, Enumeration) for side in sides):
        return UNKNOWN
    leaf = Compare(left.name, {"==": "="}.get(sign, sign), right.name)
    return Truth(leaf, negation(leaf))


def equal(read: Read, value: Any) -> Truth:
    if value is None:
        return is_none(read)
    if not read.is_plain:
        return _fits(read, value, "") if isinstance(value, str) else UNKNOWN
    if read.shape.elements is not None or isinstance(value, tuple | list | set | frozenset | dict):
        return UNKNOWN
    if read.shape.members is not None:
        return _equal_member(read, value)
    if isinstance(value, Enum):
        value = _content(value)
    if type(value) in (bool, *NUMBERS):
        return _equal_number(read, value)
    if type(value) is str and (read.classes & {str}):
        return _member(read, (value,))
    if _is_moment(read, value):
        return _member(read, (value,))
    return UNKNOWN


def _content(member: Enum) -> Any:
    """Return the text or number that a member is, which need not be its `value`."""
    content: Any = member
    if isinstance(content, str):
        return str.__str__(content)
    return +content if isinstance(content, int | float) else content


def is_none(read: Read) -> Truth:
    """Return the truth of `read is None`: the attribute is missing, or null."""
    if not read.is_plain:
        return NEVER
    if not read.shape.is_optional and not read.shape.is_tree:
        return NEVER
    return Truth(negation(NotIn(read.name, (None,))), Exists(read.name))


def _member(read: Read, values: tuple[Any, ...]) -> Truth:
    """Return the truth of `read in values`. A list equals none of them, whatever its elements."""
    try:
        leaf = In(read.name, tuple(admit(value) for value in values))
    except FykeError:
        return UNKNOWN
    return Truth(leaf, TRUE if read.shape.may_be_list else negation(leaf))


def _equal_number(read: Read, value: Any) -> Truth:
    shape = read.shape
    found: list[Scalar] = [b for b in (False, True) if bool in shape.classes and b == value]
    if shape.classes & set(NUMBERS):
        near = _nearby(read, value)
        if near is None:
            return UNKNOWN
        low, high = near
        if low != high:
            near_leaf = Range(read.name, low, high)
            return Truth(disjunction([near_leaf, *([In(read.name, (*found,))] if found else [])]),
                         TRUE)  # fmt: skip
        found.append(low)
    if _is_odd(read):
        return UNKNOWN
    if not found:
        return UNKNOWN if read.shape.is_tree else NEVER
    return _member(read, tuple(found))


def _is_odd(read: Read) -> bool:
    """Return True if some values are shown as something else: durations, dates, ids."""
    return not read.classes <= {bool, int, float, Decimal, str, datetime}


def _nearby(read: Read, value: Any) -> tuple[Scalar, Scalar] | None:
    """Return the numbers between which filters see a number as Python does; None if they cannot.

    They are one number, unless a Decimal meets a float that stands for another one.
    """
    try:
        exact = admit(int(value) if type(value) is bool else value)
    except FykeError:
        return None
    mixed = Decimal in read.classes if type(value) is float else type(value) is Decimal
    if not mixed:
        return exact, exact
    if type(value) is Decimal and read.classes <= {Decimal, int, bool}:
        return exact, exact
    nearest = float(value)
    if Decimal(value) == Decimal(nearest) == meaning(nearest) and math.isfinite(nearest):
        return exact, exact
    low, high = math.nextafter(nearest, -math.inf), math.nextafter(nearest, math.inf)
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return canonical_float(low), canonical_float(high)


def _equal_member(read: Read, value: Any) -> Truth:
    members = read.shape.members
    assert members is not None
    if read.classes != {members} or (issubclass(members, Flag) and not isinstance(value, members)):
        return UNKNOWN
    if issubclass(members, Flag):
        return _member(read, (shown_value(value),))
    found = {shown_value(member) for member in members if member == value}
    others = {shown_value(member) for member in members if member != value}
    if not found:
        return NEVER
    truth = _member(read, tuple(found))
    return Truth(truth.can, TRUE) if found & others else truth


def _ordered(read: Read, sign: str, value: Any) -> Truth:
    holds = _ORDERS[sign]
    if not read.is_plain or not (read.shape.is_scalar or read.shape.is_tree):
        return UNKNOWN
    members = read.shape.members
    domain = read.shape.domain
    if members is not None or isinstance(domain, Enumeration):
        if isinstance(value, Enum) or (members and not issubclass(members, str | int)):
            return UNKNOWN
        return _ordered_members(read, value, holds)
    if isinstance(value, Enum) or _is_odd_for_order(read, value):
        return UNKNOWN
    if type(value) in (bool, *NUMBERS) and read.classes & {bool, *NUMBERS}:
        return _ordered_number(read, sign, value)
    if (type(value) is str and str in read.classes) or _is_moment(read, value):
        return _range(read, sign, admit(value))
    return UNKNOWN


def _is_odd_for_order(read: Read, value: Any) -> bool:
    return _is_odd(read) and not _is_moment(read, value)


def _is_moment(read: Read, value: Any) -> bool:
    """Return True if both are moments that compare in one way: fixed zones, or dates with dates."""
    if type(value) is datetime:
        is_fixed = type(value.tzinfo) is timezone
        return is_fixed and datetime in read.classes and date not in read.classes
    return type(value) is date and read.classes == {date}


def _ordered_members(read: Read, value: Any, holds: Callable[[Any, Any], bool]) -> Truth:
    """Compare each member as Python does: an interval of text would go by the schema's order."""
    members: Any = read.shape.members or getattr(read.shape.domain, "values", ())
    if len(read.classes) > 1 or (isinstance(members, type) and issubclass(members, Flag)):
        return UNKNOWN
    try:
        found = [m for m in members if holds(m, value)]
        others = [m for m in members if not holds(m, value)]
    except TypeError:
        return UNKNOWN
    shown = [tuple(shown_value(m) if isinstance(m, Enum) else m for m in ms)
             for ms in (found, others)]  # fmt: skip
    can, cannot = (In(read.name, ms) if ms else FALSE for ms in shown)
    return Truth(can, cannot)


def _ordered_number(read: Read, sign: str, value: Any) -> Truth:
    near = _nearby(read, value)
    if near is None:
        return UNKNOWN
    low, high = near
    wide, narrow = (high, low) if sign[0] == "<" else (low, high)
    booleans = [b for b in (False, True) if bool in read.classes and _ORDERS[sign](b, value)]
    can = _range(read, sign, wide).can
    if booleans:
        can = disjunction((can, In(read.name, tuple(booleans))))
    return Truth(can, _range(read, sign, narrow).cannot)


def _range(read: Read, sign: str, value: Scalar) -> Truth:
    is_open = len(sign) == 1
    if sign[0] == "<":
        leaf = Range(read.name, None, value, high_open=is_open)
    else:
        leaf = Range(read.name, value, None, low_open=is_open)
    return Truth(leaf, negation(leaf))


# --- membership and text --------------------------------------------------------------------------


def among(read: Read, values: Any) -> Truth:
    """Return the truth of `read in values`, for a container of plain values."""
    if isinstance(values, range):
        if len(values) > _LISTED_MAX:
            ends = sorted((values[0], values[-1]))
            inside = all_of(compare(read, ">=", ends[0]), compare(read, "<=", ends[1]))
            return Truth(inside.can, TRUE)
    elif isinstance(values, str):
        return UNKNOWN
    found = tuple(values)
    if not found:
        return NEVER
    if read.is_plain and read.is_text and all(type(each) is str for each in found):
        return _member(read, found)
    return any_of(*(equal(read, each) for each in found))


def holding(read: Read, value: Any) -> Truth:
    """Return the truth of `value in read`: a text in a text, or an element of a list."""
    elements = read.shape.elements
    if elements is not None and elements.is_scalar:
        if value is None or elements.members or elements.is_optional:
            return UNKNOWN
        return equal(Read(read.name, elements), value)
    if type(value) is not str:
        return UNKNOWN
    if read.is_text:
        return _fits(read, value, "%%")
    if read.shape.is_tree and read.is_plain:
        return Truth(_fits(Read(read.name, read.shape), value, "%%").can, TRUE)
    return UNKNOWN


def starting(read: Read, prefixes: Any, at_end: bool) -> Truth:
    """Return the truth of `read.startswith(prefixes)` or `endswith`.

    `prefixes` is a text or a tuple of texts.
    """
    texts = prefixes if type(prefixes) is tuple else (prefixes,)
    if not all(type(text) is str for text in texts) or not read.is_text:
        return UNKNOWN
    if not texts:
        return NEVER
    return any_of(*(_fits(read, text, "%" if at_end else " %") for text in texts))


_UNSAFE: Final = {"lower": frozenset("i"), "upper": frozenset("afhijklnstwy")}
"""Letters that other characters become parts of when their case changes, so that the text need not
hold the letter itself: İ is two characters in lower case, ß is SS and ı is I in upper case."""


def _fits(read: Read, text: str, where: str) -> Truth:
    """Compare with the whole text (""), its inside ("%%"), its start (" %") or its end ("%")."""
    if ONE in text:
        return UNKNOWN
    if not read.is_stripped and read.case is None:
        segments = {"": [text], "%%": ["", text, ""], " %": [text, ""], "%": ["", text]}[where]
        leaf = like(read.name, glob(segments) if len(segments) > 1 else glob((text,)))
        return Truth(leaf, TRUE if read.shape.may_be_list else negation(leaf))
    if not read.is_text:
        return UNKNOWN
    unsafe = _UNSAFE.get(read.case or "", frozenset())
    runs = [""]
    for char in text:
        if read.case is None or (char.isascii() and char.lower() not in unsafe):
            runs[-1] += char
        else:
            runs.append("")
    if read.is_stripped or where in ("%%", "%"):
        runs.insert(0, "")
    if read.is_stripped or where in ("%%", " %"):
        runs.append("")
    first, *middle, last = runs if len(runs) > 1 else (runs[0], None)
    kept = [first, *(run for run in middle if run), *([] if last is None else [last])]
    try:
        leaf = like(read.name, glob(kept), ignore_case=read.case is not None)
    except FykeError:
        return UNKNOWN
    return Truth(leaf, TRUE)


def truthy(read: Read) -> Truth:
    """Return the truth of `if read:`. Zero, the empty text, False and None are false."""
    if not read.is_plain or not read.shape.is_scalar or read.shape.members or _is_odd(read):
        return UNKNOWN
    if read.classes == {bool}:
        can, cannot = In(read.name, (True,)), In(read.name, (False,))
    else:
        falsy: list[Scalar] = [False] if bool in read.classes else []
        falsy += [0] if read.classes & set(NUMBERS) else []
        falsy += [""] if str in read.classes else []
        if not falsy:
            return Truth(TRUE, negation(Exists(read.name)))
        cannot = In(read.name, tuple(falsy))
        can = negation(cannot)  # type: ignore[assignment]
    if read.shape.is_optional:
        return Truth(conjunction((Exists(read.name), can)),
                     disjunction((cannot, negation(Exists(read.name)))))  # fmt: skip
    return Truth(can, cannot)
