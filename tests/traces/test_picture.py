"""Pictures of overlays: made for any summary, and never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from fyke.errors import FykeError
from fyke.overlay.generators import random_tree
from fyke.overlay.papers import cwix
from fyke.overlay.topology import Topology
from fyke.traces.metrics import summarize
from fyke.traces.trace import Delivered, Sent, Told

pytest.importorskip("matplotlib")

from fyke.traces.picture import draw

PAIR = Topology.of([("a $x$", "日本 𝄞 with a very long name")])


def test_busy_idle_and_strangely_named(tmp_path: Path):
    a, b = PAIR.brokers
    busy = summarize(
        [
            Told(0.0, a, "c", "Publish", "e"),
            Sent(0.0, a, b, "Publish", "e", 10),
            Sent(0.0, b, a, "Publish", "e", 10),
            Delivered(1.0, b, "d", "e", ("s",)),
        ],
        PAIR,
    )
    draw(PAIR, {"busy": busy, "idle": summarize([], PAIR)}, tmp_path / "o.png")
    assert (tmp_path / "o.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("overlay", [random_tree(1), random_tree(140), cwix()])
def test_overlays_of_any_size_and_shape(tmp_path: Path, overlay: Topology):
    runs = {f"run {at}": summarize([], overlay) for at in range(4)}
    draw(overlay, runs, tmp_path / "o.png")
    assert (tmp_path / "o.png").stat().st_size > 1_000


def test_where_it_cannot_be_written(tmp_path: Path):
    with pytest.raises(FykeError, match="No such file"):
        draw(PAIR, {"idle": summarize([], PAIR)}, tmp_path / "nowhere" / "o.png")
