"""EventBridge patterns and events that were recorded against the real service."""

from __future__ import annotations

import json
from pathlib import Path

import json5
import pytest

import fyke
from fyke.events.event import Event
from fyke.filters.algebra.weakening import indexable
from fyke.filters.dialects import parse
from fyke.filters.dialects.eventbridge import check
from fyke.testing.covering import check_covers

SEVERAL_KEYS = "complex_multi_key_event.json", "complex_multi_key_event_pattern.json"
"""One pair in two files, because its pattern has a key twice."""


def cases(folder: Path) -> dict[str, tuple[str, dict[str, object]]]:
    """Name -> (text of the pattern, event)."""
    found = {}
    for file in sorted(folder.glob("*.json5")):
        case = json5.loads(file.read_text("utf-8"))
        found[file.stem] = json.dumps(case["EventPattern"]), case["Event"]
    event, pattern = (folder / name for name in SEVERAL_KEYS)
    found[event.stem] = pattern.read_text("utf-8"), json.loads(event.read_text("utf-8"))
    return found


def disagrees(name: str, pattern: str, event: dict[str, object]) -> str | None:
    """What goes wrong with a case, if anything."""
    if name.endswith("_EXC"):
        try:
            return f"{name}: accepted as {parse(pattern, 'eventbridge')}"
        except fyke.FilterError:
            return None
    expected = not name.endswith("_NEG")
    tree, exact = parse(pattern, "eventbridge"), check(pattern)
    check_covers(indexable(tree), exact, [event])
    verdicts = tree.matches(event), exact(Event(event))
    return None if verdicts == (expected, expected) else f"{name}: {verdicts} by {tree}"


def test_agrees_with_the_recorded_verdicts(conformance: Path) -> None:
    folder = conformance / "eventbridge_patterns"
    if not folder.is_dir():
        pytest.skip(f"no conformance cases: {folder} is absent")
    found = cases(folder)
    assert len(found) >= 99, "the folder holds fewer cases than were recorded"
    assert [wrong for case in found.items() if (wrong := disagrees(case[0], *case[1]))] == []
