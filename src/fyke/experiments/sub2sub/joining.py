"""Single joins, section 5: figure 9. Subscribers come back to a converged overlay, and publishers
that know one peer look for any that wants their event.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Final

from fyke.experiments.experiment import Parameters
from fyke.experiments.sub2sub.overlay import Overlay
from fyke.experiments.table import Row
from fyke.filters.subscription import Subscription
from fyke.peers.settings import PAPER
from fyke.traces.rings import completeness

_BATCH: Final = 100
"""At most one peer of so many joins again at a time."""
CYCLES_MAX: Final = 20
PAPERS: Final = "layers 1 and 2"
ALL: Final = "all layers"


def join(overlay: Overlay, parameters: Parameters, seed: int) -> list[Row]:
    """Return how many joins to a converged overlay took how many cycles."""
    rows: list[Row] = []
    for answers in (ALL, PAPERS):
        overlay.go_by(replace(PAPER, answers_from_rings=answers == ALL))
        taken = _publishers(overlay, parameters["publishers"])
        rows += _rows(taken, "publishers", answers)
    return rows + _rows(_subscribers(overlay, parameters, seed), "subscribers", PAPERS)


def _rows(taken: Counter[int], who: str, answers: str) -> list[Row]:
    total = taken.total()
    return [
        {"kind": "join", "who": who, "answers": answers, "cycles": cycles, "joins": count,
         "share": 100 * count / total}
        for cycles, count in sorted(taken.items())
    ]  # fmt: skip


def _publishers(overlay: Overlay, count: int) -> Counter[int]:
    """Return rounds until an event was handed over; a publisher is a newcomer with one contact."""
    taken: Counter[int] = Counter()
    crowd, peers = overlay.crowd, list(overlay.crowd.peers)
    for id, event in overlay.draw(count).items():
        name = crowd.add(f"publisher-{id}")
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
