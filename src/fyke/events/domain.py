"""Domains: which values an attribute may have.

A finite domain is also ordered, so that each value has an index and neighbours (DAS-4):

    FixedPoint(0, 100, decimals=2).succ(8.3)            8.31
    Enumeration(("low", "mid", "high")).pred("low")     None, there is none

Fixed-point values are the floats nearest to the decimals, found through integers of the last
decimal place: however far one counts, the result is the float that the decimal's text denotes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final

from fyke.errors import SchemaError, shown
from fyke.events.number import INT_MAX, INT_MIN, ExactDecimal
from fyke.events.spelling import nearest
from fyke.events.value import Scalar, canonical, parse_timestamp

_UNITS_MAX: Final = 10**15
"""Decimals of up to 15 digits are told apart by float64."""


class Domain(ABC):
    """A set of scalars. Null is in none."""

    __slots__ = ()

    @abstractmethod
    def contains(self, value: Scalar) -> bool: ...

    @abstractmethod
    def to_document(self) -> object:
        """Return the JSON form, which `from_document` reads."""

    def read(self, value: Scalar) -> Scalar:
        """Return the value as the domain holds it: a timestamp may arrive as text."""
        return value


class FiniteDomain(Domain):
    """A finite, ordered set: its values are counted from 0."""

    __slots__ = ()

    @property
    @abstractmethod
    def size(self) -> int: ...

    @abstractmethod
    def at(self, index: int) -> Scalar:
        """Return the value at an index within the size."""

    @abstractmethod
    def _index(self, value: Scalar) -> int | None: ...

    def contains(self, value: Scalar) -> bool:
        return self._index(value) is not None

    def index(self, value: Scalar) -> int:
        """Return the place of a value; SchemaError where the domain does not have it."""
        index = self._index(value)
        if index is None:
            raise SchemaError(f"{shown(value)} is not in the domain {self}")
        return index

    def pred(self, value: Scalar) -> Scalar:
        """Return the value before this one; None for the first."""
        index = self.index(value)
        return self.at(index - 1) if index > 0 else None

    def succ(self, value: Scalar) -> Scalar:
        """Return the value after this one; None for the last."""
        index = self.index(value)
        return self.at(index + 1) if index + 1 < self.size else None


@dataclass(frozen=True, slots=True)
class Integer(FiniteDomain):
    """The integers from `low` to `high`. 5.0 is the integer 5."""

    low: int = INT_MIN
    high: int = INT_MAX

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            if type(end) is not int:
                raise SchemaError(f"{shown(end)} is not an integer")
        _check_order(self.low, self.high)

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def at(self, index: int) -> int:
        return self.low + index

    def _index(self, value: Scalar) -> int | None:
        number = canonical(value)
        return (
            number - self.low if type(number) is int and self.low <= number <= self.high else None
        )

    def to_document(self) -> object:
        if (self.low, self.high) == (INT_MIN, INT_MAX):
            return "integer"
        return {"integer": {"low": self.low, "high": self.high}}


@dataclass(frozen=True, slots=True)
class FixedPoint(FiniteDomain):
    """The numbers from `low` to `high` with a number of decimals."""

    low: float
    high: float
    decimals: int

    def __post_init__(self) -> None:
        if type(self.decimals) is not int or not 0 <= self.decimals <= 15:
            raise SchemaError(f"{shown(self.decimals)} decimals; expected 0 to 15")
        _take_decimals(self)
        for end in (self.low, self.high):
            _check_number(end)
            if abs(end) * self._scale > _UNITS_MAX:
                raise SchemaError(f"{end} with {self.decimals} decimals has more than 15 digits")
            if self._units(end) is None:
                raise SchemaError(f"{end} has more than {self.decimals} decimals")
        _check_order(self.low, self.high)

    @property
    def size(self) -> int:
        return round(self.high * self._scale) - self._first + 1

    def at(self, index: int) -> float:
        return (self._first + index) / self._scale

    @property
    def _scale(self) -> int:
        return int(10**self.decimals)

    @property
    def _first(self) -> int:
        return round(self.low * self._scale)

    def _index(self, value: Scalar) -> int | None:
        if type(value) not in (int, float) or not self.low <= value <= self.high:  # type: ignore[operator]
            return None
        units = self._units(value)  # type: ignore[arg-type]
        return None if units is None else units - self._first

    def _units(self, number: float) -> int | None:
        """Return the number in units of the last decimal; None where it has more decimals.

        Division by a power of ten rounds correctly.
        """
        units = round(number * self._scale)
        return units if units / self._scale == number else None

    def to_document(self) -> object:
        return {"fixed": {"low": self.low, "high": self.high, "decimals": self.decimals}}


@dataclass(frozen=True, slots=True)
class Enumeration(FiniteDomain):
    """Some strings, in an order of their own."""

    values: tuple[str, ...]
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = tuple(self.values)
        if not values or not all(type(value) is str for value in values):
            raise SchemaError("an enumeration is a list of strings, at least one")
        places = {value: place for place, value in enumerate(values)}
        if len(places) < len(values):
            twice = next(value for place, value in enumerate(values) if places[value] != place)
            raise SchemaError(f"the enumeration has {shown(twice)} twice")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_places", places)

    @property
    def size(self) -> int:
        return len(self.values)

    def at(self, index: int) -> str:
        return self.values[index]

    def _index(self, value: Scalar) -> int | None:
        return self._places.get(value) if type(value) is str else None

    def to_document(self) -> object:
        return {"enumeration": list(self.values)}


@dataclass(frozen=True, slots=True)
class Real(Domain):
    """Numbers, with bounds or without."""

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        _take_decimals(self)
        for end in (self.low, self.high):
            if end is not None:
                _check_number(end)
        if self.low is not None and self.high is not None:
            _check_order(self.low, self.high)

    def contains(self, value: Scalar) -> bool:
        if not isinstance(value, (int, float, ExactDecimal)) or isinstance(value, bool):
            return False
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    def to_document(self) -> object:
        ends = {"low": self.low, "high": self.high}
        bounds = {name: end for name, end in ends.items() if end is not None}
        return {self._name: bounds} if bounds else self._name

    @property
    def _name(self) -> str:
        return "real"


@dataclass(frozen=True, slots=True)
class Decimals(Real):
    """Numbers of up to 38 digits, which JSON is read for as they are written, not as float64."""

    @property
    def _name(self) -> str:
        return "decimal"


@dataclass(frozen=True, slots=True)
class String(Domain):
    """Any string."""

    def contains(self, value: Scalar) -> bool:
        return type(value) is str

    def to_document(self) -> object:
        return "string"


@dataclass(frozen=True, slots=True)
class Timestamp(Domain):
    """Any timestamp; text in RFC 3339 is read as one."""

    def contains(self, value: Scalar) -> bool:
        return isinstance(value, datetime)

    def read(self, value: Scalar) -> Scalar:
        if not isinstance(value, str):
            return value
        try:
            return parse_timestamp(value)
        except ValueError:
            return value

    def to_document(self) -> object:
        return "timestamp"


@dataclass(frozen=True, slots=True)
class Boolean(Domain):
    """True and false."""

    def contains(self, value: Scalar) -> bool:
        return type(value) is bool

    def to_document(self) -> object:
        return "boolean"


@dataclass(frozen=True, slots=True)
class Named(Domain):
    """The domain that a schema has under a name. Only the schema knows which it is."""

    name: str

    def contains(self, value: Scalar) -> bool:
        raise SchemaError(f"the domain {shown(self.name)} is known to its schema only")

    def to_document(self) -> object:
        return self.name


def _take_decimals(domain: FixedPoint | Real) -> None:
    """Allow bounds that are decimals, as money is written: Decimal("99.90") is 99.9."""
    for name in ("low", "high"):
        end = getattr(domain, name)
        if isinstance(end, Decimal):
            with suppress(ValueError):
                object.__setattr__(domain, name, canonical(end))


def _check_number(end: object) -> None:
    if type(end) is int and INT_MIN <= end <= INT_MAX:
        return
    if type(end) is not float or not math.isfinite(end):
        raise SchemaError(f"{shown(end)} is not an int64 or a finite float64")


def _check_order(low: float, high: float) -> None:
    _check_number(low)
    _check_number(high)
    if low > high:
        raise SchemaError(f"the domain from {low} to {high} is empty")


# --- from documents -------------------------------------------------------------------------------

_NAMED: Final[Mapping[str, type[Domain]]] = {
    "integer": Integer,
    "fixed": FixedPoint,
    "real": Real,
    "decimal": Decimals,
    "string": String,
    "timestamp": Timestamp,
    "boolean": Boolean,
}


RESERVED: Final = frozenset({*_NAMED, "enumeration"})
"""Names that no domain of a schema can have."""


def from_document(document: object, named: Collection[str] = ()) -> Domain:
    """Read `"string"`, `{"integer": {"low": 0, "high": 9}}`, `{"enumeration": ["a", "b"]}`, ...

    Text may also be one of the names that a schema has given to domains.
    """
    if isinstance(document, str) and document in named:
        return Named(document)
    members = {document: {}} if isinstance(document, str) else document
    if isinstance(members, dict) and len(members) == 1:
        ((name, fields),) = members.items()
        if name == "enumeration" and isinstance(fields, list):
            return Enumeration(tuple(fields))
        if name in _NAMED and isinstance(fields, dict):
            return _built(name, fields)
    names = [*_NAMED, "enumeration", *named]
    problem = f"{shown(document)} is not a domain; expected one of {', '.join(names)}"
    meant = nearest(document, names) if isinstance(document, str) else None
    raise SchemaError(problem, meant=meant)


def _built(name: str, fields: dict[str, object]) -> Domain:
    try:
        return _NAMED[name](**fields)
    except TypeError:
        given = ", ".join(map(str, fields)) or "nothing"
        raise SchemaError(f"the domain {name} cannot be made from {given}") from None
