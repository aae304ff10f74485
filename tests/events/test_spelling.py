"""A name that is one letter away from a known one is offered, and no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.events.spelling import nearest
from fyke.testing.stories.reaching import reached, reaches


def distance(one: str, other: str) -> int:
    """Letters added, dropped, changed or swapped with a neighbour: the textbook's table."""
    rows = [[max(i, j) for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            rows[i][j] = min(
                rows[i - 1][j] + 1,
                rows[i][j - 1] + 1,
                rows[i - 1][j - 1] + (a.lower() != b.lower()),
            )
            if i > 1 and j > 1 and one[i - 2 : i].lower() == other[j - 2 : j][::-1].lower():
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


names = st.text("abcA", min_size=3, max_size=6)


@st.composite
def slips(draw: st.DrawFn) -> tuple[str, str]:
    """A name, and the same after up to two slips."""
    name = draw(names)
    letters = list(name)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(letters) - 1))
        match draw(st.sampled_from(["add", "drop", "change", "swap"])):
            case "add":
                letters.insert(at, draw(st.sampled_from("abcB")))
            case "drop" if len(letters) > 3:
                del letters[at]
            case "change":
                letters[at] = draw(st.sampled_from("abcB"))
            case "swap":
                letters[at - 1 : at + 1] = letters[at - 1 : at + 1][::-1]
    return name, "".join(letters)


@reaches(near=0.4, far=0.1)
@given(st.one_of(slips(), slips(), st.tuples(names, names)))
def test_near_is_a_distance_of_one(pair: tuple[str, str]) -> None:
    one, other = pair
    near = distance(one, other) <= 1
    reached(near=near, far=not near)
    assert nearest(one, [other]) == (other if near else None)
    assert nearest(other, [one]) == (one if near else None)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("prise", "price"),
        ("pric", "price"),
        ("pricee", "price"),
        ("rpice", "price"),
        ("PRICE", "price"),
        ("Prise", "price"),
        ("detail.staet", "detail.state"),
        ("volumes", None),
        ("rpcie", None),
        ("x", None),
        ("ad", None),
        ("ID", "id"),
        ("", None),
    ],
)
def test_what_is_offered(name: str, meant: str | None) -> None:
    assert nearest(name, ["id", "y", "price", "detail.state", "vol"]) == meant


def test_case_alone_is_nearer_than_a_letter() -> None:
    assert nearest("Price", ["prices", "price"]) == "price"
