"""Of many filters those that no other covers: nothing that anybody wants is left out, ever."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.domain import Integer
from fyke.events.schema import Attribute, EventType, Schema
from fyke.filters.covering_index.filter_index import FilterIndex
from fyke.filters.filter import Filter
from fyke.filters.packed.packing import Packing
from fyke.nodes.message import Declare, Unsubscribe
from fyke.routing.forwarding import covering_set
from fyke.routing.forwarding.covering_set import CoveringSet
from fyke.testing import generators as g
from tests.overlays import Overlay

NINES = "a = 9 or b = 9 or c = 9"
HARD = f"({NINES})" + "".join(f" and (a = {at} or b = {at})" for at in range(10, 27))
"""So many alternatives that covering is not proven, though NINES covers it."""
THREE = {"x": NINES, "y": f"{NINES} or d = 9", "z": HARD}
SMALL = [
    *(f"a < {at}" for at in range(5)),
    *(f"a < {at} or b < {at}" for at in range(4)),
    *(f"a < {at} and b < {at}" for at in range(1, 5)),
    *("true", "exists a", "exists a or exists b", "a in (1, 2)", "not a < 2"),
]
PARSED = {text: fyke.parse(text) for text in SMALL}
EVENTS = [
    fyke.Event(dict(zip(("a", "b"), pair, strict=False)))
    for pair in [(), *((a,) for a in range(5)), *((a, b) for a in range(5) for b in range(5))]
]


class Upper:
    """A covering set, and what it has told: those that entered and have not left."""

    def __init__(self, schema: Schema | None = None) -> None:
        self.packing = Packing()
        self.index = FilterIndex(schema, self.packing)
        self.set = CoveringSet(self.index)
        self.wanted: dict[str, Filter] = {}
        self.told: dict[str, Filter] = {}

    def add(self, key: str, filter: Filter) -> None:
        self.wanted[key] = filter
        self._note(self.set.add(key, self.packing.pack(filter)))

    def remove(self, key: str) -> None:
        change = self.set.remove(key, self.packing.pack(self.wanted[key]))
        self._note(change)
        del self.wanted[key]
        assert key not in self.told

    def _note(self, change: tuple[list[str], list[str]]) -> None:
        entered, left = change
        assert not set(entered) & set(left)
        for key in entered:
            assert key not in self.told
            self.told[key] = self.wanted[key]
        for key in left:
            del self.told[key]

    def check(self, events) -> None:
        assert len(self.set) == len(self.wanted)
        for each in events:
            is_wanted = any(filter.matches(each) for filter in self.wanted.values())
            assert any(filter.matches(each) for filter in self.told.values()) == is_wanted


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(SMALL)), max_size=40), st.integers(0, 99))
def test_whatever_is_proven_nothing_wanted_is_left_out(steps, seed):
    """`covers` may fail to prove anything at any time: only what it proves is relied on."""
    draw, honest = Random(seed), FilterIndex._covers
    forgotten = [0]

    def covers(self, wide, narrow) -> bool:
        found = honest(self, wide, narrow)
        if found and draw.random() < 0.3 and wide != narrow:
            forgotten[0] += 1
            return False
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FilterIndex, "_covers", covers)
        upper = Upper()
        for number, (is_new, text) in enumerate(steps):
            if is_new or not upper.wanted:
                upper.add(f"s{number}", PARSED[text])
            else:
                upper.remove(draw.choice(list(upper.wanted)))
            upper.check(EVENTS)
        for key in draw.sample(list(upper.wanted), len(upper.wanted)):
            upper.remove(key)
            upper.check(EVENTS)
    event(f"proofs failed: {min(forgotten[0], 3)}")
    assert not upper.told and not len(upper.index)


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(SMALL)), max_size=40),
    st.integers(0, 99),
    st.integers(0, 2),
)
def test_what_is_not_tried_for_want_of_time_is_told_as_it_is(steps, seed, limit):
    """Whatever the bound, two sets share an index, and neither leaves out what anybody wants."""
    draw = Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(covering_set, "TREES_MAX", limit)
        patch.setattr(covering_set, "ORPHANS_MAX", limit)
        one, other = Upper(), Upper()
        other.packing, other.index = one.packing, one.index
        other.set = CoveringSet(one.index)
        for number, (is_new, text) in enumerate(steps):
            for upper in (one, other)[: 1 + draw.randrange(2)]:
                if is_new or not upper.wanted:
                    upper.add(f"s{number}", PARSED[text])
                else:
                    upper.remove(draw.choice(list(upper.wanted)))
                upper.check(EVENTS)
        event(f"told beside what covers them: {min(len(one.told), 3)}")
        other.set.clear()
        for key in draw.sample(list(one.wanted), len(one.wanted)):
            one.remove(key)
            one.check(EVENTS)
    assert not one.told and not len(one.index)


@settings(max_examples=50)
@given(st.lists(g.filters(max_leaves=3), max_size=7), st.lists(g.events(), max_size=12), st.data())
def test_any_filters_come_and_go(filters, events, data):
    upper = Upper()
    for number, filter in enumerate(filters):
        upper.add(f"s{number}", filter)
        upper.check(events)
    for key in data.draw(st.permutations(sorted(upper.wanted))):
        upper.remove(key)
        upper.check(events)
    assert not upper.told


@pytest.mark.parametrize(
    ("order", "gone"), [("xzy", "xy"), ("zyx", "y"), ("zxy", "xy"), ("yzx", "yx"), ("xyz", "x")]
)
def test_that_covering_is_not_proven_for_all_loses_nothing(order: str, gone: str):
    overlay = Overlay("pf8", [("p", "h")])
    for key in order:
        assert overlay.subscribe("ch", key, THREE[key]) == []
    for key in gone:
        assert overlay.say("ch", Unsubscribe(key)) == []
    left = tuple(key for key in "xyz" if key not in gone)
    assert overlay.publish("cp", {"a": list(range(9, 27))}) == [("ch", left)]


# --- schemas --------------------------------------------------------------------------------------

SCHEMA = Schema(
    types=[EventType("T", attributes=[Attribute("a", Integer(0, 9), required=True)])],
)


def test_a_schema_says_which_events_there_are():
    upper = Upper(SCHEMA)
    upper.add("all", fyke.parse("type = 'T' and a between 0 and 9"))
    upper.add("high", fyke.parse("type = 'T' and a > 7"))
    upper.add("some", fyke.parse("type = 'T' and exists a"))
    assert list(upper.told) == ["all"]
    upper.remove("all")
    assert len(upper.told) == 1


@pytest.mark.parametrize("strategy", ["pf8", "pf5", "rn8"])
def test_brokers_cover_by_the_schema_they_have(strategy: str):
    document = {"attributes": {"a": {"domain": {"integer": {"low": 0, "high": 9}}}}}
    wide = {"attributes": {"a": {"domain": {"integer": {"low": -99, "high": 99}}}}}
    texts = {"high": "type = 'T' and a >= 0", "low": "type = 'T' and a <= 9"}

    def told(overlay: Overlay) -> int:
        return overlay.run.node("h").stats().forwarded

    overlay = Overlay(strategy, [("p", "h")])
    overlay.say("ch", Declare("type", "T", document))
    for id, text in texts.items():
        assert overlay.subscribe("ch", id, text) == []
    assert overlay.run.node("p").stats().filtered == 1
    overlay.say("ch", Declare("type", "T", wide))
    assert overlay.run.node("p").stats().filtered == 2, "an event with 50 is none of `low`"
    assert overlay.publish("cp", {"type": "T", "a": 50}) == [("ch", ("high",))]
    overlay.say("cp", Declare("type", "T", document))
    assert overlay.run.node("p").stats().filtered == 1
    assert overlay.publish("cp", {"type": "T", "a": 5}) == [("ch", ("high", "low"))]
    assert told(overlay) == (2 if strategy == "pf5" else 1)


def test_a_verdict_does_not_outlive_the_names_that_it_is_about() -> None:
    """Bytes that meant a, whose values are never negative, mean b after the names were forgotten.

    That `b >= 0 or c = 1` covers `c = 1 or b < 5` would be taken from there, and an event lost.
    """
    upper = Upper(Schema([Attribute("a", Integer(0, 7))]))
    for name, values in (("a", (1,)), ("b", (-1, 1))):
        upper.add("wide", fyke.parse(f"{name} >= 0 or c = 1"))
        upper.add("narrow", fyke.parse(f"c = 1 or {name} < 5"))
        upper.check([fyke.Event({name: value}) for value in values])
        assert len(upper.told) == (1 if name == "a" else 2)
        upper.remove("narrow")
        upper.remove("wide")
        upper.packing.clear()
