"""The interval engine: the paper's examples, the array's invariant, order, removal, exactness."""

from __future__ import annotations

import threading
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.events.value import Scalar, sort_key
from fyke.filters.algebra.intervals import Cut, Spans, complement, union
from fyke.filters.filter import Filter
from fyke.matching.engines.interval import IntervalEngine
from fyke.matching.engines.interval_array import IntervalArray
from fyke.matching.engines.interval_parameters import Parameters
from fyke.matching.engines.places import ALL, AT_EMPTY, AT_MISSING, BEGIN, END, TYPES, place
from fyke.matching.engines.profile import profiles
from fyke.matching.engines.profile_set import indices
from fyke.testing.generators import events, filters, predicates, scalars

X1 = {
    1: "a3 = 10 and a4 = 20 and a5 = 50",
    2: "a3 = 40 and a4 = 10 and a5 = 80",
    3: "a3 = 40 and a4 = 20 and a5 = 100",
    4: "a3 = 40 and a5 = 100",
    5: "a3 = 40 and a4 = 20 and a5 = 100",
}
CORNERS = [
    Parameters(bit_list_from=0),
    Parameters(bit_list_from=1, growth=1, empty_max=1),
    Parameters(boxes_max=1),
    Parameters(spans_max=1),
]


def engine(texts: dict[int, str], parameters: Parameters | None = None) -> IntervalEngine:
    made = IntervalEngine(parameters or Parameters())
    for slot, text in texts.items():
        made.add(slot, fyke.parse(text))
    return made


# --- the paper's examples ------------------------------------------------------------------------


def test_selected_sets() -> None:
    """DAS-X1: the sets that the three attributes select, and their intersection."""
    made = engine(X1)
    event = Event({"a3": 40, "a4": 10, "a5": 80})
    selected = {name: [i + 1 for i in indices(found)] for name, found in made.selections(event)}
    assert selected == {"a3": [2, 3, 4, 5], "a4": [2, 4], "a5": [2]}
    assert made.match(event) == [2]
    assert (made.work.probes, made.work.checks) == (3, 0)


def test_early_refusal() -> None:
    made = engine(X1)
    assert made.match(Event({"a3": 41, "a4": 20, "a5": 100})) == []
    assert made.work.probes == 1
    assert made.match(Event({"a3": 10, "a4": 20, "a5": 100})) == []
    assert made.work.probes == 4


def test_interval_edges() -> None:
    """DAS-X5: the bounds 39, 40, 60, 100 of the paper are cuts; 40, 60, 61 select its edges."""
    made = engine({0: "a = 40", 1: "a > 60", 2: "b = 1"})
    array = made.nodes["a"].array
    end_of_numbers: Cut = (6, None, 0)
    assert array.bounds == [(5, 40, 0), (5, 40, 1), (5, 60, 1), end_of_numbers]
    assert [list(indices(edge.members)) for edge in array.edges] == [[], [0], [], [1], []]
    edges = {value: bisect_right(array.bounds, place(value)) + 1 for value in (39, 40, 60, 61, 100)}
    assert edges == {39: 1, 40: 2, 60: 3, 61: 4, 100: 4}
    selected = [list(indices(found)) for _, found in made.selections(Event({"a": 60, "b": 1}))]
    assert selected == [[2], [0, 1, 2]]


def test_split_and_join() -> None:
    """DAS-13: an insert splits an edge, its removal joins what has become equal."""
    made = engine({0: "a between 10 and 90"})
    array = made.nodes["a"].array
    assert len(array.edges) == 3
    made.add(1, fyke.parse("a between 30 and 40"))
    assert len(array.edges) == 5
    made.add(2, fyke.parse("a between 30 and 90"))
    assert len(array.edges) == 5
    made.remove(1)
    assert len(array.edges) == 4
    made.remove(2)
    assert array.bounds == [(5, 10, 0), (5, 90, 1)]


# --- the order of evaluation ---------------------------------------------------------------------


def test_reorder() -> None:
    """DAS-14: any order has the same matches; the attribute that refuses most comes first."""
    made = engine({slot: f"kind = 'x' and number = {slot}" for slot in range(40)})
    events = [Event({"kind": "x", "number": number}) for number in range(50)]
    before = [made.match(event) for event in events]
    assert list(made.nodes) == ["kind", "number"]
    assert made.work.probes == 100
    made.reorder()
    assert list(made.nodes) == ["number", "kind"]
    assert [made.match(event) for event in events] == before
    assert made.work.probes == 190
    made.reorder(["unknown", "kind"])
    assert list(made.nodes) == ["kind", "number"]
    assert [made.match(event) for event in events] == before


def test_reorder_without_observations_changes_nothing() -> None:
    made = engine(X1)
    made.reorder()
    assert list(made.nodes) == ["a3", "a4", "a5"]
    IntervalEngine().reorder()


def test_a_matcher_is_compacted_by_reordering() -> None:
    matcher = fyke.Matcher("interval")
    matcher.add_many((f"s{n}", f"kind = 'x' and number = {n}") for n in range(40))
    for number in range(50):
        matcher.match({"kind": "x", "number": number})
    before = matcher.stats().work.probes
    matcher.compact()
    assert [matcher.match({"kind": "x", "number": n}) for n in (7, 41)] == [["s7"], []]
    assert matcher.stats().work.probes - before == 3


def test_reordering_time_and_again() -> None:
    """The rarely equal attribute comes first, whichever it is just now."""
    made = engine(
        {slot: f"a = {slot} and b = {slot}" for slot in range(20)}, Parameters(reorder_every=10)
    )
    for steady, varying in (("a", "b"), ("b", "a")):
        for turn in range(40):
            made.match(Event({steady: turn % 20, varying: 99}))
        assert next(iter(made.nodes)) == varying


def test_reordering_while_others_add_loses_nobody() -> None:
    made = engine({0: "a = 0 and b = 0"}, Parameters(reorder_every=1))
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            made.match(Event({"a": 0, "b": 1}))

    with ThreadPoolExecutor(1) as pool:
        searching = pool.submit(search)
        try:
            for slot in range(1, 300):
                made.add(slot, fyke.parse(f"x{slot} = 1"))
        finally:
            stop.set()
        searching.result()
    assert len(made.nodes) == 301
    assert made.match(Event({f"x{slot}": 1 for slot in range(1, 300)})) == list(range(1, 300))


# --- parameters by name --------------------------------------------------------------------------


def test_an_engine_is_named_with_its_parameters(tmp_path: Path) -> None:
    text = "interval:bit_list_from=0.5,growth=2,empty_max=3,reorder_every=7"
    assert Parameters.read(text.partition(":")[2]) == Parameters(
        bit_list_from=0.5, growth=2, empty_max=3, reorder_every=7
    )
    matcher = fyke.Matcher(text)
    matcher.add("one", "a = 1")
    matcher.add("two", "a = 2")
    engine = matcher.engine
    assert isinstance(engine, IntervalEngine)
    assert engine.nodes["a"].array.at(place(1)).is_bit_list  # one of two is half of them
    matcher.save(tmp_path / "snapshot")
    opened = fyke.Matcher.open(tmp_path / "snapshot")
    assert opened.stats().engine == text and opened.match({"a": 2}) == ["two"]
    assert fyke.Matcher("tree:spans_max=1").match({"a": 1}) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("scan:growth=1", "the engine scan takes no parameters"),
        ("interval:", "expected each once of bit_list_from, growth"),
        ("interval:size=1", "'size=1'; expected each once"),
        ("interval:growth=1,growth=1", "expected each once"),
        ("interval:growth=1.5", "growth is '1.5'; expected a number"),
        ("interval:growth=0", "growth is 0; expected at least 1"),
        ("interval:bit_list_from=nan", "bit_list_from is nan; expected a share"),
        ("interval:reorder_every=-1", "reorder_every is -1; expected 0 or more"),
        ("intervals:growth=1", "unknown engine 'intervals'"),
    ],
)
def test_bad_parameters(name: str, problem: str) -> None:
    with pytest.raises(FykeError, match=problem):
        fyke.Matcher(name)


# --- exactness -----------------------------------------------------------------------------------

INDEXED = [
    "a = 1",
    "a in (1, 'x', true)",
    "a is null",
    "a != 1",
    "a not in (1, 'x')",
    "a > 1 and a < 5",
    "a starts with 'OT'",
    "not (a = 1)",
    "not (a > 1 and b = 2)",
    "exists a",
    "not exists a and b = 1",
    "type is Stock",
    "not (type is Stock)",
    "(a = 1 or b = 2) and (c = 3 or not (d < 4))",
]
SINGLE: list[dict[str, object]] = [
    {},
    {"a": None},
    {"a": 1},
    {"a": True},
    {"a": 3.0, "b": 2},
    {"a": "OTE", "b": 1},
    {"a": []},
    {"a": [3]},
    {"type": "Stock"},
    {"type": "Share"},
    {"b": 2, "c": 3},
    {"b": 2, "d": 4},
    {"a": 1, "d": -0.0},
]


@pytest.mark.parametrize("text", INDEXED)
def test_single_values_need_no_check(text: str) -> None:
    made, filter = engine({0: text}), fyke.parse(text)
    assert made.unguarded == 0
    for document in SINGLE:
        event = Event(document)
        assert made.match(event) == [0] * filter.matches(event), document
    assert made.work.checks == 0


def test_lists_pass_folded_bounds() -> None:
    made = engine({0: "a > 1 and a < 5", 1: "not (a = 2)", 2: "a = 9"})
    assert made.match(Event({"a": [0, 9]})) == [0, 1, 2]
    assert made.work.checks == 2
    assert made.match(Event({"a": [2, 3]})) == [0]
    assert made.match(Event({"a": [7]})) == [1]
    assert made.match(Event({"a": []})) == [1]


def test_supertypes() -> None:
    made = engine({0: "type is Market", 1: "type = 'Market'", 2: "not (type is Market)"})
    assert made.match(Event({}, type="Stock", supertypes=["Market"])) == [0]
    assert made.match(Event({}, supertypes=["Market"])) == [0]
    assert made.match(Event({"type": ["x", "Market"]})) == [0, 1]
    assert made.match(Event({})) == [2]
    assert made.match(Event({"type": 5}, supertypes=["y"])) == [2]
    assert TYPES in made.nodes


def test_what_is_not_indexed_is_checked() -> None:
    made = engine(
        {
            0: "a like 'N%SE'",
            1: "a matches 'S' and b = 1",
            2: "a < b",
            3: "not (a contains 'S')",
            4: "true",
        }
    )
    assert made.unguarded == 2
    assert made.match(Event({"a": "NYSE", "b": 1})) == [0, 1, 4]
    assert made.match(Event({"a": "MYSE"})) == [4]
    assert made.work.candidates == 4 + 1 + 2
    made.remove(4)
    assert made.unguarded == 1


def test_too_many_boxes_are_guarded_by_what_is_necessary() -> None:
    pairs = " and ".join(f"(x{i} = 1 or y{i} = 1)" for i in range(12))
    made = engine({0: f"a = 1 and {pairs}", 1: f"type is T and {pairs}", 2: pairs})
    assert made.unguarded == 1
    assert made.match(Event({"a": 1, **{f"x{i}": 1 for i in range(12)}}, type="T")) == [0, 1, 2]
    made.match(Event({"a": 2}))
    assert made.work.checks == 4


def test_long_sets_are_indexed_by_their_hull() -> None:
    listed = ", ".join(str(2 * number) for number in range(2_000))
    made = engine({0: f"a in ({listed})"})
    assert len(made.nodes["a"].array.edges) == 3
    assert engine({0: f"not (a in ({listed}))"}).unguarded == 1
    found = [bool(made.match(Event({"a": value}))) for value in (-1, 0, 1, 3_998, 3_999)]
    assert found == [False, True, False, True, False]


def test_many_bounds_and_long_lists_stay_cheap() -> None:
    unequal = " and ".join(f"a != {number}" for number in range(5_000))
    made = engine({0: unequal, **{slot: f"a = {slot}" for slot in range(1, 3_000)}})
    assert made.match(Event({"a": 4_999})) == []
    assert made.match(Event({"a": 5_000})) == [0]
    assert made.match(Event({"a": list(range(40_000))})) == list(range(3_000))


@pytest.mark.parametrize("parameters", CORNERS)
@settings(max_examples=25)
@given(
    taken=st.lists(filters(predicates(st.sampled_from(["a", "b", "type"])), max_leaves=5)),
    seen=st.lists(events(), max_size=6),
)
def test_parameters_change_no_match(
    parameters: Parameters, taken: list[Filter], seen: list[Event]
) -> None:
    made = IntervalEngine(parameters)
    for slot, filter in enumerate(taken):
        made.add(slot, filter)
    for slot in range(0, len(taken), 3):
        made.remove(slot)
    for event in seen:
        right = [slot for slot, filter in enumerate(taken) if slot % 3 and filter.matches(event)]
        assert made.match(event) == right


# --- removal -------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.lists(filters(max_leaves=5), max_size=10), st.permutations(range(10)))
def test_nothing_is_left(taken: list[Filter], order: list[int]) -> None:
    made = IntervalEngine()
    for slot, filter in enumerate(taken):
        made.add(slot, filter)
    for slot in (each for each in order if each < len(taken)):
        made.remove(slot)
    assert not made.nodes and made.unguarded == len(made._indices) == 0
    assert not (made._tests or made._taken or made._profiles or made._slots)


def test_a_node_goes_with_its_last_constraint() -> None:
    made = engine({0: "a = 1", 1: "b = 1"})
    made.remove(0)
    assert list(made.nodes) == ["b"]
    assert made.match(Event({"a": 1, "b": 1})) == [1]
    made.add(2, fyke.parse("a = 1"))
    assert made.match(Event({"a": 1, "b": 1})) == [1, 2]
    assert made.match(Event({"a": 1, "b": 2})) == [2]


# --- the parts -----------------------------------------------------------------------------------

cuts = st.one_of(
    st.sampled_from([BEGIN, END, (4, None, 0), (6, None, 0)]),
    st.tuples(st.just(5), st.integers(0, 6), st.integers(0, 1)),
)
some_spans = st.lists(st.tuples(cuts, cuts), min_size=1, max_size=3).map(union)


@given(st.lists(some_spans, max_size=8), st.data())
def test_array(inserted: list[Spans], data: st.DataObject) -> None:
    """Lookups agree with the spans, and neighbouring edges differ, after every change."""
    array, live = IntervalArray(Parameters()), dict[int, Spans]()
    for index, spans in enumerate(inserted):
        array.insert(index, spans, 100)
        live[index] = spans
        if data.draw(st.booleans()):
            gone = data.draw(st.sampled_from(sorted(live)))
            array.remove(gone, live.pop(gone), 100)
        for where in [AT_MISSING, AT_EMPTY, *map(place, (None, True, 0, 3, 3.5, 6, 7, ""))]:
            right = [i for i, each in live.items() if any(a <= where < b for a, b in each)]
            assert list(indices(array.at(where).members)) == right
        assert not any(a.same(b) for a, b in zip(array.edges, array.edges[1:], strict=False))
        assert len(array.edges) == len(array.bounds) + 1


@given(scalars(), scalars())
def test_places_order_scalars(one: Scalar, other: Scalar) -> None:
    assert (place(one) < place(other)) == (sort_key(one) < sort_key(other))
    assert BEGIN < AT_MISSING < AT_EMPTY < place(one) < END


def test_profiles() -> None:
    first, second = profiles(fyke.parse("a > 1 and a < 5 or not (b = 2)"))
    assert first.constraints["a"].spans == (((5, 1, 1), (5, 5, 0)),)
    assert first.constraints["a"].loose and first.exact
    assert complement(second.constraints["b"].spans, ALL) == (((5, 2, 0), (5, 2, 1)),)
    assert profiles(fyke.parse("false")) == ()
    assert profiles(fyke.parse("a < 1 and false or a between 5 and 1")) == ()
    (contradiction,) = profiles(fyke.parse("a < 1 and a > 5"))
    assert contradiction.constraints["a"].spans == ()
    (alternatives,) = profiles(fyke.parse("(a = 1 or a = 2) and (a = 1 or a = 2)"), boxes_max=1)
    assert len(alternatives.constraints["a"].spans) == 2
