"""Simulation: nodes, links and faults under a virtual clock.

Idea. What happens next is the earliest entry of one queue: a message arrives, a node wakes up, a
client speaks, a link breaks. Handling it makes a node answer with effects, which become entries.
Nothing else moves, so the same seed gives the same trace, byte for byte.
Invariant. Messages of one link and direction arrive in the order in which they left. A message that
left before a link broke never arrives after the link is up again. Entries of one time come in the
order in which they were made. What a node asks to store is safe before anything that it asked for
afterwards happens (`disk`). An overlay is quiet when only background ticks are left.
Cost. A push and a pop of a heap, and the node's own work, per message.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import isfinite
from random import Random
from typing import TypeAlias

from fyke.errors import FykeError, shown
from fyke.nodes.codec import Codec, MessageError
from fyke.nodes.effect import Accept, Deliver, Effect, Inform, Reject, Send, Store, Wake
from fyke.nodes.inputs import (
    Input,
    Joined,
    Left,
    LinkDown,
    LinkUp,
    Received,
    Recovered,
    Stored,
    Tick,
    Unreachable,
)
from fyke.nodes.message import Disconnect, Message, NodeId
from fyke.nodes.node import Node
from fyke.overlay.topology import Topology
from fyke.simulation.disk import Disk
from fyke.simulation.links import Links
from fyke.simulation.network import Channel, Network
from fyke.traces.trace import (
    Accepted,
    Delivered,
    Happened,
    Held,
    Informed,
    Lost,
    Record,
    Rejected,
    Sent,
    Told,
    name_of,
)

MakeNode: TypeAlias = Callable[[NodeId, Iterable[NodeId], Random], Node]
"""Makes a node of its name, its neighbours and random numbers of its own."""
Action: TypeAlias = Callable[[], None]
_Entry: TypeAlias = tuple[float, int, Action | None, NodeId, Input | None, Channel | None, int]

_TICK = Tick()
_BACKGROUND_TICK = Tick()


class Simulation:
    """An overlay in virtual time. `write` takes the trace, record by record.

    With `in_bytes`, every message travels as bytes. That takes longer and changes nothing.
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
        self._make = make
        self._drawn = partial(_drawn, seed)
        self._network = network or Network()
        self._write = write
        self._codec = codec or Codec()
        self._in_bytes = in_bytes
        self._queue: list[_Entry] = []
        self._entries = 0
        self._background = 0
        """Background ticks in the queue."""
        self._lives = dict.fromkeys(topology.brokers, 0)
        self._nodes: dict[NodeId, Node | None] = {}
        self._disks: dict[NodeId, Disk] = {}
        self._homes: dict[NodeId, NodeId] = {}
        self._attached: set[NodeId] = set()
        """The clients that have not left."""
        self._described: tuple[object, str, str, int] = (None, "", "", 0)
        self._straight = self._drawn("straight")
        self._links = Links(topology, self._network, self._drawn)
        self._channels = self._links.channels
        for broker in topology.brokers:
            self._start(broker)
        for a, b in topology.links:
            self._handle(a, LinkUp(b))
            self._handle(b, LinkUp(a))

    def _start(self, broker: NodeId) -> None:
        life = self._lives[broker]
        random = self._drawn("node", broker, str(life))
        self._disks.setdefault(broker, Disk()).start()
        self._nodes[broker] = self._make(broker, self._links.neighbours(broker), random)

    def node(self, name: NodeId) -> Node:
        """Return a node. FykeError if it is unknown or has crashed."""
        node = self._nodes.get(name)
        if node is None:
            problem = "has crashed" if name in self._nodes else "is unknown"
            raise FykeError(f"the node {shown(name)} {problem}")
        return node

    # --- what is to happen ------------------------------------------------------------------------

    def attach(self, client: NodeId, broker: NodeId) -> None:
        """Attach a client until it leaves. A client that has left may come again."""
        if client in self._attached or client in self._nodes:
            raise FykeError(f"there is a node {shown(client)} already")
        self.node(broker)
        self._homes[client] = broker
        self._attached.add(client)
        self._handle(broker, LinkUp(client, is_client=True))

    def say(self, client: NodeId, message: Message, at: float | None = None) -> None:
        """Let a client speak, now or at a time."""
        if client not in self._homes:
            raise FykeError(f"unknown client {shown(client)}; attach it to a broker first")
        self.do(lambda: self._speak(client, message), at)

    def tick(self, name: NodeId) -> None:
        """Wake a node, now. Whoever runs an overlay in cycles does so."""
        self._handle(name, _TICK)

    def note(self, record: Record) -> None:
        """Put a record into the trace."""
        self._note(record)

    @property
    def running(self) -> list[NodeId]:
        """The nodes that have not crashed."""
        return [name for name, node in self._nodes.items() if node is not None]

    def do(self, action: Action, at: float | None = None) -> None:
        """Call an action, now or at a time."""
        if at is not None and not isfinite(at):
            raise FykeError(f"at is {shown(at)}; expected a time")
        time = self.now if at is None else max(at, self.now)
        self._push(time, action, "", None, None, 0)

    def arrive(self, data: bytes, sender: NodeId, to: NodeId) -> None:
        """Let bytes come to a node from anywhere, now. Only messages reach the node."""
        self.node(to)
        try:
            message = self._codec.decode(data)
        except MessageError as refused:
            self._note(Rejected(self.now, to, sender, "bytes", str(refused)))
            return
        if sender in self._homes:
            self._note(Told(self.now, to, sender, *name_of(message)))
        self._handle(to, Received(sender, message))

    # --- brokers that come and go -----------------------------------------------------------------

    def add(self, broker: NodeId, neighbours: Iterable[NodeId]) -> None:
        """Add a broker, now. Both ends of a new link know of each other before it is up."""
        others = tuple(dict.fromkeys(neighbours))
        if broker in self._homes or broker in self._nodes:
            raise FykeError(f"there is a node {shown(broker)} already")
        for other in others:
            self._known(other)
        self._note(Happened(self.now, "added", broker))
        self._lives[broker] = self._lives.get(broker, 0)
        for other in others:
            self._links.add(broker, other, is_up=False)
        self._start(broker)
        for other in others:
            self._handle(other, Joined(broker))
            self._bring_up(broker, other)

    def remove(self, broker: NodeId) -> None:
        """Remove a broker for good, now. Its clients are no longer attached."""
        self._known(broker)
        self._note(Happened(self.now, "removed", broker))
        others = self._links.neighbours(broker)
        del self._nodes[broker], self._disks[broker]
        self._lives[broker] += 1
        for client in [client for client, home in self._homes.items() if home == broker]:
            del self._homes[client]
            self._attached.discard(client)
        for other in others:
            is_up = self._channels[broker, other].is_up
            self._links.remove(broker, other)
            if is_up:
                self._handle(other, LinkDown(broker))
            self._handle(other, Left(broker))

    def _known(self, broker: NodeId) -> None:
        if broker not in self._nodes:
            raise FykeError(f"unknown broker {shown(broker)}")

    # --- faults -----------------------------------------------------------------------------------

    def cut(self, a: NodeId, b: NodeId) -> None:
        """Break a link, now. Messages on their way are lost."""
        if self._links.cut(a, b):
            self._tell_down(a, b)

    def heal(self, a: NodeId, b: NodeId) -> None:
        """Heal a link. It comes up when both ends run and no partition is between them."""
        self._links.heal(a, b)
        self._bring_up(a, b)

    def part(self, brokers: Iterable[NodeId]) -> None:
        """Part some brokers from all others, over links and straight."""
        side = frozenset(brokers)
        for broker in sorted(side):
            self._known(broker)
        self._links.part(side)
        for a, b in self._links.border(side):
            if self._links.take_down(a, b):
                self._tell_down(a, b)

    def join(self, brokers: Iterable[NodeId]) -> None:
        """End a partition. Links come up unless they are cut or otherwise parted."""
        side = frozenset(brokers)
        self._links.join(side)
        for a, b in self._links.border(side):
            self._bring_up(a, b)

    def crash(self, broker: NodeId) -> None:
        """Stop a node, now. It forgets what is not safe."""
        self._note(Held(self.now, broker, self.node(broker).stats()))
        self._note(Happened(self.now, "crashed", broker))
        self._nodes[broker] = None
        self._lives[broker] += 1
        for other in self._links.neighbours(broker):
            if self._links.take_down(broker, other):
                self._tell_down(broker, other)

    def restart(self, broker: NodeId) -> None:
        """Start a node again with its safe records. Its links and clients come back."""
        if self._nodes.get(broker, broker) is not None:
            raise FykeError(f"the node {shown(broker)} has not crashed")
        self._note(Happened(self.now, "restarted", broker))
        self._start(broker)
        self._handle(broker, Recovered(dict(self._disks[broker].records)))
        for client, home in self._homes.items():
            if home == broker and client in self._attached:
                self._handle(broker, LinkUp(client, is_client=True))
        for other in self._links.neighbours(broker):
            self._bring_up(broker, other)

    def _tell_down(self, a: NodeId, b: NodeId) -> None:
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
        """Write the stats of every node to the trace."""
        for name, node in self._nodes.items():
            if node is not None:
                self._note(Held(self.now, name, node.stats()))

    def run(self, until: float | None = None, messages_max: int | None = None) -> bool:
        """Run until the overlay is quiet, or up to a time. Return True if it is quiet."""
        queue, pop = self._queue, heapq.heappop
        last = None if messages_max is None else self.messages + messages_max
        while len(queue) > self._background or (queue and until is not None):
            if until is not None and queue[0][0] > until:
                break
            if last is not None and self.messages >= last:
                raise FykeError(f"no end after {messages_max} messages")
            self.now, _, action, target, input, channel, life = pop(queue)
            if action is not None:
                action()
                continue
            if input is _BACKGROUND_TICK:
                self._background -= 1
            if life == (self._lives[target] if channel is None else channel.life):
                self._handle(target, input)  # type: ignore[arg-type]
            else:
                self._lose(target, input)
        if until is not None:
            self.now = max(self.now, until)
        return len(queue) <= self._background

    def _speak(self, client: NodeId, message: Message) -> None:
        home = self._homes.get(client, "")
        kind, id = name_of(message)
        self._note(Told(self.now, home, client, kind, id))
        if self._nodes.get(home) is None:
            self._note(Lost(self.now, client, home, kind, id))
            return
        if isinstance(message, Disconnect):
            self._attached.discard(client)
        self._handle(home, Received(client, message))

    def _handle(self, name: NodeId, input: Input) -> None:
        node = self._nodes.get(name)
        if node is None:
            return
        effects = node.handle(input, self.now)
        if not effects:
            return
        if self._disks[name].is_writing:
            self._disks[name].wait(effects)
        else:
            self._carry_out_all(name, effects)

    def _carry_out_all(self, name: NodeId, effects: Sequence[Effect]) -> None:
        for at, effect in enumerate(effects):
            if type(effect) is Send:
                self._send(name, effect)
            elif type(effect) is Store:
                self._commit(name, effects[at:])
                return
            else:
                self._carry_out(name, effect)

    def _carry_out(self, name: NodeId, effect: Effect) -> None:
        match effect:
            case Send():
                self._send(name, effect)
            case Deliver():
                publish, subscriptions = effect.publish, effect.subscriptions
                self._note(Delivered(self.now, name, effect.client, publish.id, subscriptions))
            case Wake():
                tick = _BACKGROUND_TICK if effect.is_background else _TICK
                self._background += effect.is_background
                self._push(max(effect.at, self.now), None, name, tick, None, self._lives[name])
            case Inform():
                self._note(Informed(self.now, name, effect.client, effect.schema))
            case Accept():
                self._note(Accepted(self.now, name, effect.to, effect.about, effect.id))
            case Reject():
                self._note(Rejected(self.now, name, effect.to, effect.about, effect.reason))

    def _send(self, name: NodeId, send: Send) -> None:
        message, to = send.message, send.to
        if self._described[0] is not message:  # its copies leave one after the other
            self._described = message, *name_of(message), self._codec.size(message)
        _, kind, id, size = self._described
        self.messages += 1
        if self._in_bytes:
            message = self._codec.decode(self._codec.encode(message))
        channel = None if send.is_straight else self._channels.get((name, to))
        if channel is None:
            self._send_straight(name, to, message, kind, id, size)
        elif channel.is_up:
            arrival = channel.arrival(self.now, size)
            if self._write is not None:
                resent, copies = channel.resent, channel.copies
                self._write(Sent(self.now, name, to, kind, id, size, resent, copies))
            self._entries += 1
            received = Received(name, message)
            entry = (arrival, self._entries, None, to, received, channel, channel.life)
            heapq.heappush(self._queue, entry)
        else:
            self._note(Sent(self.now, name, to, kind, id, size))
            self._note(Lost(self.now, name, to, kind, id))

    def _send_straight(
        self, name: NodeId, to: NodeId, message: Message, kind: str, id: str, size: int
    ) -> None:
        """Send past all links. The sender is told if nobody can be reached there."""
        if self._write is not None:
            self._write(Sent(self.now, name, to, kind, id, size, straight=True))
        arrival = self.now + self._network.latency_s
        if self._nodes.get(to) is None or self._links.are_parted(name, to):
            self._note(Lost(self.now, name, to, kind, id))
            back = Unreachable(to, message)
            self._push(arrival, None, name, back, None, self._lives[name])
        elif self._network.straight_loss > self._straight.random():
            self._note(Lost(self.now, name, to, kind, id))
        else:
            received = Received(name, message, is_straight=True)
            self._push(arrival, None, to, received, None, self._lives[to])

    def _lose(self, to: NodeId, input: Input | None) -> None:
        if isinstance(input, Received):
            self._note(Lost(self.now, input.sender, to, *name_of(input.message)))

    # --- disks ------------------------------------------------------------------------------------

    def _commit(self, name: NodeId, effects: Sequence[Effect]) -> None:
        """Write all records of a transaction at once; its other effects follow afterwards."""
        life = self._lives[name]
        if self._network.store_s:
            self._disks[name].is_writing = True
            finish = partial(self._finish_commit, name, effects, life)
            self.do(finish, self.now + self._network.store_s)
        else:
            self._finish_commit(name, effects, life)

    def _finish_commit(self, name: NodeId, effects: Sequence[Effect], life: int) -> None:
        """Go on with what waited for records, unless the node has stopped in the meantime."""
        if self._lives[name] != life or name not in self._disks:
            return
        disk = self._disks[name]
        stores = [effect for effect in effects if isinstance(effect, Store)]
        disk.keep(stores)
        for effect in effects:
            self._carry_out(name, effect)
        for store in stores:
            self.do(partial(self._tell_stored, name, store, life))
        self._carry_out_all(name, disk.take())

    def _tell_stored(self, name: NodeId, store: Store, life: int) -> None:
        if self._lives[name] == life:
            self._handle(name, Stored(store.key))

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
    """Return random numbers that depend on the seed and the names only."""
    return Random(f"{seed} {names}")
