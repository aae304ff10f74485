"""Declarations: the types and attributes that all brokers of an overlay agree on (DAS-7).

Every declaration has a version and an author; of several for one name the highest holds, so brokers
that heard them in different orders end with the same schema. A declaration that contradicts the
others is refused by the broker at which it enters the overlay.
"""

from __future__ import annotations

from typing import Final

from fyke.errors import SchemaError, shown
from fyke.events.schema import Schema
from fyke.nodes.message import Declare, NodeId

KINDS: Final = ("type", "attribute")


class Declarations:
    """All that hold, and the schema they make."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], Declare] = {}
        self.schema = Schema()

    def all(self) -> list[Declare]:
        return list(self._held.values())

    def stamped(self, wanted: Declare, author: NodeId) -> Declare:
        """A client's wish as the newest declaration of its name; SchemaError if it cannot hold."""
        if wanted.what not in KINDS:
            raise SchemaError(f"declares {shown(wanted.what)}; expected {' or '.join(KINDS)}")
        known = self._held.get((wanted.what, wanted.name))
        version = 1 if known is None else known.version + 1
        made = Declare(wanted.what, wanted.name, wanted.document, version, author)
        _schema({**self._held, (made.what, made.name): made})
        return made

    def hear(self, declared: Declare) -> bool:
        """Whether this is news. What contradicts the others waits until they change."""
        known = self._held.get((declared.what, declared.name))
        if known is not None and _rank(known) >= _rank(declared):
            return False
        self._held[declared.what, declared.name] = declared
        try:
            self.schema = _schema(self._held)
        except SchemaError:
            return True
        return True


def _rank(declared: Declare) -> tuple[int, NodeId]:
    return declared.version, declared.author


def _schema(held: dict[tuple[str, str], Declare]) -> Schema:
    documents: dict[str, dict[str, object]] = {kind: {} for kind in KINDS}
    for (kind, name), declared in sorted(held.items()):
        if declared.document is not None:
            documents[kind][name] = declared.document
    return Schema.from_document({"types": documents["type"], "attributes": documents["attribute"]})
