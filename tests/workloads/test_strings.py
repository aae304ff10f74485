"""W5: patterns of every kind, on strings that look like paths and command lines."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from fyke.filters.filter import walk
from fyke.filters.predicate import In, Predicate
from fyke.filters.text_predicate import Like
from fyke.workloads.composition import made_up
from fyke.workloads.draw import RandomStream
from fyke.workloads.strings import RECIPES, StringsWorkload

STRINGS = StringsWorkload(7)


def test_strings_look_like_what_they_are() -> None:
    table = STRINGS.columns(5_000)
    assert table.column_names == ["path", "command", "host"]
    for path in table["path"].to_pylist():
        assert re.fullmatch(r"(/[a-z]+)+/(\w+/){2}\w+([-.]\w+)?\.\w+", path), path
    for command in table["command"].to_pylist():
        assert re.fullmatch(r"[\w.]+ -[\w -]+ --\w+=\w+ /[\w/]+\.\w+", command), command
    assert len(set(table["path"].to_pylist())) > 4_500
    assert len(set(table["host"].to_pylist())) == 100


def kind(node: Predicate) -> str:
    if isinstance(node, In):
        return "equality"
    assert isinstance(node, Like)
    pattern = node.pattern
    if node.ignore_case:
        return "ilike"
    if pattern.is_prefix:
        return "prefix"
    if pattern.is_suffix:
        return "suffix"
    return "contains" if pattern.is_contains else "glob"


def test_patterns_of_every_kind() -> None:
    kinds: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    for filter in STRINGS.filters(5_000):
        leaves = [node for node in walk(filter) if isinstance(node, Predicate)]
        kinds.update(map(kind, leaves))
        lengths[len(leaves)] += 1
        assert all(node.attribute == "host" for node in leaves if isinstance(node, In))
    assert kinds.keys() == {"equality", "prefix", "suffix", "contains", "glob", "ilike"}
    assert all(count > 300 for count in kinds.values())
    assert lengths.keys() == {1, 2}
    assert 0.2 < lengths[2] / 5_000 < 0.5


def test_every_recipe_is_used_and_accepts_something() -> None:
    events = list(STRINGS.events(4_000))
    filters = list(STRINGS.filters(300))
    accepted = np.array([sum(map(filter.matches, events)) for filter in filters]) / len(events)
    assert 0.0005 < accepted.mean() < 0.005
    assert accepted.max() < 0.02
    assert np.mean(accepted > 0) > 0.7
    assert 1e-4 < np.median(accepted) < 2e-3
    shapes = {re.sub(r"'[^']*'", "", str(filter)) for filter in filters}
    assert len(shapes) >= 10
    assert len(RECIPES) == 20


def test_case_and_underscores_matter() -> None:
    texts = list(STRINGS.texts(3_000))
    assert any(r"\_" in text for text in texts)
    paths = STRINGS.columns(300)["path"].to_pylist()
    assert 30 < sum(path != path.lower() for path in paths) < 290


def test_words_are_made_up_by_the_stream() -> None:
    one, other = made_up(RandomStream(1, "x"), 1_000), made_up(RandomStream(2, "x"), 1_000)
    assert len(set(map(str.lower, one))) == 1_000
    assert one != other
    assert sum(word[0].isupper() for word in one) == 250


def test_rows_stay_what_they_are() -> None:
    """Numbers that others recorded with a seed must keep their meaning."""
    assert STRINGS.event(1).attributes == {
        "path": "/tmp/satfun/settin/fitfis_v2.jar",
        "command": "crontab --quiet --rolnos=ruttux /home/Rurrox.txt",
        "host": "host-55",
    }
    assert STRINGS.text(2) == "command like 'useradd %--gullen=%'"
