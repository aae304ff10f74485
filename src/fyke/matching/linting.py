"""Lint as the compiled engine sees it: which filters it has to try on every event.

Idea. Whether a filter is *unguarded* depends on the index. So the engine's own boxing
(`compiled.boxes.boxing`) is asked, with what it supposes of events before it has seen any.

    a like '%x%' or b = 1                   guarded: two boxes, each with a symbol
    not a = 1                               unguarded
    a1 = 1 or a2 = 2 or ... or a9 = 9       unguarded: the engine files it under eight at most

The engine is loaded only for filters that have no predicate which must hold, or one with many
alternatives; all others are guarded.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from fyke.filters.algebra.necessary import necessary
from fyke.filters.analysis import COVERING_TESTS_MAX, Analysis, Track, analyse
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription

if TYPE_CHECKING:
    from fyke.events.schema import Schema
    from fyke.matching.compiled.boxes.boxing import Boxing

FEW: Final = 8
"""Alternatives up to which the engine always files a filter under them."""


def lint(
    subscriptions: Iterable[Subscription],
    *,
    schema: Schema | None = None,
    covering_tests_max: int = COVERING_TESTS_MAX,
    track: Track | None = None,
) -> Analysis:
    """Find what is wrong, redundant or expensive in a set of subscriptions.

    `track(things, what)` yields the things and may show how far it is.
    """
    return analyse(
        subscriptions,
        schema=schema,
        covering_tests_max=covering_tests_max,
        is_guarded=Guards(),
        track=track or (lambda things, what: things),
    )


class Guards:
    """Says whether the compiled engine can leave a filter out for most events."""

    def __call__(self, filter: Filter) -> bool:
        if any(len(need.alternatives) <= FEW for need in necessary(filter)):
            return True
        return self.boxing.is_guarded(filter)

    @cached_property
    def boxing(self) -> Boxing:
        """The boxing of the engine, before it has seen any events."""
        from fyke.matching.compiled.boxes.boxing import Boxing
        from fyke.matching.compiled.coding.vocabulary import Vocabulary

        return Boxing(Vocabulary())
