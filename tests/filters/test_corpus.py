"""Every case of the corpus, by the reference semantics, and again after printing and parsing."""

from __future__ import annotations

from pathlib import Path

import pytest

import fyke
from fyke.filters.dialects import DIALECTS
from fyke.testing.corpus import Case, load

CASES = list(load(Path(__file__).parent.parent / "corpus"))


@pytest.mark.parametrize("case", CASES, ids=[f"{case.dialect}: {case.name}" for case in CASES])
def test_case(case: Case) -> None:
    filter = fyke.parse(case.filter, dialect=case.dialect, schema=case.declared())
    assert filter.matches(case.read()) is case.expected
    again = fyke.parse(str(filter))
    assert again == filter
    assert again.matches(case.read()) is case.expected


def test_names_are_unique_and_every_dialect_has_cases() -> None:
    names = [(case.dialect, case.name) for case in CASES]
    assert len(set(names)) == len(names)
    assert {case.dialect for case in CASES} == set(DIALECTS)
