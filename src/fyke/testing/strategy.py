"""check_strategy: holds a strategy against the definition, the scan over all live subscriptions.

Stories (`story`) are played on an overlay under the virtual clock, where a message takes a fixed
time for a link. What is checked, precisely:

Always. A client gets an event at most once; with it come ids of its own subscriptions, each once,
which are live at that moment and accept the event. Nothing sensible is rejected.
Reached. An event is published at broker P, a subscription that accepts it was made at broker H.
If it was made earlier by more than a message takes from H to P, and is still live when the overlay
has settled again, its client gets the event with its id. So where nothing else travels, exactly
what the scan finds is delivered. Not claimed from a fault until all is mended and settled.
Mended. When all links are whole, all brokers up and nothing moves, the tables are those of a new
overlay with the same live subscriptions. Among equivalent filters any one may stand for the others.
Empty. When all have unsubscribed, no row is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Final

from fyke.errors import FykeError
from fyke.testing import story as told
from fyke.testing.play import Make, Play, maker
from fyke.testing.story import Story

CHANGES: Final = ("event_forwarding", "subscription_forwarding", "rendezvous")
"""The strategies that are changed between."""


def check_strategy(
    strategy: str | Make,
    *,
    seeds: Iterable[int],
    brokers_max: int = 7,
    steps_max: int = 40,
    faults: bool = False,
    switch: bool = False,
) -> None:
    """Plays a random story per seed; AssertionError tells the first that goes wrong."""
    changes = CHANGES if switch else ()
    for seed in seeds:
        story = told.drawn(
            Random(seed),
            brokers_max=brokers_max,
            steps_max=steps_max,
            faults=faults,
            changes=changes,
        )
        check_story(strategy, story, f"seed {seed}")


def check_story(strategy: str | Make, story: Story, name: str = "a story") -> None:
    """Plays one story; AssertionError with what went wrong and the story."""
    play = Play(maker(strategy), story)
    try:
        for number, step in enumerate(story.steps):
            play.step(number, step)
        play.end()
    except (AssertionError, FykeError) as wrong:
        who = strategy if isinstance(strategy, str) else "the strategy"
        raise AssertionError(f"{who}, {name}: {wrong}\n{story}") from wrong
