"""Fields: filters written on the fields of a class, in Python.

    S = fyke.fields(Stock)
    (S.price < 10) & (S.symbol == "Foo")        type is Stock and price < 10 and symbol = 'Foo'
    ~(S.price < 10)                             type is Stock and not price < 10

A type checker takes S for a Stock, so that it sees a misspelt field. The type of the event stands
once, on top, whatever is negated below. Conditions are joined with &, | and ~, as in pandas.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, NoReturn, TypeVar, cast
from uuid import UUID

from fyke.errors import EventError, FilterError, shown
from fyke.events.domain import Enumeration
from fyke.events.event import Document, Event
from fyke.events.spelling import nearest
from fyke.events.value import Kind, Scalar, admit, kind
from fyke.filters.filter import FALSE, Filter, conjunction, disjunction, negation
from fyke.filters.predicate import Exists, In, NotIn, TypeIs, compare, equals
from fyke.filters.text_predicate import Matches, ends_with, starts_with
from fyke.filters.text_predicate import contains as containing
from fyke.filters.text_predicate import like as fitting
from fyke.filters.texts.glob import from_like
from fyke.typed.description import Description
from fyke.typed.packing import is_object, pack
from fyke.typed.registry import described, nested_description
from fyke.typed.shapes import NOTHING, Shape, shown_value

_Type = TypeVar("_Type")
_KINDS = {"bool": Kind.BOOL, "int": Kind.NUMBER, "float": Kind.NUMBER, "Decimal": Kind.NUMBER}
_KINDS |= {"str": Kind.STRING, "UUID": Kind.STRING, "timedelta": Kind.NUMBER}
_KINDS |= {"datetime": Kind.TIMESTAMP, "date": Kind.TIMESTAMP}


def fields(cls: type[_Type]) -> _Type:
    """Return the fields of an event class, to write conditions on."""
    return cast(_Type, Fields(described(cls), described(cls), ""))


class Fields:
    """The fields of a class or of a nested record."""

    def __init__(self, owner: Description, description: Description, prefix: str) -> None:
        self._fyke = (owner, description, prefix)

    def __getattr__(self, member: str) -> Any:
        owner, description, prefix = self._fyke
        found = description.members.get(member)
        if found is None or not found.is_shown:
            names = [each.member for each in description.attributes if each.is_shown]
            meant = nearest(member, names)
            offer = f"did you mean {meant!r}?" if meant else f"there are {', '.join(names)}"
            raise AttributeError(f"{description.name} shows no {member!r}; {offer}")
        name = prefix + (found.name.removeprefix("data.") if prefix else found.name)
        inner = found.shape if found.shape.elements is None else found.shape.elements
        if inner.nested is not None:
            made: Any = Fields(owner, nested_description(inner.nested), f"{name}.")
        else:
            made = Field(owner, name, found.shape)
        return (lambda: made) if found.is_call else made


class Field:
    """One attribute. Comparing it makes a condition."""

    __slots__ = ("_name", "_owner", "_shape")

    def __init__(self, owner: Description, name: str, shape: Shape) -> None:
        self._owner = owner
        self._name = name
        self._shape = shape

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        if other is None:
            return self._made(negation(NotIn(self._name, (None,))))
        return self._compared("=", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        if other is None:
            return self._made(NotIn(self._name, (None,)))
        return self._compared("!=", other)

    def __lt__(self, other: object) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: object) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Condition:
        return self._compared(">=", other)

    __hash__ = None  # type: ignore[assignment]

    def startswith(self, prefix: str) -> Condition:
        return self._made(starts_with(self._name, _text(prefix)))

    def endswith(self, suffix: str) -> Condition:
        return self._made(ends_with(self._name, _text(suffix)))

    def __contains__(self, other: object) -> NoReturn:
        raise FilterError("`in` gives Python no condition; write fyke.typed.contains(field, text)")

    def __bool__(self) -> NoReturn:
        raise FilterError(f"{self._name} is a field, not a value; compare it, as in == True")

    def __repr__(self) -> str:
        return f"{self._owner.name}.{self._name}"

    def _compared(self, operator: str, other: object) -> Condition:
        if isinstance(other, Field):
            from fyke.filters.comparison import Compare

            return self._made(Compare(self._name, operator, other._name))
        value = self._value(other)
        order = self._shape.domain
        if isinstance(order, Enumeration) and operator not in ("=", "!="):
            return self._made(_ordered(self._name, operator, value, order))
        return self._made(compare(self._name, operator, value))

    def _value(self, other: object) -> Scalar:
        if isinstance(other, Enum):
            other = shown_value(other)
        elif isinstance(other, UUID):
            other = str(other)
        try:
            value = admit(other, self._name)
        except EventError as refused:
            raise FilterError(f"{self!r}: {refused.problem}") from None
        self._check_kind(value)
        return value

    def _check_kind(self, value: Scalar) -> None:
        shape = self._shape.elements or self._shape
        if shape.is_tree or shape.members or value is None:
            return
        known = {_KINDS.get(cls.__name__) for cls in shape.classes if cls is not NOTHING}
        if None not in known and known and kind(value) not in known:
            expected = " or ".join(sorted(c.__name__ for c in shape.classes if c is not NOTHING))
            raise FilterError(f"{self!r} is never equal to {shown(value)}", expected=expected)

    def _made(self, filter: Filter) -> Condition:
        return Condition(self._owner, filter)


def _ordered(name: str, operator: str, value: Scalar, order: Enumeration) -> Filter:
    """Compare members of an enumeration in its own order."""
    place = order.index(value)
    last = {"<": place, "<=": place + 1}.get(operator)
    first = {">": place + 1, ">=": place}.get(operator, 0)
    members = order.values[first:last]
    return In(name, members) if members else FALSE


def _text(value: object) -> str:
    if isinstance(value, str):
        return str(value)
    raise FilterError(f"{shown(value)} is no text")


class Condition:
    """A condition on the fields of a class; `filter` is what it asks of events."""

    __slots__ = ("inner", "owner")

    def __init__(self, owner: Description, inner: Filter) -> None:
        self.owner = owner
        self.inner = inner

    @property
    def filter(self) -> Filter:
        return conjunction((TypeIs(self.owner.name), self.inner))

    @property
    def cls(self) -> type:
        return self.owner.cls

    def matches(self, event: Any) -> bool:
        """Return True if an object, an event or a document fits."""
        packed: Event | Document = pack(event) if is_object(event) else event
        return self.filter.matches(packed)

    def __and__(self, other: object) -> Condition:
        if not isinstance(other, Condition):
            return NotImplemented
        narrow = self._related(other)[0]
        return Condition(narrow, conjunction((self.inner, other.inner)))

    def __or__(self, other: object) -> Condition:
        if not isinstance(other, Condition):
            return NotImplemented
        wide = self._related(other)[1]
        return Condition(wide, disjunction((self._under(wide), other._under(wide))))

    def __invert__(self) -> Condition:
        return Condition(self.owner, negation(self.inner))

    def _under(self, owner: Description) -> Filter:
        return self.inner if owner is self.owner else self.filter

    def _related(self, other: Condition) -> tuple[Description, Description]:
        """Return the narrower and the wider class of two; FilterError if neither is one."""
        if issubclass(self.cls, other.cls):
            return self.owner, other.owner
        if issubclass(other.cls, self.cls):
            return other.owner, self.owner
        raise FilterError(
            f"conditions on {self.owner.name} and {other.owner.name} cannot be joined: no event is "
            "of both types; subscribe twice"
        )

    def __bool__(self) -> NoReturn:
        raise FilterError(
            "a condition has no truth value: join conditions with &, | and ~ in place of and, or "
            "and not, with parentheses, and write (1 < S.price) & (S.price < 5)"
        )

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return str(self.filter)

    def __repr__(self) -> str:
        return f"Condition({str(self)!r})"


def _field(field: Any) -> Field:
    if isinstance(field, Field):
        return field
    raise FilterError(f"{shown(field)} is no field; expected one of fyke.fields(...)")


def one_of(field: Any, values: Iterable[object]) -> Condition:
    """Require that the field is equal to one of some values."""
    known = _field(field)
    found = tuple(known._value(each) for each in values)
    return known._made(In(known._name, found) if found else FALSE)


def contains(field: Any, value: object) -> Condition:
    """Require that the text contains a text, or the list a value."""
    known = _field(field)
    if known._shape.elements is not None:
        return known._made(equals(known._name, known._value(value)))
    return known._made(containing(known._name, _text(value)))


def like(field: Any, pattern: str) -> Condition:
    """Require that the text fits a pattern of SQL: `%` is any text, `_` any character."""
    known = _field(field)
    try:
        return known._made(fitting(known._name, from_like(_text(pattern))))
    except ValueError as refused:
        raise FilterError(str(refused)) from None


def matches(field: Any, expression: str) -> Condition:
    """Require that RE2 finds a regular expression in the text."""
    known = _field(field)
    return known._made(Matches(known._name, _text(expression)))


def exists(field: Any) -> Condition:
    """Require that the field is not None."""
    known = _field(field)
    return known._made(Exists(known._name))
