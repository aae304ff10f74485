"""Under what subscriptions are filed: by statistics that were given, learned or guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from fyke.filters.dialects import parse
from fyke.matching.compiled.coding.frequencies import OBSERVED_ROWS_MAX
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.engines.registry import ENGINES
from fyke.matching.matcher import Matcher
from fyke.matching.statistics import Statistics

COUNT = 60
"""More subscriptions than wait, each with a value of its own on `rare` and on `common`."""
EVENTS = 2000


def sample() -> list[dict[str, Any]]:
    """`common` is one of few values, `rare` one of many."""
    return [{"common": n % 3, "rare": n % 1000, "text": f"some /path/{n}"} for n in range(EVENTS)]


def subscribed(matcher: Matcher) -> Matcher:
    """Who guesses from the subscriptions takes `common` for rare: all name another value of it."""
    matcher.add_many((f"s{n}", f"common = {n} and rare = {n % 2}") for n in range(COUNT))
    return matcher


def engine_of(matcher: Matcher) -> CompiledEngine:
    assert isinstance(matcher.engine, CompiledEngine)
    return matcher.engine


def candidates(matcher: Matcher, event: dict[str, Any]) -> int:
    before = matcher.stats().work.candidates
    matcher.match(event)
    return matcher.stats().work.candidates - before


def probes(matcher: Matcher, events: list[dict[str, Any]]) -> int:
    before = matcher.stats().work.probes
    for event in events:
        matcher.match(event)
    return matcher.stats().work.probes - before


def filed_under(matcher: Matcher) -> set[str]:
    """The attributes under whose values, patterns or pairs of values something is filed."""
    matcher.match({})
    engine = engine_of(matcher)
    axes = engine._vocabulary.axes
    parts = [part for each in engine._segments for part in (each.keyed, each.texts, each.pairs)]
    return {axes[axis][1] for part in parts for axis in part.tolist()}


def test_without_statistics_it_is_guessed() -> None:
    assert "common" in filed_under(subscribed(Matcher()))


@pytest.mark.parametrize(
    "given",
    [
        sample(),
        iter(sample()),
        pa.Table.from_pylist(sample()),
        Statistics.of(sample()),
        Statistics.read(Statistics.of(sample()).document),
    ],
    ids=["events", "iterator", "table", "statistics", "data"],
)
def test_given_statistics_decide_the_access_of_what_is_named_later(given: Any) -> None:
    matcher = Matcher()
    matcher.learn(given)
    matcher.add_many((f"s{n}", f"common = {n % 3} and rare = {n}") for n in range(COUNT))
    assert filed_under(matcher) == {"rare"}
    assert candidates(matcher, {"common": 1, "rare": 999}) == 0
    assert matcher.match({"common": 1, "rare": 4}) == ["s4"]


def test_the_choice_follows_the_statistics_not_the_names() -> None:
    """The same subscriptions, other statistics, another access: fewer probes and candidates."""
    swapped = [{"common": event["rare"], "rare": event["common"]} for event in sample()]
    for given, chosen in ((sample(), "rare"), (swapped, "common")):
        matcher = Matcher()
        matcher.learn(given)
        matcher.add_many((f"s{n}", f"common = {n % 3} and rare = {n % 3}") for n in range(COUNT))
        assert filed_under(matcher) == {chosen}


def test_a_pattern_is_as_rare_as_the_texts_that_it_accepts() -> None:
    texts = [{"a": n % 50, "text": "/bin/sh" if n % 10 else "/opt/rare"} for n in range(1000)]
    matcher = Matcher()
    matcher.learn(texts)
    matcher.add_many((f"s{n}", f"a = {n % 50} and text ends with '/sh'") for n in range(COUNT))
    assert "text" not in filed_under(matcher)
    matcher = Matcher()
    matcher.learn([{"a": 1, "text": f"/opt/{n}"} for n in range(1000)])
    matcher.add_many((f"s{n}", f"a = 1 and text ilike '%/SH{n}'") for n in range(COUNT))
    assert filed_under(matcher) == {"text"}
    assert matcher.match({"a": 1, "text": "/bin/sh7"}) == ["s7"]


def test_presence_and_types() -> None:
    matcher = Matcher()
    matcher.learn([{"a": 1, "type": "T", **({"b": 1} if n == 7 else {})} for n in range(1000)])
    matcher.add_many((f"s{n}", f"exists b and type is T and c < {n}") for n in range(COUNT))
    assert candidates(matcher, {"type": "T", "c": 0}) == 0
    assert len(matcher.match({"type": "T", "b": None, "c": 0})) == COUNT - 1


def test_what_is_not_listed_was_seen_less_than_what_is() -> None:
    known = {
        "events": 1000,
        "attributes": {
            "a": {"present": 1000, "values": [["x", 500], ["y", 20]]},
            "b": {"present": 1000, "values": [["x", 100]]},
        },
    }
    matcher = Matcher()
    matcher.learn(Statistics.read(known))
    matcher.add_many((f"s{n}", f"a = 'unlisted' and b = 'x' and c < {n}") for n in range(COUNT))
    assert candidates(matcher, {"a": "other", "b": "x", "c": 0}) == 0


def test_statistics_survive_a_snapshot(tmp_path: Path) -> None:
    matcher = subscribed(Matcher())
    matcher.learn(sample())
    matcher.save(tmp_path / "snapshot")
    reopened = Matcher.open(tmp_path / "snapshot")
    assert engine_of(reopened)._sample.statistics == engine_of(matcher)._sample.statistics
    reopened.add_many((f"n{n}", f"common = {n % 3} and rare = {n}") for n in range(COUNT))
    reopened.learn([{"more": 1}])
    assert candidates(reopened, {"common": 1, "rare": 999}) == 0
    assert reopened.match({"common": 1, "rare": 4}) == ["n4"]


def test_what_is_observed_outweighs_what_was_given() -> None:
    matcher = Matcher()
    matcher.learn(sample())
    matcher.add_many((f"s{n}", f"common = {n % 3} and rare = {n % 2}") for n in range(COUNT))
    table = pa.table({"common": [7] * 256, "rare": [n % 2 for n in range(256)]})
    for _ in range(60):
        matcher.match_batch(table)
    words = engine_of(matcher)._vocabulary
    known = words.frequencies
    of = words.attributes
    rare = known.share(of["rare"].value, of["rare"].symbols[1])
    common = known.share(of["common"].value, of["common"].symbols[1])
    assert rare > 0.25 > common


def test_a_value_is_observed_from_the_day_on_that_it_is_named() -> None:
    """What nobody asked for yesterday is not thought to be rare today."""
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"a = {n}") for n in range(COUNT))
    table = pa.table({"a": [n % 2 for n in range(256)], "b": ["x"] * 256})
    for _ in range(20):
        matcher.match_batch(table)
    matcher.add_many((f"n{n}", f"b = 'x' and a = {n}") for n in range(COUNT))
    matcher.match_batch(table)
    words = engine_of(matcher)._vocabulary
    known = words.frequencies
    axes = words.attributes["b"]
    assert known.share(axes.value, axes.symbols["x"]) > 0.4


def test_what_all_ask_for_is_no_way_to_tell_them_apart() -> None:
    """As rules that are routed by their log source: each has more alternatives than fit boxes."""
    matcher, scan = Matcher(), Matcher("scan")
    for each in (matcher, scan):
        for number in range(300):
            ends = " or ".join(f"image ends with '\\{number}-{part}.exe'" for part in range(12))
            each.add(f"s{number}", f"product = 'windows' and ({ends})")
    engine_of(matcher).freeze()
    event = {"product": "windows", "image": "C:\\7-3.exe"}
    assert matcher.match(event) == scan.match(event) == ["s7"]
    assert candidates(matcher, event) < 60
    assert candidates(matcher, {"product": "windows", "image": "C:\\other.exe"}) < 60


def test_a_residual_is_found_by_its_texts_and_not_by_what_all_ask_for() -> None:
    """As keywords of routed rules: many texts are looked for at once, a rule is read one by one."""
    matcher, scan = Matcher(), Matcher("scan")
    for each in (matcher, scan):
        for number in range(100):
            words = ", ".join(f"'text {number}-{part} of it'" for part in range(20))
            rule = f"detection:\n  words: [{words}]\n  condition: words"
            source = "product = 'linux'" if number % 2 else "product = 'windows'"
            filter = parse(source) & parse(rule, dialect="sigma")
            each.add(f"s{number}", filter)
    engine_of(matcher).freeze()
    event = {"product": "linux", "line": "here is text 7-3 of it, text 8-3 of it"}
    assert matcher.match(event) == scan.match(event) == ["s7"]
    before = matcher.stats().work.checks
    matcher.match({"product": "linux", "line": "nothing of that"})
    assert matcher.stats().work.checks - before < 10


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_every_engine_takes_statistics(engine: str) -> None:
    matcher = Matcher(engine)
    matcher.learn(sample())
    matcher.add("s", "common = 1 and rare = 1")
    matcher.learn(Statistics())
    assert matcher.match({"common": 1, "rare": 1}) == ["s"]


# --- filing again --------------------------------------------------------------------------------


def show(matcher: Matcher, events: list[dict[str, Any]]) -> None:
    """Lets the matcher see events and learn from all of them."""
    for start in range(0, len(events), OBSERVED_ROWS_MAX):
        matcher.match_batch(pa.Table.from_pylist(events[start : start + OBSERVED_ROWS_MAX]))


def test_compact_files_by_what_was_learned() -> None:
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"common = {n} and rare = {n % 2}") for n in range(300))
    events = [{"common": n % 300, "rare": 7} for n in range(512)]
    show(matcher, events)
    assert filed_under(matcher) == {"common"}
    assert probes(matcher, events[:300]) == 300
    matcher.compact()
    assert filed_under(matcher) == {"rare"}
    assert len(engine_of(matcher)._segments) == 1
    assert probes(matcher, events[:300]) == 0
    assert matcher.match({"common": 3, "rare": 1}) == ["s3"]


def test_compact_files_by_what_was_given() -> None:
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"common = {n % 3} and rare = 1 and c < {n}") for n in range(COUNT))
    assert "common" in filed_under(matcher)
    matcher.learn(sample())
    matcher.compact()
    assert filed_under(matcher) == {"rare"}
    assert len(matcher.match({"common": 1, "rare": 1, "c": 0})) == COUNT // 3


def test_a_pattern_that_was_left_out_becomes_the_access() -> None:
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"a = {n} and text ends with '/sh{n}'") for n in range(300))
    assert filed_under(matcher) == {"a"}
    show(matcher, [{"a": 3, "text": "x"}] * 512)
    assert candidates(matcher, {"a": 3, "text": "x"}) == 1
    assert matcher.match({"a": 3, "text": "/bin/sh3"}) == ["s3"]
    matcher.compact()
    assert filed_under(matcher) == {"a", "text"}
    assert candidates(matcher, {"a": 3, "text": "x"}) == 0
    assert matcher.match({"a": 3, "text": "/bin/sh3"}) == ["s3"]
    assert matcher.match({"a": 4, "text": "/bin/sh4"}) == ["s4"]


def test_what_was_learned_is_remembered_over_and_over() -> None:
    matcher = subscribed(Matcher())
    show(matcher, [{"common": n % COUNT, "rare": 7} for n in range(512)])
    for _ in range(3):
        matcher.compact()
        assert filed_under(matcher) == {"rare"}
    matcher.learn([{"other": 1}])
    matcher.compact()
    assert filed_under(matcher) == {"rare"}


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_every_engine_can_be_asked_to_compact(engine: str, tmp_path: Path) -> None:
    matcher = Matcher(engine)
    matcher.compact()
    assert matcher.match({"a": 1}) == []
    matcher.add_many((f"s{n}", f"a = {n % 2} or b > {n}") for n in range(50))
    matcher.remove("s1")
    matcher.compact()
    assert len(matcher.match({"a": 1})) == 24
    matcher.save(tmp_path / "snapshot")
    reopened = Matcher.open(tmp_path / "snapshot")
    reopened.compact()
    assert len(reopened.match({"a": 1})) == 24
    for n in range(50):
        if n != 1:
            reopened.remove(f"s{n}")
    reopened.compact()
    assert reopened.match({"a": 1}) == []
    reopened.add("again", "a = 1")
    assert reopened.match({"a": 1}) == ["again"]
