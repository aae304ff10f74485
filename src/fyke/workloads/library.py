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

from fyke.workloads.draw import Choice, Stream, popularity

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
    phrases = Stream(seed, "phrases").shuffled(map(" ".join, product(_ADJECTIVES, _NOUNS)))[
        :PHRASES
    ]
    places = Stream(seed, "places").shuffled(_syllables(*_PLACES))
    authors = Stream(seed, "authors")
    names = authors.shuffled(map(" ".join, product(_GIVEN, places[:200])))[:AUTHORS]
    stream = Stream(seed, "books")
    books: list[Book] = []
    for row in range(BOOKS):
        writer = stream.below(row, 0, AUTHORS)
        title = _title(stream, row, phrases, places)
        if row and stream.below(row, 4, 100) == 0:
            title = books[stream.below(row, 5, row)].title
        books.append(Book(title, names[writer], _category(authors, writer, stream.half(row, 6))))
    return Library(tuple(books), tuple(phrases))


def _title(stream: Stream, row: int, phrases: list[str], places: list[str]) -> str:
    form = _FORMS[stream.below(row, 1, len(_FORMS))]
    place = places[stream.below(row, 3, len(places))]
    return form.format(phrases[BY_PHRASE.pick(stream.half(row, 2))], place)


def _category(authors: Stream, writer: int, half: int) -> int:
    """An author writes in one category; one in ten also in a second, half of the time."""
    is_second = authors.below(writer, 1, 10) == 0 and half & 1
    return BY_CATEGORY.pick(authors.half(writer, 3 if is_second else 2))


def _syllables(*letters: Iterable[str]) -> list[str]:
    return ["".join(parts).capitalize() for parts in product(*letters)]
