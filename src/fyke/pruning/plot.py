"""The curve of a plan as a picture: predicates that are gone, and events that match, by steps."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

import numpy as np

from fyke.errors import FykeError

if TYPE_CHECKING:
    from fyke.pruning.curve import Curve

_GONE: Final = "#009e73"
_MATCHED: Final = "#0072b2"
_EXPECTED: Final = "#56b4e9"
_INK: Final = "#5c6974"
POINTS_MAX: Final = 2_000


def draw_curve(curve: Curve, chosen: int, title: str = "") -> bytes:
    """Return a PNG: both axes of the paper (PRU-26), the bend, and the steps that were chosen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise FykeError("a plot needs matplotlib: pip install matplotlib") from None
    last = max(len(curve) - 1, 1)
    at = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), POINTS_MAX)).astype(int))
    figure = Figure(figsize=(7.2, 4.2), dpi=110, layout="constrained")
    left = figure.subplots()
    right = left.twinx()
    gone = 1 - curve.predicates / max(int(curve.predicates[0]), 1)
    left.plot(at / last, gone[at], color=_GONE, linewidth=2, label="predicates removed")
    measured = curve.measured
    if _is_flat(curve):  # every event matches something already: only matches can grow
        right.plot(at / last, curve.matches[at], color=_MATCHED, linewidth=2, label="matches")
    elif measured is not None:
        right.plot(at / last, measured[at], color=_MATCHED, linewidth=2, label="events that match")
    else:
        right.plot(
            *(at / last, curve.expected[at]),
            color=_EXPECTED,
            linestyle="--",
            label="events that match, expected",
        )
    bend = curve.bend()
    left.axvline(bend / last, color=_INK, linestyle=":", label=f"bend, step {bend:,}")
    if chosen != bend:
        left.axvline(chosen / last, color=_INK, linewidth=1, label=f"chosen, step {chosen:,}")
    left.set(xlabel="prunings, of all that are possible", ylim=(0, 1), xlim=(0, 1), title=title)
    left.set_ylabel("predicates removed, of all", color=_GONE)
    right.set_ylabel(
        "matches per event" if _is_flat(curve) else "events that match at least one subscription",
        color=_MATCHED,
    )
    right.set_ylim(0, None)
    lines = [*left.get_lines(), *right.get_lines()]
    left.legend(handles=lines, loc="upper left", fontsize=8.5, edgecolor="none")
    for axes in (left, right):
        axes.spines["top"].set_visible(False)
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


def _is_flat(curve: Curve) -> bool:
    return bool(curve.fraction[0] == curve.fraction[-1])
