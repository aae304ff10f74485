"""What a regular expression requires: every text in which RE2 finds it holds that."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke.errors import FilterError
from fyke.filters.texts.glob import fold
from fyke.filters.texts.regular_expression import finder
from fyke.filters.texts.required_text import required_text


@pytest.mark.parametrize(
    ("pattern", "required"),
    [
        ("(?i)cmd\\.exe\\s+/c (whoami|ver)", "cmd"),
        ("powershell -enc", "powershell -enc"),
        ("abcd*efg", "abc"),
        ("abcd{0,1}efg", "abc"),
        ("xyz+abcd", "abcd"),
        ("abc|def", None),
        ("(abc|def)", None),
        ("(abc|def)ghi", "ghi"),
        ("[abc]def", "def"),
        ("[]abc]def", "def"),
        ("[[:alpha:]]def", "def"),
        ("[^\\]]def", "def"),
        ("\\Qabc(\\E", None),
        ("\\x41bcd", None),
        ("abc{def", None),
        ("ab", None),
        ("", None),
        ("ABC", "abc"),
    ],
)
def test_examples(pattern: str, required: str | None) -> None:
    assert required_text(pattern) == required


pieces = st.sampled_from(
    [
        *("abc", "ab", "bca", "a", "c", "B", "K", "S", " "),
        *("*", "+", "?", "??", "{2}", "{0,1}", "{,2}", "{1,}"),
        *("(", ")", "(?:", "(?i)", "(?P<n>", "|", "[ab]", "[^a]", "[]a]", "[[:alpha:]]", "[a\\]b]"),
        *("\\.", "\\s", "\\b", "\\\\", "\\Q", "\\E", "\\x41", "\\pL", ".", "^", "$", "{", "}", "]"),
    ]
)
texts = st.text(
    ["a", "b", "c", "A", "B", "K", "k", "\u212a", "\u017f", "s", " ", ".", "\\", "1"], max_size=12
)


@settings(max_examples=400)
@given(
    pattern=st.lists(pieces, min_size=1, max_size=7).map("".join), seen=st.lists(texts, min_size=6)
)
def test_what_is_required_is_there(pattern: str, seen: list[str]) -> None:
    required = required_text(pattern)
    try:
        is_found = finder(pattern)
    except FilterError:
        return
    for text in (*seen, *(pattern * times for times in range(3)), "abcabcab abc", "ABCabcBCA"):
        if required is not None and is_found(text):
            assert required in fold(text)
