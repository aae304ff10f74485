"""Play: a story on an overlay and in its model, step by step, with the checks of `strategy`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from fyke.assembly import variant_of
from fyke.broker.doorway import admitted, check_announced, check_filter
from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.message import (
    Advertise,
    Declare,
    Disconnect,
    Message,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from fyke.routing.adaptive.adaptive import Adaptive
from fyke.routing.adaptive.epoch import Switch
from fyke.routing.forwarding.variant import Variant
from fyke.routing.stages.leases import GRACE
from fyke.testing.stories import story as told
from fyke.testing.stories.cost import check_cost
from fyke.testing.stories.deliveries import STORES, Deliveries
from fyke.testing.stories.model import Model, Said, Wish
from fyke.testing.stories.overlays import LATENCY_S, MESSAGES_MAX, Make, settle, settled_overlay
from fyke.testing.stories.settled import Settled
from fyke.testing.stories.story import (
    Add,
    Break,
    Change,
    Crash,
    Define,
    Drop,
    Leave,
    Promise,
    Say,
    Settle,
    Step,
    Story,
    Wait,
)
from fyke.testing.stories.tables import broker_of
from fyke.traces.trace import Record, Rejected, Sent

LEASES: Final = 5
"""Periods after which what nobody renews has ended everywhere."""
_PROBE: Final = "probe"


class Play:
    """A story on its way. `checked` counts how often each law was tested.

    `variant` is the best that an event may cost, if the strategy does not know it itself. With
    `is_plain`, brokers tell subscriptions unchanged, so one takes at most a message for each link.
    If brokers prune, `exact` makes an overlay of brokers that do not.
    """

    def __init__(
        self,
        make: Make,
        story: Story,
        variant: Variant | None = None,
        is_plain: bool = False,
        settles_s: float = 0.0,
        lease_s: float = 0.0,
        exact: Make | None = None,
    ) -> None:
        self.checked: Counter[str] = Counter()
        self._variant = variant
        self._is_plain = is_plain
        self._is_exact = exact is None
        self._lease_s = lease_s
        self._trace: list[Record] = []
        self._overlay = settled_overlay(story, make, self._trace.append)
        self._model = Model(story)
        self._deliveries = Deliveries(self._model, settles_s, self.checked)
        self._settled = Settled(self._overlay, self._model, make, exact, self.checked)
        self._broken: dict[str | tuple[str, str], float] = {}
        """When each link and broker broke."""

    def step(self, number: int, step: Step) -> None:
        model = self._model
        match step:
            case Add(at, id, filter):
                self._add(f"s{id}", model.client(at), filter)
            case Drop(which):
                live = [wish for wish in model.live() if wish.home not in model.down]
                if live:
                    self._drop(live[which % len(live)])
            case Say(at, event):
                self._say(f"e{number}", model.client(at), event)
            case Promise(at, filter):
                self._promise(model.client(at), filter)
            case Leave(at):
                self._leave(model.client(at))
            case Define(at, which):
                self._define(model.client(at), which)
            case Wait(latencies):
                self._run(latencies * LATENCY_S)
            case Settle():
                self._settle()
            case Break(at) if model.topology.links:
                self._break(model.topology.links[at % len(model.topology.links)])
            case Crash(at):
                self._crash(model.topology.brokers[at % len(model.topology.brokers)])
            case Change(strategy):
                self._change(strategy)

    def end(self) -> None:
        """Mend all; then let all go."""
        for broker in sorted(self._model.down):
            self._crash(broker)
        for link in sorted(self._model.cut):
            self._break(link)
        self._settle_and_lapse()
        self._settled.check_tables()
        for client in list(self._model.promised):
            self._promise(client, self._model.promised[client])
        self._probe()
        self._settled.check_footprint()
        self._check_cost_of_a_wish()
        for wish in self._model.live():
            self._drop(wish)
        self._settle_and_lapse()
        self._settled.check_empty()
        self._probe()
        for client in self._model.clients:
            if client not in self._model.gone:
                self._leave(client)
        self._settle()
        self._settled.check_footprint()

    # --- time -------------------------------------------------------------------------------------

    def _run(self, seconds: float) -> None:
        self._overlay.run(until=self._overlay.now + seconds, messages_max=MESSAGES_MAX)

    def _settle(self) -> None:
        settle(self._overlay)
        self._deliveries.check(self._trace)
        self._trace.clear()
        if self._model.is_whole:
            self._settled.check_agreement()
            if not self._model.is_calm:
                self._settled.check_tables()
        self._model.settle()

    def _settle_and_lapse(self) -> None:
        """Settle, and wait until leases that nobody renews have ended."""
        self._settle()
        self._run(LEASES * self._lease_s)

    # --- clients ----------------------------------------------------------------------------------

    def _schema(self, broker: str) -> Schema:
        return broker_of(self._overlay, broker).schema

    def _tell(self, client: str, message: Message, *, is_refused: bool = False) -> None:
        """Tell a broker something, and expect its refusal if `is_refused`."""
        if is_refused:
            self._deliveries.expect_refusal(client, type(message).__name__)
        self._overlay.say(client, message)
        self._run(0)

    def _refuses(self, client: str, filter: Filter) -> bool:
        """Return True if a client's broker has to refuse a filter."""
        try:
            check_filter(filter, self._schema(self._model.clients[client]))
        except FykeError:
            return True
        return False

    def _add(self, id: str, client: str, filter: Filter) -> None:
        if not self._model.is_there(client):
            return
        home = self._model.clients[client]
        known = [wish for wish in self._model.live() if (wish.home, wish.id) == (home, id)]
        subscribe = Subscribe(Subscription(id, filter))
        is_taken = bool(known) and known[0].client != client
        if is_taken or self._refuses(client, filter):
            self._tell(client, subscribe, is_refused=True)
            return
        for wish in known:
            self._drop(wish)
        self._model.wishes.append(Wish(id, client, home, filter, self._overlay.now))
        self._tell(client, subscribe)

    def _drop(self, wish: Wish) -> None:
        if self._model.is_there(wish.client):
            self._tell(wish.client, Unsubscribe(wish.id))
            wish.until = self._overlay.now

    def _say(self, id: str, client: str, event: Event) -> None:
        model = self._model
        if not model.is_there(client):
            return
        home = model.clients[client]
        promised = [model.promised[client]] if client in model.promised else []
        try:
            event = admitted(event, self._schema(home))
            check_announced(event, promised, self._schema(home))
        except FykeError:
            self._tell(client, Publish(id, event), is_refused=True)
            return
        reached = model.reachable(home)
        model.said[id] = Said(event, home, self._overlay.now, model.is_calm, reached)
        self._tell(client, Publish(id, event))

    def _promise(self, client: str, filter: Filter) -> None:
        promised = self._model.promised
        if not self._model.is_there(client):
            return
        if client in promised:
            del promised[client]
            self._tell(client, Unadvertise("ad"))
            return
        is_refused = self._refuses(client, filter)
        if not is_refused:
            promised[client] = filter
        self._tell(client, Advertise("ad", filter), is_refused=is_refused)

    def _leave(self, client: str) -> None:
        """Let a client leave, or come again."""
        home = self._model.clients[client]
        if home in self._model.down:
            return
        if client in self._model.gone:
            self._model.gone.discard(client)
            self._overlay.attach(client, home)
            return
        self._tell(client, Disconnect())
        self._model.leave(client, self._overlay.now)
        self._tell(client, Publish("late", Event({"a": 1})), is_refused=True)

    def _define(self, client: str, which: int) -> None:
        if self._model.is_there(client):
            self._tell(client, Declare(*told.declaration(which)))

    def _change(self, strategy: str) -> None:
        homes = self._model.clients
        client = next((each for each in homes if homes[each] == self._model.first), "")
        if not self._model.is_there(client):
            return
        seen = len(self._trace)
        self._tell(client, Switch(strategy))
        if not any(isinstance(each, Rejected) for each in self._trace[seen:]):
            self._model.strategy = strategy

    # --- faults -----------------------------------------------------------------------------------

    def _break(self, link: tuple[str, str]) -> None:
        """Cut a link, or heal it."""
        if link in self._model.cut:
            self._model.cut.discard(link)
            self._overlay.heal(*link)
            self._mend(link)
        else:
            self._model.lose_calm()
            self._model.cut.add(link)
            self._broken[link] = self._overlay.now
            self._overlay.cut(*link)

    def _crash(self, broker: str) -> None:
        """Stop a broker, or start it again."""
        if broker in self._model.down:
            self._model.down.discard(broker)
            self._overlay.restart(broker)
            self._mend(broker)
        else:
            if self._model.place.store_s:  # what was said is safe
                self._run(self._model.place.store_s * STORES)
            self._model.lose_calm()
            self._model.strategy = None  # it may be forgotten by the one who was told
            self._model.down.add(broker)
            self._broken[broker] = self._overlay.now
            self._overlay.crash(broker)

    def _mend(self, what: str | tuple[str, str]) -> None:
        """Claim nothing of wishes whose leases may have ended while something was broken."""
        since = self._broken.pop(what)
        if self._lease_s and self._overlay.now - since > (GRACE - 1) * self._lease_s:
            self._model.doubt_wishes()

    # --- costs ------------------------------------------------------------------------------------

    def _messages(self, send: Callable[[], None]) -> list[Sent]:
        """Return the messages that an action causes, until the overlay is settled."""
        seen = len(self._trace)
        send()
        settle(self._overlay)
        return [each for each in self._trace[seen:] if isinstance(each, Sent)]

    def _probe(self) -> None:
        """Publish events one by one, from all sides, and check what each costs."""
        for number, event in enumerate(told.events()):
            self._check_cost(f"{_PROBE}{number}", self._model.client(number), event)
        self._settle()

    def _check_cost(self, id: str, client: str, event: Event) -> None:
        settle(self._overlay)
        variant = self._current_variant()
        sent = self._messages(lambda: self._say(id, client, event))
        said = self._model.said.get(id)
        if variant is not None and said is not None:
            count = sum(each.id == id for each in sent)
            schema = self._schema(said.at)
            let_in = () if self._is_exact else self._settled.let_in(said.event)
            is_more = check_cost(self._model, said, count, variant, schema, let_in)
            self.checked["cost"] += 1
            self.checked["dearer"] += is_more

    def _current_variant(self) -> Variant | None:
        strategy = self._settled.strategy
        return variant_of(strategy.current) if isinstance(strategy, Adaptive) else self._variant

    def _check_cost_of_a_wish(self) -> None:
        """Raise AssertionError if a subscription takes more than a message for each link."""
        client = self._model.client(0)
        if not self._is_plain or client in self._model.gone:
            return
        sent = len(self._messages(lambda: self._add("one more", client, told.filters()[0])))
        links = len(self._model.topology.links)
        assert sent <= links, f"a subscription takes {sent} messages over {links} links"
        self.checked["cost of a subscription"] += 1
        self._settle()
