"""Shape: all that an index of covering wants to know of a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from fyke.filters.filter import And, Filter
from fyke.filters.normal_form import negation_normal_form, simplify
from fyke.filters.predicate import Predicate
from fyke.filters.text_predicate import InNetwork, Like, Matches
from fyke.routing.covering.box import Box
from fyke.routing.covering.claims import Claim, claim
from fyke.routing.covering.footprint import Footprint, footprint
from fyke.routing.covering.needs import Cost, Needs, cheapest, of_leaf

if TYPE_CHECKING:
    from fyke.events.schema import Schema


class Shape:
    """A box, if it is one; what it leaves; and what it needs, as far as parts of it are leaves."""

    __slots__ = ("_normal", "_schema", "box", "claim", "flavour", "footprint", "parts")

    box: Box | None
    footprint: Footprint | None
    claim: Claim
    flavour: int
    """The same for filters with the same patterns of text, which no order brings together."""
    parts: Sequence[Needs]

    def __init__(self, filter: Filter, box: Box | None, schema: Schema | None) -> None:
        self.box = box
        self.footprint = box.footprint() if box else footprint(filter, schema)
        self._schema = schema
        self._normal = normal = filter if self.box else negation_normal_form(simplify(filter))
        parts = normal.children if isinstance(normal, And) else (normal,)
        self.parts = [of_leaf(part) for part in parts if isinstance(part, Predicate)]
        self.claim = claim(self.parts)
        texts = sorted(str(part) for part in parts if isinstance(part, Like | Matches | InNetwork))
        self.flavour = crc32("".join(texts).encode())

    def cheapest(self, cost: Cost) -> Needs | None:
        """The needs that cost least; None where there are none in particular."""
        return cheapest(self._normal, cost, self._schema)
