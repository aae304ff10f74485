"""Shape: all that an index of covering wants to know of a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fyke.filters.filter import And, Filter
from fyke.filters.normal_form import negation_normal_form, simplify
from fyke.filters.predicate import Predicate
from fyke.routing.covering.box import Box
from fyke.routing.covering.footprint import Footprint, footprint
from fyke.routing.covering.needs import Cost, Needs, cheapest, cheapest_of, of_leaf

if TYPE_CHECKING:
    from fyke.events.schema import Schema


class Shape:
    """A box, if it is one; what it leaves; and what it needs, as far as parts of it are leaves."""

    __slots__ = ("_normal", "_schema", "box", "footprint", "parts")

    box: Box | None
    footprint: Footprint | None
    parts: Sequence[Needs]

    def __init__(self, filter: Filter, box: Box | None, schema: Schema | None) -> None:
        self.box = box
        self.footprint = box.footprint() if box else footprint(filter, schema)
        self._schema = schema
        self._normal = normal = filter if self.box else negation_normal_form(simplify(filter))
        parts = normal.children if isinstance(normal, And) else (normal,)
        self.parts = [of_leaf(part) for part in parts if isinstance(part, Predicate)]

    def cheapest(self, cost: Cost) -> Needs | None:
        """The needs that cost least; None where there are none in particular."""
        if self.box is not None:
            return cheapest_of(self.parts, cost)
        return cheapest(self._normal, cost, self._schema)
