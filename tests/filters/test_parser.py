"""The native language: what it reads, and what it says about what it cannot read."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

import fyke
from fyke.events.value import parse_timestamp
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.comparison import Compare
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction, negation
from fyke.filters.residual import Residual
from fyke.filters.texts.glob import ONE, Glob
from fyke.limits import DEPTH_CEILING, Limits
from fyke.testing.generators import filters, randoms
from fyke.testing.related import family
from fyke.testing.stories.reaching import examples, reached, reaches

READ = {
    "a = 1": p.equals("a", 1),
    "a = 1.0": p.equals("a", 1),
    "a = true": p.equals("a", True),
    "a = -0.0": p.equals("a", 0),
    "a = 9007199254740993": p.equals("a", 2**53 + 1),
    "a is null": p.equals("a", None),
    "a is not null": p.NotIn("a", (None,)),
    "a <> 'x'": p.NotIn("a", ("x",)),
    "a in (2, 1, 2)": p.In("a", (1, 2)),
    "a not in ('x', null)": p.NotIn("a", ("x", None)),
    "a < 5": p.Range("a", None, 5, high_open=True),
    "a between 1 exclusive and 5": p.Range("a", 1, 5, low_open=True),
    "a like 'N%SE'": t.Like("a", Glob(("N", "SE"))),
    "a like 'x'": p.equals("a", "x"),
    r"a like '100\%'": p.equals("a", "100%"),
    "a like 'OT%'": t.starts_with("a", "OT"),
    "a starts with 'OT'": t.Like("a", Glob(("OT", ""))),
    "a like '%_b'": t.Like("a", Glob((ONE, "b"))),
    "a ilike 'Ab%'": t.Like("a", Glob(("ab", "")), ignore_case=True),
    "a ilike '12%'": t.starts_with("a", "12"),
    "a contains 'it''s'": t.contains("a", "it's"),
    "a matches '^x+$'": t.Matches("a", "^x+$"),
    "a in cidr '10.1.2.3/8'": t.in_network("a", "10.0.0.0/8"),
    "exists a.b": p.Exists("a.b"),
    "missing a": negation(p.Exists("a")),
    "a is missing": negation(p.Exists("a")),
    "a is not missing": p.Exists("a"),
    "type is Stock": p.TypeIs("Stock"),
    "type is 'com.example.Stock tick'": p.TypeIs("com.example.Stock tick"),
    "type = 'Stock'": p.equals("type", "Stock"),
    "type is null": p.equals("type", None),
    "a = b": Compare("a", "=", "b"),
    "a = timestamp": Compare("a", "=", "timestamp"),
    "a > timestamp '2024-01-02' - interval '1 day'": p.compare(
        "a", ">", parse_timestamp("2024-01-01")
    ),
    "a < interval '1 day 2 hours'": p.compare("a", "<", 93_600),
    '"weird name"."x""y" = 1': p.equals('weird name.x"y', 1),
    '"null" = 1': p.equals("null", 1),
    "TRUE": TRUE,
    "not true": FALSE,
    "not not a = 1": p.equals("a", 1),
    "(a = 1 and b = 2) and c = 3": conjunction(
        p.equals(n, v) for n, v in (("a", 1), ("b", 2), ("c", 3))
    ),
    "residual cesql 'id = ''x'''": Residual("cesql", "id = 'x'"),
}


@pytest.mark.parametrize("text", READ)
def test_reads(text: str) -> None:
    filter = fyke.parse(text)
    assert filter == READ[text]
    assert fyke.parse(str(filter)) == filter


def test_and_binds_tighter_than_or_and_not_tightest() -> None:
    assert fyke.parse("a = 1 or b = 2 and not c = 3 or d = 4") == fyke.parse(
        "a = 1 or (b = 2 and (not c = 3)) or d = 4"
    )


def test_booleans_and_numbers_are_different_filters() -> None:
    assert fyke.parse("a = true") != fyke.parse("a = 1")
    assert fyke.parse("a in (true, 1)").key() == ("a", (1, True), (2, 1))


REFUSED = [
    ("", 0, "predicate"),
    ("a", 1, "comparison"),
    ("a =", 3, "a number"),
    ("a = 1 and", 9, "predicate"),
    ("(a = 1", 6, ")"),
    ("a = 1)", 5, "end of the filter"),
    ("a = 1 b = 2", 6, "and, or"),
    ("a ~ 1", 2, None),
    ("a = 'x", 4, "closing"),
    ("a = 12abc", 4, "number"),
    ("a > true", 4, "timestamp"),
    ("a > null", 4, "timestamp"),
    ("a = 1e-325", 4, None),
    ("a = 1e999", 4, None),
    ("a = NaN and", 11, "predicate"),
    ("a between 1 and 'x'", 10, "two numbers"),
    ("a between null and 1", 10, "two numbers"),
    ("a in ()", 6, "a number"),
    ("a in (1", 7, ")"),
    ("a not like 'x'", 6, "in"),
    ("a matches '('", 10, "RE2"),
    ("a matches '(?=x)'", 10, "RE2"),
    (r"a like 'x\'", 7, None),
    ("a in cidr '10.0.0.0/99'", 10, "CIDR"),
    ("a starts 'x'", 9, "with"),
    ("a = timestamp 'yesterday'", 14, None),
    ("a < interval '1 fortnight'", 13, None),
    ("null = 1", 0, "double quotes"),
    ("type is", 7, "type"),
    ("a is 5", 5, "null"),
    ("exists 5", 7, "attribute"),
    ("residual nowhere 'x'", 17, "one of"),
    ("residual cesql 'id ='", 15, None),
]


@pytest.mark.parametrize(("text", "position", "expected"), REFUSED, ids=[r[0] for r in REFUSED])
def test_refuses_with_position_and_expectation(
    text: str, position: int, expected: str | None
) -> None:
    with pytest.raises(fyke.FilterError) as refused:
        fyke.parse(text)
    error = refused.value
    assert error.position == position
    if expected is not None:
        assert expected in str(error)
    assert str(error).splitlines()[-1] == "  " + " " * position + "^"


def test_patterns_with_wildcards_are_bounded() -> None:
    fyke.parse("a like '_" + "x" * 9_000 + "'").matches({"a": "x"})
    fyke.parse("a like '" + "_" * 100 + "'").matches({"a": "x"})
    for pattern in ("_" + "x" * 900_000, "_" * 101):
        with pytest.raises(fyke.FilterError, match="too large"):
            fyke.parse(f"a like '{pattern}'")


def test_settings_cannot_exhaust_the_stack() -> None:
    with pytest.raises(fyke.FykeError, match="at most"):
        Limits(depth_max=100_000)
    with pytest.raises(fyke.FykeError, match="positive"):
        Limits(nodes_max=0)
    deepest = Limits(depth_max=DEPTH_CEILING)
    fyke.parse("(" * DEPTH_CEILING + "a = 1" + ")" * DEPTH_CEILING, limits=deepest)


def test_refuses_lone_surrogates() -> None:
    with pytest.raises(fyke.FilterError, match="surrogate"):
        fyke.parse("a = '\ud800'")


@pytest.mark.parametrize(
    ("text", "limits", "said"),
    [
        ("a = 1", Limits(text_length_max=4), "4"),
        ("(" * 101 + "a = 1" + ")" * 101, Limits(), "deeper than 100"),
        ("(" * 10_000, Limits(), "deeper than 100"),
        ("not " * 10_000 + "a = 1", Limits(), "deeper than 100"),
        (" and ".join(["a = 1"] * 11), Limits(nodes_max=10), "10"),
        (f"a in ({', '.join('1' * 11)})", Limits(list_size_max=10), "10"),
    ],
)
def test_limits(text: str, limits: Limits, said: str) -> None:
    with pytest.raises(fyke.FilterError, match=said):
        fyke.parse(text, limits=limits)


@given(filters())
def test_prints_what_it_reads(filter: Filter) -> None:
    text = str(filter)
    again = fyke.parse(text)
    assert again == filter
    assert str(again) == text
    assert hash(again) == hash(filter)


@reaches(told_apart=0.7)
@examples(1.5)
@given(randoms())
def test_texts_tell_filters_apart(rng: Random) -> None:
    """Relatives differ in a bound, a case, an end: each has a text of its own, and comes back."""
    relatives = family(rng, size=6)
    for filter in relatives:
        again = fyke.parse(str(filter))
        assert again == filter
        assert str(again) == str(filter)
    texts = {str(filter) for filter in relatives}
    reached(told_apart=len(texts) > 3)
    assert len(texts) == len(set(relatives))


NAMES = ["a", "a.b", "a-b", "a b", "A", "a.", ".a", "", ".", "a..b", "1", "a1", 'x"y', "it's", "é"]
NAMES += ["and", "NOT", "In", "null", "type", "timestamp", "a.and", "and.a", "ⓐ", "𝒳", "a\nb", "%"]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_comes_back(name: str) -> None:
    text = t.contains(name, "\\%_'\"\n")
    for filter in (p.Exists(name), p.equals(name, name), Compare(name, "<", "a"), text):
        assert fyke.parse(str(filter)) == filter
    assert fyke.parse(str(p.TypeIs(name))) == p.TypeIs(name)


NUMBERS = [0, -1, 1.5, -1.5, -0.0, 0.1, 2**53 + 1, 2**63 - 1, -(2**63), 1e22, -1e22, 1e-7, 5e-324]


@pytest.mark.parametrize("number", [*NUMBERS, 1.7976931348623157e308, 2251799813685248.5])
def test_every_number_comes_back_exactly(number: float) -> None:
    for filter in (p.equals("a", number), p.Range("a", number, None), p.NotIn("a", (number, 7))):
        again = fyke.parse(str(filter))
        assert again == filter
        assert again.matches({"a": number}) is filter.matches({"a": number})
    assert fyke.parse(f"a = {number!r}").matches({"a": number})


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a like '%x%'", "a contains 'x'"),
        ("a like 'x%'", "a starts with 'x'"),
        ("a like '%x'", "a ends with 'x'"),
        ("a like '%'", "a like '%'"),
        ("a ilike 'X%'", "a ilike 'x%'"),
        ("a like 'x_'", "a like 'x_'"),
        ("a <= 1.0", "a <= 1"),
        ("a between 1.0 and 2.50", "a between 1 and 2.5"),
        ("a in ('b', null, 2, 1.0, true)", "a in (null, true, 1, 2, 'b')"),
        ("a not in (1)", "a != 1"),
        ("not (a = 1 and (b = 2 or not c = 3))", "not (a = 1 and (b = 2 or not c = 3))"),
    ],
)
def test_the_canonical_text(text: str, canonical: str) -> None:
    assert str(fyke.parse(text)) == canonical
    assert str(fyke.parse(canonical)) == canonical


# --- what was probably meant ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant", "right"),
    [
        ("a == 1", "=", "a = 1"),
        ("a === 'x'", "=", "a = 'x'"),
        ("a=1&&b=2", "and", "a=1 and b=2"),
        ("a = 1 || b = 2", "or", "a = 1 or b = 2"),
        ("!exists a", "not", "not exists a"),
        ("a => 3", ">=", "a >= 3"),
        ("a =< 3", "<=", "a <= 3"),
        ("a =~ 'x'", "matches", "a matches 'x'"),
        ("a ~ 'x'", "matches", "a matches 'x'"),
        ("a startsWith 'x'", "starts with", "a starts with 'x'"),
        ("a STARTSWITH 'x'", "starts with", "a starts with 'x'"),
        ("a ends_with 'x'", "ends with", "a ends with 'x'"),
        ("startsWith(a, 'x')", "starts with", "a starts with 'x'"),
        ("b = 1 and a.endswith('x')", "ends with", "b = 1 and a ends with 'x'"),
        ("regexp(a, 'x')", "matches", "a matches 'x'"),
        ("a in [1, 2]", "(", "a in (1, 2)"),
        ("a regexp 'x'", "matches", "a matches 'x'"),
        ("a isnull", "is null", "a is null"),
        ("a ge 3", ">=", "a >= 3"),
        ('a LIKE "x"', "'x'", "a LIKE 'x'"),
        ('a contains "it\'s"', "'it''s'", "a contains 'it''s'"),
        ("a in (\"A\", 'B')", "'A'", "a in ('A', 'B')"),
        ("a between \"x\" and 'y'", "'x'", "a between 'x' and 'y'"),
    ],
)
def test_errors_offer_what_was_probably_meant(text: str, meant: str, right: str) -> None:
    """What is offered can be read."""
    with pytest.raises(fyke.FilterError) as refused:
        fyke.parse(text)
    assert refused.value.meant == meant
    assert f"did you mean `{meant}`?" in str(refused.value)
    fyke.parse(right)


@pytest.mark.parametrize(
    "text", ["a", "a <", "exists 5", "a = 1 b = 2", "a ? 1", "(a = 1", "a is 5"]
)
def test_errors_offer_nothing_where_nothing_comes_to_mind(text: str) -> None:
    with pytest.raises(fyke.FilterError) as refused:
        fyke.parse(text)
    assert refused.value.meant is None
    assert "did you mean" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('detail."b"', "detail.b"),
        ('detail.state."x y".more', "detail.state.x y.more"),
        ('"x y".detail', "x y.detail"),
        ('d."e"', "d.e"),
    ],
)
def test_a_path_may_be_quoted_in_part(text: str, name: str) -> None:
    assert fyke.parse(f"exists {text}") == p.Exists(name)
    assert fyke.parse(f"a < {text}") == Compare("a", "<", name)
