"""One run for each setting: rings that form; in the main setting also what events and newcomers do.

The converged overlay serves several figures one after the other. Events change nothing about the
views, publishers come and go, and those that join again do so last.
"""

from __future__ import annotations

from fyke.experiments.experiment import Parameters
from fyke.experiments.sub2sub import joining, overlay
from fyke.experiments.sub2sub.overlay import MAIN, Overlay
from fyke.experiments.table import Row
from fyke.peers.settings import PAPER


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return the rows of one setting, by the paper's protocol."""
    found = Overlay(parameters, seed, PAPER)
    rows = overlay.form(found, parameters)
    if is_main(parameters):
        rows += overlay.judge(found)
        rows += joining.join(found, parameters, seed)
    named = {key: parameters[key] for key in ("attributes", "interest", "peers")}
    return [{**named, **row} for row in rows]


def is_main(parameters: Parameters) -> bool:
    return (parameters["attributes"], parameters["interest"]) == MAIN


def cost(parameters: Parameters) -> float:
    """Return how long a run takes beside others; the main one goes on when its rings are there."""
    return float(parameters["peers"] * (5 - parameters["attributes"] + 5 * is_main(parameters)))
