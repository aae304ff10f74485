"""Picture: the overlay with its traffic, a panel for each run, all on one scale.

A link is as wide as it carried messages, and as orange as its events were for nobody behind it. A
broker's area is its share of the messages. Needs matplotlib (the extra `experiments`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import atan2, ceil, cos, pi, sin, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fyke.errors import FykeError
from fyke.nodes.message import NodeId
from fyke.overlay.layout import Places, layout
from fyke.overlay.topology import Topology
from fyke.traces.summary import RunSummary, Traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap

INK: Final = "#1f2d3a"
MUTED: Final = "#73808c"
PAPER: Final = "#ffffff"
USEFUL: Final = "#14746f"
USELESS: Final = "#e07a3f"
IDLE: Final = "#d5dce1"
_COLUMNS_MAX: Final = 3
_FLAT: Final = 0.6
_PANEL_IN: Final = 5.2
_TITLE_IN: Final = 0.75
_LEGEND_PT: Final = 8.5
_MANY: Final = 40
"""Brokers that fit a panel of that width in large letters."""
_LABELS_MAX: Final = 130
"""Brokers that are labelled; with more, names would hide the links."""
_STYLE: Final[dict[Any, Any]] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "text.parse_math": False,
    "figure.facecolor": PAPER,
}


@dataclass(frozen=True, slots=True)
class _Scale:
    """The largest values of all panels, and their sizes in points."""

    messages_max: int
    load_max: int
    width_max: float
    diameter_max: float

    def width(self, messages: int) -> float:
        return 0.7 + self.width_max * messages / self.messages_max

    def area(self, load: int) -> float:
        return self.diameter_max**2 * (0.07 + 0.93 * load / self.load_max)

    @property
    def legend_in(self) -> float:
        """Height of three rows with room for the largest broker, and a margin."""
        return 3 * max(self.diameter_max + 2, 1.8 * _LEGEND_PT) / 72 + 0.3


def draw(topology: Topology, runs: Mapping[str, RunSummary], path: str | Path) -> None:
    """Write a PNG with a panel for each run, titled by its name."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise FykeError("a picture needs matplotlib: pip install 'fyke[experiments]'") from None
    places = layout(topology)
    flatness = _flatness(places)
    columns = _columns(len(runs), flatness)
    rows = ceil(len(runs) / columns)
    is_wide = len(topology.brokers) > _MANY or columns == 1
    width_in = 1.5 * _PANEL_IN if is_wide else _PANEL_IN
    height_in = width_in * flatness
    scale = _scale(topology, runs, places, width_in)
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # names may hold any character
        size_in = (width_in * columns + 0.4, (height_in + _TITLE_IN) * rows + scale.legend_in)
        figure = Figure(figsize=size_in)
        panels = figure.subplots(rows, columns, squeeze=False).flat
        for axes, (name, summary) in zip(panels, runs.items(), strict=False):
            _panel(axes, topology, places, summary, scale)
            _title(axes, name, _caption(summary))
        for axes in figure.axes:
            axes.set_axis_off()
        legend = scale.legend_in / size_in[1]
        top = 1 - _TITLE_IN / size_in[1]
        figure.subplots_adjust(0.01, legend, 0.99, top, 0.04, _TITLE_IN / height_in)
        _legend(figure, scale, legend)
        try:
            figure.savefig(path, format="png", dpi=140, metadata={"Software": None})
        except (OSError, ValueError) as refused:
            reason = getattr(refused, "strerror", None) or refused
            raise FykeError(f"{path}: {reason}") from None


def _flatness(places: Places) -> float:
    """Return height to width of a panel that the brokers fill."""
    xs, ys = zip(*places.values(), strict=True)
    flatness: float = (max(ys) - min(ys) + 0.8) / (max(xs) - min(xs) + 0.8)
    return min(1.0, max(0.16, flatness))


def _columns(panels: int, flatness: float) -> int:
    """Return the number of columns: flat panels go below each other, others side by side."""
    if flatness < _FLAT:
        return ceil(panels / _COLUMNS_MAX)
    return panels if panels <= _COLUMNS_MAX else ceil(sqrt(panels))


def _scale(
    topology: Topology, runs: Mapping[str, RunSummary], places: Places, width_in: float
) -> _Scale:
    both = [sum(_both(run, link)) for run in runs.values() for link in topology.links]
    loads = [load.messages for run in runs.values() for load in run.brokers.values()]
    xs, _ = zip(*places.values(), strict=True)
    link_points = 72 * width_in / (max(xs) - min(xs) + 1)
    diameter = min(26.0, max(8.0, 0.5 * link_points))
    return _Scale(max([1, *both]), max([1, *loads]), 0.33 * diameter, diameter)


def _title(axes: Axes, name: str, caption: str) -> None:
    axes.set_title(f"{name}\n", fontsize=13, fontweight="bold", color=INK)
    axes.annotate(
        caption, (0.5, 1), xytext=(0, 7), xycoords="axes fraction", textcoords="offset points",
        ha="center", color=MUTED, fontsize=9.5,
    )  # fmt: skip


def _caption(summary: RunSummary) -> str:
    useless = summary.useless_share
    load = f"{summary.network_load:,.2f} messages an event"
    if useless is not None and summary.event_messages:
        load += f" ({useless:.0%} useless)"
    return f"{load}, {summary.control_messages:,} for subscriptions"


def _panel(
    axes: Axes, topology: Topology, places: Places, summary: RunSummary, scale: _Scale
) -> None:
    colours = _colours()
    for a, b in topology.links:
        messages, share = sum(_both(summary, (a, b))), _useless(summary, (a, b))
        (x, y), (u, v) = places[a], places[b]
        colour = IDLE if share is None else colours(share)
        axes.plot(
            *([x, u], [y, v]),
            color=colour, linewidth=scale.width(messages), solid_capstyle="round", zorder=1,
        )  # fmt: skip
    xs, ys = zip(*(places[broker] for broker in topology.brokers), strict=True)
    loads = [summary.brokers[broker].messages for broker in topology.brokers]
    areas = [scale.area(load) for load in loads]
    axes.scatter(xs, ys, s=areas, color=INK, edgecolors=PAPER, linewidths=1.2, zorder=2)
    _label(axes, topology, places, areas)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)


def _label(axes: Axes, topology: Topology, places: Places, areas: list[float]) -> None:
    """Write a name inside its broker if there is room, else beside it where no link leaves."""
    from matplotlib.patheffects import withStroke

    if len(topology.brokers) > _LABELS_MAX:
        return
    size = 8.5 if len(topology.brokers) <= _MANY else 6.5
    halo = [withStroke(linewidth=1.6, foreground=PAPER)]
    for broker, area in zip(topology.brokers, areas, strict=True):
        text = broker if len(broker) <= 12 else broker[:11] + "…"
        is_inside = sqrt(area) > size * (0.75 * len(text) + 0.4)
        angle, away = _free_angle(topology, places, broker), sqrt(area) / 2 + 1.5 + 0.5 * size
        offset = (0.0, 0.0) if is_inside else (away * cos(angle), away * sin(angle))
        axes.annotate(
            text, places[broker], xytext=offset, textcoords="offset points",
            ha="center" if is_inside or abs(cos(angle)) < 0.4 else _side(cos(angle)), va="center",
            color=PAPER if is_inside else INK, fontsize=size, zorder=3,
            path_effects=[] if is_inside else halo,
        )  # fmt: skip


def _side(cosine: float) -> str:
    return "left" if cosine > 0 else "right"


def _free_angle(topology: Topology, places: Places, broker: str) -> float:
    """Return the middle of the widest gap between the links of a broker."""
    x, y = places[broker]
    others = [places[other] for other in topology.neighbors(broker)]
    angles = sorted(atan2(v - y, u - x) for u, v in others)
    if not angles:
        return pi / 2
    gaps = [b - a for a, b in pairwise([*angles, angles[0] + 2 * pi])]
    widest = gaps.index(max(gaps))
    return angles[widest] + gaps[widest] / 2


def _legend(figure: Any, scale: _Scale, top: float) -> None:
    """Draw what widths, sizes and colours stand for, in numbers."""
    from matplotlib.lines import Line2D

    shares, colours = (0.0, 0.5, 1.0), _colours()
    widths, loads = _steps(scale.messages_max), _steps(scale.load_max)
    handles = [
        *(Line2D([], [], color=MUTED, linewidth=scale.width(n)) for n in widths),
        *(_dot(scale.area(n)) for n in loads),
        *(Line2D([], [], color=colours(share), linewidth=5) for share in shares),
    ]
    labels = [
        *(f"{n:,} messages over a link" for n in widths),
        *(f"{n:,} messages at a broker" for n in loads),
        *(f"{share:.0%} of the events useless" for share in shares),
    ]
    figure.legend(
        handles, labels, loc="center", bbox_to_anchor=(0.5, top / 2), ncols=3, frameon=False,
        fontsize=_LEGEND_PT, labelcolor=MUTED, handlelength=3, columnspacing=2.4,
        labelspacing=max(0.8, (scale.diameter_max + 2) / _LEGEND_PT - 1),
    )  # fmt: skip


def _dot(area: float) -> Any:
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], linestyle="", marker="o", color=INK, markeredgewidth=0, markersize=sqrt(area)
    )


def _steps(most: int) -> list[int]:
    """Return three numbers up to the largest, the smaller ones round."""
    found = {most}
    for share in (0.5, 0.1):
        digits = 10 ** max(0, len(str(int(most * share))) - 1)
        found.add(max(1, round(most * share / digits) * digits))
    return sorted(found)


def _colours() -> LinearSegmentedColormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("useless", [USEFUL, "#d9c47a", USELESS])


def _both(summary: RunSummary, link: tuple[NodeId, NodeId]) -> tuple[int, int]:
    return _traffic(summary, link).messages, _traffic(summary, link[::-1]).messages


def _useless(summary: RunSummary, link: tuple[NodeId, NodeId]) -> float | None:
    """Return the useless share of a link's event messages; None without any."""
    ways = [_traffic(summary, link), _traffic(summary, link[::-1])]
    events = sum(way.events for way in ways)
    return sum(way.useless for way in ways) / events if events else None


def _traffic(summary: RunSummary, link: tuple[NodeId, ...]) -> Traffic:
    return summary.links.get((link[0], link[1]), Traffic())
