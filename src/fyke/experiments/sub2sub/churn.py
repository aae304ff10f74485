"""Beyond the paper, which claims resilience and does not measure it: churn, mass failure, loss."""

from __future__ import annotations

from random import Random
from statistics import fmean
from typing import Final

from fyke.experiments.experiment import Parameters
from fyke.experiments.sub2sub.overlay import MAIN, SIZES, Overlay
from fyke.experiments.table import Row
from fyke.filters.subscription import Subscription
from fyke.peers.settings import Settings
from fyke.simulation.network import Network

_WARM: Final = 20
_RATES: Final = {
    "tiny": (0.01,),
    "small": (0.01, 0.05),
    "paper": (0.001, 0.005, 0.01, 0.02, 0.05),
}
_FAILED: Final = {"tiny": (0.2,), "small": (0.3,), "paper": (0.1, 0.2, 0.3, 0.5)}
_EVENTS: Final = {"tiny": 10, "small": 30, "paper": 200}
_EVERY: Final = 4
"""Cycles from one judgement to the next."""
SETTLED: Final = 10
"""Cycles after which a peer that came is settled."""


def grid(scale: str) -> list[Parameters]:
    attributes, interest = MAIN
    size = min(SIZES[scale], 300) if scale != "paper" else SIZES[scale]
    shared = {"attributes": attributes, "interest": interest, "peers": size,
              "events": _EVENTS[scale]}  # fmt: skip
    cases = [("churn", rate) for rate in _RATES[scale]]
    cases += [("failure", share) for share in _FAILED[scale]]
    cases.append(("loss", 0.2))
    return [
        {**shared, "what": what, "share": share, "repairs": repairs}
        for what, share in cases
        for repairs in (False, True)
    ]


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return hit ratios by cycle, of all live peers and of those that are settled."""
    repairs, what, share = parameters["repairs"], parameters["what"], parameters["share"]
    network = Network(latency_s=0.0, straight_loss=share if what == "loss" else 0.0)
    settings = Settings(repairs=repairs, asks_at_once=repairs)
    overlay = Overlay(parameters, seed, settings, network)
    crowd, draw = overlay.crowd, Random(f"{seed} churn")
    born = dict.fromkeys(crowd.filters, 0)
    spare = iter(overlay.workload.subscriptions(overlay.size * 4))
    for _ in range(overlay.size):
        next(spare)
    crowd.run(_WARM)
    if what == "failure":
        crowd.crash(draw.sample(crowd.peers, round(share * len(crowd.peers))))
    rows: list[Row] = []
    for cycle in range(1, SETTLED * 2 + 1):
        if what == "churn":
            gone = draw.sample(crowd.peers, max(1, round(share * len(crowd.peers))))
            crowd.crash(gone)
            came: list[Subscription] = [next(spare) for _ in gone]
            born.update(dict.fromkeys((each.id for each in came), _WARM + cycle))
            crowd.join(came)
        crowd.run()
        if cycle % _EVERY:
            continue
        events = overlay.draw(parameters["events"])
        wanted = crowd.wanted(events)
        overlay.publish(events)
        if repairs:  # those that were missed come with the digests of the next cycles
            crowd.run(2)
        old = {id for id, at in born.items() if at <= _WARM + cycle - SETTLED}
        alive = crowd.filters.keys()
        rows.append(
            {"what": what, "share": share, "repairs": repairs, "cycle": cycle,
             "hit": 100 * _hit(overlay, wanted, alive), "settled": 100 * _hit(overlay, wanted, old)}
        )  # fmt: skip
    return rows


def _hit(overlay: Overlay, wanted: dict[str, list[str]], who: object) -> float:
    ratios = []
    for event, ids in wanted.items():
        asked = [id for id in ids if id in who]  # type: ignore[operator]
        if asked:
            delivered = overlay.spreading.spreads[event].delivered
            ratios.append(sum(id in delivered for id in asked) / len(asked))
    return fmean(ratios) if ratios else 1.0
