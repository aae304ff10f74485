"""Nothing grows for ever: when all have gone, a broker is as large as a new one."""

from __future__ import annotations

import gc
from collections import deque
from random import Random

import pytest

import fyke
from fyke.assembly import ALIASES, STRATEGIES
from fyke.nodes.message import Advertise, Declare, Disconnect, Learn, Unadvertise, Unsubscribe
from fyke.routing.adaptive.epoch import Switch
from tests.overlays import Overlay

CASES = [
    *((name, {}) for name in STRATEGIES if name not in ALIASES),
    *((name, {"merging": True}) for name in ("pf5", "pf8", "rn5", "rn8", "adaptive")),
    *(("adaptive", {"first": name}) for name in ("pf8", "pf4", "rn8", "rn1", "pf1")),
]
CONTAINERS = (dict, list, set, deque, tuple, frozenset)


def sizes(root: object) -> dict[str, int]:
    """Return how many things there are in all containers below an object, by the way to them."""
    found: dict[str, int] = {}
    seen: set[int] = set()
    waiting: list[tuple[str, object]] = [("", root)]
    while waiting:
        place, each = waiting.pop()
        if id(each) in seen or isinstance(each, type | str | bytes | int | float):
            continue
        seen.add(id(each))
        if isinstance(each, CONTAINERS):
            found[place] = found.get(place, 0) + len(each)
            parts = [*each.keys(), *each.values()] if isinstance(each, dict) else list(each)
            waiting += [(f"{place}[]", part) for part in parts]
        elif type(each).__module__.startswith("fyke."):
            names = [*getattr(each, "__dict__", ()), *_slots(type(each))]
            waiting += [(f"{place}.{name}", getattr(each, name, None)) for name in names]
        elif callable(each):
            for cell in getattr(each, "__closure__", None) or ():
                waiting.append((f"{place}()", cell.cell_contents))
    return found


def _slots(kind: type) -> list[str]:
    named = (getattr(each, "__slots__", ()) for each in kind.__mro__)
    return [name for names in named for name in ([names] if isinstance(names, str) else names)]


class Visits:
    """Clients that come to an overlay, want this and that for a while, and go."""

    def __init__(self, strategy: str, options: dict[str, object]) -> None:
        rendezvous = {"": "b", "T": "c"}
        self.overlay = Overlay(strategy, rendezvous=rendezvous, **options)
        self._is_adaptive = strategy == "adaptive"
        self._count = 0
        self._draw = Random(5)
        self.overlay.say("ca", Declare("type", "T", {"attributes": {}}))
        for broker in "abcd":  # some stay, so that nothing is dropped as a whole
            assert self.overlay.subscribe(f"c{broker}", f"stays {broker}", "c > 5") == []

    def visit(self, clients: int) -> None:
        overlay, draw = self.overlay, self._draw
        for number in range(clients):
            self._count += 1
            client, broker = f"visitor {self._count}", "abcd"[number % 4]
            overlay.run.attach(client, broker)
            for which in range(3):
                value = draw.randrange(20)
                text = draw.choice((f"a = {value}", f"a < {value}", f"type is T and a = {value}"))
                if number % 4 == 1:
                    text = f"b < {self._count} and ({text})"
                assert overlay.subscribe(client, f"{client}/{which}", text) == []
            overlay.say(client, Learn())
            overlay.say(client, Advertise(client, fyke.parse("exists a")))
            overlay.publish(client, {"type": "T", "a": draw.randrange(20)}, client)
            if number % 3:
                for which in range(3):
                    assert overlay.say(client, Unsubscribe(f"{client}/{which}")) == []
            if number % 2:
                assert overlay.say(client, Unadvertise(client)) == []
            if number % 8 == 5:
                link = overlay.topology.links[number % 3]
                overlay.run.cut(*link)
                overlay.run.heal(*link)
            if number % 16 == 9:
                overlay.run.crash("b")
                overlay.run.restart("b")
            if self._is_adaptive and number % 16 == 12:
                for name in ("pf7", "ef"):
                    overlay.say("ca", Switch(name))
            assert overlay.say(client, Disconnect()) == []
        if self._is_adaptive:
            for name in ("pf7", "pf8"):
                overlay.say("ca", Switch(name))

    def sizes(self) -> dict[str, dict[str, int]]:
        gc.collect()
        return {name: sizes(self.overlay.run.node(name)) for name in self.overlay.topology.brokers}


@pytest.mark.parametrize(("strategy", "options"), CASES, ids=str)
def test_when_all_have_gone_a_broker_is_as_large_as_a_new_one(strategy, options, request):
    gc.freeze()  # what other tests have left is not looked through again
    request.addfinalizer(gc.unfreeze)
    visits = Visits(strategy, options)
    visits.visit(0)
    new = visits.sizes()
    visits.visit(48)
    old = visits.sizes()
    for broker in new:
        places = new[broker].keys() | old[broker].keys()
        grown = {
            place: (new[broker].get(place, 0), old[broker].get(place, 0))
            for place in places
            if old[broker].get(place, 0) > new[broker].get(place, 0) + 6
        }
        assert grown == {}, broker
