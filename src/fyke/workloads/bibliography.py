"""Publications and readers who wait for one of them, after MSF section 5 (MSF-Q10, MSF-Q11).

An event has year, conference, author and title; its type is Publication, a Document. The first
three are uniform and independent; the defaults are the sizes that the paper's table implies: 20
years, 25 conferences, 10 authors. A year, conference and author together have one title, 26 % of
them two, each as likely. A subscription asks for all four, drawn as the events are:

    type is Publication and year = 1997 and conference = 'SEDC' and author = 'K. Mardol'
        and title = 'Lazy Routing for Open Overlays'

so that 87 % of the events that pass the weakened filter (year, conference, author) match. With
`typed=False` the filters are the paper's four equalities. An event matches about 1.7 of ten
thousand subscriptions; with other sizes, 0.87 / (years * conferences * authors) of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from fyke.workloads.composition import Composition, PieceVocabulary, made_up
from fyke.workloads.draw import Codes, Draw, RandomStream, row_numbers
from fyke.workloads.drawn import DrawnWorkload, DrawPlan, RecordForm, Wording
from fyke.workloads.form import Form, Names, Sentence, Whole
from fyke.workloads.workload import check_size

LAST_YEAR: Final = 2003
READERS: Final = 1_000
TWO_TITLES_PER_MILLE: Final = 260
YEARS_MAX: Final = 2_000
CONFERENCES_MAX: Final = 1_000
AUTHORS_MAX: Final = 20_000

_ACRONYMS: Final = tuple(map("".join, product("CDIMPSW", "ACEIOS", "CDGMNST", "BCDPS")))
_ADJECTIVES: Final = (
    "Adaptive", "Bounded", "Causal", "Exact", "Fair", "Gossiping", "Hidden", "Idle", "Lazy",
    "Local", "Mobile", "Nested", "Open", "Partial", "Quiet", "Robust", "Sparse", "Stable",
    "Typed", "Weakened",
)  # fmt: skip
_TOPICS: Final = (
    "Agreement", "Brokers", "Caches", "Channels", "Clocks", "Clusters", "Events", "Filters",
    "Groups", "Indexes", "Leases", "Logs", "Overlays", "Queries", "Queues", "Replicas", "Routing",
    "Snapshots", "Streams", "Trees",
)  # fmt: skip
_LINKS: Final = (" for ", " over ", " with ", " without ")
_AGAIN: Final = ("", ", Revisited")


@dataclass(frozen=True, slots=True)
class BibliographyWorkload(DrawnWorkload):
    """Publications; a reader waits for one title."""

    name: ClassVar[str] = "bibliography"
    supertypes: ClassVar[tuple[str, ...]] = ("Document",)

    years: int = 20
    conferences: int = 25
    authors: int = 10
    typed: bool = True

    def __post_init__(self) -> None:
        check_size("years", self.years, YEARS_MAX)
        check_size("conferences", self.conferences, CONFERENCES_MAX)
        check_size("authors", self.authors, AUTHORS_MAX)

    def plan(self) -> DrawPlan:
        return _plan(self)


@lru_cache(maxsize=8)
def _plan(workload: BibliographyWorkload) -> DrawPlan:
    seed = workload.seed
    conferences = RandomStream(seed, "conferences").shuffled(_ACRONYMS)[: workload.conferences]
    forms: dict[str, Form] = {
        "year": Whole(),
        "conference": Names(conferences),
        "author": Names(_authors(seed, workload.authors)),
        "title": _Titles(RandomStream(seed, "title words")),
    }
    shelf = _Shelf(
        workload.years, workload.conferences, workload.authors, RandomStream(seed, "second titles")
    )
    wanted = (
        "year = {year} and conference = '{conference}'"
        " and author = '{author}' and title = '{title}'"
    )
    type_is = "type is Publication and " if workload.typed else ""
    return DrawPlan(
        events=RandomStream(seed, "publications"),
        records=(RecordForm("Publication", forms, shelf.publication),),
        filters=RandomStream(seed, "readers"),
        wordings=(Wording(Sentence(type_is + wanted, **forms), shelf.publication),),
        subscriber=Wording(Sentence("reader-{reader}", reader=Whole()), shelf.reader),
    )


def _authors(seed: int, count: int) -> list[str]:
    stream = RandomStream(seed, "bibliography authors")
    surnames = made_up(stream, count)
    initials = "ABCDEFGHIJKLMNOPRSTUVW"
    drawn = stream.below(row_numbers(count), 0, len(initials)).tolist()
    return [
        f"{initials[at]}. {surname.capitalize()}"
        for at, surname in zip(drawn, surnames, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The columns to draw; `seconds` says which places have a second title."""

    years: int
    conferences: int
    authors: int
    seconds: RandomStream

    def publication(self, draw: Draw) -> dict[str, Codes]:
        year, conference = draw.below(0, self.years), draw.below(1, self.conferences)
        author = draw.below(2, self.authors)
        place = (year * self.conferences + conference) * self.authors + author
        has_second = draw.seek(place, self.seconds).chance(TWO_TITLES_PER_MILLE, 0)
        return {
            "year": LAST_YEAR - year,
            "conference": conference,
            "author": author,
            "title": 2 * place + has_second * draw.below(3, 2),
        }

    def reader(self, draw: Draw) -> dict[str, Codes]:
        return {"reader": draw.number % READERS}


class _Titles(Form):
    """The titles of place p are 2 * p and 2 * p + 1."""

    __slots__ = ("_words",)

    def __init__(self, stream: RandomStream) -> None:
        words = [_ADJECTIVES, [f" {topic}" for topic in _TOPICS], _LINKS, _ADJECTIVES]
        words.append([f" {topic}" for topic in _TOPICS])
        self._words = Composition(stream, [PieceVocabulary(each, flat=50) for each in words])

    def column(self, codes: Codes) -> pa.Array:
        again = pa.array(_AGAIN).take(pa.array(codes % 2))
        return pc.binary_join_element_wise(self._words.column(codes // 2), again, "")
