"""Book auctions and the three classes of subscriptions of PRU (section 6.1, ledger PRU-Q6).

An event is an offered copy of a book: title, author, category, condition (new, used), cover (hard,
soft, leather, audio), signed, buy_it_now, price, bids and ending_within (seconds). Its type is
Auction, a MarketEvent. Condition, cover, signed, price, bids and buy_it_now follow distributions
that differ by category, above all the signed share.

    class 1   title and end < 1 day and ((new and price < a) or (used and price < b))
    class 2   the same with a price for each condition and cover (hard, soft)
    class 3   (category or author) and signed and ((end < 1 hour and bids = 0) or buy_it_now)

Each stands below `type is Auction`; with `typed=False` the trees are those of the paper, with 6, 12
and 6 predicates. An event matches about one of a thousand subscriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from fyke.events.event import Event
from fyke.workloads.draw import Choice, Ranges, Stream, popularity
from fyke.workloads.library import BOOKS, CATEGORIES, category, library, phrase
from fyke.workloads.workload import Workload, money

COLLECTORS: Final = 5_000
COVERS: Final = ("hard", "soft", "leather", "audio")
ENDING_MIN_S: Final = 60
ENDING_MAX_S: Final = 864_000
PRICE_ENDS: Final = (
    1, 100, 200, 300, 400, 500, 600, 800,
    1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 25_000, 100_001,
)  # fmt: skip
"""In cents: 15 ranges."""
BIDS_ENDS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 45, 70, 101)
"""16 ranges."""

_SUPERTYPES: Final = ("MarketEvent",)
_PRICE_WEIGHTS: Final = (90, 95, 90, 85, 80, 75, 110, 90, 110, 60, 50, 35, 20, 8, 2)
_BIDS_WEIGHTS: Final = (520, 130, 70, 50, 40, 35, 30, 25, 30, 20, 18, 14, 10, 5, 2, 1)
_BY_BOOK: Final = popularity(BOOKS, flat=100)


@dataclass(frozen=True, slots=True)
class Shelf:
    """How the copies of one category are distributed; shares are per mille."""

    cover: Choice
    price: Ranges
    bids: Ranges
    new: int
    signed: int
    buy_it_now: int


def _shelf(number: int) -> Shelf:
    """Dearer, barer and more often signed categories alternate with the others."""
    dear, wanted, rare = number % 4, number % 3, number % 5
    return Shelf(
        cover=Choice((300 + 40 * dear, 600, 40 + 10 * rare, 60)),
        price=Ranges(PRICE_ENDS, [w * (4 + dear * at) for at, w in enumerate(_PRICE_WEIGHTS)]),
        bids=Ranges(BIDS_ENDS, [w * (4 + wanted * at) for at, w in enumerate(_BIDS_WEIGHTS)]),
        new=350 + 50 * wanted,
        signed=(30, 60, 15, 120, 200)[rare],
        buy_it_now=250 + 60 * dear,
    )


_SHELVES: Final = tuple(map(_shelf, range(len(CATEGORIES))))


@lru_cache(maxsize=8)
def _streams(seed: int) -> tuple[Stream, Stream]:
    return Stream(seed, "copies"), Stream(seed, "collectors")


@dataclass(frozen=True, slots=True)
class AuctionWorkload(Workload):
    """Book auctions and those who wait for them; `classes` says which subscriptions there are."""

    name: ClassVar[str] = "auction"

    classes: tuple[int, ...] = (1, 2, 3)
    typed: bool = True

    def event(self, number: int) -> Event:
        copies = _streams(self.seed)[0]
        half = copies.half
        book = library(self.seed).books[_BY_BOOK.pick(half(number, 0))]
        shelf = _SHELVES[book.category]
        ending = copies.below(number, 9, ENDING_MAX_S + 1 - ENDING_MIN_S)
        return Event.flat(
            {
                "type": "Auction",
                "title": book.title,
                "author": book.author,
                "category": CATEGORIES[book.category],
                "condition": "new" if copies.below(number, 1, 1_000) < shelf.new else "used",
                "cover": COVERS[shelf.cover.pick(half(number, 2))],
                "signed": copies.below(number, 3, 1_000) < shelf.signed,
                "buy_it_now": copies.below(number, 4, 1_000) < shelf.buy_it_now,
                "price": shelf.price.pick(half(number, 5), half(number, 6)) / 100,
                "bids": shelf.bids.pick(half(number, 7), half(number, 8)),
                "ending_within": ENDING_MIN_S + ending,
            },
            _SUPERTYPES,
        )

    def text(self, number: int) -> str:
        collectors = _streams(self.seed)[1]
        write = (self._class_1, self._class_2, self._class_3)
        chosen = self.classes[collectors.below(number, 0, len(self.classes))]
        wanted = write[chosen - 1](collectors, number)
        return f"type is Auction and {wanted}" if self.typed else wanted

    def subscriber(self, number: int) -> str:
        return f"collector-{_streams(self.seed)[1].below(number, 15, COLLECTORS)}"

    def _class_1(self, collectors: Stream, number: int) -> str:
        new = 500 + collectors.below(number, 2, 2_500)
        used = new * (400 + collectors.below(number, 3, 500)) // 1_000
        return (
            f"{self._title(collectors, number)} and ending_within < interval '1 day'"
            f" and (condition = 'new' and price < {money(new)}"
            f" or condition = 'used' and price < {money(used)})"
        )

    def _class_2(self, collectors: Stream, number: int) -> str:
        new = 800 + collectors.below(number, 2, 3_200)
        used = new * (400 + collectors.below(number, 3, 500)) // 1_000
        soft = 400 + collectors.below(number, 4, 500)
        return (
            f"{self._title(collectors, number)} and ending_within < interval '1 day'"
            f" and (condition = 'new' and {_by_cover(new, soft)}"
            f" or condition = 'used' and {_by_cover(used, soft)})"
        )

    def _class_3(self, collectors: Stream, number: int) -> str:
        kind = CATEGORIES[category(collectors.half(number, 1))]
        author = library(self.seed).books[collectors.below(number, 2, BOOKS)].author
        return (
            f"(category = '{kind}' or author = '{author}') and signed = true"
            " and (ending_within < interval '1 hour' and bids = 0 or buy_it_now = true)"
        )

    def _title(self, collectors: Stream, number: int) -> str:
        wanted = library(self.seed).phrases[phrase(collectors.half(number, 1))]
        return f"title contains '{wanted}'"


def _by_cover(hard: int, soft: int) -> str:
    """A price for hard covers, and for soft ones `soft` per mille of it."""
    return (
        f"(cover = 'hard' and price < {money(hard)}"
        f" or cover = 'soft' and price < {money(hard * soft // 1_000)})"
    )
