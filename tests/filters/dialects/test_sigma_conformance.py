"""Sigma against the rules and the labelled events of SigmaHQ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import pytest
import yaml

from fyke.errors import FilterError
from fyke.events.event import Event
from fyke.filters.algebra.normal_form import simplify
from fyke.filters.algebra.weakening import indexable
from fyke.filters.dialects import parse
from fyke.filters.dialects.sigma import SigmaRule, rule
from fyke.filters.filter import TRUE
from fyke.testing.covering import check_covers

REFUSED_SHARE_MAX = 0.01
UNINDEXED_SHARE_MAX = 0.05


@lru_cache(maxsize=2)
def compiled(folder: Path) -> tuple[dict[str, SigmaRule], dict[str, str]]:
    """The rules of a folder by file name, and the reasons why others were refused."""
    rules, refused = {}, {}
    for path in sorted(folder.rglob("*.yml")):
        try:
            rules[path.name] = rule(path.read_text(encoding="utf-8"))
        except FilterError as error:
            refused[path.name] = str(error)
    return rules, refused


# --- Windows event logs as attributes -----------------------------------------------------------


def documents(text: str) -> Iterator[dict[str, object]]:
    """The JSON documents of a file, which stand one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        document, at = decoder.raw_decode(text, at)
        yield document


def flat(log: Mapping[str, object]) -> Event:
    """A Windows event log with the attributes that rules name."""
    event = log.get("Event", log)
    assert isinstance(event, Mapping)
    fields: dict[str, object] = {}
    for part in ("System", "EventData", "UserData"):
        for name, value in (event.get(part) or {}).items():
            _add(fields, name, value)
    return Event(fields)


def _add(fields: dict[str, object], name: str, value: object) -> None:
    """A field; what it holds one level deeper are fields too, its attribute X is name_X."""
    if not isinstance(value, Mapping):
        fields[name] = value
        return
    for inner, deeper in value.items():
        if inner == "#attributes":
            fields.update({f"{name}_{key}": given for key, given in deeper.items()})
        elif inner == "#text":
            fields[name] = deeper
        else:
            fields[inner] = deeper


# --- tests --------------------------------------------------------------------------------------


def test_all_rules_compile(conformance: Path) -> None:
    rules, refused = compiled(conformance / "sigma" / "rules_994da166")
    total = len(rules) + len(refused)
    assert total == 3132
    assert len(refused) <= REFUSED_SHARE_MAX * total, f"{len(refused)} of {total}: {refused}"


def test_nearly_all_rules_have_an_indexable_condition(conformance: Path) -> None:
    rules, _ = compiled(conformance / "sigma" / "rules_994da166")
    bare = [name for name, found in rules.items() if simplify(indexable(found.filter)) == TRUE]
    assert len(bare) <= UNINDEXED_SHARE_MAX * len(rules), f"{len(bare)} of {len(rules)}: {bare}"


def test_every_tree_prints_and_reads_back(conformance: Path) -> None:
    rules, _ = compiled(conformance / "sigma" / "rules_994da166")
    for name, found in list(rules.items())[::7]:
        assert parse(str(found.filter)) == found.filter, name


def test_metadata_is_kept(conformance: Path) -> None:
    rules, _ = compiled(conformance / "sigma" / "rules_994da166")
    for name, found in rules.items():
        assert found.id and found.title and found.level and found.status, name
        assert found.logsource.type_name, name


def labelled(folder: Path) -> list[tuple[str, list[Event], str, int | None]]:
    """For each folder its name, the events, the id of the rule, and how many at least must fire."""
    cases = []
    for info in sorted((folder / "regression").rglob("info.yml")):
        described = yaml.safe_load(info.read_text(encoding="utf-8"))
        events = [
            flat(document)
            for path in sorted(info.parent.glob("*.json"))
            for document in documents(path.read_text(encoding="utf-8"))
        ]
        tests = described.get("regression_tests_info") or [{}]
        identity = described["rule_metadata"][0]["id"]
        cases.append((info.parent.name, events, identity, tests[0].get("match_count")))
    return cases


def test_labelled_events_fire_their_rule(conformance: Path) -> None:
    folder = conformance / "sigma"
    rules, refused = compiled(folder / "rules_labelled")
    assert not refused
    by_id = {found.id: found for found in rules.values()}
    cases = labelled(folder)
    assert len(cases) == 113
    silent, too_few = [], []
    for name, events, identity, count in cases:
        fired = sum(by_id[identity].filter.matches(event) for event in events)
        if events and not fired:
            silent.append(name)
        if events and count is not None and fired < count:
            too_few.append((name, fired, count))
    with_events = sum(bool(events) for _, events, _, _ in cases)
    assert with_events >= 112, "one folder is known to come without its event"
    assert not silent, f"{len(silent)} of {with_events} do not fire: {silent}"
    assert not too_few, too_few


def test_the_indexable_part_loses_no_labelled_event(conformance: Path) -> None:
    folder = conformance / "sigma"
    rules, _ = compiled(folder / "rules_labelled")
    events = [event for _, found, _, _ in labelled(folder) for event in found]
    accepted = sum(
        check_covers(indexable(found.filter), found.filter, events) for found in rules.values()
    )
    assert accepted >= 112


@pytest.mark.parametrize("lane", ["low_match", "mixed_schema", "no_match", "structured_windows"])
def test_lanes_are_read_and_covered(conformance: Path, lane: str) -> None:
    rules, _ = compiled(conformance / "sigma" / "rules_994da166")
    with (conformance / "sigma" / "events" / f"{lane}.ndjson").open(encoding="utf-8") as lines:
        events = [Event(json.loads(line)) for line, _ in zip(lines, range(40), strict=False)]
    for found in list(rules.values())[::3]:
        check_covers(indexable(found.filter), found.filter, events)
