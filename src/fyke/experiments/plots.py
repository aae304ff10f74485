"""Figures with one look: PNG images, colours that all eyes tell apart, labels with units.

Colours are those of Okabe and Ito. Curves differ in their marker as well, so a print in grey can be
read; a second parameter is the dash, and its markers are hollow. A later curve is thinner than one
before it, so that those which lie on each other are all seen. Measured points have bars from the
least to the most of their repeats.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal

from fyke.experiments.experiment import Axis, Figure, Panel
from fyke.experiments.table import Scalar, Table
from fyke.reports.look import MUTED, SERIES, canvas, group_thousands, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
DASHES: Final[tuple[Literal["-", "--", ":", "-."], ...]] = ("-", "--", ":", "-.")
COLUMNS_MAX: Final = 4
_PANEL_IN: Final = (4.5, 3.3)
_STEPS: Final = (1, 2, 5, 10)


def draw(figure: Figure, rows: Table) -> bytes:
    """Draw a figure with all its panels."""
    columns = _columns(len(figure.panels))
    lines = -(-len(figure.panels) // columns)
    size_in = (_PANEL_IN[0] * columns, _PANEL_IN[1] * lines)
    with canvas(size_in, lines, columns) as (image, grid):
        for axes, panel in zip(grid, figure.panels, strict=False):
            _panel(axes, panel, rows.where(**panel.where))
        for axes in grid[len(figure.panels) :]:
            axes.set_visible(False)
        return png(image)


def _columns(panels: int) -> int:
    """Return a number that leaves no line half empty, if there is one."""
    if panels <= COLUMNS_MAX:
        return panels
    return next((each for each in (COLUMNS_MAX, 3) if panels % each == 0), COLUMNS_MAX)


def _panel(axes: Axes, panel: Panel, rows: Table) -> None:
    axes.set_title(panel.title)
    shown = rows.keep(lambda row: all(row.get(name) is not None for name in _needed(panel)))
    choices = {name: _in_order(shown, name) for name in panel.by}
    for numbered in product(*map(enumerate, choices.values())):
        values = dict(zip(panel.by, (value for _, value in numbered), strict=True))
        curve = shown.where(**values).sort(panel.x.column)
        if curve:
            style = _style(*(number for number, _ in numbered), is_joined=panel.is_joined)
            x, y = curve.column(panel.x.column), curve.column(panel.y.column)
            axes.errorbar(x, y, yerr=_bars(curve, panel.y), elinewidth=0.9, capsize=2.5, **style)
    _scaled(axes, "x", panel.x)
    _scaled(axes, "y", panel.y)
    _legend(axes, choices, panel.is_joined)


def _bars(curve: Table, axis: Axis) -> list[list[float]] | None:
    """Return how far a range goes below and above its points."""
    if not axis.low:
        return None
    middle, low, high = (curve.column(name) for name in (axis.column, axis.low, axis.high))
    return [
        [max(0.0, at - least) for at, least in zip(middle, low, strict=True)],
        [max(0.0, most - at) for at, most in zip(middle, high, strict=True)],
    ]


def _style(colour: int = 0, dash: int = 0, *, is_joined: bool = True) -> dict[str, Any]:
    return {
        "color": SERIES[colour % len(SERIES)],
        "marker": MARKERS[colour % len(MARKERS)],
        "linestyle": DASHES[dash % len(DASHES)] if is_joined else "none",
        "linewidth": max(1.2, 2.8 - 0.5 * colour),
        "markersize": max(3.5, 7.0 - 1.2 * colour) + 2.5 * dash,
        "markerfacecolor": "none" if dash else SERIES[colour % len(SERIES)],
    }


def _legend(axes: Axes, choices: dict[str, list[Any]], is_joined: bool) -> None:
    """Explain the colours, and below them the dashes, beside the panel where no curve is."""
    from matplotlib.lines import Line2D

    if not choices:  # a single curve
        return
    (name, first), *rest = choices.items()
    lines = [
        Line2D([], [], label=_worded(name, value), **_style(at, is_joined=is_joined))
        for at, value in enumerate(first)
    ]
    for other, values in rest:
        for at, value in enumerate(values):
            dash = DASHES[at % len(DASHES)]
            lines.append(Line2D([], [], label=_worded(other, value), color=MUTED, linestyle=dash))
    if rest or len(lines) > 1:
        axes.legend(handles=lines, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _needed(panel: Panel) -> tuple[str, ...]:
    return (panel.x.column, panel.y.column, *panel.by)


def _in_order(rows: Table, name: str) -> list[Any]:
    """Sort numbers; leave names as the rows bring them."""
    values = rows.values(name)
    if any(isinstance(value, str) for value in values):
        return list(dict.fromkeys(row[name] for row in rows))
    return values


def _worded(name: str, value: Scalar) -> str:
    if isinstance(value, str):
        return value
    number = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return f"{name.replace('_', ' ') if len(name) > 3 else name} = {number}"


def _scaled(axes: Axes, which: str, axis: Axis) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    axes.set(**{f"{which}label": axis.label})
    line: Any = getattr(axes, f"{which}axis")
    if axis.is_log:
        axes.set(**{f"{which}scale": "log"})
        line.set_major_locator(LogLocator(subs=(1, 2, 5)))
        line.set_minor_formatter(NullFormatter())
    elif which == "y":
        axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
        line.set_major_locator(MaxNLocator(6, steps=_STEPS))
    else:
        first, last = axes.get_xlim()
        count = 4 if last >= 10_000 else 9
        line.set_major_locator(MaxNLocator(count, steps=_STEPS, integer=last - first > 3))
    group_thousands(line, 6)
