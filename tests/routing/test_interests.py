"""All filters of a broker in one matcher: whoever asks finds what its own filters accept, now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from fyke.routing.interests import FilterGroup, Interests
from fyke.testing.stories.story import events, filters


def test_groups_find_what_they_hold_whatever_was_asked_before(
    seeds: Callable[[int], Iterator[int]],
):
    """The last answer is kept, so the same event is asked for again and again between changes."""
    asked_again = 0
    for seed in seeds(40):
        draw = Random(seed)
        interests = Interests("scan")
        groups: list[FilterGroup[tuple[str, str]]] = [FilterGroup(interests) for _ in range(2)]
        held: list[dict[tuple[str, str], object]] = [{}, {}]
        few = draw.sample(events(), 2)
        for number in range(40):
            at = draw.randrange(2)
            if held[at] and draw.random() < 0.4:
                key = draw.choice(list(held[at]))
                groups[at].remove(key)
                del held[at][key]
            else:
                key = (":" * (number % 3), f"{number:02}:s")
                held[at][key] = draw.choice(filters())
                groups[at].add(key, held[at][key])
            event = draw.choice(few)
            for group, own in zip(groups, held, strict=True):
                right = [key for key, filter in own.items() if filter.matches(event)]
                assert sorted(group.match(event)) == sorted(right)
                asked_again += bool(right)
        groups[0].clear()
        assert groups[0].match(few[0]) == []
    assert asked_again > 100
