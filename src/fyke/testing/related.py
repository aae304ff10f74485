"""Filters that have to do with each other, and events that have to do with them.

Two filters that are drawn apart hardly ever meet: they name other attributes, other values, other
patterns, and whatever is claimed about the pair is trivial. Here one filter is made from another:
a conjunct dropped, a bound moved to a near value, a pattern in another case or another shape, a
list extended, `type is` for `type in`. And events are made from filters: at, just below and just
above the values that occur, texts that fit the patterns or almost do, lists of these.

Everything is a function of a `Random`: thousands of examples a second, and a seed says them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Final, TypeVar

from fyke.errors import SchemaError
from fyke.events.domain import (
    Boolean,
    Domain,
    Enumeration,
    FiniteDomain,
    FixedPoint,
    Integer,
    Real,
    String,
    Timestamp,
)
from fyke.events.event import Event
from fyke.events.number import DIGITS_MAX, INT_MAX, INT_MIN, ExactDecimal, digits, meaning
from fyke.events.schema import Attribute, EventType, Schema
from fyke.events.value import Kind, Scalar, Value, canonical, kind
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.algebra.normal_form import rebuilt
from fyke.filters.comparison import COMPARISONS, Compare
from fyke.filters.declaration import DECLARATIONS, Declaration
from fyke.filters.filter import And, Filter, Or, conjunction, disjunction, negation, walk
from fyke.filters.texts.glob import ONE, Glob, case_variants, fold, glob

NAMES: Final = ("a", "a", "a", "a.b", "a-b", "a b", "type")
"""The first stands for each other; the next are its prefixes, below and above the dot."""

LETTERS: Final = "aAbBkKsSiIßẞſİıⓐⒶÅå\u212a\u212b𝒳𐐀𐐨éΣσς1-"
"""Letters with twins in the other case, with several, with longer ones, and with none."""

WORDS: Final = (
    "",
    "a",
    "ab",
    "AB",
    "abc",
    "aB",
    "b",
    "ß",
    "ss",
    "ⓐ",
    "Ⓐb",
    "\u212a",
    "ſ",
    "İ",
    "𝒳",
)
TYPES: Final = ("Thing", "Stock", "Share", "Other")
NUMBERS: Final = (
    *(-2, -1.5, -1, -0.5, -0.0, 0, 0.5, 1, 1.5, 2, 3, 5, 0.1, 1e22, -1e22, 1e300, 5e-324),
    *(2**53, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63), 2251799813685248.5),
    *(8.4, 2.0**-30, 2.0**64, 2.0**60, ExactDecimal(2**64), ExactDecimal("0.10000000000000001")),
    *(ExactDecimal("8.400000000000000000000000000000000001"), ExactDecimal(f"{2**60}.5")),
)
MOMENTS: Final = (
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2024, 1, 1, tzinfo=UTC),
)
ADDRESSES: Final = ("10.1.2.3", "10.1.9.9", "11.0.0.0", "010.1.2.3", "::1", "2001:db8::5", "10.1.2")

_TEXT_OPERATORS: Final = [each for each in DECLARATIONS.values() if each.words]
Item = TypeVar("Item")


# --- near values ----------------------------------------------------------------------------------


def near(value: Scalar) -> list[Scalar]:
    """Return the value, its neighbours, and values that are easily taken for it."""
    match value:
        case bool():
            return [value, not value, int(value), str(value).lower()]
        case str():
            return [value, *_near_text(value)]
        case datetime():
            return [value, *_near_moment(value)]
        case int() | float() | Decimal():
            return [value, *_near_number(value)]
    return [None, "", 0, False, "null"]


def _near_number(number: int | float | Decimal) -> list[Scalar]:
    """Return numbers around one. A float gives the decimal it stands for and its binary value."""
    exact = meaning(number) if isinstance(number, float) else Decimal(number)
    bits = Decimal(float(number))
    steps = (Decimal(1), Decimal("0.5"), Decimal("1E-20"), exact.scaleb(-17), exact.scaleb(-30))
    near = [-exact, bits, *(exact + step for step in steps), *(exact - step for step in steps)]
    whole = math.floor(number)
    around: list[Scalar] = [bool(number == 1), str(number)]
    around += [canonical(each) for each in near if _is_number(each)]
    beside = [math.nextafter(float(number), end) for end in (-math.inf, math.inf)]
    around += [each for each in beside if math.isfinite(each)]
    around += [each for each in (whole, whole + 1) if INT_MIN <= each <= INT_MAX]
    return [*around, float(number)]


def _is_number(number: Decimal) -> bool:
    """Return True if an event may hold the number."""
    return digits(number) <= DIGITS_MAX and (not number or 5e-324 <= abs(number) < 1.7e308)


def _near_text(text: str) -> list[Scalar]:
    around = [text + "\0", text + "a", text[:-1], text[1:], "a" + text, text + text]
    around += [text.lower(), text.upper(), text.casefold(), text.swapcase()]
    if text:
        around += [text[:-1] + _shifted(text[-1], step) for step in (-1, 1)]
    return [*around]


def _shifted(char: str, step: int) -> str:
    """Return the character before or after, without surrogates and up to the last one."""
    code = min(max(ord(char) + step, 0), 0x10FFFF)
    return chr({0xD800: 0xE000, 0xDFFF: 0xD7FF}.get(code, code))


def _near_moment(moment: datetime) -> list[Scalar]:
    around: list[Scalar] = [moment.isoformat().replace("+00:00", "Z")]
    for step in (timedelta(microseconds=1), timedelta(days=1)):
        if moment - datetime.min.replace(tzinfo=UTC) >= step:
            around.append(moment - step)
        if datetime.max.replace(tzinfo=UTC) - moment >= step:
            around.append(moment + step)
    return around


# --- one predicate --------------------------------------------------------------------------------


def word(rng: Random) -> str:
    return (
        rng.choice(WORDS)
        if rng.random() < 0.5
        else "".join(rng.choices(LETTERS, k=rng.randint(0, 3)))
    )


def scalar(rng: Random) -> Scalar:
    """Return any scalar, numbers and texts more often than others."""
    pick = rng.random()
    if pick < 0.4:
        return rng.choice(NUMBERS)
    if pick < 0.8:
        return word(rng)
    return rng.choice((None, True, False, *MOMENTS))


def pattern(rng: Random) -> Glob:
    pieces = [
        "".join(rng.choices([*LETTERS, "a", "b", ONE, ONE], k=rng.randint(0, 2)))
        for _ in range(rng.choice((1, 2, 2, 3, 4)))
    ]
    return glob(pieces)


def leaf(rng: Random, name: str | None = None) -> Filter:
    """Return one predicate of any kind."""
    name = name or rng.choice(NAMES)
    if name == "type" and rng.random() < 0.7:
        return rng.choice((p.TypeIs, _type_in))(rng.choice(TYPES))
    pick = rng.randrange(13)
    match pick:
        case 0 | 1:
            return p.In(name, _several(rng))
        case 2:
            return p.NotIn(name, _several(rng))
        case 3 | 4 | 5:
            return _interval(rng, name)
        case 6 | 7:
            return t.like(name, pattern(rng), rng.random() < 0.5)
        case 8:
            shape = rng.choice((t.starts_with, t.ends_with, t.contains))
            return shape(name, word(rng), rng.random() < 0.5)
        case 9 | 10:
            return _on_text(rng, name, rng.choice(_TEXT_OPERATORS))
        case 11:
            return p.Exists(name)
    return Compare(name, rng.choice(sorted(COMPARISONS)), rng.choice(NAMES))


def _on_text(rng: Random, name: str, operator: Declaration) -> Filter:
    return operator.make(name, rng.choice(operator.examples))


def spans(rng: Random, name: str, count: int) -> list[Filter]:
    """Return sets and intervals on one attribute that touch, overlap or just do not."""
    found = [rng.choice((_around(rng, name, scalar(rng)), _interval(rng, name)))]
    while len(found) < count:
        made = varied_leaf(rng, rng.choice(found))
        if isinstance(made, p.In | p.Range):
            found.append(made)
    return found


def profiles(rng: Random, size: int) -> list[Filter]:
    """Return conjunctions over the same attributes, with equal or nearly equal predicates."""
    names = rng.sample(sorted(set(NAMES)), rng.randint(1, 3))
    first = [leaf(rng, name) for name in names]
    return [
        conjunction(varied_leaf(rng, each) if rng.random() < 0.6 else each for each in first)
        for _ in range(size)
    ]


def _type_in(name: str) -> Filter:
    return p.equals("type", name)


def _several(rng: Random) -> tuple[Scalar, ...]:
    return tuple(scalar(rng) for _ in range(rng.choice((1, 1, 2, 3))))


def _interval(rng: Random, name: str) -> Filter:
    ends: Sequence[Scalar] = rng.choice((NUMBERS, NUMBERS, WORDS, MOMENTS))
    low, high = rng.choice(ends), rng.choice(ends)
    if rng.random() < 0.9 and high < low:  # type: ignore[operator]
        low, high = high, low
    return _range(rng, name, low, high)


def _range(rng: Random, name: str, low: Scalar, high: Scalar) -> Filter:
    """Return an interval with one end or both, each open or closed."""
    kept = rng.choice(((low, high), (low, None), (None, high)))
    return p.Range(name, *kept, low_open=rng.random() < 0.5, high_open=rng.random() < 0.5)


# --- one filter made from another -----------------------------------------------------------------


def tree(rng: Random, leaves: int = 3) -> Filter:
    """Return a small tree over leaves that are related to each other."""
    found = [leaf(rng)]
    for _ in range(rng.randrange(leaves)):
        found.append(varied_leaf(rng, rng.choice(found)) if rng.random() < 0.6 else leaf(rng))
    found = [negation(each) if rng.random() < 0.2 else each for each in found]
    while len(found) > 1:
        taken, found = found[:2], found[2:]
        found.append(rng.choice((conjunction, disjunction))(taken))
    return found[0] if rng.random() < 0.9 else negation(found[0])


def family(rng: Random, size: int = 3, leaves: int = 3) -> list[Filter]:
    """Return a filter, and others that are each made from an earlier one."""
    members = [tree(rng, leaves)]
    while len(members) < size:
        made = varied(rng, rng.choice(members))
        members.append(varied(rng, made) if rng.random() < 0.3 else made)
    return members


def varied(rng: Random, filter: Filter) -> Filter:
    """Return the filter with one thing changed, now and then with none."""
    if not filter.children:
        return varied_leaf(rng, filter) if rng.random() < 0.8 else _grown(rng, filter)
    children = list(filter.children)
    at = rng.randrange(len(children))
    match rng.randrange(6):
        case 0 if len(children) > 1:
            del children[at]
        case 1 if len(children) > 1:
            rng.shuffle(children)
        case 2:
            return _grown(rng, filter)
        case 3 if isinstance(filter, And | Or):
            return disjunction(children) if isinstance(filter, And) else conjunction(children)
        case _:
            children[at] = varied(rng, children[at])
    return rebuilt(filter, children)


def _grown(rng: Random, filter: Filter) -> Filter:
    """Return the filter joined with a relative of one of its leaves."""
    leaves = [each for each in walk(filter) if not each.children]
    other = varied_leaf(rng, rng.choice(leaves)) if rng.random() < 0.7 else leaf(rng)
    match rng.randrange(5):
        case 0:
            return negation(filter)
        case 1 | 2:
            return conjunction((filter, other))
    return disjunction((filter, other))


def varied_leaf(rng: Random, filter: Filter) -> Filter:
    """Return another predicate on the same attribute that says almost the same."""
    match filter:
        case p.TypeIs(name):
            return _varied_type(rng, (name,))
        case p.In("type", values) if rng.random() < 0.7:
            return _varied_type(rng, values)
        case p.In(name, values) | p.NotIn(name, values):
            return _varied_set(rng, filter, name, values)
        case p.Range():
            return _varied_range(rng, filter)
        case t.Like():
            return _varied_like(rng, filter)
        case t.InNetwork(name, network):
            wider = t.InNetwork(name, network.supernet())
            other = _on_text(rng, name, DECLARATIONS[t.InNetwork])
            address = p.equals(name, rng.choice(ADDRESSES))
            return rng.choice((wider, other, address, address))
        case Compare(name, _, other):
            flipped = Compare(other, rng.choice(sorted(COMPARISONS)), name)
            return rng.choice(
                (flipped, Compare(name, rng.choice(sorted(COMPARISONS)), other), p.Exists(other))
            )
        case t.TextPredicate() | p.Exists():
            return leaf(rng, filter.attribute)
    return leaf(rng)


def _varied_type(rng: Random, names: tuple[Scalar, ...]) -> Filter:
    one = rng.choice(names)
    texts = [name for name in names if isinstance(name, str)] or [rng.choice(TYPES)]
    more = (*names, rng.choice(TYPES))
    return rng.choice(
        (
            p.TypeIs(rng.choice(texts)),
            p.In("type", (one,)),
            p.In("type", more),
            p.NotIn("type", more),
            disjunction(p.TypeIs(each) for each in dict.fromkeys((*texts, rng.choice(TYPES)))),
        )
    )


def _varied_set(rng: Random, filter: Filter, name: str, values: tuple[Scalar, ...]) -> Filter:
    one = rng.choice(values)
    other = rng.choice(near(one))
    match rng.randrange(6):
        case 0 | 1:
            return type(filter)(name, (*values, other))  # type: ignore[call-arg]
        case 2 if len(values) > 1:
            return type(filter)(name, values[1:])  # type: ignore[call-arg]
        case 3 if isinstance(one, str):
            shape = rng.choice((t.starts_with, t.ends_with, t.contains, _exactly))
            return shape(name, one[: rng.randint(0, len(one))], rng.random() < 0.5)
        case 4:
            return (p.NotIn if isinstance(filter, p.In) else p.In)(name, values)
        case _:
            return _around(rng, name, one)


def _exactly(name: str, text: str, ignore_case: bool) -> Filter:
    return t.like(name, Glob((text,)), ignore_case)


def _around(rng: Random, name: str, value: Scalar) -> Filter:
    """Return an interval that ends at a value or near it, or a list if the value has no order."""
    if kind(value) in (Kind.NULL, Kind.BOOL):
        return p.In(name, (value, rng.choice(near(value))))
    ends = [each for each in near(value) if kind(each) is kind(value)]
    low, high = sorted(rng.choices(ends, k=2))  # type: ignore[type-var]
    return _range(rng, name, low, high)


def _varied_range(rng: Random, filter: p.Range) -> Filter:
    name, low, high = filter.attribute, filter.low, filter.high
    low_open, high_open = filter.low_open, filter.high_open
    match rng.randrange(6):
        case 0:
            low_open = not low_open
        case 1:
            high_open = not high_open
        case 2 if low is not None:
            low = _moved(rng, low)
        case 3 if high is not None:
            high = _moved(rng, high)
        case 4:
            low, high = high, low
        case _:
            ends = [end for end in (low, high) if end is not None]
            if isinstance(ends[0], str) and rng.random() < 0.6:
                return _varied_like(rng, t.Like(name, glob((ends[0], ""))))
            return rng.choice((p.In, p.NotIn))(name, tuple(ends))
    return p.Range(name, low, high, low_open, high_open)


def _moved(rng: Random, end: Scalar) -> Scalar:
    return rng.choice([each for each in near(end) if kind(each) is kind(end)])


def _varied_like(rng: Random, filter: t.Like) -> Filter:
    name, segments = filter.attribute, list(filter.pattern.segments)
    at = rng.randrange(len(segments))
    piece = segments[at]
    match rng.randrange(8):
        case 0 | 1:
            return t.like(name, filter.pattern, not filter.ignore_case)
        case 2:
            segments[at] = piece.upper() if rng.random() < 0.5 else piece.lower()
        case 3:
            segments[at] = piece[:-1] if rng.random() < 0.5 else piece[1:]
        case 4:
            segments[at] = piece + rng.choice((ONE, "a", rng.choice(LETTERS)))
        case 5:
            segments = rng.choice(
                ([*segments, ""], ["", *segments], [piece], [piece, ""], ["", piece])
            )
        case 6 if piece:
            here = rng.randrange(len(piece))
            segments[at] = piece[:here] + ONE + piece[here + 1 :]
        case _:
            return _around(rng, name, fitting(rng, filter))
    return t.like(name, glob(segments), filter.ignore_case)


# --- events made from filters ---------------------------------------------------------------------


def fitting(rng: Random, filter: t.Like) -> str:
    """Return a text that fits the pattern, in any case if the pattern ignores it."""
    text = rng.choice(("", "a", "Ab", "b1")).join(filter.pattern.segments)
    text = "".join(rng.choice(LETTERS) if char == ONE else char for char in text)
    return _recased(rng, text) if filter.ignore_case else text


def _recased(rng: Random, text: str) -> str:
    return "".join(rng.choice(case_variants(fold(char))) for char in text)


def mentioned(rng: Random, filters: Iterable[Filter]) -> dict[str, list[Scalar]]:
    """Return the values in the filters and near ones, by attribute."""
    found: dict[str, list[Scalar]] = {}
    for each in dict.fromkeys(node for filter in filters for node in walk(filter)):
        if isinstance(each, p.Predicate):
            found.setdefault(each.attribute, []).extend(_spoken(rng, each))
        if isinstance(each, Compare):
            found.setdefault(each.other, []).extend(_spoken(rng, each))
    return {name: [*values, None, True, 0, ""] for name, values in sorted(found.items())}


def _spoken(rng: Random, leaf: Filter) -> Iterable[Scalar]:
    match leaf:
        case p.In(_, values) | p.NotIn(_, values):
            return [close for value in values for close in near(value)]
        case p.Range(_, low, high):
            return [close for end in (low, high) if end is not None for close in near(end)]
        case t.Like():
            texts = [fitting(rng, leaf) for _ in range(6)]
            return [*texts, *near(texts[0]), *(_recased(rng, text) for text in texts)]
        case t.InNetwork():
            return ADDRESSES
        case p.TypeIs(name):
            return [name, *TYPES]
    return [1, 2, 1.5, "a", "ab", "B", None, MOMENTS[0], MOMENTS[2], scalar(rng)]


def events_about(rng: Random, filters: Sequence[Filter], count: int = 60) -> list[Event]:
    """Return events over the attributes of the filters, with values that the filters mention."""
    pool = mentioned(rng, filters)
    return [_event(rng, pool) for _ in range(count)]


def _event(rng: Random, pool: dict[str, list[Scalar]], schema: Schema | None = None) -> Event:
    attributes: dict[str, Value] = {}
    for name, values in pool.items():
        single = schema is not None and schema.is_single(name)
        if rng.random() < 0.85:
            attributes[name] = rng.choice(values) if single else _value(rng, values)
    supertypes = rng.sample(TYPES, rng.choice((0, 0, 0, 1, 2)))
    return Event.flat(attributes, tuple(supertypes))


def _value(rng: Random, values: Sequence[Scalar]) -> Value:
    if rng.random() < 0.7:
        return rng.choice(values)
    return tuple(rng.choices(values, k=rng.choice((0, 1, 2, 3))))


# --- schemas --------------------------------------------------------------------------------------

DOMAINS: Final = (
    *(Integer(-3, 4), Integer(-2, -1), Integer(0, 0), Integer(), Integer(2**53 - 2, 2**53 + 2)),
    *(FixedPoint(-1.5, 1.5, decimals=1), FixedPoint(-0.25, 0.5, decimals=2), FixedPoint(-5, 5, 0)),
    *(Real(), Real(-1.5, 1.5), Real(None, 0.5), Real(-0.5, None)),
    *(String(), Enumeration(WORDS[:7]), Boolean(), Timestamp()),
)
HIERARCHY: Final = {"Thing": (), "Stock": ("Thing",), "Share": ("Stock",)}
"""The supertypes of each type."""


def schema(rng: Random, filters: Sequence[Filter]) -> Schema:
    """Return domains for most of the filters' attributes, and a hierarchy of types.

    Some attributes are required: of every event, or of those of a type.
    """
    declared = [
        Attribute(name, _domain(rng, values), rng.random() < 0.3, rng.random() < 0.35)
        for name, values in mentioned(rng, filters).items()
        if name != "type" and rng.random() < 0.8
    ]
    owners = [rng.choice((None, *HIERARCHY)) for _ in declared]
    owned = list(zip(owners, declared, strict=True))
    types = [
        EventType(name, [each for owner, each in owned if owner == name], supertypes)
        for name, supertypes in HIERARCHY.items()
    ]
    return Schema([each for owner, each in owned if owner is None], types)


def _domain(rng: Random, values: Sequence[Scalar]) -> Domain:
    """Return a domain that mostly holds several of the values."""
    held = [sum(map(domain.contains, values[:-4])) for domain in DOMAINS]
    return rng.choices(DOMAINS, [0.1 + min(count, 5) for count in held])[0]


def fitting_events(
    rng: Random, filters: Sequence[Filter], schema: Schema, count: int = 60
) -> list[Event]:
    """Return events about the filters that fit the schema, as it reads them."""
    pool = {
        name: _of_domain(rng, schema.attribute(name), values)
        for name, values in mentioned(rng, filters).items()
    }
    pool = {name: values for name, values in pool.items() if values}
    found = []
    for _ in range(count):
        try:
            found.append(schema.validate(_event(rng, pool, schema)))
        except SchemaError:
            continue
    return found


def _of_domain(rng: Random, declared: Attribute | None, values: Sequence[Scalar]) -> list[Scalar]:
    """Return the values that an attribute can hold, and some more of its domain."""
    if declared is None:
        return [*values]
    domain = declared.domain
    more: list[Scalar] = []
    if isinstance(domain, FiniteDomain):
        size = domain.size
        more = [domain.at(at) for at in {0, size - 1, rng.randrange(size), rng.randrange(size)}]
    return [*more, *(value for value in values if domain.contains(domain.read(value)))]
