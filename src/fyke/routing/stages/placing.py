"""Placing: a home finds places for its clients' subscriptions, where they fit best in the tree.

Idea. A client's broker (its home) walks down the tree and finds the place of a subscription
(`walking`); which way a walk takes is `joining`, or chance. The place does the rest (`hosting`).
The home holds what the place sends against the client's own filter: that is stage 0.

    c wants Stock DEF below 11      c asks r, m, a; a accepts, and serves c from then on

Faults. Places are recorded at both ends, and survive crashes. A home takes the first copy of an
event only (`once`). A place that cannot be reached, has forgotten, or is cut off from the root
loses what is attached there to another one; a home that begins again has its subscriptions at
itself until their places have said that they have them.
Invariant. Every subscription that had settled is attached at a broker whose rows reach the root, or
events that it may accept are flooded.
Cost. A walk for each subscription; a message for each home, place and period.
Source. MSF-22 to MSF-30, MSF-38, with MSF-Q4, MSF-Q6 to MSF-Q8.
"""

from __future__ import annotations

from functools import reduce
from operator import xor
from random import Random
from typing import Final

from msgspec.structs import replace

from fyke.nodes.effect import Accept, Key, Send, Store, Wake
from fyke.nodes.message import (
    Control,
    Message,
    NodeId,
    Publish,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
)
from fyke.routing.stages.attributes import STAGES_MAX, Classes
from fyke.routing.stages.hosting import SIMILARITY, Hosting
from fyke.routing.stages.leases import Leases
from fyke.routing.stages.messages import (
    AcceptedAt,
    Claim,
    Confirmed,
    Detach,
    Join,
    JoinAt,
    Missing,
    RenewAt,
    Served,
    Unlike,
)
from fyke.routing.stages.multistage import ROOT
from fyke.routing.stages.once import Once
from fyke.routing.stages.walking import ATTEMPTS_MAX, PATIENCE_S, Place, Walk, Walks
from fyke.routing.strategy import EVERYONE, NOTHING, Decision, Surroundings

LEASE_S: Final = 60.0
"""The period of leases unless another one is given."""
_RECORD: Final = "placed"


class Placing(Hosting):
    """A broker of the tree, and a home for its clients."""

    def __init__(
        self,
        here: Surroundings,
        random: Random,
        *,
        is_root: bool,
        placement: str = SIMILARITY,
        classes: Classes | None = None,
        is_merging: bool = False,
        leases: Leases | None = None,
    ) -> None:
        leases = leases or Leases(LEASE_S)
        super().__init__(
            here,
            random,
            is_root=is_root,
            leases=leases,
            placement=placement,
            classes=classes,
            is_merging=is_merging,
        )
        self._walks = Walks(random)
        self._once = Once(leases.grace_s)
        self._is_new = True
        """True until places have been asked about the subscriptions that this broker has there."""

    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision:
        if came_from in self._here.brokers:
            return super().subscribe(message, came_from)
        id = message.subscription.id
        self._walks.wanted[id] = message.subscription
        if id in self._walks.places:
            return NOTHING
        self._walks.waiting[id] = None
        return self._set_out()

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> Decision:
        id = message.id
        if came_from in self._here.brokers or id not in self._walks.wanted:
            return super().unsubscribe(message, came_from)
        place = self._walks.drop(id)
        if not self._walks.wanted:
            self._once.clear()
        left = super().unsubscribe(message, came_from)
        if place is None:
            return left
        forgotten = Decision(records=[Store((_RECORD, id), None)])
        return forgotten.and_then(left, self._leave(place))

    def _have(self, id: SubscriptionId, place: Place) -> None:
        """Have a place for a subscription that has none."""
        self._walks.places[id] = place
        if place.node != self._here.me:
            self._tallies.want(place.token)

    def _leave(self, place: Place) -> Decision:
        """Let go of a place that a subscription had."""
        if place.node == self._here.me:
            return NOTHING
        self._tallies.want(place.token, -1)
        return self._detach(place.node, place.token).and_then(self._tell_soon())

    def _detach(self, node: NodeId, token: int) -> Decision:
        return self._say(node, Detach(token))

    def _set_out(self) -> Decision:
        """Begin the walks that wait, if the root is known and this broker has begun."""
        ways = self._here.brokers
        if not self._walks.waiting or not self._reach.names() or (ways and not any(ways.values())):
            return NOTHING
        waiting, self._walks.waiting = self._walks.waiting, {}
        return NOTHING.and_then(*(self._begin(id) for id in waiting))

    def _begin(self, id: SubscriptionId, attempts: int = 1) -> Decision:
        """Walk from the root on."""
        root = self._reach.owner(ROOT)
        if root is None or attempts > ATTEMPTS_MAX:
            return self._stay(id, is_makeshift=True)
        walk = Walk(self._walks.token(), root, 0.0, 1, attempts)
        self._walks.walks[id] = walk
        return self._ask(id, walk)

    def _ask(self, id: SubscriptionId, walk: Walk) -> Decision:
        """Take the next step; this broker asks itself without a message."""
        subscription = self._walks.wanted[id]
        while walk.asked == self._here.me:
            child = self._next(subscription.filter)
            if child is None:
                return self._stay(id)
            walk.asked, walk.steps = child, walk.steps + 1
        if walk.steps > STAGES_MAX:
            return self._stay(id, is_makeshift=True)
        walk.deadline = self._here.now + PATIENCE_S
        asked = self._say(walk.asked, Join(subscription, walk.token))
        is_served = id in self._walks.places
        return asked.and_then(Decision(wakes=[Wake(walk.deadline, is_background=is_served)]))

    def _stay(self, id: SubscriptionId, is_makeshift: bool = False) -> Decision:
        """Attach a subscription here, at its home."""
        walk = self._walks.walks.get(id)
        token = self._walks.token() if walk is None else walk.token
        arrived = self._arrive(id, Place(self._here.me, token))
        if is_makeshift:
            self._walks.makeshift[id] = None
        return arrived

    def _arrive(self, id: SubscriptionId, place: Place) -> Decision:
        """Have a place from now on; let go of another one that it had."""
        before = self._walks.places.get(id)
        left = NOTHING if before is None else self._leave(before)
        self._have(id, place)
        for known in (self._walks.walks, self._walks.makeshift, self._walks.unsure):
            known.pop(id, None)
        record = Store((_RECORD, id), JoinAt(id, place.token, place.node))
        client = self._walks.wanted[id].subscriber or ""
        answers = [Accept(client, "Subscribe", id)] if before is None else []
        made = Decision(records=[record], answers=answers).and_then(self._keep_here(id))
        return made.and_then(left, self._tell_soon())

    def _keep_here(self, id: SubscriptionId) -> Decision:
        """Have a row for a subscription if its place is here or not sure, and else none."""
        place = self._walks.places.get(id)
        is_here = place is not None and (place.node == self._here.me or id in self._walks.unsure)
        key = (self._here.me, id)
        if is_here == (self._table.get(key) is not None):
            return NOTHING
        if is_here:
            return Decision(self._changed([self._local(Subscribe(self._walks.wanted[id]))], []))
        return Decision(self._changed([], [key]))

    def _take_answer(self, message: JoinAt | AcceptedAt, node: NodeId) -> Decision:
        walk = self._walks.walk_of(message.id, message.token, node)
        if walk is None:
            if isinstance(message, AcceptedAt) and message.token not in self._walks.at(node):
                return self._detach(node, message.token)
            return NOTHING
        if isinstance(message, AcceptedAt):
            return self._arrive(message.id, Place(node, message.token))
        walk.asked, walk.steps = message.node, walk.steps + 1
        return self._ask(message.id, walk)

    def _again(self, ids: list[SubscriptionId]) -> Decision:
        """Look for another place; what has one keeps it until then."""
        idle = [id for id in ids if id in self._walks.wanted and id not in self._walks.walks]
        return NOTHING.and_then(*(self._begin(id) for id in idle))

    def unreachable(self, peer: NodeId, message: Message) -> Decision:
        match message:
            case Join():
                return self._walk_anew(message.subscription.id, message.token, peer)
            case RenewAt() | Claim():
                return self._again(list(self._walks.at(peer).values()))
        return super().unreachable(peer, message)

    def _walk_anew(self, id: SubscriptionId, token: int, node: NodeId) -> Decision:
        walk = self._walks.walk_of(id, token, node)
        if walk is None:
            return NOTHING
        is_root = node == self._reach.owner(ROOT)
        return self._begin(id, ATTEMPTS_MAX + 1 if is_root else walk.attempts + 1)

    # --- events -----------------------------------------------------------------------------------

    def publish(self, publish: Publish, came_from: NodeId) -> Decision:
        decision = super().publish(publish, came_from)
        is_for_clients = decision.audience is EVERYONE
        return self._first_only(publish, decision) if is_for_clients else decision

    def straight(self, message: Message, sender: NodeId) -> Decision:
        match message:
            case Publish() if isinstance(message.route, Served):
                return self._first_only(message, Decision(audience=EVERYONE))
            case JoinAt() | AcceptedAt():
                return self._take_answer(message, sender)
            case Unlike():
                return self._say(sender, Claim(tuple(sorted(self._walks.claimed(sender)))))
            case Confirmed():
                return self._be_sure(sender, frozenset())
            case Missing():
                missing = self._walks.at(sender) if message.is_all else message.tokens
                return self._be_sure(sender, frozenset(missing))
        return super().straight(message, sender)

    def _first_only(self, publish: Publish, decision: Decision) -> Decision:
        """Hand an event to clients that want it, unless they have it."""
        if not self._here.local.match(publish.event):
            return decision
        if self._once.is_first(publish.id, self._here.now):
            return decision
        return replace(decision, audience=None)

    # --- leases -----------------------------------------------------------------------------------

    def tick(self) -> Decision:
        now = self._here.now
        late = [(id, self._walks.walks[id]) for id in self._walks.overdue(now)]
        decided = NOTHING.and_then(*(self._begin(id, walk.attempts + 1) for id, walk in late))
        renewed = super().tick()
        if not renewed.wakes:
            return decided.and_then(renewed)
        makeshift = NOTHING if self._is_adrift else self._again(list(self._walks.makeshift))
        return decided.and_then(renewed, self._renew_all(), makeshift)

    def _renew_all(self) -> Decision:
        """Tell places that what is attached there is still wanted: all, or those that are unsure.

        While all homes and places agree, the others know (`tallies`).
        """
        unsure = {self._walks.places[id].node for id in self._walks.unsure}
        return Decision(
            [
                Send(
                    node,
                    RenewAt(len(tokens), reduce(xor, tokens), node in unsure),
                    is_straight=True,
                )
                for node, tokens in self._walks.by_node().items()
                if node != self._here.me and (node in unsure or not self._is_even)
            ]
        )

    def _be_sure(self, node: NodeId, missing: frozenset[int]) -> Decision:
        """Look for other places for what one cannot serve; be sure of the rest."""
        here = self._walks.at(node)
        sure = [id for token, id in here.items() if token not in missing]
        for id in sure:
            self._walks.unsure.pop(id, None)
        kept = NOTHING.and_then(*map(self._keep_here, sure))
        return kept.and_then(self._again([here[token] for token in missing if token in here]))

    # --- neighbours and lives ---------------------------------------------------------------------

    def control(self, message: Control, came_from: NodeId) -> Decision:
        return super().control(message, came_from).and_then(self._set_out())

    def link_up(self, peer: NodeId) -> Decision:
        asked = self._renew_all() if self._is_new else NOTHING
        self._is_new = False
        return super().link_up(peer).and_then(self._set_out(), asked)

    def recover(self, key: Key, record: Control) -> Decision:
        """Have again what is attached here, and what was attached elsewhere, which is not sure."""
        if not isinstance(record, JoinAt):
            return super().recover(key, record)
        if record.id in self._walks.wanted:
            self._walks.waiting.pop(record.id, None)
            self._have(record.id, Place(record.node, record.token))
            if record.node != self._here.me:
                self._walks.unsure[record.id] = None
            self._keep_here(record.id)
        return NOTHING

    def places(self) -> dict[SubscriptionId, NodeId]:
        """Return where the subscriptions of this broker's clients are attached, for sure."""
        unsure, me = self._walks.unsure, self._here.me
        return {id: me if id in unsure else at.node for id, at in self._walks.places.items()}
