"""EventBridge patterns: what is refused, what matches, and that the tree agrees with the meaning.

The oracle below is written from the description of aws/event-ruler and shares no code with the
dialect: it lists every value of the event with the array elements around it, and tries all choices.
"""

from __future__ import annotations

import contextlib
import fnmatch
import ipaddress
import json
import random
import time
from datetime import UTC, date, datetime
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.events.number import ExactDecimal
from fyke.filters.algebra.normal_form import simplify
from fyke.filters.algebra.weakening import indexable
from fyke.filters.dialects import parse
from fyke.filters.dialects.eventbridge import check
from fyke.filters.filter import Filter, walk
from fyke.filters.residual import Residual
from fyke.limits import Limits
from fyke.testing.covering import check_covers


def read(pattern: object) -> Filter:
    return parse(pattern, "eventbridge")


def matches(pattern: object, event: dict[str, object]) -> bool:
    """The verdict of the tree, once it is known to be that of the interpreter."""
    verdict = read(pattern).matches(event)
    assert check(json.dumps(pattern))(Event(event)) is verdict
    return verdict


# --- the oracle -----------------------------------------------------------------------------------

Place = dict[int, int]


def values_of(document: dict[str, Any]) -> list[tuple[str, object, Place]]:
    """(path, scalar, array -> index of the element around it), for every scalar of the event."""
    found: list[tuple[str, object, Place]] = []
    arrays = iter(range(10**6))

    def visit(value: object, path: str, place: Place) -> None:
        if isinstance(value, dict):
            for key, child in value.items():
                visit(child, f"{path}.{key}" if path else key, place)
        elif isinstance(value, list):
            array = next(arrays)
            for index, child in enumerate(value):
                nested = isinstance(child, (dict, list))
                visit(child, path, {**place, array: index} if nested else place)
        else:
            found.append((path, value, place))

    visit(document, "", {})
    return found


def branches_of(pattern: dict[str, Any]) -> list[dict[str, list[Any]]]:
    branches: list[dict[str, list[Any]]] = [{}]

    def visit(members: dict[str, Any], prefix: str) -> None:
        for key, value in members.items():
            if key == "$or":
                before, after = list(branches), []
                for alternative in value:
                    branches[:] = [dict(branch) for branch in before]
                    visit(alternative, prefix)
                    after += branches
                branches[:] = after
            elif isinstance(value, dict):
                visit(value, f"{prefix}{key}.")
            else:
                for branch in branches:
                    branch[prefix + key] = value

    visit(pattern, "")
    return branches


def oracle(pattern: dict[str, Any], document: dict[str, Any]) -> bool:
    values = values_of(document)

    def rest(fields: list[tuple[str, list[Any]]], place: Place) -> bool:
        if not fields:
            return True
        (path, conditions), *others = fields
        consistent = [
            (value, around)
            for name, value, around in values
            if name == path and all(place.get(array, at) == at for array, at in around.items())
        ]
        if not consistent:
            return {"exists": False} in conditions and rest(others, place)
        return any(
            rest(others, place | around)
            for value, around in consistent
            if any(meets(value, condition) for condition in conditions)
        )

    return any(rest(sorted(branch.items()), {}) for branch in branches_of(pattern))


def same(value: object, other: object) -> bool:
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def meets(value: object, condition: object) -> bool:
    if not isinstance(condition, dict):
        return same(value, condition)
    [(operator, operand)] = condition.items()
    if operator == "anything-but":
        if isinstance(operand, dict):
            [(inner, texts)] = operand.items()
            texts = texts if isinstance(texts, list) else [texts]
            return not any(meets(value, {inner: text}) for text in texts)
        return not any(
            same(value, v) for v in (operand if isinstance(operand, list) else [operand])
        )
    if operator == "exists":
        return bool(operand)
    if operator == "numeric":
        return type(value) in (int, float, ExactDecimal) and all(
            {"=": value == x, "<": value < x, "<=": value <= x, ">": value > x, ">=": value >= x}[o]
            for o, x in zip(operand[::2], operand[1::2], strict=True)
        )
    if not isinstance(value, str):
        return False
    if isinstance(operand, dict):
        return meets(value.lower(), {operator: operand["equals-ignore-case"].lower()})
    if operator == "cidr":
        try:
            return ipaddress.ip_address(value) in ipaddress.ip_network(operand, strict=False)
        except ValueError:
            return False
    return {
        "prefix": lambda: value.startswith(operand),
        "suffix": lambda: value.endswith(operand),
        "equals-ignore-case": lambda: value.lower() == operand.lower(),
        "exactly": lambda: value == operand,
        "wildcard": lambda: fnmatch.fnmatchcase(value, operand.replace("[", "[[]")),
    }[operator]()


# --- generators: few names and values, so that patterns and events meet ---------------------------

KEYS = ["a", "b", "c"]
TEXTS = ["", "x", "xy", "X", "Xy", "yx", "é", "É", "日本", "10.0.0.1", "::1", "1"]
NUMBERS = [0, 1, -0.0, 1.0, 2, 2**53, 2**53 + 1, float(2**53), 0.5, -3, 2**63 - 1]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(NUMBERS),
    st.sampled_from(TEXTS),
    st.sampled_from(TEXTS),
)


def documents(keys: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    def nested(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.dictionaries(st.sampled_from(keys), children, max_size=3),
            st.lists(children, max_size=3),
            st.lists(st.dictionaries(st.sampled_from(keys), children, max_size=3), max_size=3),
        )

    values = st.recursive(scalars, nested, max_leaves=8)
    return st.dictionaries(st.sampled_from(keys), values, max_size=3)


def one_or_more(texts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(texts, st.lists(texts, min_size=1, max_size=3))


texts = st.sampled_from(TEXTS)
wildcards = st.sampled_from(["*", "x*", "*x", "*y*", "x*y", "x", ""])
bounds = st.sampled_from([0, 1, 0.5, 2**53, 2**53 + 1, -3])
conditions = st.one_of(
    scalars,
    scalars,
    texts.map(lambda t: {"prefix": t}),
    texts.map(lambda t: {"suffix": t}),
    texts.map(lambda t: {"prefix": {"equals-ignore-case": t}}),
    texts.map(lambda t: {"suffix": {"equals-ignore-case": t}}),
    texts.map(lambda t: {"equals-ignore-case": t}),
    texts.map(lambda t: {"exactly": t}),
    wildcards.map(lambda t: {"wildcard": t}),
    st.sampled_from(["10.0.0.0/8", "::/64", "10.0.0.1/31"]).map(lambda t: {"cidr": t}),
    st.booleans().map(lambda b: {"exists": b}),
    st.just({"exists": False}),
    st.tuples(st.sampled_from(["=", "<", "<=", ">", ">="]), bounds).map(
        lambda t: {"numeric": [*t]}
    ),
    st.just({"numeric": [">", 0, "<=", 1]}),
    one_or_more(texts).map(lambda v: {"anything-but": v}),
    one_or_more(st.sampled_from(NUMBERS)).map(lambda v: {"anything-but": v}),
    one_or_more(texts.filter(bool)).map(lambda v: {"anything-but": {"prefix": v}}),
    one_or_more(texts.filter(bool)).map(lambda v: {"anything-but": {"suffix": v}}),
    one_or_more(wildcards).map(lambda v: {"anything-but": {"wildcard": v}}),
    one_or_more(texts).map(lambda v: {"anything-but": {"equals-ignore-case": v}}),
)
fields = st.lists(conditions, min_size=1, max_size=3)


def patterns(keys: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    def members(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        plain = st.dictionaries(st.sampled_from(keys), children, min_size=1, max_size=3)
        alternatives = st.lists(plain, min_size=2, max_size=3)
        forked = st.tuples(plain, alternatives).map(lambda pair: {**pair[0], "$or": pair[1]})
        return st.one_of(plain, plain, forked)

    return members(st.recursive(fields, members, max_leaves=5))


SETTLED = documents(KEYS), patterns(KEYS)
DOTTED = documents([*KEYS, "a.b", "b.c"]), patterns([*KEYS, "a.b", "b.c"])


ABSENT = {"exists": False}


class Aligned:
    """Events and patterns of one shape, each level of which may be an array: they nearly meet.

    Some names begin alike, so that a path is not the start of another although its text is.
    """

    PATHS = ("r", "r.a", "r.b", "r.c.a", "r.c.b", "r.ca", "r.cab.a", "r.d", "s.a", "ra")
    BELOW_THE_DOT = ("r.c-a", "r-")
    """Sorted by segments, as here, these stand elsewhere than sorted by characters."""
    ASKED: ClassVar[tuple[list[Any], ...]] = (
        *(["x"], ["y"], ["x"], ["y"], [ABSENT], [ABSENT], ["x", ABSENT], [{"exists": True}]),
        *([{"anything-but": {"prefix": "x"}}], [{"anything-but": {"suffix": "x"}}, ABSENT]),
    )

    def __init__(self, seed: int, dotted: bool) -> None:
        self.random = random.Random(seed)
        self.dotted = dotted

    def pattern(self) -> dict[str, Any]:
        paths = self.PATHS + self.BELOW_THE_DOT if self.dotted else self.PATHS
        paths = self.random.sample(paths, self.random.randint(1, 4))
        return {path: self.random.choice(self.ASKED) for path in paths}

    def event(self) -> dict[str, Any]:
        event = {"r": self._level(2), "s": self._level(0), "ra": self._leaf(), "r-": self._leaf()}
        return event | {"r.c": self._level(0)} if self._now_and_then(self.dotted) else event

    def _level(self, depth: int) -> Any:
        if self.random.random() < 0.5:
            return [self._level(depth) for _ in range(self.random.randint(0, 3))]
        names = ("a", "b", "d", "ca", "c-a")
        leaves = {name: self._leaf() for name in names if self.random.random() < 0.6}
        if self._now_and_then(self.dotted):
            leaves["c.a"] = self._leaf()
        if depth == 0:
            return leaves
        return leaves | {"c": self._level(depth - 1), "cab": self._level(0)}

    def _leaf(self) -> Any:
        value: Any = self.random.choice(["x", "y", "x", "y", None])
        while self.random.random() < 0.2:
            value = [value, self.random.choice(["x", "y"])][: self.random.randint(0, 2)]
        return value

    def _now_and_then(self, at_all: bool) -> bool:
        return at_all and self.random.random() < 0.3


def check_meaning(pattern: dict[str, Any], events: list[dict[str, Any]]) -> None:
    tree, exact = read(pattern), check(json.dumps(pattern))
    for event in events:
        expected = oracle(pattern, event)
        assert exact(Event(event)) is expected, (pattern, event)
        assert tree.matches(event) is expected, (pattern, event, tree)


def check_compilation(pattern: dict[str, Any], events: list[dict[str, Any]]) -> None:
    tree, exact = read(pattern), check(json.dumps(pattern))
    check_covers(indexable(tree), exact, events)
    assert [tree.matches(event) for event in events] == [exact(Event(event)) for event in events]


def several(documents: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(documents, min_size=2, max_size=8)


@given(SETTLED[1], several(SETTLED[0]))
def test_means_what_event_ruler_means(
    pattern: dict[str, Any], events: list[dict[str, Any]]
) -> None:
    check_meaning(pattern, events)


@pytest.mark.parametrize("seed", range(10))
def test_means_what_event_ruler_means_on_arrays(seed: int) -> None:
    aligned = Aligned(seed, dotted=False)
    for _ in range(100):
        check_meaning(aligned.pattern(), [aligned.event() for _ in range(10)])


@given(DOTTED[1], several(DOTTED[0]))
def test_the_tree_covers_and_equals_the_pattern(
    pattern: dict[str, Any], events: list[dict[str, Any]]
) -> None:
    check_compilation(pattern, events)


@pytest.mark.parametrize("seed", range(10))
def test_the_tree_covers_and_equals_the_pattern_on_arrays(seed: int) -> None:
    aligned = Aligned(seed, dotted=True)
    for _ in range(100):
        check_compilation(aligned.pattern(), [aligned.event() for _ in range(10)])


def test_aligned_cases_are_not_idle() -> None:
    """They match often enough, and often enough only in their predicates."""
    aligned = Aligned(0, dotted=False)
    cases = [(read(aligned.pattern()), aligned.event()) for _ in range(1000)]
    by_predicates = [indexable(tree).matches(event) for tree, event in cases]
    exactly = [tree.matches(event) for tree, event in cases]
    assert sum(exactly) > 100 and sum(by_predicates) - sum(exactly) > 50


@given(DOTTED[1])
def test_text_and_object_are_one_source_and_the_tree_prints(pattern: dict[str, Any]) -> None:
    tree = read(pattern)
    assert read(json.dumps(pattern)) == tree
    assert parse(str(tree)) == tree


def people(*pairs: tuple[str, str]) -> dict[str, object]:
    return {"people": [{"first": first, "last": last} for first, last in pairs]}


def test_the_oracle_and_the_generators_see_array_consistency() -> None:
    pattern = {"people": {"first": ["Anna"], "last": ["Jones"]}}
    together, apart = people(("Anna", "Jones")), people(("Anna", "Smith"), ("Eve", "Jones"))
    assert oracle(pattern, together) and not oracle(pattern, apart)
    assert indexable(read(pattern)).matches(apart)


# --- what a pattern becomes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "native"),
    [
        ({"detail": {"state": ["x"]}}, "detail.state = 'x'"),
        ({"detail.state": ["x"]}, "detail.state = 'x'"),
        ({"a": ["x", 1, None, True]}, "a in (null, true, 1, 'x')"),
        ({"a": [3.0e2]}, "a = 300"),
        ({"a": [{"prefix": "x"}, "y"]}, "a = 'y' or a starts with 'x'"),
        ({"a": [{"suffix": "x"}]}, "a ends with 'x'"),
        ({"a": [{"prefix": {"equals-ignore-case": "Xé"}}]}, "a ilike 'xé%'"),
        ({"a": [{"suffix": {"equals-ignore-case": "PNG"}}]}, "a ilike '%png'"),
        ({"a": [{"equals-ignore-case": "12"}]}, "a = '12'"),
        ({"a": [{"wildcard": "x*\\*\\\\*"}]}, "a like 'x%*\\\\%'"),
        ({"a": [{"wildcard": "*"}]}, "a like '%'"),
        ({"a": [{"anything-but": ["x", "y"]}]}, "a not in ('x', 'y')"),
        ({"a": [{"anything-but": {"equals-ignore-case": ["1", "2"]}}]}, "a not in ('1', '2')"),
        ({"a": [{"numeric": [">", 0, "<=", 5]}]}, "a between 0 exclusive and 5"),
        ({"a": [{"numeric": ["=", 1.0]}]}, "a = 1"),
        ({"a": [{"cidr": "10.0.0.7/24"}]}, "a in cidr '10.0.0.0/24'"),
        ({"a": [{"exists": True}]}, "a is null or a is not null"),
        ({"a": [{"exists": False}]}, "not (a is null or a is not null)"),
        ({"a": [{"exists": True}, {"exists": False}]}, "true"),
        ({"a": [1], "b": [2]}, "a = 1 and b = 2"),
        ({"b": [1], "$or": [{"a": [1]}, {"c": [2]}]}, "b = 1 and (a = 1 or c = 2)"),
        ({"a": [1], "$or": [{"a": [2]}, {"b": [3]}]}, "a = 2 or a = 1 and b = 3"),
        ({"$or": [{"a": [2]}, {"b": [3]}], "a": [1]}, "a = 1"),
    ],
)
def test_becomes_predicates_alone(pattern: dict[str, object], native: str) -> None:
    assert read(pattern) == parse(native)


def residuals(pattern: object) -> list[str]:
    return [node.text for node in walk(read(pattern)) if isinstance(node, Residual)]


def test_a_residual_holds_only_the_fields_that_need_it() -> None:
    pattern = {
        "source": ["s"],
        "detail": {"y": ["1"], "x": [2]},
        "b": [{"anything-but": {"prefix": "é"}}],
    }
    assert residuals(pattern) == [
        '{"b":[{"anything-but":{"prefix":"é"}}]}',
        '{"detail.x":[2],"detail.y":["1"]}',
    ]
    found = next(node for node in walk(read(pattern)) if isinstance(node, Residual))
    assert found.attributes == {"b"}


def test_alternatives_share_one_residual() -> None:
    pattern = {"detail": {"x": [1], "$or": [{"y": [2]}, {"z": [3]}]}}
    assert residuals(pattern) == [json.dumps(pattern, separators=(",", ":"))]
    expected = parse("detail.x = 1 and (detail.y = 2 or detail.z = 3)")
    assert simplify(indexable(read(pattern))) == simplify(expected)


# --- what matches ---------------------------------------------------------------------------------


def test_values_of_one_element_belong_together() -> None:
    pattern = {"people": {"first": ["Anna"], "last": ["Jones"]}}
    assert matches(pattern, people(("Anna", "Jones")))
    assert not matches(pattern, people(("Anna", "Smith"), ("Eve", "Jones")))
    assert matches(pattern, people(("Anna", "Smith"), ("Anna", "Jones")))
    assert matches(pattern, {"people": {"first": ["Eve", "Anna"], "last": ["Jones", "Smith"]}})
    assert not matches(pattern, {"people": [[{"first": "Anna"}], [{"last": "Jones"}]]})


def test_inner_arrays_are_left_before_the_next_field() -> None:
    pattern = {"a": {"b": {"x": [1], "y": [2]}, "c": {"x": [3]}}}
    element = {"b": [{"x": 1, "y": 0}, {"x": 1, "y": 2}], "c": [{"x": 0}, {"x": 3}]}
    assert matches(pattern, {"a": [{"b": {"x": 1}}, element]})
    assert not matches(pattern, {"a": [{"c": {"x": 3}}, {**element, "c": []}]})


def test_absence_is_from_the_element_that_earlier_fields_chose() -> None:
    event = {"a": [{"c": 2}, {"c": 1, "d": 5, "b": 1}]}
    assert matches({"a": {"c": [2], "d": [{"exists": False}]}}, event)
    assert not matches({"a": {"c": [1], "d": [{"exists": False}]}}, event)
    assert not matches({"a": {"c": [2], "b": [{"exists": False}]}}, event)


def test_values_outside_the_array_belong_to_every_element() -> None:
    event = {"a": [{"b": 1}, {"b": 2}], "a.c": 3}
    for pattern, expected in (
        ({"a": {"b": [2], "c": [3]}}, True),
        ({"a": {"b": [2], "c": [4]}}, False),
        ({"a": {"b": [2], "c": [{"exists": False}]}}, False),
    ):
        assert matches(pattern, event) is oracle(pattern, event) is expected


def test_arrays_spelled_at_one_path_count_as_one() -> None:
    pattern = {"a.b": {"x": [1], "y": [2]}}
    event: dict[str, object] = {"a.b": [{"x": 1}], "a": {"b": [{"y": 2}]}}
    assert not matches(pattern, event)
    assert matches(pattern, {"a.b": [{"x": 1}], "a": {"b": [{"y": 2, "x": 1}]}})


def test_anything_but_needs_one_element_that_is_not() -> None:
    for refused in (
        "x",
        ["x", "z"],
        {"prefix": "x"},
        {"wildcard": "x*"},
        {"equals-ignore-case": "X"},
    ):
        pattern = {"a": [{"anything-but": refused}]}
        assert matches(pattern, {"a": ["x", "y"]})
        assert matches(pattern, {"a": None})
        assert matches(pattern, {"a": 5})
        assert not matches(pattern, {"a": ["x"]})
        assert not matches(pattern, {"a": []})
        assert not matches(pattern, {"a": {"b": "y"}})
        assert not matches(pattern, {})


def test_exists_speaks_of_values() -> None:
    there, missing = {"a": {"b": [{"exists": True}]}}, {"a": {"b": [{"exists": False}]}}
    for event in ({"a": {"b": None}}, {"a.b": ""}, {"a": [{}, {"b": [[0]]}]}):
        assert matches(there, event) and not matches(missing, event)
    for event in (
        {},
        {"a": 1},
        {"a": {"b": []}},
        {"a": {"b": {}}},
        {"a": {"b": {"c": 1}}},
        {"a": []},
    ):
        assert matches(missing, event) and not matches(there, event)


def test_kinds_stay_apart() -> None:
    assert not matches({"a": ["5"]}, {"a": 5})
    assert not matches({"a": [1]}, {"a": True})
    assert not matches({"a": [None]}, {"a": "null"})
    assert not matches({"a": [{"prefix": ""}]}, {"a": 5})
    assert matches({"a": [{"anything-but": 1}]}, {"a": True})
    assert not matches({"a": [""]}, {"a": None})


def test_numbers_compare_by_value_and_exactly() -> None:
    assert matches({"a": [300]}, {"a": 300.0}) and read('{"a": [3.0e2]}').matches({"a": 300})
    assert not matches({"a": [2**53 + 1]}, {"a": float(2**53)})
    assert not matches({"a": [{"numeric": [">", 2**53]}]}, {"a": float(2**53)})
    assert matches({"a": [{"numeric": [">", 2**53]}]}, {"a": 2**53 + 1})
    assert matches({"a": [{"numeric": [">", 5e9]}]}, {"a": 6_000_000_000})
    assert matches({"a": [{"numeric": ["=", 0]}]}, {"a": -0.0})


def test_case_is_folded_letter_by_letter() -> None:
    assert matches({"a": [{"equals-ignore-case": "ÉTAT"}]}, {"a": "état"})
    assert matches({"a": [{"prefix": {"equals-ignore-case": "Ab"}}]}, {"a": "aBc"})
    assert not matches({"a": [{"equals-ignore-case": "straße"}]}, {"a": "STRASSE"})


def test_a_timestamp_is_not_text() -> None:
    event: dict[str, object] = {"time": datetime(2022, 7, 13, tzinfo=UTC), "x": [{"y": 1}]}
    assert not matches({"time": [{"prefix": "2022"}]}, event)
    assert matches({"time": [{"anything-but": "2022"}]}, event)


def test_relatives_of_our_kinds_are_read_within_arrays() -> None:
    pattern = {"a": {"x": [1, "z"], "y": ["2024-01-01", {"numeric": [">", 5]}]}}
    for x, y, expected in (
        (np.int64(1), 7, True),
        (1, np.float64(5.5), True),
        (1, NEW_YEAR, False),
    ):
        assert read(pattern).matches({"a": [{"x": x, "y": y}, {"x": [], "y": []}]}) is expected


NEW_YEAR = date(2024, 1, 1)


def test_or_is_a_key_where_it_has_no_alternatives() -> None:
    assert matches({"$or": ["x"]}, {"$or": "x"})
    assert matches({"$or": {"a": [1]}, "b": [2]}, {"$or": {"a": 1}, "b": 2})
    assert matches({"$or": [{"prefix": "x"}, {"suffix": "y"}]}, {"$or": "xz"})
    assert matches({"a": {"$or": [{"b": [1]}, {"c": [2]}]}}, {"a": {"c": 2}})


def test_a_later_key_wins_field_by_field() -> None:
    twice = read('{"a": {"x": ["1"], "y": ["1"]}, "a": {"x": ["2"]}}')
    assert twice.matches({"a": {"x": "2", "y": "1"}})
    assert not twice.matches({"a": {"x": "1", "y": "1"}})
    assert not twice.matches({"a": {"x": "2", "y": "2"}})


def test_repeated_keys_survive_in_the_residual_of_alternatives() -> None:
    text = '{"a":{"x":[1],"y":[1]},"a":{"$or":[{"x":[2]},{"z":[3]}]}}'
    tree = read(text)
    assert [n.text for n in walk(tree) if isinstance(n, Residual)] == [text]
    assert tree.matches({"a": {"x": 2, "y": 1}}) and not tree.matches({"a": {"x": 2}})


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("x", "array of values"),
        (5, "array of values"),
        (None, "array of values"),
        ({}, "a field"),
        ([], "at least one value"),
        ([["x"]], "a string, number"),
        ([{}], "one of prefix"),
        ([{"prefix": "x", "suffix": "y"}], "one of prefix"),
        ([{"PREFIX": "x"}], "one of prefix"),
        ([{"prefix": 5}], "a string"),
        ([{"prefix": ["x"]}], "a string"),
        ([{"prefix": {"wildcard": "x"}}], "one of equals-ignore-case"),
        ([{"prefix": {"equals-ignore-case": None}}], "a string"),
        ([{"suffix": None}], "a string"),
        ([{"equals-ignore-case": ["x"]}], "a string"),
        ([{"exactly": 1}], "a string"),
        ([{"wildcard": 1}], "a string"),
        ([{"wildcard": "a**b"}], "no two stars"),
        ([{"wildcard": "a\\b"}], "a backslash only"),
        ([{"wildcard": "a\\"}], "a backslash only"),
        ([{"wildcard": "*:*:*:*:*:event-bus/*"}], "fewer stars"),
        ([{"wildcard": "*a" * 10}], "fewer stars"),
        ([{"wildcard": "*" + "a" * 20}], "fewer stars"),
        ([{"exists": 1}], "true or false"),
        ([{"exists": "true"}], "true or false"),
        ([{"anything-but": None}], "only strings, or only numbers"),
        ([{"anything-but": True}], "only strings, or only numbers"),
        ([{"anything-but": []}], "at least one value"),
        ([{"anything-but": ["x", 1]}], "only strings, or only numbers"),
        ([{"anything-but": ["x", None]}], "only strings, or only numbers"),
        ([{"anything-but": [{"prefix": "x"}]}], "only strings, or only numbers"),
        ([{"anything-but": {"prefix": ""}}], "a non-empty string"),
        ([{"anything-but": {"suffix": ["a", ""]}}], "a non-empty string"),
        ([{"anything-but": {"prefix": []}}], "at least one value"),
        ([{"anything-but": {"prefix": [1]}}], "a string"),
        ([{"anything-but": {"suffix": {"equals-ignore-case": "x"}}}], "a string"),
        ([{"anything-but": {"wildcard": ["**"]}}], "no two stars"),
        ([{"anything-but": {"numeric": ["=", 1]}}], "one of prefix"),
        ([{"anything-but": {"prefix": "a", "suffix": "b"}}], "one of prefix"),
        ([{"numeric": 5}], "an array such as"),
        ([{"numeric": []}], "an array such as"),
        ([{"numeric": ["="]}], "an array such as"),
        ([{"numeric": [5]}], "an array such as"),
        ([{"numeric": ["==", 5]}], "an array such as"),
        ([{"numeric": ["=", "5"]}], "an array such as"),
        ([{"numeric": ["=", True]}], "an array such as"),
        ([{"numeric": ["=", 1, "<", 5]}], "the lower bound first"),
        ([{"numeric": ["<", 5, ">", 1]}], "the lower bound first"),
        ([{"numeric": [">", 5, "<", 1]}], "the lower bound first"),
        ([{"numeric": [">=", 5, "<=", 5]}], "the lower bound first"),
        ([{"numeric": [">", 0, "<"]}], "an array such as"),
        ([{"numeric": [">", 0, "<", 5, "<", 9]}], "an array such as"),
        ([{"cidr": ["10.0.0.0/8"]}], "a string"),
        ([{"cidr": "10.0.0.0"}], "such as 10.0.0.0/24"),
        ([{"cidr": "10.0.0.0/33"}], "such as 10.0.0.0/24"),
        ([{"cidr": "10.0.0.256/8"}], "such as 10.0.0.0/24"),
        ([{"cidr": "10.0.0.0/255.0.0.0"}], "such as 10.0.0.0/24"),
        ([{"cidr": "10.0.0.0/-1"}], "such as 10.0.0.0/24"),
        ([{"cidr": "10.0.0.0/8/8"}], "such as 10.0.0.0/24"),
        ([{"cidr": "example/8"}], "such as 10.0.0.0/24"),
        ([{"cidr": "fe80::1%eth0/64"}], "such as 10.0.0.0/24"),
        ([{"cidr": "10.0.0.1/32"}], "as a plain string"),
        ([{"cidr": "::1/128"}], "as a plain string"),
    ],
)
def test_a_bad_field_is_refused_with_its_path(values: object, expected: str) -> None:
    with pytest.raises(fyke.FilterError) as refused:
        read({"detail": {"state": values}})
    assert "field 'detail.state'" in str(refused.value)
    assert expected in (refused.value.expected or "")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ({}, "the pattern: the object is empty"),
        ([], "not a JSON object"),
        (None, "not a JSON object"),
        ("", "not JSON"),
        ('{"a": [1]', "not JSON"),
        ('{"a": [NaN]}', "NaN"),
        ('{"a": [1e999]}', "field 'a'"),
        ('{"a": [99999999999999999999]}', "field 'a'"),
        ('{"a": [' + "9" * 5000 + "]}", "64 bits"),
        ('{"a": ["\\ud800"]}', "surrogate"),
        ('{"\\ud800": ["x"]}', "surrogate"),
        (b'{"a": ["\xff"]}', "not UTF-8"),
        ({"a": [float("nan")]}, "field 'a'"),
        ({"a": [datetime(2024, 1, 1, tzinfo=UTC)]}, "timestamp"),
        ({"a": [object()]}, "type object"),
        ({1: ["x"]}, "not a string"),
        ({"b": {"$or": [{"a": [1]}]}}, "field 'b.$or'"),
        ({"$or": [{"a": [1]}, 5]}, "field '$or'"),
        ({"$or": [{"a": [1]}, {}]}, "the object is empty"),
        ({"$or": [{"a": [1]}, {"prefix": [1]}]}, "'prefix' is reserved"),
        ({"$or": [{"a": [1]}, {"b": [{"prefxi": "x"}]}]}, "'prefxi' is no operator"),
        ({f"x{i}": {"$or": [{"a": [1]}, {"b": [2]}]} for i in range(10)}, "combinations"),
        ("[" * 100_000, "nested deeper"),
        ('{"a":' * 101 + "[1]" + "}" * 101, "nested deeper"),
    ],
)
def test_a_bad_pattern_is_refused(pattern: object, problem: str) -> None:
    with pytest.raises(fyke.FilterError) as refused:
        read(pattern)
    assert problem in str(refused.value)


def test_limits_bound_a_pattern() -> None:
    for limits in (
        Limits(text_length_max=5),
        Limits(depth_max=1),
        Limits(nodes_max=1),
        Limits(list_size_max=1),
    ):
        with pytest.raises(fyke.FilterError):
            parse('{"a": [1, 2], "b": [3]}', "eventbridge", limits=limits)


@given(
    st.recursive(
        scalars,
        lambda c: (
            st.lists(c)
            | st.dictionaries(
                st.sampled_from(
                    ["a", "$or", "prefix", "anything-but", "numeric", "exists", "cidr", "wildcard"]
                ),
                c,
            )
        ),
        max_leaves=12,
    )
)
def test_nothing_but_filter_errors_escapes(junk: Any) -> None:
    with contextlib.suppress(fyke.FilterError):
        read(junk)


@pytest.mark.parametrize(
    "wildcard", ["/Users/*/dir/dir/dir/dir/dir/doc.txt", "*a*b*c*d*e*", "*", "x"]
)
def test_a_usual_wildcard_is_not_too_complex(wildcard: str) -> None:
    assert read({"a": [{"wildcard": wildcard}]})


def test_wildcards_of_a_field_are_judged_together() -> None:
    def wildcards(count: int) -> list[dict[str, str]]:
        return [{"wildcard": f"*:stack/Stack{number}/*"} for number in range(count)]

    assert read({"a": wildcards(3)})
    with pytest.raises(fyke.FilterError, match="too complex together"):
        read({"a": wildcards(4)})
    assert read({"a": wildcards(3), "b": wildcards(3)})
    assert read({"a": [{"wildcard": "*:stack/Same/*"}] * 5})


def test_large_inputs_stay_linear() -> None:
    started = time.perf_counter()
    wide = {"a": [{"x": i, "y": -i, "z": [{"w": i}]} for i in range(8_000)]}
    apart = {"a": {"x": [{"numeric": [">", -1]}], "y": [1], "z": {"w": [{"anything-but": 1}]}}}
    assert not check(json.dumps(apart))(Event(wide))
    assert not matches({"a": {"x": [7], "y": [7]}}, wide)
    with pytest.raises(fyke.FilterError):
        read({"k" * 400_000: {str(i): [1] for i in range(20_000)}})
    with pytest.raises(fyke.FilterError):
        read(
            {
                "a": [{"prefix": str(i)} for i in range(2_000)],
                "$or": [{"b": [i]} for i in range(900)],
            }
        )
    assert read({"a": [{"wildcard": "\\*" * 100_000}]})
    assert read({".".join("a" * 50_000): ["x"]})
    assert time.perf_counter() - started < 10
