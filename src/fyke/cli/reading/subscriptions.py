"""Subscriptions from a file, a line each: {"id", "filter", "dialect"?, "subscriber"?}."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fyke.cli.reading.declared import Declared
from fyke.cli.reading.lines import Line
from fyke.cli.writing.problems import Problems
from fyke.errors import FilterError, FykeError, shown
from fyke.events.json import decode
from fyke.filters.subscription import Subscription

SCANNED_MAX: Final = 200
"""Up to so many subscriptions the index does not pay for being loaded."""


def engine_for(subscriptions: int) -> str:
    """Return the engine that suits so many subscriptions best."""
    return "scan" if subscriptions <= SCANNED_MAX else "compiled"


def unique(
    every_line: Iterator[Line], dialect: str, problems: Problems, declared: Declared
) -> Iterator[tuple[Line, Subscription]]:
    """Yield lines and their subscriptions, the first of those with one id."""
    first: dict[str, int] = {}
    for line in every_line:
        try:
            subscription = _subscription(decode(line.content), dialect, declared)
            if subscription.id in first:
                raise FilterError(
                    f"the id {shown(subscription.id)} is taken by line {first[subscription.id]}"
                )
        except FykeError as refused:
            problems.report(line.place, refused)
        else:
            first[subscription.id] = line.number + 1
            yield line, subscription


def _subscription(document: object, dialect: str, declared: Declared) -> Subscription:
    if not isinstance(document, dict):
        raise FilterError(
            'a subscription is an object such as {"id": "s1", "filter": "price < 10"}'
        )
    for name in ("id", "filter"):
        if document.get(name) is None:
            raise FilterError(f'the subscription has no "{name}"')
    return Subscription(
        id=_text(document, "id") or "",
        filter=declared.filter(document["filter"], _dialect(document, dialect)),
        subscriber=_text(document, "subscriber"),
    )


def _text(document: dict[str, object], name: str) -> str | None:
    value = document.get(name)
    if value is None or isinstance(value, str):
        return value
    raise FilterError(f'"{name}" is {shown(value)}; expected a string')


def _dialect(document: dict[str, object], default: str) -> str:
    given = _text(document, "dialect")
    return default if given is None else given
