"""Subsumption: which subscriptions of a set another one covers, without trying all pairs.

Idea. If W covers N, then N implies every necessary predicate of W. So W waits at the cheapest of
its necessary predicates, and N asks only at what it may imply: at a value or a type it names, it
looks up; at an attribute it speaks of, it tests the predicates that wait there, one by one, which
is cheaper than `covers` and shared by all that wait at the same predicate.
Witness. An event that N accepts (`witness`) rules out every W that refuses it, which costs far less
than a test; most candidates go that way.
Invariant. Every claim is a proof by `covers`; a pair may be missed (a schema's single values can
join two predicates into one that implies more), never invented.
Cost. One test per predicate waiting at an attribute, one `covers` per candidate; both are counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from fyke.events.value import Scalar, sort_key
from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.necessary import Necessary, necessary
from fyke.filters.algebra.normal_form import simplify
from fyke.filters.algebra.value_set import accepted, without
from fyke.filters.algebra.witness import witness
from fyke.filters.comparison import Compare
from fyke.filters.filter import Filter, walk
from fyke.filters.predicate import In, NotIn, Predicate, Range, TypeIs, ValuePredicate
from fyke.filters.subscription import Subscription
from fyke.filters.text_predicate import Like

if TYPE_CHECKING:
    from fyke.events.event import Event
    from fyke.events.schema import Schema

_TEST_COST = 0.25
"""The cost of a test of a waiting predicate; `covers` costs 1."""

COVERING_BUDGET = 2_000
"""Literals that one `covers` may look at; there are many of them."""

Place: TypeAlias = tuple[str, object]
"""An attribute with a value, or with the predicate that waits there."""


class Subsumption:
    """The subscriptions of a set, each at its place. `left` is what remains of the budget."""

    def __init__(
        self,
        subscriptions: Sequence[Subscription],
        schema: Schema | None,
        budget: int,
        witnesses: Mapping[str, Event | None] | None = None,
    ) -> None:
        """Take the subscriptions, with the witness of each by id where it is known already."""
        self.schema = schema
        self.left = budget
        self._order = {each.id: number for number, each in enumerate(subscriptions)}
        self._witnesses = witnesses or {
            each.id: witness(each.filter, schema) for each in subscriptions
        }
        self._anywhere: list[Subscription] = []
        self._at_value: dict[Place, list[Subscription]] = defaultdict(list)
        self._at_attribute: dict[str, dict[Necessary, list[Subscription]]] = {}
        needs = {each.id: necessary(simplify(each.filter)) for each in subscriptions}
        crowd = Counter(need for found in needs.values() for need in found)
        speakers = Counter(need.attribute for found in needs.values() for need in found)

        def expected_tests(need: Necessary) -> float:
            looked_up = _value_place(need) is not None
            tests = 0 if looked_up else _TEST_COST * speakers[need.attribute] / crowd[need]
            return crowd[need] + tests

        for each in subscriptions:
            self._wait(each, min(needs[each.id], key=expected_tests, default=None))

    def _wait(self, subscription: Subscription, need: Necessary | None) -> None:
        place = None if need is None else _value_place(need)
        if place is not None:
            self._at_value[place].append(subscription)
        elif need is not None:
            waiting = self._at_attribute.setdefault(need.attribute, {})
            waiting.setdefault(need, []).append(subscription)
        else:
            self._anywhere.append(subscription)

    def made_redundant_by(self, narrow: Subscription) -> tuple[Subscription, bool] | None:
        """Return another subscription that covers this one, and True if both are equivalent.

        Of two equivalent ones the first is not redundant.
        """
        for wide in self._candidates(narrow):
            if wide.id == narrow.id or not self._covers(wide, narrow):
                continue
            if not self._covers(narrow, wide):
                return wide, False
            if self._order[wide.id] < self._order[narrow.id]:
                return wide, True
        return None

    def _covers(self, wide: Subscription, narrow: Subscription) -> bool:
        seen = self._witnesses[narrow.id]
        if seen is not None and not wide.filter.matches(seen):
            return False
        self.left -= 1
        if self.left <= 0:
            return False
        return covers(wide.filter, narrow.filter, schema=self.schema, budget=COVERING_BUDGET)

    def _candidates(self, narrow: Subscription) -> Iterator[Subscription]:
        yield from self._anywhere
        seen = self._witnesses[narrow.id]
        leaves: dict[str, list[Filter]] = defaultdict(list)
        leaves.update((name, []) for name in self._required(None))
        for leaf in walk(simplify(narrow.filter)):
            for place in self._named(leaf):
                yield from self._at_value.get(place, ())
            for attribute in spoken_of(leaf):
                leaves[attribute].append(leaf)
            for name in _types(leaf):
                for attribute in self._required(name):
                    leaves.setdefault(attribute, [])
        for attribute, known in leaves.items():
            for need, waiting in self._at_attribute.get(attribute, {}).items():
                if self._may_imply(known, need) if seen is None else _is_met(need, seen):
                    yield from waiting

    def _may_imply(self, known: Iterable[Filter], need: Necessary) -> bool:
        """Return False only if no leaf lies within the need. Cases that take long are True."""
        self.left -= 1
        (first, *others) = need.alternatives
        is_single = self.schema is not None and self.schema.is_single(need.attribute)
        if others or is_single or not isinstance(first, ValuePredicate):
            return self.left > 0
        return self.left > 0 and any(_lies_within(leaf, first) for leaf in known)

    def _named(self, leaf: Filter) -> Iterator[Place]:
        """Yield the values and types that a leaf names."""
        if isinstance(leaf, In | NotIn):  # `not a != 0` leaves nothing but 0
            yield from ((leaf.attribute, sort_key(value)) for value in leaf.values)
        if isinstance(leaf, Range):  # and so does the end of a range, beside the negation of one
            ends = (each for each in (leaf.low, leaf.high) if each is not None)
            yield from ((leaf.attribute, sort_key(each)) for each in ends)
        if isinstance(leaf, Like) and leaf.ignore_case:  # `ilike 'İ'` accepts that letter alone
            texts = accepted(leaf).strings
            yield from ((leaf.attribute, sort_key(low[1])) for low, _ in texts if len(texts) == 1)
        for name in _types(leaf):
            above = self.schema.supertypes(str(name)) if self.schema is not None else ()
            yield from (("type", sort_key(each)) for each in (name, *above))

    def _required(self, type_name: Scalar) -> tuple[str, ...]:
        """Return the attributes that every event of a type has, whatever a filter says."""
        if self.schema is None:
            return ()
        return self.schema.required_of(type_name if isinstance(type_name, str) else None)


def _is_met(need: Necessary, event: Event) -> bool:
    return any(each.matches(event) for each in need.alternatives)


def _types(leaf: Filter) -> tuple[Scalar, ...]:
    """Return the types that a predicate names."""
    if isinstance(leaf, TypeIs):
        return (leaf.name,)
    return leaf.values if isinstance(leaf, In) and leaf.attribute == "type" else ()


def _value_place(need: Necessary) -> Place | None:
    match need.alternatives:
        case (In(attribute, (value,)),):
            return attribute, sort_key(value)
        case (TypeIs(name),):
            return "type", sort_key(name)
    return None


def spoken_of(leaf: Filter) -> tuple[str, ...]:
    """Return the attributes of a predicate."""
    match leaf:
        case Compare(attribute, _, other):
            return attribute, other
        case Predicate():
            return (leaf.attribute,)
    return ()


@lru_cache(maxsize=65_536)
def _lies_within(leaf: Filter, need: ValuePredicate) -> bool:
    if not isinstance(leaf, ValuePredicate):
        return True
    return without(accepted(leaf), accepted(need)).is_empty
