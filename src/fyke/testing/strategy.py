"""check_strategy: holds a strategy against the definition, the scan over all live subscriptions.

Stories (`story`) are played on an overlay under the virtual clock: on an even one, where a message
takes a fixed time for a link, or on one with little bandwidth, jitter, slow disks, messages as
bytes, the compiled engine. What is checked, precisely:

Always. A client gets an event at most once; with it come ids of its own subscriptions, each once,
which are live at that moment and accept the event. What does not fit the schema, what was not
promised, what comes from a client that has left, and an id that another client has are refused;
nothing else is.
Reached. An event is published at broker P; a subscription that accepts it was made at broker H, and
is still live when the overlay has settled again. If it had settled before with nothing broken, its
client gets the event with its id; on an even overlay, also if it was made earlier by more than a
message takes from H to P. So where nothing else travels, exactly what the scan finds is delivered.
Amid faults. The same holds for what had settled before, while other things are broken: if H can be
reached from P over links and brokers that work, from when the event is published.
Agreed. When nothing is broken and nothing moves, all brokers have one schema and one strategy, that
to which they were told to change.
Mended. Then the tables are those of a new overlay with the same live subscriptions. Among
equivalent filters any one may stand for the others. Where subscriptions are placed, tables depend
on the order of joins: then each one is attached at its place, and found from the root (`places`).
Cost. Then an event takes as many messages as the best possible for the variant (`cost`), and a new
subscription at most one for each link.
Empty. When all have unsubscribed, no row is left, and nothing is searched; when all clients have
left, a broker is as large as a new one (`footprint`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Final

from fyke.assembly import ADAPTIVE, MULTISTAGE, variant_of
from fyke.errors import FykeError
from fyke.routing.forwarding.variant import Variant
from fyke.testing.stories import story as told
from fyke.testing.stories.overlays import LATENCY_S, Make, maker
from fyke.testing.stories.play import LEASES, Play
from fyke.testing.stories.story import Conditions, Story

CHANGES: Final = ("event_forwarding", "subscription_forwarding", "rendezvous")
"""The strategies that are changed between."""


def check_strategy(
    strategy: str | Make,
    *,
    seeds: Iterable[int],
    brokers_max: int = 7,
    steps_max: int = 40,
    faults: bool = False,
    types: bool = False,
    changes: Iterable[str] = (),
    place: Conditions | None = None,
    variant: Variant | None = None,
    graphs: bool = False,
    settles_s: float = 0.0,
    lease_s: float = 0.0,
    exact: Make | None = None,
) -> Counter[str]:
    """Play a random story per seed. Raise AssertionError with the first that goes wrong.

    Return how often each law was tested. `variant` is the best that an event may cost, if the
    strategy has no name. With `graphs` there may be cycles. If subscriptions travel in periods, one
    counts as made `settles_s` later. If they are renewed every `lease_s`, a part that was away
    longer than the grace is as good as new. If brokers prune, `exact` makes brokers that do not.
    """
    checked: Counter[str] = Counter()
    for seed in seeds:
        story = told.drawn(
            Random(seed),
            brokers_max=brokers_max,
            steps_max=steps_max,
            faults=faults,
            types=types,
            changes=tuple(changes),
            place=place,
            graphs=graphs,
            lapses=LEASES * lease_s / LATENCY_S,
        )
        checked += check_story(strategy, story, f"seed {seed}", variant, settles_s, lease_s, exact)
    return checked


def check_story(
    strategy: str | Make,
    story: Story,
    name: str = "a story",
    variant: Variant | None = None,
    settles_s: float = 0.0,
    lease_s: float = 0.0,
    exact: Make | None = None,
) -> Counter[str]:
    """Play one story. Raise AssertionError with what went wrong and the story."""
    is_plain = isinstance(strategy, str) and strategy not in (ADAPTIVE, MULTISTAGE)
    if isinstance(strategy, str) and is_plain:
        variant = variant_of(strategy)
    play = Play(maker(strategy), story, variant, is_plain, settles_s, lease_s, exact)
    try:
        for number, step in enumerate(story.steps):
            play.step(number, step)
        play.end()
    except (AssertionError, FykeError) as wrong:
        who = strategy if isinstance(strategy, str) else "the strategy"
        raise AssertionError(f"{who}, {name}: {wrong}\n{story}") from wrong
    return play.checked
