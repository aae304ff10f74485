"""Sigma: values, modifiers, conditions, and the compiled trees against a direct interpreter."""

from __future__ import annotations

import base64
import json
import re
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from random import Random
from time import perf_counter
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fyke.errors import FilterError
from fyke.events.event import Event
from fyke.filters.algebra.weakening import indexable
from fyke.filters.dialects import parse
from fyke.filters.dialects.sigma import LogSource, SigmaRule, document, rule
from fyke.filters.filter import And, Filter, walk
from fyke.filters.predicate import Exists, In, NotIn, TypeIs
from fyke.filters.residual import Residual, check
from fyke.filters.text_predicate import InNetwork, Like
from fyke.filters.texts.glob import fold
from fyke.filters.texts.wording import wording
from fyke.limits import Limits
from fyke.testing.covering import check_covers
from fyke.testing.generators import randoms
from fyke.testing.stories.reaching import examples, reached, reaches


def compiled(condition: str | list[str] = "selection", **detections: object) -> Filter:
    return parse({"detection": {**detections, "condition": condition}}, "sigma")


def item(key: str, value: object) -> Filter:
    return compiled(selection={key: value})


def accepts(key: str, value: object, **event: object) -> bool:
    """Whether an item accepts an event, by the tree; its text and its residuals must agree."""
    filter = item(key, value)
    assert parse(str(filter)) == filter
    found = filter.matches(event)
    assert indexable(filter).matches(event) or not found
    return found


def residuals(filter: Filter) -> list[Residual]:
    return [node for node in walk(filter) if isinstance(node, Residual)]


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [4688, "4688", 4688.0, ["x", 4688], [None, "4688"]])
@pytest.mark.parametrize("asked", [4688, "4688", 4688.0])
def test_a_number_and_its_text_are_one_value(asked: object, held: object) -> None:
    assert accepts("EventID", asked, EventID=held)


@pytest.mark.parametrize("held", [4689, "04688", "4688.0", "46880", True, None, [], [[4689]], ""])
def test_another_text_is_another_value(held: object) -> None:
    assert not accepts("EventID", 4688, EventID=held)
    assert not accepts("EventID", 4688)


def test_numbers_in_a_list_are_one_set_without_residuals() -> None:
    assert item("EventID", [1, 2]) == In("EventID", (1, 2, "1", "2"))


@pytest.mark.parametrize("number", [2**53 + 1, -(2**63), 1e300, 5e-324, 0.1, -1.5])
def test_numbers_are_exact(number: float) -> None:
    assert accepts("n", number, n=number)
    assert accepts("n", repr(number), n=number)
    assert not accepts("n", number, n=2**53)


def test_minus_zero_is_zero() -> None:
    assert accepts("n", 0, n=-0.0)
    assert accepts("n", -0.0, n="0")


@pytest.mark.parametrize("held", [True, "true", "TRUE", [False, "True"]])
def test_booleans_and_their_text(held: object) -> None:
    assert accepts("Signed", True, Signed=held)
    assert accepts("Signed", "true", Signed=held)
    assert not accepts("Signed", 1, Signed=True)
    assert not accepts("Signed", True, Signed=1)


def test_null_is_null_or_missing() -> None:
    assert accepts("a", None)
    assert accepts("a", None, a=None)
    assert accepts("a", None, a=["x", None])
    assert not accepts("a", None, a="")
    assert not accepts("a", None, a=[])
    assert accepts("a", [None, "x"], a="X")


def test_the_empty_string_is_only_itself() -> None:
    assert accepts("a", "", a="")
    assert not accepts("a", "")
    assert not accepts("a", "", a=None)


def test_text_ignores_case_by_simple_folding() -> None:
    assert accepts("a", "Straße", a="STRAßE")
    assert not accepts("a", "straße", a="STRASSE")
    assert accepts("a", "k", a="\N{KELVIN SIGN}")
    assert not accepts("a|cased", "Abc", a="abc")
    assert accepts("a|cased|contains", "Ab", a="xAby")


@pytest.mark.parametrize(
    ("written", "text", "fits"),
    [
        (r"a*c", "abbbc", True),
        (r"a*c", "ab", False),
        (r"a?c", "abc", True),
        (r"a?c", "ac", False),
        (r"a\*c", "a*c", True),
        (r"a\*c", "abc", False),
        (r"a\?c", "a?c", True),
        (r"a\?c", "abc", False),
        (r"C:\Windows", r"C:\Windows", True),
        (r"C:\\Windows", r"C:\Windows", True),
        (r"C:\\Windows", r"C:\\Windows", False),
        (r"a\\*", r"a\bc", True),
        (r"a\\*", r"a*", False),
        (r"a\\\*", r"a\*", True),
        (r"a\\\*", r"a\b", False),
        (r"a\\\b", r"a\\b", True),
        (r"a\\\\b", r"a\\b", True),
        ("a\\", "a\\", True),
        (r"\\\\*\share", r"\\host\share", True),
        ("a*", "a\nb", True),
    ],
)
def test_wildcards_and_escapes(written: str, text: str, fits: bool) -> None:
    assert accepts("f", written, f=text) is fits


def test_an_empty_list_is_null() -> None:
    for key in ("a", "a|cased", "a|all", "a|expand"):
        assert item(key, []) == item("a", None)
    assert item("a|neq", []) == item("a|neq", None)
    assert shows("a", "[]", None)


def test_a_star_alone_is_any_value_but_null() -> None:
    assert item("a", "*") == NotIn("a", (None,))
    assert item("a|contains", "") == NotIn("a", (None,))


# --- the text that a rule shows -------------------------------------------------------------------


def shows(key: str, scalar: str, held: object) -> bool:
    """Whether an item whose value stands in YAML as `scalar` accepts a field's value."""
    filter = parse(f"detection: {{s: {{'{key}': {scalar}}}, condition: s}}", "sigma")
    assert parse(str(filter)) == filter
    found = filter.matches({"a": held})
    assert indexable(filter).matches({"a": held}) or not found
    return found


@pytest.mark.parametrize(
    ("key", "scalar", "held", "expected"),
    [
        ("a|contains", "1.0", "Mozilla 41", False),
        ("a|contains", "1.0", "TLS 1.0 used", True),
        ("a|contains", "0x17", "-0X17-", True),
        ("a|contains", "0x17", "x23", False),
        ("a|contains", "yes", "YES!", True),
        ("a|contains", "yes", "true", False),
        ("a|contains", "010", "x010", True),
        ("a|contains", "010", "8", False),
        ("a|contains", "80", 8080, True),
        ("a|contains", "1.5", 21.5, True),
        ("a|endswith", "5.0", "x5", False),
        ("a|endswith", "5.0", "x5.0", True),
        ("a|startswith", "1_0", "1_0x", True),
        ("a|windash", "-0x1", "/0x1", True),
        ("a|windash", "-0x1", -1, False),
        ("a|re", "1.0", "1x0", True),
        ("a|base64", "007", base64.b64encode(b"007").decode(), True),
        ("a|contains|all", "[1.0, on]", "1.0 is on", True),
        ("a|contains|all", "[1.0, on]", "1 is true", False),
        ("a|contains|expand", "0x17", "0x17", True),
        ("|contains", "0x17", "-0x17-", True),
        ("|all", "[0x17, no]", "no 0x17", True),
        ("|all", "[0x17]", "23", False),
        ("", "1.10", "v1.10", True),
        ("", "1.10", 1.1, False),
        ("a|gt", "0x10", 17, True),
        ("a|gt", "0x10", 16, False),
        ("a|gt", "0x10", "17", True),
        ("a|exists", "yes", 1, True),
    ],
)
def test_text_is_looked_for_as_it_is_written(
    key: str, scalar: str, held: object, expected: bool
) -> None:
    assert shows(key, scalar, held) is expected


@pytest.mark.parametrize(
    ("scalar", "accepted", "refused"),
    [
        ("0xc000006d", ["0xC000006D", 0xC000006D, str(0xC000006D)], ["c000006d", "0x"]),
        ("10.0", ["10.0", 10, "10"], ["10.00", "1.0"]),
        ("1.10", ["1.10", 1.1, "1.1"], ["1.100", 1.01]),
        ("no", ["NO", False, "false"], [0, "n", "off", None]),
        ("007", ["007", 7, "7"], ["07"]),
        ("010", ["010", 8, "8"], [10, "10"]),
        ("12:30:45", ["12:30:45", 45045, "45045"], ["12:30"]),
        ("4688", ["4688", 4688, 4688.0], ["4688.0", "04688"]),
        ("'0x10'", ["0X10"], [16, "16"]),
        ("'no'", ["no"], [False, "false"]),
        ("!!str 1.0", ["1.0"], [1, "1"]),
    ],
)
def test_a_value_equals_its_written_text_too(
    scalar: str, accepted: list[object], refused: list[object]
) -> None:
    for held in accepted:
        assert shows("a", scalar, held)
        assert shows("a", f"[x, {scalar}]", ["y", held])
        assert not shows("a|neq", scalar, held)
    for held in refused:
        assert not shows("a", scalar, held)
        assert shows("a|neq", scalar, held)


def test_written_text_stays_indexable() -> None:
    def compiled_yaml(scalar: str) -> Filter:
        return parse(f"detection: {{s: {{a: {scalar}}}, condition: s}}", "sigma")

    assert compiled_yaml("[1.10, 007]") == In("a", (1.1, 7, "1.1", "1.10", "7", "007"))
    assert compiled_yaml("0x1f") == parse("a in (31, '31') or a ilike '0x1f'")
    assert not residuals(compiled_yaml("no"))
    assert not shows("a|cased", "0xAF", "0xaf")
    assert shows("a|cased", "0xAF", "0xAF")


def test_a_parsed_float_equals_its_text_with_a_point() -> None:
    assert accepts("Version", 10.0, Version="10.0")
    assert accepts("Version", 10.0, Version=10)
    assert not accepts("Version", 10, Version="10.0")


@given(
    st.sampled_from(["", "|cased", "|contains", "|endswith", "|windash", "|neq", "|all"]),
    st.sampled_from(["1.0", "0x8", "010", "yes", "Off", "1_0", "8", "-0.0", "1.50", "1:20"]),
    st.sampled_from(
        ["", "1.0", 1, "x0x8", 8, "010", "YES", "no", True, False, None, 10, "-0.0", 0]
    ),
)
def test_written_scalars_mean_what_the_interpreter_says(
    modifiers: str, scalar: str, held: object
) -> None:
    names = modifiers.split("|")
    texts: list[object] = [scalar]
    if not {"contains", "endswith", "windash"} & {*names}:
        texts.append(yaml.safe_load(scalar))
    positive = [name for name in names if name not in ("neq", "all")]
    found = any(value_holds(held, text, positive) for text in texts)
    assert shows("a" + modifiers, scalar, held) is (found is not ("neq" in names))


# --- modifiers ------------------------------------------------------------------------------------


def test_contains_startswith_endswith() -> None:
    assert accepts("a|contains", "OWER", a="PowerShell")
    assert accepts("a|startswith", "power", a="PowerShell")
    assert accepts("a|endswith", "shell", a="PowerShell")
    assert not accepts("a|startswith", "shell", a="PowerShell")
    assert not accepts("a|endswith", "power", a="PowerShell")
    assert accepts("a|contains", "p*s?ell", a="xPowerShellx")
    assert accepts("a|endswith", "\\", a="C:\\")


def test_text_modifiers_see_numbers_as_text() -> None:
    assert accepts("Port|startswith", "80", Port=8080)
    assert accepts("Port|contains", 80, Port=[1, 18025])
    assert not accepts("Port|endswith", "81", Port=8080)
    assert accepts("Port|re", "^80[0-9]+$", Port=8080)
    assert accepts("Flag|contains", "ru", Flag=True)
    assert accepts("at|startswith", "2024-01", at=datetime(2024, 1, 5, tzinfo=UTC))
    assert accepts("at|re", "^2024-.*Z$", at=datetime(2024, 1, 5, tzinfo=UTC))
    assert accepts("at", "2024-01-05T00:00:00z", at=datetime(2024, 1, 5, tzinfo=UTC))
    assert not residuals(item("Image|endswith", "\\cmd.exe"))


def test_all() -> None:
    assert accepts("a|contains|all", ["x", "y"], a="y-x")
    assert accepts("a|all|contains", ["x", "y"], a=["x", "y"])
    assert not accepts("a|contains|all", ["x", "y"], a="x")
    assert accepts("a|contains|all", "x", a="x")


def test_regular_expressions() -> None:
    assert accepts("a|re", "b+", a="abbc")
    assert not accepts("a|re", "B+", a="abbc")
    assert accepts("a|re|i", "B+", a="abbc")
    assert not accepts("a|re", "a.c", a="a\nc")
    assert accepts("a|re|s", "a.c", a="a\nc")
    assert not accepts("a|re", "^b$", a="a\nb\nc")
    assert accepts("a|re|m", "^b$", a="a\nb\nc")
    assert accepts("a|re|i|m|s", "^B.C$", a="a\nb\nc")
    assert accepts("a|re|startswith", "b|a", a="ac")
    assert not accepts("a|re|startswith", "b|c", a="ac")
    assert not accepts("a|re|endswith", "a|b", a="ac")
    assert accepts("a|re", r"C:\\x\*", a="C:\\x*")


@pytest.mark.parametrize(
    ("expression", "text", "found"),
    [
        (r"a\Z", "xa", True),
        (r"a\Z", "xa\n", True),
        (r"a\Z", "xa\n\n", False),
        (r"a\Z", "ab", False),
        (r"(a\Z|b)", "a\n", True),
        (r"\\Z", r"C:\Z", True),
        (r"\Qa\Z\E", r"a\Z!", True),
        (r"\Qa\h", r"a\h", True),
        (r"\Q\E\h", r"\h", False),
        (r"a\hb", "a\tb", True),
        (r"a\h+b", "a \u00a0b", True),
        (r"a\hb", "a\nb", False),
        (r"a\\hb", r"a\hb", True),
        (r"^[\h-z]$", "-", True),
        (r"^[\h-z]$", "z", True),
        (r"^[\h-z]$", "b", False),
        (r"^[^\h]$", " ", False),
        (r"^[-\h]$", "-", True),
        (r"^[]\h]+\h$", "] ]\t", True),
        (r"^[[:alpha:]\h]+$", "a b", True),
        (r"^[[:alpha:]\h]+$", "a]b", False),
        (r"^\u0041\u00e9$", "Aé", True),
        (r"^[\u0061-\u0063]$", "b", True),
        (r"^[\u0061-\u0063]$", "d", False),
        (r"\\u0041", r"\u0041", True),
        (r"^\u0038\u0030", "80", True),
    ],
)
def test_what_pcre_says_otherwise_than_re2(expression: str, text: str, found: bool) -> None:
    assert accepts("a|re", expression, a=text) is found
    assert accepts("a|re|i|s", expression, a=text) is found
    if text.isdigit():
        assert accepts("a|re", expression, a=int(text)) is found
    assert compiled("k", k={"|re": expression}).matches({"x": text}) is found


def test_rewriting_is_linear() -> None:
    began = perf_counter()
    for text in ("[", "[:", "\\h", "\\Q", "[\\h", "\\Z)", "\\u00"):
        with suppress(FilterError):
            item("a|re", r"\h" + text * (100_000 // len(text)))
    assert perf_counter() - began < 10


@pytest.mark.parametrize(
    "expression", [r"(?=a)b", r"(a)\1", "(", "a{99999}", r"a\Z\n", r"[a-\h]", r"\u12", r"[\Z]"]
)
def test_what_re2_refuses_is_refused_by_name(expression: str) -> None:
    with pytest.raises(FilterError, match="RE2 refuses") as refused:
        item("a|re", expression)
    assert "selection" in str(refused.value)
    assert "a|re" in str(refused.value)


def test_cidr() -> None:
    assert accepts("ip|cidr", ["10.0.0.0/8", "2001:db8::/32"], ip="10.1.2.3")
    assert accepts("ip|cidr", ["10.0.0.0/8", "2001:db8::/32"], ip="2001:DB8::1")
    assert not accepts("ip|cidr", "10.0.0.0/8", ip="11.1.2.3")
    assert not accepts("ip|cidr", "10.0.0.0/8", ip="none")
    assert isinstance(item("ip|cidr", "10.0.0.0/8"), InNetwork)


def test_exists() -> None:
    assert item("a|exists", True) == Exists("a")
    assert accepts("a|exists", True, a=None)
    assert accepts("a|exists", False, b=1)
    assert not accepts("a|exists", False, a=[])


def test_comparisons_read_numbers_and_strings_that_spell_them() -> None:
    assert accepts("n|gt", 5, n=6)
    assert accepts("n|gt", 5, n="6")
    assert accepts("n|gt", 5, n="5.5e0")
    assert accepts("n|lt", 5, n="-9" + "9" * 5000)
    assert accepts("n|lte", 5, n=5)
    assert accepts("n|gte", 2**53 + 1, n=2**53 + 1)
    assert not accepts("n|gte", 2**53 + 1, n=2**53)
    assert not accepts("n|gte", 2**53 + 1, n=str(2**53))
    assert not accepts("n|gt", 5, n="six")
    assert not accepts("n|gt", 5, n="6\n")
    assert not accepts("n|lt", 5, n=True)
    assert not accepts("n|lt", 5, n=None)
    assert not accepts("n|lt", 5)
    assert accepts("n|lt", "5", n=1)


def test_neq_negates_the_item() -> None:
    assert accepts("a|neq", "x", a="y")
    assert accepts("a|neq", "x")
    assert not accepts("a|neq", ["x", "y"], a="X")
    assert accepts("a|contains|all|neq", ["x", "y"], a="x")
    assert accepts("a|fieldref|neq", "b", a="x", b="y")


def test_parts_of_dates() -> None:
    moment = datetime(2026, 4, 17, 5, 24, 53, tzinfo=UTC)
    for part, number in {"minute": 24, "hour": 5, "day": 17, "week": 16, "month": 4}.items():
        assert accepts(f"at|{part}", number, at=moment)
        assert accepts(f"at|{part}", [0, number], at="2026-04-17 05:24:53.079")
        assert not accepts(f"at|{part}", number + 1, at=moment)
    assert accepts("at|year|gte", 2026, at="2026-04-17")
    assert accepts("at|hour|lt", 6, at="2026-04-17T07:00:00+02:00")
    assert not accepts("at|year", 2026, at="soon")
    assert not accepts("at|year", 2026, at=2026)
    assert not accepts("at|year", 2026, at="2026-99-99")


def test_fields_compared_with_fields() -> None:
    assert accepts("a|fieldref", "b", a="X", b="x")
    assert accepts("a|fieldref", "b", a=5, b="5")
    assert accepts("a|fieldref", "b", a=["1", "2"], b=[3, 2])
    assert not accepts("a|fieldref|cased", "b", a="X", b="x")
    assert not accepts("a|fieldref", "b", a="x")
    assert not accepts("a|fieldref", "b", a=None, b=None)
    assert not accepts("a|fieldref", "b", a=[], b=[])
    assert accepts("a|fieldref|startswith", "b", a="abc", b="AB")
    assert accepts("a|fieldref|endswith", "b", a=["x", "abc"], b="bc")
    assert accepts("a|fieldref|contains", "b", a="abc", b="b")
    assert not accepts("a|fieldref|contains", "b", a=["ab", "c"], b="bc")
    assert residuals(item("a|fieldref", "b"))[0].attributes == {"a", "b"}


def test_windash() -> None:
    for dash in "-/–—―":
        assert accepts("c|contains|windash", " -f", c=f"cmd {dash}F x")
        assert accepts("c|windash|contains", " /f", c=f"cmd {dash}F x")
    assert not accepts("c|contains|windash", " -f", c="cmd f")
    assert not accepts("c|windash", "a-b", c="a/b"), "only a dash that begins a word varies"
    assert not residuals(item("c|contains|windash", " -f"))


def test_windash_with_many_dashes_stays_small() -> None:
    filter = item("c|contains|windash", " -a -b -c -d -e -f -g*-h")
    assert len(list(walk(filter))) < 10
    assert accepts("c|contains|windash", " -a -b -c*-d", c="x /A –b ―c.exe —D y")
    assert not accepts("c|contains|windash", " -a -b -c*-d", c="x /A –b ―c.exe .D y")
    assert not accepts("c|cased|windash", "-a -b -c", c="/A -b -c")


def test_base64() -> None:
    assert accepts("c|base64", "foo", c=base64.b64encode(b"foo").decode())
    assert accepts("c|base64|contains", "foobar", c="x" + base64.b64encode(b"foobar").decode())
    wide = base64.b64encode("ping".encode("utf-16-le")).decode()
    assert accepts("c|wide|base64", "ping", c=wide)
    assert accepts("c|utf16le|base64", "ping", c=wide)
    big = base64.b64encode("pÏng".encode("utf-16-be")).decode()
    assert accepts("c|utf16be|base64|cased", "pÏng", c=big)
    marked = base64.b64encode(b"\xff\xfe" + "ping".encode("utf-16-le")).decode()
    assert accepts("c|utf16|base64", "ping", c=marked)
    assert accepts("c|base64", r"a\*b", c=base64.b64encode(b"a*b").decode())


@given(st.text(st.characters(codec="utf-8", exclude_characters="*?\\"), min_size=2, max_size=12))
def test_base64offset_finds_the_text_wherever_it_stands(text: str) -> None:
    for encoding, key in (("utf-8", "c|base64offset"), ("utf-16-le", "c|wide|base64offset")):
        filter = item(f"{key}|contains|cased", text)
        for before in (b"", b"x", b"xy", b"xyz"):
            data = before + text.encode(encoding) + b"tail"
            assert filter.matches({"c": base64.b64encode(data).decode()})


def test_wide_text_has_zeros_between() -> None:
    assert accepts("c|wide|contains", "ab", c="x\0a\0b\0y")
    assert accepts("c|utf16be|contains", "ab", c="x\0a\0b\0y")
    assert accepts("c|utf16|startswith", "ab", c="\ufeffa\0b\0c")


def test_expand() -> None:
    source = {"detection": {"s": {"user|expand|cased": r"x\%y%Admins%"}, "condition": "s"}}
    with pytest.raises(FilterError, match="%Admins%"):
        rule(source)
    filter = rule(source, placeholders={"Admins": ["root", "adm*"]}).filter
    assert filter.matches({"user": "x%yroot"})
    assert filter.matches({"user": "x%yadmin"})
    assert not filter.matches({"user": "x%y%Admins%"})
    assert accepts("user|expand", "plain", user="plain")
    assert accepts("user", "%Admins%", user="%admins%")


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("a|contain", "x", "'contain'"),
        ("a|", "x", "''"),
        ("a|i", "x", "modifier i"),
        ("a|base64|base64", "x", "base64 is given twice"),
        ("a|cidr|contains", "10.0.0.0/8", "contains"),
        ("a|re|base64", "x", "base64"),
        ("a|re|cidr", "x", "cidr"),
        ("a|exists", "maybe", "exists"),
        ("a|exists|all", 1, "exists"),
        ("a|gt", "x", "gt"),
        ("a|gt", True, "gt"),
        ("a|gt", None, "gt"),
        ("a|lt", "1e999", "lt"),
        ("a|hour", "x", "hour"),
        ("a|contains", None, "contains"),
        ("a|re", None, "re"),
        ("a|cidr", "10.0.0.0/99", "10.0.0.0/99"),
        ("a|base64", "x*", "base64"),
        ("a|contains|base64", "x", "base64"),
        ("a|base64offset", "x", "base64offset"),
        ("a|wide", "é", "UTF-16"),
        ("a|fieldref", "x*", "fieldref"),
        ("a|fieldref|startswith|endswith", "b", "startswith and endswith"),
        ("|exists", True, "exists"),
        ("|fieldref", "a", "fieldref"),
        ("|gt", 1, "gt"),
        ("|all", [None], "null"),
        ("a|contains", [], "empty"),
        ("a|exists", [], "empty"),
        ("|all", [], "empty"),
        ("a|contains", 1.0, "1.0"),
        ("a|endswith|cased", True, "True"),
        ("a|windash", False, "False"),
        ("a|re", 1.5, "1.5"),
        ("a|base64", True, "True"),
        ("a|fieldref", 1.5, "1.5"),
        ("", 2.5, "2.5"),
        ("", [True], "True"),
        ("a", {"b": 1}, "map"),
        ("a", [["b"]], "list"),
        ("a", float("nan"), "nan"),
        ("a", 2**63, "64 bits"),
        ("a", object(), "object"),
        ("a", "\ud800", "surrogate"),
    ],
)
def test_what_means_nothing_is_refused_by_name(key: str, value: object, named: str) -> None:
    with pytest.raises(FilterError, match=re.escape(named)):
        item(key, value)


# --- keywords -------------------------------------------------------------------------------------


def test_keywords_are_looked_for_in_all_values() -> None:
    filter = compiled("k", k=["Mimikatz", "lsa*dump", 4242])
    assert filter.matches({"x": {"y": ["-", "run MIMIKATZ now"]}})
    assert filter.matches({"x": "LSA::dump"})
    assert filter.matches({"x": 142420})
    assert not filter.matches({"mimikatz": "a name is no value"})
    assert not filter.matches({"x": ["lsa", "dump"]})
    assert len(residuals(filter)) == 1
    assert residuals(filter)[0].attributes is None


def test_keywords_with_modifiers() -> None:
    every = compiled("k", k={"|all": ["one", "two"]})
    assert every.matches({"a": "One", "b": "two"})
    assert not every.matches({"a": "one"})
    assert compiled("k", k={"|re": "^a+$"}).matches({"x": "aa"})
    assert compiled("k", k={"|cased": "Ab"}).matches({"x": "xAb"})
    assert not compiled("k", k={"|cased": "Ab"}).matches({"x": "xab"})
    assert not compiled("k", k={"|startswith": "b"}).matches({"x": "ab"})
    assert compiled("k", k={"|cidr": "10.0.0.0/8"}).matches({"x": "10.0.0.1"})
    assert compiled("k", k={"|neq": "b"}).matches({"x": "a"})
    assert compiled("k", k="alone").matches({"x": "I am ALONE"})
    assert compiled("k", k=["word", {"a": 1}, ["x", {"b": 2}]]).matches({"b": 2})


def test_the_rest_of_a_rule_with_keywords_stays_indexable() -> None:
    filter = compiled("s and k", s={"EventID": 1}, k=["x"])
    assert indexable(filter) == And((In("EventID", (1, "1")), parse("true")))


# --- detections and conditions --------------------------------------------------------------------


def test_maps_are_and_lists_are_or() -> None:
    filter = compiled(selection=[{"a": 1, "b": [2, 3]}, {"c": 4}])
    assert filter.matches({"a": 1, "b": 3})
    assert filter.matches({"c": 4})
    assert not filter.matches({"a": 1, "b": 4})


NAMED: dict[str, object] = {
    "sel_a": {"a": 1},
    "sel_b": {"b": 1},
    "filter": {"c": 1},
    "_hidden": {"d": 1},
}


@pytest.mark.parametrize(
    ("condition", "native"),
    [
        ("sel_a", "A"),
        ("sel_a and sel_b or filter", "A and B or C"),
        ("sel_a or sel_b and filter", "A or B and C"),
        ("not sel_a and sel_b", "not A and B"),
        ("not (sel_a and sel_b)", "not (A and B)"),
        ("not not sel_a", "A"),
        ("NOT sel_a OR sel_b", "not A or B"),
        ("1 of them", "A or B or C"),
        ("any of them", "A or B or C"),
        ("all of them", "A and B and C"),
        ("1 of sel_*", "A or B"),
        ("all of sel_* and not 1 of filter*", "A and B and not C"),
        ("all of *_b", "B"),
        ("1 of s*l*a", "A"),
        ("1 of sel_a", "A"),
        ("1 of sel", "A or B"),
        ("all of sel", "A and B"),
        ("all of filt", "C"),
        ("1 of _h", "D"),
        ("1 of _*", "D"),
        ("_hidden", "D"),
        (["sel_a", "sel_b"], "A or B"),
        ("((sel_a))", "A"),
    ],
)
def test_conditions(condition: Any, native: str) -> None:
    for letter in "ABCD":
        native = native.replace(letter, f"{letter.lower()} in (1, '1')")
    assert compiled(condition, **NAMED) == parse(native)


def test_detections_may_have_the_names_of_quantifiers() -> None:
    assert compiled("all and any", all={"a": 1}, any={"b": 1}).matches({"a": 1, "b": 1})


@pytest.mark.parametrize(
    ("condition", "named", "position"),
    [
        ("", "ends here", 0),
        ("sel_a and", "ends here", 9),
        ("sel_a sel_b", "'sel_b'", 6),
        ("sel_x", "'sel_x'", 0),
        ("(sel_a", "ends here", 6),
        ("sel_a)", "')'", 5),
        ("sel_a and or sel_b", "'or'", 10),
        ("2 of sel_*", "'2'", 0),
        ("1 of nothing*", "'nothing*'", 5),
        ("1 of hidden", "'hidden'", 5),
        ("1 of *el", "'*el'", 5),
        ("1 of", "ends here", 4),
        ("sel_a | count() by x > 5", "count() by x > 5", 6),
        ("sel_a | near sel_b", "near", 6),
        ("(" * 101 + "sel_a" + ")" * 101, "deeper than 100", 100),
    ],
    ids=lambda given: str(given)[:30],
)
def test_a_bad_condition_is_refused_with_its_position(
    condition: str, named: str, position: int
) -> None:
    with pytest.raises(FilterError, match=re.escape(named)) as refused:
        compiled(condition, **NAMED)
    assert refused.value.position == position


def test_timeframe_is_ignored() -> None:
    assert compiled("1 of them", timeframe="5m", s={"a": 1}) == In("a", (1, "1"))


def test_a_short_condition_cannot_make_a_huge_tree() -> None:
    many = {"a|contains": [f"v{number}" for number in range(1000)]}
    with pytest.raises(FilterError, match="more than 50000"):
        compiled(" or ".join(["s"] * 100), s=many)
    with pytest.raises(FilterError, match="more than 50000"):
        compiled(
            " or ".join(["1 of s*"] * 20_000), **{f"s{number}": {"a": 1} for number in range(9)}
        )


# --- rules ----------------------------------------------------------------------------------------

RULE = r"""
title: Example # a comment
id: 00000000-0000-0000-0000-000000000001
status: test
date: 2024-01-02
tags: [attack.execution, attack.t1059]
logsource: {category: process_creation, product: windows}
detection:
    selection:
        Image|endswith: '\cmd.exe'
        on: 'x'
        7: y
    condition: selection
level: high
"""


def test_a_rule_keeps_what_it_is_called() -> None:
    found = rule(RULE)
    assert found.id == "00000000-0000-0000-0000-000000000001"
    assert (found.title, found.status, found.level) == ("Example", "test", "high")
    assert found.tags == ("attack.execution", "attack.t1059")
    assert found.logsource == LogSource("process_creation", "windows")
    event = {"Image": "C:\\CMD.EXE", "on": "X", "7": "Y"}
    assert found.filter.matches(event)
    assert found.filter == parse(RULE, "sigma")


def metadata(text: str) -> SigmaRule:
    return rule(text + "\ndetection: {s: {a: 1}, condition: s}")


@pytest.mark.parametrize(
    "text",
    [
        "custom: 99999999999999999999999",
        "custom: [.nan, -.inf, !!int x, !!binary aGk=, !x {y: !z [1]}]",
        "custom: &c 99999999999999999999999\nother: *c",
        "custom: " + "1:" * 4000 + "1",
        "title: [x]\ntags: {x: y}\nid: {}\nlevel: []",
        "date: 2024-13-45\nauthor: ~\nreferences: {a: [1]}",
    ],
    ids=lambda given: str(given)[:30],
)
def test_metadata_refuses_no_rule(text: str) -> None:
    assert metadata(text).filter == In("a", (1, "1"))


def test_parsed_metadata_refuses_no_rule() -> None:
    detection = {"s": {"a": 1}, "condition": "s"}
    odd = [2**80, 10**5000, float("nan"), object(), b"x", "\ud800", {1.5: 1, None: 2, "1.5": 3}]
    found = rule({"custom": odd, "title": 2**80, 7.5: "x", "detection": detection})
    assert found.filter == In("a", (1, "1"))
    assert found.title == str(2**80)
    with pytest.raises(FilterError, match="64 bits"):
        rule({"detection": {"s": {"a": 2**80}, "condition": "s"}})


def test_metadata_is_kept_as_written() -> None:
    found = metadata("title: 1.10\nid: 99999999999999999999\nstatus: 007\ntags: x\nlevel: on")
    assert (found.title, found.id, found.status) == ("1.10", "9" * 20, "007")
    assert (found.tags, found.level) == (("x",), "on")
    assert metadata("tags: [1.0, ~, x]").tags == ("1.0", "x")
    assert metadata("tags:").tags == ()
    assert rule({"tags": "x", "detection": {"s": {"a": 1}, "condition": "s"}}).tags == ("x",)


@pytest.mark.parametrize("end", ["---", "---\n", "---\n# nothing\n", "...\n---\n---\n"])
def test_empty_documents_are_none(end: str) -> None:
    text = "detection: {s: {a: 1}, condition: s}\n"
    assert parse(text + end, "sigma") == parse(text, "sigma")
    assert parse("---\n---\n" + text, "sigma") == parse(text, "sigma")


def test_the_log_source_becomes_a_type_on_request() -> None:
    found = rule(RULE)
    assert found.typed_filter() == And((TypeIs("windows.process_creation"), *found.filter.children))
    source = LogSource("process_creation", "windows", "sysmon")
    assert source.type_name == "windows.process_creation.sysmon"
    event = Event(
        {"Image": "\\cmd.exe", "on": "x", "7": "y"},
        type=source.type_name,
        supertypes=source.supertypes,
    )
    assert found.typed_filter().matches(event)
    assert LogSource().type_name is None
    assert rule({"detection": {"s": {"a": 1}, "condition": "s"}}).typed_filter() == In(
        "a", (1, "1")
    )


def test_yaml_scalars() -> None:
    text = "detection: {s: {a: [0x10, yes, ~, 1.5, 2024-01-01, !!str 7]}, condition: s}"
    filter = parse(text, "sigma")
    for held in (16, True, None, "1.5", "2024-01-01", 7):
        assert filter.matches({"a": held})
    assert filter.matches({"a": "0X10"})
    assert not filter.matches({"a": "7.0"})


def test_yaml_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "_Loader", yaml.SafeLoader)
    assert parse(RULE, "sigma") == rule(RULE).filter
    for text in (
        "a: [}",
        'a: "\\ud800"',
        '"\\ud800": a',
        "detection: !!int x",
        "a: '\x01'",
        "[" * 5000,
        "\t",
    ):
        with pytest.raises(FilterError):
            parse(text, "sigma")


def test_aliases_are_read() -> None:
    text = "detection:\n  s: &s\n    a: &v [x, y]\n    b: *v\n  t: *s\n  condition: s and t"
    assert parse(text, "sigma").matches({"a": "x", "b": "Y"})


BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
)


@pytest.mark.parametrize(
    ("text", "named", "line"),
    [
        ("", "empty", None),
        ("just text", "not a rule", None),
        ("a: [}", "did not find", 1),
        ("title: x\n\tdetection: y", "line 2", 2),
        ("detection:\n  s: {a: 1, a: 2}", "twice", 2),
        ("a: 1\n---\nb: 2", "several documents", 2),
        ("a: *b", "", 1),
        ("a: &a [*a]", "alias", 1),
        ("detection: {a: !!python/object:os.system x}", "tag", 1),
        ("detection: {a: !!binary aGk=}", "tag", 1),
        ("detection: {a: !x {}}", "tag", 1),
        ("detection: {a: !!int x}", "not a value", 1),
        ("detection: {a: !!int ''}", "not a value", 1),
        ("detection: {a: 99999999999999999999}", "64 bits", 1),
        ("detection: [" + "1:" * 400_000 + "1]", "too long", 1),
        ("detection: {a: .nan}", "nan", 1),
        ("detection: {a: -.inf}", "inf", 1),
        ("<<: {a: 1}", "<<", 1),
        ("? [a]\n: b", "key", 1),
        ("a: &k b\n*k : c", "alias as a key", 2),
        ("a: '\x01'", "YAML", None),
        ('a: "\\ud800"', "line 1", 1),
        ('"\\ud800": a', "line 1", 1),
        ("a: '\ud800'", "surrogate", None),
        ("[" * 100_000, "deeper", 1),
        ("- " * 100_000, "deeper", 1),
        ("{a: " * 100_000, "deeper", 1),
        (BOMB, "more than", None),
        ("correlation: {type: event_count}", "correlation", None),
        ("filter: {rules: [x]}", "filter", None),
        ("action: global\ndetection: {}", "collection", None),
        ("title: x", "no detection", None),
        ("detection: {s: {a: 1}}", "condition", None),
        ("detection: {s: {a: 1}, condition: []}", "condition", None),
        ("detection: {s: {a: 1}, condition: 5}", "condition", None),
        ("detection: {s: {}, condition: s}", "empty map", None),
        ("detection: {s: [], condition: s}", "empty list", None),
        ("x: &x .nan\ndetection: {s: {a: *x}, condition: s}", "alias *x", 2),
        ("x: &x [!y {}]\ndetection: *x", "alias *x", 2),
        ("a: 1\n---\n---\n''", "several documents", 3),
        ("---\n---\n", "empty", None),
        ("logsource: {product: [x]}\ndetection: {s: {a: 1}, condition: s}", "product", None),
        ("logsource: x\ndetection: {s: {a: 1}, condition: s}", "logsource", None),
        ("x" * 1_000_001, "characters long", None),
    ],
    ids=lambda given: ascii(given)[:30],
)
def test_a_bad_rule_is_refused(text: str, named: str, line: int | None) -> None:
    with pytest.raises(FilterError) as refused:
        parse(text, "sigma")
    assert named.lower() in str(refused.value).lower()
    if line is not None:
        position = refused.value.position
        assert position is not None
        assert f"line {line}, column" in str(refused.value)
        assert text.count("\n", 0, position) == line - 1


def test_parsed_objects_are_checked_too() -> None:
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    for source in (None, 5, [], {"detection": deep}, {1.5: "x"}, {None: 1}, {"a": b"x"}):
        with pytest.raises(FilterError):
            parse(source, "sigma")
    cyclic: list[object] = []
    cyclic.append(cyclic)
    with pytest.raises(FilterError, match="deeper"):
        parse({"detection": {"s": cyclic, "condition": "s"}}, "sigma")
    with pytest.raises(FilterError, match="twice"):
        parse({"detection": {"s": {1: "x", "1": "y"}, "condition": "s"}}, "sigma")


def test_limits() -> None:
    source = {"detection": {"s": {"a": ["x", "y", "z"]}, "condition": "s"}}
    parse(source, "sigma", limits=Limits(list_size_max=3))
    with pytest.raises(FilterError, match="longer than 2"):
        parse(source, "sigma", limits=Limits(list_size_max=2))
    with pytest.raises(FilterError, match="more than 5"):
        parse(source, "sigma", limits=Limits(nodes_max=5))


@pytest.mark.parametrize("text", ["", "[", "[" * 5000, "5", "{}", '{"a": {}}', '{"a|x": 1}', "[1]"])
def test_a_residual_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(FilterError):
        check("sigma", text)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for source in (text, f"detection: {{s: {json.dumps(text)}, condition: s}}"):
        try:
            parse(source, "sigma")
        except FilterError as error:
            assert str(error)


# --- the trees against a direct interpreter -------------------------------------------------------

TEXTS = [
    "",
    "a",
    "A",
    "ab",
    "aB-",
    " -a",
    "/a",
    "–a",
    "8",
    "80",
    "1.5",
    "-1",
    "true",
    "é",
    "x*y",
    "\\",
]
PATTERNS = [
    *TEXTS,
    "*",
    "?",
    "a*",
    "*B*",
    "8*",
    "*0",
    "?8*",
    r"x\*y",
    "\\\\*",
    " -a -a -a",
    "-?",
    "t*E",
]
SCALARS = [None, True, False, 0, -0.0, 8, 80, 1.5, -1, 2**53 + 1, datetime(1980, 8, 8, tzinfo=UTC)]
FIELDS = ["a", "b", "c.d"]
KEYS = [
    "",
    "|contains",
    "|startswith",
    "|endswith",
    "|cased",
    "|contains|cased",
    "|windash",
    "|neq",
]
KEYS += [
    "|contains|windash",
    "|contains|all",
    "|all",
    "|endswith|all|neq",
    "|base64offset|contains",
]


def spelled_out(value: object) -> str:
    """The text of a scalar, for the interpreter."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    return json.dumps(value)


def as_expression(value: object, modifiers: list[str]) -> str:
    """A wildcard string as one of Python's regular expressions on folded text."""
    tokens = re.findall(r"\\[*?\\]|.", spelled_out(value), re.DOTALL)
    parts = [{"*": ".*", "?": "."}.get(token, re.escape(token[-1])) for token in tokens]
    if "windash" in modifiers:
        plain = "".join(token[-1] if token not in "*?" else "\0" for token in tokens)
        for found in re.finditer(r"(?<![^\W\0])[-/–—―](?=\w)", plain):
            parts[found.start()] = "[-/–—―]"
    if "cased" not in modifiers:
        parts = [fold(part) if not part.startswith("[") else part for part in parts]
    before = ".*" if {"contains", "endswith"} & {*modifiers} else ""
    after = ".*" if {"contains", "startswith"} & {*modifiers} else ""
    return before + "".join(parts) + after


def value_holds(held: object, value: object, modifiers: list[str]) -> bool:
    if held is None:
        return value is None
    if value is None:
        return False
    text = spelled_out(held)
    if "re" in modifiers:
        return re.search(str(value), text) is not None
    if "gt" in modifiers:
        try:
            return not isinstance(held, (bool, datetime)) and Decimal(text) > Decimal(str(value))
        except InvalidOperation:
            return False
    if "base64offset" in modifiers:
        raw = spelled_out(value).replace("\\*", "*").encode()
        whole = [base64.b64encode(b"_" * n + raw + b"_" * 3).decode() for n in range(3)]
        ends = [n + len(raw) for n in range(3)]
        stable = [
            whole[n][-(-n * 8 // 6) : ends[n] * 8 // 6 if ends[n] % 3 else None] for n in range(3)
        ]
        stable = [part[: (ends[n] * 8) // 6 - (-(-n * 8 // 6))] for n, part in enumerate(stable)]
        return any(fold(part) in fold(text) for part in stable)
    if "cased" not in modifiers:
        text = fold(text)
    return re.fullmatch(as_expression(value, modifiers), text, re.DOTALL) is not None


def item_holds(event: Event, key: str, given: object) -> bool:
    field, *modifiers = key.split("|")
    values = given if isinstance(given, list) else [given]
    linked = all if "all" in modifiers else any
    missing = field not in event.attributes
    held = event.attributes.get(field, ())
    held = held if isinstance(held, tuple) else (held,)
    if not field:
        everything = event.attributes.values()
        held = tuple(x for v in everything for x in (v if isinstance(v, tuple) else (v,)))
        modifiers.append("contains")
    found = linked(
        (value is None and missing) or any(value_holds(one, value, modifiers) for one in held)
        for value in values
    )
    return found is not ("neq" in modifiers)


def detection_holds(event: Event, detection: object) -> bool:
    if isinstance(detection, dict):
        return all(item_holds(event, key, given) for key, given in detection.items())
    if isinstance(detection, list):
        return any(detection_holds(event, element) for element in detection)
    return item_holds(event, "", detection)


def condition_holds(event: Event, node: Any, detections: dict[str, object]) -> bool:
    match node:
        case ("not", inner):
            return not condition_holds(event, inner, detections)
        case ("and" | "or" as operator, left, right):
            both = [condition_holds(event, side, detections) for side in (left, right)]
            return all(both) if operator == "and" else any(both)
        case ("of", quantifier, prefix):
            chosen = [
                detection_holds(event, detection)
                for name, detection in detections.items()
                if name.startswith(prefix) and not name.startswith("_")
            ]
            return all(chosen) if quantifier == "all" else any(chosen)
    return detection_holds(event, detections[node])


def written(node: Any) -> str:
    match node:
        case ("not", inner):
            return f"not {written(inner)}"
        case ("and" | "or" as operator, left, right):
            return f"({written(left)} {operator} {written(right)})"
        case ("of", quantifier, prefix):
            return f"{quantifier} of {prefix + '*' if prefix else 'them'}"
    return str(node)


values = st.sampled_from([*PATTERNS, *(s for s in SCALARS if not isinstance(s, datetime))])
keywords = st.sampled_from(["a", "B", "8", "1980", "x*", "zz"])


@st.composite
def items(draw: st.DrawFn) -> tuple[str, object]:
    field = draw(st.sampled_from(FIELDS))
    special = draw(st.sampled_from(["re", "gt", "plain", "plain", "plain"]))
    if special == "re":
        return f"{field}|re", draw(st.sampled_from(["^a", "8", "[a-z]+$", "^-?1", "e", "T0"]))
    if special == "gt":
        return f"{field}|gt", draw(st.sampled_from([0, 1.5, -3, 2**53]))
    modifiers = draw(st.sampled_from(KEYS))
    if modifiers == "|base64offset|contains":
        return field + modifiers, draw(st.sampled_from(["ab", "aB-", "true", r"x\*y"]))
    strings = st.sampled_from([*PATTERNS, 8, -1])
    one = values if modifiers in ("", "|cased", "|all", "|neq") else strings
    return field + modifiers, draw(st.one_of(one, st.lists(one, min_size=1, max_size=3)))


maps = st.lists(items(), min_size=1, max_size=2).map(dict)
detections = st.one_of(
    maps, maps, st.lists(maps, min_size=1, max_size=2), st.lists(keywords, min_size=1, max_size=2)
)
leaves = st.sampled_from(
    ["s1", "s2", "_f", ("of", "1", ""), ("of", "all", "s"), ("of", "any", "s1"), ("of", "all", "")]
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner), st.tuples(st.sampled_from(["and", "or"]), inner, inner)
    ),
    max_leaves=4,
)
held = st.sampled_from(
    [*TEXTS, *SCALARS, "x/A –a ―a", "YWI=", "xdHJ1ZQ", "1980", "A\nb", "zZ", "10", " /A -a ―a"]
)
documents = st.dictionaries(
    st.sampled_from(FIELDS), st.one_of(held, held, st.lists(held, max_size=3)), max_size=3
)


@given(
    st.fixed_dictionaries({"s1": detections, "s2": detections, "_f": detections}),
    conditions,
    st.lists(documents, min_size=1, max_size=8),
)
def test_trees_mean_what_the_interpreter_says(
    named: dict[str, object], condition: object, found: list[dict[str, object]]
) -> None:
    filter = compiled(written(condition), **named)

    def interpreted(event: Event) -> bool:
        return condition_holds(event, condition, named)

    events = [Event(document) for document in found]
    for event in events:
        assert filter.matches(event) == interpreted(event), (filter, event)
    check_covers(indexable(filter), interpreted, events)
    assert parse(str(filter)) == filter


@given(items(), documents)
def test_items_mean_what_the_interpreter_says(
    pair: tuple[str, object], document: dict[str, object]
) -> None:
    event = Event(document)
    assert item(*pair).matches(event) == item_holds(event, *pair)


NUMBERS = [
    *(0, -0.0, 7, -12, 1.5, -1.5, 0.1, 100.25, 2**53 + 1, 2**63 - 1, -(2**63), 1e16, 1e22),
    *(-1e22, 1.5e300, 1e-7, -2.5e-10, 5e-324, 1.7976931348623157e308),
]
WORDED = [
    *NUMBERS,
    *(True, False, "e+22", "1E+22", "TRUE", "ⓐⒶ", "ßẞ", "ſKs", "İı", ""),
    *(datetime(1980, 8, 8, tzinfo=UTC), datetime(2024, 12, 31, 23, 59, 59, 120_000, tzinfo=UTC)),
]


def piece_of(rng: Random, text: str) -> str:
    """A part of a text as a rule would write it: in another case, some characters left open."""
    start = rng.randint(0, len(text))
    part = text[start : rng.randint(start, len(text))] if rng.random() < 0.7 else text
    part = rng.choice((str, str.upper, str.lower, str.swapcase))(part)
    written_ = ["\\" + char if char in "*?\\" else char for char in part]
    return "".join(rng.choice("?*") if rng.random() < 0.1 else char for char in written_)


@reaches(found=0.3, numbers=0.1, not_found=0.1)
@examples(3)
@given(randoms())
def test_the_text_of_a_value_is_found_whatever_its_kind(rng: Random) -> None:
    """Numbers, booleans and timestamps are searched as text, by the tree and by what it indexes."""
    held, other = rng.choice(WORDED), rng.choice(WORDED)
    value = piece_of(rng, spelled_out(held))
    modifiers = rng.choice(["", "|contains", "|contains", "|startswith", "|endswith", "|cased"])
    modifiers += rng.choice(["", "", "|cased"]) if modifiers not in ("", "|cased") else ""
    filter = item("a" + modifiers, value)
    events = [Event({"a": each}) for each in (held, other, [other, held], [None], [])]
    wanted = [item_holds(event, "a" + modifiers, value) for event in events]
    reached(
        found=wanted[0] and value != "",
        numbers=wanted[0] and value != "" and type(held) in (int, float),
        not_found=not wanted[0],
    )
    assert [filter.matches(event) for event in events] == wanted, (modifiers, value, held, other)
    check_covers(indexable(filter), filter, events)


def test_ignoring_case_is_a_pattern_that_ignores_case() -> None:
    assert isinstance(item("a", "x"), Like)


# --- needles --------------------------------------------------------------------------------------

WORDS = st.one_of(
    st.text("aAbß*?\\İıK5.-", min_size=1, max_size=5),
    st.sampled_from(["*", "?", "**", "true", "1.5", "2024", "日本", "\U0001f600", "STRASSE"]),
    st.integers(-3, 20),
    st.sampled_from([1.5, 1e300, True, False]),
)
HELD = st.one_of(
    WORDS,
    st.none(),
    st.text("aAbß5.-İıK", max_size=8),
    st.sampled_from([datetime(2024, 1, 1, tzinfo=UTC), "straße", "X日本y", "is TRUE", -0.0]),
)


@given(
    modifier=st.sampled_from(["", "|all", "|contains", "|contains|all", "|startswith", "|cased"]),
    words=st.lists(WORDS, min_size=1, max_size=3),
    held=st.lists(st.one_of(HELD, st.lists(HELD, max_size=3)), max_size=3),
    data=st.data(),
)
def test_every_event_with_a_keyword_has_a_needle(
    modifier: str, words: list[object], held: list[object], data: st.DataObject
) -> None:
    """Needles guard keywords: an event without any of them is never accepted."""
    try:
        keywords = check("sigma", json.dumps({modifier: words}))
    except FilterError:
        return
    needles = keywords.needles  # type: ignore[attr-defined]
    if needles is None:
        return
    texts = [word.replace("*", "z").replace("?", "y") for word in words if isinstance(word, str)]
    planted = data.draw(st.lists(st.sampled_from([*texts, *words]), max_size=3))
    event = Event({f"f{place}": value for place, value in enumerate([*held, *planted, planted])})
    if keywords(event):
        assert any(needle in wording(event) for needle in needles)


@pytest.mark.parametrize(
    ("words", "event", "needle"),
    [
        ({"": ["Mimikatz"]}, {"a": "run MIMIKATZ now"}, "mimikatz"),
        ({"": ["x*longer?y"]}, {"a": ["-", "Xq LONGERzY"]}, "longer"),
        ({"|all": ["ab", "cde"]}, {"a": "AB", "b": "cde"}, "ab"),
        ({"": [4688]}, {"a": {"b": 4688}}, "4688"),
    ],
)
def test_needles(words: object, event: dict[str, object], needle: str) -> None:
    keywords = check("sigma", json.dumps(words))
    assert needle in keywords.needles  # type: ignore[attr-defined]
    assert keywords(Event(event))
    assert needle in wording(Event(event))


@pytest.mark.parametrize(
    "words", [{"": ["*", "abc"]}, {"|neq": ["abc"]}, {"": ["??"]}, {"|all": ["?", "*"]}]
)
def test_no_needles_where_anything_will_do(words: object) -> None:
    assert check("sigma", json.dumps(words)).needles is None  # type: ignore[attr-defined]
