"""Merging: a neighbour is told one filter for several that differ in one place.

Idea. `s = 'A' and p < 10` and `s = 'B' and p < 10` are together `s in ('A', 'B') and p < 10`.
Filters that agree in all conjuncts but those on one attribute form a group, of at most `GROUP`
members so that a change never costs a long message; a group is told as its merged filter, and under
an id of its own. Only perfect merges are used: the neighbour sends nothing more than before.
Example. Told p = 1; then p = 2 comes: p in (1, 2) takes the place of p = 1.
Invariant. What is told covers every member, and accepts nothing that no member accepts.
Cost. One merge of at most `GROUP` filters per change.
Source. Named and left out by DAS-19; as in Siena and REBECA. MSF-12a.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fyke.filters.algebra.merging import merge
from fyke.filters.filter import And, Filter
from fyke.filters.predicate import In
from fyke.filters.resolution import resolve_values
from fyke.limits import DEFAULT_LIMITS
from fyke.nodes.message import SubscriptionKey

if TYPE_CHECKING:
    from fyke.events.schema import Schema

GROUP: Final = 16
_VALUES_MAX: Final = DEFAULT_LIMITS.list_size_max // GROUP
"""Values in a set that is merged with others: together they are a set that can be read."""


@dataclass(slots=True, eq=False)
class _Group:
    """Filters that are told as one."""

    id: SubscriptionKey
    key: Hashable
    members: dict[SubscriptionKey, Filter] = field(default_factory=dict)
    merged: Filter | None = None

    def told(self) -> dict[SubscriptionKey, Filter]:
        """Return filters by id: the merged one, or the members if they are not merged."""
        if self.merged is None:
            return dict(self.members)
        return {self.id: self.merged}


class Merging:
    """Filters for a neighbour by id, and the merged filters that it is told instead."""

    def __init__(self, name: Callable[[], SubscriptionKey], schema: Schema | None = None) -> None:
        self._name = name
        self._schema = schema
        self._groups: dict[Hashable, list[_Group]] = {}
        self._group_of: dict[SubscriptionKey, _Group] = {}

    def put(self, id: SubscriptionKey, filter: Filter) -> dict[SubscriptionKey, Filter | None]:
        """Add a filter. Return what changes for the neighbour; None is told no longer."""
        filter = resolve_values(filter, self._schema)
        key = _key(filter)
        groups = self._groups.setdefault(key, [])
        group = next((each for each in groups if len(each.members) < GROUP), None)
        if group is None:
            group = _Group(self._name(), key)
            groups.append(group)
        before = group.told()
        group.members[id] = filter
        self._group_of[id] = group
        return _changed(group, before)

    def drop(self, id: SubscriptionKey) -> dict[SubscriptionKey, Filter | None]:
        group = self._group_of.pop(id)
        before = group.told()
        del group.members[id]
        if not group.members:
            self._groups[group.key].remove(group)
            if not self._groups[group.key]:
                del self._groups[group.key]
        return _changed(group, before)


def _changed(
    group: _Group, before: dict[SubscriptionKey, Filter]
) -> dict[SubscriptionKey, Filter | None]:
    group.merged = None
    if len(group.members) > 1:
        merged = merge(sorted(group.members.values(), key=str))  # in whatever order they came
        if merged.is_perfect:
            group.merged = merged.filter
    after = group.told()
    gone: dict[SubscriptionKey, Filter | None] = dict.fromkeys(before.keys() - after.keys())
    new = {id: filter for id, filter in after.items() if before.get(id) != filter}
    return {**new, **{id: gone[id] for id in before if id in gone}}


def _key(filter: Filter) -> Hashable:
    """Return the part in which filters of a group agree: all conjuncts but those on one attribute.

    The union of two sets of values is always exact. So the attribute is that of an equality; if
    there are several, or none, it is the last by name.
    """
    conjuncts = filter.children if isinstance(filter, And) else (filter,)
    named = [getattr(each, "attribute", None) for each in conjuncts]
    ranked = [
        (isinstance(each, In), name)
        for each, name in zip(conjuncts, named, strict=True)
        if name is not None and name != "type"
    ]
    if not ranked:
        return filter
    _, varied = max(ranked)
    if any(isinstance(each, In) and len(each.values) > _VALUES_MAX for each in conjuncts):
        return filter
    rest = [each for each, name in zip(conjuncts, named, strict=True) if name != varied]
    return varied, frozenset(rest)
