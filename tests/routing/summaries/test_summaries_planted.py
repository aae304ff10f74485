"""Faults that a tired engineer makes in the strategy, each of which the checks find."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from random import Random
from typing import ClassVar

import pytest

from fyke.assembly import CODEC, System, assemble
from fyke.broker.broker import Broker
from fyke.nodes.effect import Send
from fyke.nodes.message import Message, NodeId, Publish, SubscriptionKey, Unsubscribe
from fyke.overlay.topology import Topology
from fyke.routing.strategy import EVERYONE, NOTHING, Decision
from fyke.routing.summaries.contributions import Contribution
from fyke.routing.summaries.parameters import SummaryParameters
from fyke.routing.summaries.summaries import Summaries
from fyke.testing.stories.overlays import Make
from fyke.testing.strategy import check_strategy

PERIOD_S = 0.05


class ClaimsEverybody(Summaries):
    def merged_brokers(self) -> set[NodeId]:
        return set(self._map.brokers)


class GivesUpOnUnreachable(Summaries):
    def unreachable(self, peer: NodeId, message: Message) -> Decision:
        return NOTHING


class ForgetsWhoWasExamined(Summaries):
    def _examine(self, publish: Publish, examined: Collection[NodeId]) -> Decision:
        first = super()._examine(publish, examined)
        again = [each for each in self._held.owners(publish.event) if each in examined]
        repeated = [Send(each, Publish(publish.id, publish.event), True) for each in again]
        return Decision([*first.sends, *repeated], first.audience)


class SearchesOnFromMatches(Summaries):
    """Once for an event: for ever, it would be found, too, but late."""

    searched: ClassVar[set[str]] = set()

    def straight(self, message: Message, sender: NodeId) -> Decision:
        assert isinstance(message, Publish)
        if message.id in self.searched:
            return super().straight(message, sender)
        self.searched.add(message.id)
        return self._examine(message, getattr(message.route, "examined", ()))


class DeliversOnlyWhereItWasPublished(Summaries):
    def straight(self, message: Message, sender: NodeId) -> Decision:
        decided = super().straight(message, sender)
        return Decision(decided.sends, None if decided.sends else EVERYONE)


class CountsLostContributionsAsTold(Summaries):
    def link_up(self, peer: NodeId) -> Decision:
        return Decision([Send(peer, each) for each in self._map_messages()])


class KeepsWhatIsRemoved(Summaries):
    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> Decision:
        super().unsubscribe(message, came_from)
        self._alarm.forget()
        return NOTHING


class IgnoresWhatItLacks(Summaries):
    def _take_in(self, message: Contribution, source: NodeId) -> Decision:
        whole = Contribution(
            tuple((owner, -1, version, view) for owner, _, version, view in message.owners),
            message.removed,
            message.forgotten,
            message.added,
        )
        return super()._take_in(whole, source)


class TellsNoOneOnward(Summaries):
    def _take_in(self, message: Contribution, source: NodeId) -> Decision:
        super()._take_in(message, source)
        held = {o: (v, self._numbers_of(o)) for o, v in self._held.versions.items()}
        for told in self._targets().values():
            told.catch_up(held, {})
        return NOTHING


class LeavesTheCoveredOut(Summaries):
    def _tell(self, entered: Iterable[SubscriptionKey], left: Iterable[SubscriptionKey]) -> None:
        super()._tell(() if left else entered, left)


class TellsOneOfTwo(Summaries):
    def tick(self) -> Decision:
        decided = super().tick()
        return Decision(decided.sends[:1], wakes=decided.wakes)


class StandsForWhatItNeverHeard(Summaries):
    def _is_late(self, owner: NodeId, version: int, source: NodeId) -> bool:
        return owner in self._held.versions


_LOST = "does not get"
_STALE = "tables of"
FAULTS: dict[type[Summaries], str] = {
    ClaimsEverybody: _LOST,
    GivesUpOnUnreachable: _LOST,
    ForgetsWhoWasExamined: "for the second time",
    SearchesOnFromMatches: "for the second time",
    DeliversOnlyWhereItWasPublished: _LOST,
    CountsLostContributionsAsTold: _STALE,
    KeepsWhatIsRemoved: _STALE,
    IgnoresWhatItLacks: _STALE,
    TellsNoOneOnward: _STALE,
    LeavesTheCoveredOut: _STALE,
    TellsOneOfTwo: _STALE,
    StandsForWhatItNeverHeard: f"{_LOST}|{_STALE}",
}
"""Each with what it does to an overlay: found is what the law says, not a crash."""
PLAIN = [*FAULTS][:-3]
"""The others are about several neighbours and subsumption."""


def _make(fault: type[Summaries]) -> Make:
    def make(topology: Topology, owners: dict[str, str], engine: str) -> System:
        overlay = {broker: topology.neighbors(broker) for broker in topology.brokers}
        is_plain = fault in PLAIN
        parameters = SummaryParameters(
            period_s=PERIOD_S, neighbours=1 if is_plain else 2, subsumes=not is_plain
        )

        def node(name: NodeId, neighbours: Collection[NodeId], random: Random) -> Broker:
            return Broker(
                name,
                neighbours,
                lambda here, draw: fault(here, draw, overlay, parameters),
                random,
                engine=engine,
            )

        return System(node, CODEC)

    return make


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: type[Summaries]) -> None:
    with pytest.raises(AssertionError, match=FAULTS[fault]):
        check_strategy(
            _make(fault), seeds=range(40), faults=True, graphs=True, settles_s=8 * PERIOD_S
        )


def test_a_broken_overlay_is_named() -> None:
    assert assemble("summaries", Topology.of([("a", "b"), ("b", "c"), ("c", "a")]))
