"""Properties that prove that they reach what they assert.

A property whose examples never get to its assertion passes and says nothing. So the property tells
what each example came to (`reached`), and fails if too small a share of them did (`reaches`):

    @reaches(claimed=0.3)
    @given(pairs())
    def test_what_is_claimed_holds(pair):
        claimed = covers(*pair)
        reached(claimed=claimed)
        ...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from hypothesis import event, settings

Arguments = ParamSpec("Arguments")

_tallies: list[tuple[Counter[str], Counter[str]]] = []
"""Of the properties that run now, the innermost last: how often each fact was asked, and held."""


def reached(**facts: bool) -> None:
    """Count one example, by fact."""
    asked, held = _tallies[-1]
    for name, holds in facts.items():
        asked[name] += 1
        held[name] += bool(holds)
        if holds:
            event(name)


def reaches(**floors: float) -> Callable[[Callable[Arguments, None]], Callable[Arguments, None]]:
    """Fail a property if too small a share of its examples comes to a fact.

    It stands above `given` and `settings`. `counted` is the property itself, for seeds and numbers
    of examples.
    """

    def counted(property: Callable[Arguments, None]) -> Callable[Arguments, None]:
        @wraps(property)
        def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
            _tallies.append((Counter(), Counter()))
            try:
                property(*args, **kwargs)
            finally:
                asked, held = _tallies.pop()
            for name, floor in floors.items():
                share = held[name] / max(asked[name], 1)
                assert share >= floor, f"{name}: {share:.1%} of {asked[name]}, expected {floor:.0%}"

        run.counted = property  # type: ignore[attr-defined]
        return run

    return counted


def examples(times: float) -> settings:
    """Return settings with some times the examples of the profile. A long run has more."""
    return settings(max_examples=round(settings().max_examples * times))
