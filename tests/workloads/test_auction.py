"""The auction workload and the mix of both: laws, ranges, the paper's classes and distributions."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

import fyke
from fyke.errors import FykeError
from fyke.filters.filter import And, Filter, Or, walk
from fyke.filters.predicate import Predicate, TypeIs
from fyke.testing.workload import check_workload, match_fraction
from fyke.workloads.auction import COVERS, AuctionWorkload
from fyke.workloads.library import AUTHORS, BOOKS, CATEGORIES, library
from fyke.workloads.named import WORKLOADS, workload
from fyke.workloads.stock import StockWorkload
from fyke.workloads.stock_and_auction import StockAndAuctionWorkload

AUCTION = AuctionWorkload(seed=7)


def test_laws() -> None:
    check_workload(AUCTION, AuctionWorkload(seed=8))
    check_workload(StockAndAuctionWorkload(seed=7), StockAndAuctionWorkload(seed=8))
    together = {"joint": True}
    for options in (together, together | {"equal_titles": True}, together | {"even_signed": True}):
        check_workload(AuctionWorkload(7, **options), AuctionWorkload(8, **options))


def test_parts_of_a_copy_depend_on_each_other_where_they_are_drawn_together():
    for joint in (False, True):
        copies = AuctionWorkload(7, joint=joint).columns(20_000).to_pylist()
        signed = [copy["cover"] == "hard" for copy in copies if copy["signed"]]
        others = [copy["cover"] == "hard" for copy in copies if not copy["signed"]]
        apart = sum(signed) / len(signed) - sum(others) / len(others)
        assert apart > 0.2 if joint else abs(apart) < 0.08


def test_signed_copies_can_be_equally_common_in_all_categories():
    def shares(workload: AuctionWorkload) -> list[float]:
        copies, signed = Counter[str](), Counter[str]()
        for copy in workload.columns(40_000).to_pylist():
            copies[copy["category"]] += 1
            signed[copy["category"]] += copy["signed"]
        return [signed[name] / number for name, number in copies.items() if number > 1_000]

    uneven = shares(AuctionWorkload(7, joint=True))
    even = shares(AuctionWorkload(7, joint=True, even_signed=True))
    assert max(uneven) > 5 * min(uneven) and max(even) < 1.5 * min(even)
    with pytest.raises(FykeError, match="joint=True"):
        AuctionWorkload(7, even_signed=True)


def test_equal_titles_are_equally_popular():
    even = AuctionWorkload(7, equal_titles=True)
    counts = Counter(even.columns(20_000)["title"].to_pylist())
    assert max(counts.values()) < 60 and len(counts) > 700


def test_events_stay_in_their_ranges() -> None:
    books = {(book.title, book.author) for book in library(7).books}
    for event in AUCTION.events(3_000):
        copy = event.attributes
        assert event.supertypes == ("MarketEvent",)
        assert (copy["title"], copy["author"]) in books
        assert copy["category"] in CATEGORIES
        assert copy["condition"] in ("new", "used")
        assert copy["cover"] in COVERS
        assert type(copy["signed"]) is type(copy["buy_it_now"]) is bool
        assert 0.01 <= copy["price"] <= 1000.00  # type: ignore[operator]
        assert type(copy["bids"]) is int
        assert 0 <= copy["bids"] <= 100
        assert type(copy["ending_within"]) is int
        assert 60 <= copy["ending_within"] <= 864_000
        assert set(copy) == {
            "type", "title", "author", "category", "condition", "cover", "signed", "buy_it_now",
            "price", "bids", "ending_within",
        }  # fmt: skip


def test_the_library_is_the_paper_s() -> None:
    books = library(7).books
    assert len(books) == BOOKS
    assert len(CATEGORIES) == 22
    categories = defaultdict(set)
    for book in books:
        categories[book.author].add(book.category)
    assert 0.95 * AUTHORS < len(categories) <= AUTHORS
    several = sum(len(found) > 1 for found in categories.values())
    assert 0.05 < several / len(categories) <= 0.11
    repeated = BOOKS - len({book.title for book in books})
    assert 0.008 < repeated / BOOKS < 0.016


def test_distributions_of_the_paper() -> None:
    events = [event.attributes for event in AUCTION.events(20_000)]
    by_category: dict[object, list[bool]] = defaultdict(list)
    for event in events:
        by_category[event["category"]].append(event["signed"] is True)
    sizes = sorted(map(len, by_category.values()))
    assert len(sizes) == 22
    assert sizes[-1] > 8 * sizes[0], "category sizes are uneven"
    shares = [sum(signed) / len(signed) for signed in by_category.values()]
    assert max(shares) > 5 * min(shares), "the signed share is uneven"
    ending = sum(event["ending_within"] < 86_400 for event in events)  # type: ignore[operator]
    assert abs(ending / 20_000 - 0.1) < 0.01
    without_bids = sum(event["bids"] == 0 for event in events)
    assert 0.3 < without_bids / 20_000 < 0.6
    cheap = sum(event["price"] < 10 for event in events)  # type: ignore[operator]
    assert 0.4 < cheap / 20_000 < 0.9


@pytest.mark.parametrize(("number", "predicates"), [(1, 6), (2, 12), (3, 6)])
def test_classes_are_the_paper_s_trees(number: int, predicates: int) -> None:
    exact = AuctionWorkload(seed=7, classes=(number,), typed=False)
    typed = AuctionWorkload(seed=7, classes=(number,))
    for bare, full in zip(exact.subscriptions(50), typed.subscriptions(50), strict=True):
        leaves = [node for node in walk(bare.filter) if isinstance(node, Predicate)]
        assert len(leaves) == predicates
        assert prunings(bare.filter) == {1: 4, 2: 8, 3: 3}[number]
        assert full.filter == TypeIs("Auction") & bare.filter


def prunings(filter: Filter) -> int:
    """The longest series of valid prunings: each removes a child of an And; one child remains."""
    inner = sum(map(prunings, filter.children))
    return inner + len(filter.children) - 1 if isinstance(filter, And) else inner


def test_classes_are_mixed_evenly() -> None:
    counts = Counter(AUCTION.text(number).count(" or ") for number in range(3_000))
    assert set(counts) == {1, 3, 2}
    assert all(850 < count < 1150 for count in counts.values())
    assert AuctionWorkload(7, (3,)).text(5).count("author") == 1


def test_an_example_of_each_class_means_what_it_says() -> None:
    text = AuctionWorkload(seed=7, classes=(3,), typed=False).text(0)
    filter = fyke.parse(text)
    wanted = {"category": text.split("'")[1], "signed": True, "bids": 0, "buy_it_now": False}
    assert filter.matches({**wanted, "ending_within": 3_599})
    assert not filter.matches({**wanted, "ending_within": 3_600})
    assert filter.matches({**wanted, "ending_within": 3_600, "buy_it_now": True})
    assert not filter.matches({**wanted, "ending_within": 3_599, "signed": False})
    assert all(isinstance(node, (And, Or, Predicate)) for node in walk(filter))


@pytest.mark.parametrize(
    "workload", [AUCTION, StockAndAuctionWorkload(seed=7)], ids=lambda w: w.name
)
def test_events_match_few_subscriptions(workload: AuctionWorkload) -> None:
    assert 0.0005 < match_fraction(workload, events=1_500, subscriptions=600) < 0.01


@pytest.mark.parametrize("number", [1, 2, 3])
def test_most_subscriptions_match_something(number: int) -> None:
    events = list(AUCTION.events(8_000))
    some = AuctionWorkload(seed=7, classes=(number,)).subscriptions(60)
    assert sum(any(map(one.filter.matches, events)) for one in some) > 30


def test_the_mix_alternates() -> None:
    mixed = StockAndAuctionWorkload(seed=7)
    assert [event.type for event in mixed.events(4)] == ["Stock", "Auction", "Stock", "Auction"]
    assert mixed.event(4) == StockWorkload(7).event(2)
    assert mixed.event(5) == AUCTION.event(2)
    assert mixed.subscription(5) == AUCTION.subscription(2)
    wanted = fyke.parse("type is MarketEvent")
    assert all(map(wanted.matches, mixed.events(4)))


def test_workloads_by_name() -> None:
    benchmarks = {"w1", "w2_3", "w2_10", "w3", "w4", "w5"}
    markets = {"stock", "auction", "stock_and_auction"}
    assert set(WORKLOADS) == markets | {"bibliography", "sensors", "boxes"} | benchmarks
    for name in WORKLOADS:
        assert workload(name, 3).name == name
        assert workload(name, 3).seed == 3
    assert workload("stock", 7) == StockWorkload(7)
    assert workload("auction", 7) != StockWorkload(7)
    with pytest.raises(FykeError, match="stock_and_auction"):
        workload("nothing")


def test_rows_stay_what_they_are() -> None:
    """Numbers that others recorded with a seed must keep their meaning."""
    event = AUCTION.event(1).attributes
    assert (event["title"], event["price"]) == ("The Wandering Almanac of Daver", 8.09)
    assert AUCTION.text(3) == (
        "type is Auction and title contains 'Gilded Map' and ending_within < interval '1 day'"
        " and (condition = 'new' and price < 6.67 or condition = 'used' and price < 4.28)"
    )
