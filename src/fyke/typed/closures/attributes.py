"""Attributes: what `x.name` stands for, of the event, of the filter object and of what is captured.

An attribute of the event is a question to a filter only if the event shows it, and shows what the
closure will see (`stability`); otherwise nothing is known of it. An attribute of something that is
captured has a value now, and is watched. Any other may be a property that runs code.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from fyke.typed.closures.captured import is_plain
from fyke.typed.closures.frame import Frame
from fyke.typed.closures.truth import Read
from fyke.typed.closures.values import FOREIGN, PLAIN, Abstract, Known, Own, Path, Plain, Subject
from fyke.typed.description import Description
from fyke.typed.registry import nested_description
from fyke.typed.shapes import Shape, has_plain_members

_LOOKS = frozenset({"year", "month", "day", "hour", "minute", "real"})


class Attributes(Frame):
    """A frame that reads attributes."""

    __slots__ = ()

    def attribute(self, value: Abstract, name: str, node: ast.AST, path: Path) -> Abstract:
        match value:
            case Subject(description, prefix):
                return self.field(description, prefix, name, False, node, path)
            case Own(holder, changing):
                if changing is None or name in changing:
                    current = getattr(holder, "__dict__", {}).get(name, FOREIGN)
                    if changing is None or not is_plain(current):
                        return FOREIGN
                    self.notes.note(node, "it changes")
                    return PLAIN
                return self.member(holder, name, node, path)
            case Known(holder):
                return self.member(holder, name, node, path)
            case Read(_, shape) if shape.members is not None and value.is_plain:
                if name in ("value", "name") and has_plain_members(shape.members):
                    return _of_member(value, name)
            case Read() | Plain() if name in _LOOKS:
                return PLAIN
        self.effect(node, path, "what this attribute does is not known")
        return FOREIGN

    def member(self, holder: Any, name: str, node: ast.AST, path: Path) -> Abstract:
        try:
            return Known(self.captured.member(holder, name))
        except LookupError:
            self.effect(node, path, "what this attribute does is not known")
            return FOREIGN

    def field(
        self, description: Description, prefix: str, name: str, is_call: bool, node: ast.AST,
        path: Path,
    ) -> Abstract:  # fmt: skip
        """Return an attribute of the event, if an event shows what the closure will see."""
        found = description.members.get(name)
        if found is None or found.is_call != is_call:
            if not is_call:
                method = getattr(description.cls, name, None)
                if isinstance(method, FunctionType):
                    return FOREIGN
            self.effect(node, path, f"{description.name} has no stable attribute {name!r}")
            return FOREIGN
        shown = found.name.removeprefix("data.") if prefix else found.name
        self.notes.relies.add(prefix + shown)
        if not found.is_stable:
            is_field = not is_call and not hasattr(type(vars(description.cls).get(name)), "__get__")
            if is_field:
                self.notes.note(node, "it may be another value after a journey")
                return PLAIN if found.shape.is_scalar else FOREIGN
            self.effect(node, path, "it may be another value after a journey; see stable=")
            return FOREIGN
        if found.shape.nested is not None:
            return Subject(nested_description(found.shape.nested), f"{prefix}{shown}.")
        if not found.is_shown or (found.shape.elements and found.shape.elements.nested):
            self.notes.note(node, "events do not show it")
            return PLAIN if found.shape.is_scalar else FOREIGN
        return Read(prefix + shown, found.shape)


def _of_member(read: Read, name: str) -> Abstract:
    """Return the value of an enumeration's member, where an event shows the value and no other."""
    members: Any = read.shape.members
    classes = frozenset(type(each.value) for each in members)
    if name == "name" or read.classes != {members} or not classes <= {str, int, float, bool}:
        return PLAIN
    return Read(read.name, Shape(classes, read.shape.domain))
