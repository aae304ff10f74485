"""The examples of every property follow from the seed of the run and its name, counted or not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fyke.testing.stories.reaching import reached, reaches
from tests.conftest import SEED


@settings(max_examples=2)
@given(st.integers())
def test_a_property_has_a_seed_of_its_own(number):
    assert test_a_property_has_a_seed_of_its_own._hypothesis_internal_use_seed.startswith(SEED)


@reaches(run=1)
@settings(max_examples=2)
@given(st.integers())
def test_so_has_one_that_counts(number):
    reached(run=True)
    seed = test_so_has_one_that_counts.counted._hypothesis_internal_use_seed
    assert seed == f"{SEED} tests/test_seeds.py::test_so_has_one_that_counts"
