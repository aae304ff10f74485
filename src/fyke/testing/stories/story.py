"""Story: what clients of an overlay do and what happens to it, step by step, as plain values.

A step that makes no sense where it stands (a subscription that is gone is dropped, a client that
has left speaks) is passed over, so every list of steps is a story and any part of a story is one
too. Ids are few and used again, at other brokers at the same time and at the same broker for other
filters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from random import Random
from typing import Final, TypeAlias

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.language.parser import parse_text
from fyke.overlay.topology import Topology

CLIENTS: Final = 2
"""Of each broker."""
IDS: Final = 12
"""Of the subscriptions of a broker."""
TYPES: Final = ("T", "U", "V")
_TEXTS: Final = (
    *("a < 1", "a < 2", "a <= 2", "a < 4", "a > 0", "a >= 3", "a = 0", "a = 1", "a in (0, 1)"),
    *("a between 1 and 3", "a in (1, 2, 3)", "a >= 1 and a <= 3", "a != 2", "exists a", "true"),
    *("a = 1 and b = 1", "b = 1 and a = 1", "b = 1", "b < 2", "a < 2 and b < 2", "exists b"),
    *("a = 1 or b = 1", "b = 1 or a = 1", "a < 1 or a > 3", "a < 2 or b = 0 and a < 4", "false"),
    *("not a = 1", "not (a < 2)", "not exists a", "not (a = 1 or b = 1)", "a < 4 and not b = 1"),
    *("type is T", "type = 'T'", "type is U", "type in ('T', 'U')", "not type is T", "a is null"),
    *("type is T and a < 2", "type = 'T' and a < 1", "type = 'U' and b = 1", "type is V and a = 1"),
    *("type = 'V' or a = 0", "type is T and (a = 1 or b = 1)", "c starts with 'x'", "c = 'xy'"),
    *("c like 'x%y'", "c = ''", "a < 2 and type = 'T'", "a = 1.0", "a = true", "a < b"),
    *("type is V or type = 5", "type is U or type = 'V' and a < 2", "type is T and type is U"),
    *("type is null", "type = 5", "type in ('T', 5)", "exists type", "b >= 0 and b <= 1", "b > 0"),
)
_DOCUMENTS: Final[tuple[tuple[str, str, dict[str, object] | None], ...]] = (
    ("type", "T", {"supertypes": [], "attributes": {}}),
    ("type", "U", {"supertypes": ["T"], "attributes": {}}),
    ("type", "U", {"supertypes": [], "attributes": {}}),
    ("type", "V", {"supertypes": ["U"], "attributes": {}}),
    ("type", "V", {"supertypes": ["T"], "attributes": {}}),
    ("type", "V", None),
    ("attribute", "b", {"domain": {"integer": {"low": 0, "high": 2}}}),
    ("attribute", "b", {"domain": {"integer": {"low": -1, "high": 9}}, "multiple": True}),
    ("attribute", "b", None),
    ("type", "T", {"supertypes": [], "attributes": {"b": {"domain": {"integer": {"low": 0}}}}}),
)
"""Declarations; some of them contradict others."""
_HIERARCHY: Final = (0, 1, 3)
"""The declarations that make V a kind of U, and U a kind of T."""


@lru_cache(maxsize=1)
def filters() -> tuple[Filter, ...]:
    """Return few filters, so that they often cover each other or are equal."""
    return tuple(map(parse_text, _TEXTS))


@lru_cache(maxsize=1)
def events() -> tuple[Event, ...]:
    """Return events that each filter accepts, with missing, null, listed and empty values."""
    documents: list[dict[str, object]] = [{}, {"type": "T"}, {"a": None}, {"a": True}, {"c": ""}]
    documents += [{"type": None, "a": 1}, {"type": 5, "b": 1}, {"type": ["T", "U"], "a": 0}]
    for at, a in enumerate((0, 1, 2, 3, 4, [0, 4], [], [1, None], 1.5, -0.0)):
        documents.append({"a": a})
        documents.append({"a": a, "b": at % 3, "type": TYPES[at % 3]})
        documents.append({"b": at % 3, "type": TYPES[at % 2], "c": ("x", "xy", "xzy", "y")[at % 4]})
    carried = Event({"type": "V", "a": 1}, supertypes=("T", "Other"))
    return (*map(Event, documents), carried)


# --- steps ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Add:
    """A client subscribes; a subscription of this id that the client has is replaced."""

    client: int
    id: int
    filter: Filter


@dataclass(frozen=True, slots=True)
class Drop:
    """One of the live subscriptions ends."""

    which: int


@dataclass(frozen=True, slots=True)
class Say:
    """A client publishes."""

    client: int
    event: Event


@dataclass(frozen=True, slots=True)
class Promise:
    """A client says what it will publish, or takes that back."""

    client: int
    filter: Filter


@dataclass(frozen=True, slots=True)
class Leave:
    """A client leaves for good, or comes again as a new one."""

    client: int


@dataclass(frozen=True, slots=True)
class Define:
    """A client declares something."""

    client: int
    which: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Some time passes, in latencies of one link."""

    latencies: float


@dataclass(frozen=True, slots=True)
class Settle:
    """Nothing is said until nothing moves."""


@dataclass(frozen=True, slots=True)
class Break:
    """A link is cut, or healed if it was cut."""

    link: int


@dataclass(frozen=True, slots=True)
class Crash:
    """A broker stops, or starts again if it was stopped."""

    broker: int


@dataclass(frozen=True, slots=True)
class Change:
    """The overlay is told to change its strategy."""

    strategy: str


Step: TypeAlias = (
    Add | Drop | Say | Promise | Leave | Define | Wait | Settle | Break | Crash | Change
)


def declaration(which: int) -> tuple[str, str, dict[str, object] | None]:
    """Return what is declared, its name, and its document."""
    return _DOCUMENTS[which % len(_DOCUMENTS)]


@dataclass(frozen=True, slots=True)
class Conditions:
    """The network, disks and engine that a story is played on."""

    bandwidth: float | None = None
    """Bytes a second; a message of a hundred bytes takes as long as the latency at 100,000."""
    jitter: float = 0.0
    """In latencies."""
    store_s: float = 0.0
    engine: str = "scan"
    in_bytes: bool = False

    @property
    def is_even(self) -> bool:
        """True if every message takes exactly the latency for a link."""
        return self.bandwidth is None and not self.jitter and not self.store_s


@dataclass(frozen=True, slots=True)
class Story:
    """A tree with the parents of all brokers but the first, and the steps on it.

    `more` are further links between brokers by number. Then it is a graph.
    """

    parents: Sequence[int]
    rendezvous: Sequence[int]
    """Of all events, and of each type."""
    steps: Sequence[Step]
    place: Conditions = field(default_factory=Conditions)
    more: Sequence[tuple[int, int]] = ()

    def topology(self) -> Topology:
        brokers = [f"b{number}" for number in range(len(self.parents) + 1)]
        links = [(brokers[up % (at + 1)], brokers[at + 1]) for at, up in enumerate(self.parents)]
        known = {frozenset(link) for link in links}
        for one, other in self.more:
            link = brokers[one % len(brokers)], brokers[other % len(brokers)]
            if link[0] != link[1] and frozenset(link) not in known:
                known.add(frozenset(link))
                links.append(link)
        return Topology.of(links, brokers)

    def owners(self) -> dict[str, str]:
        """Return the rendezvous by type."""
        count = len(self.parents) + 1
        names = ("", *TYPES)[: len(self.rendezvous)]
        return {name: f"b{at % count}" for name, at in zip(names, self.rendezvous, strict=True)}

    def __str__(self) -> str:
        links = ", ".join(f"{a}-{b}" for a, b in self.topology().links)
        told = [f"brokers: {links or 'one'}; rendezvous: {self.owners()}; {self.place}"]
        told += [f"{number:3} {step}" for number, step in enumerate(self.steps)]
        return "\n".join(told)


def drawn(
    draw: Random,
    *,
    brokers_max: int = 7,
    steps_max: int = 40,
    faults: bool = False,
    types: bool = False,
    changes: Sequence[str] = (),
    place: Conditions | None = None,
    graphs: bool = False,
    lapses: float = 0.0,
) -> Story:
    """Return a random story; with faults, declarations or changes of strategy, if wanted.

    With `lapses`, now and then as many latencies pass, so that leases end. Without a place, one is
    drawn.
    """
    brokers = draw.randint(1 if draw.random() < 0.05 else 2, brokers_max)
    some = draw.choices(filters(), k=draw.randint(3, 20))
    if types:
        some += draw.choices([each for each in filters() if "type is" in str(each)], k=6)
    any_client = partial(draw.randrange, brokers * CLIENTS)
    makers: list[tuple[float, Callable[[], Step]]] = [
        (7, lambda: Add(any_client(), draw.randrange(IDS), draw.choice(some))),
        (4, lambda: Drop(draw.randrange(1_000))),
        (7, lambda: Say(any_client(), draw.choice(events()))),
        (5, lambda: Wait(draw.expovariate(1))),
        (1, Settle),
        (0.6, lambda: Promise(any_client(), draw.choice(some))),
        (0.5, lambda: Leave(any_client())),
        (2 if types else 0, lambda: Define(any_client(), draw.randrange(len(_DOCUMENTS)))),
        (2 if faults else 0, lambda: Break(draw.randrange(1_000))),
        (1 if faults else 0, lambda: Crash(draw.randrange(brokers))),
        (1 if faults and changes else 0, lambda: Crash(0)),
        (2 if changes else 0, lambda: Change(draw.choice(changes))),
        (1.5 if lapses else 0, lambda: Wait(draw.uniform(0, lapses))),
    ]
    weights, kinds = zip(*makers, strict=True)
    chosen = [make() for make in draw.choices(kinds, weights, k=draw.randint(10, steps_max))]
    parents = tuple(draw.randrange(at + 1) for at in range(brokers - 1))
    owners = tuple(draw.randrange(brokers) for _ in range(draw.randint(1, 1 + len(TYPES))))
    adds = [makers[0][1]() for _ in range(draw.randint(0, 6))]
    known = [Define(any_client(), which) for which in _HIERARCHY] if types else []
    steps = [
        *known,
        *adds,
        Settle(),
        *(each for step in chosen for each in _amid(draw, step, brokers)),
    ]
    told = Story(parents, owners, steps, place or _place(draw))
    if not graphs:
        return told
    more = [(draw.randrange(brokers), draw.randrange(brokers)) for _ in range(draw.randint(0, 4))]
    return replace(told, more=more)


def _amid(draw: Random, step: Step, brokers: int) -> list[Step]:
    """Return a step with others around it. Often all is settled before something breaks or mends.

    Events are published one by one afterwards, while brokers tell each other what they know.
    """
    if not isinstance(step, Break | Crash):
        return [step]
    steps: list[Step] = [Settle(), step] if draw.random() < 0.4 else [step]
    count = draw.choice([0, 2, 6])
    for _ in range(count):
        say = Say(draw.randrange(brokers * CLIENTS), draw.choice(events()))
        steps += [Wait(draw.expovariate(1.5)), say]
    is_seen = count and draw.random() < 0.6
    return [*steps, Settle()] if is_seen else [*steps, Wait(draw.expovariate(1))]


def _place(draw: Random) -> Conditions:
    """Return conditions. Every other is even, so that both laws about time are checked."""
    if draw.random() < 0.5:
        return Conditions(in_bytes=draw.random() < 0.2)
    return Conditions(
        bandwidth=draw.choice([None, 50_000.0, 300_000.0]),
        jitter=draw.choice([0.0, 0.5, 3.0]),
        store_s=draw.choice([0.0, 0.0, 0.0005]),
        engine="compiled" if draw.random() < 0.1 else "scan",
        in_bytes=draw.random() < 0.2,
    )
