"""`fyke summarise`, as it is typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fyke as library

from .conftest import Run

RULES = [
    *({"id": f"s{at}", "filter": f"price < {at} and symbol = 'S{at}'"} for at in range(20)),
    {"id": "any", "filter": "not symbol = 'S1'"},
]
EVENTS = [{"price": at, "symbol": f"S{at + 1}"} for at in range(10)] + [
    {"price": 1, "symbol": "S1"}
]


def test_sizes_rows_and_what_passes(
    fyke: Callable[..., Run], write: Callable[[str, object], str]
) -> None:
    rules, events = write("rules.jsonl", RULES[:-1]), write("events.jsonl", EVENTS)
    run = fyke("summarise", rules, "--against", events, "--out", "rules.summary")
    assert run.code == 0
    assert "of 11 events pass" in run.out
    assert "text compressed (zlib)" in run.out
    summary = library.Summary.from_bytes(Path("rules.summary").read_bytes())
    assert summary.may_match({"price": 1, "symbol": "S2"})
    assert not summary.may_match({"price": 100, "symbol": "S2"})


def test_as_data_and_within_a_budget(
    fyke: Callable[..., Run], write: Callable[[str, object], str]
) -> None:
    rules, events = write("rules.jsonl", RULES), write("events.jsonl", EVENTS)
    run = fyke("summarise", rules, "--budget", "200", "--against", events, "--json")
    (facts,) = run.documents
    assert facts["always"] == ["any"]
    assert facts["passing"] == 1.0
    assert isinstance(facts["bytes"], int)
    assert facts["bytes"] <= 200
    assert facts["mode"] == "exact"


def test_rows_as_text(fyke: Callable[..., Run], write: Callable[[str, object], str]) -> None:
    run = fyke("summarise", write("rules.jsonl", RULES), "--describe")
    assert "always: any" in run.out
    assert "  (-∞, 19)" in run.out


def test_bad_input(fyke: Callable[..., Run], write: Callable[[str, object], str]) -> None:
    rules = write("rules.jsonl", RULES)
    for arguments, sentence in (
        (("--budget", "10"), "the least is"),
        (("--budget", "ten"), "is no size"),
        (("--mode", "fine"), "fine"),
        (("--out", "no/such/folder/x"), "cannot be written"),
        (("--against", "none.jsonl"), "none.jsonl"),
    ):
        run = fyke("summarise", rules, *arguments)
        assert run.code == 2
        assert sentence in run.err
