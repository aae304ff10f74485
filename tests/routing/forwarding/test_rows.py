"""Rows belong to whoever told them."""

from __future__ import annotations

from random import Random

import pytest

import fyke
from fyke.assembly import variant_of
from fyke.broker.broker import Broker
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Send
from fyke.nodes.inputs import LinkUp, Received
from fyke.nodes.message import Publish, Subscribe, Unsubscribe
from fyke.routing.forwarding.filtering import Filtering
from fyke.routing.forwarding.reach import Reach
from fyke.routing.forwarding.row import Offered, Synced

WANTED = Subscribe(Subscription("s", fyke.parse("n = 1"), "carl"), Offered("c", ("",)))


@pytest.mark.parametrize("strategy", ["pf5", "pf8", "rn8"])
@pytest.mark.parametrize(
    "lie",
    [
        Unsubscribe("s", Offered("c")),
        Subscribe(Subscription("other", fyke.parse("n = 2")), Offered("a", ("",), (("c", "s"),))),
    ],
    ids=["a withdrawal", "a replacement"],
)
def test_a_neighbour_takes_back_only_what_it_told(strategy, lie):
    """c wants something, and a, on the other side, says that it does not."""
    broker = Broker(
        "b",
        ["a", "c"],
        lambda here, random: Filtering(here, variant_of(strategy), Reach("b", [""])),
        Random(0),
        engine="scan",
    )
    view = broker.strategy._doubt.view
    for peer in ("a", "c"):
        broker.handle(LinkUp(peer), 0)
        broker.handle(Received(peer, Synced(view)), 0)
    broker.handle(Received("c", WANTED), 0)

    def receivers(number: int) -> list[str]:
        publish = Publish(f"e{number}", fyke.Event({"n": 1}))
        effects = broker.handle(Received("a", publish), 0)
        return [each.to for each in effects if isinstance(each, Send)]

    assert receivers(1) == ["c"]
    broker.handle(Received("a", lie), 0)
    assert receivers(2) == ["c"]
    broker.handle(Received("c", Unsubscribe("s", Offered("c"))), 0)
    assert receivers(3) == []
