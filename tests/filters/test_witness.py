"""A witness is an event that the filter accepts; it refutes coverings and nothing else."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

import fyke
from fyke.filters.algebra import subsumption
from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.witness import witness
from fyke.filters.analysis import analyse
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.testing.generators import filters, randoms
from fyke.testing.related import family, schema
from fyke.testing.stories.reaching import reached, reaches


@pytest.mark.parametrize(
    "text",
    [
        "a = 1 and (b > 5 or c like 'x%')",
        "a between 3 and 4 and not a = 3",
        "a > 'm' and b < 'n' and exists c",
        "a contains 'x' and a contains 'y'",
        "a matches '[0-9]+' or b = 1",
        "a in cidr '10.0.0.0/8' and type is Stock",
        "at > timestamp '2026-01-01' and at < timestamp '2026-02-01'",
        "not (a = 1 or not exists b)",
        "a like '_b%' and a ilike '%C'",
        "a > 0.1 and a < 0.2 and b != 'x'",
        "not a = 1",
        "true",
    ],
)
def test_common_filters_have_one(text: str) -> None:
    filter = fyke.parse(text)
    event = witness(filter)
    assert event is not None
    assert filter.matches(event)


@pytest.mark.parametrize("text", ["false", "a = 1 and not a = 1", "a matches '^[0-9]+$'"])
def test_others_have_none(text: str) -> None:
    assert witness(fyke.parse(text)) is None


@reaches(found=0.5)
@given(filters())
def test_the_filter_accepts_it(filter: Filter) -> None:
    event = witness(filter)
    if event is not None:
        reached(found=True)
        assert filter.matches(event)


def test_under_a_schema_it_fits() -> None:
    single = fyke.Schema.from_document({"attributes": {"a": {"domain": "string"}}})
    filter = fyke.parse("a contains 'x' and a contains 'y'", schema=single)
    assert witness(filter, single) is None
    event = witness(fyke.parse("a contains 'x'", schema=single), single)
    assert event is not None
    assert single.validate(event) == event


@reaches(refuted=0.3)
@given(randoms())
def test_what_refuses_it_does_not_cover(rng: Random) -> None:
    taken = family(rng, size=4)
    known = schema(rng, taken)
    for narrow in taken:
        event = witness(narrow, known)
        for wide in taken:
            if event is not None and not wide.matches(event):
                reached(refuted=True)
                assert not covers(wide, narrow, schema=known)


def test_lint_finds_the_same_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a < 5", "a < 3 and b = 1", "b = 1 and a < 3", "not c = 1", "not (c = 1 or d = 2)"]
    texts += ["a like 'x%'", "a like 'xy%' and b matches '[0-9]'", "b matches '[0-9]' or e = 1"]
    given_ = [Subscription(text, fyke.parse(text)) for text in texts]
    quick = analyse(given_)
    monkeypatch.setattr("fyke.filters.analysis.witness", lambda filter, schema: None)
    monkeypatch.setattr(subsumption, "witness", lambda filter, schema: None)
    assert analyse(given_) == quick
    assert len(quick.findings) == 6
