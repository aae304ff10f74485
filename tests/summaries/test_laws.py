"""The one law for every mode, budget, merge and change; arrays against their plain twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given

from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import Filter, conjunction, walk
from fyke.filters.predicate import ValuePredicate
from fyke.filters.resolution import resolve
from fyke.matching.matcher import Matcher
from fyke.summaries.encoding import SummaryError
from fyke.summaries.merging import merge
from fyke.summaries.plain import PlainSummary
from fyke.summaries.summary import MODES, Summary
from fyke.testing import related
from fyke.testing.covering import check_covers
from fyke.testing.generators import randoms
from fyke.testing.stories.reaching import examples, reached, reaches

Pairs = list[tuple[str, Filter]]


def _drawn(rng: Random) -> tuple[Pairs, list[Event]]:
    filters = related.family(rng, rng.randint(1, 6), rng.randint(1, 4))
    pairs = [(f"s{at}", filter) for at, filter in enumerate(filters)]
    return pairs, related.events_about(rng, filters, 20)


def check_summary(summary: Summary, pairs: Pairs, events: list[Event]) -> int:
    """Hold a summary against each filter, id by id; return how many matches were seen."""
    seen = 0
    for id, filter in pairs:
        seen += check_covers(lambda event: id in summary.match(event), filter, events)  # noqa: B023
        check_covers(summary.may_match, filter, events)
    return seen


@reaches(matched=0.6)
@examples(0.4)
@given(randoms())
def test_every_mode_and_what_was_shipped(rng: Random) -> None:
    pairs, events = _drawn(rng)
    seen = 0
    for mode in MODES:
        summary = Summary.of(pairs, mode)
        seen += check_summary(summary, pairs, events)
        shipped = Summary.from_bytes(summary.to_bytes(names=True))
        assert shipped == summary
        assert [shipped.match(event) for event in events] == [
            summary.match(event) for event in events
        ]
    reached(matched=seen > 0)


@reaches(joined=0.5, matched=0.5)
@examples(0.25)
@given(randoms())
def test_every_budget(rng: Random) -> None:
    pairs, events = _drawn(rng)
    whole = Summary.of(pairs, "exact")
    seen = 0
    budget = whole.size - 1
    sample = events if rng.random() < 0.5 else []
    while True:
        try:
            summary = Summary.of(pairs, budget=budget, sample=sample)
        except SummaryError as refused:
            assert "the least is" in str(refused)
            break
        assert summary.size <= budget
        seen += check_summary(summary, pairs, events)
        budget = summary.size - 1
    reached(joined=budget < whole.size - 1, matched=seen > 0)


@reaches(matched=0.5)
@examples(0.25)
@given(randoms())
def test_merged_owners_and_versions(rng: Random) -> None:
    pairs, events = _drawn(rng)
    mode = rng.choice(MODES)
    owners = [f"b{rng.randrange(3)}" for _ in pairs]
    parts = [
        Summary.of(
            [pair for pair, owner in zip(pairs, owners, strict=True) if owner == name],
            mode,
            owner=name,
            version=2,
        )
        for name in sorted(set(owners))
    ]
    old = Summary.of([("gone", "exists a")], mode, owner=owners[0], version=1)
    some = [Summary.from_bytes(each.to_bytes(names=True)) for each in parts]
    whole = merge([*some[:1], old, *some[1:], *some])
    seen = check_summary(whole, pairs, events)
    assert "gone" not in whole
    for event in events:
        wanted = {owner for (_, f), owner in zip(pairs, owners, strict=True) if f.matches(event)}
        assert wanted <= set(whole.owners(event))
    try:
        short = merge(some, budget=whole.size * 3 // 4)
        check_summary(short, pairs, events)
    except SummaryError as refused:
        assert "the least is" in str(refused)
    left = whole.without([owners[0]])
    kept = [pair for pair, owner in zip(pairs, owners, strict=True) if owner != owners[0]]
    check_summary(left, kept, events)
    reached(matched=seen > 0)


@reaches(matched=0.5)
@examples(0.25)
@given(randoms())
def test_after_any_changes_it_covers_a_new_one_and_compacted_it_equals_it(rng: Random) -> None:
    pairs, events = _drawn(rng)
    live: dict[str, Filter] = {}
    summary = Summary.of([], rng.choice(MODES))
    shipped = Summary.from_bytes(Summary.of(pairs, summary.mode).to_bytes(names=True))
    in_shipped = dict(pairs)
    for _ in range(rng.randint(3, 12)):
        id, filter = rng.choice(pairs)
        other = rng.choice(pairs)[1]
        for changed, known in ((summary, live), (shipped, in_shipped)):
            if id not in known:
                changed.add(id, filter)
                known[id] = filter
            elif rng.random() < 0.4:
                changed.remove(id)
                del known[id]
            else:
                changed.replace(id, other)
                known[id] = other
        if rng.random() < 0.3:
            summary.may_match(events[0])
    new = Summary.of(live.items(), summary.mode)
    for event in events:
        assert set(new.match(event)) <= set(summary.match(event))
    seen = check_summary(summary, list(live.items()), events)
    check_summary(shipped, list(in_shipped.items()), events)
    summary.compact()
    assert summary == new
    reached(matched=seen > 0)


@reaches(matched=0.5, changed=0.5)
@examples(0.25)
@given(randoms())
def test_what_brokers_tell_each_other_leaves_what_a_new_one_would_have(rng: Random) -> None:
    """Differences, as they travel: some are added, some removed, an owner is forgotten."""
    pairs, events = _drawn(rng)
    mode = rng.choice(MODES)
    said = Summary.of([], mode, owner="b1", version=1)
    held = Summary.of([], mode, owner="b0", version=1)
    held.add("own", pairs[0][1])
    live: dict[str, Filter] = {}
    known: set[int] = set()
    for _ in range(rng.randint(2, 5)):
        for id, filter in rng.sample(pairs, rng.randint(1, len(pairs))):
            if id in live:
                said.remove(id)
                del live[id]
            else:
                said.add(id, filter)
                live[id] = filter
        numbers = set(said.known_numbers("b1"))
        part = Summary.from_bytes(said.selected({"b1": numbers - known}).to_bytes())
        held.update(part, {"b1": known - numbers})
        known = numbers
    assert held.versions == {"b0": held.versions["b0"], "b1": said.versions["b1"]}
    assert set(held.numbers("b1")) <= known
    seen = 0
    for event in events:
        found = held.match(event)
        assert ("own" in found) >= pairs[0][1].matches(event)
        for id, filter in live.items():
            if filter.matches(event):
                assert f"b1#{said.register.ids['b1'][id]}" in found
                seen += 1
    held.forget(["b1"])
    assert held == Summary.of([("own", pairs[0][1])], mode, owner="b0", version=2)
    reached(matched=seen > 0, changed=bool(live))


@reaches(matched=0.4, several=0.5)
@examples(0.4)
@given(randoms())
def test_exact_finds_what_a_matcher_finds_on_conjunctions_over_single_values(rng: Random) -> None:
    """Of indexable predicates; several of them on one attribute, patterns too."""
    pairs: Pairs = []
    while len(pairs) < 5:
        leaves = [each for each in walk(related.tree(rng, 4)) if isinstance(each, ValuePredicate)]
        if leaves:
            pairs.append((f"s{len(pairs)}", conjunction(leaves)))
    events = [
        Event({name: value for name, value in each.attributes.items() if type(value) is not tuple})
        for each in related.events_about(rng, [filter for _, filter in pairs], 20)
    ]
    matcher = Matcher("scan")
    matcher.add_many(pairs)
    summary = Summary.of(pairs, "exact")
    seen = 0
    for event in events:
        found = matcher.match(event)
        assert sorted(summary.match(event)) == sorted(found), (event, summary.describe())
        seen += len(found)
    reached(matched=seen > 0, several=any(len(list(walk(each))) > 2 for _, each in pairs))


@reaches(matched=0.5)
@examples(0.4)
@given(randoms())
def test_exact_arrays_are_the_plain_twin(rng: Random) -> None:
    pairs, events = _drawn(rng)
    schema = related.schema(rng, [filter for _, filter in pairs]) if rng.random() < 0.3 else None
    summary = Summary.of(pairs, "exact", schema=schema)
    plain = PlainSummary.of(pairs, exact=True, schema=schema)
    seen = 0
    for event in events:
        if schema is not None:
            try:
                event = schema.read(event)
            except FykeError:
                continue
        found = summary.match(event)
        assert sorted(found) == plain.match(event), (event, summary.describe())
        seen += len(found)
    reached(matched=seen > 0)


@reaches(matched=0.5)
@examples(0.4)
@given(randoms())
def test_coarse_arrays_are_the_plain_twin_on_numbers(rng: Random) -> None:
    filters = related.spans(rng, "a", 6)
    pairs = [(f"s{at}", filter) for at, filter in enumerate(filters)]
    events = related.events_about(rng, filters, 20)
    summary, plain = Summary.of(pairs), PlainSummary.of(pairs)
    seen = 0
    for event in events:
        value = event.attributes.get("a")
        if any(isinstance(each, str) for each in (value if type(value) is tuple else (value,))):
            continue
        found = summary.match(event)
        assert sorted(found) == plain.match(event), (event, summary.describe(), plain.rows)
        seen += len(found)
    reached(matched=seen > 0)


@reaches(matched=0.3)
@examples(0.25)
@given(randoms())
def test_with_a_schema_also_for_events_that_do_not_fit_it(rng: Random) -> None:
    pairs, _ = _drawn(rng)
    filters = [filter for _, filter in pairs]
    schema = related.schema(rng, filters)
    events = [
        *related.fitting_events(rng, filters, schema),
        *related.events_about(rng, filters, 10),
    ]
    seen = 0
    for mode in MODES:
        summary = Summary.of(pairs, mode, schema=schema)
        shipped = Summary.from_bytes(summary.to_bytes(names=True))
        seen += _check_with_schema(shipped, schema, pairs, events)
        seen += _check_with_schema(summary, schema, pairs, events)
    reached(matched=seen > 0)


def _check_with_schema(summary: Summary, schema: Schema, pairs: Pairs, events: list[Event]) -> int:
    seen = 0
    for event in events:
        try:
            read = schema.read(event)
        except FykeError:
            continue
        found = summary.match(event)
        for id, filter in pairs:
            if resolve(filter, schema).matches(read):
                assert id in found, f"{event} is lost for {filter}: {summary.describe()}"
                seen += 1
    return seen


def test_a_number_that_has_gone_does_not_come_again() -> None:
    """Whoever was told of it goes by numbers: another filter of that number would not be told."""
    summary = Summary("coarse")
    summary.claim("b1", 1)
    summary.add("one", "a < 1", "b1")
    summary.add("two", "a < 2", "b1")
    summary.remove("two", "b1")
    summary.update(Summary.of([("far", "b < 1")], owner="b2", version=1), {})
    summary.add("three", "a < 3", "b1")
    assert summary.numbers("b1") == [0, 2]
    summary.forget(["b2"])
    summary.remove("three", "b1")
    summary.add("four", "a < 4", "b1")
    assert summary.numbers("b1") == [0, 3]


@pytest.mark.parametrize("is_received", [False, True])
def test_differences_by_number_lose_nothing(is_received: bool) -> None:
    """The last one goes, another comes: whoever was told by numbers hears of both."""
    owned = Summary.of([("one", "a < 1"), ("two", "b < 2")], owner="b1", version=1)
    if is_received:
        owned = Summary.from_bytes(owned.to_bytes(names=True))
    told = Summary.from_bytes(owned.to_bytes())
    before = set(owned.numbers("b1"))
    last = max(owned.register.ids["b1"], key=owned.register.ids["b1"].__getitem__)
    owned.remove(last)
    assert not owned.match({"z": 1})  # somebody asks: what has gone is no longer in the rows
    owned.add("three", "c < 3")
    after = set(owned.numbers("b1"))
    told.update(owned.selected({"b1": after - before}), {"b1": before - after})
    assert told.owners({"c": 1}) == ["b1"]
    assert set(told.numbers("b1")) == after


def test_a_number_that_was_told_is_not_given_to_another() -> None:
    """An owner that hears of its own numbers from elsewhere goes on behind them."""
    summary = Summary.of([("one", "a < 1")], owner="b1", version=1)
    summary.add("two", "b < 2")
    elsewhere = Summary.of([(f"s{at}", f"x{at} < 1") for at in range(4)], owner="b1", version=9)
    summary.update(elsewhere.selected({"b1": [2, 3]}), {})
    for at in range(3):
        summary.add(f"new{at}", f"y{at} < 1")
    assert all(summary.match({f"x{at}": 0}) for at in (2, 3))
    assert len(summary.numbers("b1")) == 7


def _merged(summary: Summary) -> Summary:
    return summary | Summary.of([("far", "b < 1")], owner="b2", version=1)


def _read_again(summary: Summary) -> Summary:
    return Summary.from_bytes(summary.to_bytes(names=True))


@pytest.mark.parametrize(
    "ways", [(), (_merged,), (_read_again,), (_merged, _read_again), (_read_again, _merged)]
)
def test_differences_lose_nothing_however_the_owner_goes_on(
    ways: Sequence[Callable[[Summary], Summary]],
) -> None:
    """The last goes and another comes: under the number of the first, it would not be told."""
    said = Summary.of([(f"s{at}", f"a > {at}") for at in range(5)], owner="b1", version=1)
    held = Summary.from_bytes(said.to_bytes())
    told = set(said.numbers("b1"))
    ids = said.register.ids["b1"]
    said.remove(max(ids, key=ids.__getitem__), "b1")
    for way in ways:
        said = way(said)
    said.add("new", "c = 7", "b1")
    numbers = set(said.known_numbers("b1"))
    assert len(numbers) == 5 and numbers - told
    part = Summary.from_bytes(said.selected({"b1": numbers - told}).to_bytes())
    held.update(part, {"b1": told - numbers})
    assert held.may_match({"c": 7})
    said.compact()
    assert sorted(said.known_numbers("b1")) == [*range(5)]
