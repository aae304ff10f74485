"""The meaning of an item by definition, as the check behind Sigma's residuals.

A residual's text is a JSON object with one key and its value or values, written as in a rule:
`{"Port|contains": "80"}` for a field, `{"": ["mimikatz", "lsadump"]}` for keywords, which are
looked for in all values of the event.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Final

from fyke.errors import FilterError, shown
from fyke.events.event import Event
from fyke.events.value import Scalar
from fyke.filters.dialects.sigma.criteria import Criterion, Fits, elements
from fyke.filters.dialects.sigma.modifiers import Item, read_item
from fyke.filters.dialects.sigma.plain import Value, copy_plain
from fyke.filters.residual import Check
from fyke.filters.texts.glob import fold
from fyke.filters.texts.wording import text_of
from fyke.limits import Limits

_LIMITS: Final = Limits(depth_max=4, nodes_max=sys.maxsize, list_size_max=sys.maxsize)
"""Whoever read the filter that holds the residual has bounded the length of its text."""


def residual_text(key: str, value: Value | Sequence[Value]) -> str:
    """Return the text from which `check` rebuilds the check of one item."""
    return json.dumps({key: value}, ensure_ascii=False)


def check(text: str) -> Check:
    """Return the check that a residual's text describes."""
    try:
        source = json.loads(text)
    except (ValueError, RecursionError):
        raise _unreadable(text) from None
    document = copy_plain(source, _LIMITS)
    if not isinstance(document, dict) or len(document) != 1:
        raise _unreadable(text)
    ((key, given),) = document.items()
    values = given if isinstance(given, list) else [given]
    if any(isinstance(value, (list, dict)) for value in values):
        raise _unreadable(text)
    item = read_item(key, values, _LIMITS)  # type: ignore[arg-type]
    return FieldCheck(item) if item.key.field else KeywordCheck(item)


def _unreadable(text: str) -> FilterError:
    return FilterError(
        f"the residual {shown(text)} cannot be read",
        expected='an item such as {"field|contains": "x"}',
    )


class FieldCheck:
    """The test if a field of the event meets an item."""

    attributes: frozenset[str] | None

    def __init__(self, item: Item) -> None:
        self._key = item.key
        self._criteria = item.criteria()
        others = (criterion.references for choice in self._criteria for criterion in choice)
        self.attributes = frozenset({item.key.field}).union(*others)

    def __call__(self, event: Event) -> bool:
        linked = all if self._key.every else any
        found = linked(self._holds(choice, event) for choice in self._criteria)
        return found is not self._key.negated

    def _holds(self, choice: tuple[Criterion, ...], event: Event) -> bool:
        return any(criterion.holds(self._key.field, event) for criterion in choice)


class KeywordCheck:
    """The test if a keyword is in some value of the event; with `all`, if each one is."""

    attributes: frozenset[str] | None = None

    def __init__(self, item: Item) -> None:
        self._key = item.key
        self._criteria = item.criteria()

    @property
    def needles(self) -> tuple[str, ...] | None:
        """Texts of which one is in the wording of every accepted event."""
        if self._key.negated or not self._criteria:
            return None
        choices = [[criterion.needle for criterion in choice] for choice in self._criteria]
        if self._key.every:
            choices = [choice for choice in choices if None not in choice][:1] or [[None]]
        found = tuple(needle for choice in choices for needle in choice if needle is not None)
        return found if len(found) == sum(map(len, choices)) else None

    def __call__(self, event: Event) -> bool:
        scalars = [scalar for name in event.attributes for scalar in elements(event, name)]
        texts = [text for text in map(text_of, scalars) if text is not None]
        folded = list(map(fold, texts))
        linked = all if self._key.every else any
        found = linked(
            any(_found(criterion, scalars, texts, folded) for criterion in choice)
            for choice in self._criteria
        )
        return found is not self._key.negated


def _found(
    criterion: Criterion, scalars: list[Scalar], texts: list[str], folded: list[str]
) -> bool:
    if isinstance(criterion, Fits):
        return any(map(criterion.fits, texts if criterion.cased else folded))
    return any(map(criterion.accepts, scalars))
