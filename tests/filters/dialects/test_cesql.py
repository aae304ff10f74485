"""CESQL: values and errors case by case, and the law that the compiled filter means the same."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.algebra.weakening import indexable
from fyke.filters.dialects import cesql
from fyke.filters.dialects.cesql.parser import parse_text as read
from fyke.filters.dialects.cesql.syntax import to_text
from fyke.filters.filter import FALSE, TRUE, Filter, walk
from fyke.filters.language.parser import parse_text
from fyke.filters.residual import Residual
from fyke.limits import DEFAULT_LIMITS, DEPTH_CEILING, Limits
from fyke.testing.covering import check_covers
from fyke.testing.generators import randoms
from fyke.testing.stories.reaching import examples, reached, reaches

NOON = datetime(2024, 1, 31, 12, tzinfo=UTC)


def parse(text: str) -> Filter:
    return cesql.parse(text, DEFAULT_LIMITS)


def outcome(text: str, **attributes: object) -> tuple[object, str | None]:
    result = cesql.evaluate(text, attributes)
    return result.value, result.error


def is_true(text: str, event: Event) -> bool:
    result = cesql.evaluate(text, event)
    return result.error is None and result.value is True


# --- values and errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (True, True),
        (-10, -10),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("5-3", 2),
        ("5 -3", 2),
        ("- 5", -5),
        ("-TRUE", -1),
        ("2 * 3 - -1", 7),
        ("-2147483648", -2147483648),
        ("+0012", 12),
        ("'+5' + '-3'", 2),
        ("TRUE + TRUE", 2),
        ("1 < 2 = TRUE", True),
        ("1 + 1 LIKE '1'", 2),  # LIKE first: 1 + (1 LIKE '1')
        ("NOT TRUE = FALSE", True),  # NOT first
        ("TRUE OR TRUE AND FALSE", False),  # from the left
        ("FALSE AND TRUE OR TRUE", True),
        ("TRUE XOR TRUE XOR TRUE", True),
        ("10 AND TRUE", True),
        ("0 OR '' = ''", True),
        ("1 = TRUE", True),
        ("TRUE = 1", True),
        ("2 = TRUE", True),
        ("TRUE = 'true'", True),
        ("5 = '5'", True),
        ("'05' = 5", True),
        ("5 = '05'", False),
        ("5 IN ('05')", True),
        ("'5' IN (5)", True),
        ("TRUE IN (2)", True),
        ("1 IN (1, 'x')", True),
        (r"'a\%b' LIKE 'a\\%b'", True),  # a backslash does not escape a backslash
        (r"'a\xb' LIKE 'a\\%b'", False),
        (r"'a%b' LIKE 'a\%b'", True),
        ("'a\nb' LIKE 'a_b'", True),
        ("'aXXb' LIKE 'a%_b'", True),
        ("12 LIKE '1_'", True),
        (r"'it\'s'", "it's"),
        (r'"it\'s"', r"it\'s"),
        ("LENGTH('𝒳é')", 2),
        ("LENGTH(-12)", 3),
        ("TRIM('\u2003 x\u3000')", "x"),
        ("TRIM('\x1fx')", "\x1fx"),
        ("LOWER('ÀB') = 'àb'", True),
        ("CONCAT(1, TRUE, 'x')", "1truex"),
        ("CONCAT_WS('-', 1, 2)", "1-2"),
        ("LEFT('abc', '2')", "ab"),
        ("RIGHT('abc', 0)", ""),
        ("SUBSTRING('abcdef', 2, 3)", "bcd"),
        ("SUBSTRING('abcdef', 2, 100)", "bcdef"),
        ("SUBSTRING('abc', -3)", "abc"),
        ("substring ('abc', 1, 0)", ""),
        ("INT(TRUE)", 1),
        ("IS_INT('x')", False),
        ("IS_BOOL('True')", True),
    ],
)
def test_values(text: str | int, value: object) -> None:
    result = cesql.evaluate(text, {})
    assert (result.value, result.error, type(result.value)) == (value, None, type(value))


@pytest.mark.parametrize(
    ("text", "value", "error"),
    [
        ("2147483647 + 1", 0, "math"),
        ("-2147483648 / -1", 0, "math"),
        ("- (-2147483648)", 0, "math"),
        ("65536 * 65536", 0, "math"),
        ("ABS(-2147483648)", 2147483647, "math"),
        ("missing / 0", 0, "missingAttribute"),
        ("0 / missing", 0, "missingAttribute"),
        ("-missing", 0, "missingAttribute"),
        ("LOWER(missing)", "", "missingAttribute"),
        ("LENGTH(missing)", 0, "missingAttribute"),
        ("missing NOT LIKE '%'", False, "missingAttribute"),
        ("1 IN (2, missing)", False, "missingAttribute"),
        ("missing OR TRUE", False, "missingAttribute"),
        ("'x' AND TRUE", False, "cast"),
        ("'2147483648' + 0", 0, "cast"),
        ("'5 ' = 5", False, "cast"),
        ("'٥' = 5", False, "cast"),
        ("'1_0' = 10", False, "cast"),
        ("5 = 'x' OR 'x' = 5", False, "cast"),
        ("1 IN ('x', 1)", False, "cast"),
        ("NOT 'x'", True, "cast"),
        ("NOT 0", True, "cast"),
        ("NOT (1 / 0 = 1)", False, "math"),
        ("LEFT('abc', -1)", "abc", "functionEvaluation"),
        ("RIGHT('abc', -1)", "abc", "functionEvaluation"),
        ("SUBSTRING('abc', 1, -1)", "", "functionEvaluation"),
        ("SUBSTRING('', 1)", "", "functionEvaluation"),
        ("NOPE('x')", False, "missingFunction"),
        ("ABS(1, 2)", False, "missingFunction"),
    ],
)
def test_errors(text: str, value: object, error: str) -> None:
    assert outcome(text) == (value, error)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "a =",
        "= 1",
        "a = = 1",
        "(a = 1",
        "a = 1)",
        "a LIKE b",
        "a LIKE 5",
        "a IN ()",
        "a IN 5",
        "a NOT = 5",
        "EXISTS 'a'",
        "EXISTS",
        "2147483648",
        "-2147483649",
        "- 2147483648",
        "1" * 5000,
        "+ 5",
        "+a",
        "'open",
        "'open\\'",
        "my_attribute = 1",
        "naïve = 1",
        "F2(1)",
        "f(1,)",
        "f(,1)",
        "a b",
        "TRUE FALSE",
        "a.b = 1",
        "1.5",
        "a = 'x'; b",
        "'a''b'",
        "a = '\ud800'",
    ],
)
def test_what_cannot_be_read(text: str) -> None:
    assert outcome(text) == (False, "parse")
    with pytest.raises(fyke.FilterError):
        parse(text)


def test_errors_say_where() -> None:
    with pytest.raises(fyke.FilterError) as caught:
        parse("source = 'x' AND ttl >")
    assert caught.value.position == 22
    with pytest.raises(fyke.FilterError, match="no function 'FROB'") as caught:
        parse("a = 1 OR frob(b) = 2")
    assert caught.value.position == 9


def test_attributes_as_cesql_sees_them() -> None:
    assert outcome("TIME", time=NOON) == ("2024-01-31T12:00:00Z", None)
    assert outcome("a", a=2**31) == ("2147483648", None)
    assert outcome("a", a=-0.0) == (0, None)
    assert outcome("a", a=1e300) == ("1e+300", None)
    assert outcome("a", a=1.5) == ("1.5", None)
    assert outcome("a", a=None) == (False, "missingAttribute")
    assert outcome("a", a={"b": 1}) == (False, "missingAttribute")
    assert outcome("EXISTS a", a=None) == (False, None)
    assert outcome("EXISTS a", a="") == (True, None)
    assert outcome("EXISTS id") == (True, None)
    assert outcome("EXISTS data OR EXISTS a", data="x") == (False, None)
    assert outcome("data = 'x'", data="x") == (False, "missingAttribute")


def test_lists_hold_if_an_element_does() -> None:
    assert outcome("a = 'x'", a=["y", "x"]) == (True, None)
    assert outcome("a != 'x'", a=["y", "x"]) == (False, None)
    assert outcome("a NOT LIKE 'x%'", a=["y", "z"]) == (True, None)
    assert outcome("a > 5", a=["x", 6]) == (True, None)
    assert outcome("a > 5", a=["x", 4]) == (False, "cast")
    assert outcome("a + 1 = 7 AND TRUE", a=[1, 6]) == (True, None)
    assert outcome("a = b", a=["x"], b="x") == (False, "cast")
    assert outcome("a = 'x'", a=[]) == (False, "missingAttribute")
    assert outcome("EXISTS a", a=[None]) == (False, None)


# --- the compiled filter --------------------------------------------------------------------------


def has_residual(filter: Filter) -> bool:
    return any(isinstance(node, Residual) for node in walk(filter))


@pytest.mark.parametrize(
    ("text", "filter"),
    [
        ("source = 'x' AND type LIKE 'com.%'", "source = 'x' and type starts with 'com.'"),
        ("type = 'a' OR type = 'b'", "type in ('a', 'b')"),
        ("a = 'x' OR b = 'y'", "a = 'x' or a is not null and b = 'y'"),
        ("a != 'x'", "a is not null and not a = 'x'"),
        ("a = '5'", "a in (5, '5')"),
        ("a = 'true'", "a in (true, 'true')"),
        ("a IN ('x', 'y')", "a in ('x', 'y')"),
        ("a NOT IN (1, 2)", "a is not null and not a in (true, 1, 2, '1', '2')"),
        (
            "time = '2024-01-31T12:00:00Z'",
            "time in ('2024-01-31T12:00:00Z', timestamp '2024-01-31T12:00:00Z')",
        ),
        ("NOT EXISTS subject", "not subject is not null"),
        ("a", "a = true"),
        ("data = 'x'", "false"),
        ("1 = 1", "true"),
        ("LENGTH('abc')", "false"),
        ("a = 5", "a in (5, '+5', '5') or a ends with '05' and a matches '^[+]?0+5$'"),
    ],
)
def test_predicates_alone(text: str, filter: str) -> None:
    assert parse(text) == parse_text(filter)


def test_residuals_stand_for_parts() -> None:
    filter = parse("source = 'x' AND ttl > 5 AND INT(hop) < 3")
    texts = {node.text for node in walk(filter) if isinstance(node, Residual)}
    assert texts == {"ttl > 5", "INT(hop) < 3"}
    assert not indexable(filter).matches({"source": "x", "ttl": 5, "hop": 1})
    assert not indexable(filter).matches({"source": "x", "ttl": "abc", "hop": 1})
    assert indexable(filter).matches({"source": "x", "ttl": "+7", "hop": True})


NAMES = ["a", "b", "id", "data"]
TEXTS = [
    "",
    "x",
    "xy",
    "X",
    "5",
    "+5",
    "05",
    "-5",
    "0",
    "1",
    "true",
    "TRUE",
    "False",
    "falſe",
    "2147483648",
    "-00",
]
TEXTS += ["1.5", "1e+300", "2024-01-31T12:00:00Z", "it's", "a%b", "a_b", "\\", "é", "İ", "K", "k"]
PATTERNS = [
    "%",
    "",
    "x%",
    "%x",
    "x_",
    "_",
    "%5",
    "5%",
    "t%",
    "%e",
    "2024-%",
    "%Z",
    "a\\%b",
    "a\\_b",
    "%.%",
    "-%",
    "\\%",
]
NUMBERS = [0, 1, -1, 2, 5, -5, 2**31 - 1, -(2**31)]
VALUES: list[object] = [
    *(
        None,
        True,
        False,
        *NUMBERS,
        2**31,
        2**53 + 1,
        -(2**63),
        0.0,
        -0.0,
        1.5,
        5.0,
        0.5,
        1e300,
        1e-7,
    ),
    *(*TEXTS, NOON, datetime(1, 1, 1, tzinfo=UTC), {"x": 1}, [], [None], ["x", 5], [5, "y", None]),
    *(["true", "q"], [1.5, 5], ["5", 1.5], [True, 0], [[5], {"q": 1}], [NOON, "x"]),
]


def quoted(text: str) -> str:
    return "'" + text.replace("'", "\\'") + "'" if not text.endswith("\\") else '"\\\\"'


def literals() -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from([quoted(text) for text in TEXTS]),
        st.sampled_from([str(number) for number in NUMBERS]),
        st.sampled_from(["TRUE", "false"]),
    )


def operands() -> st.SearchStrategy[str]:
    names = st.sampled_from(NAMES)
    return st.recursive(
        st.one_of(names, names, literals()),
        lambda inner: st.one_of(
            st.builds(
                "{}({})".format,
                st.sampled_from(
                    ["LOWER", "UPPER", "INT", "BOOL", "STRING", "LENGTH", "ABS", "CONCAT_WS"]
                ),
                inner,
            ),
            st.builds(
                "({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "%"]), inner
            ),
            st.builds("-{}".format, inner),
            st.builds("(NOT {})".format, inner),
            st.builds("SUBSTRING({}, {})".format, inner, inner),
        ),
        max_leaves=3,
    )


def atoms() -> st.SearchStrategy[str]:
    names, operand = st.sampled_from(NAMES), operands()
    comparison = st.sampled_from(["=", "!=", "<>", "<", "<=", ">", ">="])
    return st.one_of(
        st.builds("{} {} {}".format, names, comparison, literals()),
        st.builds("{} {} {}".format, literals(), comparison, names),
        st.builds("{} {} {}".format, operand, comparison, operand),
        st.builds(
            "{} {} {}".format,
            names,
            st.sampled_from(["LIKE", "NOT LIKE"]),
            st.sampled_from([quoted(p) for p in PATTERNS]),
        ),
        st.builds(
            "{} {} ({})".format,
            st.one_of(names, operand),
            st.sampled_from(["IN", "NOT IN"]),
            st.lists(st.one_of(literals(), literals(), names), min_size=1, max_size=3).map(
                ", ".join
            ),
        ),
        st.builds("EXISTS {}".format, names),
        operand,
    )


def expressions() -> st.SearchStrategy[str]:
    return st.recursive(
        atoms(),
        lambda inner: st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR", "XOR"]), inner),
            st.builds("{} {} {}".format, inner, st.sampled_from(["AND", "OR", "XOR"]), inner),
            st.builds("NOT ({})".format, inner),
        ),
        max_leaves=4,
    )


def events() -> st.SearchStrategy[Event]:
    documents = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES))
    return documents.map(Event)


EACH_VALUE = [Event({"a": value}) for value in VALUES]


@given(expressions(), st.lists(events(), min_size=1, max_size=8))
@examples(2.5)
@example("a = 'x' XOR a = 5", EACH_VALUE)
@example("NOT (a = TRUE) OR b", EACH_VALUE)
@example("LOWER(a) = '2024-01-31t12:00:00z'", EACH_VALUE)
def test_the_filter_means_what_the_interpreter_says(text: str, events: list[Event]) -> None:
    filter = parse(text)
    check_covers(indexable(filter), lambda event: is_true(text, event), events)
    for event in events:
        assert filter.matches(event) is is_true(text, event), (text, event)


LITERALS = [*map(quoted, TEXTS), *map(str, NUMBERS), "TRUE", "FALSE"]
SIMPLE = [
    *("a", "EXISTS a", "NOT a", "INT(a) = 5", "BOOL(a) = TRUE", "STRING(a) = 'true'"),
    *(f"a {operator} {literal}" for operator in ("=", "<", ">=") for literal in LITERALS),
    *(f"{literal} {operator} a" for operator in ("=", "<=", ">") for literal in LITERALS),
    *(f"LOWER(a) = {literal}" for literal in LITERALS),
    *(f"a IN ({one}, {other})" for one in LITERALS[::3] for other in LITERALS[::4]),
    *(f"a LIKE {quoted(pattern)}" for pattern in PATTERNS),
]


@pytest.mark.parametrize("template", ["{}", "NOT ({})", "({}) AND TRUE", "({}) OR EXISTS b"])
def test_each_value_against_each_simple_operand(template: str) -> None:
    for text in map(template.format, SIMPLE):
        filter = parse(text)
        wide = indexable(filter)
        for event in EACH_VALUE:
            accepted = is_true(text, event)
            assert filter.matches(event) is accepted, (text, event)
            assert wide.matches(event) or not accepted, (text, event)


SPELLED = [
    Event({"a": f"{sign}{zeros}{digits}"})
    for sign in ("", "+", "-", " ", "--")
    for zeros in ("", "0", "000")
    for digits in sorted({str(abs(number)) for number in NUMBERS} | {"", "6", "5 ", "x"})
]


@pytest.mark.parametrize("template", ["a = {}", "{} = a", "a < {}", "a >= {}", "a IN ({}, 'x')"])
@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_is_found_however_it_is_spelled(template: str, number: int) -> None:
    """With a sign, with zeros in front, or almost so."""
    for text in (template.format(number), f"NOT ({template.format(number)})"):
        filter = parse(text)
        check_covers(indexable(filter), filter, SPELLED)
        for event in SPELLED:
            assert filter.matches(event) is is_true(text, event), (text, event)


TRUTHS = [
    Event({name: value for name, value in zip("abc", values, strict=True) if value is not None})
    for values in product((None, "x", "y"), (None, 5, 4, "no number"), (None, True))
]


@pytest.mark.parametrize("operators", list(product(("AND", "OR", "XOR"), repeat=2)))
def test_truth_tables(operators: tuple[str, str]) -> None:
    """Three operands that may be missing, wrong, true or false, in every order and shape."""
    shapes = ["{0} {3} {1} {4} {2}", "{0} {3} ({1} {4} {2})", "NOT ({0} {3} NOT ({1} {4} {2}))"]
    for operands in permutations(("a = 'x'", "b = 5", "EXISTS c")):
        for shape in shapes:
            text = shape.format(*operands, *operators)
            filter = parse(text)
            for event in TRUTHS:
                assert filter.matches(event) is is_true(text, event), (text, event)


SMALL_ATOMS = [
    *("{0} = 'x'", "{0} != 'x'", "{0} LIKE 'x%'", "{0} NOT LIKE '%5'", "{0} IN ('x', '5')"),
    *("{0} = 5", "{0} > 4", "{0} = TRUE", "EXISTS {0}", "NOT {0}", "{0}", "LOWER({0}) = 'x'"),
    *("5 = {0}", "{0} = {1}", "INT({0}) < 6", "TRUE", "FALSE"),
]
SMALL_VALUES = [None, "x", "X", "y", 5, "5", True, "false", []]
SMALL_EVENTS = [
    Event({name: value for name, value in (("a", one), ("b", other)) if value != "nothing"})
    for one, other in product(["nothing", *SMALL_VALUES], repeat=2)
]


def drawn(rng: Random, leaves: int) -> str:
    """Operands that share two attributes, joined and negated in any shape."""
    if leaves == 1:
        return rng.choice(SMALL_ATOMS).format(*rng.sample("ab", 2))
    sizes = [rng.randint(1, leaves - 1)]
    parts = [drawn(rng, size) for size in (*sizes, leaves - sizes[0])]
    joined = f" {rng.choice(('AND', 'AND', 'OR', 'OR', 'XOR'))} ".join(
        f"({part})" for part in parts
    )
    return f"NOT ({joined})" if rng.random() < 0.4 else joined


@reaches(true=0.1, false=0.1, wrong=0.1)
@examples(2)
@given(randoms())
def test_operands_that_share_attributes(rng: Random) -> None:
    """Each is true, false or an error by itself, and which comes first decides."""
    leaves = rng.randint(2, 5)
    text = drawn(rng, leaves)
    if rng.random() < 0.5:
        operator = rng.choice((" AND ", " OR "))
        chain = operator.join(f"{drawn(rng, 1)}" for _ in range(leaves))
        text = f"NOT ({chain})" if rng.random() < 0.5 else chain
    filter = parse(text)
    wide = indexable(filter)
    for event in SMALL_EVENTS:
        result = cesql.evaluate(text, event)
        wrong = result.error is not None
        expected = result.value is True and not wrong
        reached(true=expected, false=result.value is False and not wrong, wrong=wrong)
        assert filter.matches(event) is expected, (text, event)
        assert wide.matches(event) or not expected, (text, event)


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("(a = 'x' OR b = 'y') = TRUE", {"a": "x"}),
        ("(a = 'y' AND b = 'y') = FALSE", {"a": "x"}),
        ("a IN ('x', b)", {"a": "x"}),
        ("EXISTS b IN (FALSE, a)", {}),
    ],
)
def test_what_is_not_read_may_be_missing(text: str, event: dict[str, object]) -> None:
    assert outcome(text, **event) == (True, None)
    assert parse(text).matches(event)


@given(expressions())
def test_texts_read_back(text: str) -> None:
    expression = read(text, DEFAULT_LIMITS)
    assert read(to_text(expression), Limits(depth_max=DEPTH_CEILING)) == expression
    filter = parse(text)
    assert parse_text(str(filter)) == filter


@given(st.text(alphabet="'\"\\ax%", max_size=8), st.sampled_from("'\""))
def test_strings_read_back(inner: str, quote: str) -> None:
    try:
        expression = read(quote + inner + quote, DEFAULT_LIMITS)
    except fyke.FilterError:
        return
    assert read(to_text(expression), DEFAULT_LIMITS) == expression


def test_lower_finds_every_spelling() -> None:
    """Case folding, which the index knows, covers lower case, over all of Unicode."""
    for letter in "abcdefghijklmnopqrstuvwxyz":
        filter = indexable(parse(f"LOWER(a) = '{letter}'"))
        for char in _LOWERED.get(letter, ()):
            assert filter.matches({"a": char})
    assert "K" in _LOWERED["k"]


_LOWERED: dict[str, list[str]] = {}
for _char in map(chr, range(sys.maxunicode + 1)):
    if "a" <= _char.lower() <= "z" and len(_char.lower()) == 1:
        _LOWERED.setdefault(_char.lower(), []).append(_char)


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "a" + ")" * 10_000,
        "NOT " * 10_000 + "a",
        "-" * 10_000 + "a",
        "f(" * 10_000,
        "a IN (" * 10_000,
        "a" + " LIKE 'x'" * 10_000,
        "a" + " + 1" * 10_000,
        "a" + " AND a OR a" * 10_000,
        "'" * 99_999,
        " " * 2_000_000,
        "a = 1 " + "OR a = 1 " * 20_000,
    ],
)
def test_nasty_texts_are_refused(text: str) -> None:
    with pytest.raises(fyke.FilterError):
        parse(text)
    assert outcome(text) == (False, "parse")


def test_large_texts_are_read() -> None:
    assert parse("a = 'x' " + "OR a = 'y' " * 10_000) == parse_text("a in ('x', 'y')")
    assert parse("a = 'x'" + " " * 500_000) == parse_text("a = 'x'")
    assert parse("(" * 99 + "a = 'x'" + ")" * 99) == parse_text("a = 'x'")


def test_operators_that_outgrow_the_expression_become_residuals() -> None:
    names = [f"a{number}" for number in range(60)]
    chain = " XOR ".join(f"{name} = 'x'" for name in names)
    filter = parse(f"b = 'y' AND ({chain})")
    assert sum(1 for _ in walk(filter)) < 500
    event = {"b": "y"} | dict.fromkeys(names, "y") | {"a7": "x"}
    assert filter.matches(event)
    assert not filter.matches(event | {"a8": "x"})
    assert not indexable(filter).matches(event | {"b": "x"})


def test_deep_alternation_stays_small() -> None:
    text = "a0 = 'x'"
    for number in range(1, 60):
        text = f"NOT ({text} {('AND', 'OR', 'XOR')[number % 3]} a{number} = 'x')"
        text = text if number % 2 else text.removeprefix("NOT ")
    filter = parse(text)
    assert sum(1 for _ in walk(filter)) < 10_000
    everything = {f"a{number}": "x" for number in range(60)}
    for changed in range(0, 60, 7):
        event = Event(everything | {f"a{changed}": "y"})
        assert filter.matches(event) is is_true(text, event)


def test_what_is_no_text() -> None:
    texts: list[object] = [None, 1.5, [], 2**40]
    for text in texts:
        assert cesql.evaluate(text, {}).error == "parse"  # type: ignore[arg-type]
        with pytest.raises(fyke.FilterError):
            cesql.parse(text, DEFAULT_LIMITS)


def test_casts_take_linear_time() -> None:
    assert outcome("a = 0", a="0" * 200_000 + "x") == (False, "cast")
    assert outcome("a = 5", a="0" * 200_000 + "5") == (True, None)


def test_constants() -> None:
    assert parse("TRUE OR missing") == TRUE
    assert parse("missing OR TRUE") != TRUE
    assert parse("FALSE AND missing") == FALSE
    assert parse("ABS(1, 2) = 1") == FALSE


def test_residuals_name_what_they_read() -> None:
    assert cesql.check("a < b OR EXISTS c OR data = 1").attributes == {"a", "b", "c"}
    with pytest.raises(fyke.FilterError):
        cesql.check("a <")
