"""Patterns: matching against a regular expression, covering against enumeration, folding."""

from __future__ import annotations

import itertools
import re
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.filters.texts.glob import (
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
from fyke.testing.generators import randoms
from fyke.testing.stories.reaching import examples, reached, reaches

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


ALPHABETS = ["aA1", "ⓐⒶ1", "kK\u212a", "sSſ", "ßẞs", "İiI", "ıiI", "𐐀𐐨𝒳", "Σσς", "åÅ\u212b"]
FOREIGN = "z"


def spoken(pattern: Glob, folds: bool, alphabet: str, length_max: int = 4) -> set[str]:
    """The words that a pattern accepts, over an alphabet and one letter more."""
    accepts = matcher(pattern)
    return {
        word
        for size in range(length_max + 1)
        for word in map("".join, itertools.product(alphabet + FOREIGN, repeat=size))
        if accepts(fold(word) if folds else word)
    }


def stretched(pattern: Glob, by: int) -> set[str]:
    """Longer words of a pattern: each star is nothing, or a stretch that only a star can hold."""
    texts = [segment.replace(ONE, FOREIGN) for segment in pattern.segments]
    return {
        texts[0] + "".join(star + text for star, text in zip(stars, texts[1:], strict=True))
        for stars in itertools.product(("", FOREIGN * by), repeat=len(texts) - 1)
    }


def short_pattern(rng: Random, alphabet: str) -> Glob:
    pieces = ["".join(rng.choices([*alphabet, ONE], k=rng.randint(0, 2))) for _ in range(3)]
    return glob(pieces[: rng.randint(1, 3)])


@reaches(covered=0.2, across=0.05, not_covered=0.3)
@examples(4)
@given(randoms())
def test_covering_agrees_with_enumeration_across_cases(rng: Random) -> None:
    """Letters with several twins, with longer ones and with none; case kept or ignored."""
    alphabet = rng.choice(ALPHABETS)
    narrow = short_pattern(rng, alphabet)
    wide = rng.choice((narrow, narrow.folded(), short_pattern(rng, alphabet)))
    if rng.random() < 0.3:
        wide = glob(["".join(ONE if rng.random() < 0.4 else c for c in s) for s in wide.segments])
    folds = wide_folds, narrow_folds = rng.random() < 0.5, rng.random() < 0.5
    wide = wide.folded() if wide_folds else wide
    narrow = narrow.folded() if narrow_folds else narrow
    claimed = covers(wide, narrow, wide_folds=wide_folds, narrow_folds=narrow_folds)
    included = spoken(narrow, narrow_folds, alphabet) <= spoken(wide, wide_folds, alphabet)
    accepts = matcher(wide)
    for word in stretched(narrow, by=1 + wide.length_min):
        included = included and accepts(fold(word) if wide_folds else word)
    reached(
        covered=claimed and not wide.accepts_all,
        across=claimed and not wide.accepts_all and wide_folds != narrow_folds,
        not_covered=not included,
    )
    assert included or not claimed, (wide, narrow, folds)
    if (wide_folds or not narrow_folds) and narrow.length_min <= 3:
        assert claimed or not included, (wide, narrow, folds)


@reaches(disjoint=0.25, shared=0.25)
@examples(0.5)
@given(randoms())
def test_overlap_of_folded_patterns_agrees_with_enumeration(rng: Random) -> None:
    alphabet = rng.choice(ALPHABETS)
    one, other = (short_pattern(rng, alphabet).folded() for _ in "ab")
    common = spoken(one, True, alphabet, 5) & spoken(other, True, alphabet, 5)
    reached(disjoint=not common, shared=bool(common))
    assert overlap(one, other) or not common
    if one.length_min + other.length_min <= 5:
        assert overlap(one, other) is bool(common), (one, other)


@examples(0.25)
@given(randoms())
def test_edges_and_shortest_words(rng: Random) -> None:
    pattern = short_pattern(rng, "aA1")
    words = spoken(pattern, False, "aA1", 6)
    assert min(map(len, words)) == pattern.length_min
    assert all(word.startswith(pattern.literal_prefix) for word in words)
    assert all(word.endswith(pattern.literal_suffix) for word in words)
    assert pattern.accepts_all is ("" in words and len(pattern.segments) > 1)


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
    assert not covers(wide, narrow, wide_folds=False, narrow_folds=False)
    overlap(wide, narrow)
    assert not matcher(glob(["", *["a" * 50 + "b"] * 20, ""]))("a" * 20_000)


@pytest.mark.parametrize("limit", ["_AUTOMATON_STATES_MAX", "_COVERING_WORK_MAX"])
def test_a_budget_ends_on_the_safe_side(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is true is no longer proved, and nothing else is claimed, however small the budget."""
    pairs = [("%a_%", "%ab%"), ("_%", "%_a"), ("%a_%", "%a%"), ("a%", "b%"), ("%_b", "a%b")]
    patterns = [(from_like(wide), from_like(narrow)) for wide, narrow in pairs]

    def claims() -> list[tuple[bool, bool]]:
        return [
            (covers(*pair, wide_folds=False, narrow_folds=False), not overlap(*pair))
            for pair in patterns
        ]

    truth = claims()
    for budget in (0, 1, 2, 5, 20, 100):
        monkeypatch.setattr(f"fyke.filters.texts.glob.{limit}", budget)
        for claimed, true in zip(claims(), truth, strict=True):
            assert claimed[0] <= true[0] and claimed[1] <= true[1]


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
