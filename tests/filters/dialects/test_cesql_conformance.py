"""The conformance kit of CloudEvents SQL, read from the folder of conformance cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fyke
from fyke.filters.dialects import cesql
from fyke.limits import DEFAULT_LIMITS

VALID = {"specversion": "1.0", "id": "1", "source": "http://localhost/source", "type": "any.type"}

Case = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def cases(conformance: Path) -> list[Case]:
    found = [
        (f"{path.stem}: {case['name']}", case)
        for path in sorted((conformance / "cesql_tck").glob("*.json"))
        for case in json.loads(path.read_text())["tests"]
    ]
    assert len(found) >= 185
    return found


def event_of(case: dict[str, Any]) -> dict[str, Any]:
    event: dict[str, Any] = case.get("event") or VALID | case.get("eventOverrides", {})
    return event


def text_of(case: dict[str, Any]) -> str:
    """YAML has turned `TRUE` and `-10` into a boolean and a number."""
    return str(case["expression"])


def test_value_and_error(cases: list[Case]) -> None:
    differing = []
    for name, case in cases:
        result = cesql.evaluate(text_of(case), event_of(case))
        wanted = case.get("result", result.value), case.get("error")
        if (result.value, result.error) != wanted or type(result.value) is not type(wanted[0]):
            differing.append((name, case["expression"], wanted, result))
    assert not differing


def test_as_a_filter(cases: list[Case]) -> None:
    """An event passes only where the value is the Boolean true and there is no error."""
    for name, case in cases:
        if case.get("error") == "parse":
            with pytest.raises(fyke.FilterError):
                cesql.parse(text_of(case), DEFAULT_LIMITS)
            continue
        accepted = cesql.parse(text_of(case), DEFAULT_LIMITS).matches(event_of(case))
        assert accepted is (case.get("result") is True and "error" not in case), name
