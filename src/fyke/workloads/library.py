"""The books behind the auctions: authors, categories and titles, all made up from a few words.

After PRU section 6.1: 22 categories of uneven size, five books per author, one author in ten in a
second category, one title in a hundred used again. A title holds a phrase such as `Amber Orchard`;
phrases follow a tamed Zipf law.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

import numpy as np

from fyke.workloads.draw import Bits, Choice, Codes, RandomStream, popularity, row_numbers

BOOKS: Final = 10_000
AUTHORS: Final = BOOKS // 5
PHRASES: Final = 1_000

CATEGORIES: Final = (
    "Fantasy", "Mystery", "Romance", "Adventure", "Horror", "History", "Humour", "Drama",
    "Poetry", "Western", "War", "Sea", "Travel", "Fairy Tales", "Legends", "Satire",
    "Letters", "Short Stories", "School", "Animals", "Ghosts", "Utopia",
)  # fmt: skip
_ADJECTIVES: Final = (
    "Amber", "Ashen", "Bitter", "Blue", "Borrowed", "Broken", "Burning", "Cedar", "Clouded",
    "Copper", "Crooked", "Distant", "Drifting", "Empty", "Fading", "Fallow", "Folded", "Frozen",
    "Gentle", "Gilded", "Glass", "Hidden", "Hollow", "Iron", "Ivory", "Last", "Lonely", "Lost",
    "Marble", "Midnight", "Mirrored", "Narrow", "Northern", "Painted", "Paper", "Patient", "Quiet",
    "Restless", "Rusted", "Salted", "Scarlet", "Second", "Silent", "Silver", "Sleeping", "Stolen",
    "Sunken", "Tangled", "Velvet", "Wandering",
)  # fmt: skip
_NOUNS: Final = (
    "Almanac", "Anchor", "Archive", "Bell", "Bridge", "Candle", "Carousel", "Cartographer",
    "Clock", "Compass", "Daughter", "Door", "Ferryman", "Forest", "Garden", "Gate", "Harbour",
    "Harvest", "House", "Island", "Journey", "Key", "Kingdom", "Lantern", "Letter", "Library",
    "Lighthouse", "Map", "Market", "Mirror", "Orchard", "Oath", "Piano", "Queen", "River", "Road",
    "Shadow", "Song", "Staircase", "Tower",
)  # fmt: skip
_FORMS: Final = ("The {} of {}", "A {} in {}", "Beyond the {}: {}", "{} and {}")
_PLACES: Final = ("BDFGHKLMNRSTV", "aeio", "ldnrsmv", "aeou", ("", "l", "n", "r", "s"))
_GIVEN: Final = (
    "Abra", "Bren", "Cald", "Dorrit", "Elvan", "Fenna", "Garrow", "Hesper", "Ivo", "Jessamy",
    "Kester", "Linnet", "Merrin", "Nell", "Orla", "Piers", "Quill", "Rowan", "Sabin", "Tamsin",
)  # fmt: skip

BY_CATEGORY: Final = Choice((16, 14, 12, 9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1))
BY_PHRASE: Final = popularity(PHRASES, flat=8)


@dataclass(frozen=True, slots=True)
class Book:
    title: str
    author: str
    category: int


@dataclass(frozen=True, slots=True)
class Library:
    """The books of a seed, the most popular first, and the phrases of their titles, likewise."""

    books: tuple[Book, ...]
    phrases: tuple[str, ...]


@lru_cache(maxsize=8)
def library(seed: int) -> Library:
    phrases = RandomStream(seed, "phrases").shuffled(map(" ".join, product(_ADJECTIVES, _NOUNS)))[
        :PHRASES
    ]
    places = RandomStream(seed, "places").shuffled(_syllables(*_PLACES))
    authors = RandomStream(seed, "authors")
    names = authors.shuffled(map(" ".join, product(_GIVEN, places[:200])))[:AUTHORS]
    stream, rows = RandomStream(seed, "books"), row_numbers(BOOKS)
    writers = stream.below(rows, 0, AUTHORS)
    categories = _categories(authors, writers, stream.half(rows, 6) & np.uint64(1))
    titles = _titles(stream, rows, phrases, places)
    by = [names[writer] for writer in writers.tolist()]
    return Library(tuple(map(Book, titles, by, categories.tolist())), tuple(phrases))


def _titles(stream: RandomStream, rows: Codes, phrases: list[str], places: list[str]) -> list[str]:
    """Return the titles of all books; one in a hundred is that of an earlier book."""
    drawn = (
        stream.below(rows, 1, len(_FORMS)),
        BY_PHRASE.pick(stream.half(rows, 2)),
        stream.below(rows, 3, len(places)),
        (stream.below(rows, 4, 100) == 0) & (rows > 0),
        stream.below(rows, 5, rows),
    )
    titles: list[str] = []
    for form, phrase, place, is_old, old in zip(*(each.tolist() for each in drawn), strict=True):
        new = _FORMS[form].format(phrases[phrase], places[place])
        titles.append(titles[old] if is_old else new)
    return titles


def _categories(authors: RandomStream, writers: Codes, odd: Bits) -> Codes:
    """Draw categories: an author writes in one, every tenth in a second one half of the time."""
    first, second = (BY_CATEGORY.pick(authors.half(writers, column)) for column in (2, 3))
    return np.where((authors.below(writers, 1, 10) == 0) & (odd == 1), second, first)


def _syllables(*letters: Iterable[str]) -> list[str]:
    return ["".join(parts).capitalize() for parts in product(*letters)]
