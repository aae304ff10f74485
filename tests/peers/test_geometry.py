"""Boxes: exact around and within filters, and the fast table is the exact algebra."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.errors import EventError, FykeError
from fyke.events.domain import (
    Boolean,
    Decimals,
    Enumeration,
    FixedPoint,
    Integer,
    Real,
    String,
    Timestamp,
)
from fyke.events.event import Event
from fyke.events.schema import Attribute, EventType, Schema
from fyke.filters.filter import Filter, conjunction, disjunction, negation
from fyke.filters.predicate import Exists, In, NotIn, Range, TypeIs
from fyke.filters.text_predicate import Like
from fyke.peers.geometry import boxes
from fyke.peers.geometry.boxes import select_peers
from fyke.peers.geometry.shape import BUDGET, Shape, shape_of
from fyke.peers.geometry.space import Box, Space
from fyke.peers.geometry.table import Table
from fyke.testing.stories.reaching import examples, reached, reaches

SCHEMA = Schema(
    [
        Attribute("real", Real()),
        Attribute("share", Real(0, 1)),
        Attribute("exact", Decimals()),
        Attribute("whole", Integer()),
        Attribute("fixed", FixedPoint(0, 2, 1)),
        Attribute("level", Enumeration(("low", "mid", "high"))),
        Attribute("on", Boolean()),
        Attribute("at", Timestamp()),
        Attribute("name", String()),
    ],
    [EventType("A"), EventType("B", supertypes=["A"]), EventType("C")],
)
SPACE = Space.of(SCHEMA)
NUMBERS = [
    *(0, -0.0, 1, -1, 5e-324, -1e-300, 0.1, 0.5, 1.0, 2.5, 1e300, -1.7e308, 2.0**512, 2.0**-511),
    *(2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), Decimal("0.10000000000000000001"), 0.3),
    *(Decimal("0.09999999999999999999"), math.nextafter(0.5, 1), math.nextafter(0.5, 0)),
]
VALUES: dict[str, list[object]] = {
    "real": [*NUMBERS],
    "share": [0, 1, 0.5, 0.25, 5e-324, math.nextafter(0.5, 0), Decimal("0.50000000000000000001")],
    "exact": [*NUMBERS],
    "whole": [0, 1, -1, 5, 2**53 + 1, 2**63 - 1, 2**63 - 2, 2**63 - 3, -(2**63), -(2**63) + 1],
    "fixed": [0, 0.1, 0.2, 1.0, 1.9, 2],
    "level": ["low", "mid", "high"],
    "on": [False, True],
    "at": [
        datetime(2026, 1, 31, tzinfo=UTC),
        datetime(2026, 1, 31, 0, 0, 0, 1, UTC),
        datetime.max.replace(tzinfo=UTC),
        datetime.min.replace(tzinfo=UTC),
    ],
    "name": ["x", "xy", ""],
}
ODD: dict[str, list[object]] = {"whole": [0.5, 2.5], "fixed": [0.15, 3, -1], "share": [2, -1]}
"""Values that filters may mention and events cannot have."""


@st.composite
def leaves(draw: st.DrawFn) -> Filter:
    name = draw(st.sampled_from(sorted(VALUES)))
    values = st.sampled_from([*VALUES[name], *ODD.get(name, [])])
    one, other = draw(values), draw(values)
    match draw(st.integers(0, 7)):
        case 0:
            return Exists(name)
        case 1:
            return In(name, tuple(draw(st.lists(values, min_size=1, max_size=4))))  # type: ignore[arg-type]
        case 2:
            return NotIn(name, (one, other))  # type: ignore[arg-type]
        case 3:
            return TypeIs(draw(st.sampled_from("ABCD")))
        case 4:
            return In("type", (draw(st.sampled_from("ABCD")),))
        case 5 if name == "level" or name == "name":
            return fyke.parse(f"{name} like '%i%'")
    if isinstance(one, bool):
        return In(name, (one,))
    if name != "level" and draw(st.booleans()):
        one, other = min(one, other), max(one, other)  # type: ignore[call-overload]
    ends = draw(st.sampled_from([(one, None), (None, other), (one, other)]))
    return Range(name, *ends, draw(st.booleans()), draw(st.booleans()))  # type: ignore[arg-type]


def trees() -> st.SearchStrategy[Filter]:
    return st.recursive(
        leaves(),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(conjunction),
            st.lists(inner, min_size=2, max_size=3).map(disjunction),
            inner.map(negation),
        ),
        max_leaves=8,
    )


@st.composite
def events(draw: st.DrawFn) -> Event:
    document = {
        name: draw(st.sampled_from(values))
        for name, values in VALUES.items()
        if draw(st.booleans())
    }
    if draw(st.booleans()):
        document["type"] = draw(st.sampled_from("ABC"))
    return SCHEMA.validate(document)


@reaches(within=0.1, accepted=0.2, outside=0.02)
@given(trees(), st.lists(events(), min_size=6, max_size=6), st.sampled_from([1, 2, BUDGET]))
def test_within_is_accepted_and_accepted_is_around(
    filter: Filter, drawn: list[Event], budget: int
) -> None:
    shape = shape_of(filter, SPACE, budget)
    assert len(shape.around) <= budget
    assert len(shape.within) <= budget
    for event in drawn:
        point = SPACE.point(event)
        accepted = fyke.filters.resolution.resolve(filter, SCHEMA).matches(event)
        within = any(boxes.holds(box, point) for box in shape.within)
        around = any(boxes.holds(box, point) for box in shape.around)
        reached(within=within, accepted=accepted, outside=not around)
        assert not within or accepted
        assert not accepted or around


@given(trees(), events())
def test_a_filter_over_axes_within_the_budget_has_no_doubt_but_at_its_ends(
    filter: Filter, event: Event
) -> None:
    """What is around and not within is a text, a comparison or a number between two floats."""
    shape = shape_of(filter, SPACE, 10_000)
    has_text = any(isinstance(leaf, Like) or getattr(leaf, "attribute", "") == "name"
                   for leaf in fyke.filters.filter.walk(filter))  # fmt: skip
    point = SPACE.point(event)
    if has_text or any(code % 2 and axis.name in ("real", "exact", "share")
                       for code, axis in zip(point, SPACE.axes, strict=True)):  # fmt: skip
        return
    if any(abs(code) >= 2**63 - 2 for code in point):
        return
    within = any(boxes.holds(box, point) for box in shape.within)
    around = any(boxes.holds(box, point) for box in shape.around)
    assert within == around


def test_codes_keep_the_order_of_numbers() -> None:
    axis = SPACE.axes[SPACE.places["exact"]]
    ordered = sorted(fyke.events.value.admit(each) for each in NUMBERS)  # type: ignore[type-var]
    codes = [axis.code(each)[0] for each in ordered]
    assert codes == sorted(codes)
    assert axis.missing < axis.low
    by_code: dict[int, set[tuple[object, bool]]] = {}
    for each in ordered:
        code, is_exact = axis.code(each)
        by_code.setdefault(code, set()).add((fyke.events.value.canonical(each), is_exact))
    assert all(len(held) == 1 or not any(exact for _, exact in held) for held in by_code.values())


def test_what_is_refused() -> None:
    with pytest.raises(FykeError, match="not in the schema; did you mean 'real'"):
        Space.of(SCHEMA, ["reel"])
    with pytest.raises(FykeError, match="expected a number, an enumeration"):
        Space.of(SCHEMA, ["name"])
    lists = Schema([Attribute("many", Integer(), multiple=True)])
    with pytest.raises(FykeError, match="may hold lists"):
        Space.of(lists, ["many"])
    with pytest.raises(FykeError, match="0 axes"):
        Space.of(lists)
    for wrong in (None, [1, 2], "x", 5):
        with pytest.raises(EventError, match="on"):
            SPACE.point(Event({"on": wrong}))


def test_a_filter_beyond_the_budget_says_which_part() -> None:
    filter = fyke.parse("whole in (1, 3, 5, 7) and (fixed < 1 or not exists level)")
    shape = shape_of(filter, SPACE, 3)
    assert "more than 3" in shape.note
    assert "whole in" in shape.note
    assert shape_of(filter, SPACE).note == ""


# --- worked examples ------------------------------------------------------------------------------


def line(*axes: str) -> Space:
    return Space.of(Schema([Attribute(name, Real(-100, 100)) for name in axes]))


def sides(space: Space, *ends: tuple[float, float]) -> Shape:
    box = tuple(
        (axis.code(low)[0], axis.code(high)[0])
        for axis, (low, high) in zip(space.axes, ends, strict=True)
    )
    return Shape((box,), (box,))


def test_x1_a_subscription_and_two_events() -> None:
    space = Space.of(Schema([Attribute(f"A{n}", Real()) for n in range(1, 6)]))
    shape = shape_of(fyke.parse("A2 = 30 and A5 between 2.2 and 2.7"), space)
    values = {"A1": 5, "A2": 30, "A3": -2.5, "A4": 20}
    for last, is_in in ((1.87, False), (2.5, True), (2.2, True)):
        point = space.point(Event({**values, "A5": last}))
        assert boxes.holds(shape.around[0], point) is is_in
        assert boxes.holds(shape.within[0], point) is is_in


def test_x3_regions() -> None:
    space = Space.of(Schema([Attribute("a", Integer(0, 100))]))
    ends = [(0, 6), (4, 10), (5, 12)]
    found = boxes.regions([sides(space, each).around[0] for each in ends])
    assert {tuple(sorted(owners)): cells for owners, cells in found.items()} == {
        (0,): [((0, 3),)],
        (0, 1): [((4, 4),)],
        (0, 1, 2): [((5, 6),)],
        (1, 2): [((7, 10),)],
        (2,): [((11, 12),)],
    }


def test_x4_select_peers() -> None:
    space = line("a")
    known = {60: (0, 4), 70: (3, 6), 80: (0, 6), 20: (5, 10), 40: (9, 10)}
    others = [((id, 0), sides(space, ends)) for id, ends in known.items()]
    target = sides(space, (0, 10))
    assert {id for id, _ in select_peers((50, 0), target, others)} == {60, 70, 20, 40, 80}
    assert select_fast(space, (50, 0), target, others) == {(id, 0) for id in known}


def test_x6_distance() -> None:
    space = line("a", "b")
    unit = 1 / 200

    def between(one: Shape, other: Shape) -> float:
        return boxes.distance(one.around[0], other.around[0], space) / unit

    flat = sides(space, (0, 1), (0, 0.1)), sides(space, (0, 1), (0.2, 0.3))
    assert between(*flat) == pytest.approx(0.1)
    assert between(sides(space, (0, 1), (0, 1)), sides(space, (1, 2), (1, 3))) == 0
    far = sides(space, (0, 1), (0, 1)), sides(space, (4, 5), (5, 6))
    assert between(*far) == pytest.approx(5)


def test_a_point_that_is_subtracted_is_gone() -> None:
    """S2S-Q3: equal subscribers are not all selected."""
    space = line("a")
    [whole], [point] = sides(space, (0, 10)).around, sides(space, (5, 5)).around
    left = boxes.subtract(whole, point)
    assert len(left) == 2
    assert not any(boxes.intersects(part, point) for part in left)
    equal = [((id, 0), sides(space, (5, 5))) for id in range(20)]
    assert len(select_peers((100, 0), sides(space, (0, 10)), equal)) == 2


# --- the fast table -------------------------------------------------------------------------------


def select_fast(
    space: Space, place: boxes.Place, shape: Shape, others: list[tuple[boxes.Place, Shape]],
    fragments_max: int = 4_096,
) -> set[boxes.Place]:  # fmt: skip
    table = Table(space, fragments_max)
    target = table.add(place, shape)
    places = {table.add(*each): each[0] for each in others}
    rows = np.array([target, *places, *list(places)[::3]], np.int64)  # some are known twice
    Random(0).shuffle(rows)  # type: ignore[arg-type]
    found, _ = table.select_peers(rows, target)
    assert len(set(found.tolist())) == len(found)
    return {places[row] for row in found.tolist()}


def draw_shape(draw: Random, axes: int, size: int) -> Shape:
    """A few small boxes around, some of which are within too."""

    def box() -> Box:
        widths = [draw.choice([draw.randrange(3), draw.randrange(size)]) for _ in range(axes)]
        lows = [draw.randrange(-width // 2, size - width // 2) for width in widths]
        ends = zip(lows, widths, strict=True)
        return tuple((max(0, low), max(0, min(size, low + width))) for low, width in ends)

    around = tuple(box() for _ in range(draw.choice([1, 1, 1, 2])))
    within = tuple(each for each in around if draw.random() < 0.9)
    return Shape(around, within)


def small_space(axes: int, size: int) -> Space:
    return Space.of(Schema([Attribute(f"a{n}", Integer(0, size)) for n in range(axes)]))


@reaches(selected=0.6, skipped=0.25)
@examples(0.5)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(10, 30))
def test_the_table_selects_as_the_exact_algebra(seed: int, axes: int, count: int) -> None:
    draw = Random(seed)
    space = small_space(axes, 12)
    ids = [(draw.randrange(30), n) for n in range(count + 1)]  # some sequence ids are equal
    target, *others = [(id, draw_shape(draw, axes, 12)) for id in ids]
    found = select_fast(space, *target, others)
    assert found == select_peers(*target, others)
    overlap = {place for place, each in others
               if boxes.some_intersect(each.around, target[1].around)}  # fmt: skip
    reached(selected=bool(found), skipped=len(found) < len(overlap))
    assert found <= overlap
    for budget in (1, 4):  # never too few
        assert found <= select_fast(space, *target, others, fragments_max=budget)


@reaches(changed=0.3, replaced=0.1)
@examples(0.5)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(8, 30))
def test_links_that_are_extended_are_those_selected_at_once(
    seed: int, axes: int, count: int
) -> None:
    draw = Random(seed)
    space = small_space(axes, 12)
    table = Table(space, 4_096)
    ids = [(draw.randrange(30), n) for n in range(count + 1)]
    target, *others = [table.add(id, draw_shape(draw, axes, 12)) for id in ids]
    known: list[int] = []
    links, needs = table.select_peers(np.empty(0, np.int64), target)
    while others:
        fresh = [others.pop() for _ in range(min(len(others), draw.randrange(1, 4)))]
        again = draw.sample(known, min(len(known), draw.randrange(2)))  # heard of before
        known += fresh
        before = set(links.tolist())
        came = np.array([*fresh, *again, target], np.int64)
        links, needs = table.extend(links, needs, came, target)
        right, directions = table.select_peers(np.array(known, np.int64), target)
        assert links.tolist() == right.tolist()
        assert needs.tolist() == directions.tolist()
        now = set(links.tolist())
        reached(changed=now != before, replaced=bool(before - now))


@reaches(several=0.5)
@examples(0.5)
@given(st.integers(0, 2**32), st.integers(1, 2))
def test_whoever_is_next_for_an_event_is_selected(seed: int, axes: int) -> None:
    """The law of `select_peers`, for filters that lie anywhere between their boxes."""
    draw = Random(seed)
    space = small_space(axes, 8)
    members = []
    for number in range(draw.randrange(2, 12)):
        shape = draw_shape(draw, axes, 8)
        sure = [p for p in points(axes, 8) if any(boxes.holds(b, p) for b in shape.within)]
        may = [p for p in points(axes, 8) if any(boxes.holds(b, p) for b in shape.around)]
        wanted = {*sure, *(p for p in may if draw.random() < 0.5)}
        members.append(((draw.randrange(100), number), shape, wanted))
    links = {
        place: select_fast(space, place, shape, [(p, s) for p, s, _ in members if p != place], 64)
        for place, shape, _ in members
    }
    several = 0
    for point in points(axes, 8):
        ring = sorted(place for place, _, wanted in members if point in wanted)
        several += len(ring) > 2
        for at, place in enumerate(ring):
            for neighbour in (ring[at - 1], ring[(at + 1) % len(ring)]):
                assert neighbour == place or neighbour in links[place]
    reached(several=several > 0)


@reaches(shared=0.5, several=0.3)
@examples(0.25)
@given(st.integers(0, 2**32), st.integers(1, 2))
def test_every_region_is_a_ring(seed: int, axes: int) -> None:
    """S2S-5: regions part the points by who has them, and neighbours in each know each other."""
    draw = Random(seed)
    space = small_space(axes, 8)
    shapes = [draw_shape(draw, axes, 8).around[:1] for _ in range(draw.randrange(4, 10))]
    places = [(draw.randrange(100), number) for number in range(len(shapes))]
    found = boxes.regions([box for [box] in shapes])
    for point in points(axes, 8):
        owners = frozenset(n for n, [box] in enumerate(shapes) if boxes.holds(box, point))
        held = [who for who, cells in found.items() for cell in cells if boxes.holds(cell, point)]
        assert held == [owners] * bool(owners)
    members = [(place, Shape(box, box)) for place, box in zip(places, shapes, strict=True)]
    links = {
        place: select_fast(space, place, shape, [each for each in members if each[0] != place])
        for place, shape in members
    }
    for owners in found:
        ring = sorted(places[number] for number in owners)
        for at, place in enumerate(ring):
            assert {ring[at - 1], ring[(at + 1) % len(ring)]} - {place} <= links[place]
    reached(shared=any(len(owners) > 1 for owners in found), several=len(found) > 4)


def points(axes: int, size: int) -> list[tuple[int, ...]]:
    grid = np.indices((size + 1,) * axes).reshape(axes, -1).T
    return [tuple(map(int, each)) for each in grid]


@examples(0.5)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 12))
def test_the_table_finds_the_closest_and_those_that_hold(seed: int, axes: int, count: int) -> None:
    draw = Random(seed)
    space = small_space(axes, 20)
    table = Table(space)
    shapes = [draw_shape(draw, axes, 20) for _ in range(20)]
    rows = np.array([table.add((n, 0), shape) for n, shape in enumerate(shapes)], np.int64)
    far = [boxes.shape_distance(shape, shapes[0], space) for shape in shapes]
    found = table.closest(rows[1:], 0, count, draw.getrandbits(62)).tolist()
    assert len(found) == len(set(found)) == count
    assert sorted(far[row] for row in found) == pytest.approx(sorted(far[1:])[:count])
    point = tuple(draw.randrange(21) for _ in range(axes))
    right = [
        n for n, shape in enumerate(shapes) if any(boxes.holds(b, point) for b in shape.around)
    ]
    assert table.holding(rows, point).tolist() == right


def test_equally_close_ones_come_by_chance() -> None:
    space = small_space(1, 10)
    table = Table(space)
    rows = np.array([table.add((n, 0), Shape((((0, 5),),), ())) for n in range(10)], np.int64)
    seen = {row for seed in range(200) for row in table.closest(rows[1:], 0, 2, seed).tolist()}
    assert seen == set(range(1, 10))
