"""Book auctions and the three classes of subscriptions of PRU (section 6.1, PRU-Q6).

An event is an offered copy of a book: title, author, category, condition (new, used), cover (hard,
soft, leather, audio), signed, buy_it_now, price, bids and ending_within (seconds). Its type is
Auction, a MarketEvent. Condition, cover, signed, price, bids and buy_it_now follow distributions
that differ by category, above all the signed share.

    class 1   title and end < 1 day and ((new and price < a) or (used and price < b))
    class 2   the same with a price for each condition and cover (hard, soft)
    class 3   (category or author) and signed and ((end < 1 hour and bids = 0) or buy_it_now)

Each stands below `type is Auction`; with `typed=False` the trees are those of the paper, with 6, 12
and 6 predicates. An event matches about eight of ten thousand subscriptions.

With `joint=True` condition, cover and signed are drawn together, by category, as the paper's data
were: signed copies are mostly hard covers, new ones seldom leather. With `equal_titles=True` every
phrase is as common as every other, among events and among subscriptions. With `joint=True` and
`even_signed=True` signed copies are equally common in all categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import ClassVar, Final

import numpy as np

from fyke.errors import FykeError, shown
from fyke.workloads.draw import Choice, Codes, Draw, KeyedChoice, RandomStream, Ranges, popularity
from fyke.workloads.drawn import DrawnWorkload, DrawPlan, RecordForm, Wording
from fyke.workloads.form import Fixed, Flag, Form, Names, Sentence, Whole
from fyke.workloads.library import BOOKS, BY_CATEGORY, BY_PHRASE, CATEGORIES, Library, library

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

_PRICE_WEIGHTS: Final = (90, 95, 90, 85, 80, 75, 110, 90, 110, 60, 50, 35, 20, 8, 2)
_BIDS_WEIGHTS: Final = (520, 130, 70, 50, 40, 35, 30, 25, 30, 20, 18, 14, 10, 5, 2, 1)
_PRICE: Final = Ranges(PRICE_ENDS, _PRICE_WEIGHTS)
_BIDS: Final = Ranges(BIDS_ENDS, _BIDS_WEIGHTS)
_BY_BOOK: Final = popularity(BOOKS, flat=100)

# How the copies of a category are distributed: dearer, barer and more often signed categories
# alternate with the others. Shares are per mille.
_DEAR: Final = [at % 4 for at in range(len(CATEGORIES))]
_WANTED: Final = [at % 3 for at in range(len(CATEGORIES))]
_RARE: Final = [at % 5 for at in range(len(CATEGORIES))]
_BY_COVER: Final = KeyedChoice(
    [
        Choice((300 + 40 * dear, 600, 40 + 10 * rare, 60))
        for dear, rare in zip(_DEAR, _RARE, strict=True)
    ]
)
_BY_PRICE: Final = KeyedChoice(
    [
        Choice([weight * (4 + dear * at) for at, weight in enumerate(_PRICE_WEIGHTS)])
        for dear in _DEAR
    ]
)
_BY_BIDS: Final = KeyedChoice(
    [
        Choice([weight * (4 + wanted * at) for at, weight in enumerate(_BIDS_WEIGHTS)])
        for wanted in _WANTED
    ]
)
_NEW: Final = np.array([350 + 50 * wanted for wanted in _WANTED])
_SIGNED: Final = np.array([(30, 60, 15, 120, 200)[rare] for rare in _RARE])
_BUY_IT_NOW: Final = np.array([250 + 60 * dear for dear in _DEAR])

_KINDS: Final = np.array(list(product((0, 1), range(4), (0, 1))))
"""All combinations of condition, cover and signed."""


def _likeness(new: int, cover: int, signed: int) -> int:
    """Return the weight of a combination against independent parts, in quarters."""
    hard_and_signed = 4 if signed and cover == 0 else -2 if signed else 0
    return 4 + hard_and_signed + (2 if new and cover == 1 else -3 if new and cover == 2 else 0)


def _kind_weights(category: int, even_signed: bool = False) -> list[int]:
    cover_weights = (300 + 40 * _DEAR[category], 600, 40 + 10 * _RARE[category], 60)
    new_share, signed_share = int(_NEW[category]), int(_SIGNED[category])
    signed_share = int(_SIGNED.mean()) if even_signed else signed_share
    return [
        (new_share if new else 1_000 - new_share)
        * cover_weights[cover]
        * (signed_share if signed else 1_000 - signed_share)
        * max(_likeness(new, cover, signed), 1)
        for new, cover, signed in _KINDS.tolist()
    ]


_BY_KIND: Final = {
    even_signed: KeyedChoice(
        [Choice(_kind_weights(at, even_signed)) for at in range(len(CATEGORIES))]
    )
    for even_signed in (False, True)
}
"""By whether signed copies are equally common in all categories."""

_PRICES_1: Final = "(condition = 'new' and price < {new} or condition = 'used' and price < {used})"
_PRICES_2: Final = (
    "(condition = 'new' and"
    " (cover = 'hard' and price < {new} or cover = 'soft' and price < {new_soft})"
    " or condition = 'used' and"
    " (cover = 'hard' and price < {used} or cover = 'soft' and price < {used_soft}))"
)
_BY_TITLE: Final = "title contains '{phrase}' and ending_within < interval '1 day' and "
_SIGNED_COPY: Final = (
    "(category = '{category}' or author = '{author}') and signed = true"
    " and (ending_within < interval '1 hour' and bids = 0 or buy_it_now = true)"
)


@dataclass(frozen=True, slots=True)
class AuctionWorkload(DrawnWorkload):
    """Book auctions and those who wait for them; `classes` says which subscriptions there are."""

    name: ClassVar[str] = "auction"
    supertypes: ClassVar[tuple[str, ...]] = ("MarketEvent",)

    classes: tuple[int, ...] = (1, 2, 3)
    typed: bool = True
    joint: bool = False
    equal_titles: bool = False
    even_signed: bool = False

    def __post_init__(self) -> None:
        if not self.classes or not all(
            type(each) is int and 1 <= each <= 3 for each in self.classes
        ):
            raise FykeError(f"classes of auctions are some of 1, 2, 3, not {shown(self.classes)}")
        if self.even_signed and not self.joint:
            raise FykeError("even_signed=True is for kinds that are drawn together: joint=True")

    def plan(self) -> DrawPlan:
        return _plan(self)


@lru_cache(maxsize=8)
def _plan(workload: AuctionWorkload) -> DrawPlan:
    found = library(workload.seed)
    categories = np.array([book.category for book in found.books])
    by_phrase = _a_book_each(found) if workload.equal_titles else {}
    books = np.array([*by_phrase.values()], np.int64)
    trade = _Trade(categories, len(workload.classes), _kinds_of(workload), books)
    author = Names(book.author for book in found.books)
    category, whole, flag, cents = Names(CATEGORIES), Whole(), Flag(), Fixed(2)
    copy: dict[str, Form] = {
        **{"title": Names(book.title for book in found.books), "author": author},
        **{"category": category, "condition": Names(("used", "new")), "cover": Names(COVERS)},
        **{"signed": flag, "buy_it_now": flag, "price": cents, "bids": whole},
        **{"ending_within": whole},
    }
    prices = {"phrase": Names(by_phrase or found.phrases), "new": cents, "used": cents}
    soft = {"new_soft": cents, "used_soft": cents}
    type_is = "type is Auction and " if workload.typed else ""
    class_1 = Sentence(type_is + _BY_TITLE + _PRICES_1, **prices)
    class_2 = Sentence(type_is + _BY_TITLE + _PRICES_2, **prices, **soft)
    class_3 = Sentence(type_is + _SIGNED_COPY, category=category, author=author)
    kinds = {
        1: Wording(class_1, trade.class_1, label=1),
        2: Wording(class_2, trade.class_2, label=2),
        3: Wording(class_3, trade.class_3, label=3),
    }
    return DrawPlan(
        events=RandomStream(workload.seed, "copies"),
        records=(RecordForm("Auction", copy, trade.copy),),
        filters=RandomStream(workload.seed, "collectors"),
        wordings=tuple(kinds[chosen] for chosen in workload.classes),
        subscriber=Wording(Sentence("collector-{collector}", collector=whole), trade.collector),
        which_wording=trade.kind,
    )


def _kinds_of(workload: AuctionWorkload) -> KeyedChoice | None:
    return _BY_KIND[workload.even_signed] if workload.joint else None


def _a_book_each(found: Library) -> dict[str, int]:
    """Return the first book whose title has a phrase, for each phrase of a title."""
    titles = [book.title for book in found.books]
    first = {
        phrase: next((at for at, title in enumerate(titles) if phrase in title), None)
        for phrase in found.phrases
    }
    return {phrase: at for phrase, at in first.items() if at is not None}


def _kind(draw: Draw, kinds: KeyedChoice, category: Codes) -> dict[str, Codes]:
    """Draw condition, cover and signed as one."""
    condition, cover, signed = _KINDS[draw.pick_by(kinds, category, 1)].T
    return {"condition": condition, "cover": cover, "signed": signed}


@dataclass(frozen=True, slots=True)
class _Trade:
    """The columns to draw, given the category of each book and the number of classes."""

    category: Codes
    classes: int
    kinds: KeyedChoice | None
    """Combinations of condition, cover and signed by category, where they are drawn as one."""
    by_phrase: Codes
    """A book for each phrase, where titles are equally popular; else empty."""

    def copy(self, draw: Draw) -> dict[str, Codes]:
        book = self._book(draw)
        category = self.category[book]
        copied = self._copy(draw, book, category)
        return copied if self.kinds is None else copied | _kind(draw, self.kinds, category)

    def _book(self, draw: Draw) -> Codes:
        if not len(self.by_phrase):
            return draw.pick(_BY_BOOK, 0)
        return self.by_phrase[draw.below(0, len(self.by_phrase))]

    def _phrase(self, draw: Draw) -> Codes:
        if not len(self.by_phrase):
            return draw.pick(BY_PHRASE, 1)
        return draw.below(1, len(self.by_phrase))

    def _copy(self, draw: Draw, book: Codes, category: Codes) -> dict[str, Codes]:
        return {
            "title": book,
            "author": book,
            "category": category,
            "condition": draw.chance(_NEW[category], 1),
            "cover": draw.pick_by(_BY_COVER, category, 2),
            "signed": draw.chance(_SIGNED[category], 3),
            "buy_it_now": draw.chance(_BUY_IT_NOW[category], 4),
            "price": draw.inside(_PRICE, draw.pick_by(_BY_PRICE, category, 5), 6),
            "bids": draw.inside(_BIDS, draw.pick_by(_BY_BIDS, category, 7), 8),
            "ending_within": ENDING_MIN_S + draw.below(9, ENDING_MAX_S + 1 - ENDING_MIN_S),
        }

    def kind(self, draw: Draw) -> Codes:
        return draw.below(0, self.classes)

    def collector(self, draw: Draw) -> dict[str, Codes]:
        return {"collector": draw.below(15, COLLECTORS)}

    def class_1(self, draw: Draw) -> dict[str, Codes]:
        new = 500 + draw.below(2, 2_500)
        used = new * (400 + draw.below(3, 500)) // 1_000
        return {"phrase": self._phrase(draw), "new": new, "used": used}

    def class_2(self, draw: Draw) -> dict[str, Codes]:
        """Draw subscriptions whose price for soft covers is a share of that for hard covers."""
        new = 800 + draw.below(2, 3_200)
        used = new * (400 + draw.below(3, 500)) // 1_000
        soft = 400 + draw.below(4, 500)
        return {
            "phrase": self._phrase(draw),
            "new": new,
            "new_soft": new * soft // 1_000,
            "used": used,
            "used_soft": used * soft // 1_000,
        }

    def class_3(self, draw: Draw) -> dict[str, Codes]:
        return {"category": draw.pick(BY_CATEGORY, 1), "author": draw.below(2, BOOKS)}
