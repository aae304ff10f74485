"""Placing: subscriptions are attached where they fit best in a tree of stages.

Idea. A client's broker (its home) walks down the tree and finds the place of a subscription
(`walking`); which way a walk takes is `joining`, or chance. The place holds the filter for the home
as it holds a child's, tells its parent of it, and sends the home what it accepts, straight. The
home holds it against the client's own filter: that is stage 0.

    r       Stock                   c is home of a client that wants Stock DEF below 11
    m       Stock DEF               a has others like it: c attaches it there
    a       Stock DEF below 11      an event goes r, m, a, and from a straight to c

Faults. Places are recorded at both ends, and survive crashes. An event that cannot get down to a
place is flooded from where it is stuck, and a home takes the first copy of an event only (`once`).
A home renews at each place all that it has there, with one digest (`leases`). A place that cannot
be reached, has forgotten, or is cut off from the root loses what is attached there to another one;
a home that begins again has its subscriptions at itself until their places have said that they have
them. What no home renews ends at the place.
Invariant. Every subscription that had settled is attached at a broker whose rows reach the root, or
events that it may accept are flooded.
Cost. A walk for each subscription; a message for each home, place and period.
Source. MSF-22 to MSF-30, MSF-38, with MSF-Q4, MSF-Q6 to MSF-Q8.
"""

from __future__ import annotations

from functools import reduce
from itertools import count
from operator import xor
from random import Random
from typing import Final, TypeAlias

from msgspec.structs import replace

from fyke.errors import FykeError, shown
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Accept, Key, Send, Store, Wake
from fyke.nodes.message import (
    Control,
    Message,
    NodeId,
    Publish,
    Route,
    Subscribe,
    SubscriptionId,
    SubscriptionKey,
    Unsubscribe,
)
from fyke.routing.flooding import flood
from fyke.routing.leases import Leases
from fyke.routing.multistage import ROOT, Multistage
from fyke.routing.offer import Scope
from fyke.routing.once import Once
from fyke.routing.packed_row import PackedRow
from fyke.routing.row import MERGED, Row
from fyke.routing.stages import STAGES_MAX, Classes
from fyke.routing.strategy import EVERYONE, NOTHING, Decision, Surroundings, Tables
from fyke.routing.walking import ATTEMPTS_MAX, PATIENCE_S, Place, Walk, Walks

SIMILARITY: Final = "similarity"
LOCALITY: Final = "locality"
RANDOM: Final = "random"
PLACEMENTS: Final = (LOCALITY, SIMILARITY, RANDOM)
LEASE_S: Final = 60.0
"""The period of leases where nobody says another."""
_ATTACHED: Final = ""
"""The source of rows that homes have attached here: no node has this name."""
_PLACED: Final = "placed"
_KEPT: Final = "attached"

Attachment: TypeAlias = tuple[NodeId, int]
"""A home, and the token of its walk."""


class Join(Control, frozen=True):
    """The sender asks where to attach a subscription of its client."""

    subscription: Subscription
    token: int


class JoinAt(Control, frozen=True):
    """The answer: ask this broker."""

    id: SubscriptionId
    token: int
    node: NodeId


class AcceptedAt(Control, frozen=True):
    """The answer: here. The sender has it, and keeps it as long as it is renewed."""

    id: SubscriptionId
    token: int


class Detach(Control, frozen=True):
    """The sender no longer wants what it has attached by a walk."""

    token: int


class RenewAt(Control, frozen=True):
    """The sender still wants all that it has attached: so many, their tokens taken together.

    A sender that is `unsure` wants to hear that it is so.
    """

    count: int
    tokens: int
    is_unsure: bool = False


class Confirmed(Control, frozen=True):
    """All that was renewed is here."""


class Claim(Control, frozen=True):
    """All that the sender has attached, or is about to: what else is there is void."""

    tokens: tuple[int, ...]


class Unlike(Control, frozen=True):
    """The sender holds something else than was renewed: which are they?"""


class Missing(Control, frozen=True):
    """The sender cannot serve these, or none at all: it is cut off from the root."""

    tokens: tuple[int, ...]
    is_all: bool = False


class Adrift(Control, frozen=True):
    """Whether the sender is cut off from the root, as far as it knows."""

    is_so: bool


class Served(Route, frozen=True):
    """With an event from the place of a subscription, straight to its home."""


KINDS: Final[tuple[type[Message] | type[Route], ...]] = (
    *(Join, JoinAt, AcceptedAt, Detach, RenewAt, Confirmed, Claim, Unlike, Missing, Adrift),
    Served,
)
_SERVED: Final = Served()


class Placing(Multistage):
    """A broker of the tree: a home for its clients, a place for what others attach here."""

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
        if placement not in (SIMILARITY, RANDOM):
            raise FykeError(
                f"unknown placement {shown(placement)}; expected {', '.join(PLACEMENTS)}"
            )
        leases = leases or Leases(LEASE_S)
        super().__init__(
            here, is_root=is_root, classes=classes, is_merging=is_merging, leases=leases
        )
        if not leases:
            raise FykeError("what is placed elsewhere has to be renewed; give a lease_s")
        self._random = random
        self._placement = placement
        self._walks = Walks(random)
        self._once = Once(leases.grace_s)
        self._rows: dict[Attachment, SubscriptionKey] = {}
        """The rows of what is attached here."""
        self._homes: dict[NodeId, dict[int, None]] = {}
        """The tokens of what is attached here, by home."""
        self._hosts = Leases(leases.period_s)
        """When homes have renewed."""
        self._numbers = count(1)
        self._is_adrift = False
        self._adrift: set[NodeId] = set()
        """The neighbours that say so of themselves."""
        self._is_new = True
        """Until places have been asked whether they have what this broker believes they have."""

    # --- home: walks ------------------------------------------------------------------------------

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
        forgotten = Decision(records=[Store((_PLACED, id), None)])
        return forgotten.and_then(left, self._detach(place))

    def _detach(self, place: Place) -> Decision:
        if place.node == self._here.me:
            return NOTHING
        return self._say(place.node, Detach(place.token))

    def _say(self, node: NodeId, message: Message) -> Decision:
        return Decision([Send(node, message, is_straight=True)])

    def _set_out(self) -> Decision:
        """Let those walk that wait, if the root is known and this broker has begun."""
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
        self._walks.places[id] = place
        for known in (self._walks.walks, self._walks.makeshift, self._walks.unsure):
            known.pop(id, None)
        record = Store((_PLACED, id), JoinAt(id, place.token, place.node))
        client = self._walks.wanted[id].subscriber or ""
        answers = [Accept(client, "Subscribe", id)] if before is None else []
        made = Decision(records=[record], answers=answers).and_then(self._keep_here(id))
        return made if before is None else made.and_then(self._detach(before))

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

    def _answered(self, message: JoinAt | AcceptedAt, node: NodeId) -> Decision:
        walk = self._walks.walk_of(message.id, message.token, node)
        if walk is None:
            if isinstance(message, AcceptedAt) and message.token not in self._walks.at(node):
                return self._say(node, Detach(message.token))
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
                return self._stopped(message.subscription.id, message.token, peer)
            case RenewAt() | Claim():
                return self._again(list(self._walks.at(peer).values()))
            case AcceptedAt():
                return self._let_go([(peer, message.token)])
        return super().unreachable(peer, message)

    def _stopped(self, id: SubscriptionId, token: int, node: NodeId) -> Decision:
        walk = self._walks.walk_of(id, token, node)
        if walk is None:
            return NOTHING
        is_root = node == self._reach.owner(ROOT)
        return self._begin(id, ATTEMPTS_MAX + 1 if is_root else walk.attempts + 1)

    # --- place: what homes attach -----------------------------------------------------------------

    def _next(self, filter: Filter) -> NodeId | None:
        """Return the child that a home is to ask; None where it is attached here."""
        if self._placement == SIMILARITY:
            return self.join(filter, self._random)
        children = [peer for peer, is_up in self._here.brokers.items() if is_up]
        below = sorted(peer for peer in children if peer != self.parent)
        return self._random.choice(below) if self._stage > 1 and below else None

    def _joined(self, message: Join, home: NodeId) -> Decision:
        id, token = message.subscription.id, message.token
        child = self._next(message.subscription.filter)
        if child is not None:
            return self._say(home, JoinAt(id, token, child))
        kept = Store((_KEPT, home, str(token)), message)
        sends = self._attach(message, home)
        return Decision(sends, records=[kept]).and_then(self._say(home, AcceptedAt(id, token)))

    def _attach(self, message: Join, home: NodeId) -> list[Send]:
        """Have a row of its own for it: no other subscription, here or elsewhere, has its key."""
        attachment = home, message.token
        if attachment in self._rows:
            return []
        filter = message.subscription.filter
        subscription = Subscription(f"{self._here.me}@{next(self._numbers)}", filter, home)
        row = Row(subscription, _ATTACHED, MERGED, self._towards(filter))
        self._rows[attachment] = row.key
        self._homes.setdefault(home, {})[message.token] = None
        self._hosts.renew(home, self._here.now)
        return self._changed([row], [])

    def _let_go(self, attachments: list[Attachment]) -> Decision:
        """End what is attached here; what is not, is no longer."""
        known = [each for each in attachments if each in self._rows]
        keys = [self._rows.pop(each) for each in known]
        for home, token in known:
            del self._homes[home][token]
            if not self._homes[home]:
                del self._homes[home]
                self._hosts.end(home)
        records = [Store((_KEPT, home, str(token)), None) for home, token in known]
        return Decision(self._changed([], keys), records=records)

    def _filtering_scope(self, row: Row) -> Scope | None:
        """Hold events also against rows of neighbours that have left, until these end."""
        if row.source == _ATTACHED or row.home != self._here.me:
            return row.source, None, row.towards
        return super()._filtering_scope(row)

    # --- events -----------------------------------------------------------------------------------

    def publish(self, publish: Publish, came_from: NodeId) -> Decision:
        return self._handed(publish, super().publish(publish, came_from))

    def straight(self, message: Message, sender: NodeId) -> Decision:
        match message:
            case Publish() if isinstance(message.route, Served):
                return self._first_only(message, Decision(audience=EVERYONE))
            case Join():
                return self._joined(message, sender)
            case JoinAt() | AcceptedAt():
                return self._answered(message, sender)
            case Detach():
                return self._let_go([(sender, message.token)])
            case RenewAt():
                return self._renewed_at(message, sender)
            case Unlike():
                return self._say(sender, Claim(tuple(sorted(self._walks.claimed(sender)))))
            case Claim():
                return self._claimed(message, sender)
            case Confirmed():
                return self._is_sure(sender, frozenset())
            case Missing():
                missing = self._walks.at(sender) if message.is_all else message.tokens
                return self._is_sure(sender, frozenset(missing))
        return super().straight(message, sender)

    def _handed(self, publish: Publish, decision: Decision) -> Decision:
        """Send an event that is for those here also to the homes of what is attached here."""
        if decision.audience is not EVERYONE:
            return decision
        if self._rows:
            terms = (row.terms for row in self._table.match(publish.event))
            homes = dict.fromkeys(
                each.subscriber or "" for each in terms if each.source == _ATTACHED
            )
            served = Publish(publish.id, publish.event, publish.epoch, _SERVED)
            sends = [Send(home, served, is_straight=True) for home in homes]
            decision = replace(decision, sends=[*decision.sends, *sends])
        return self._first_only(publish, decision)

    def _first_only(self, publish: Publish, decision: Decision) -> Decision:
        """Hand an event to clients that want it, unless they have it."""
        if not self._here.local.match(publish.event):
            return decision
        if self._once.is_first(publish.id, self._here.now):
            return decision
        return replace(decision, audience=None)

    def _notify(self, publish: Publish, rows: list[PackedRow]) -> list[Send]:
        """Send it down; from where that is not possible, everywhere."""
        below = [row for row in rows if row.terms.source != _ATTACHED]
        if all(self._here.brokers.get(row.terms.source) for row in below):
            return super()._notify(publish, below)
        return flood(publish, self._here.brokers)

    # --- leases -----------------------------------------------------------------------------------

    def tick(self) -> Decision:
        now = self._here.now
        late = [(id, self._walks.walks[id]) for id in self._walks.overdue(now)]
        decided = NOTHING.and_then(*(self._begin(id, walk.attempts + 1) for id, walk in late))
        renewed = super().tick()
        if not renewed.wakes:
            return decided.and_then(renewed)
        gone = [(home, token) for home in self._hosts.lapsed(now) for token in self._homes[home]]
        makeshift = NOTHING if self._is_adrift else self._again(list(self._walks.makeshift))
        return decided.and_then(renewed, self._renew_all(), self._let_go(gone), makeshift)

    def _renew_all(self) -> Decision:
        """Tell all places that what is attached there is still wanted."""
        unsure = {self._walks.places[id].node for id in self._walks.unsure}
        return Decision(
            [
                Send(
                    node,
                    RenewAt(len(tokens), reduce(xor, tokens), node in unsure),
                    is_straight=True,
                )
                for node, tokens in self._walks.by_node().items()
                if node != self._here.me
            ]
        )

    def _renewed_at(self, message: RenewAt, home: NodeId) -> Decision:
        held = self._homes.get(home, {})
        if held:
            self._hosts.renew(home, self._here.now)
        if self._is_adrift:
            return self._say(home, Missing((), is_all=True))
        if (len(held), reduce(xor, held, 0)) != (message.count, message.tokens):
            return self._say(home, Unlike())
        return self._say(home, Confirmed()) if message.is_unsure else NOTHING

    def _claimed(self, message: Claim, home: NodeId) -> Decision:
        held, claimed = self._homes.get(home, {}), set(message.tokens)
        void = [(home, token) for token in held if token not in claimed]
        missing = tuple(sorted(claimed - set(held)))
        return self._let_go(void).and_then(self._say(home, Missing(missing)))

    def _is_sure(self, node: NodeId, missing: frozenset[int]) -> Decision:
        """Look for other places for what one cannot serve; be sure of the rest."""
        here = self._walks.at(node)
        sure = [id for token, id in here.items() if token not in missing]
        for id in sure:
            self._walks.unsure.pop(id, None)
        kept = NOTHING.and_then(*map(self._keep_here, sure))
        return kept.and_then(self._again([here[token] for token in missing if token in here]))

    # --- neighbours -------------------------------------------------------------------------------

    def control(self, message: Control, came_from: NodeId) -> Decision:
        if isinstance(message, Adrift) and came_from in self._here.brokers:
            (self._adrift.add if message.is_so else self._adrift.discard)(came_from)
            return self._drift()
        return super().control(message, came_from).and_then(self._drift(), self._set_out())

    def link_up(self, peer: NodeId) -> Decision:
        self._adrift.discard(peer)
        drifted = self._drift()
        is_told = self._is_adrift and peer != self.parent
        told = Decision([Send(peer, Adrift(True))] if is_told else [])
        asked = self._renew_all() if self._is_new else NOTHING
        self._is_new = False
        return super().link_up(peer).and_then(drifted, told, self._set_out(), asked)

    def link_down(self, peer: NodeId) -> Decision:
        return super().link_down(peer).and_then(self._drift())

    def forget(self, peer: NodeId) -> Decision:
        self._adrift.discard(peer)
        return super().forget(peer).and_then(self._drift())

    def _lost(self, peer: NodeId) -> list[Send]:
        """Keep the rows of a broker that has left until the grace ends: homes elsewhere may have
        subscriptions behind it, and have to find that out.
        """
        rows = filter(None, map(self._table.get, self._table.of(peer)))
        if all(row.home == self._here.me for row in rows):
            return super()._lost(peer)
        self._leases.renew(peer, self._here.now)
        return []

    def _drift(self) -> Decision:
        """Tell children whether this broker is cut off from the root, if that has changed."""
        above = self.parent
        is_cut = above is not None and not self._here.brokers.get(above)
        is_so = is_cut or above in self._adrift
        if is_so == self._is_adrift:
            return NOTHING
        self._is_adrift = is_so
        return Decision([Send(peer, Adrift(is_so)) for peer in self._here.brokers if peer != above])

    # --- lives ------------------------------------------------------------------------------------

    def recover(self, key: Key, record: Control) -> Decision:
        """Have again what is attached here, and what was attached elsewhere, which is not sure."""
        match record:
            case Join():
                self._attach(record, key[1])
            case JoinAt() if record.id in self._walks.wanted:
                self._walks.waiting.pop(record.id, None)
                self._walks.places[record.id] = Place(record.node, record.token)
                if record.node != self._here.me:
                    self._walks.unsure[record.id] = None
                self._keep_here(record.id)
        return NOTHING

    def tables(self) -> Tables:
        """Return what neighbours want, and what homes have attached here."""
        attached: dict[NodeId, dict[SubscriptionKey, str]] = {}
        for (home, token), key in self._rows.items():
            row = self._table.get(key)
            text = "" if row is None else str(row.subscription.filter)
            attached.setdefault(home, {})[home, str(token)] = text
        return {**super().tables(), "attached": attached}

    def places(self) -> dict[SubscriptionId, NodeId]:
        """Return where the subscriptions of this broker's clients are attached, for sure."""
        unsure, me = self._walks.unsure, self._here.me
        return {id: me if id in unsure else at.node for id, at in self._walks.places.items()}
