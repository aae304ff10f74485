"""Places: whether what is attached somewhere in a tree of stages is found from the root."""

from __future__ import annotations

from collections.abc import Iterable

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.language.parser import parse_text
from fyke.routing.stages.placing import Placing
from fyke.simulation.simulation import Simulation
from fyke.testing.stories.tables import broker_of


def check_placed(
    overlay: Simulation, home: str, id: str, filter: Filter, events: Iterable[Event]
) -> None:
    """Raise AssertionError unless a subscription has a place, and its events get there."""
    strategy = _placing(overlay, home)
    place = strategy.places().get(id)
    assert place is not None, f"{id} of {home} has no place"
    at = _placing(overlay, place)
    if place != home:
        held = at.tables()["attached"].get(home, {}).values()
        assert str(filter) in held, f"{place} does not have {id} of {home}: {sorted(held)}"
    wanted = [event for event in events if filter.matches(event)]
    child, above = place, at.parent
    while above is not None:
        rows = [
            parse_text(text)
            for text in _placing(overlay, above).tables()["heard"].get(child, {}).values()
        ]
        for event in wanted:
            assert any(row.matches(event) for row in rows), (
                f"{above} does not send {event} to {child}, for {id} of {home}: {filter}"
            )
        child, above = above, _placing(overlay, above).parent


def _placing(overlay: Simulation, name: str) -> Placing:
    strategy = broker_of(overlay, name).strategy
    assert isinstance(strategy, Placing)
    return strategy
