"""Boxes: closed, within the cube, with the power laws and the ring lengths of S2S."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.filters.predicate import TypeIs
from fyke.testing.workload import check_workload
from fyke.workloads.boxes import ONE, BoxesWorkload, power_law

BOXES = BoxesWorkload(seed=7)


def test_laws() -> None:
    check_workload(BOXES, BoxesWorkload(seed=8))


@given(
    seed=st.integers(0, 2**64),
    number=st.integers(0, 2**40),
    attributes=st.integers(1, 16),
    interest=st.sampled_from(["power_law", "uniform"]),
)
def test_boxes_are_closed_and_in_the_cube(
    seed: int, number: int, attributes: int, interest: str
) -> None:
    work = BoxesWorkload(seed, attributes, interest, typed=False)
    box = work.box(number)
    assert len(box) == attributes
    assert all(0 <= low <= high <= 1 for low, high in box)
    for corner in (0, 1):
        point = {f"a{at}": side[corner] for at, side in enumerate(box, 1)}
        assert work.filter(number).matches(point)
    assert work.filter(number) == fyke.parse(work.text(number))
    typed = BoxesWorkload(seed, attributes, interest)
    assert typed.filter(number) == TypeIs("Point") & work.filter(number)


def sides(work: BoxesWorkload, count: int) -> np.ndarray:
    return np.array([work.box(number) for number in range(count)])


@pytest.mark.parametrize("interest", ["power_law", "uniform"])
def test_widths_and_centres_follow_their_laws(interest: str) -> None:
    ends = sides(BoxesWorkload(7, interest=interest), 3_000)
    low, high = ends[..., 0].ravel(), ends[..., 1].ravel()
    for share in (0.1, 0.25, 0.5):  # cutting concerns wide boxes
        assert np.mean(high - low <= share**4) == pytest.approx(share, abs=0.02)
    assert 0.1 < np.mean(high - low) < 0.2
    centres = ((high + low) / 2)[high - low < 0.001]
    spread = np.mean(abs(centres - 0.5))
    assert spread == pytest.approx(0.5 / 2.75 if interest == "power_law" else 0.25, abs=0.015)
    assert np.mean(centres) == pytest.approx(0.5, abs=0.02)


def matches(work: BoxesWorkload, boxes: int, events: int) -> np.ndarray:
    """How many boxes each event falls into."""
    ends = sides(work, boxes)
    points = np.column_stack([np.asarray(column) for column in work.columns(events).columns[1:]])
    inside = np.ones((events, boxes), dtype=bool)
    for at in range(work.attributes):
        values = points[:, at, None]
        inside &= (ends[:, at, 0] <= values) & (values <= ends[:, at, 1])
    return inside.sum(axis=1)


def test_ring_lengths_are_the_paper_s() -> None:
    """S2S-E3, at 10,000 subscribers: 2 to 246 of three attributes; 2 or 3 of five."""
    three = matches(BOXES, boxes=10_000, events=3_000)
    assert 4e-3 < three.mean() / 10_000 < 8e-3
    three = three[three >= 2]
    assert three.min() <= 4
    assert 190 <= three.max() <= 300
    five = matches(BoxesWorkload(7, attributes=5), boxes=10_000, events=3_000)
    assert np.median(five[five >= 2]) <= 3


def test_laws_are_tables_of_whole_roots() -> None:
    widths = power_law(ONE, 4, 1)
    assert widths.starts[0] == 0
    assert widths.starts[512] == ONE // 16
    assert widths.starts[-1] + widths.widths[-1] == ONE + 1
    offsets = power_law(500_000, 7, 4)
    assert offsets.starts[512] == int(500_000 * 0.5**1.75)
    assert list(offsets.starts) == sorted(offsets.starts)


def test_peers_are_their_own() -> None:
    assert [one.subscriber for one in BOXES.subscriptions(3)] == ["peer-0", "peer-1", "peer-2"]


def test_rows_stay_what_they_are() -> None:
    """Numbers that others recorded with a seed must keep their meaning."""
    assert BOXES.event(1).attributes == {
        **{"type": "Point", "a1": 0.739652, "a2": 0.898402, "a3": 0.09534}
    }
    assert BOXES.text(7) == (
        "type is Point and a1 between 0.649944 and 0.649961 and a2 between 0.487655 and 0.513252"
        " and a3 between 0.916312 and 0.934978"
    )
