"""PRU-X1 to PRU-X10, the paper's own examples."""

from __future__ import annotations

import pytest

from fyke import covers, parse, simplify
from fyke.filters.filter import Filter, conjunction
from fyke.pruning.queue import PruningQueue
from fyke.pruning.selectivity import SCALAR
from fyke.pruning.shape import Candidate, Shape, read
from fyke.pruning.steps import UNIT, degradation
from fyke.testing.covering import check_covers

S1 = parse(
    "title contains 'Harry Potter' and (condition = 'new' and price < 15.0"
    " or condition = 'used' and price < 10.0) and ending_within < 86400"
)
SHARES = {
    "title contains 'Harry Potter'": 0.0002,
    "ending_within < 86400": 0.1,
    "condition = 'new'": 0.2,
    "price < 15": 0.93,
    "condition = 'used'": 0.8,
    "price < 10": 0.9,
}
BOOK = {"title": "Harry Potter 1", "ending_within": 5 * 3600}
EVENTS = [
    {**BOOK, "condition": condition, "price": price}
    for condition in ("new", "used")
    for price in (9.5, 12.0, 14.0, 15.0, 20.0)
]


def shape_of(filter: Filter) -> tuple[Shape, list[Filter]]:
    key, literals = read(filter)
    return Shape(key), literals


def node_of(filter: Filter, part: str) -> int:
    shape, literals = shape_of(filter)
    found = [
        node
        for node in range(len(shape.kinds))
        if shape.filter(shape.whole, literals, node) == parse(part)
    ]
    return found[0]


def pruned(filter: Filter, part: str) -> Filter:
    shape, literals = shape_of(filter)
    return shape.filter(shape.without(shape.whole, node_of(filter, part)), literals)


def share_of(literal: Filter) -> float:
    return SHARES[str(literal)]


def test_x1_the_subscription():
    shape, literals = shape_of(S1)
    assert len(literals) == 6 and sum(map(bool, shape.kinds)) == 4
    accepted = [(each["condition"], each["price"]) for each in EVENTS if S1.matches(each)]
    assert accepted == [("new", 9.5), ("new", 12.0), ("new", 14.0), ("used", 9.5)]
    assert not S1.matches({**EVENTS[0], "ending_within": 2 * 86400})
    assert not S1.matches({**EVENTS[0], "title": "Dune"})


def test_x2_a_valid_pruning_collapses_what_is_left():
    s6 = pruned(S1, "price < 10")
    assert s6 == parse(
        "title contains 'Harry Potter' and (condition = 'new' and price < 15"
        " or condition = 'used') and ending_within < 86400"
    )
    assert s6.matches({**BOOK, "condition": "used", "price": 12})
    assert covers(s6, S1) and check_covers(s6, S1, EVENTS) == 4


def test_x3_a_child_of_a_disjunction_is_refused():
    with pytest.raises(ValueError, match="no child of a conjunction"):
        pruned(S1, "condition = 'used' and price < 10")
    s7 = parse(
        "title contains 'Harry Potter' and condition = 'new' and price < 15"
        " and ending_within < 86400"
    )
    with pytest.raises(AssertionError, match="lost"):
        check_covers(s7, S1, EVENTS)
    with pytest.raises(ValueError):
        shape, _ = shape_of(S1)
        shape.without(shape.whole, 0)


def test_x4_a_whole_disjunction_may_go():
    left = pruned(S1, "condition = 'new' and price < 15 or condition = 'used' and price < 10")
    assert left == parse("title contains 'Harry Potter' and ending_within < 86400")


def test_x6_the_universal_predicate_is_the_one_meaning():
    assert simplify(parse("a = 1 and true")) == parse("a = 1")
    assert simplify(parse("a = 1 and (b = 2 or true)")) == parse("a = 1")
    universal = conjunction(
        parse("true") if child == parse("ending_within < 86400") else child for child in S1.children
    )
    assert simplify(universal) == simplify(pruned(S1, "ending_within < 86400"))


def test_x7_the_share_of_h():
    h = parse("condition = 'new' and price < 15 or condition = 'used' and price < 10")
    shape, literals = shape_of(h)
    least, likely, most = shape.share(shape.whole, [share_of(each) for each in literals], SCALAR)
    assert (round(least, 2), round(likely, 2), round(most, 2)) == (0.7, 0.77, 1.0)
    assert likely - least < most - likely


def test_x8_degradation_is_absolute():
    for before, after in ((0.4, 0.8), (0.04, 0.08)):
        pruned = Candidate(1, (after, after, after))
        cost = degradation(pruned, (before, before, before), SCALAR)
        assert cost / UNIT == pytest.approx(after - before)


def test_x9_seven_candidates():
    shape, literals = shape_of(S1)
    found = [shape.filter(shape.whole, literals, node) for node in shape.candidates(shape.whole)]
    assert [str(each) for each in found if not each.children] == [
        "title contains 'Harry Potter'",
        "condition = 'new'",
        "price < 15",
        "condition = 'used'",
        "price < 10",
        "ending_within < 86400",
    ]
    assert len(found) == 7


def counts(filter: Filter, share) -> list[int]:
    queue = PruningQueue(share)
    queue.add("s", filter)
    left = [len(read(filter)[1])]
    while (step := queue.pop()) is not None:
        left.append(len(read(step.filter)[1]))
    return left


CLASS_2 = parse(
    "title contains 'Harry Potter' and ending_within < 86400 and (condition = 'new' and"
    " (cover = 'hard' and price < 15 or cover = 'soft' and price < 10) or condition = 'used' and"
    " (cover = 'hard' and price < 15 or cover = 'soft' and price < 10))"
)
CLASS_3 = parse(
    "(category = 'a' or author = 'b') and signed = true"
    " and (ending_within < 3600 and bids = 0 or buy_it_now = true)"
)
MORE = {
    **SHARES,
    **{"cover = 'hard'": 0.3, "cover = 'soft'": 0.7},
    **{"author = 'b'": 0.001, "ending_within < 3600": 0.004, "bids = 0": 0.5},
    "buy_it_now = true": 0.3,
}


@pytest.mark.parametrize(
    ("filter", "shares", "expected"),
    [
        (S1, SHARES, [6, 5, 4, 2, 1]),
        (CLASS_2, MORE, [12, 11, 10, 9, 7, 6, 5, 2, 1]),
        (CLASS_3, {**MORE, "category = 'a'": 0.1, "signed = true": 0.05}, [6, 5, 3, 1]),
        (CLASS_3, {**MORE, "category = 'a'": 0.03, "signed = true": 0.2}, [6, 5, 3, 2]),
    ],
)
def test_x10_predicates_left(filter, shares, expected):
    assert counts(filter, lambda literal: shares[str(literal)]) == expected


def test_x10_the_order_of_s1():
    queue = PruningQueue(share_of)
    queue.add("s1", S1)
    dropped = [str(step.dropped) for step in iter(queue.pop, None)]
    assert set(dropped[:2]) == {"price < 10", "price < 15"}
    assert dropped[2:] == [
        "condition = 'new' or condition = 'used'",
        "ending_within < 86400",
    ]
