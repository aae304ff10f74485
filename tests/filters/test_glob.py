"""Patterns: matching against a regular expression, covering against enumeration, folding."""

from __future__ import annotations

import itertools
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.filters.glob import (
    ONE,
    Glob,
    case_variants,
    covers,
    fold,
    from_like,
    glob,
    is_caseless,
    matcher,
    overlap,
    to_like,
)

patterns = st.lists(st.text(["a", "b", ONE], max_size=3), min_size=1, max_size=4).map(glob)
WORDS = ["".join(word) for size in range(7) for word in itertools.product("abc", repeat=size)]


def language(pattern: Glob) -> set[str]:
    accepts = matcher(pattern)
    return {word for word in WORDS if accepts(word)}


@given(patterns, st.text("abc", max_size=8))
def test_matching_agrees_with_a_regular_expression(pattern: Glob, text: str) -> None:
    expression = ".*".join(
        "".join("." if char == ONE else char for char in segment) for segment in pattern.segments
    )
    assert matcher(pattern)(text) == (re.fullmatch(expression, text, re.DOTALL) is not None)


@given(patterns, patterns)
def test_covering_and_overlap_agree_with_enumeration(wide: Glob, narrow: Glob) -> None:
    """The words have a letter that no pattern mentions and are longer than any pattern here is."""
    wide, narrow = Glob(wide.segments[:3]), Glob(narrow.segments[:2])
    claimed = covers(wide, narrow, wide_folds=False, narrow_folds=False)
    included = language(narrow) <= language(wide)
    assert included or not claimed
    if len("".join(narrow.segments)) <= 4:  # longer words than are listed cannot tell more
        assert claimed == included
    if not overlap(wide, narrow):
        assert not language(wide) & language(narrow)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("OT%", "OTE", True),
        ("m%t", "microsoft", True),
        ("m%t", "micronet", True),
        ("N%SE", "NY%SE", True),
        ("NY%SE", "N%SE", False),
        ("%x%", "x%", True),
        ("%x%", "%ax%b", True),
        ("ab%bc", "abc", False),
        ("_%", "%_", True),
        ("%_", "a%", True),
        ("__%", "a%", False),
        ("%_%", "%a", True),
        ("a%a", "a", False),
        ("%", "", True),
        ("%a_%", "%ab%", True),
        ("%a_%", "%a%", False),
    ],
)
def test_covering_examples(wide: str, narrow: str, expected: bool) -> None:
    claimed = covers(from_like(wide), from_like(narrow), wide_folds=False, narrow_folds=False)
    assert claimed is expected


def test_covering_across_cases() -> None:
    def claimed(wide: str, wide_folds: bool, narrow: str, narrow_folds: bool) -> bool:
        fold_if = {True: Glob.folded, False: lambda pattern: pattern}
        return covers(
            fold_if[wide_folds](from_like(wide)),
            fold_if[narrow_folds](from_like(narrow)),
            wide_folds=wide_folds,
            narrow_folds=narrow_folds,
        )

    assert claimed("ab%", True, "Ab%", False)
    assert claimed("AB%", True, "abC%", True)
    assert not claimed("ab%", False, "ab%", True)
    assert claimed("1-%", False, "1-2%", True)


def test_long_hostile_patterns_end_quickly() -> None:
    wide = glob(["a" + ONE * 30] * 30)
    narrow = glob(["a" * 30] * 30)
    covers(wide, narrow, wide_folds=False, narrow_folds=False)
    overlap(wide, narrow)
    assert not matcher(glob(["", *["a" * 50 + "b"] * 20, ""]))("a" * 20_000)


@given(st.lists(st.text(max_size=3), min_size=1, max_size=4).map(glob))
def test_like_notation_round_trips(pattern: Glob) -> None:
    assert from_like(to_like(pattern)) == pattern


def test_folding_is_by_character_and_caseless_means_alone() -> None:
    """Over all of Unicode: lengths stay, folding is idempotent, the caseless have no twin."""
    folds: dict[str, list[str]] = {}
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code < 0xE000:
            continue
        char = chr(code)
        folded = fold(char)
        assert len(folded) == 1
        assert fold(folded) == folded
        if folded != char:
            folds.setdefault(folded, []).append(char)
    assert not any(is_caseless(folded) for folded in folds)
    for folded, twins in folds.items():
        assert set(case_variants(folded)) == {folded, *twins}
    assert not any(is_caseless(char) for twins in folds.values() for char in twins)
