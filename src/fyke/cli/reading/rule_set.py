"""The input of commands on a whole set of subscriptions: the rules, a schema, and some events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fyke.cli.reading.declared import Declared, read_declared
from fyke.cli.reading.lines import first_events
from fyke.cli.reading.standing import read_standing
from fyke.cli.writing.problems import Problems
from fyke.filters.subscription import Subscription

if TYPE_CHECKING:
    from fyke.events.event import Event


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Subscriptions and events, with what could not be read of them."""

    problems: Problems
    declared: Declared
    subscriptions: list[Subscription]
    events: list[Event]

    @classmethod
    def read(
        cls,
        file: str,
        dialect: str,
        schema: str | None,
        timestamps: str | None,
        events: str | None,
        events_max: int,
    ) -> RuleSet:
        """Read what the options name; `events` may name no file."""
        problems, declared = Problems(), read_declared(schema, timestamps)
        found = [each.subscription for each in read_standing([file], dialect, problems, declared)]
        some = [] if events is None else first_events(events, problems, declared, events_max)
        return cls(problems, declared, found, some)

    def exit_code(self, otherwise: int = 0) -> int:
        """Say how many problems were not shown; return 2 where there were any."""
        self.problems.conclude()
        return 2 if self.problems.count else otherwise
