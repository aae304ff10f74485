"""The parts of a segment: trees, layout and back, room that grows, frequencies, results."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching.compiled import engine as compiled
from fyke.matching.compiled.boxes import access
from fyke.matching.compiled.boxes.access import AxisFacts, file_boxes
from fyke.matching.compiled.boxes.box_table import BoxTable, BoxWriter
from fyke.matching.compiled.boxes.box_tree import AXES_AT, GROUP, LEVELS_AT
from fyke.matching.compiled.boxes.boxing import Boxes, Boxing
from fyke.matching.compiled.coding import frequencies as frequencies_module
from fyke.matching.compiled.coding.axes import AxisKind
from fyke.matching.compiled.coding.codes import HIGHEST, LOWEST, MISSING
from fyke.matching.compiled.coding.event_coding import code_event
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.compiled.kernels.lanes import LANES, base
from fyke.matching.compiled.search import search, workspace
from fyke.matching.compiled.search.probe import VISIT, sort_visits
from fyke.matching.compiled.search.results import Lists, join
from fyke.matching.compiled.segment.compaction import unpack_boxes
from fyke.matching.compiled.segment.layout import Layout, layout
from fyke.matching.compiled.segment.segment import ProgramWriter, build
from fyke.matching.compiled.segment.segment_of_slot import SegmentOfSlot
from fyke.matching.matcher import Matcher
from fyke.testing.generators import filters

Constraints = tuple[tuple[int, int, int], ...]

# --- visits --------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 40), max_size=200))
def test_visits_are_sorted_by_cluster_then_event(clusters: list[int]) -> None:
    half = -(-max(clusters, default=1).bit_length() // 2)
    pairs = [[number // 3, cluster] for number, cluster in enumerate(clusters)]
    visits = np.array(pairs, np.int32).reshape(-1)
    aside, places = np.empty_like(visits), np.empty((1 << half) + 1, np.int32)
    sort_visits(base(visits), base(aside), len(pairs), half, base(places))
    assert visits.reshape(-1, VISIT).tolist() == sorted(pairs, key=lambda pair: pair[::-1])


# --- trees ---------------------------------------------------------------------------------------


def planted(boxes: list[Constraints], tree_from: int) -> tuple[Layout, Vocabulary]:
    vocabulary = Vocabulary()
    for name in "abc":
        vocabulary.add_axis(AxisKind.NUMBER, name)
    writer = BoxWriter()
    for box in boxes:
        writer.add(Boxes((box,), True))
    table = writer.table()
    shares = np.zeros(len(table.axis), np.float32)
    chosen = file_boxes(table, AxisFacts.of(vocabulary), shares)
    return layout(chosen, tree_from=tree_from), vocabulary


def boxes_of(table: BoxTable) -> Counter[tuple[int, bool, Constraints]]:
    found: Counter[tuple[int, bool, Constraints]] = Counter()
    for box in range(len(table)):
        places = range(table.starts[box], table.starts[box + 1])
        box_ = sorted((int(table.axis[i]), int(table.low[i]), int(table.high[i])) for i in places)
        found[int(table.owner[box]), bool(table.exact[box]), tuple(box_)] += 1
    return found


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 255, 256, 257, 4097])
def test_a_tree_holds_every_box_once_and_hulls_hold_their_children(size: int) -> None:
    draw = np.random.default_rng(size)
    ends = draw.integers(-1000, 1000, (size, 2, 2))
    ends.sort(axis=2)
    boxes: list[Constraints] = [
        ((0, int(a[0]), int(a[1])), (2, int(b[0]), int(b[1]))) for a, b in ends
    ]
    if size > 2:
        boxes[1] = ((0, 5, 3), (2, MISSING + 1, HIGHEST))  # a negation, and everything
    index, vocabulary = planted(boxes, 1)
    (group,) = index.groups.reshape(-1, GROUP)
    assert group[2] == size
    assert group[AXES_AT : AXES_AT + 2].tolist() == [0, 2]
    start = int(group[4])
    owners = index.owners[start : start + size]
    assert sorted(owners.tolist()) == list(range(size))
    for place, owner in enumerate(owners.tolist()):
        for slot in range(2):
            node = int(group[LEVELS_AT]) + (place // LANES) * 4 * LANES + slot * 2 * LANES
            lane = node + place % LANES
            held = (index.nodes[lane], index.nodes[lane + LANES])
            assert held == boxes[owner][slot][1:]
    count = -(-size // LANES)
    for level in range(1, int(group[1]) + 1):
        check_hulls(
            index.nodes, int(group[LEVELS_AT + level]), int(group[LEVELS_AT + level - 1]), count
        )
        count = -(-count // LANES)
    assert count == 1
    assert boxes_of(unpack_boxes(index, vocabulary)) == Counter(
        (owner, True, box) for owner, box in enumerate(boxes)
    )


def check_hulls(nodes: Any, above: int, below: int, count: int) -> None:
    """Every child's intervals lie within those of its lane."""
    for child in range(count):
        for slot in range(2):
            at = above + (child // LANES) * 4 * LANES + slot * 2 * LANES + child % LANES
            low, high = int(nodes[at]), int(nodes[at + LANES])
            first = below + child * 4 * LANES + slot * 2 * LANES
            for lane in range(LANES):
                one, other = int(nodes[first + lane]), int(nodes[first + LANES + lane])
                if (one, other) == (LOWEST, LOWEST):
                    continue
                if one > other:
                    assert (low, high) == (MISSING, HIGHEST)
                else:
                    assert low <= one <= other <= high


# --- layout and back -----------------------------------------------------------------------------


@pytest.mark.parametrize(("tree_from", "pair_reached"), [(1, 0.0), (3, 2.0), (64, 0.0)])
@settings(max_examples=25, deadline=None)
@given(taken=st.lists(filters(), min_size=1, max_size=30))
def test_boxes_come_back_from_their_layout(
    tree_from: int, pair_reached: float, taken: list[Filter]
) -> None:
    vocabulary, writer = Vocabulary(), BoxWriter()
    for filter in taken:
        writer.add(Boxing(vocabulary).run(filter))
    table = writer.table()
    shares = vocabulary.frequencies.shares(table)
    with patch.object(access, "PAIR_REACHED", pair_reached):
        chosen = file_boxes(table, AxisFacts.of(vocabulary), shares)
    kept: Counter[tuple[int, bool, Constraints]] = Counter()
    residues = chosen.residues
    for box in range(len(residues)):
        places = range(residues.starts[box], residues.starts[box + 1])
        held = [
            (int(residues.axis[i]), int(residues.low[i]), int(residues.high[i])) for i in places
        ]
        for axis, symbol in ((chosen.axis, chosen.symbol), (chosen.second_axis, chosen.second)):
            if axis[box] >= 0:
                held.append((int(axis[box]), int(symbol[box]), int(symbol[box])))
        kept[int(residues.owner[box]), bool(residues.exact[box]), tuple(sorted(held))] += 1
    assert boxes_of(unpack_boxes(layout(chosen, tree_from=tree_from), vocabulary)) == kept


@pytest.mark.parametrize(("count", "has_pairs"), [(20, False), (3_000, True)])
def test_pairs_are_for_segments_that_many_boxes_would_be_reached_in(
    count: int, has_pairs: bool
) -> None:
    engine = CompiledEngine(lambda slot: taken[slot])
    taken = [
        fyke.parse(f"a = {slot % 7} and b = {slot % 11} and c < {slot}") for slot in range(count)
    ]
    for slot, filter in enumerate(taken):
        engine.add(slot, filter)
    event = Event({"a": 1, "b": 4, "c": 10})
    right = [slot for slot, filter in enumerate(taken) if filter.matches(event)]
    assert engine.match(event) == right != []
    engine.compact()
    assert engine.match(event) == right
    assert bool(len(engine._segments[0].pairs)) == has_pairs


# --- room ----------------------------------------------------------------------------------------


def test_room_grows_with_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_SIZE", 32)
    matcher = Matcher()
    wanted = [f"s{i}" for i in range(70_000)]
    matcher.add_many((id, fyke.parse(f"a = 1 and k{i % 300} < 5")) for i, id in enumerate(wanted))
    event = {"a": 1, **{f"k{i}": i % 7 for i in range(300)}}
    right = [id for i, id in enumerate(wanted) if (i % 300) % 7 < 5]
    assert matcher.match(event) == right
    assert matcher.match(event) == right
    assert matcher.match({"a": 1}) == []


def test_an_event_that_visits_many_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_SIZE", 16)
    matcher = Matcher()
    matcher.add_many((f"s{i}", f"k{i} = {i}") for i in range(3_000))
    event = {f"k{i}": i for i in range(3_000)}
    assert len(matcher.match(event)) == 3_000
    doubtful = Matcher()
    doubtful.add_many((f"s{i}", f"k{i} = {i} and t < 'abcdefg{i}'") for i in range(500))
    assert len(doubtful.match({**event, "t": "abcdefg"})) == 500
    assert len(doubtful.match({**event, "t": "abcdefz"})) == 0


# --- frequencies ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(taken=st.lists(filters(), min_size=1, max_size=30))
def test_shares_of_few_boxes_are_those_of_many(taken: list[Filter]) -> None:
    vocabulary, writer = Vocabulary(), BoxWriter()
    for filter in taken:
        writer.add(Boxing(vocabulary).run(filter))
    table = writer.table()
    found = []
    for many in (0, 2**31):
        with patch.object(frequencies_module, "_SPARSE", many):
            found.append(vocabulary.frequencies.shares(table).tolist())
    assert found[0] == found[1]
    assert len(found[0]) == len(table.axis)


def test_values_are_expected_as_often_as_they_are_named() -> None:
    vocabulary, writer = Vocabulary(), BoxWriter()
    texts = ["a = 1", "a = 1 and b = 1", "a = 2 and n > 5", "a = 1 and d like 'x%'"]
    for text in texts:
        writer.add(Boxing(vocabulary).run(fyke.parse(text)))
    table = writer.table()
    kinds = [vocabulary.axes[axis][0] for axis in table.axis]
    shares = vocabulary.frequencies.shares(table).tolist()
    named = [each for kind, each in zip(kinds, shares, strict=True) if kind is AxisKind.VALUE]
    assert sorted(named) == [0.25, 0.75, 0.75, 0.75, 1.0]
    assert shares[kinds.index(AxisKind.NUMBER)] == 1.0
    assert shares[kinds.index(AxisKind.TEXT)] == pytest.approx(0.005)


def test_shares_follow_what_is_seen() -> None:
    vocabulary = Vocabulary()
    known = vocabulary.frequencies
    value, often = vocabulary.value("a", "often")
    _, never = vocabulary.value("a", "never")
    words, text = vocabulary.pattern("b", fyke.parse("b like 'x%'").pattern, False)  # type: ignore[attr-defined]
    before = known.share(value, often)
    assert before == known.share(value, never)
    for _ in range(5_000):
        known.observe(code_event(Event({"a": "often", "b": "xy"}), vocabulary))
    assert known.share(value, often) > 0.9
    assert known.share(words, text) > 0.9
    assert known.share(value, never) < before
    assert known.events == 5_000


def test_a_value_that_many_name_is_guessed_to_be_common() -> None:
    vocabulary = Vocabulary()
    for number in range(400):
        Boxing(vocabulary).run(fyke.parse(f"a in ('common', 'x{number}') and b = {number}"))
    share = vocabulary.frequencies.share
    common, rare = (share(*vocabulary.value("a", each)) for each in ("common", "x7"))
    assert common > 0.3 > 0.01 > rare
    assert rare == pytest.approx(share(*vocabulary.value("a", "x8")))
    unnamed, guess = share(*vocabulary.value("a", "new")), share(*vocabulary.value("c", 1))
    assert unnamed < guess == pytest.approx(0.01)


def test_a_merge_follows_what_was_observed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled, "UNBOXED_MAX", 0)
    matcher = Matcher()
    matcher.add_many((f"s{i}", f"word like 'x%' and rare = 1 and n < {i}") for i in range(40))
    matcher.match({})
    engine = matcher.engine
    assert isinstance(engine, CompiledEngine)
    (segment,) = engine._segments
    assert (len(segment.keyed), len(segment.texts)) == (0, 1)
    table = pa.table({"word": ["xy"] * 300, "n": [-1] * 300})
    for _ in range(10):
        matcher.match_batch(table)
    matcher.add_many((f"t{i}", f"word like 'x%' and rare = 1 and n < {i}") for i in range(40))
    assert len(matcher.match({"word": "xy", "rare": 1, "n": -1})) == 80
    (segment,) = engine._segments
    (axis,) = segment.keyed.tolist()
    assert engine._vocabulary.axes[axis] == (AxisKind.VALUE, "rare")
    assert len(segment.texts) == 0


# --- results and segments of slots ---------------------------------------------------------------

by_event = st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=3, max_size=3)


def packed(lists: list[list[int]]) -> tuple[Any, Any]:
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int32)
    return offsets, np.array([slot for each in lists for slot in each], np.int32)


def lists_of(offsets: Any, slots: Any) -> list[list[int]]:
    pairs = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    return [slots[begin:end].tolist() for begin, end in pairs]


@given(st.lists(by_event, max_size=4))
def test_results(parts: list[list[list[int]]]) -> None:
    whole = [[slot for part in parts for slot in part[event]] for event in range(3)]
    assert lists_of(*join([packed(part) for part in parts], 3)) == whole
    copied, lent = Lists(), Lists()
    for offsets, slots in map(packed, parts):
        copied.add(offsets, slots)
        room = lent.room(len(slots))
        room[:] = slots
        lent.add(offsets, room)
    stacked = [each for part in parts for each in part]
    assert lists_of(*copied.all()) == stacked
    assert lists_of(*lent.all()) == stacked


@pytest.mark.parametrize("tiles", [0, 1, 3, 10**9])
def test_lists_grow(tiles: int) -> None:
    lists = Lists(tiles)
    tile = np.arange(5_000, dtype=np.int32)
    for _ in range(3):
        lists.room(len(tile))[:] = 0
        lists.add(np.array([0, len(tile)], np.int32), tile)
    offsets, slots = lists.all()
    assert offsets.tolist() == [0, 5_000, 10_000, 15_000]
    assert slots.tolist() == 3 * tile.tolist()


@given(st.integers(0, 20 * search.TILE))
def test_tiles_hold_every_event_once_and_are_as_large(events: int) -> None:
    tiles = search.tiles(events)
    assert [event for begin, end in tiles for event in range(begin, end)] == list(range(events))
    sizes = [end - begin for begin, end in tiles]
    assert max(sizes, default=0) - min(sizes, default=0) <= 1
    assert max(sizes, default=0) <= 1.5 * search.TILE


def test_the_segment_of_a_slot() -> None:
    vocabulary = Vocabulary()

    def segment(*slots: int) -> Any:
        boxes, programs = BoxWriter(), ProgramWriter()
        for _ in slots:
            boxes.add(Boxing(vocabulary).run(fyke.parse("a = 1")))
            programs.add(None)
        shares = vocabulary.frequencies.shares(boxes.table())
        numbers = np.array(slots, np.int32)
        return build(boxes.table(), programs.programs(), numbers, vocabulary, shares)

    places, one, two = SegmentOfSlot(), segment(0, 9, 3), segment(1, 70)
    places.move((), one)
    places.move((), two)
    places.remove(9)
    places.remove(70)
    assert one.slots.tolist() == [0, -1, 3]
    assert two.slots.tolist() == [1, -1]
    assert (one.live, two.live) == (2, 1)
    both = segment(0, 3, 1)
    places.move((one, two), both)
    places.move((), segment(9))  # the slot comes again
    places.remove(3)
    places.remove(9)
    assert both.slots.tolist() == [0, -1, 1]
    assert one.slots.tolist() == [0, -1, 3]
