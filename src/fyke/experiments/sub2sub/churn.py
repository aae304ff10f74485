"""Beyond the paper, which claims resilience and does not measure it.

    churn        a share of the peers is replaced in every cycle
    failure      a share fails at once
    partition    half of the peers are parted from the others, and come together again
    loss         a share of all messages gets lost

Events are published in every fourth cycle; who wanted one and is still there has three cycles to
get it. With repair and without it, everything else alike.
"""

from __future__ import annotations

from collections.abc import Container
from random import Random
from statistics import fmean
from typing import Final

from fyke.experiments.experiment import Parameters
from fyke.experiments.sub2sub.overlay import MAIN, Overlay
from fyke.experiments.table import Row
from fyke.peers.settings import Settings
from fyke.simulation.network import Network
from fyke.traces.rings import Wanted

_RATES: Final = {
    "tiny": (0.01,),
    "small": (0.01, 0.05),
    "paper": (0.001, 0.005, 0.01, 0.02, 0.05),
}
_FAILED: Final = {"tiny": (0.2,), "small": (0.1, 0.3, 0.5), "paper": (0.1, 0.2, 0.3, 0.5)}
_PEERS: Final = {"tiny": 100, "small": 300, "paper": 2_000}
_WARM: Final = {"tiny": 12, "small": 20, "paper": 40}
_CYCLES: Final = {"tiny": 16, "small": 24, "paper": 40}
_EVENTS: Final = {"tiny": 10, "small": 40, "paper": 500}
_EVERY: Final = 4
"""Cycles from one judgement to the next."""
_PARTED: Final = 10
"""Cycles that a partition lasts."""
SETTLED: Final = 10
"""Cycles after which a peer that came is settled."""


def grid(scale: str) -> list[Parameters]:
    attributes, interest = MAIN
    shared = {"attributes": attributes, "interest": interest, "peers": _PEERS[scale],
              "events": _EVENTS[scale], "warm": _WARM[scale],
              "cycles": _CYCLES[scale]}  # fmt: skip
    cases = [("churn", rate) for rate in _RATES[scale]]
    cases += [("failure", share) for share in _FAILED[scale]]
    cases += [("partition", 0.5), ("loss", 0.2)]
    return [
        {**shared, "what": what, "share": share, "repairs": repairs}
        for what, share in cases
        for repairs in (False, True)
    ]


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return hit ratios by cycle, of all live peers and of those that are settled."""
    trouble = _Trouble(parameters, seed)
    overlay, crowd = trouble.overlay, trouble.overlay.crowd
    crowd.run(parameters["warm"])
    trouble.begin()
    rows: list[Row] = []
    named: Row = {name: parameters[name] for name in ("what", "share", "repairs", "peers")}
    named["mode"] = "with repair" if parameters["repairs"] else "without"
    for cycle in range(_EVERY, parameters["cycles"] + 1, _EVERY):
        events = overlay.draw(parameters["events"])
        wanted = crowd.wanted(events)
        overlay.publish(events)
        settled = trouble.settled()
        for _ in range(_EVERY):
            trouble.go_on()
            crowd.run()
        there = crowd.filters
        hit, of_settled = (
            100 * _hit(overlay, wanted, who) for who in (there, settled & there.keys())
        )
        rows.append(
            {**named, "cycle": cycle - _EVERY + 1, "hit": hit, "missed": 100 - hit,
             "settled": of_settled, "settled_missed": 100 - of_settled}
        )  # fmt: skip
    return rows


class _Trouble:
    """An overlay and what befalls it."""

    def __init__(self, parameters: Parameters, seed: int) -> None:
        repairs = parameters["repairs"]
        self._what, self._share = parameters["what"], parameters["share"]
        network = Network(latency_s=0.0, straight_loss=self._share if self._what == "loss" else 0.0)
        settings = Settings(repairs=repairs, asks_at_once=repairs)
        self.overlay = Overlay(parameters, seed, settings, network)
        self._draw = Random(f"{seed} trouble")
        self._clock = 0
        self._born = dict.fromkeys(self.overlay.crowd.filters, -SETTLED)
        self._came = self.overlay.size

    def begin(self) -> None:
        """Let happen what happens once."""
        crowd = self.overlay.crowd
        if self._what == "failure":
            crowd.crash(self._draw.sample(crowd.peers, round(self._share * len(crowd.peers))))
        if self._what == "partition":
            side = self._draw.sample(crowd.peers, round(self._share * len(crowd.peers)))
            crowd.simulation.part(side)
            crowd.run(_PARTED)
            crowd.simulation.join(side)

    def go_on(self) -> None:
        """Let happen what happens in every cycle."""
        self._clock += 1
        if self._what != "churn":
            return
        crowd = self.overlay.crowd
        exact = self._share * len(crowd.peers)
        count = int(exact) + (self._draw.random() < exact % 1)
        crowd.crash(self._draw.sample(crowd.peers, count))
        workload = self.overlay.workload
        came = [workload.subscription(self._came + number) for number in range(count)]
        self._came += count
        self._born.update(dict.fromkeys((each.id for each in came), self._clock))
        crowd.join(came)

    def settled(self) -> set[str]:
        """Return the subscriptions that are there for ten cycles."""
        return {id for id, born in self._born.items() if born <= self._clock - SETTLED}


def _hit(overlay: Overlay, wanted: Wanted, who: Container[str]) -> float:
    """Return the share of those that wanted an event, of some, that got it; of all events."""
    ratios = []
    for event, ids in wanted.items():
        asked = [id for id in ids if id in who]
        if asked:
            delivered = overlay.spreading.spreads[event].delivered
            ratios.append(sum(id in delivered for id in asked) / len(asked))
    return fmean(ratios) if ratios else 1.0
