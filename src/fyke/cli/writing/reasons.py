"""Why an event is in a filter's set, as data: the clauses that held and what they saw."""

from __future__ import annotations

from collections.abc import Iterator

from fyke.events.event import Event
from fyke.events.value import Value
from fyke.filters.explanation import Explanation, explain
from fyke.filters.filter import And, Filter, Or


def reasons(filter: Filter, event: Event) -> list[dict[str, object]]:
    """Return a document for each clause that held: all below an `and`, some below an `or`."""
    return [_reason(clause) for clause in _held(explain(filter, event))]


def _held(node: Explanation) -> Iterator[Explanation]:
    if not isinstance(node.filter, And | Or):
        yield node
        return
    for child in node.children:
        if child.holds:
            yield from _held(child)


def _reason(clause: Explanation) -> dict[str, object]:
    seen: dict[str, Value] = {}
    absent: dict[str, None] = {}
    for leaf in clause.leaves():
        seen.update(leaf.seen)
        absent.update(dict.fromkeys(leaf.absent))
    document: dict[str, object] = {"clause": str(clause.filter), "seen": seen}
    if absent:
        document["absent"] = list(absent)
    return document
