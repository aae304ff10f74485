"""Ids of three parts (SUM-11): the broker (c1), the subscription there (c2), its attributes (c3).

    layout = IdLayout.of(brokers=4, subscriptions=8, attributes=7)         2 + 3 + 7 bits
    layout.encode(SubscriptionId(2, 1, 0b0110100))                         2228 = 10 001 0110100

c3 has a bit for each attribute, in the order of the schema, the first on the right; popcount(c3) is
the number of attributes that have to be satisfied. Widths are any: another attribute is one more
bit on the left of c3, and ids that do not have it stay what they are (SUM-F2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fyke.summaries.encoding import SummaryError


@dataclass(frozen=True, slots=True, order=True)
class SubscriptionId:
    """A subscription in the whole overlay."""

    c1: int
    c2: int
    c3: int

    @staticmethod
    def of(broker: int, number: int, attributes: Iterable[int]) -> SubscriptionId:
        """Return the id of a subscription that constrains attributes, counted from 1."""
        bits = 0
        for attribute in attributes:
            if attribute < 1:
                raise SummaryError(f"attributes are counted from 1, not {attribute}")
            bits |= 1 << (attribute - 1)
        return SubscriptionId(broker, number, bits)

    @property
    def popcount(self) -> int:
        """The number of constrained attributes."""
        return self.c3.bit_count()

    @property
    def attributes(self) -> tuple[int, ...]:
        """The constrained attributes, counted from 1."""
        return tuple(at + 1 for at in range(self.c3.bit_length()) if self.c3 >> at & 1)


@dataclass(frozen=True, slots=True)
class IdLayout:
    """The number of bits of each part."""

    broker_bits: int
    subscription_bits: int
    attribute_bits: int

    @staticmethod
    def of(brokers: int, subscriptions: int, attributes: int) -> IdLayout:
        """Return widths that suffice: 1,000 brokers need 10 bits, one needs none."""
        if min(brokers, subscriptions) < 1 or attributes < 0:
            raise SummaryError("an id needs a broker and a subscription at least")
        return IdLayout((brokers - 1).bit_length(), (subscriptions - 1).bit_length(), attributes)

    @property
    def bits(self) -> int:
        return self.broker_bits + self.subscription_bits + self.attribute_bits

    def encode(self, id: SubscriptionId) -> int:
        """Return the id as one number; SummaryError if a part does not fit."""
        whole = 0
        for part, number, bits in zip(("c1", "c2", "c3"), self._parts(id), self._bits, strict=True):
            if not 0 <= number < 1 << bits:
                raise SummaryError(f"{part} is {number}, which needs more than {bits} bits")
            whole = whole << bits | number
        return whole

    def decode(self, whole: int) -> SubscriptionId:
        """Return the parts of a number; SummaryError if it has more bits than ids have."""
        if not 0 <= whole < 1 << self.bits:
            raise SummaryError(f"{whole} is no id of {self.bits} bits")
        c3 = whole & (1 << self.attribute_bits) - 1
        rest = whole >> self.attribute_bits
        return SubscriptionId(
            rest >> self.subscription_bits, rest & (1 << self.subscription_bits) - 1, c3
        )

    @staticmethod
    def _parts(id: SubscriptionId) -> tuple[int, int, int]:
        return id.c1, id.c2, id.c3

    @property
    def _bits(self) -> tuple[int, int, int]:
        return self.broker_bits, self.subscription_bits, self.attribute_bits
