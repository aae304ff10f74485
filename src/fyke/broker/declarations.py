"""Declarations: the types, attributes and domains that all brokers of an overlay agree on (DAS-7).

Every declaration has a version and an author; of several for one name the highest holds. A
declaration that contradicts the others is refused by the broker at which it enters the overlay. Two
that contradict each other may still enter at the same time, at two brokers: then all brokers hold
both, and use the same one of them.

Invariant. The schema is a function of the declarations that are held, in whatever order they came:
all of them, if they agree; else they are taken one after the other, by version, author and name,
and what contradicts those before it waits until they change.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final, TypeAlias

import msgspec

from fyke.errors import SchemaError, shown
from fyke.events.schema import Schema
from fyke.nodes.message import Declare, NodeId

KINDS: Final = ("type", "attribute", "domain")
_Held: TypeAlias = dict[tuple[str, str], Declare]


class Declarations:
    """The declarations that a broker holds, and the schema that follows from them."""

    def __init__(self) -> None:
        self._held: _Held = {}
        self._used: _Held = {}
        self.schema = Schema()

    @property
    def digest(self) -> str:
        """A text that all brokers with the same declarations share; empty if there are none."""
        if not self._held:
            return ""
        parts = [(*name, *_rank(each)) for name, each in sorted(self._held.items())]
        return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

    def all(self) -> list[Declare]:
        return list(self._held.values())

    def stamped(self, wanted: Declare, author: NodeId) -> Declare:
        """Return a client's declaration with the newest version.

        SchemaError if it contradicts others.
        """
        if wanted.what not in KINDS:
            raise SchemaError(f"declares {shown(wanted.what)}; expected {' or '.join(KINDS)}")
        known = self._held.get((wanted.what, wanted.name))
        version = 1 if known is None else known.version + 1
        made = Declare(wanted.what, wanted.name, wanted.document, version, author)
        _schema({**self._used, (made.what, made.name): made}.values())
        return made

    def hear(self, declared: Declare) -> bool:
        """Take in a declaration. Return True if it is news."""
        if declared.what not in KINDS:
            raise SchemaError(f"declares {shown(declared.what)}; expected {' or '.join(KINDS)}")
        known = self._held.get((declared.what, declared.name))
        if known is not None and _rank(known) >= _rank(declared):
            return False
        self._held[declared.what, declared.name] = declared
        self._used, self.schema = _agreed(self._held)
        return True


def _rank(declared: Declare) -> tuple[int, NodeId, bytes]:
    """Return the order of two declarations of one name. It is the same at all brokers."""
    document = msgspec.json.encode(declared.document, order="deterministic")
    return declared.version, declared.author, document


def _agreed(held: _Held) -> tuple[_Held, Schema]:
    """Return the declarations that fit together, the highest ranks first, and their schema."""
    try:
        return held, _schema(held.values())
    except SchemaError:
        pass
    waiting = sorted(held, key=lambda name: (_rank(held[name]), name))
    used: _Held = {}
    schema = Schema()
    while True:
        before = len(used)
        for name in waiting:
            try:
                schema = _schema([*used.values(), held[name]])
            except SchemaError:
                continue
            used[name] = held[name]
        if len(used) == before:
            return used, schema
        waiting = [name for name in waiting if name not in used]


def _schema(declarations: Iterable[Declare]) -> Schema:
    documents: dict[str, dict[str, object]] = {kind: {} for kind in KINDS}
    for each in sorted(declarations, key=lambda each: (each.what, each.name)):
        if each.document is not None:
            documents[each.what][each.name] = each.document
    return Schema.from_document({f"{kind}s": documents[kind] for kind in KINDS})
