"""Which filters the compiled engine tries on every event, as lint says and as the engine does."""

from __future__ import annotations

import pytest
from hypothesis import given

import fyke
from fyke.filters.algebra.necessary import necessary
from fyke.filters.filter import Filter
from fyke.matching.linting import FEW, Guards
from fyke.matching.matcher import Matcher
from fyke.testing.generators import filters
from fyke.testing.stories.reaching import reached, reaches

NINE = " or ".join(f"a{number} = 1" for number in range(9))


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("a = 1", True),
        ("a like '%x%' or b = 1", True),
        ("a > 1 and not b = 2", True),
        ("not a = 1", False),
        (NINE, False),
        (f"({NINE}) and c = 1", True),
        ("false", True),
    ],
)
def test_as_the_engine_says(text: str, guarded: bool) -> None:
    filter = fyke.parse(text)
    assert Guards()(filter) is guarded
    fyke.warm()
    matcher = Matcher()
    matcher.add("s", filter)
    matcher.match({"a": 1})
    assert matcher.stats().unguarded == (not guarded)


@reaches(needed=0.4)
@given(filters())
def test_what_needs_few_is_guarded(filter: Filter) -> None:
    if any(len(need.alternatives) <= FEW for need in necessary(filter)):
        reached(needed=True)
        assert Guards().boxing.is_guarded(filter)
