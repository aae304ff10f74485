"""The plots of the report, each an SVG image as text, with one colour for what is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from fyke.errors import shortened
from fyke.pipeline.results.outcome import Busy, Class, Stage, Streamed
from fyke.reports.look import INK, MAIN, MUTED, SECOND, canvas, group_thousands, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BARS_MAX: Final = 24
_UNITS: Final = ((3_600, "hours"), (60, "minutes"), (1, "seconds"))
_WIDTH_IN: Final = 6.4


def stages(every: Sequence[Stage]) -> str:
    """Draw how long each stage took, and what it handled in a second."""

    def draw(axes: Axes) -> None:
        _bars(
            axes,
            [stage.name for stage in every],
            [stage.duration_s for stage in every],
            [_stage_note(stage) for stage in every],
        )
        axes.set_xlabel("seconds")

    return _drawn(draw, _height(len(every)))


def throughput(done: Sequence[tuple[float, int]], step_s: float) -> str:
    """Draw events a second over time: (second, events done in the step that begins there)."""
    together = -(-len(done) // _BARS_MAX)
    step_s *= together

    def draw(axes: Axes) -> None:
        at = [second for second, _ in done[::together]]
        starts = range(0, len(done), together)
        rates = [sum(n for _, n in done[start : start + together]) / step_s for start in starts]
        axes.bar(at, rates, width=step_s * 0.92, align="edge", color=MAIN)
        mean = sum(n for _, n in done) / (len(done) * step_s / together)
        axes.axhline(mean, color=SECOND, linewidth=1.4)
        axes.annotate(
            f"mean {mean:,.0f}",
            (1, mean),
            xycoords=("axes fraction", "data"),
            xytext=(0, 4),
            textcoords="offset points",
            ha="right",
            color=SECOND,
            bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none"},
        )
        axes.margins(x=0.01)
        axes.set_ylim(0, max(rates) * 1.15)
        axes.grid(visible=False, axis="x")
        axes.set_xlabel("seconds since matching began")
        axes.set_ylabel("events a second")
        _thousands(axes.yaxis)

    return _drawn(draw)


def over_time(stream: Streamed, values: Sequence[float | None], label: str) -> str:
    """Draw a value for each stretch of a stream's time; dotted lines show new starts."""
    width_s = stream.rates[0].width_s
    unit_s, unit = next(
        (size, name) for size, name in _UNITS if len(values) * width_s >= 2 * size or size == 1
    )

    def draw(axes: Axes) -> None:
        edges = [width_s * at / unit_s for at in range(len(values) + 1)]
        axes.stairs([value or 0 for value in values], edges, fill=True, color=MAIN)
        for moment in stream.restarts_s:
            axes.axvline(moment / unit_s, color=SECOND, linewidth=1.4, linestyle=":")
        axes.margins(x=0.01)
        axes.set_ylim(0, (max(value or 0 for value in values) or 1) * 1.15)
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(f"{unit} since the stream began")
        axes.set_ylabel(label)
        _thousands(axes.yaxis)

    return _drawn(draw)


def doubling(by_scale: Sequence[tuple[int, int]], of: str, counted: str) -> str:
    """Draw the numbers of things by matches: (k, things with 2**k to 2**(k+1) - 1)."""

    def draw(axes: Axes) -> None:
        known = dict(by_scale)
        scales = range(min(known), max(known) + 1)
        axes.bar(scales, [known.get(scale, 0) for scale in scales], color=MAIN, width=0.9)
        shown = scales[:: -(-len(scales) // 10)]
        axes.set_xticks(shown, [f"{1 << scale:,}" for scale in shown])
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(f"matches of {of}: so many, up to twice as many")
        axes.set_ylabel(counted)
        _thousands(axes.yaxis)

    return _drawn(draw)


def busiest(every: Sequence[Busy]) -> str:
    """Draw those with most matches."""

    def draw(axes: Axes) -> None:
        names = [shortened(busy.name) for busy in every]
        matches = [busy.matches for busy in every]
        _bars(axes, names, matches, [f"{many:,}" for many in matches])
        axes.set_xlabel("matches")

    return _drawn(draw, _height(len(every)))


def classes(every: Sequence[Class], events: int, rows: int) -> str:
    """Return the share of events that a subscription of a class accepts; as high as `rows` bars."""

    def draw(axes: Axes) -> None:
        shares = [100 * each.matches / (each.subscriptions * events) for each in every]
        labels = [f"class {each.name}" for each in every]
        notes = [
            f"{share:.3g} %  of {each.subscriptions:,}"
            for share, each in zip(shares, every, strict=True)
        ]
        _bars(axes, labels, shares, notes)
        axes.set_xlabel("% of the events that a subscription accepts, on average")

    return _drawn(draw, _height(max(rows, len(every))))


def selectivities(by_attribute: dict[str, tuple[float, ...]]) -> str:
    """Return the shares of events that predicates accept, a dot each, a line at the median."""
    names = sorted(by_attribute, key=lambda name: median(by_attribute[name]), reverse=True)

    def draw(axes: Axes) -> None:
        for row, name in enumerate(names):
            shares = [100 * share for share in by_attribute[name]]
            spread = [row + 0.26 * ((at * 0.618) % 1 - 0.5) for at in range(len(shares))]
            axes.scatter(shares, spread, s=14, color=MAIN, alpha=0.35, linewidths=0)
            middle = median(shares)
            axes.plot([middle, middle], [row - 0.3, row + 0.3], color=SECOND, linewidth=2)
        axes.set_yticks(range(len(names)), [shortened(name) for name in names])
        axes.tick_params(axis="y", labelcolor=INK)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xscale("symlog", linthresh=0.1, linscale=0.5)
        axes.set_xlim(-0.02, 130)
        ticks = [0, 0.1, 1, 10, 100]
        axes.set_xticks(ticks, [f"{tick:g} %" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("share of the events that a predicate accepts")

    return _drawn(draw, _height(len(names)))


# --- how they are drawn --------------------------------------------------------------------------


def _stage_note(stage: Stage) -> str:
    if stage.rows <= 1:
        return f"{stage.duration_s:.1f} s"
    return f"{stage.duration_s:.1f} s   {stage.rate:,.0f} {stage.unit}/s"


def _bars(axes: Axes, names: Sequence[str], sizes: Sequence[float], notes: Sequence[str]) -> None:
    """Draw bars from left to right, the first on top, each with a note behind it."""
    axes.barh(range(len(names)), sizes, color=MAIN, height=0.66)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", labelcolor=INK)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, (max(sizes) or 1) * 1.45)
    for row, (size, note) in enumerate(zip(sizes, notes, strict=True)):
        axes.annotate(
            note, (size, row), xytext=(5, 0), textcoords="offset points", va="center", color=MUTED
        )
    _thousands(axes.xaxis)


def _height(rows: int) -> float:
    return 0.8 + 0.32 * max(rows, 2)


def _thousands(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(5))
    group_thousands(axis)


def _drawn(draw: Callable[[Axes], None], height_in: float = 3.0) -> str:
    with canvas((_WIDTH_IN, height_in)) as (figure, (axes,)):
        draw(axes)
        return svg(figure)
