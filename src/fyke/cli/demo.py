"""`fyke demo`: a generated workload, matched by evaluating every filter, and what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number
from rich.text import Text

from fyke.cli.reading.subscriptions import engine_for
from fyke.cli.writing.listing import heading, show_notes, show_rows
from fyke.cli.writing.output import console
from fyke.cli.writing.progress import counting
from fyke.errors import printable
from fyke.events.event import Event
from fyke.events.json import encode
from fyke.events.value import Value
from fyke.filters.subscription import Subscription
from fyke.matching.matcher import Matcher
from fyke.workloads.named import workload

if TYPE_CHECKING:
    from rich.console import Console

WORKLOAD: Final = "stock_and_auction"
BUSIEST_SHOWN: Final = 5
SAMPLES_SHOWN: Final = 2
"""Of each type of event."""
SHARES: Final = ((0, 0), (1, 1), (2, 3), (4, 7), (8, 15), (16, None))
"""Classes of events by their number of matches; the last one is open."""
_BAR_CELLS: Final = 40

app = App(
    name="demo",
    help_epilogue="""\
Examples
  fyke demo
  fyke demo peers
  fyke demo --events 100 --subscriptions 5000 --seed 7

The counts depend on the sizes and the seed alone; only the times differ.
""",
)


@app.default
def demo(
    *,
    events: Annotated[int, Parameter(metavar="N", validator=Number(gte=1))] = 4_000,
    subscriptions: Annotated[int, Parameter(metavar="N", validator=Number(gte=1))] = 1_000,
    seed: Annotated[int, Parameter(metavar="N", validator=Number(gte=0))] = 0,
) -> int:
    """Match a generated stock-and-auction workload, and show what happened.

    Parameters
    ----------
    events
        Events to publish.
    subscriptions
        Standing queries to match them against.
    seed
        Another seed is another workload.
    """
    screen = console()
    screen.print(f"{WORKLOAD}, seed {seed}", style="bold")
    started = perf_counter()
    work = workload(WORKLOAD, seed)
    standing = list(work.subscriptions(subscriptions))
    published = list(work.events(events))
    made_s = perf_counter() - started
    outcome = run(standing, published)
    _show(outcome, standing, made_s, screen)
    return 0


@app.command
def peers(
    *,
    peers: Annotated[int, Parameter(metavar="N", validator=Number(gte=50))] = 300,
    cycles: Annotated[int, Parameter(metavar="N", validator=Number(gte=1))] = 16,
    seed: Annotated[int, Parameter(metavar="N", validator=Number(gte=0))] = 0,
) -> int:
    """Watch subscribers find each other, form rings and pass an event on, without brokers.

    Parameters
    ----------
    peers
        How many there are.
    cycles
        How often each of them gossips.
    seed
        Another seed is another crowd.
    """
    from fyke.cli.peers import demo as show_peers

    show_peers(peers, cycles, seed)
    return 0


@dataclass(slots=True)
class Outcome:
    """The result of a run of the matcher."""

    events: int = 0
    matches: int = 0
    by_subscription: Counter[str] = field(default_factory=Counter)
    by_size: Counter[int] = field(default_factory=Counter)
    """Events by their number of matches."""
    samples: list[tuple[int, Event, str]] = field(default_factory=list)
    duration_s: float = 0.0

    def keep(self, number: int, event: Event, id: str) -> None:
        """Keep the first matches of each type of event as samples."""
        if sum(other.type == event.type for _, other, _ in self.samples) < SAMPLES_SHOWN:
            self.samples.append((number, event, id))


def run(subscriptions: list[Subscription], events: list[Event]) -> Outcome:
    """Match every event with every subscription."""
    matcher = Matcher(engine_for(len(subscriptions)))
    matcher.add_many((each.id, each.filter) for each in subscriptions)
    outcome = Outcome()
    started = perf_counter()
    for number, event in enumerate(counting(events, "matching")):
        ids = matcher.match(event)
        outcome.events += 1
        outcome.matches += len(ids)
        outcome.by_size[len(ids)] += 1
        outcome.by_subscription.update(ids)
        if ids:
            outcome.keep(number, event, ids[0])
    outcome.duration_s = perf_counter() - started
    return outcome


# --- showing --------------------------------------------------------------------------------------


def _show(
    outcome: Outcome, subscriptions: list[Subscription], made_s: float, screen: Console
) -> None:
    known = {each.id: each for each in subscriptions}
    show_rows(screen, _totals(outcome, len(known), made_s), right=[1])
    screen.print()
    show_rows(screen, _distribution(outcome, screen), right=[1])
    if outcome.samples:
        screen.print()
        show_rows(screen, _busiest(outcome, known), right=[1])
        screen.print()
        screen.print("a few matches", style="bold")
        show_notes(screen, _samples(outcome, known))


def _totals(outcome: Outcome, subscriptions: int, made_s: float) -> Iterator[list[Text]]:
    tried = outcome.events * subscriptions
    matched = outcome.events - outcome.by_size[0]
    silent = subscriptions - len(outcome.by_subscription)
    rates = f"{outcome.events / outcome.duration_s:,.0f} events/s"
    yield _total("events", f"{outcome.events:,}", f"{matched:,} matched")
    yield _total("subscriptions", f"{subscriptions:,}", f"{silent:,} matched nothing")
    yield _total("filters tried", f"{tried:,}", "every filter on every event")
    yield _total(
        "matches", f"{outcome.matches:,}", f"{outcome.matches / outcome.events:.2f} an event"
    )
    yield _total("generated in", f"{made_s:.1f} s", "")
    yield _total(
        "matched in",
        f"{outcome.duration_s:.1f} s",
        f"{rates}, {tried / outcome.duration_s:,.0f} filters/s",
    )


def _total(what: str, number: str, note: str) -> list[Text]:
    return [Text(what), Text(number, "bold"), Text(note, "dim")]


def _distribution(outcome: Outcome, screen: Console) -> Iterator[list[Text]]:
    """Yield a heading, and rows that say how many events have how many matches."""
    counts = [
        sum(
            n
            for size, n in outcome.by_size.items()
            if low <= size and (high is None or size <= high)
        )
        for low, high in SHARES
    ]
    full = max(counts)
    block = "#" if screen.options.ascii_only else "█"
    yield heading("matches of an event", "events", "")
    for (low, high), count in zip(SHARES, counts, strict=True):
        label = (
            f"{low} or more" if high is None else f"{low}" if low == high else f"{low} to {high}"
        )
        bar = block * -(-count * _BAR_CELLS // full)
        yield [Text(label), Text(f"{count:,}"), Text(bar, "cyan")]


def _busiest(outcome: Outcome, known: dict[str, Subscription]) -> Iterator[list[Text]]:
    yield heading("busiest", "matches", "filter")
    for id, count in outcome.by_subscription.most_common(BUSIEST_SHOWN):
        yield [Text(id), Text(f"{count:,}"), Text(printable(str(known[id].filter)), "dim")]


def _samples(outcome: Outcome, known: dict[str, Subscription]) -> Iterator[tuple[str, Text]]:
    for number, event, id in outcome.samples:
        values = [f"{name} {_value(value)}" for name, value in event.attributes.items()]
        subscription = known[id]
        yield f"event {number}", Text(printable(", ".join(values)))
        yield f"{subscription.subscriber}", Text(printable(str(subscription.filter)), "green")


def _value(value: Value) -> str:
    return encode(value).strip('"')
