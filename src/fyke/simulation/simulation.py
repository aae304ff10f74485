"""Simulation: nodes, links and faults under a virtual clock.

Idea. What happens next is the earliest entry of one queue: a message arrives, a node wakes up, a
client speaks, a link breaks. Handling it makes a node answer with effects, which become entries.
Nothing else moves, so the same seed gives the same trace, byte for byte.
Invariant. Messages of one link and direction arrive in the order in which they left. A message that
left before a link broke never arrives after the link is up again. Entries of one time come in the
order in which they were made.
Cost. A push and a pop of a heap, and the node's own work, per message.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from functools import partial
from math import isfinite
from random import Random
from typing import TypeAlias

from fyke.errors import FykeError, shown
from fyke.nodes.codec import Codec, MessageError
from fyke.nodes.effect import Deliver, Effect, Reject, Send, Store, Wake
from fyke.nodes.inputs import Input, LinkDown, LinkUp, Received, Recovered, Stored, Tick
from fyke.nodes.message import Message, NodeId
from fyke.nodes.node import Node
from fyke.overlay.topology import Topology
from fyke.simulation.links import Links
from fyke.simulation.network import Channel, Network
from fyke.traces.trace import (
    Delivered,
    Happened,
    Held,
    Lost,
    Record,
    Rejected,
    Sent,
    Told,
    name_of,
)

MakeNode: TypeAlias = Callable[[NodeId, Random], Node]
Action: TypeAlias = Callable[[], None]
_Entry: TypeAlias = tuple[float, int, Action | None, NodeId, Input | None, Channel | None, int]

_TICK = Tick()


class Simulation:
    """An overlay in virtual time. `write` takes the trace, record by record.

    `in_bytes` makes every message travel as bytes, which takes longer and must change nothing.
    """

    def __init__(
        self,
        topology: Topology,
        make: MakeNode,
        *,
        seed: int = 0,
        network: Network | None = None,
        write: Callable[[Record], object] | None = None,
        codec: Codec | None = None,
        in_bytes: bool = False,
    ) -> None:
        self.now = 0.0
        self.messages = 0
        self._topology = topology
        self._make = make
        self._drawn = partial(_drawn, seed)
        self._network = network or Network()
        self._write = write
        self._codec = codec or Codec()
        self._in_bytes = in_bytes
        self._queue: list[_Entry] = []
        self._entries = 0
        self._lives = dict.fromkeys(topology.brokers, 0)
        self._nodes: dict[NodeId, Node | None] = {}
        self._safe: dict[NodeId, dict[str, Message]] = {broker: {} for broker in topology.brokers}
        self._homes: dict[NodeId, NodeId] = {}
        self._described: tuple[object, str, str, int] = (None, "", "", 0)
        self._links = Links(topology, self._network, self._drawn)
        self._channels = self._links.channels
        for broker in topology.brokers:
            self._nodes[broker] = make(broker, self._drawn("node", broker, "0"))
        for a, b in topology.links:
            self._handle(a, LinkUp(b))
            self._handle(b, LinkUp(a))

    def node(self, name: NodeId) -> Node:
        """FykeError if it is unknown, or has crashed."""
        node = self._nodes.get(name)
        if node is None:
            problem = "has crashed" if name in self._nodes else "is unknown"
            raise FykeError(f"the node {shown(name)} {problem}")
        return node

    # --- what is to happen ------------------------------------------------------------------------

    def attach(self, client: NodeId, broker: NodeId) -> None:
        """A client, now and from now on."""
        if client in self._homes or client in self._nodes:
            raise FykeError(f"there is a node {shown(client)} already")
        self.node(broker)
        self._homes[client] = broker
        self._handle(broker, LinkUp(client, is_client=True))

    def say(self, client: NodeId, message: Message, at: float | None = None) -> None:
        """A client speaks, now or at a time."""
        if client not in self._homes:
            raise FykeError(f"unknown client {shown(client)}; attach it to a broker first")
        self.do(lambda: self._said(client, message), at)

    def do(self, action: Action, at: float | None = None) -> None:
        """Anything, now or at a time."""
        if at is not None and not isfinite(at):
            raise FykeError(f"at is {shown(at)}; expected a time")
        time = self.now if at is None else max(at, self.now)
        self._push(time, action, "", None, None, 0)

    def arrive(self, data: bytes, sender: NodeId, to: NodeId) -> None:
        """Bytes come to a node from anywhere, now; what is no message does not reach it."""
        self.node(to)
        try:
            message = self._codec.decode(data)
        except MessageError as refused:
            self._note(Rejected(self.now, to, sender, "bytes", str(refused)))
        else:
            self._handle(to, Received(sender, message))

    # --- faults -----------------------------------------------------------------------------------

    def cut(self, a: NodeId, b: NodeId) -> None:
        """A link breaks, now; what is on its way is lost."""
        if self._links.cut(a, b):
            self._is_down(a, b)

    def heal(self, a: NodeId, b: NodeId) -> None:
        """It works again, now, or as soon as both its ends run."""
        self._links.heal(a, b)
        self._bring_up(a, b)

    def part(self, brokers: Iterable[NodeId]) -> None:
        """Some brokers and the others no longer reach each other, over links or directly."""
        side = frozenset(brokers)
        for a, b in self._links.border(side):
            self.cut(a, b)
        self._links.part(side)

    def join(self, brokers: Iterable[NodeId]) -> None:
        """They do again; all links between the two sides are healed."""
        side = frozenset(brokers)
        self._links.join(side)
        for a, b in self._links.border(side):
            self.heal(a, b)

    def crash(self, broker: NodeId) -> None:
        """A node stops, now, and forgets what was not safe."""
        self.node(broker)
        self._note(Happened(self.now, "crashed", broker))
        self._nodes[broker] = None
        self._lives[broker] += 1
        for other in self._topology.neighbors(broker):
            if self._links.take_down(broker, other):
                self._is_down(broker, other)

    def restart(self, broker: NodeId) -> None:
        """It comes back with what was safe; so do its links, and its clients."""
        if self._nodes.get(broker, broker) is not None:
            raise FykeError(f"the node {shown(broker)} has not crashed")
        self._note(Happened(self.now, "restarted", broker))
        made = self._make(broker, self._drawn("node", broker, str(self._lives[broker])))
        self._nodes[broker] = made
        self._handle(broker, Recovered(dict(self._safe[broker])))
        for client, home in self._homes.items():
            if home == broker:
                self._handle(broker, LinkUp(client, is_client=True))
        for other in self._topology.neighbors(broker):
            self._bring_up(broker, other)

    def _is_down(self, a: NodeId, b: NodeId) -> None:
        self._note(Happened(self.now, "cut", a, b))
        for here, there in ((a, b), (b, a)):
            self._handle(here, LinkDown(there))

    def _bring_up(self, a: NodeId, b: NodeId) -> None:
        if None in (self._nodes[a], self._nodes[b]) or not self._links.bring_up(a, b):
            return
        self._note(Happened(self.now, "healed", a, b))
        for here, there in ((a, b), (b, a)):
            self._handle(here, LinkUp(there))

    # --- making it happen -------------------------------------------------------------------------

    def hold(self) -> None:
        """Notes what every node holds."""
        for name, node in self._nodes.items():
            if node is not None:
                self._note(Held(self.now, name, node.stats()))

    def run(self, until: float | None = None, messages_max: int | None = None) -> bool:
        """Until nothing is left to happen, or up to a time; whether nothing is left."""
        queue, pop = self._queue, heapq.heappop
        last = None if messages_max is None else self.messages + messages_max
        while queue:
            if until is not None and queue[0][0] > until:
                self.now = until
                return False
            if last is not None and self.messages >= last:
                raise FykeError(f"no end after {messages_max} messages")
            self.now, _, action, target, input, channel, life = pop(queue)
            if action is not None:
                action()
            elif life == (self._lives[target] if channel is None else channel.life):
                self._handle(target, input)  # type: ignore[arg-type]
            else:
                self._lose(target, input)
        if until is not None:
            self.now = max(self.now, until)
        return True

    def _said(self, client: NodeId, message: Message) -> None:
        home = self._homes[client]
        kind, id = name_of(message)
        self._note(Told(self.now, home, client, kind, id))
        if self._nodes[home] is None:
            self._note(Lost(self.now, client, home, kind, id))
        else:
            self._handle(home, Received(client, message))

    def _handle(self, name: NodeId, input: Input) -> None:
        node = self._nodes[name]
        if node is not None:
            for effect in node.handle(input, self.now):
                if type(effect) is Send:
                    self._send(name, effect)
                else:
                    self._carry_out(name, effect)

    def _carry_out(self, name: NodeId, effect: Effect) -> None:
        match effect:
            case Deliver():
                publish, subscriptions = effect.publish, effect.subscriptions
                self._note(Delivered(self.now, name, effect.client, publish.id, subscriptions))
            case Wake():
                self._push(max(effect.at, self.now), None, name, _TICK, None, self._lives[name])
            case Store():
                self._store(name, effect)
            case Reject():
                self._note(Rejected(self.now, name, effect.to, effect.about, effect.reason))

    def _send(self, name: NodeId, send: Send) -> None:
        message, to = send.message, send.to
        if self._described[0] is not message:  # its copies leave one after the other
            self._described = message, *name_of(message), self._codec.size(message)
        _, kind, id, size = self._described
        self.messages += 1
        channel = self._channels.get((name, to))
        if channel is None:
            self._note(Sent(self.now, name, to, kind, id, size))
            if not self._is_reached(name, to):
                self._note(Lost(self.now, name, to, kind, id))
                return
            arrival, life = self.now + self._network.latency_s, self._lives[to]
        elif channel.is_up:
            arrival, life = channel.arrival(self.now, size), channel.life
            self._note(Sent(self.now, name, to, kind, id, size, channel.resent, channel.copies))
        else:
            self._note(Sent(self.now, name, to, kind, id, size))
            self._note(Lost(self.now, name, to, kind, id))
            return
        if self._in_bytes:
            message = self._codec.decode(self._codec.encode(message))
        self._push(arrival, None, to, Received(name, message), channel, life)

    def _is_reached(self, name: NodeId, to: NodeId) -> bool:
        """Whether a node that is no neighbour can be sent something."""
        if to not in self._nodes:
            raise FykeError(f"{name} sends to {shown(to)}, which is unknown")
        return self._nodes[to] is not None and not self._links.are_parted(name, to)

    def _lose(self, to: NodeId, input: Input | None) -> None:
        if isinstance(input, Received):
            self._note(Lost(self.now, input.sender, to, *name_of(input.message)))

    def _store(self, name: NodeId, store: Store) -> None:
        life = self._lives[name]

        def safe() -> None:
            if life != self._lives[name]:
                return
            if store.record is None:
                self._safe[name].pop(store.key, None)
            else:
                self._safe[name][store.key] = store.record
            self._handle(name, Stored(store.key))

        self.do(safe, self.now + self._network.store_s)

    def _push(
        self,
        time: float,
        action: Action | None,
        target: NodeId,
        input: Input | None,
        channel: Channel | None,
        life: int,
    ) -> None:
        self._entries += 1
        entry = (time, self._entries, action, target, input, channel, life)
        heapq.heappush(self._queue, entry)

    def _note(self, record: Record) -> None:
        if self._write is not None:
            self._write(record)


def _drawn(seed: int, *names: str) -> Random:
    """Random numbers that depend on the seed and on whose they are."""
    return Random(f"{seed} {names}")
