"""Messages between homes and places: walks, attachments, renewals.

c wants Stock DEF and asks r        c: Join -> r    r: JoinAt(m) -> c
c asks m, m has others like it      c: Join -> m    m: AcceptedAt -> c
every period, if anything differs   c: RenewAt(count, tokens) -> m
m holds something else              m: Unlike -> c  c: Claim(tokens) -> m   m: Missing -> c
an event that m accepts for c       m: Publish with Served -> c
"""

from __future__ import annotations

from typing import Final

from fyke.filters.subscription import Subscription
from fyke.nodes.message import Control, Message, NodeId, Route, SubscriptionId
from fyke.routing.stages.tallies import Tally


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
    """The sender still wants all that it has attached: their number, and the xor of their tokens.

    A sender that is unsure wants an answer.
    """

    count: int
    tokens: int
    is_unsure: bool = False


class Confirmed(Control, frozen=True):
    """The sender holds all that was renewed."""


class Claim(Control, frozen=True):
    """The sender has attached these, or is about to; anything else is void."""

    tokens: tuple[int, ...]


class Unlike(Control, frozen=True):
    """The sender holds something else than was renewed, and wants a `Claim`."""


class Missing(Control, frozen=True):
    """The sender cannot serve these; `is_all`: it is cut off from the root, and serves nobody."""

    tokens: tuple[int, ...]
    is_all: bool = False


class Adrift(Control, frozen=True):
    """The sender is cut off from the root, as far as it knows; or no longer."""

    is_so: bool


class Tallied(Control, frozen=True):
    """The attachments behind the sender have changed; an alarm: it has lost or found a child."""

    tally: Tally
    is_alarm: bool = False


class Even(Control, frozen=True):
    """All attachments of the tree are as homes want them, or no longer (`tallies`)."""

    is_so: bool


class Served(Route, frozen=True):
    """With an event from the place of a subscription, straight to its home."""


SERVED: Final = Served()

KINDS: Final[tuple[type[Message] | type[Route], ...]] = (
    *(Join, JoinAt, AcceptedAt, Detach, RenewAt, Confirmed, Claim, Unlike, Missing, Adrift),
    *(Tallied, Even, Served),
)
