"""Typed subscriptions: classes, conditions on their fields and closures, as a hub keeps them.

An index finds the candidates by their filters. Where there is a closure, it has the last word on
each candidate; one that raises refuses, and is reported with the name of its subscription.

What is captured may change, so the values that closures rely on are looked at before an event is
matched. An event may be in doubt (`showing`); then every closure that looks at what is in doubt is
a candidate, whatever its filter says. Both are rare, and cost nothing where they do not occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import Parameter, signature
from operator import is_
from typing import Any, NamedTuple

from fyke.errors import FilterWarning, FykeError, shown, warn_outside
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.predicate import TypeIs
from fyke.matching.matcher import Matcher
from fyke.typed.closures.captured import Watch
from fyke.typed.closures.deriving import Derived, derived, predicate
from fyke.typed.description import Description
from fyke.typed.fields import Condition
from fyke.typed.packing import ObjectEvent, unpack
from fyke.typed.registry import described, known_class, nested_description
from fyke.typed.showing import DOUBTS


@dataclass(slots=True, eq=False)
class TypedSubscription:
    """A subscription whose callbacks get objects; `accepts` is its closure, if it has one."""

    cls: type
    filter: Filter
    where: object = None
    accepts: Callable[[Any], Any] | None = None
    derived: Derived | None = None

    def derive(self) -> None:
        """Read the closure, with what it captures now."""
        self.derived = derived(self.where, self.cls)
        self.filter = self.derived.filter

    def may_accept(self, event: Event, doubts: Iterable[str]) -> bool:
        """Return True if the closure looks at something in doubt, in an event of its type."""
        if self.derived is None or not TypeIs(described(self.cls).name).matches(event):
            return False
        relies = self.derived.relies
        return any(
            name == doubt or name.startswith(f"{doubt}.") for doubt in doubts for name in relies
        )


def typed_subscription(filter: object, where: object) -> TypedSubscription | None:
    """Return the subscription to a class or to a condition on one; None for any other filter."""
    if isinstance(filter, Condition):
        if where is not None:
            raise FykeError("where= goes with a class; add to the condition with & in place of it")
        return TypedSubscription(filter.cls, filter.filter)
    if not isinstance(filter, type):
        if where is not None:
            raise FykeError(f"where= goes with an event class, not with {shown(filter)}")
        return None
    made = TypedSubscription(filter, TypeIs(described(filter).name))
    if where is not None:
        made.where, made.accepts = where, predicate(where)
        made.derive()
        if made.derived is not None and not made.derived.has_source:
            warn_outside(
                f"the source of {shown(where)} is not there to be read: it is called with every "
                f"{described(filter).name}",
                FilterWarning,
            )
    return made


@dataclass(slots=True)
class Judgement:
    """The typed subscriptions among the candidates for an event, and the object that they get."""

    event: Event
    typed: Mapping[str, TypedSubscription]
    object: Any = None

    def run(self) -> tuple[set[str], list[tuple[str, Exception]]]:
        """Return which candidates refuse the object, and what was raised meanwhile."""
        refused: set[str] = set()
        errors: list[tuple[str, Exception]] = []
        if not self.typed:
            return refused, errors
        try:
            self.object = unpack(self.event)
        except FykeError as unfit:
            return set(self.typed), [(id, unfit) for id in self.typed]
        for id, subscription in self.typed.items():
            if subscription.accepts is None:
                continue
            try:
                if not subscription.accepts(self.object):
                    refused.add(id)
            except Exception as error:
                refused.add(id)
                errors.append((id, error))
        return refused, errors


class Looks(NamedTuple):
    """All watched values in columns, so that a look at them runs without a line of Python each."""

    scopes: list[dict[str, Any]]
    names: list[str]
    values: list[Any]
    others: list[Watch]

    @classmethod
    def of(cls, watches: Iterable[Watch]) -> Looks:
        found = cls([], [], [], [])
        for each in watches:
            if each.scope is None:
                found.others.append(each)
            else:
                found.scopes.append(each.scope)
                found.names.append(each.name)
                found.values.append(each.value)
        return found

    def are_same(self) -> bool:
        held = map(dict.get, self.scopes, self.names)
        return all(map(is_, held, self.values)) and not any(each.changed() for each in self.others)


_NOBODY: Mapping[str, TypedSubscription] = {}


@dataclass(slots=True)
class TypedSubscriptions:
    """The typed subscriptions of one hub, by id.

    It also keeps the captured values on which their filters rely.
    """

    _all: dict[str, TypedSubscription] = field(default_factory=dict)
    _watches: dict[tuple[int, str], tuple[Watch, set[str]]] = field(default_factory=dict)
    _looks: Looks | None = None

    def add(self, id: str, subscription: TypedSubscription) -> None:
        self._all[id] = subscription
        self._watch(id, subscription)

    def remove(self, id: str) -> None:
        subscription = self._all.pop(id, None)
        if subscription is not None:
            self._unwatch(id, subscription)

    def candidates(self, event: Event, matcher: Matcher) -> list[str]:
        """Return the ids of the subscriptions, typed or not, that may accept an event."""
        if self._watches:
            self._refresh(matcher)
        ids = matcher.match(event)
        if self._all and (doubts := doubts_of(event)):
            found = set(ids)
            ids += [
                id
                for id, each in self._all.items()
                if id not in found and each.may_accept(event, doubts)
            ]
        return ids

    def begin(self, ids: list[str], event: Event) -> Judgement:
        if not self._all:
            return Judgement(event, _NOBODY)
        known = self._all
        return Judgement(event, {id: known[id] for id in ids if id in known})

    def _refresh(self, matcher: Matcher) -> None:
        """Derive anew the filters that rely on a value which has changed."""
        if self._looks is None:
            self._looks = Looks.of(watch for watch, _ in self._watches.values())
        if self._looks.are_same():
            return
        stale: set[str] = set()
        for watch, ids in self._watches.values():
            if watch.changed():
                stale |= ids
        for id in stale:
            subscription = self._all[id]
            self._unwatch(id, subscription)
            subscription.derive()
            self._watch(id, subscription)
            if id in matcher:
                matcher.replace(id, subscription.filter)

    def _watch(self, id: str, subscription: TypedSubscription) -> None:
        for watch in subscription.derived.watches if subscription.derived else ():
            self._watches.setdefault(watch.key, (watch, set()))[1].add(id)
            self._looks = None

    def _unwatch(self, id: str, subscription: TypedSubscription) -> None:
        for watch in subscription.derived.watches if subscription.derived else ():
            known = self._watches.get(watch.key)
            if known is not None:
                known[1].discard(id)
                if not known[1]:
                    del self._watches[watch.key]
                    self._looks = None


def doubts_of(event: Event) -> set[str]:
    """Return the attributes of which an event may show something else than its object has.

    An event of an older version lacks the attributes that came later, and its object has defaults.
    Where only a supertype is known here, the object is one of that, and it computes its properties
    in its own way.
    """
    listed = event.attributes.get(DOUBTS, ())
    found = {str(each) for each in (listed if isinstance(listed, tuple) else (listed,))}
    if isinstance(event, ObjectEvent):
        return found
    description = known_class((event.type, *event.supertypes))
    if description is not None:
        found.update(name for name in _defaulted(description) if not _has(event, name))
        if description.name != event.type:
            found.update(_computed(description))
    return found


def _has(event: Event, name: str) -> bool:
    return name in event.attributes or any(n.startswith(f"{name}.") for n in event.attributes)


@lru_cache(maxsize=1024)
def _computed(description: Description) -> tuple[str, ...]:
    sources = set(description.construction.sources.values())
    return tuple(
        each.name for each in description.attributes if each.is_call or each.member not in sources
    )


@lru_cache(maxsize=1024)
def _defaulted(description: Description) -> tuple[str, ...]:
    return tuple(_defaults(description, "", 1))


def _defaults(description: Description, prefix: str, depth: int) -> Iterator[str]:
    """Yield the attributes that an object has even if nothing is said about them."""
    try:
        parameters = signature(description.cls).parameters
    except (TypeError, ValueError):
        return
    sources = {source: given for given, source in description.construction.sources.items()}
    for each in description.attributes:
        name = prefix + (each.name.removeprefix("data.") if prefix else each.name)
        given = parameters.get(sources.get(each.member, ""))
        if given is None or given.default not in (Parameter.empty, None):
            yield name
        if each.shape.nested is not None and depth < 8:
            yield from _defaults(nested_description(each.shape.nested), f"{name}.", depth + 1)
