"""Space: the axes that peers agree on, and events as points of it (S2S-1, S2S-3).

    space = Space.of(schema)                       every attribute that can be an axis
    space = Space.of(schema, ["price", "size"])
    space.point(Event({"price": 8.4}))             a code for each axis; what is missing has one too

Attributes that may hold lists and texts without an order are no axes: the exact filter decides
about them. The type of an event can be an axis: its codes are the types that a schema declares.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, TypeAlias

from fyke.errors import EventError, FykeError, shown
from fyke.events.domain import Boolean, Enumeration, FiniteDomain, Real, Timestamp
from fyke.events.event import Event
from fyke.events.json import encode
from fyke.events.schema import Schema
from fyke.peers.geometry.axis import Axis, Code, Side

Point: TypeAlias = tuple[Code, ...]
Box: TypeAlias = tuple[Side, ...]
"""A side for each axis."""

AXES_MAX: Final = 16
TYPE: Final = "type"
_ORDERED: Final = (FiniteDomain, Real, Timestamp, Boolean)


@dataclass(frozen=True, slots=True)
class Space:
    """Axes in an order that all peers share."""

    schema: Schema
    axes: tuple[Axis, ...]
    whole: Box = field(init=False, compare=False)
    places: dict[str, int] = field(init=False, compare=False)
    """The axes by the names of their attributes."""
    fingerprint: int = field(init=False, compare=False)
    """Two peers with the same one mean the same by a box."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.axes) <= AXES_MAX:
            raise FykeError(f"a space of {len(self.axes)} axes; expected 1 to {AXES_MAX}")
        set_ = object.__setattr__
        set_(self, "whole", tuple(axis.whole for axis in self.axes))
        set_(self, "places", {axis.name: at for at, axis in enumerate(self.axes)})
        document = encode([[axis.name, axis.low, axis.high] for axis in self.axes])
        said = document + encode(self.schema.to_document())
        set_(self, "fingerprint", int.from_bytes(blake2b(said.encode(), digest_size=4).digest()))

    @classmethod
    def of(cls, schema: Schema, attributes: Iterable[str] | None = None) -> Space:
        """Return a space over some attributes; without names over all that can be axes."""
        named = _possible(schema) if attributes is None else list(attributes)
        return cls(schema, tuple(_axis(schema, name) for name in named))

    def point(self, event: Event) -> Point:
        """Return the place of an event; EventError if an axis has a value outside its domain."""
        codes = []
        for axis in self.axes:
            value = event.attributes.get(axis.name, _MISSING)
            if value is _MISSING:
                codes.append(axis.missing)
            elif isinstance(value, tuple) or not axis.domain.contains(value):  # type: ignore[arg-type]
                problem = f"{shown(value)} is not a value of {axis.domain}"
                raise EventError(problem, attribute=axis.name)
            else:
                codes.append(axis.code(value)[0])  # type: ignore[arg-type]
        return tuple(codes)

    def positions(self, box: Box) -> list[tuple[float, float]]:
        """Return the ends of a box from 0 to 1 on each axis."""
        sides = zip(self.axes, box, strict=True)
        return [(axis.position(low), axis.position(high)) for axis, (low, high) in sides]


_MISSING: Final = object()


def _possible(schema: Schema) -> list[str]:
    names = dict.fromkeys(
        attribute.name
        for each in ("", *(type_.name for type_ in schema.types))
        for attribute in schema.attributes_of(each)
        if not attribute.multiple and isinstance(attribute.domain, _ORDERED)
    )
    return [*([TYPE] if len(schema.types) > 1 else []), *names]


def _axis(schema: Schema, name: str) -> Axis:
    declared = schema.attribute(name)
    if declared is None and name == TYPE and schema.types:
        return Axis.of(name, Enumeration(tuple(each.name for each in schema.types)))
    if declared is None:
        meant = schema.nearest_attribute(name)
        hint = f"; did you mean {shown(meant)}?" if meant else ""
        raise FykeError(f"the attribute {shown(name)} is not in the schema{hint}")
    if declared.multiple:
        raise FykeError(f"the attribute {shown(name)} may hold lists, so it cannot be an axis")
    return Axis.of(name, declared.domain)
