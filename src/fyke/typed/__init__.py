"""Typed events: objects of your own classes are published, and delivered to who wants them.

    event           makes a class an event class
    fields          conditions on the fields of a class, as Python expressions
    derived         the filter that covers a closure, and what was not understood of it
    schema_of       what is known about the events of some classes
    pack, unpack    from objects to events and back; `sealed` for a payload of your own

The first half of the second paper (MSF): types and subtypes, metadata that travels with an opaque
object, closures that only the subscriber runs.

Inside:

    shapes, source, stability
                            what an annotation allows; from a function to its syntax tree; what
                            survives a journey
    description, registry   what is known of a class; which classes are events, by name
    members, construction   accessors, and for which attribute; how objects are made again
    showing, payloads, packing
                            what an event shows, and doubts; objects as bytes; events of objects
    fields, schemas         conditions on fields; schemas of classes, and their evolution
    closures/               the filter of a closure, from when its expressions can be true
    subscriptions           what a hub keeps of all this
"""

from fyke.typed.closures.deriving import Derived, derived
from fyke.typed.closures.frame import Unread
from fyke.typed.fields import Condition, contains, exists, fields, like, matches, one_of
from fyke.typed.packing import ObjectEvent, pack, sealed, unpack
from fyke.typed.registry import described, event, forget
from fyke.typed.schemas import check_evolution, schema_of
from fyke.typed.showing import DOUBTS

__all__ = [
    "DOUBTS",
    "Condition",
    "Derived",
    "ObjectEvent",
    "Unread",
    "check_evolution",
    "contains",
    "derived",
    "described",
    "event",
    "exists",
    "fields",
    "forget",
    "like",
    "matches",
    "one_of",
    "pack",
    "schema_of",
    "sealed",
    "unpack",
]
