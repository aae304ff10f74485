"""Schema: which attributes there are, what values they have, and which type is a kind of which.

    stock = EventType("Stock", [Attribute("price", FixedPoint(0, 100, decimals=2))])
    schema = Schema(types=[stock, EventType("Share", supertypes=["Stock"])])
    schema.validate(Event({"type": "Share", "price": 8.3})).supertypes          ("Stock",)

A name means one thing in the whole schema: two types may share an attribute, but not with two
domains. So an attribute is checked by its name, whatever the event's type, and `is_single(name)` is
a promise about every validated event. Whoever folds `a > 1 and a < 5` into one interval needs it.

A domain that several attributes share can have a name (DAS-7). Attributes refer to it, and another
domain of that name changes them all:

    Schema([Attribute("inside", Named("celsius"))], domains={"celsius": Real(-50, 50)})

Schemas are values; `with_type`, `with_attribute` and `with_domain` make new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter

from fyke.errors import SchemaError, shown
from fyke.events import domain as domains
from fyke.events import validation
from fyke.events.domain import RESERVED, Decimals, Domain, Enumeration, Named, Timestamp
from fyke.events.event import Document, Event, as_event
from fyke.events.spelling import nearest
from fyke.events.value import Scalar


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
    """Attributes that any event may have, types with their own, and domains that have names.

    Checked when it is made. `attributes` and `types` are as written, with the names of domains;
    what is looked up (`attribute`, `attributes_of`) has the domains themselves.
    """

    attributes: Sequence[Attribute] = ()
    types: Sequence[EventType] = ()
    domains: Mapping[str, Domain] = field(default_factory=dict, hash=False)
    _attributes: dict[str, Attribute] = field(init=False, repr=False, compare=False)
    _types: dict[str, EventType] = field(init=False, repr=False, compare=False)
    _subtypes: dict[str, list[str]] = field(init=False, repr=False, compare=False)
    _supertypes: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    orders: Mapping[str, Enumeration] = field(init=False, repr=False, compare=False)
    """The attributes whose text has an order of its own."""
    timestamps: frozenset[str] = field(init=False, repr=False, compare=False)
    """The attributes whose text is read as a timestamp."""
    _required: dict[str | None, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "attributes", tuple(self.attributes))
        set_(self, "types", tuple(self.types))
        set_(self, "domains", _checked_domains(self.domains))
        set_(self, "_types", _by_name(self.types))
        set_(self, "_subtypes", _hierarchy(self._types))
        set_(self, "_supertypes", {})
        set_(self, "_required", {})
        set_(self, "_attributes", self._declarations())
        domains = {name: each.domain for name, each in self._attributes.items()}
        ordered = {name: each for name, each in domains.items() if isinstance(each, Enumeration)}
        set_(self, "orders", ordered)
        moments = (name for name, each in domains.items() if isinstance(each, Timestamp))
        set_(self, "timestamps", frozenset(moments))

    # --- looking up -------------------------------------------------------------------------------

    def attribute(self, name: str) -> Attribute | None:
        """Return the declaration of an attribute, wherever it stands; None where there is none."""
        return self._attributes.get(name)

    @property
    def decimals(self) -> frozenset[str]:
        """The attributes for which JSON is read exactly (`json.decode_event`)."""
        named = self._attributes.items()
        return frozenset(name for name, each in named if isinstance(each.domain, Decimals))

    def is_single(self, name: str) -> bool:
        """Return True if an attribute is declared and never a list."""
        declared = self._attributes.get(name)
        return declared is not None and not declared.multiple

    def type(self, name: str) -> EventType | None:
        """Return the declaration of a type; None where there is none."""
        return self._types.get(name)

    def supertypes(self, name: str) -> tuple[str, ...]:
        """Return all ancestors of a type, the nearest first; none of an unknown type."""
        if name not in self._types:
            return ()
        if name not in self._supertypes:
            self._supertypes[name] = _reached(name, lambda met: self._types[met].supertypes)
        return self._supertypes[name]

    def subtypes(self, name: str) -> tuple[str, ...]:
        """Return all descendants of a type, the nearest first."""
        return _reached(name, lambda met: self._subtypes.get(met, ()))

    def conforms(self, sub: str, super: str) -> bool:
        """Return True if an event of type `sub` is one of type `super`."""
        return sub == super or super in self.supertypes(sub)

    def attributes_of(self, name: str) -> tuple[Attribute, ...]:
        """Return all attributes that a type has: its own, its ancestors' and everybody's."""
        types = [self._types[met] for met in (name, *self.supertypes(name)) if met in self._types]
        written = (*self.attributes, *(each for type_ in types for each in type_.attributes))
        return tuple(map(self._resolved, written)) if self.domains else written

    def required_of(self, name: str | None) -> tuple[str, ...]:
        """Return the attributes that all valid events of a type have.

        For an unknown type, these are everybody's.
        """
        known = name if name in self._types else None
        if known not in self._required:
            possible = self.attributes if known is None else self.attributes_of(known)
            found = (each.name for each in possible if each.required)
            self._required[known] = tuple(dict.fromkeys(found))
        return self._required[known]

    def nearest_attribute(self, name: str) -> str | None:
        """Return the declared attribute one letter away from a name that is not declared."""
        return None if name in self._attributes else nearest(name, self._attributes)

    def nearest_type(self, name: str) -> str | None:
        """Return the declared type one letter away from a name that is not declared."""
        return None if name in self._types else nearest(name, self._types)

    def _resolved(self, attribute: Attribute) -> Attribute:
        """Return the attribute with its domain in the place of a name."""
        if not isinstance(attribute.domain, Named):
            return attribute
        name = attribute.domain.name
        if name not in self.domains:
            problem, meant = f"unknown domain {shown(name)}", nearest(name, self.domains)
            raise SchemaError(problem, attribute=attribute.name, meant=meant)
        return replace(attribute, domain=self.domains[name])

    def _declarations(self) -> dict[str, Attribute]:
        """Return each attribute by name; SchemaError where two declarations differ."""
        declared: dict[str, Attribute] = {}
        owned: list[tuple[str | None, Attribute]] = [(None, each) for each in self.attributes]
        owned += ((type_.name, each) for type_ in self.types for each in type_.attributes)
        for owner, written in owned:
            each = self._resolved(written)
            known = declared.setdefault(each.name, each)
            if (known.domain, known.multiple) != (each.domain, each.multiple):
                problem = f"declared as {each.domain}, elsewhere as {known.domain}"
                if known.domain == each.domain:
                    problem = "declared both as single and as multiple"
                raise SchemaError(problem, attribute=each.name, type_name=owner)
        return declared

    # --- using ------------------------------------------------------------------------------------

    def validate(
        self,
        event: Event | Document,
        *,
        closed: bool = False,
        complete: bool = False,
        typed: bool = False,
    ) -> Event:
        """Return the event with its supertypes and text read as timestamps; SchemaError if unfit.

        `closed` refuses attributes that the event's type does not have, `typed` an undeclared type;
        `complete` demands a declared type and every attribute of it (DAS-1).
        """
        typed = typed or complete
        return validation.validate(self, as_event(event), closed, complete, typed)

    def read(self, event: Event | Document) -> Event:
        """Return the event with text read as timestamps where they are declared.

        Nothing else is checked. For text that is no timestamp, an EventError names the attribute.
        """
        return validation.read(self, as_event(event))

    def read_value(self, attribute: str, value: Scalar) -> Scalar:
        """Return a value as the domain of an attribute holds it."""
        declared = self._attributes.get(attribute)
        return value if declared is None else declared.domain.read(value)

    def with_timestamps(self, names: Iterable[str]) -> Schema:
        """Return this schema with more attributes that are timestamps, or lists of them."""
        if isinstance(names, str):
            raise SchemaError(f"timestamps are a list of names, not {shown(names)}")
        schema = self
        for name in names:
            declared = schema.attribute(name)
            if declared is None:
                schema = schema.with_attribute(Attribute(name, Timestamp(), multiple=True))
            elif not isinstance(declared.domain, Timestamp):
                problem = f"declared as {declared.domain}, not as a timestamp"
                raise SchemaError(problem, attribute=name)
        return schema

    def with_attribute(self, attribute: Attribute) -> Schema:
        """Return this schema with one more attribute, or with another declaration of it."""
        others = (other for other in self.attributes if other.name != attribute.name)
        return Schema((*others, attribute), self.types, self.domains)

    def with_type(self, event_type: EventType) -> Schema:
        """Return this schema with one more type, or with another declaration of it."""
        others = (other for other in self.types if other.name != event_type.name)
        return Schema(self.attributes, (*others, event_type), self.domains)

    def with_domain(self, name: str, domain: Domain) -> Schema:
        """Return this schema with one more domain, or with another one in the place of its name."""
        return Schema(self.attributes, self.types, {**self.domains, name: domain})

    # --- as a document ----------------------------------------------------------------------------

    def to_document(self) -> dict[str, object]:
        """Return the JSON form."""
        types = {
            each.name: {
                "supertypes": list(each.supertypes),
                "attributes": _attributes_to_document(each.attributes),
            }
            for each in self.types
        }
        attributes = _attributes_to_document(self.attributes)
        document: dict[str, object] = {"attributes": attributes, "types": types}
        if self.domains:
            named = {name: domain.to_document() for name, domain in self.domains.items()}
            document["domains"] = named
        return document

    @classmethod
    def from_document(cls, document: object) -> Schema:
        """Read the JSON form; SchemaError names what is wrong."""
        members = _members(document, "a schema", {"attributes", "types", "domains"})
        named = _domains_from_document(members.get("domains", {}))
        attributes = _attributes_from_document(members.get("attributes", {}), None, named)
        types = _object(members.get("types", {}), "types")
        read = [_type_from_document(name, each, named) for name, each in types.items()]
        return cls(attributes, read, named)


# --- checking a schema ----------------------------------------------------------------------------


def _by_name(types: Iterable[EventType]) -> dict[str, EventType]:
    named: dict[str, EventType] = {}
    for each in types:
        if each.name in named:
            raise SchemaError("declared twice", type_name=each.name)
        named[each.name] = each
    return named


def _hierarchy(types: Mapping[str, EventType]) -> dict[str, list[str]]:
    """Return the direct subtypes of each type; SchemaError where supertypes make no hierarchy."""
    subtypes: dict[str, list[str]] = {name: [] for name in types}
    for each in types.values():
        for name in dict.fromkeys(each.supertypes):
            if name not in subtypes:
                problem = f"unknown supertype {shown(name)}"
                raise SchemaError(problem, type_name=each.name, meant=nearest(name, types))
            subtypes[name].append(each.name)
    try:
        TopologicalSorter(subtypes).prepare()
    except CycleError as found:
        cycle = " > ".join(map(str, found.args[1]))
        raise SchemaError(f"its own supertype ({cycle})", type_name=found.args[1][0]) from None
    return subtypes


def _checked_domains(named: Mapping[str, Domain]) -> dict[str, Domain]:
    for name, domain in named.items():
        if name in RESERVED:
            raise SchemaError(f"{shown(name)} is the name of a kind of domain; choose another one")
        if isinstance(domain, Named):
            raise SchemaError(f"the domain {shown(name)} is {domain}; expected a domain itself")
    return dict(named)


def _reached(start: str, following: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """Return the names that can be reached from one, nearest first."""
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


def _domains_from_document(document: object) -> dict[str, Domain]:
    found: dict[str, Domain] = {}
    for name, each in _object(document, "domains").items():
        try:
            found[name] = domains.from_document(each)
        except SchemaError as refused:
            problem = f"domain {shown(name)}: {refused.problem}"
            raise SchemaError(problem, meant=refused.meant) from None
    return found


def _attributes_from_document(
    document: object, owner: str | None, named: Mapping[str, Domain]
) -> list[Attribute]:
    members = _object(document, "attributes", owner)
    return [_attribute_from_document(name, each, owner, named) for name, each in members.items()]


def _attribute_from_document(
    name: str, document: object, owner: str | None, named: Mapping[str, Domain]
) -> Attribute:
    try:
        members = _members(document, "an attribute", {"domain", "multiple", "required"})
        flags = {flag: members.get(flag, False) for flag in ("multiple", "required")}
        for flag, value in flags.items():
            if not isinstance(value, bool):
                raise SchemaError(f"{flag} is {shown(value)}; expected true or false")
        domain = domains.from_document(members.get("domain"), named)
    except SchemaError as refused:
        raise SchemaError(
            refused.problem, attribute=name, type_name=owner, meant=refused.meant
        ) from None
    return Attribute(name, domain, bool(flags["multiple"]), bool(flags["required"]))


def _type_from_document(name: str, document: object, named: Mapping[str, Domain]) -> EventType:
    members = _members(document, "a type", {"attributes", "supertypes"}, name)
    supertypes = members.get("supertypes", [])
    if not isinstance(supertypes, list) or not all(isinstance(each, str) for each in supertypes):
        raise SchemaError("supertypes is not a list of names", type_name=name)
    attributes = _attributes_from_document(members.get("attributes", {}), name, named)
    return EventType(name, attributes, supertypes)


def _members(
    document: object, what: str, known: set[str], owner: str | None = None
) -> dict[str, object]:
    members = _object(document, what, owner)
    for name in members:
        if name not in known:
            expected = ", ".join(sorted(known))
            problem = f"{what} has no member {shown(name)}; expected {expected}"
            raise SchemaError(problem, type_name=owner, meant=nearest(name, sorted(known)))
    return members


def _object(document: object, what: str, owner: str | None = None) -> dict[str, object]:
    if isinstance(document, dict) and all(isinstance(name, str) for name in document):
        return document
    raise SchemaError(f"{what}: expected an object, not {shown(document)}", type_name=owner)
