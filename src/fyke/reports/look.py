"""The look of plots: ink and grey for what helps to read, colour for what is shown, no frame.

    with canvas((6.4, 3.0)) as (figure, grid):
        grid[0].plot([1, 2, 3])
        image = svg(figure)

The same data make the same bytes: no date, no name of a program, no random ids. No window and no
global state knows a canvas. Needs matplotlib.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from fyke.errors import FykeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#1f2d3a"
MUTED: Final = "#5c6974"
LINE: Final = "#e3e8ec"
MAIN: Final = "#14746f"
SECOND: Final = "#e07a3f"
SERIES: Final = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
)  # fmt: skip
"""Colours that people tell apart who see fewer of them (Okabe, Ito)."""
_DPI: Final = 110
_STYLE: Final[dict[Any, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": LINE,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": MUTED,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.facecolor": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "svg.hashsalt": "fyke",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.color": MUTED,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
}


@contextmanager
def canvas(
    size_in: tuple[float, float], lines: int = 1, columns: int = 1
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Open a figure with its axes, line by line; draw and save it inside."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise FykeError(
            f"figures need matplotlib: pip install 'fyke[pipeline]' or 'fyke[experiments]'; {error}"
        ) from error
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # names may hold any character
        figure = Figure(figsize=size_in, layout="constrained", dpi=_DPI)
        yield figure, list(figure.subplots(lines, columns, squeeze=False).flat)


def svg(figure: Figure) -> str:
    """Return a figure as text."""
    image = io.StringIO()
    figure.savefig(image, format="svg", metadata={"Date": None, "Creator": None})
    return image.getvalue()


def png(figure: Figure) -> bytes:
    """Return a figure as pixels, on white: it is a file of its own as well."""
    image = io.BytesIO()
    figure.savefig(image, format="png", facecolor="white", metadata={"Software": None})
    return image.getvalue()


def group_thousands(axis: Any, digits: int = 10) -> None:
    """Write the numbers of an axis with commas between thousands."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.{digits}g}"))
