"""The DAS workload: equality profiles owned by brokers, and events in exact proportions.

Idea. Every value of the attribute `a` belongs to one broker, whose subscriber holds sigma equal
profiles for it (DAS-Q13). An event takes a value of some owner, or one that nobody asked for. The
proportions are not drawn but dealt out: p_e of the events match, and every publisher, type and
owner has its equal share. So the closed forms of load hold exactly, with a few hundred events.

    Profiles(("B1", "B2"), count=8, sigma=2)      B1: a = 0 twice, a = 1 twice; B2: a = 2, a = 3
    events(Fraction(1, 2))                        8 or more, half of which match, two of each pair

Locality l (5.5): a matching event matches at its own broker with probability l, else at one of the
others. Types (5.4): as many profiles and events of each; none is a subtype.
Source. DAS 5; the generator is inferred, see the notes of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from random import Random
from typing import TypeAlias

from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.filters.filter import Filter, conjunction
from fyke.filters.predicate import TypeIs, equals
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Declare

Cell: TypeAlias = tuple[int, int, int | None]
"""A publisher's broker, a type, and the owner's broker: None for events that match nothing."""


@dataclass(frozen=True, slots=True)
class Published:
    """An event, and where it enters the overlay."""

    broker: str
    event: Event


@dataclass(frozen=True, slots=True)
class Profiles:
    """About `count` profiles: as many as give all brokers, and all types, equally many."""

    brokers: tuple[str, ...]
    count: int
    sigma: int = 1
    types: int = 0
    """The number of types; 0: events have none."""

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise FykeError(
                f"{self.count} profiles are too few for {len(self.brokers)} brokers, {self.types} "
                f"types and groups of {self.sigma}"
            )

    @property
    def kinds(self) -> int:
        return max(self.types, 1)

    @property
    def depth(self) -> int:
        """The values that a broker owns of a type."""
        return self.count // (len(self.brokers) * self.kinds * self.sigma)

    @property
    def values(self) -> int:
        return self.depth * self.kinds * len(self.brokers)

    @property
    def total(self) -> int:
        """The profiles there are."""
        return self.values * self.sigma

    def type_name(self, kind: int) -> str:
        return f"T{kind + 1}"

    def _value(self, owner: int, kind: int, number: int) -> int:
        return (owner * self.kinds + kind) * self.depth + number

    def declarations(self) -> list[Declare]:
        """Return the types: brokers know that none is a subtype of another."""
        document: dict[str, object] = {"attributes": {"a": {"domain": "integer"}}}
        return [Declare("type", self.type_name(kind), document) for kind in range(self.types)]

    # --- profiles ---------------------------------------------------------------------------------

    def subscriptions(self) -> Iterator[tuple[str, Subscription]]:
        """Return each with its broker, by ascending value."""
        for owner, broker in enumerate(self.brokers):
            for kind in range(self.kinds):
                for number in range(self.depth):
                    value = self._value(owner, kind, number)
                    filter = self._filter(kind, value)
                    for twin in range(self.sigma):
                        yield broker, Subscription(f"p{value}.{twin}", filter)

    def _filter(self, kind: int, value: int) -> Filter:
        wanted = equals("a", value)
        return conjunction([TypeIs(self.type_name(kind)), wanted]) if self.types else wanted

    # --- events -----------------------------------------------------------------------------------

    def events(
        self,
        p_e: Fraction,
        *,
        locality: Fraction | None = None,
        at_least: int = 1,
        seed: int = 0,
    ) -> list[Published]:
        """Return the fewest events with the exact proportions, `at_least` or more, shuffled."""
        random = Random(seed)
        shares = self._shares(p_e, locality)
        size = lcm(*(share.denominator for share in shares.values()))
        size *= -(-at_least // size)
        made = [
            self._published(cell, random, number)
            for number, cell in enumerate(
                cell for cell, share in shares.items() for _ in range(int(share * size))
            )
        ]
        random.shuffle(made)
        return made

    def _shares(self, p_e: Fraction, locality: Fraction | None) -> dict[Cell, Fraction]:
        if not 0 <= p_e <= 1 or (locality is not None and not 0 <= locality <= 1):
            raise FykeError(f"p_e is {p_e}, the locality {locality}; expected 0 to 1")
        count = len(self.brokers)
        shares: dict[Cell, Fraction] = {}
        for publisher in range(count):
            for kind in range(self.kinds):
                each = Fraction(1, count * self.kinds)
                shares[publisher, kind, None] = each * (1 - p_e)
                for owner in range(count):
                    share = _owned(publisher == owner, count, locality)
                    shares[publisher, kind, owner] = each * p_e * share
        return shares

    def _published(self, cell: Cell, random: Random, number: int) -> Published:
        publisher, kind, owner = cell
        if owner is None:
            value = self.values + number
        else:
            value = self._value(owner, kind, random.randrange(self.depth))
        document: dict[str, object] = {"a": value}
        if self.types:
            document["type"] = self.type_name(kind)
        return Published(self.brokers[publisher], Event(document))


def _owned(is_own: bool, count: int, locality: Fraction | None) -> Fraction:
    """Return the matching events of a publisher that an owner's profiles match."""
    if locality is None or count == 1:
        return Fraction(1, count)
    return locality if is_own else (1 - locality) / (count - 1)
