"""Boxes cover their filter, exact ones without doubt are the filter; programs decide rightly."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.filter import Filter, conjunction, disjunction
from fyke.filters.predicate import equals
from fyke.matching.compiled.boxes.boxing import ALTERNATIVES_MAX, BOXES_MAX, Box, Boxes, Boxing
from fyke.matching.compiled.boxes.program import (
    ACCEPT,
    PAUSED,
    REFUSE,
    STEP,
    UNKNOWN,
    opaque_parts,
    program,
)
from fyke.matching.compiled.coding.axes import AxisKind
from fyke.matching.compiled.coding.codes import MISSING
from fyke.matching.compiled.coding.event_coding import Codes, code_event
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.kernels.frames import Frame, PairBases, ProgramBases
from fyke.matching.compiled.kernels.lanes import base, holds
from fyke.matching.compiled.search.gathering import decide
from fyke.testing.generators import events, filters, predicates

close = filters(predicates(st.sampled_from(["a", "b", "type"])), max_leaves=8)


def box_of(filter: Filter, vocabulary: Vocabulary) -> Boxes:
    return Boxing(vocabulary).run(filter)


def codes_on(codes: Codes, axis: int) -> list[int]:
    """All codes of an event on an axis; a slow reading of what `Codes` says."""
    at = int(codes.wide[0])
    while at >= 0 and codes.lists[at] >= 0:
        size = int(codes.lists[at + 1])
        if codes.lists[at] == axis:
            return [int(code) for code in codes.lists[at + 2 : at + 2 + size]]
        at += 2 + size
    return [int(codes.lows[0, axis])]


def symbols_on(codes: Codes, axis: int) -> set[int]:
    """The symbols of the patterns that accept an element."""
    rows = [code for code in codes_on(codes, axis) if code != MISSING]
    return {
        int(symbol)
        for row in rows
        for symbol in codes.accepted[codes.accepted_at[row] : codes.accepted_at[row + 1]]
    }


def verdicts(box: Box, codes: Codes, vocabulary: Vocabulary) -> tuple[bool, bool]:
    """Whether an event touches a box, and whether one of its codes leaves a doubt there."""
    is_doubtful = False
    for axis, low, high in box:
        if vocabulary.axes[axis][0] is AxisKind.TEXT:
            if low not in symbols_on(codes, axis):
                return False, False
            continue
        found = codes_on(codes, axis)
        inside = [code for code in found if holds(low, high, code)]
        if not inside and low > high and min(found) <= high and max(found) >= low:
            inside = found
        if not inside:
            return False, False
        is_doubtful |= any(code & 1 and code in (low, high) for code in inside)
    return True, is_doubtful


def is_narrow(event: Event) -> bool:
    return not any(isinstance(value, tuple) for value in event.attributes.values())


@settings(max_examples=200, deadline=None)
@given(filter=close, seen=st.lists(events(), min_size=1, max_size=6))
def test_boxes_cover_the_filter(filter: Filter, seen: list[Event]) -> None:
    vocabulary = Vocabulary()
    boxes = box_of(filter, vocabulary)
    for event in seen:
        codes = code_event(event, vocabulary)
        found = [verdicts(box, codes, vocabulary) for box in boxes.boxes]
        accepted = filter.matches(event)
        assert any(is_in for is_in, _ in found) or not accepted
        if boxes.is_exact and is_narrow(event) and (True, False) in found:
            assert accepted


def decide_all(filter: Filter, words: list[int], codes: Codes, event: Event) -> tuple[int, int]:
    """The verdict of a program, with opaque parts answered; and how often it paused."""
    programs, step, pauses = np.array([*words, 0], np.int32), 0, 0
    at = np.zeros(1, np.int32)
    frame = Frame(ProgramBases(words=base(programs), at=base(at)))
    while True:
        zero, steps, verdict = (np.zeros(1, np.int32) for _ in range(3))
        steps[0] = step
        pairs = Frame(
            PairBases(
                events=base(zero), owners=base(zero), steps=base(steps), verdicts=base(verdict)
            )
        )
        decide(frame.handle, codes.frame.handle, pairs.handle, 1)
        if verdict[0] > PAUSED:
            return int(verdict[0]), pauses
        at = (PAUSED - int(verdict[0])) * STEP
        holds = opaque_parts(filter)[words[at + 2]].matches(event)
        step = words[at + (4 if holds else 5)]
        pauses += 1
        if step < 0:
            return step, pauses


@settings(max_examples=200, deadline=None)
@given(filter=close, seen=st.lists(events(), min_size=1, max_size=6))
def test_programs_agree_with_the_filter(filter: Filter, seen: list[Event]) -> None:
    vocabulary = Vocabulary()
    words = program(filter, vocabulary)
    for event in seen:
        verdict, _ = decide_all(filter, words, code_event(event, vocabulary), event)
        assert verdict in (ACCEPT, REFUSE, UNKNOWN)
        if verdict != UNKNOWN:
            assert (verdict == ACCEPT) is filter.matches(event)


def test_programs_decide_without_the_filter_where_codes_suffice() -> None:
    filter = fyke.parse("(a = 1 or b in ('x', 'y', 'z')) and not (c < 5 or d like 'q%')")
    vocabulary = Vocabulary()
    words = program(filter, vocabulary)
    for document, wanted in (
        ({"a": 1}, ACCEPT),
        ({"a": 1, "c": 4}, REFUSE),
        ({"b": "z", "d": "pq"}, ACCEPT),
        ({"b": "z", "d": ["p", "qp"]}, REFUSE),
        ({"b": ["w", "y"], "c": [5, 6]}, ACCEPT),
        ({"a": True}, REFUSE),
        ({}, REFUSE),
    ):
        event = Event(document)
        assert decide_all(filter, words, code_event(event, vocabulary), event) == (wanted, 0)
    assert opaque_parts(filter) == []


def test_programs_ask_for_opaque_parts_once() -> None:
    filter = fyke.parse("a = 1 and b matches 'x+' and c matches 'y+'")
    vocabulary = Vocabulary()
    words = program(filter, vocabulary)
    assert len(opaque_parts(filter)) == 1
    for document, wanted in (
        ({"a": 1, "b": "x", "c": "y"}, (ACCEPT, 1)),
        ({"a": 1, "b": "x"}, (REFUSE, 1)),
        ({"a": 2, "b": "x", "c": "y"}, (REFUSE, 0)),
    ):
        event = Event(document)
        assert decide_all(filter, words, code_event(event, vocabulary), event) == wanted


def test_what_would_explode_stays_small() -> None:
    choices = [
        disjunction([equals(f"a{place}", value) for value in range(5)]) for place in range(20)
    ]
    filter = conjunction(choices)
    vocabulary = Vocabulary()
    boxes = box_of(filter, vocabulary)
    assert 1 <= len(boxes.boxes) <= BOXES_MAX
    assert not boxes.is_exact
    event = Event({f"a{place}": place % 5 for place in range(20)})
    codes = code_event(event, vocabulary)
    assert any(verdicts(box, codes, vocabulary)[0] for box in boxes.boxes)


def test_a_filter_of_very_many_alternatives() -> None:
    names = ", ".join(f"'v{number}'" for number in range(ALTERNATIVES_MAX + 1))
    for text in (f"a in ({names})", f"a in ({names}) and b = 1", f"not a in ({names})"):
        filter = fyke.parse(text)
        vocabulary = Vocabulary()
        boxes = box_of(filter, vocabulary)
        assert len(boxes.boxes) <= ALTERNATIVES_MAX
        for value in ("v0", f"v{ALTERNATIVES_MAX}", "w", None):
            event = Event({"a": value, "b": 1})
            codes = code_event(event, vocabulary)
            found = any(verdicts(box, codes, vocabulary)[0] for box in boxes.boxes)
            assert found or not filter.matches(event)


def test_nothing_and_everything() -> None:
    vocabulary = Vocabulary()
    assert box_of(fyke.parse("false"), vocabulary) == Boxes((), True)
    assert box_of(fyke.parse("true"), vocabulary) == Boxes(((),), True)
    assert box_of(fyke.parse("a = 1 or true"), vocabulary) == Boxes(((),), True)


NETWORKS = (
    "not (source in cidr '10.0.0.0/8' or source in cidr '::1/128' or target in cidr '::1/128')"
)


def test_a_predicate_of_an_absent_attribute_is_not_asked() -> None:
    """It is false without being looked at, and so is an alternative of such predicates."""
    texts = [NETWORKS, "not line matches '\\d\\s'", "not (line matches '\\d' or word matches 'x$')"]
    matcher = fyke.Matcher()
    matcher.add_many((text, text) for text in texts)
    matcher.add_many((f"s{number}", f"a = {number}") for number in range(40))
    events = [
        {"a": -1}, {"b": None}, {}, {"source": "10.1.1.1"}, {"target": "::1"},
        {"target": "10.1.1.1"}, {"line": "7 "}, {"line": None}, {"word": ["y", "x"]},
        {"line": [], "word": "y"},
    ]  # fmt: skip
    checks = []
    for event in events:
        before = matcher.stats().work.checks
        right = [text for text in texts if fyke.parse(text).matches(event)]
        assert matcher.match(event) == right
        checks.append(matcher.stats().work.checks - before)
    assert checks[:3] == [0, 0, 0]
    assert min(checks[3:]) > 0
    found = matcher.match_batch([fyke.Event(event) for event in events]).to_pydict()
    pairs = set(zip(found["event"], found["subscription"], strict=True))
    assert pairs == {(row, id) for row, event in enumerate(events) for id in matcher.match(event)}


def test_a_program_pauses_at_one_opaque_part_after_the_other() -> None:
    text = " and ".join(f"({name} matches '[0-9]$' or k = 'z')" for name in "abc")
    matcher = fyke.Matcher()
    matcher.add(text, text)
    matcher.add_many((f"s{number}", f"n = {number}") for number in range(40))
    for ends in product("x1", repeat=3):
        event = dict(zip("abc", ends, strict=True))
        before = matcher.stats().work.checks
        assert (matcher.match(event) == [text]) == fyke.parse(text).matches(event)
        assert matcher.stats().work.checks - before <= 3
    assert matcher.match({"a": "1", "b": "2", "c": "3"}) == [text]
