"""Single joins, section 5: figure 9. Subscribers come back to a converged overlay, and publishers
that know one peer look for any that wants their event.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

from fyke.experiments.experiment import Parameters
from fyke.experiments.sub2sub.overlay import CYCLES, MAIN, SIZES, Overlay
from fyke.experiments.table import Row
from fyke.filters.subscription import Subscription
from fyke.peers.settings import PAPER, Settings
from fyke.traces.rings import completeness

_SAMPLE: Final = {"tiny": 4, "small": 10, "paper": 1_000}
_PUBLISHERS: Final = {"tiny": 30, "small": 500, "paper": 10_000}
_BATCH: Final = 100
"""At most one peer of so many joins again at a time."""
CYCLES_MAX: Final = 20


def grid(scale: str) -> list[Parameters]:
    attributes, interest = MAIN
    shared = {"attributes": attributes, "interest": interest, "peers": SIZES[scale],
              "cycles": CYCLES[scale], "events": _PUBLISHERS[scale],
              "sample": _SAMPLE[scale]}  # fmt: skip
    return [{**shared, "answers": answers} for answers in ("layers 1 and 2", "all layers")]


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return how many joins took how many cycles."""
    is_paper = parameters["answers"] == "layers 1 and 2"
    overlay = Overlay(parameters, seed, PAPER if is_paper else Settings())
    overlay.crowd.run(parameters["cycles"])
    rows = _rows(_publishers(overlay, parameters), "publishers", parameters["answers"])
    if is_paper:
        rows += _rows(_subscribers(overlay, parameters, seed), "subscribers", parameters["answers"])
    return rows


def _rows(taken: Counter[int], who: str, answers: str) -> list[Row]:
    total = taken.total()
    return [
        {"who": who, "answers": answers, "cycles": cycles, "joins": count,
         "share": 100 * count / total}
        for cycles, count in sorted(taken.items())
    ]  # fmt: skip


def _publishers(overlay: Overlay, parameters: Parameters) -> Counter[int]:
    """Return rounds until an event was handed over; a publisher is a newcomer with one contact."""
    taken: Counter[int] = Counter()
    crowd, peers = overlay.crowd, list(overlay.crowd.peers)
    for number, (id, event) in enumerate(overlay.draw(parameters["events"]).items()):
        name = crowd.add(f"publisher-{number}")
        crowd.publish(id, event, name)
        spread = overlay.spreading.spreads[id]
        taken[-(-(spread.seeks + 1) // 2) if spread.delivered else CYCLES_MAX] += 1
        crowd.crash([name])
    assert crowd.peers == peers
    return taken


def _subscribers(overlay: Overlay, parameters: Parameters, seed: int) -> Counter[int]:
    """Return cycles until all ring links of a subscriber that came back are there, both ways."""
    crowd, draw = overlay.crowd, Random(f"{seed} rejoin")
    filters = dict(crowd.filters)
    events = overlay.draw()
    judged = sorted({id for ids in crowd.wanted(events).values() for id in ids})
    sample = draw.sample(judged, min(len(judged), parameters["sample"]))
    size = max(1, len(filters) // _BATCH)
    taken: Counter[int] = Counter()
    for at in range(0, len(sample), size):
        batch = sample[at : at + size]
        crowd.crash([f"peer-{id}" for id in batch if f"peer-{id}" in crowd.peers])
        crowd.run(PAPER.age_max + 2)  # until nobody speaks of them any more
        back = {f"{id}-again": filters[id] for id in batch}
        crowd.join(Subscription(id, filter) for id, filter in back.items())
        rings = {id: ids for id, ids in crowd.wanted(events).items()
                 if len(ids) > 1 and back.keys() & set(ids)}  # fmt: skip
        waiting = {each for ids in rings.values() for each in ids if each in back}
        for cycle in range(1, CYCLES_MAX + 1):
            crowd.run()
            links = crowd.note_links()
            for id in sorted(waiting):
                own = {event: ids for event, ids in rings.items() if id in ids}
                found = completeness(links, own)
                if found.complete == found.rings:
                    taken[cycle] += 1
                    waiting.discard(id)
            if not waiting:
                break
        if waiting:
            taken[CYCLES_MAX] += len(waiting)
    return taken
