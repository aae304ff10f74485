"""Story: what clients of an overlay do and what happens to it, step by step, as plain values.

A step that makes no sense where it stands (a subscription that is gone is dropped, a link that is
cut is cut) is passed over, so every list of steps is a story and any part of a story is one too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from random import Random
from typing import Final, TypeAlias

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.parser import parse_text
from fyke.overlay.topology import Topology

CLIENTS: Final = 2
"""Of each broker."""
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
)


@lru_cache(maxsize=1)
def filters() -> tuple[Filter, ...]:
    """Few enough that they often cover each other or are equal; every one of them read once."""
    return tuple(map(parse_text, _TEXTS))


@lru_cache(maxsize=1)
def events() -> tuple[Event, ...]:
    """For each filter some that it accepts; missing, null, listed and empty values among them."""
    documents: list[dict[str, object]] = [{}, {"type": "T"}, {"a": None}, {"a": True}, {"c": ""}]
    for at, a in enumerate((0, 1, 2, 3, 4, [0, 4], [], [1, None], 1.5, -0.0)):
        documents.append({"a": a})
        documents.append({"a": a, "b": at % 3, "type": TYPES[at % 3]})
        documents.append({"b": at % 3, "type": TYPES[at % 2], "c": ("x", "xy", "xzy", "y")[at % 4]})
    return tuple(map(Event, documents))


# --- steps ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Add:
    """A client subscribes. The id is the number of the step."""

    client: int
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
class Wait:
    """So many times as long as a message takes for one link."""

    latencies: float


@dataclass(frozen=True, slots=True)
class Settle:
    """Until nothing moves any more."""


@dataclass(frozen=True, slots=True)
class Break:
    """A link is cut, or is whole again."""

    link: int


@dataclass(frozen=True, slots=True)
class Crash:
    """A broker stops, or starts again."""

    broker: int


@dataclass(frozen=True, slots=True)
class Change:
    """The overlay is told to change its strategy."""

    strategy: str


Step: TypeAlias = Add | Drop | Say | Wait | Settle | Break | Crash | Change


@dataclass(frozen=True, slots=True)
class Story:
    """A tree, given by the parents of all brokers but the first, and what happens on it."""

    parents: Sequence[int]
    rendezvous: Sequence[int]
    """Of all events, and of each type."""
    steps: Sequence[Step]

    def topology(self) -> Topology:
        brokers = [f"b{number}" for number in range(len(self.parents) + 1)]
        links = [(brokers[up % (at + 1)], brokers[at + 1]) for at, up in enumerate(self.parents)]
        return Topology.of(links, brokers)

    def owners(self) -> dict[str, str]:
        """The rendezvous by type."""
        count = len(self.parents) + 1
        names = ("", *TYPES)[: len(self.rendezvous)]
        return {name: f"b{at % count}" for name, at in zip(names, self.rendezvous, strict=True)}

    def __str__(self) -> str:
        links = ", ".join(f"{a}-{b}" for a, b in self.topology().links)
        told = [f"brokers: {links or 'one'}; rendezvous: {self.owners()}"]
        told += [f"{number:3} {step}" for number, step in enumerate(self.steps)]
        return "\n".join(told)


def drawn(
    draw: Random,
    *,
    brokers_max: int = 7,
    steps_max: int = 40,
    faults: bool = False,
    changes: Sequence[str] = (),
) -> Story:
    """A random story; with faults or changes of strategy, if wanted."""
    brokers = draw.randint(1 if draw.random() < 0.05 else 2, brokers_max)
    some = draw.choices(filters(), k=draw.randint(3, 20))
    any_client = partial(draw.randrange, brokers * CLIENTS)
    makers: list[tuple[int, Callable[[], Step]]] = [
        (6, lambda: Add(any_client(), draw.choice(some))),
        (4, lambda: Drop(draw.randrange(1_000))),
        (5, lambda: Say(any_client(), draw.choice(events()))),
        (5, lambda: Wait(draw.expovariate(1))),
        (1, Settle),
        (2 if faults else 0, lambda: Break(draw.randrange(1_000))),
        (1 if faults else 0, lambda: Crash(draw.randrange(brokers))),
        (1 if faults and changes else 0, lambda: Crash(0)),
        (2 if changes else 0, lambda: Change(draw.choice(changes))),
    ]
    weights, kinds = zip(*makers, strict=True)
    chosen = draw.choices(kinds, weights, k=draw.randint(10, steps_max))
    parents = tuple(draw.randrange(at + 1) for at in range(brokers - 1))
    owners = tuple(draw.randrange(brokers) for _ in range(draw.randint(1, 1 + len(TYPES))))
    return Story(parents, owners, tuple(make() for make in chosen))
