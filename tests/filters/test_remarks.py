"""Filters that probably mean something else: what is remarked on, what is offered, and what not."""

from __future__ import annotations

import warnings

import pytest

import fyke
from fyke.events.domain import Real, String
from fyke.events.schema import Attribute, EventType, Schema
from fyke.filters.remarks import may_be_quoted, remarks
from fyke.matching.filter_reader import REMARKED_MAX

SCHEMA = Schema(
    [Attribute("symbol", String()), Attribute("price", Real()), Attribute("detail-type", String())],
    [EventType("Stock", [Attribute("volume", Real())])],
)


def offers(text: str, schema: Schema | None = None) -> list[str]:
    return [each.meant for each in remarks(fyke.parse(text), schema)]


@pytest.mark.parametrize("operator", ["=", "!=", "<>", "<", "<=", ">", ">="])
def test_a_string_in_double_quotes_is_offered_in_single_ones(operator: str) -> None:
    for space in ("", " ", "\n"):
        text = f'symbol {operator}{space}"A"'
        assert may_be_quoted(text)
        assert offers(text) == ["'A'"]
    (remark,) = remarks(fyke.parse(f'symbol {operator} "it\'s ""so"""'))
    assert remark.is_quoted
    assert remark.meant == "'it''s \"so\"'"
    assert "compares two attributes; did you mean" in str(remark)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a = b", []),
        ("\"a\" = 'b'", []),
        ('"a" = b', []),
        ('a = detail."b"', []),
        ('a = "b"."c"', []),
        ("a = 'b' and c = 1", []),
        ('exists "a" and "a" like \'=\'', []),
        ('a = 1 and not (b = "x" or c < "y")', ["'x'", "'y'"]),
        ('a = "x" and b = 1 or a = "x" and c = 1', ["'x'"]),
    ],
)
def test_only_a_quoted_name_on_the_right_is_a_slip(text: str, meant: list[str]) -> None:
    assert offers(text) == meant
    assert may_be_quoted(text) or not meant


def test_quotes_say_nothing_about_what_a_filter_is() -> None:
    quoted, bare = fyke.parse('a = "b"'), fyke.parse("a = b")
    assert quoted == bare
    assert hash(quoted) == hash(bare)
    assert str(quoted) == str(bare) == "a = b"


def test_a_schema_that_declares_both_attributes_settles_it() -> None:
    assert offers('symbol = "detail-type"', SCHEMA) == []
    assert offers('symbol = "detail-kind"', SCHEMA) == ["'detail-kind'"]
    assert offers('name = "symbol"', SCHEMA) == ["'symbol'"]
    assert offers('symbol = "detail-typ"', SCHEMA) == ["detail-type"], "a name after all"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("prise < 5", ["price"]),
        ("exists prcie", ["price"]),
        ("not Symbol like 'A%'", ["symbol"]),
        ("price < volum", ["volume"]),
        ("type is Stokc", ["Stock"]),
        ("type = 'stock'", ["Stock"]),
        ("type not in ('Stocks', 'Bond')", ["Stock"]),
        ("type is Stock and price < 5 and volume > 3", []),
        ("type is Bond and yield > 3", []),
        ("id = '1' and source = 'x' and exists time", []),
        ("prise < 5 and prise > 3", ["price"]),
    ],
)
def test_names_that_are_one_letter_away_from_declared_ones(text: str, meant: list[str]) -> None:
    assert offers(text, SCHEMA) == meant
    assert offers(text) == []


def test_the_envelope_needs_no_declaration() -> None:
    near = Schema([Attribute("ids", String()), Attribute("times", String())])
    assert offers("id = 'x' and exists time", near) == []


# --- the matcher ----------------------------------------------------------------------------------


def test_adding_warns_once_for_each_text_where_it_was_called() -> None:
    matcher = fyke.Matcher("scan")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        matcher.add("a", 'symbol = "A"')
        matcher.add("b", 'symbol = "A"')
        matcher.add_many([("c", 'symbol = "C" and x < "y"'), ("d", 'symbol = "A"')])
        matcher.replace("d", 'symbol = "D"')
        matcher.add("e", "symbol = 'A' and a = b")
    assert [each.category for each in caught] == [fyke.FilterWarning] * 3
    assert all(each.filename == __file__ for each in caught)
    assert "did you mean `'A'`?" in str(caught[0].message)
    assert "did you mean `'y'`?" in str(caught[1].message)
    assert len(matcher) == 5, "a warning refuses nothing"


def test_a_warning_that_is_an_error_refuses_the_filter_each_time() -> None:
    matcher = fyke.Matcher("scan")
    with warnings.catch_warnings():
        warnings.simplefilter("error", fyke.FilterWarning)
        for _ in range(2):
            with pytest.raises(fyke.FilterWarning):
                matcher.add("a", 'symbol = "A"')
    assert "a" not in matcher


def test_a_matcher_with_a_schema_warns_of_misspelt_names() -> None:
    matcher = fyke.Matcher("scan", schema=SCHEMA)
    with pytest.warns(fyke.FilterWarning, match="'prise' is not declared; did you mean `price`"):
        matcher.add("a", "prise < 5")
    with pytest.warns(fyke.FilterWarning, match="did you mean `price`"):
        matcher.add("b", {"prise": [5]}, dialect="eventbridge")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matcher.add("c", 'symbol = "detail-type" and other = 1')


def test_other_languages_have_strings_in_double_quotes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matcher = fyke.Matcher("scan")
        matcher.add("a", 'symbol = "A"', dialect="cesql")
        matcher.add("b", '{"symbol": ["="]}', dialect="eventbridge")


def test_many_doubtful_filters_are_not_all_told() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fyke.Matcher("scan").add_many((str(n), f'symbol = "{n}"') for n in range(1_000))
    assert len(caught) == REMARKED_MAX
