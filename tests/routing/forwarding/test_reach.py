"""Where events and filters meet: a filter is told to every rendezvous that its events go to."""

from __future__ import annotations

import operator
from itertools import product

from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.broker.doorway import admitted
from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.events.schema import EventType, Schema
from fyke.filters.predicate import In, TypeIs
from fyke.routing.forwarding.reach import COORDINATOR, Reach

NAMES = ("T", "U", "V", "W")
TYPES: tuple = (*NAMES, "unknown", "", COORDINATOR, None, 5, True, 1.5)
leaves = st.one_of(
    st.builds(TypeIs, st.sampled_from(NAMES)),
    st.lists(st.sampled_from(TYPES), min_size=1, max_size=3).map(lambda some: In("type", some)),
    st.sampled_from([fyke.parse("a = 1"), fyke.parse("exists type"), fyke.parse("true")]),
)
filters = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(operator.and_, inner, inner),
        st.builds(operator.or_, inner, inner),
        inner.map(operator.invert),
    ),
    max_leaves=5,
)


@st.composite
def schemas(draw):
    """Each type may have those before it as supertypes; some are not declared at all."""
    types = []
    for name in draw(st.sampled_from([NAMES, NAMES[:2], ()])):
        known = [each.name for each in types]
        above = draw(st.lists(st.sampled_from(known), unique=True, max_size=2)) if known else []
        types.append(EventType(name, supertypes=above))
    return Schema(types=types)


owned = st.sets(st.sampled_from((*NAMES, "")), min_size=2)


@given(filters, schemas(), owned)
def test_a_filter_is_told_to_wherever_its_events_go(filter, schema, names):
    reach = Reach("b", names)
    told = reach.of_filter(filter, schema)
    assert set(told) <= names
    met = 0
    for type_, a in product((*TYPES, ["T", "U"], [], [None]), (None, 1)):
        attributes = {"type": type_} | ({} if a is None else {"a": a})
        try:
            event = admitted(Event(attributes), schema)
        except FykeError:
            continue  # of a type that is not declared
        if filter.matches(event):
            name = reach.of_event(event, schema)
            assert name is None or name in told
            met += name is not None
    note(f"{'some' if met else 'no'} event has a rendezvous, {len(told)} of {len(names)} are told")


def test_a_conjunction_goes_only_where_all_its_parts_do():
    schema = Schema(types=[EventType("T"), EventType("U", supertypes=["T"]), EventType("V")])
    reach = Reach("b", ["", "T", "U", "V"])
    for text, told in [
        ("type is T", "T U"),
        ("type is U", "U"),
        ("type is T and type in ('U', 'V')", "U"),
        ("type in ('U', 'V') and type is T", "U"),
        ("a = 1 and type = 'V'", "V"),
        ("type = 'V' or type is U", "U V"),
        ("type is U and a = 1 or type = 'V' and a = 2", "U V"),
        ("type is T and type = 'V'", ""),
    ]:
        assert reach.of_filter(fyke.parse(text), schema) == tuple(told.split()), text
    few = Reach("b", ["", "T"])
    assert few.of_event(Event({"type": "U"}), schema) == "T", "the nearest supertype that has one"
    assert few.of_filter(fyke.parse("type is U"), schema) == ("T",)
    assert reach.of_filter(fyke.parse("type = 5"), schema) == ("",)
    assert reach.of_filter(fyke.parse("a = 1 or type = 'V'"), schema) == ("", "T", "U", "V")
