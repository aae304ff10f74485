"""A sweep of what the paper does not state (S2S-Q6, S2S-Q7): the sizes of views and exchanges,
and the laws of widths and interests.

    views     one size at a time is half or twice the usual one: how fast rings come, and at what
              price in bytes; the usual ones also with other seeds
    laws      ring lengths of 10,000 boxes, by the exponents of widths and centres
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from fyke.experiments.experiment import Parameters
from fyke.experiments.sub2sub.overlay import CYCLES, MAIN, SIZES, Overlay
from fyke.experiments.table import Row
from fyke.matching.matcher import Matcher
from fyke.peers.settings import PAPER
from fyke.traces.rings import completeness
from fyke.traces.trace import Record, Sent
from fyke.workloads.boxes import BoxesWorkload

USUAL: Final = "as usual"
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    USUAL: {},
    "random view 10": {"random_view": 10, "shuffle": 4},
    "random view 40": {"random_view": 40, "shuffle": 16},
    "near view 10": {"near_view": 10, "near_exchange": 5},
    "near view 40": {"near_view": 40, "near_exchange": 20},
    "all twice": {"random_view": 40, "shuffle": 16, "near_view": 40, "near_exchange": 20},
}
AGAIN: Final = {f"{USUAL}, again": 1, f"{USUAL}, once more": 2}
"""Other draws of boxes and peers, for the difference that chance makes; added to the seed."""
_APART: Final = 7_919
_PEERS: Final = {"tiny": 100, "small": 400, "paper": SIZES["paper"]}
_BOXES: Final = {"tiny": 1_000, "small": 10_000, "paper": 10_000}
_EVENTS: Final = {"tiny": 40, "small": 300, "paper": 3_000}
WIDTHS: Final = (3, 4, 5)
CENTRES: Final = (1.5, 1.75, 2.0)


def grid_of_views(scale: str) -> list[Parameters]:
    attributes, interest = MAIN
    return [
        {"attributes": attributes, "interest": interest, "peers": _PEERS[scale],
         "cycles": min(25, CYCLES[scale]), "events": _EVENTS[scale], "variant": variant}
        for variant in (*VARIANTS, *AGAIN)
    ]  # fmt: skip


def run_views(parameters: Parameters, seed: int) -> list[Row]:
    """Return rings and bytes by cycle, for one choice of sizes."""
    variant = parameters["variant"]
    drawn = seed + _APART * AGAIN.get(variant, 0)
    overlay = Overlay(parameters, drawn, replace(PAPER, **VARIANTS.get(variant, {})))
    wanted = overlay.crowd.wanted(overlay.draw())
    total = _Bytes()
    overlay.listen(total.add)
    rows: list[Row] = []
    for cycle in range(1, parameters["cycles"] + 1):
        before = total.sent
        overlay.crowd.run()
        found = completeness(overlay.crowd.note_links(), wanted)
        rows.append(
            {"variant": variant, "cycle": cycle, "peers": overlay.size,
             "links": 100 * found.share_in_place, "rings": 100 * found.share_complete,
             "kilobytes": (total.sent - before) / 1_000 / overlay.size}
        )  # fmt: skip
    return rows


class _Bytes:
    sent = 0

    def add(self, record: Record) -> None:
        if isinstance(record, Sent):
            self.sent += record.bytes


def grid_of_laws(scale: str) -> list[Parameters]:
    return [
        {"attributes": attributes, "boxes": _BOXES[scale], "events": _EVENTS[scale],
         "width": width, "centre": centre}
        for attributes in (3, 5) for width in WIDTHS for centre in CENTRES
    ]  # fmt: skip


def run_laws(parameters: Parameters, seed: int) -> list[Row]:
    """Return the ring lengths of events that at least two boxes want."""
    attributes, width, centre = (parameters[name] for name in ("attributes", "width", "centre"))
    workload = BoxesWorkload(
        seed, attributes, typed=False, width_exponent=width, centre_exponent=centre
    )
    matcher = Matcher()
    matcher.add_many((each.id, each.filter) for each in workload.subscriptions(parameters["boxes"]))
    lengths: list[int] = []
    for number in range(200 * parameters["events"]):
        length = len(matcher.match(workload.event(number)))
        if length >= 2:
            lengths.append(length)
            if len(lengths) == parameters["events"]:
                break
    return [
        {"attributes": attributes, "width": width, "centre": centre, "boxes": parameters["boxes"],
         "shortest": min(lengths), "median": float(np.median(lengths)), "longest": max(lengths)}
    ]  # fmt: skip
