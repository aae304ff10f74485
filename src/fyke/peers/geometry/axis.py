"""Axis: the values of one attribute as whole numbers that keep their order.

Idea. Open and closed ends trouble whoever subtracts boxes: [0, 10] without [5, 5] is two half-open
parts, and parts that are taken for closed leave 5 uncovered for ever (S2S-Q3). With whole numbers
every part is closed: [0, 4] and [6, 10].
Codes. A finite domain has its own numbers. A real axis has the bits of float64, which are in the
order of the floats: an even code is one float, an odd code holds all numbers between two floats
(long decimals, integers beyond 2**53), and all beyond 2**512 or nearer to 0 than 2**-511.
Doubt. A code is *exact* if it holds one value. A set of values has codes around it, which have
every value of the set, and codes within it, which have no other values; they differ at the ends
that are not exact.
Missing is a code of its own, before all values, so that no range has it (S2S-3).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from fyke.errors import FykeError, shown
from fyke.events.domain import (
    Boolean,
    Domain,
    Enumeration,
    FixedPoint,
    Integer,
    Real,
    Timestamp,
)
from fyke.events.value import Scalar, canonical
from fyke.filters.algebra.intervals import Cut, Spans
from fyke.filters.algebra.value_set import ValueSet

Code: TypeAlias = int
Side: TypeAlias = tuple[Code, Code]
"""The lowest and the highest code, both included."""

_LOWEST: Final = -(2**63) + 2
_HIGHEST: Final = 2**63 - 2
_FIRST: Final = 512 << 52
"""The bits of 2**-511."""
_BEYOND: Final = 1535 << 52
"""The bits of 2**512."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Axis:
    """An attribute that a schema declares as single-valued. `low` and `high` are values' codes."""

    name: str
    domain: Domain
    low: Code
    high: Code

    @property
    def missing(self) -> Code:
        return self.low - 1

    @property
    def whole(self) -> Side:
        """Return every code: what an attribute may be that a filter does not mention."""
        return self.missing, self.high

    @property
    def values(self) -> Side:
        return self.low, self.high

    @classmethod
    def of(cls, name: str, domain: Domain) -> Axis:
        """Return an axis; FykeError for a domain that has no order of numbers."""
        match domain:
            case Boolean():
                return cls(name, domain, 0, 1)
            case Enumeration() | FixedPoint():
                return cls(name, domain, 0, domain.size - 1)
            case Integer(low, high):
                return cls(name, domain, max(low, _LOWEST), min(high, _HIGHEST))
            case Timestamp():
                return cls(name, domain, *(_moment(each) for each in _MOMENTS))
            case Real(low, high):
                ends = (-_real(2.0**600)[0] if low is None else _real(low)[0],
                        _real(2.0**600)[0] if high is None else _real(high)[0])  # fmt: skip
                return cls(name, domain, *ends)
        raise FykeError(
            f"the attribute {shown(name)} is {domain}; expected a number, an enumeration, a "
            "boolean or a timestamp as an axis"
        )

    def code(self, value: Scalar) -> tuple[Code, bool]:
        """Return the code of a value of the domain, and whether it is exact."""
        match self.domain:
            case Boolean():
                return int(bool(value)), True
            case Enumeration() | FixedPoint():
                return self.domain.index(value), True
            case Integer():
                number = canonical(value)
                assert isinstance(number, int)
                return min(max(number, _LOWEST), _HIGHEST), _LOWEST < number < _HIGHEST
            case Timestamp():
                assert isinstance(value, datetime)
                return _moment(value), True
        return _real(value)

    def position(self, code: Code) -> float:
        """Return a place from 0 to 1, so that distances do not mix units; missing lies at -1."""
        if code < self.low:
            return -1.0
        if isinstance(self.domain, Real) and None not in (self.domain.low, self.domain.high):
            low, high, at = (_float(each) for each in (self.low, self.high, code))
        else:
            low, high, at = self.low, self.high, code
        return 0.0 if high <= low else min(1.0, max(0.0, (at - low) / (high - low)))

    # --- sets of values ---------------------------------------------------------------------------

    def around(self, values: ValueSet) -> tuple[Side, ...]:
        """Return codes that have every value of a set within the domain."""
        return self._sides(values, outward=True)

    def within(self, values: ValueSet) -> tuple[Side, ...]:
        """Return codes that have no value but those of a set within the domain."""
        return self._sides(values, outward=False)

    def _sides(self, values: ValueSet, outward: bool) -> tuple[Side, ...]:
        if isinstance(self.domain, Boolean):
            return united((int(each), int(each)) for each in values.booleans)
        spans: Spans = values.numbers or values.strings or values.timestamps
        ends = ((self._end(low, outward, 0), self._end(high, outward, 1)) for low, high in spans)
        return united(ends)

    def _end(self, cut: Cut, outward: bool, is_high: int) -> Code:
        """Return the first code behind a cut, or with `is_high` the last before it."""
        kind, value, after = cut
        if kind:
            return self.low if kind < 0 else self.high
        code, is_exact = self.code(value)
        step = -1 if is_high else 1
        if is_exact:
            return code if after == is_high else code + step
        return code if outward else code + step

    def complement(self, sides: Iterable[Side]) -> tuple[Side, ...]:
        """Return all other codes, missing among them."""
        found, at = [], self.missing
        for low, high in sides:
            found.append((at, low - 1))
            at = high + 1
        found.append((at, self.high))
        return tuple(side for side in found if side[0] <= side[1])


_MOMENTS: Final = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


def united(sides: Iterable[Side]) -> tuple[Side, ...]:
    """Return sides in order, neighbours joined, nothing empty."""
    merged: list[Side] = []
    for low, high in sorted(side for side in sides if side[0] <= side[1]):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged)


def _moment(value: datetime) -> Code:
    return (value - _EPOCH) // timedelta(microseconds=1)


def _real(value: Scalar) -> tuple[Code, bool]:
    """Return the code of a number, and whether it is the only one that has it."""
    nearest = float(value)  # type: ignore[arg-type]
    bits: int = struct.unpack("<q", struct.pack("<d", abs(nearest)))[0]
    if bits == 0:
        return 0, True
    sign = -1 if nearest < 0 else 1
    if bits < _FIRST or bits >= _BEYOND:
        return sign * (1 if bits < _FIRST else 2 * (_BEYOND - _FIRST) + 1), False
    code = sign * (2 * (bits - _FIRST) + 2)
    if canonical(nearest) == value:
        return code, True
    return code + (1 if value > nearest else -1), False  # type: ignore[operator]


def _float(code: Code) -> float:
    """Return a float of a real code, or one beside it."""
    if abs(code) <= 1:
        return 0.0
    bits = min((abs(code) - 2) // 2 + _FIRST, _BEYOND)
    value: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return value if code > 0 else -value
