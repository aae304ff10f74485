"""The papers' own worked examples about filters, by the numbers of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest

import fyke
from fyke.events.event import Event
from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.normal_form import simplify
from fyke.filters.dialects import das
from fyke.filters.filter import FALSE, TRUE, Filter

# --- SUM: subscription summarization --------------------------------------------------------------

SUM_EVENT = {
    "exchange": "NYSE",
    "symbol": "OTE",
    "when": datetime(2003, 7, 1, 10, 5, 25, tzinfo=UTC),  # 12:05:25 EET
    "price": 8.40,
    "volume": 132700,
    "high": 8.80,
    "low": 8.22,
}
SUM_S1 = {
    "siena": """
        string exchange ~ "N*SE"
        string symbol   = "OTE"
        float  price    < 8.70
        float  price    > 8.30
    """,
    "fyke": "exchange like 'N%SE' and symbol = 'OTE' and price < 8.70 and price > 8.30",
}
SUM_S2 = {
    "siena": """
        string  symbol >* "OT"
        float   price  =  8.20
        integer volume >  130000
        float   low    <  8.05
    """,
    "fyke": "symbol starts with 'OT' and price = 8.20 and volume > 130000 and low < 8.05",
}


@pytest.mark.parametrize("dialect", ["siena", "fyke"])
def test_sum_x2_the_event_matches_s1_only(dialect: str) -> None:
    s1, s2 = (fyke.parse(texts[dialect], dialect=dialect) for texts in (SUM_S1, SUM_S2))
    assert s1.matches(SUM_EVENT)
    assert not s2.matches(SUM_EVENT)
    assert s2.matches({**SUM_EVENT, "price": 8.20, "low": 8.04})


def test_sum_x2_both_notations_are_one_filter() -> None:
    for texts in (SUM_S1, SUM_S2):
        assert fyke.parse(texts["siena"], dialect="siena") == fyke.parse(texts["fyke"])


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"price": 8.30}, False),
        ({"price": 8.31}, True),
        ({"price": 8.69}, True),
        ({"price": 8.70}, False),
        ({"exchange": "NSE"}, True),
        ({"exchange": "NASDAQ"}, False),
        ({"symbol": "OTX"}, False),
    ],
)
def test_sum_x2_boundaries_of_s1(change: dict[str, object], verdict: bool) -> None:
    s1 = fyke.parse(SUM_S1["siena"], dialect="siena")
    assert s1.matches({**SUM_EVENT, **change}) is verdict


def test_sum_x5_the_exact_check_refuses_what_a_coarse_summary_reports() -> None:
    event = {"exchange": "NYSE", "symbol": "OTX", "price": 8.40}
    assert fyke.parse("symbol starts with 'OT'").matches(event)
    assert not fyke.parse(SUM_S1["fyke"]).matches(event)


def test_sum_10_string_covering() -> None:
    assert covers(fyke.parse("symbol starts with 'OT'"), fyke.parse("symbol = 'OTE'"))
    assert covers(fyke.parse("name like 'm%t'"), fyke.parse("name = 'microsoft'"))
    assert covers(fyke.parse("name like 'm%t'"), fyke.parse("name = 'micronet'"))
    assert not covers(fyke.parse("symbol = 'OTE'"), fyke.parse("symbol starts with 'OT'"))


# --- MSF: multi-stage filtering -------------------------------------------------------------------

MSF_E1 = {"symbol": "Foo", "price": 10.0, "volume": 32300}
MSF_E2 = {"symbol": "Bar", "price": 15.0, "volume": 25600}
MSF_F = fyke.parse("symbol = 'Foo' and price > 5.0")


def test_msf_x1_filters_are_functions_of_events() -> None:
    assert MSF_F.matches(MSF_E1)
    assert not MSF_F.matches(MSF_E2)


@pytest.mark.parametrize(
    "weaker", ["symbol = 'Foo'", "price > 5.0", "symbol = 'Foo' and price >= 4.5"]
)
def test_msf_x2_covering(weaker: str) -> None:
    assert covers(fyke.parse(weaker), MSF_F)
    assert not covers(MSF_F, fyke.parse(weaker))


def test_msf_x2_true_covers_all_and_all_cover_false() -> None:
    assert covers(TRUE, MSF_F)
    assert covers(MSF_F, FALSE)
    assert not covers(MSF_F, TRUE)
    assert not covers(FALSE, MSF_F)


def event_covers(one: dict[str, object], other: dict[str, object], filter: Filter) -> bool:
    """MSF-5: one covers the other for a filter iff its acceptance follows from the other's."""
    return filter.matches(one) or not filter.matches(other)


def test_msf_x3_event_covering_is_relative_to_a_filter() -> None:
    weakened: dict[str, object] = {"symbol": "Foo", "price": 10.0}
    assert event_covers(weakened, MSF_E1, MSF_F)
    assert not event_covers(weakened, MSF_E1, fyke.parse("exists volume"))


def test_msf_x4_and_x5_chains_of_covering() -> None:
    chain = [
        "type is Stock and symbol = 'DEF' and price < 10",
        "type is Stock and symbol = 'DEF' and price < 11",
        "type is Stock and symbol = 'DEF'",
        "type is Stock",
    ]
    for narrow, wide in pairwise(chain):
        assert covers(fyke.parse(wide), fyke.parse(narrow))
        assert not covers(fyke.parse(narrow), fyke.parse(wide))


# --- DAS: the profile definition language ---------------------------------------------------------

DAS_PROFILE = "PROFILE ( PRI ( a1=5 , a2>10 , TYPE=T1 ) )"


@pytest.mark.parametrize(
    ("event", "verdict"),
    [
        ("EVENT ( a1=5 , a2=11 , TYPE=T1 )", True),
        ("EVENT ( a1=5 , a2=10 , TYPE=T1 )", False),
        ("EVENT ( a1=5 , a2=11 , TYPE=T2 )", False),
        ("EVENT ( a1=4 , a2=11 , TYPE=T1 )", False),
    ],
)
def test_das_x2_the_paper_s_profile(event: str, verdict: bool) -> None:
    profile = fyke.parse(DAS_PROFILE, dialect="das")
    assert profile == fyke.parse("a1 = 5 and a2 > 10 and type = 'T1'")
    assert profile.matches(das.parse_event(event)) is verdict


@pytest.mark.parametrize("w1", [0, 40, -3])
@pytest.mark.parametrize("v", [-1, 0, 7])
def test_das_x3_notation(w1: int, v: int) -> None:
    profile = fyke.parse(f"PROFILE ( PRI ( a1={w1} , a2>{v} , TYPE=T1 ) )", dialect="das")
    for w2 in (v - 1, v, v + 1):
        event = Event({"a1": w1, "a2": w2}, type="T1")
        assert profile.matches(event) is (w2 > v)


DAS_T4 = {
    "p1": "PROFILE ( PRI ( a3=10 , a4=20 , a5=50 , TYPE=T4 ) )",
    "p2": "PROFILE ( PRI ( a3=40 , a4=10 , a5=80 , TYPE=T4 ) )",
    "p3": "PROFILE ( PRI ( a3=40 , a4=20 , a5=100 , TYPE=T4 ) )",
    "p4": "PROFILE ( PRI ( a3=40 , a5=100 , TYPE=T4 ) )",
    "p5": "PROFILE ( PRI ( a3=40 , a4=20 , a5=100 , TYPE=T4 ) )",
}


@pytest.mark.parametrize(
    ("values", "matched"),
    [
        ((40, 10, 80), {"p2"}),
        ((40, 20, 100), {"p3", "p4", "p5"}),
        ((40, 30, 100), {"p4"}),
        ((40, 10, 100), {"p4"}),
        ((10, 20, 50), {"p1"}),
        ((10, 20, 100), set()),
    ],
)
def test_das_x1_profiles_of_type_t4(values: tuple[int, int, int], matched: set[str]) -> None:
    event = Event(dict(zip(("a3", "a4", "a5"), values, strict=True)), type="T4")
    profiles = {name: fyke.parse(text, dialect="das") for name, text in DAS_T4.items()}
    assert {name for name, profile in profiles.items() if profile.matches(event)} == matched


def test_das_x1_covering() -> None:
    profiles = {name: fyke.parse(text, dialect="das") for name, text in DAS_T4.items()}
    assert profiles["p3"] == profiles["p5"]
    assert covers(profiles["p4"], profiles["p3"])
    assert not covers(profiles["p3"], profiles["p4"])
    assert covers(profiles["p3"], profiles["p5"])
    assert covers(profiles["p5"], profiles["p3"])


# --- S2S: subscriptions as boxes ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a5", "verdict"), [(1.87, False), (2.5, True), (2.2, True), (2.7, True), (2.71, False)]
)
def test_s2s_x1_a_range_subscription(a5: float, verdict: bool) -> None:
    box = fyke.parse("A2 = 30 and A5 between 2.2 and 2.7")
    assert box.matches({"A1": 5, "A2": 30, "A3": -2.5, "A4": 20, "A5": a5}) is verdict


# --- PRU: Boolean subscriptions -------------------------------------------------------------------

PRU_S1 = fyke.parse(
    "title contains 'Harry Potter'"
    " and ((condition = 'new' and price < 15.0) or (condition = 'used' and price < 10.0))"
    " and ending_within < interval '1 day'"
)
HOUR = 3600


@pytest.mark.parametrize(
    ("condition", "price", "hours", "title", "verdict"),
    [
        ("new", 14, 5, "Harry Potter 6", True),
        ("new", 15, 5, "Harry Potter 6", False),
        ("used", 9.5, 5, "Harry Potter 6", True),
        ("used", 12, 5, "Harry Potter 6", False),
        ("new", 14, 48, "Harry Potter 6", False),
        ("new", 14, 5, "Another Title", False),
    ],
)
def test_pru_x1_the_running_example(
    condition: str, price: float, hours: int, title: str, verdict: bool
) -> None:
    event = {
        "title": title,
        "condition": condition,
        "price": price,
        "ending_within": hours * HOUR,
    }
    assert PRU_S1.matches(event) is verdict


def test_pru_x2_and_x4_valid_prunings_cover() -> None:
    prefix, suffix = "title contains 'Harry Potter' and ", "ending_within < 86400"
    without_d = prefix + "((condition = 'new' and price < 15) or condition = 'used') and " + suffix
    assert covers(fyke.parse(without_d), PRU_S1)
    assert covers(fyke.parse(prefix + suffix), PRU_S1)
    assert not covers(PRU_S1, fyke.parse(prefix + suffix))


def test_pru_x3_removing_a_child_of_an_or_does_not_cover() -> None:
    s7 = fyke.parse(
        "title contains 'Harry Potter' and condition = 'new' and price < 15"
        " and ending_within < 86400"
    )
    assert not covers(s7, PRU_S1)
    assert covers(PRU_S1, s7)


def test_pru_x5_replacement_covers() -> None:
    s8 = fyke.parse(
        "title contains 'Harry Potter'"
        " and ((condition = 'new' and price < 15) or (condition = 'used' and price < 15))"
        " and ending_within < 86400"
    )
    assert covers(s8, PRU_S1)
    assert not covers(PRU_S1, s8)


def test_pru_x6_true_vanishes() -> None:
    a, b = fyke.parse("a = 1"), fyke.parse("b = 2")
    assert simplify(a & TRUE) == a
    assert simplify(a & (b | TRUE)) == a
