"""The paper's examples SUM-X1 to SUM-X6, and the readings Q1 to Q7."""

from __future__ import annotations

import pytest

import fyke
from fyke.events.domain import Enumeration, Integer, Real, String
from fyke.events.schema import Attribute, Schema
from fyke.summaries.encoding import SummaryError
from fyke.summaries.identifiers import IdLayout, SubscriptionId
from fyke.summaries.summary import Summary

S1 = "exchange like 'N%SE' and symbol = 'OTE' and price < 8.70 and price > 8.30"
S2 = "symbol starts with 'OT' and price = 8.20 and volume > 130000 and low < 8.05"
EVENT = {
    **{"exchange": "NYSE", "symbol": "OTE", "when": "2003-07-01T09:05:25Z", "price": 8.40},
    **{"volume": 132700, "high": 8.80, "low": 8.22},
}
PAPER = Schema(
    [
        Attribute("exchange", String()),
        Attribute("symbol", String()),
        Attribute("price", Real()),
        Attribute("volume", Integer()),
        Attribute("low", Real()),
    ]
)


def _summary(mode: str, order: int = 1) -> Summary:
    pairs = [("S1", S1), ("S2", S2)][::order]
    return fyke.Summary.of(pairs, mode, schema=PAPER)


@pytest.mark.parametrize("order", [1, -1])
def test_x3_figures_4_and_5(order: int) -> None:
    assert _summary("coarse", order).describe().splitlines()[1:] == [
        "exchange: 1 row",
        "  like 'N%SE'              → S1",
        "low: 1 row",
        "  (-∞, 8.05)               → S2",
        "price: 2 rows",
        "  = 8.2                    → S2",
        "  (8.3, 8.7)               → S1",
        "symbol: 1 row",
        "  starts with 'OT'         → S1, S2",
        "volume: 1 row",
        "  (130000, ∞)              → S2",
    ]


@pytest.mark.parametrize("mode", ["coarse", "exact"])
def test_x4_matching(mode: str) -> None:
    assert _summary(mode).match(EVENT) == ["S1"]
    assert not _summary(mode).may_match({**EVENT, "exchange": "LUX"})


def test_x5_imprecision() -> None:
    other = {"exchange": "NYSE", "symbol": "OTX", "price": 8.40}
    assert _summary("coarse").match(other) == ["S1"]
    assert _summary("exact").match(other) == []
    assert not fyke.parse(S1).matches(other)


def test_x6_ids() -> None:
    layout = IdLayout.of(brokers=4, subscriptions=8, attributes=7)
    id = SubscriptionId.of(2, 1, [3, 5, 6])
    assert layout.encode(id) == 2228 == 0b10_001_0110100
    assert layout.decode(2228) == id
    assert (id.popcount, id.attributes) == (3, (3, 5, 6))
    assert IdLayout.of(1_000, 1_000_000, 5) == IdLayout(10, 20, 5)
    assert IdLayout.of(1, 1, 0).bits == 0
    wider = IdLayout.of(4, 8, 8)  # another attribute (SUM-F2)
    assert wider.decode(wider.encode(id)) == id
    for wrong in (2228 << 1, -1):
        with pytest.raises(SummaryError, match="no id of 12 bits"):
            layout.decode(wrong)
    with pytest.raises(SummaryError, match="c3 is 128, which needs more than 7 bits"):
        layout.encode(SubscriptionId.of(2, 1, [8]))


def test_ids_know_the_attributes_of_the_schema() -> None:
    ids = _summary("coarse").identifiers()
    assert ids["S1"].attributes == (1, 2, 3)
    assert (ids["S2"].attributes, ids["S2"].popcount) == ((2, 3, 4, 5), 4)


def test_an_attribute_that_is_added_while_everything_runs_changes_no_id() -> None:
    """SUM-F2: only ids that have it get the new bit; what has the old schema is merged as it is."""
    old = Schema([Attribute("volume", Real()), Attribute("price", Real())])
    new = Schema([*old.attributes, Attribute("fee", Real())])
    here = Summary.of([("s1", "price < 3"), ("s2", "volume > 5 and price = 1")], schema=old)
    before = here.identifiers(old)
    assert [each.attributes for each in before.values()] == [(2,), (1, 2)]
    there = Summary.of([("s3", "fee > 1 and price < 9")], schema=new, owner="b2", version=1)
    shipped = [Summary.from_bytes(each.to_bytes(names=True)) for each in (here, there)]
    both = shipped[0] | shipped[1]
    after = both.identifiers(new)
    assert {name: after[name].c3 for name in before} == {
        name: each.c3 for name, each in before.items()
    }
    assert after["s3"].attributes == (2, 3)
    assert "s3" in both.match({"price": 4, "fee": 2})
    assert not both.may_match({"price": 9, "fee": 2})


@pytest.mark.parametrize(("mode", "price", "found"), [("exact", 8.30, []), ("coarse", 8.70, [])])
def test_q2_open_ends(mode: str, price: float, found: list[str]) -> None:
    assert _summary(mode).match({**EVENT, "price": price}) == found


def test_q3_overlapping_ranges() -> None:
    pairs = [("a", "x >= 1 and x <= 5"), ("b", "x >= 3 and x <= 8")]
    schema = Schema([Attribute("x", Real())])
    coarse, exact = (Summary.of(pairs, mode, schema=schema) for mode in ("coarse", "exact"))
    assert [sorted(exact.match({"x": x})) for x in (2, 4, 6)] == [["a"], ["a", "b"], ["b"]]
    assert [sorted(coarse.match({"x": x})) for x in (2, 4, 6, 9)] == [["a", "b"]] * 3 + [[]]


@pytest.mark.parametrize(
    ("text", "is_accepted"), [("NYSE", True), ("NSE", True), ("NE", False), ("SE", False)]
)
def test_q4_inner_stars(text: str, is_accepted: bool) -> None:
    summary = Summary.of([("s", "a like 'N%SE'")])
    assert summary.may_match({"a": text}) is is_accepted
    assert not Summary.of([("s", "a like 'ab%bc'")]).may_match({"a": "abc"})


def test_q5_a_later_range_does_not_hide_an_equality() -> None:
    summary = Summary.of([("e", "x = 4")])
    summary.add("r", "x > 1 and x < 9")
    assert sorted(summary.match({"x": 4})) == ["e", "r"]


def test_q6_attributes_are_counted_and_not_lists() -> None:
    pairs = [("two", "a like 'a%' and a like '%b' and x = 1"), ("not", "x != 3 and a = 'ab'")]
    for mode in ("coarse", "exact"):
        summary = Summary.of(pairs, mode)
        assert sorted(summary.match({"a": "ab", "x": 1})) == ["not", "two"]
        assert summary.match({"a": "ab"}) == []
    assert Summary.of(pairs, "exact").match({"a": "ac", "x": 1}) == []


def test_q7_and_what_filters_have_that_the_paper_has_not() -> None:
    summary = Summary.of(
        [
            ("unequal", "x != 3"),
            ("bounds", "y > 1 and y < 5"),
            ("exists", "exists z"),
            ("type", "type is Stock"),
            ("null", "n is null"),
            ("never", "false"),
            ("negation", "not w = 1"),
            ("fields", "u < v"),
        ]
    )
    always = ["fields", "negation"]
    assert summary.always == summary.match({}) == always
    assert summary.match({"x": 3}) == summary.match({})
    for value in (None, "3", True, 4, [3, 4]):
        assert "unequal" in summary.match({"x": value})
    assert "bounds" in summary.match({"y": [0, 9]})
    assert "bounds" not in summary.match({"y": 9})
    assert "exists" in summary.match({"z": []})
    assert "null" in summary.match({"n": None})
    assert "type" in summary.match(fyke.Event({"type": "Share"}, supertypes=["Stock"]))
    assert "never" not in summary.match({"x": 1})
    assert len(summary) == 8


def test_a_declared_enumeration_has_ranges_in_its_order() -> None:
    schema = Schema([Attribute("level", Enumeration(("low", "mid", "high", "top")))])
    summary = Summary.of([("s", "level >= 'high'")], schema=schema)
    assert [summary.may_match({"level": each}) for each in ("low", "high", "top")] == [
        False,
        True,
        True,
    ]
    assert not summary.may_match({"level": "other"})


def test_exact_mode_equals_a_matcher_on_conjunctions_over_single_values() -> None:
    from fyke.workloads.named import workload

    stock = workload("stock")
    pairs = [(each.id, each.filter) for each in map(stock.subscription, range(300))]
    matcher = fyke.Matcher("scan")
    matcher.add_many(pairs)
    summary = Summary.of(matcher, "exact")
    some = 0
    for event in map(stock.event, range(300)):
        found = matcher.match(event)
        some += bool(found)
        assert sorted(summary.match(event)) == sorted(found)
    assert some > 50
