"""Input that is wrong, huge or meant to hurt: refused by name, or answered in bounded time."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Callable, Iterator
from time import perf_counter, process_time

import pytest

import fyke
from fyke.filters.filter import conjunction, disjunction, negation
from fyke.filters.predicate import equals
from fyke.filters.text_predicate import contains
from fyke.matching.matcher import Matcher


def frozen(count: int = 40) -> Matcher:
    """A matcher whose subscriptions are all in segments."""
    matcher = Matcher()
    matcher.add_many((f"s{i}", f"a = {i} and b < {i}") for i in range(count))
    matcher.match({})
    return matcher


def test_ids_that_are_wrong() -> None:
    matcher = frozen()
    for refused in (
        lambda: matcher.add("s1", "true"),
        lambda: matcher.add_many([("new", "a = 3"), ("s1", "true")]),
        lambda: matcher.remove("nobody"),
        lambda: matcher.remove(None),  # type: ignore[arg-type]
        lambda: matcher.replace("nobody", "true"),
        lambda: matcher.replace("s1", "a <"),
    ):
        with pytest.raises(fyke.FykeError):
            refused()
    matcher.remove("s2")
    with pytest.raises(fyke.FykeError):
        matcher.remove("s2")
    assert matcher.match({"a": 3, "b": 0}) == ["s3", "new"]
    assert matcher.match({"a": 2, "b": 0}) == []


def test_values_of_the_wrong_kind_match_nothing() -> None:
    matcher = frozen()
    for value in ("7", True, None, [], ["7", None], 7.5, {"c": 7}, 2**53 + 1, -(2**63), 1e300):
        assert matcher.match({"a": value, "b": -1}) == []
        assert matcher.match({"a": 7, "b": value}) == (["s7"] if value == -(2**63) else [])
    assert matcher.match({"a": 7.0, "b": -0.0}) == ["s7"]
    assert matcher.match({"a": [1, "x", 7], "b": [99, 0]}) == ["s1", "s7"]
    for no_event in (7, None, "a = 1", [1], {"a": float("nan")}, {"a": b"x"}, {7: 1}, {"a": 2**63}):
        with pytest.raises(fyke.FykeError):
            matcher.match(no_event)  # type: ignore[arg-type]
    assert matcher.match({"a": 7, "b": 1}) == ["s7"]


def test_an_event_of_very_many_attributes() -> None:
    matcher = frozen()
    matcher.add_many((f"k{i}", f"k{i} = {i} or t{i} like 'x%'") for i in range(1_000))
    event = {f"k{i}": i for i in range(5_000)} | {f"t{i}": f"x{i}" for i in range(5_000)}
    assert len(matcher.match(event)) == 1_000
    assert matcher.match({**event, "a": 5, "b": 1})[:1] == ["s5"]
    long_list = {"a": [*range(5_000)], "b": [*range(5_000)]}
    assert len(matcher.match(long_list)) == 39


def test_trees_that_would_explode() -> None:
    """Twenty choices of five, of which five to the twentieth are boxes, and the same negated."""
    choices = [disjunction([equals(f"a{i}", value) for value in range(5)]) for i in range(20)]
    exploding = conjunction(choices)
    matcher = Matcher()
    begin = perf_counter()
    matcher.add_many((f"s{i}", conjunction([exploding, equals("n", i)])) for i in range(40))
    matcher.add_many((f"not{i}", negation(exploding)) for i in range(40))
    matcher.add_many((f"or{i}", disjunction([exploding, equals("n", i)])) for i in range(40))
    event = {f"a{i}": i % 5 for i in range(20)}
    assert sorted(matcher.match({**event, "n": 3})) == sorted(
        ["s3", *(f"or{i}" for i in range(40))]
    )
    assert sorted(matcher.match({"n": 3})) == sorted(["or3", *(f"not{i}" for i in range(40))])
    assert perf_counter() - begin < 5


@pytest.fixture
def traced() -> Iterator[Callable[[], tuple[int, int]]]:
    """Bytes that were allocated since, and the most that there were."""
    compiling = Matcher()
    compiling.add_many((f"s{i}", contains("t", f"w{i:06}x")) for i in range(5_000))
    compiling.match({"t": ["w000007x", "w"]})
    gc.collect()
    tracemalloc.start(1)
    yield tracemalloc.get_traced_memory
    tracemalloc.stop()


@pytest.mark.long
def test_a_hundred_thousand_patterns(traced: Callable[[], tuple[int, int]]) -> None:
    fewer, count = 10_000, 100_000
    _, fewer_s = with_patterns(fewer)
    gc.collect()
    before, _ = traced()
    matcher, taken_s = with_patterns(count)
    assert taken_s < 2.5 * fewer_s * count / fewer  # ten times as many take little more than that
    assert matcher.match({"t": ["w050000x", "w050000"]}) == ["s50000"]
    held, most = traced()
    assert held - before < 650 * count
    assert most < 1_000 * count


def with_patterns(count: int) -> tuple[Matcher, float]:
    """A matcher that has found the last of so many patterns, and how long that took."""
    begin = process_time()
    matcher = Matcher()
    matcher.add_many((f"s{i}", contains("t", f"w{i:06}x")) for i in range(count))
    last = count - 1
    assert matcher.match({"t": f"..w000007x..w{last:06}x.."}) == ["s7", f"s{last}"]
    assert matcher.match({"t": "w" * 10_000}) == []
    return matcher, process_time() - begin


def test_long_patterns_take_memory_by_their_bytes(traced: Callable[[], tuple[int, int]]) -> None:
    """Texts of random letters share nothing: every byte of a pattern is a state of its own."""
    draw = random.Random(5)
    patterns = ["".join(draw.choices("ab€\U0001f600", k=250)) for _ in range(1_000)]
    size = sum(len(pattern.encode()) for pattern in patterns)
    matcher = Matcher()
    matcher.add_many((f"s{i}", contains("t", pattern)) for i, pattern in enumerate(patterns))
    assert matcher.match({"t": f"..{patterns[7]}.."}) == ["s7"]
    assert matcher.match({"t": "ab" * 50_000}) == []
    held, most = traced()
    assert held < 30 * size
    assert most < 60 * size


def test_names_and_values_that_are_nasty() -> None:
    matcher = Matcher()
    for id, name, value in (
        ("empty", "", ""),
        ("nul", "n\0l", "\0"),
        ("astral", "\U0001f600", "\U0010ffff"),
        ("long", "x" * 5_000, "y" * 50_000),
        ("true", "v", True),
        ("one", "v", 1),
        ("null", "v", None),
        ("big", "v", 2**53 + 1),
    ):
        matcher.add(id, equals(name, value))
    matcher.add_many((f"s{i}", f"a = {i}") for i in range(40))
    matcher.match({})
    assert matcher.match({"\U0001f600": "\U0010ffff"}) == ["astral"]
    assert matcher.match({"x" * 5_000: "y" * 50_000}) == ["long"]
    assert matcher.match({"x" * 5_000: "y" * 49_999}) == []
    assert matcher.match({"n\0l": "\0"}) == ["nul"]
    assert matcher.match({"v": 1.0}) == ["one"]
    assert matcher.match({"v": True}) == ["true"]
    assert matcher.match({"v": None}) == ["null"]
    assert matcher.match({"v": 2**53 + 1}) == ["big"]
    assert matcher.match({"v": float(2**53)}) == []
    assert sorted(matcher.match({"v": [None, 1, True]})) == ["null", "one", "true"]
