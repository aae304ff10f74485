"""The overlay of the paper's section 5: peers with a box each, judged by events that none has seen.

One run is a crowd over its cycles. It makes rows of several kinds:

    cycle     ring links in place and rings complete, after each cycle (figure 6)
    spread    what events of a few cycles come to (figure 7)
    length    events by the length of their ring, with the hops they took (figure 8)
    load      sends and receipts of peers, spam
    lorenz    which share of all sends the least busy peers have
    width     sends of peers by the size of their boxes
    join      single joins, by the cycles that they took (`joining`, figure 9)

All that is about the paper's main setting is read from one run: what is published, and who joins
when all is done, changes nothing about the rings that were there before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from math import prod
from typing import Final

from fyke.assembly import assemble_peers
from fyke.events.event import Event
from fyke.experiments.experiment import Parameters
from fyke.experiments.table import Row
from fyke.nodes.message import EventId
from fyke.peers.geometry.space import Space
from fyke.peers.peer import Peer
from fyke.peers.settings import PAPER, Settings
from fyke.simulation.cycles import Crowd
from fyke.simulation.network import Network
from fyke.traces.rings import (
    Spreading,
    Wanted,
    broken_promises,
    complete_rings,
    completeness,
    hit_ratio,
)
from fyke.traces.trace import Record
from fyke.workloads.boxes import BoxesWorkload

SIZES: Final = {"tiny": 200, "small": 1_000, "paper": 10_000}
CYCLES: Final = {"tiny": 16, "small": 30, "paper": 40}
EVENTS: Final = {"tiny": 40, "small": 500, "paper": 10_000}
SAMPLE: Final = {"tiny": 4, "small": 20, "paper": 1_000}
"""Subscribers that come back."""
PUBLISHERS: Final = {"tiny": 30, "small": 500, "paper": 10_000}
SETTINGS: Final = tuple((n, law) for n in (3, 5) for law in ("uniform", "power_law"))
MAIN: Final = (3, "power_law")
_LONGEST: Final = 3, 2
"""A fraction of the cycles that a run may take in all, while rings are still open."""
_JUDGING: Final = 1_000_003
"""Added to a seed for events that no peer has seen."""


def grid(scale: str) -> list[Parameters]:
    others = [(n, "power_law") for n in (1, 2, 4)] if scale == "paper" else []
    return [
        {
            "attributes": attributes,
            "interest": interest,
            "peers": SIZES[scale],
            "cycles": CYCLES[scale],
            "events": EVENTS[scale],
            "sample": SAMPLE[scale],
            "publishers": PUBLISHERS[scale],
        }
        for attributes, interest in (*SETTINGS, *others)
    ]


class Overlay:
    """A crowd with its workload and its judging events."""

    def __init__(
        self, parameters: Parameters, seed: int, settings: Settings, network: Network | None = None
    ) -> None:
        attributes, interest = parameters["attributes"], parameters["interest"]
        self.workload = BoxesWorkload(seed, attributes, interest, typed=False)
        self.spreading = Spreading()
        self._listeners: list[Callable[[Record], None]] = [self.spreading.add]
        system = assemble_peers(Space.of(self.workload.schema), settings)
        self.crowd = Crowd(system.make, system.codec, seed=seed, network=network, write=self._note)
        self.size: int = parameters["peers"]
        self.crowd.join(self.workload.subscriptions(self.size))
        self._unseen = BoxesWorkload(seed + _JUDGING, attributes, interest, typed=False)
        self.count: int = parameters["events"]
        self._published = 0

    def listen(self, write: Callable[[Record], None]) -> None:
        """Let somebody else hear the trace as well."""
        self._listeners.append(write)

    def _note(self, record: Record) -> None:
        for write in self._listeners:
            write(record)

    def draw(self, count: int | None = None) -> dict[EventId, Event]:
        """Return events that at least two peers want."""
        drawn = self.crowd.judging_events(self._unseen, count or self.count)
        self._published += 1
        return {f"{id}-{self._published}": event for id, event in drawn.items()}

    def publish(self, events: dict[EventId, Event]) -> None:
        for id, event in events.items():
            self.crowd.publish(id, event)

    def go_by(self, settings: Settings) -> None:
        """Let all peers pass on and find events by other settings."""
        for name in self.crowd.peers:
            peer = self.crowd.simulation.node(name)
            assert isinstance(peer, Peer)
            peer.go_by(settings)

    def hits(self, wanted: Wanted) -> list[float]:
        return [hit_ratio(self.spreading.spreads[id], ids) for id, ids in wanted.items()]


def form(overlay: Overlay, parameters: Parameters) -> list[Row]:
    """Let peers gossip by the paper's protocol. Return rows of its rings, cycle by cycle; those
    after the last cycle of the paper are late.
    """
    wanted = overlay.crowd.wanted(overlay.draw())
    is_main = (parameters["attributes"], parameters["interest"]) == MAIN
    rows: list[Row] = []
    cycle, last, is_open = 0, parameters["cycles"], True
    while cycle < last or (is_open and cycle < last * _LONGEST[0] // _LONGEST[1]):
        cycle += 1
        overlay.crowd.run()
        found = completeness(overlay.crowd.note_links(), wanted)
        is_open = found.complete < found.rings
        rows.append(
            {"kind": "cycle", "cycle": cycle, "links": 100 * found.share_in_place,
             "rings": 100 * found.share_complete, "is_late": cycle > last}
        )  # fmt: skip
        if is_main and cycle % 2 == 0:
            rows.append({"kind": "spread", "cycle": cycle, **_spread(overlay)})
    for length, count in sorted(Counter(len(ids) for ids in wanted.values()).items()):
        rows.append({"kind": "length", "length": length, "events": count})
    return rows


def _spread(overlay: Overlay) -> Row:
    """Return what a tenth of the events come to as things are."""
    events = overlay.draw(max(20, overlay.count // 10))
    wanted = overlay.crowd.wanted(events)
    overlay.publish(events)
    hits = overlay.hits(wanted)
    partial = [hit for hit in hits if hit < 1]
    return {
        "complete": 100 * sum(hit == 1 for hit in hits) / len(hits),
        "partial_hit": 100 * sum(partial) / len(partial) if partial else None,
    }


def judge(overlay: Overlay) -> list[Row]:
    """Return hops by ring length, with shortcuts and without, and the load of peers."""
    events = overlay.draw()
    wanted = overlay.crowd.wanted(events)
    overlay.publish(events)
    rows = [{"kind": "hops", "shortcuts": PAPER.shortcuts, **row} for row in _hops(overlay, wanted)]
    spreads = [overlay.spreading.spreads[id] for id in wanted]
    unwanted = sum(
        id not in set(wanted[event]) for event in wanted
        for id in overlay.spreading.spreads[event].delivered
    )  # fmt: skip
    deliveries = sum(spread.delivered.total() for spread in spreads)
    sends, gets = Counter[str](), Counter[str]()
    for spread in spreads:
        sends.update(spread.sent)
        gets.update(f"peer-{id}" for id in spread.delivered)
    most = max(
        times - (peer == spread.publisher)
        for spread in spreads
        for peer, times in spread.sent.items()
    )
    by_peer = [sends[peer] for peer in overlay.crowd.peers]
    whole = complete_rings(overlay.crowd.note_links(), wanted)
    broken = broken_promises(overlay.spreading.spreads, whole, PAPER.shortcuts)
    rows.append(
        {"kind": "load", "spam": unwanted, "sends_max": most, "deliveries": deliveries,
         "receipts": sum(spread.received.total() for spread in spreads) / deliveries,
         "gini": gini(by_peer), "most_sends": max(by_peer) / sends.total(), "broken": len(broken),
         "complete": len(whole), "rings": len(wanted)}
    )  # fmt: skip
    return rows + _lorenz(by_peer) + _by_width(overlay, sends, gets) + _along_rings(overlay)


def _lorenz(values: list[int]) -> list[Row]:
    """Return the share of the total that the least of some values have together."""
    sums, count = [0, *accumulate(sorted(values))], len(values)
    return [
        {"kind": "lorenz", "least": share, "sends": 100 * sums[count * share // 100] / sums[-1]}
        for share in range(0, 101, 5)
    ]


def _by_width(overlay: Overlay, sends: Counter[str], gets: Counter[str]) -> list[Row]:
    """Return the sends of peers, as parts of the mean and by an event that they get, by tenths of
    the sizes of their boxes.
    """
    work = overlay.workload
    sizes = {
        f"peer-{work.subscription(number).id}": prod(high - low for low, high in work.box(number))
        for number in range(overlay.size)
    }
    ordered = sorted(sizes, key=sizes.__getitem__)
    mean = sends.total() / len(ordered)
    rows: list[Row] = []
    for tenth in range(10):
        group = ordered[len(ordered) * tenth // 10 : len(ordered) * (tenth + 1) // 10]
        sent, got = (sum(counts[peer] for peer in group) for counts in (sends, gets))
        rows.append({"kind": "width", "tenth": tenth + 1, "sends": sent / len(group) / mean,
                     "by_event": sent / got if got else None, "gets": got})  # fmt: skip
    rows.append({"kind": "widest", "sends": sends[ordered[-1]] / mean})
    return rows


def _hops(overlay: Overlay, wanted: Wanted) -> list[Row]:
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for id, ids in wanted.items():
        spread = overlay.spreading.spreads[id]
        if len(spread.delivered) == len(ids):
            by_length[len(ids)].append(spread.hops)
    return [
        {"length": length, "hops": sum(hops) / len(hops), "events": len(hops)}
        for length, hops in sorted(by_length.items())
    ]


def _along_rings(overlay: Overlay) -> list[Row]:
    """Return hops where only ring links carry events."""
    overlay.go_by(replace(PAPER, shortcuts=0))
    events = overlay.draw()
    wanted = overlay.crowd.wanted(events)
    overlay.publish(events)
    overlay.go_by(PAPER)
    return [{"kind": "hops", "shortcuts": 0, **row} for row in _hops(overlay, wanted)]


def gini(values: list[int]) -> float:
    """Return 0 where all are equal, towards 1 where one has all."""
    ordered, total = sorted(values), sum(values)
    weighted = sum(rank * value for rank, value in enumerate(ordered, 1))
    return (2 * weighted / total - len(ordered) - 1) / len(ordered) if total else 0.0
