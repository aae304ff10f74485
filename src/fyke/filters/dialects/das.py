"""The profile definition language of DAS: at most one predicate per attribute, and a type.

    profile   = "PROFILE" "(" "PRI" "(" [ part { "," part } ] ")" ")"
    event     = "EVENT" "(" [ given { "," given } ] ")"
    part      = "TYPE" "=" type | attribute condition
    given     = "TYPE" "=" type | attribute "=" value
    condition = "=" value | ( "<" | ">" ) bound
              | "IN" "{" value { "," value } "}"
              | "BETWEEN" "[" bound "," bound "]"
    bound     = number | word | string      a word or a string only where a schema has its order
    type      = word | string
    attribute = word | '"' name '"'         a quote within the name is doubled
    value     = number | word | string      a string stands in single quotes, doubled within

Example. `PROFILE ( PRI ( a1=5 , a2>10 , TYPE=T1 ) )` is `a1 = 5 and a2 > 10 and type = 'T1'`.
Type. DAS tests types for equality (DAS-3), so `TYPE=T1` does not accept subtypes of T1.
Values. Integers, fixed point numbers and the strings of enumerations. An enumeration has an order
of its own, which a profile does not state; `<`, `>` and BETWEEN on strings are therefore refused
unless a schema declares the enumeration (`orders`), and IN says the same.
Exact. Every profile is a conjunction of predicates; there is no residual.
Source. DAS-2, DAS-3, DAS-5, DAS-6; the notations of IN, BETWEEN and events are ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from typing import Final, TypeVar

from fyke.errors import EventError, FilterError, shown
from fyke.events.event import Event
from fyke.events.value import Kind, Scalar, Value, canonical, kind
from fyke.filters.filter import TRUE, And, Filter, conjunction
from fyke.filters.language.tokens import Tokens
from fyke.filters.predicate import In, Range, compare, equals
from fyke.limits import DEFAULT_LIMITS, Limits

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<word>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?![\w.]))
    | (?P<string>'[^']*(?:''[^']*)*'(?!'))
    | (?P<quoted>"[^"]*(?:""[^"]*)*"(?!"))
    | (?P<symbol>[=<>(){}\[\],])
    | (?P<bad>\S)
    )""",
    re.VERBOSE,
)
_BARE: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_RESERVED: Final = frozenset({"profile", "pri", "event", "type", "in", "between"})
_TYPE: Final = "type"
_CONDITIONS: Final = "=, <, >, IN {...} or BETWEEN [..., ...]"
_VALUE: Final = "a number, a word or a 'string'"

_Read = TypeVar("_Read")


def parse(source: object, limits: Limits = DEFAULT_LIMITS, orders: Collection[str] = ()) -> Filter:
    """Read a profile; `orders` are the attributes whose strings have an order."""
    if not isinstance(source, str):
        raise FilterError(f"a DAS profile is text, not {type(source).__name__}")
    reading = _Reading(source, limits, orders)
    return conjunction(reading.profile())


def parse_event(text: str, limits: Limits = DEFAULT_LIMITS) -> Event:
    """Read an event. EventError says where the text goes wrong."""
    if not isinstance(text, str):
        raise EventError(f"a DAS event is text, not {type(text).__name__}")
    try:
        document = _Reading(text, limits).event()
    except FilterError as error:
        raise EventError(str(error)) from None
    return Event(document, limits=limits)


class _Reading:
    """One pass over a profile's or an event's text."""

    def __init__(self, text: str, limits: Limits, orders: Collection[str] = ()) -> None:
        self.tokens = Tokens(text, _TOKEN, limits)
        self.orders = orders
        self.limits = limits
        self.seen: set[str] = set()

    def profile(self) -> list[Filter]:
        self.keyword("PROFILE")
        self.tokens.need("(")
        self.keyword("PRI")
        self.tokens.need("(")
        predicates = self.parts(self.predicate)
        self.tokens.need(")")
        self.end()
        return predicates

    def event(self) -> dict[str, Scalar]:
        self.keyword("EVENT")
        self.tokens.need("(")
        pairs = self.parts(self.pair)
        self.end()
        return dict(pairs)

    def parts(self, read: Callable[[str, bool], _Read]) -> list[_Read]:
        """Read the parts up to the closing parenthesis. Each speaks about another attribute."""
        if self.tokens.skip(")"):
            return []
        parts = [self.part(read)]
        while self.tokens.skip(","):
            parts.append(self.part(read))
            if len(parts) > self.limits.nodes_max:
                self.tokens.fail(f"no more than {self.limits.nodes_max} parts")
        self.tokens.need(")", ", or )")
        return parts

    def part(self, read: Callable[[str, bool], _Read]) -> _Read:
        at = self.tokens.at
        is_type = self.is_keyword("TYPE")
        attribute = self.attribute()
        if attribute in self.seen:
            self.tokens.refuse(
                "TYPE is given twice" if is_type else f"{attribute} is spoken of twice",
                at,
                expected="each attribute at most once",
            )
        self.seen.add(attribute)
        return read(attribute, is_type)

    def attribute(self) -> str:
        if self.is_keyword("TYPE"):
            self.tokens.take()
            return _TYPE
        if self.tokens.kind == "quoted":
            return self.tokens.take()[1:-1].replace('""', '"')
        if self.tokens.kind != "word" or self.tokens.word.lower() in _RESERVED:
            self.tokens.fail("TYPE or the name of an attribute (a reserved word in double quotes)")
        return self.tokens.take()

    def predicate(self, attribute: str, is_type: bool) -> Filter:
        if is_type:
            return equals(attribute, self.type_name())
        tokens = self.tokens
        if tokens.skip("="):
            return equals(attribute, self.value())
        if tokens.kind == "symbol" and tokens.word in "<>":
            operator = tokens.take()
            bound = self.bound(attribute, f"a number after {operator}")
            return compare(attribute, operator, bound)
        if self.is_keyword("IN"):
            tokens.take()
            return In(attribute, self.values())
        if self.is_keyword("BETWEEN"):
            tokens.take()
            return self.between(attribute)
        tokens.fail(_CONDITIONS)

    def pair(self, attribute: str, is_type: bool) -> tuple[str, Scalar]:
        if is_type:
            return attribute, self.type_name()
        self.tokens.need("=")
        return attribute, self.value()

    def type_name(self) -> str:
        self.tokens.need("=", "= (a type is tested for equality)")
        if self.tokens.kind not in ("word", "string"):
            self.tokens.fail("the name of a type")
        return str(self.value())

    def values(self) -> tuple[Scalar, ...]:
        self.tokens.need("{")
        values = [self.value()]
        while self.tokens.skip(","):
            values.append(self.value())
            if len(values) > self.limits.list_size_max:
                self.tokens.fail(f"no more than {self.limits.list_size_max} values")
        self.tokens.need("}", ", or }")
        return tuple(values)

    def between(self, attribute: str) -> Filter:
        self.tokens.need("[")
        low = self.bound(attribute, "the lower bound, a number")
        self.tokens.need(",")
        high = self.bound(attribute, "the upper bound, a number")
        self.tokens.need("]")
        return Range(attribute, low, high)

    def value(self) -> Scalar:
        match self.tokens.kind:
            case "number":
                return self.tokens.number()
            case "string":
                return self.tokens.take()[1:-1].replace("''", "'")
            case "word":
                return self.tokens.take()
        self.tokens.fail(_VALUE)

    def bound(self, attribute: str, expected: str) -> Scalar:
        if attribute in self.orders and self.tokens.kind in ("word", "string"):
            return self.value()
        if self.tokens.kind in ("word", "string"):
            expected += "; the order of an enumeration is unknown here, list its values with IN"
        if self.tokens.kind != "number":
            self.tokens.fail(expected)
        return self.tokens.number()

    def is_keyword(self, word: str) -> bool:
        return self.tokens.kind == "word" and self.tokens.word.lower() == word.lower()

    def keyword(self, word: str) -> None:
        if not self.is_keyword(word):
            self.tokens.fail(word)
        self.tokens.take()

    def end(self) -> None:
        if self.tokens.kind != "end":
            self.tokens.fail("the end of the text")


# --- printing -----------------------------------------------------------------------------------


def to_text(filter: Filter) -> str:
    """Return the profile that says the same as a filter; FilterError if the language cannot say it.

    `parse(to_text(f)) == f` for every filter that has such a text.
    """
    predicates = filter.children if isinstance(filter, And) else (filter,)
    if filter == TRUE:
        predicates = ()
    seen: set[str] = set()
    for predicate in predicates:
        if not isinstance(predicate, (In, Range)):
            raise _unsayable(predicate)
        if predicate.attribute in seen:
            raise FilterError(
                f"DAS allows one predicate per attribute; {predicate.attribute} has more"
            )
        seen.add(predicate.attribute)
    return f"PROFILE ( PRI ({_list(map(_part, predicates))}) )"


def event_to_text(event: Event) -> str:
    """Return the text of an event whose values are numbers and strings; EventError otherwise."""
    try:
        return f"EVENT ({_list(_pair(name, value) for name, value in event.attributes.items())})"
    except FilterError as error:
        raise EventError(str(error)) from None


def _part(predicate: Filter) -> str:
    match predicate:
        case In(attribute, (value,)):
            return _pair(attribute, value)
        case In(attribute, values):
            return f"{_name(attribute)} IN {{{', '.join(map(_literal, values))}}}"
        case Range() if predicate.kind is Kind.NUMBER:
            return _name(predicate.attribute) + _interval(predicate)
    raise _unsayable(predicate)


def _interval(range_: Range) -> str:
    low, high = range_.low, range_.high
    if high is None and range_.low_open:
        return f">{_literal(low)}"
    if low is None and range_.high_open:
        return f"<{_literal(high)}"
    if low is None or high is None or range_.low_open or range_.high_open:
        raise _unsayable(range_)
    return f" BETWEEN [{_literal(low)}, {_literal(high)}]"


def _pair(attribute: str, value: Value) -> str:
    if attribute == _TYPE and isinstance(value, str):
        return f"TYPE={value if _BARE.fullmatch(value) else _literal(value)}"
    return f"{_name(attribute)}={_literal(value)}"


def _name(attribute: str) -> str:
    if _BARE.fullmatch(attribute) and attribute.lower() not in _RESERVED:
        return attribute
    return '"' + attribute.replace('"', '""') + '"'


def _literal(value: Value) -> str:
    if isinstance(value, tuple) or kind(value) not in (Kind.NUMBER, Kind.STRING):
        raise FilterError(f"DAS has no value {shown(value)}", expected="a number or a string")
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    number = canonical(value)
    if isinstance(number, int):
        return str(number)
    digits = format(Decimal(str(number)), "f")
    return digits if "." in digits else f"{digits}.0"


def _list(parts: Iterable[str]) -> str:
    return f" {' , '.join(parts)} "


def _unsayable(filter: Filter) -> FilterError:
    return FilterError(f"DAS cannot say {shown(str(filter))}", expected=_CONDITIONS)
