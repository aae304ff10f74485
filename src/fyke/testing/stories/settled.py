"""Settled: laws of an overlay in which nothing moves and nothing is broken.

Laws. Agreed, Mended and Empty of `strategy`. The oracle is a new overlay, which has seen nothing
but what holds now: the same tables, the same size.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Final

from fyke.assembly import variant_of
from fyke.broker.doorway import admitted
from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Declare, Disconnect, Subscribe
from fyke.routing.adaptive.adaptive import Adaptive
from fyke.routing.forwarding.row import MERGED
from fyke.routing.stages.placing import Placing
from fyke.routing.strategy import Strategy
from fyke.simulation.simulation import Simulation
from fyke.testing.covering import check_covers
from fyke.testing.stories import story as told
from fyke.testing.stories.footprint import footprint
from fyke.testing.stories.model import Model, Wish
from fyke.testing.stories.overlays import Make, adaptive_maker, settle, settled_overlay
from fyke.testing.stories.places import check_placed
from fyke.testing.stories.tables import broker_of, filters_of, names_of, rows_of, tables

_IN_ORDER: Final = ("fyke.filters.covering_index", "fyke.routing.forwarding.covering_set")
"""Modules whose sizes depend on the order in which filters came."""


class Settled:
    """Checks a settled overlay. `make` makes a new one.

    If brokers prune, `exact` makes brokers that do not. Then our tables cover theirs.
    """

    def __init__(
        self,
        overlay: Simulation,
        model: Model,
        make: Make,
        exact: Make | None,
        checked: Counter[str],
    ) -> None:
        self._overlay = overlay
        self._model = model
        self._make = make
        self._exact = exact
        self._checked = checked
        self._fresh: tuple[object, Simulation] | None = None
        """The last new overlay, and what it was made of."""

    @property
    def strategy(self) -> Strategy:
        """The strategy of the first broker."""
        return broker_of(self._overlay, self._model.first).strategy

    @property
    def _schema(self) -> Schema:
        return broker_of(self._overlay, self._model.first).schema

    # --- agreed -----------------------------------------------------------------------------------

    def check_agreement(self) -> None:
        """Raise AssertionError unless all brokers agree on the schema and on the right strategy."""
        brokers = [broker_of(self._overlay, name) for name in self._model.topology.brokers]
        assert len({str(each.schema.to_document()) for each in brokers}) == 1, "schemas differ"
        adaptive = [each.strategy for each in brokers if isinstance(each.strategy, Adaptive)]
        if not adaptive:
            return
        names = {each.current for each in adaptive}
        assert len(names) == 1, f"strategies differ: {sorted(names)}"
        for each in adaptive:
            assert each.epochs == 1, f"{each.epochs} epochs are left"
        if self._model.strategy is not None:
            right = variant_of(self._model.strategy)
            assert variant_of(names.pop()) == right, "it has not changed"
            self._checked["changed"] += 1
        self._model.strategy = None

    # --- mended -----------------------------------------------------------------------------------

    def check_tables(self) -> None:
        """Raise AssertionError unless tables are those of a new overlay, or cover them."""
        if isinstance(self.strategy, Placing):
            self._check_places()
            return
        overlay = self._remade()
        if self._exact is not None:
            self._check_covering(overlay)
        else:
            self._check_equal_tables(overlay)
        self._checked["tables"] += 1

    def _check_places(self) -> None:
        fitting = _fitting(self._schema)
        for wish in self._model.live():
            check_placed(self._overlay, wish.home, wish.id, wish.filter, fitting)
            self._checked["placed"] += 1

    def _check_equal_tables(self, overlay: Simulation) -> None:
        names = names_of((wish.filter for wish in self._model.live()), self._schema)
        for broker in self._model.topology.brokers:
            found = tables(self._overlay, broker, names)
            right = tables(overlay, broker, names)
            assert found == right, f"tables of {broker}: {found}\n  of a new one: {right}"

    def _check_covering(self, overlay: Simulation) -> None:
        """Raise AssertionError if a broker would lose an event that an exact one would keep."""
        for broker in self._model.topology.brokers:
            found, right = (filters_of(each, broker) for each in (self._overlay, overlay))
            for side, narrow in right.items():
                wide = found.get(side, [])
                accepted = check_covers(
                    lambda event, wide=wide: any(each.matches(event) for each in wide),  # type: ignore[misc]
                    lambda event, narrow=narrow: any(each.matches(event) for each in narrow),  # type: ignore[misc]
                    told.events(),
                )
                self._checked["covered"] += accepted
            self._checked["pruned"] += self._overlay.node(broker).stats().pruned

    def let_in(self, event: Event) -> list[Wish]:
        """Return the live wishes of which some broker holds a row that accepts an event.

        A row that stands for several is one of each wish that it covers.
        """
        keys, merged = set(), []
        for broker in self._model.topology.brokers:
            for key, filter in rows_of(self._overlay, broker):
                if filter.matches(event):
                    keys.add(key)
                    if key[0] == MERGED:
                        merged.append(filter)
        return [
            wish
            for wish in self._model.live()
            if (wish.home, wish.id) in keys or any(_contains(each, wish.filter) for each in merged)
        ]

    def _remade(self) -> Simulation:
        """Return an overlay that has seen nothing but what holds now; the last one, if it does."""
        name = self.strategy.current if isinstance(self.strategy, Adaptive) else None
        wishes = [(wish.client, wish.id, wish.filter) for wish in self._model.live()]
        holds = name, wishes, self._schema
        if self._fresh is None or self._fresh[0] != holds:
            self._fresh = holds, self._remake(name)
        return self._fresh[1]

    def _remake(self, name: str | None) -> Simulation:
        make = self._exact or self._make if name is None else adaptive_maker(name)
        overlay = settled_overlay(self._model.story, make)
        for wish in self._model.live():  # also what would be refused, once types are declared
            overlay.say(wish.client, Subscribe(Subscription(wish.id, wish.filter)))
        settle(overlay)
        client = self._model.client(0)
        schema = self._schema.to_document()
        for what in ("attribute", "type"):
            documents = schema[f"{what}s"]
            assert isinstance(documents, dict)
            for name in _supertypes_first(documents):
                overlay.say(client, Declare(what, name, documents[name]))
        settle(overlay)
        return overlay

    # --- empty ------------------------------------------------------------------------------------

    def check_empty(self) -> None:
        """Raise AssertionError if a broker holds a row when no subscription is left."""
        for broker in self._model.topology.brokers:
            left = tables(self._overlay, broker)
            assert not left, f"{broker} still holds {left}"
            stats = self._overlay.node(broker).stats()
            assert stats.rows == stats.subscriptions == stats.forwarded == 0, f"{broker}: {stats}"
            assert stats.filtered == 0, f"{broker} holds events against {stats.filtered} filters"

    def check_footprint(self) -> None:
        """Raise AssertionError if a broker is larger than a new one that holds the same.

        While there are filters, it may know the answers for the last event, and use another of two
        equal filters.
        """
        wishes = len(self._model.live())
        if wishes and isinstance(self.strategy, Placing):
            return
        overlay = self._remade()
        self._fresh = None
        for client in self._model.gone:
            overlay.say(client, Disconnect())
        settle(overlay)
        is_in_order = self._exact is None or not wishes  # pruning depends on the order of rows
        for broker in self._model.topology.brokers if is_in_order else ():
            left = self._left_over(overlay, broker, wishes)
            assert not left, f"{broker} keeps {dict(left)}"
        self._checked["footprint"] += 1

    def _left_over(self, overlay: Simulation, broker: str, wishes: int) -> Counter[str]:
        """Return how many entries a broker has beyond what it may have, by class."""
        allowed = Counter(Interests=4 + 2 * wishes if wishes else 0, RowTable=4 if wishes else 0)
        degree = self._model.topology.degree(broker)
        allowed += Counter(Declarations=2 * len(told.TYPES) + 4, Adaptive=2, Epoch=8 + 8 * degree)
        allowed += Counter(Tallies=degree)
        passed = _IN_ORDER if wishes else ()
        ours, new = self._overlay.node(broker), overlay.node(broker)
        return footprint(ours, passed) - footprint(new, passed) - allowed


def _contains(wide: Filter, narrow: Filter) -> bool:
    """Return True if a filter accepts all events of stories that another one accepts."""
    return all(wide.matches(event) for event in told.events() if narrow.matches(event))


def _fitting(schema: Schema) -> list[Event]:
    """Return the events of stories that a schema admits, as it reads them."""
    found = []
    for event in told.events():
        with suppress(FykeError):
            found.append(admitted(event, schema))
    return found


def _supertypes_first(documents: dict[str, dict[str, object]]) -> list[str]:
    """Return the names of types in an order in which they can be declared."""
    order: list[str] = []
    while len(order) < len(documents):
        for name, document in documents.items():
            above = document.get("supertypes", [])
            assert isinstance(above, list)
            if name not in order and all(each in order for each in above):
                order.append(name)
    return order
