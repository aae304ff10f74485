"""Schema: which attributes there are, what values they have, and which type is a kind of which.

    stock = EventType("Stock", [Attribute("price", FixedPoint(0, 100, decimals=2))])
    schema = Schema(types=[stock, EventType("Share", supertypes=["Stock"])])
    schema.validate(Event({"type": "Share", "price": 8.3})).supertypes          ("Stock",)

A name means one thing in the whole schema: two types may share an attribute, but not with two
domains. So an attribute is checked by its name, whatever the event's type, and `is_single(name)` is
a promise about every validated event. Whoever folds `a > 1 and a < 5` into one interval needs it.

Schemas are values; `with_type` and `with_attribute` make new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from fyke.errors import SchemaError, shown
from fyke.events import domain as domains
from fyke.events import validation
from fyke.events.domain import Domain
from fyke.events.event import Document, Event, as_event


@dataclass(frozen=True, slots=True)
class Attribute:
    """A name, its domain, whether it may hold a list, and whether it must be there."""

    name: str
    domain: Domain
    multiple: bool = False
    required: bool = False


@dataclass(frozen=True, slots=True)
class EventType:
    """A named set of attributes; those of its supertypes belong to it as well."""

    name: str
    attributes: Sequence[Attribute] = ()
    supertypes: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        object.__setattr__(self, "supertypes", tuple(self.supertypes))


@dataclass(frozen=True, slots=True)
class Schema:
    """Attributes that any event may have, and types with their own. Checked when it is made."""

    attributes: Sequence[Attribute] = ()
    types: Sequence[EventType] = ()
    _attributes: dict[str, Attribute] = field(init=False, repr=False, compare=False)
    _types: dict[str, EventType] = field(init=False, repr=False, compare=False)
    _subtypes: dict[str, list[str]] = field(init=False, repr=False, compare=False)
    _supertypes: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "attributes", tuple(self.attributes))
        set_(self, "types", tuple(self.types))
        set_(self, "_types", _by_name(self.types))
        set_(self, "_subtypes", _hierarchy(self._types))
        set_(self, "_supertypes", {})
        set_(self, "_attributes", _declarations(self.attributes, self.types))

    # --- looking up -------------------------------------------------------------------------------

    def attribute(self, name: str) -> Attribute | None:
        """The declaration of an attribute, wherever it stands."""
        return self._attributes.get(name)

    def is_single(self, name: str) -> bool:
        """Declared, and never a list."""
        declared = self._attributes.get(name)
        return declared is not None and not declared.multiple

    def type(self, name: str) -> EventType | None:
        """The declaration of a type."""
        return self._types.get(name)

    def supertypes(self, name: str) -> tuple[str, ...]:
        """All ancestors of a type, the nearest first; none of an unknown type."""
        if name not in self._types:
            return ()
        if name not in self._supertypes:
            self._supertypes[name] = _reached(name, lambda met: self._types[met].supertypes)
        return self._supertypes[name]

    def subtypes(self, name: str) -> tuple[str, ...]:
        """All descendants of a type, the nearest first."""
        return _reached(name, lambda met: self._subtypes.get(met, ()))

    def conforms(self, sub: str, super: str) -> bool:
        """Whether an event of type `sub` is one of type `super`."""
        return sub == super or super in self.supertypes(sub)

    def attributes_of(self, name: str) -> tuple[Attribute, ...]:
        """What an event of a type may have: its own, its ancestors' and everybody's attributes."""
        types = [self._types[met] for met in (name, *self.supertypes(name)) if met in self._types]
        return (*self.attributes, *(each for type_ in types for each in type_.attributes))

    # --- using ------------------------------------------------------------------------------------

    def validate(
        self,
        event: Event | Document,
        *,
        closed: bool = False,
        complete: bool = False,
        typed: bool = False,
    ) -> Event:
        """The event with its supertypes and with text read as timestamps; SchemaError if unfit.

        `closed` refuses attributes that the event's type does not have, `typed` an undeclared type;
        `complete` demands a declared type and every attribute of it (DAS-1).
        """
        typed = typed or complete
        return validation.validate(self, as_event(event), closed, complete, typed)

    def with_attribute(self, attribute: Attribute) -> Schema:
        """This schema with one more attribute, or with another declaration of it."""
        others = (other for other in self.attributes if other.name != attribute.name)
        return Schema((*others, attribute), self.types)

    def with_type(self, event_type: EventType) -> Schema:
        """This schema with one more type, or with another declaration of it."""
        others = (other for other in self.types if other.name != event_type.name)
        return Schema(self.attributes, (*others, event_type))

    # --- as a document ----------------------------------------------------------------------------

    def to_document(self) -> dict[str, object]:
        """The JSON form."""
        types = {
            each.name: {
                "supertypes": list(each.supertypes),
                "attributes": _attributes_to_document(each.attributes),
            }
            for each in self.types
        }
        return {"attributes": _attributes_to_document(self.attributes), "types": types}

    @classmethod
    def from_document(cls, document: object) -> Schema:
        """Reads the JSON form; SchemaError names what is wrong."""
        members = _members(document, "a schema", {"attributes", "types"})
        attributes = _attributes_from_document(members.get("attributes", {}), None)
        types = _object(members.get("types", {}), "types")
        return cls(attributes, [_type_from_document(name, each) for name, each in types.items()])


# --- checking a schema ----------------------------------------------------------------------------


def _by_name(types: Iterable[EventType]) -> dict[str, EventType]:
    named: dict[str, EventType] = {}
    for each in types:
        if each.name in named:
            raise SchemaError("declared twice", type_name=each.name)
        named[each.name] = each
    return named


def _hierarchy(types: Mapping[str, EventType]) -> dict[str, list[str]]:
    """The direct subtypes of each type; SchemaError where the supertypes make no hierarchy."""
    subtypes: dict[str, list[str]] = {name: [] for name in types}
    for each in types.values():
        for name in dict.fromkeys(each.supertypes):
            if name not in subtypes:
                raise SchemaError(f"unknown supertype {shown(name)}", type_name=each.name)
            subtypes[name].append(each.name)
    try:
        TopologicalSorter(subtypes).prepare()
    except CycleError as found:
        cycle = " > ".join(map(str, found.args[1]))
        raise SchemaError(f"its own supertype ({cycle})", type_name=found.args[1][0]) from None
    return subtypes


def _declarations(
    attributes: Iterable[Attribute], types: Iterable[EventType]
) -> dict[str, Attribute]:
    declared: dict[str, Attribute] = {}
    owned = [(None, each) for each in attributes]
    for owner, each in [
        *owned,
        *((type_.name, each) for type_ in types for each in type_.attributes),
    ]:
        known = declared.setdefault(each.name, each)
        if (known.domain, known.multiple) != (each.domain, each.multiple):
            problem = f"declared as {each.domain}, elsewhere as {known.domain}"
            if known.domain == each.domain:
                problem = "declared both as single and as multiple"
            raise SchemaError(problem, attribute=each.name, type_name=owner)
    return declared


def _reached(start: str, following: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """The names that can be reached from one, nearest first."""
    order = [start]
    seen = {start}
    for name in order:
        for each in following(name):
            if each not in seen:
                seen.add(each)
                order.append(each)
    return tuple(order[1:])


# --- documents ------------------------------------------------------------------------------------


def _attributes_to_document(attributes: Iterable[Attribute]) -> dict[str, object]:
    flags = ("multiple", "required")
    return {
        each.name: {
            "domain": each.domain.to_document(),
            **{flag: True for flag in flags if getattr(each, flag)},
        }
        for each in attributes
    }


def _attributes_from_document(document: object, owner: str | None) -> list[Attribute]:
    named = _object(document, "attributes", owner)
    return [_attribute_from_document(name, each, owner) for name, each in named.items()]


def _attribute_from_document(name: str, document: object, owner: str | None) -> Attribute:
    try:
        members = _members(document, "an attribute", {"domain", "multiple", "required"})
        flags = {flag: members.get(flag, False) for flag in ("multiple", "required")}
        for flag, value in flags.items():
            if not isinstance(value, bool):
                raise SchemaError(f"{flag} is {shown(value)}; expected true or false")
        domain = domains.from_document(members.get("domain"))
    except SchemaError as refused:
        raise SchemaError(refused.problem, attribute=name, type_name=owner) from None
    return Attribute(name, domain, bool(flags["multiple"]), bool(flags["required"]))


def _type_from_document(name: str, document: object) -> EventType:
    members = _members(document, "a type", {"attributes", "supertypes"}, name)
    supertypes = members.get("supertypes", [])
    if not isinstance(supertypes, list) or not all(isinstance(each, str) for each in supertypes):
        raise SchemaError("supertypes is not a list of names", type_name=name)
    return EventType(
        name, _attributes_from_document(members.get("attributes", {}), name), supertypes
    )


def _members(
    document: object, what: str, known: set[str], owner: str | None = None
) -> dict[str, object]:
    members = _object(document, what, owner)
    for name in members:
        if name not in known:
            expected = ", ".join(sorted(known))
            raise SchemaError(
                f"{what} has no member {shown(name)}; expected {expected}", type_name=owner
            )
    return members


def _object(document: object, what: str, owner: str | None = None) -> dict[str, object]:
    if isinstance(document, dict) and all(isinstance(name, str) for name in document):
        return document
    raise SchemaError(f"{what}: expected an object, not {shown(document)}", type_name=owner)
