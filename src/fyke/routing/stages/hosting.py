"""Hosting: a broker holds subscriptions that other brokers have attached to it.

Idea. A client's broker is the *home* of its subscriptions; the broker where a subscription is
attached is its *place*. A place holds the filter for the home as it holds a child's, tells its
parent of it, and sends the home what it accepts, straight.

    r       Stock                   c is home of a client that wants Stock DEF below 11
    m       Stock DEF               a has others like it: c attaches it there
    a       Stock DEF below 11      an event goes r, m, a, and from a straight to c

Faults. A home renews at a place all that it has there, with one digest; what it does not renew ends
(`leases`). It need not while the root finds that all homes and places agree (`tallies`). A place
that is cut off from the root says so, and homes look for other places. An event that cannot get
down to a place is flooded from where it is stuck.
Invariant. An attachment survives crashes of its place, and ends only with `Detach`, a `Claim`
without it, or the grace.
Cost. A row and a record for each attachment; an answer to each renewal that differs.
Source. MSF-22 to MSF-30.
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
from fyke.nodes.effect import Key, Send, Store
from fyke.nodes.message import Control, Message, NodeId, Publish, SubscriptionKey
from fyke.routing.flooding import flood
from fyke.routing.forwarding.packed_row import PackedRow
from fyke.routing.forwarding.row import MERGED, Row
from fyke.routing.stages.attributes import Classes
from fyke.routing.stages.leases import Leases
from fyke.routing.stages.messages import (
    SERVED,
    AcceptedAt,
    Adrift,
    Claim,
    Confirmed,
    Detach,
    Even,
    Join,
    JoinAt,
    Missing,
    RenewAt,
    Tallied,
    Unlike,
)
from fyke.routing.stages.multistage import ROOT, Multistage, Renew
from fyke.routing.stages.tallies import Tallies, Tally
from fyke.routing.strategy import EVERYONE, NOTHING, Decision, Surroundings, Tables

SIMILARITY: Final = "similarity"
LOCALITY: Final = "locality"
EDGE: Final = "edge"
RANDOM: Final = "random"
PLACEMENTS: Final = (LOCALITY, SIMILARITY, EDGE, RANDOM)
"""Similarity attaches wildcards above the edge (MSF-26), edge attaches them as any other filter."""
_ATTACHED: Final = ""
"""The source of rows that homes have attached here: no node has this name."""
_RECORD: Final = "attached"

Attachment: TypeAlias = tuple[NodeId, int]
"""A home, and the token of its walk."""


class Hosting(Multistage):
    """A broker of the tree, and a place for what others attach here."""

    def __init__(
        self,
        here: Surroundings,
        random: Random,
        *,
        is_root: bool,
        leases: Leases,
        placement: str = SIMILARITY,
        classes: Classes | None = None,
        is_merging: bool = False,
    ) -> None:
        if placement not in (SIMILARITY, EDGE, RANDOM):
            raise FykeError(
                f"unknown placement {shown(placement)}; expected {', '.join(PLACEMENTS)}"
            )
        super().__init__(
            here, is_root=is_root, classes=classes, is_merging=is_merging, leases=leases
        )
        if not leases:
            raise FykeError("what is placed elsewhere has to be renewed; give a lease_s")
        self._random = random
        self._placement = placement
        self._rows: dict[Attachment, SubscriptionKey] = {}
        """The rows of what is attached here."""
        self._homes: dict[NodeId, dict[int, None]] = {}
        """The tokens of what is attached here, by home."""
        self._hosted = Leases(leases.period_s)
        """The renewals of homes."""
        self._numbers = count(1)
        self._is_adrift = False
        self._adrift: set[NodeId] = set()
        """Neighbours that are cut off from the root, as they say."""
        self._tallies = Tallies(leases.period_s)
        self._is_even = False

    def _say(self, node: NodeId, message: Message) -> Decision:
        return Decision([Send(node, message, is_straight=True)])

    # --- attachments ------------------------------------------------------------------------------

    def straight(self, message: Message, sender: NodeId) -> Decision:
        match message:
            case Join():
                return self._take_join(message, sender)
            case Detach():
                return self._let_go([(sender, message.token)])
            case RenewAt():
                return self._take_renewal(message, sender)
            case Claim():
                return self._take_claim(message, sender)
        return super().straight(message, sender)

    def unreachable(self, peer: NodeId, message: Message) -> Decision:
        if isinstance(message, AcceptedAt):
            return self._let_go([(peer, message.token)])
        return super().unreachable(peer, message)

    def _next(self, filter: Filter) -> NodeId | None:
        """Return the child that a home is to ask; None where it is attached here."""
        if self._placement != RANDOM:
            looks = self._placement == SIMILARITY
            return self.join(filter, self._random, looks_at_wildcards=looks)
        children = [peer for peer, is_up in self._here.brokers.items() if is_up]
        below = sorted(peer for peer in children if peer != self.parent)
        return self._random.choice(below) if self._stage > 1 and below else None

    def _take_join(self, message: Join, home: NodeId) -> Decision:
        id, token = message.subscription.id, message.token
        child = self._next(message.subscription.filter)
        if child is not None:
            return self._say(home, JoinAt(id, token, child))
        kept = Store((_RECORD, home, str(token)), message)
        sends = self._attach(message, home)
        accepted = self._say(home, AcceptedAt(id, token))
        return Decision(sends, records=[kept]).and_then(accepted, self._tell_soon())

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
        self._tallies.hold(message.token)
        self._hosted.renew(home, self._here.now)
        return self._changed([row], [])

    def _let_go(self, attachments: list[Attachment]) -> Decision:
        """End attachments, as far as they are here."""
        known = [each for each in attachments if each in self._rows]
        keys = [self._rows.pop(each) for each in known]
        for home, token in known:
            del self._homes[home][token]
            self._tallies.hold(token, -1)
            if not self._homes[home]:
                del self._homes[home]
                self._hosted.end(home)
        records = [Store((_RECORD, home, str(token)), None) for home, token in known]
        ended = Decision(self._changed([], keys), records=records)
        return ended.and_then(self._tell_soon()) if known else ended

    def _take_renewal(self, message: RenewAt, home: NodeId) -> Decision:
        held = self._homes.get(home, {})
        if held:
            self._hosted.renew(home, self._here.now)
        if self._is_adrift:
            return self._say(home, Missing((), is_all=True))
        if (len(held), reduce(xor, held, 0)) != (message.count, message.tokens):
            return self._say(home, Unlike())
        return self._say(home, Confirmed()) if message.is_unsure else NOTHING

    def _take_claim(self, message: Claim, home: NodeId) -> Decision:
        held, claimed = self._homes.get(home, {}), set(message.tokens)
        void = [(home, token) for token in held if token not in claimed]
        missing = tuple(sorted(claimed - set(held)))
        return self._let_go(void).and_then(self._say(home, Missing(missing)))

    def tick(self) -> Decision:
        """End what no home has renewed, once in every period."""
        renewed, above = super().tick(), self.parent
        is_told = self._tallies.is_over(self._here.now)
        if not renewed.wakes:
            told = [Send(above, self._tallied())] if is_told and above is not None else []
            return renewed.and_then(Decision(told))
        judged = self._judge()
        if self._is_even:
            for home in self._homes:
                self._hosted.renew(home, self._here.now)
            return renewed.and_then(judged)
        lapsed = self._hosted.end_lapsed(self._here.now)
        gone = [(home, token) for home in lapsed for token in self._homes[home]]
        return renewed.and_then(judged, self._let_go(gone))

    def recover(self, key: Key, record: Control) -> Decision:
        """Have again what is attached here."""
        if isinstance(record, Join):
            self._attach(record, key[1])
        return NOTHING

    # --- events -----------------------------------------------------------------------------------

    def publish(self, publish: Publish, came_from: NodeId) -> Decision:
        """Send an event that is for those here also to the homes of what is attached here."""
        decision = super().publish(publish, came_from)
        if decision.audience is not EVERYONE or not self._rows:
            return decision
        terms = (row.terms for row in self._table.match(publish.event))
        homes = dict.fromkeys(each.subscriber or "" for each in terms if each.source == _ATTACHED)
        served = Publish(publish.id, publish.event, publish.epoch, SERVED)
        sends = [Send(home, served, is_straight=True) for home in homes]
        return replace(decision, sends=[*decision.sends, *sends])

    def _notify(self, publish: Publish, rows: list[PackedRow]) -> list[Send]:
        """Send it down; from where that is not possible, everywhere."""
        below = [row for row in rows if row.terms.source != _ATTACHED]
        if all(self._here.brokers.get(row.terms.source) for row in below):
            return super()._notify(publish, below)
        return flood(publish, self._here.brokers)

    # --- neighbours -------------------------------------------------------------------------------

    def control(self, message: Control, came_from: NodeId) -> Decision:
        if came_from in self._here.brokers:
            match message:
                case Adrift():
                    (self._adrift.add if message.is_so else self._adrift.discard)(came_from)
                    return self._drift()
                case Tallied():
                    self._tallies.hear(came_from, message.tally)
                    return self._alarm() if message.is_alarm else self._tell_soon()
                case Even():
                    self._tallies.hear_verdict(came_from, message.is_so)
                    return self._even_out()
                case Renew(tally=Tally() as tally):
                    self._tallies.hear(came_from, tally)
        above = self.parent
        decided = super().control(message, came_from).and_then(self._drift())
        return decided if self.parent == above else decided.and_then(self._alarm())

    def link_up(self, peer: NodeId) -> Decision:
        self._adrift.discard(peer)
        self._tallies.forget(peer)
        drifted = self._drift()
        told: list[Control] = []
        if peer == self.parent:
            told = [self._tallied(is_alarm=True)]
        elif self._is_adrift:
            told = [Adrift(True)]
        elif self._is_even:
            told = [Even(True)]
        said = Decision([Send(peer, each) for each in told])
        return super().link_up(peer).and_then(drifted, said)

    def link_down(self, peer: NodeId) -> Decision:
        self._tallies.forget(peer)
        return super().link_down(peer).and_then(self._drift(), self._alarm())

    def forget(self, peer: NodeId) -> Decision:
        self._adrift.discard(peer)
        self._tallies.forget(peer)
        return super().forget(peer).and_then(self._drift(), self._alarm())

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
        told = Decision([Send(peer, Adrift(is_so)) for peer in self._below()])
        return told.and_then(self._even_out())

    def _below(self) -> list[NodeId]:
        return [peer for peer in self._here.brokers if peer != self.parent]

    # --- tallies ----------------------------------------------------------------------------------

    def _tally(self) -> Tally:
        return self._tallies.sum(self.parent)

    def _tallied(self, is_alarm: bool = False) -> Tallied:
        return Tallied(self._tally(), is_alarm)

    def _tell_soon(self) -> Decision:
        """Tell the parent what has changed, with all that is about to."""
        return Decision(wakes=self._tallies.begin(self._here.now))

    def _judge(self) -> Decision:
        """Find out, at the root, whether homes and places agree, and say so if that is news."""
        self._tallies.is_even = self._tally().is_even
        return self._even_out()

    def _alarm(self) -> Decision:
        """Tell the parent at once that there is less behind this broker, or more, than it knows.

        The root does not find anything even before its next period.
        """
        above = self.parent
        if above is not None:
            return Decision([Send(above, self._tallied(is_alarm=True))])
        self._tallies.is_even = self._tallies.is_even and self._tally().is_even
        return self._even_out()

    def _even_out(self) -> Decision:
        """Tell children whether all is even, if that has changed."""
        above = self.parent
        if above is None:
            is_even = self._tallies.is_even and ROOT in self._reach.names()
        else:
            is_even = not self._is_adrift and self._tallies.says_even(above)
        if is_even == self._is_even:
            return NOTHING
        self._is_even = is_even
        return Decision([Send(peer, Even(is_even)) for peer in self._below()])

    def tables(self) -> Tables:
        """Return what neighbours want, and what homes have attached here."""
        attached: dict[NodeId, dict[SubscriptionKey, str]] = {}
        for (home, token), key in self._rows.items():
            row = self._table.get(key)
            text = "" if row is None else str(row.subscription.filter)
            attached.setdefault(home, {})[home, str(token)] = text
        return {**super().tables(), "attached": attached}
