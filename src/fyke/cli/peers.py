"""Peers at the command line: what `fyke simulate --strategy sub2sub` and `fyke demo peers` show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from fyke.assembly import assemble_peers
from fyke.cli.writing.listing import heading, show_rows
from fyke.cli.writing.output import console, counted, write_line
from fyke.cli.writing.problems import complain
from fyke.cli.writing.progress import counting
from fyke.peers.geometry.space import Space
from fyke.peers.settings import Settings
from fyke.simulation.cycles import Crowd
from fyke.simulation.network import Network
from fyke.traces.rings import (
    Completeness,
    Spreading,
    Wanted,
    broken_promises,
    completeness,
    hit_ratio,
    ring_of,
)
from fyke.traces.trace import Linked, Record
from fyke.workloads.boxes import BoxesWorkload

_JUDGED: Final = 300
"""Events whose rings are looked at."""
_UNSEEN: Final = 1_000_003
_CELLS: Final = 40
_SHOWN: Final = range(6, 25)
"""Peers of a ring that fits into a line."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of cycles and events."""

    rings: dict[int, Completeness]
    events: int
    hit: float
    complete: float
    unwanted: int
    """Deliveries to peers that do not want the event."""
    messages_an_event: float
    hops: float
    broken: list[str]

    def document(self) -> dict[str, object]:
        last = self.rings[max(self.rings)]
        return {
            "strategy": "sub2sub",
            "cycles": max(self.rings),
            "links_in_place": last.share_in_place,
            "rings_complete": last.share_complete,
            "events": self.events,
            "hit_ratio": self.hit,
            "complete_disseminations": self.complete,
            "unwanted_deliveries": self.unwanted,
            "messages_an_event": self.messages_an_event,
            "hops": self.hops,
            "broken_promises": self.broken,
        }


def play(
    peers: int,
    cycles: int,
    events: int,
    seed: int,
    network: Network | None = None,
    write: Callable[[Record], object] | None = None,
    watch: Callable[[int, Completeness, list[Linked], Wanted], None] | None = None,
) -> tuple[Outcome, Spreading, Wanted]:
    """Let peers gossip for some cycles, then publish events that no peer has seen.

    `watch` sees the rings as they form.
    """
    workload = BoxesWorkload(seed, typed=False)
    spreading, settings = Spreading(), Settings()
    system = assemble_peers(Space.of(workload.schema), settings)

    def note(record: Record) -> None:
        spreading.add(record)
        if write is not None:
            write(record)

    crowd = Crowd(system.make, system.codec, seed=seed, network=network, write=note)
    crowd.join(workload.subscriptions(peers))
    drawn = crowd.judging_events(BoxesWorkload(seed + _UNSEEN, typed=False), max(events, _JUDGED))
    wanted = crowd.wanted(drawn)
    shown = next((id for id, ids in wanted.items() if len(ids) in _SHOWN), next(iter(wanted)))
    rings = {}
    for cycle in counting(range(1, cycles + 1), "cycles"):
        crowd.run()
        if cycle % max(1, cycles // 8) == 0 or cycle == cycles:
            links = crowd.note_links()
            rings[cycle] = completeness(links, wanted)
            if watch is not None:
                watch(cycle, rings[cycle], links, {shown: wanted[shown]})
    published = {id: drawn[id] for id in [*dict.fromkeys((shown, *drawn))][:events]}
    for id in counting(list(published), "events"):
        crowd.publish(id, published[id])
    wanted = {id: wanted[id] for id in published}
    spreads = [spreading.spreads[id] for id in published]
    hits = [hit_ratio(spreading.spreads[id], ids) for id, ids in wanted.items()]
    count = max(1, len(published))
    outcome = Outcome(
        rings,
        len(published),
        sum(hits) / count,
        sum(hit == 1 for hit in hits) / count,
        sum(id not in set(wanted[event]) for event in wanted
            for id in spreading.spreads[event].delivered),
        sum(spread.sent.total() for spread in spreads) / count,
        sum(spread.hops for spread in spreads) / count,
        broken_promises(spreading.spreads, wanted, settings.shortcuts),
    )  # fmt: skip
    return outcome, spreading, wanted


def show(outcome: Outcome, peers: int, seed: int, is_json: bool) -> None:
    """Print what came out: rings as they form, events, and whether the promise was kept."""
    if is_json:
        write_line(outcome.document())
        return
    screen = console()
    told = [counted(peers, "peer"), f"boxes, seed {seed}", counted(outcome.events, "event")]
    screen.print(", ".join(told), style="bold")
    show_rows(screen, _rings(outcome, "#" if screen.options.ascii_only else "█"), right=[0, 1, 2])
    screen.print()
    show_rows(screen, _events(outcome), right=[1])
    if outcome.rings[max(outcome.rings)].share_complete == 1 and outcome.broken:
        complain(f"a promise was broken: {outcome.broken[0]}")


def _rings(outcome: Outcome, block: str) -> Iterator[list[Text]]:
    yield heading("cycle", "ring links", "rings", "")
    for cycle, found in outcome.rings.items():
        bar = block * round(_CELLS * found.share_complete)
        yield [Text(str(cycle)), Text(f"{found.share_in_place:.1%}"),
               Text(f"{found.share_complete:.1%}", "bold"), Text(bar, "cyan")]  # fmt: skip


def _events(outcome: Outcome) -> Iterator[list[Text]]:
    for what, number, note in (
        ("hit ratio", f"{outcome.hit:.2%}", "of those that want an event, got it"),
        ("complete", f"{outcome.complete:.1%}", "events that all got"),
        ("unwanted", f"{outcome.unwanted:,}", "deliveries to peers that do not want the event"),
        ("messages an event", f"{outcome.messages_an_event:.2f}", "between peers that want it"),
        ("hops", f"{outcome.hops:.1f}", "to the last of them"),
    ):
        yield [Text(what), Text(number, "bold"), Text(note, "dim")]


def demo(peers: int, cycles: int, seed: int) -> None:
    """Show how rings form, one of them link by link, and how an event travels, hop by hop."""
    screen = console()
    screen.print(f"{peers} peers, each with a box of three attributes; nobody is in charge\n")
    is_begun = False

    def watch(cycle: int, found: Completeness, links: list[Linked], wanted: Wanted) -> None:
        nonlocal is_begun
        [(id, ids)] = wanted.items()
        if not is_begun:
            screen.print(f"cycle  ring links   rings  the ring of event {id}", style="bold")
            is_begun = True
        row = f"{cycle:>5}  {found.share_in_place:>10.1%}  {found.share_complete:>6.1%}  "
        ring = _chain(links, ids, screen.options.ascii_only)
        screen.print(Text(row).append(ring, "cyan"), soft_wrap=True)

    _, spreading, wanted = play(peers, cycles, 1, seed, watch=watch)
    [(id, ids)] = wanted.items()
    spread = spreading.spreads[id]
    screen.print(f"\nevent {id} travels", style="bold")
    for hop in range(spread.hops + 1):
        names = sorted(name.removeprefix("peer-") for name, at in spread.depth.items() if at == hop)
        screen.print(f"  hop {hop}  {len(names):>3}  {', '.join(names)}", soft_wrap=True)
    got = sum(each in spread.delivered for each in ids)
    others = len(spread.delivered) - got
    screen.print(f"\n{got} of the {len(ids)} peers that want it got it; {others} others did.")


def _chain(linked: list[Linked], ids: Sequence[str], is_ascii: bool) -> str:
    """Draw a ring, the peers in the order of their sequence ids: a line is a link that both know,
    a short one a link that one of them knows. The last line leads back to the first peer.
    """
    peer, signs = ("o", " .-") if is_ascii else ("●", " ╴─")
    return "".join(peer + signs[known] for known in ring_of(linked, ids))
