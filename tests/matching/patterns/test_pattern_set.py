"""PatternSet against the definition: `Like.accepts`, pattern by pattern."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke import FykeError
from fyke.filters.text_predicate import Like
from fyke.filters.texts import glob as globs
from fyke.filters.texts.glob import ONE, Glob, from_like
from fyke.matching.compiled.kernels import kernel
from fyke.matching.compiled.patterns import (
    aho_corasick,
    building,
    encoding,
    layers,
    lookup,
    placement,
    windows,
)
from fyke.matching.compiled.patterns.pattern_set import NUMBER_MAX, PatternSet

IS_PLAIN = kernel.MODE == "plain"

# Few characters, so that everything overlaps; of one to four bytes that share bytes with each
# other; some that fold to others, or would change their length if folded fully.
PLAIN = "ab"
WIDE = "aé\u00a9\u0129€😀😁%_\n\x00"
CASED = "aAkK\u212aßẞİıIiſsSΣσς"


def patterns_of(alphabet: str) -> st.SearchStrategy[Glob]:
    segment = st.text(alphabet + ONE, max_size=4) | st.text(alphabet, max_size=6)
    segments = st.lists(segment, min_size=1, max_size=4)
    anchored = st.tuples(st.text(alphabet, max_size=5)).map(lambda t: [*t, ""])
    inner = st.text(alphabet, min_size=1, max_size=5).map(lambda t: ["", t, ""])
    return st.one_of(
        segments.map(tuple).map(Glob),  # not canonical: empty segments, wildcards behind stars
        segments.map(globs.glob),
        anchored.map(globs.glob),
        anchored.map(lambda t: globs.glob(t[::-1])),
        inner.map(globs.glob),
    )


def long_ones(alphabet: str) -> st.SearchStrategy[str]:
    """Strings of several windows, many of them alike."""
    part = st.sampled_from([alphabet * 5, alphabet * 40, alphabet[:1] * 9, alphabet[-1:] * 3])
    return st.lists(part | st.text(alphabet, max_size=3), max_size=4).map("".join)


def long_patterns_of(alphabet: str) -> st.SearchStrategy[Glob]:
    segments = st.lists(long_ones(alphabet) | st.just(ONE), min_size=1, max_size=3)
    return segments.map(lambda drawn: globs.glob(["", *drawn, ""])) | segments.map(globs.glob)


Definition = tuple[int, Glob, bool]


def subscribed(number: int, pattern: Glob, ignore_case: bool) -> Definition:
    return number, pattern.folded() if ignore_case else pattern, ignore_case


def expected(definitions: list[Definition], text: str) -> list[int]:
    return sorted(
        number
        for number, pattern, ignore_case in definitions
        if Like("a", pattern, ignore_case).accepts()(text)
    )


def check(patterns: PatternSet, definitions: list[Definition], texts: list[str]) -> None:
    assert len(patterns) == len(definitions)
    by_text = [expected(definitions, text) for text in texts]
    bounds, numbers = patterns.accepted_many(texts)
    assert (bounds.dtype, numbers.dtype) == (np.int64, np.int32)
    assert [numbers[a:b].tolist() for a, b in pairwise(bounds)] == by_text
    for text, each in zip(texts, by_text, strict=True):
        for _ in range(2):  # the second time from the cache
            found = patterns.accepted(text)
            assert found.dtype == np.int32
            assert found.tolist() == each, text


@pytest.fixture
def small_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(monkeypatch)


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a few patterns reach."""
    monkeypatch.setattr(layers, "WAITING_MAX", 4)
    monkeypatch.setattr(layers, "TESTS_MAX", 2)
    monkeypatch.setattr(layers, "AT_ONCE_LOAD", 120)


@pytest.mark.parametrize("alphabet", [PLAIN, WIDE, CASED])
@settings(max_examples=150 if IS_PLAIN else 300)
@given(data=st.data())
def test_verdicts_are_those_of_like(alphabet: str, data: st.DataObject) -> None:
    pairs = st.lists(st.tuples(patterns_of(alphabet), st.booleans()), max_size=12)
    texts = data.draw(st.lists(st.text(alphabet, max_size=9), max_size=6))
    definitions = [subscribed(3 * n, *each) for n, each in enumerate(data.draw(pairs))]
    patterns = PatternSet()
    for each in definitions:
        patterns.add(*each)
    check(patterns, definitions, [*texts[:1], "", *texts[:1]])
    patterns.arrays()
    check(patterns, definitions, [*texts, ""])


def check_many(alphabet: str, ignore_case: bool = False, rounds: int = 3) -> None:
    """What small examples seldom show: deep outputs within others, wide nodes, shared keys."""
    draw = random.Random(alphabet)

    def string(size: int) -> str:
        return "".join(draw.choices(alphabet, k=draw.randint(0, size)))

    shapes = [
        lambda: ["", string(4), ""],
        lambda: [string(4), ""],
        lambda: ["", string(4)],
        lambda: ["", string(12), ""],
        lambda: [string(3), string(2), string(3)],
        lambda: [ONE + string(3)],
        lambda: [string(3) + ONE],
        lambda: ["", string(2) + ONE + string(2), ""],
        lambda: [ONE + string(2), string(2) + ONE],
        lambda: [string(5)],
    ]
    for _ in range(rounds):
        patterns, definitions = PatternSet(), []
        for number in draw.sample(range(10**6), 250):
            definitions.append(subscribed(number, Glob(tuple(draw.choice(shapes)())), ignore_case))
            patterns.add(*definitions[-1])
        patterns.arrays()
        check(patterns, definitions, ["", *(string(9) for _ in range(10)), string(60)])


@pytest.mark.parametrize("alphabet", [PLAIN, WIDE, CASED, "".join(map(chr, range(200, 300)))])
@pytest.mark.parametrize("ignore_case", [False, True])
def test_many_patterns_at_once(alphabet: str, ignore_case: bool) -> None:
    check_many(alphabet, ignore_case)


if (
    IS_PLAIN
):  # compiled kernels keep their constants; test_kernel_modes runs this file as plain Python

    @pytest.mark.parametrize(
        "constants",
        [
            {(encoding, "KEY_MAX"): 2},
            {(encoding, "KEY_MAX"): 3, (aho_corasick, "CELLS_MAX"): 1},
            {(aho_corasick, "CELLS_MAX"): 1, (windows, "SHARED_MAX"): 0},
            {(aho_corasick, "CELLS_MAX"): 9, (windows, "SHARED_MAX"): 0},
            {(windows, "SHARED_MAX"): 1000},
            {(windows, "SHARED_MAX"): 1000, (building, "COMPARED_MAX"): 9},
            {(placement, "_WORK_MIN"): 0, (placement, "_WORK_PER_BYTE"): 0},
        ],
    )
    def test_limits_change_no_verdict(
        constants: dict[tuple[object, str], int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for (module, name), value in constants.items():
            monkeypatch.setattr(module, name, value)
        if (building, "COMPARED_MAX") in constants:
            monkeypatch.setattr(windows, "COMPARED_MAX", 9)
        check_many(PLAIN, rounds=5)
        check_many("abé")


@pytest.mark.parametrize("cut", range(0, 10))
def test_a_window_is_compared_with_what_is_around_it(cut: int) -> None:
    """The text has the window of each string, but at most one of the strings."""
    base = "".join(chr(ord("a") + n) for n in range(24))
    strings = [base, *(base[:n] + "?" + base[n + 1 :] for n in range(24))]
    strings += [string * 4 for string in strings]
    definitions = [(n, Glob(("", string, "")), False) for n, string in enumerate(strings)]
    for each in definitions:  # one by one: together, they would have other windows
        patterns = PatternSet()
        patterns.add(*each)
        patterns.arrays()
        texts = [string[cut:] for string in strings] + [string[: 24 - cut] for string in strings]
        texts += [strings[26][:-1] + "!", strings[26] + "!", "!" + strings[26][:90]]
        bounds, numbers = patterns.accepted_many(texts)
        found = [numbers[a:b].tolist() == [each[0]] for a, b in pairwise(bounds)]
        assert found == [strings[each[0]] in text for text in texts]


@pytest.mark.parametrize("alphabet", [PLAIN, "é😀", "sſ"])
@settings(max_examples=100 if IS_PLAIN else 300)
@given(data=st.data())
def test_verdicts_on_long_strings_are_those_of_like(alphabet: str, data: st.DataObject) -> None:
    pairs = st.lists(st.tuples(long_patterns_of(alphabet), st.booleans()), max_size=14)
    drawn, texts = data.draw(pairs), data.draw(st.lists(long_ones(alphabet), max_size=4))
    definitions = [subscribed(n, *each) for n, each in enumerate(drawn)]
    patterns = PatternSet()
    for each in definitions:
        patterns.add(*each)
    patterns.arrays()
    for pattern, _ in drawn:  # texts that are accepted, or nearly
        filling = st.sampled_from(["", alphabet[0], alphabet * 3])
        text = "".join(each + data.draw(filling) for each in pattern.segments)
        texts.append(text.replace(ONE, alphabet[-1]))
    check(patterns, definitions, texts)


def test_a_string_does_not_reach_around_the_ends_of_a_text() -> None:
    strings = [f"abcdefgh{n}xyzuvw" for n in range(4)]  # the first window is shared by all
    patterns = PatternSet()
    for number, string in enumerate(strings):
        patterns.add(number, Glob(("", string, "")), False)
    patterns.arrays()
    for string in strings:
        for turn in range(1, len(string)):
            assert patterns.accepted(string[turn:] + string[:turn]).tolist() == []


STEP = st.one_of(
    st.tuples(st.just("add"), patterns_of("aA\u212a"), st.booleans()),
    st.tuples(st.just("add"), patterns_of("aA\u212a"), st.booleans()),
    st.tuples(st.just("discard"), st.integers(0, 100)),
    st.tuples(st.just("merge")),
    st.tuples(st.just("reopen"), st.booleans()),
    st.tuples(st.just("check"), st.text("aA\u212a", max_size=6)),
)


@settings(max_examples=40 if IS_PLAIN else 200)
@given(st.lists(STEP, max_size=60))
def test_patterns_come_and_go(steps: list[tuple[object, ...]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch)
        check_history(steps)


def check_history(steps: list[tuple[object, ...]]) -> None:
    patterns, model = PatternSet(), dict[int, Definition]()
    for name, *details in steps:
        if name == "add":
            number = min(set(range(len(model) + 1)) - model.keys())  # numbers are used again
            model[number] = subscribed(number, *details)  # type: ignore[arg-type]
            patterns.add(*model[number])
        elif name == "discard" and model:
            number = sorted(model)[details[0] % len(model)]  # type: ignore[operator]
            patterns.discard(number)
            patterns.discard(number)
            del model[number]
        elif name == "merge":
            patterns.merge()
            assert not patterns.merge_due()
        elif name == "reopen":
            arrays = patterns.arrays()
            for array in arrays.values():
                array.setflags(write=not details[0])
            patterns = PatternSet.of(arrays)
        elif name == "check":
            check(patterns, list(model.values()), [str(details[0]), ""])
    check(patterns, list(model.values()), ["a", "aaA", "\u212a"])


def test_a_number_may_come_back_with_another_pattern(small_layers: None) -> None:
    patterns = PatternSet()
    patterns.add(7, from_like("%x%"), False)
    patterns.arrays()
    patterns.discard(7)
    assert patterns.accepted("x").tolist() == []
    patterns.add(7, from_like("%Y%").folded(), True)
    for _ in range(2):
        assert patterns.accepted("xX").tolist() == []
        assert patterns.accepted("ay").tolist() == [7]
        patterns.merge()
        patterns = PatternSet.of(patterns.arrays())
    assert len(patterns) == 1


def test_a_discarded_pattern_is_gone_wherever_it_was(small_layers: None) -> None:
    """Numbers come in no order, so merged blocks are not simply put behind one another."""
    draw = random.Random(5)
    patterns, model = PatternSet(), dict[int, Definition]()
    for turn in range(200):
        number = draw.choice([n for n in range(1000) if n not in model])
        model[number] = subscribed(number, from_like(f"%{number % 10}%{turn % 3}"), turn % 2 == 1)
        patterns.add(*model[number])
        if turn % 3 == 0:
            patterns.accepted(str(turn))
            gone = draw.choice(list(model))
            del model[gone]
            patterns.discard(gone)
        if turn % 10 == 0:
            check(patterns, list(model.values()), ["10", "1201", "9876543210"])
        if turn % 25 == 0:
            patterns.merge()


def test_a_waiting_pattern_that_was_tested_can_be_discarded() -> None:
    patterns = PatternSet()
    patterns.add(1, from_like("a%"), False)
    assert patterns.accepted("ab").tolist() == [1]
    patterns.discard(1)
    assert patterns.accepted("ab").tolist() == []
    patterns.add(1, from_like("b%"), False)
    assert patterns.accepted("ab").tolist() == []
    assert patterns.accepted("b").tolist() == [1]


def test_an_empty_set_accepts_nothing() -> None:
    patterns = PatternSet.of(PatternSet().arrays())
    assert len(patterns) == 0 and not patterns.merge_due()
    assert patterns.accepted("").tolist() == []
    assert [each.tolist() for each in patterns.accepted_many([])] == [[0], []]
    assert [each.tolist() for each in patterns.accepted_many(["a", "a"])] == [[0, 0, 0], []]
    patterns.discard(3)
    patterns.merge()


@pytest.mark.parametrize("number", [-1, NUMBER_MAX + 1])
def test_numbers_have_bounds(number: int) -> None:
    with pytest.raises(FykeError, match="expected 0 to 2147483647"):
        PatternSet().add(number, from_like("a%"), False)
    patterns = PatternSet()
    patterns.add(NUMBER_MAX, from_like("%a%"), False)
    patterns.arrays()
    assert patterns.accepted("ba").tolist() == [NUMBER_MAX]
    patterns.discard(number)
    assert len(patterns) == 1


@given(patterns_of(WIDE))
def test_a_pattern_survives_its_encoding(pattern: Glob) -> None:
    assert encoding.decode(encoding.encode(pattern)) == pattern


def test_the_rarest_piece_is_the_key() -> None:
    likes = [f"C:/Windows/%{word}%.exe" for word in ("certutil", "ping", "reg", "whoami")]
    data = [encoding.encode(from_like(like)) for like in likes]
    starts = np.cumsum([0, *map(len, data)]).astype(np.int32)
    place, sure = np.empty(4, np.uint8), np.empty(4, np.uint8)
    key, length = np.empty(4, np.int32), np.empty(4, np.int32)
    joined = b"".join(data)
    encoding.choose_keys(np.frombuffer(joined, np.uint8), starts, place, key, length, sure)
    keys = [joined[a : a + n].decode() for a, n in zip(key, length, strict=True)]
    assert keys == ["certutil", "ping", "reg", "whoami"]
    assert place.tolist() == [encoding.INNER] * 4 and not sure.any()


# --- bounds --------------------------------------------------------------------------------------


def elapsed_s(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


@pytest.mark.skipif(IS_PLAIN, reason="large")
def test_strings_within_each_other_take_linear_time() -> None:
    count = 10_000
    patterns = PatternSet()
    for length in range(1, count + 1):
        patterns.add(3 * length, Glob(("", "a" * length, "")), False)
        if length <= 1000:
            patterns.add(3 * length + 1, Glob(("a" * length, "")), False)
            patterns.add(3 * length + 2, Glob(("", "a" * length)), False)
    while patterns.merge_due():
        patterns.merge()
    text = ("a" * 5_000 + "b") * 200
    patterns.accepted("")
    assert elapsed_s(lambda: patterns.accepted(text)) < 1
    assert len(patterns.accepted(text)) == 5_000 + 1_000
    assert len(patterns.accepted("a" * 1_000_000)) == count + 2_000
    assert patterns.nbytes < 100_000_000


@pytest.mark.parametrize("wildcard", ["", "_"])
@pytest.mark.skipif(IS_PLAIN, reason="large")
def test_placing_segments_ends_at_a_budget(wildcard: str) -> None:
    half = "a" * 2_000
    patterns = PatternSet()
    patterns.add(1, from_like(f"%a%{half}{wildcard}{half}b%c%"), False)
    patterns.add(2, from_like(f"%a%{half}{wildcard}{half}%c%"), False)
    patterns.arrays()
    patterns.accepted("")
    text = "a" * 300_000 + "c"
    assert elapsed_s(lambda: patterns.accepted(text)) < 2
    assert patterns.accepted(text).tolist() == [2]
    assert patterns.accepted("a" * 5_000 + "bc").tolist() == [1, 2]


def test_a_pattern_longer_than_any_key() -> None:
    long = "é" * encoding.KEY_MAX
    definitions = [
        (n, Glob(segments), False)
        for n, segments in enumerate(
            [(long, ""), ("", long), ("", long, ""), ("", "x" + long, ""), (long + "x", "")]
        )
    ]
    patterns = PatternSet()
    for each in definitions:
        patterns.add(*each)
    patterns.arrays()
    check(patterns, definitions, [long, "x" + long, long + "x", long[1:], long[1:] + "x" + long])


@pytest.mark.skipif(IS_PLAIN, reason="large")
def test_an_automaton_with_more_nodes_than_rows() -> None:
    draw = random.Random(1)
    words = sorted({"".join(draw.choices("abcdefghijkl", k=7)) for _ in range(40_000)})
    patterns = PatternSet()
    for number, word in enumerate(words):
        patterns.add(number, Glob(("", word, "")), False)
    while patterns.merge_due():
        patterns.merge()
    text = "".join(draw.choices("abcdefghijkl", k=20_000)) + "".join(words[::97])
    present = {text[at : at + 7] for at in range(len(text))}
    expected = [number for number, word in enumerate(words) if word in present]
    assert len(expected) > 400
    assert patterns.accepted(text).tolist() == expected


@pytest.mark.skipif(IS_PLAIN, reason="large")
def test_a_hundred_thousand_contains_patterns() -> None:
    draw = np.random.default_rng(7)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz/.-_ 0123456789ABCDEF", np.uint8)
    count = 100_000
    words = [w.tobytes().decode() for w in letters[draw.integers(0, len(letters), (count, 20))]]
    patterns = PatternSet()

    def build() -> None:
        for number, word in enumerate(words):
            patterns.add(number, Glob(("", word, "")), False)
        while patterns.merge_due():
            patterns.merge()

    PatternSet().accepted("")
    took_s = elapsed_s(build)
    assert took_s < (10 if kernel.MODE == "fast" else 60)
    assert patterns.nbytes < 100_000_000
    text = "".join(words[:1000])
    found = patterns.accepted(text)
    assert found.tolist() == [n for n, word in enumerate(words) if word in text]
    for number in range(0, 1000, 2):
        patterns.discard(number)
    assert patterns.accepted(text).tolist() == [n for n in found if n >= 1000 or n % 2]


# --- meanwhile -----------------------------------------------------------------------------------


def test_searches_and_changes_go_on_while_merging(
    small_layers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    patterns, model = PatternSet(), dict[int, Definition]()

    def add(number: int, like: str) -> None:
        model[number] = subscribed(number, from_like(like), False)
        patterns.add(*model[number])

    def discard(number: int) -> None:
        del model[number]
        patterns.discard(number)

    def check_all() -> None:
        check(patterns, list(model.values()), ["a1b", "a2b", "xa30", "a", "n1", ""])

    for number in range(40):
        add(number, f"%a{number}%")
    assert patterns.merge_due()
    started, proceed = threading.Event(), threading.Event()
    block = layers.Plan.block

    def slowly(plan: layers.Plan) -> object:
        merged = block(plan)
        started.set()
        assert proceed.wait(10)
        return merged

    monkeypatch.setattr(layers.Plan, "block", slowly)
    merging = threading.Thread(target=patterns.merge)
    merging.start()
    assert started.wait(10)
    monkeypatch.setattr(layers.Plan, "block", block)
    monkeypatch.setattr(layers, "AT_ONCE_LOAD", 1 << 16)
    discard(1)
    discard(30)
    add(1, "%2b")
    check_all()
    for number in range(100, 140):
        add(number, f"n{number - 100}%")
    patterns.merge()  # does nothing: another is at work
    check_all()
    proceed.set()
    merging.join()
    check_all()
    patterns.merge()
    assert not patterns.merge_due()
    check_all()


@pytest.mark.skipif(IS_PLAIN, reason="large")
def test_threads_search_together(small_layers: None) -> None:
    patterns = PatternSet()
    for number in range(500):
        patterns.add(number, from_like(f"%{number}%"), bool(number % 2))
    stop = threading.Event()
    wrong: list[str] = []

    def search_on(start: int) -> None:
        while not stop.is_set():
            for value in range(start, 500, 7):
                found = set(patterns.accepted(f"x{value}").tolist())
                if not {n for n in range(250) if str(n) in str(value)} <= found:
                    wrong.append(str(value))

    threads = [threading.Thread(target=search_on, args=(start,)) for start in (0, 3)]
    for thread in threads:
        thread.start()
    for turn in range(300):
        patterns.discard(250 + turn % 250)
        patterns.add(250 + turn % 250, from_like(f"%{turn}x%"), False)
        if turn % 20 == 0:
            patterns.merge()
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


# --- storing -------------------------------------------------------------------------------------


def test_stored_arrays_are_views_and_stay_as_they_are() -> None:
    patterns = PatternSet()
    for number in range(100):
        patterns.add(number, from_like(f"%{number}%"), bool(number % 2))
    arrays = patterns.arrays()
    for array in arrays.values():
        array.setflags(write=False)
    copies = {name: array.copy() for name, array in arrays.items()}
    opened = PatternSet.of(arrays)
    assert all(np.shares_memory(block.words, arrays["words"]) for block in opened._exact.blocks)
    opened.discard(11)
    opened.add(11, from_like("%11%"), False)
    assert opened.accepted("111").tolist() == [1, 11]
    assert all(np.array_equal(arrays[name], copies[name]) for name in arrays)
    assert patterns.accepted("111").tolist() == [1, 11]


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: arrays.pop("words"),
        lambda arrays: arrays.update(words=arrays["words"][:-1]),
        lambda arrays: arrays.update(data=arrays["data"].astype(np.int32)),
        lambda arrays: arrays.update(alive=np.append(arrays["alive"], np.uint8(1))),
        lambda arrays: arrays["words"].__setitem__(3, 1 << 20),
        lambda arrays: arrays.update(blocks=arrays["blocks"][:, :3]),
        lambda arrays: arrays.update(blocks=-arrays["blocks"]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(damage: Callable[[dict[str, object]], None]) -> None:
    patterns = PatternSet()
    patterns.add(1, from_like("%a%"), False)
    arrays = dict(patterns.arrays())
    damage(arrays)
    with pytest.raises(FykeError, match="stored patterns"):
        PatternSet.of(arrays)


@pytest.mark.skipif(IS_PLAIN, reason="nothing is compiled")
def test_kernels_are_compiled_for_one_signature() -> None:
    patterns = PatternSet()
    patterns.add(1, from_like("%a%"), False)
    arrays = patterns.arrays()
    for array in arrays.values():
        array.setflags(write=False)
    opened = PatternSet.of(arrays)
    opened.accepted("a")
    opened.discard(1)
    opened.accepted_many(["a", "b"])
    opened.merge()
    assert len(lookup.search.signatures) == 1  # type: ignore[attr-defined]


def test_answers_cannot_be_written_to() -> None:
    patterns = PatternSet()
    patterns.add(1, from_like("%a%"), False)
    with pytest.raises(ValueError, match="read-only"):
        patterns.accepted("a")[0] = 2


def test_scratch_is_not_kept_by_old_blocks() -> None:
    patterns = PatternSet()
    patterns.add(1, from_like("%a%"), False)
    patterns.arrays()
    patterns.accepted("a")
    block = patterns._exact.blocks[0]
    references = sys.getrefcount(block)
    patterns.discard(1)
    patterns.merge()
    gc.collect()
    assert patterns._exact.blocks == () and sys.getrefcount(block) < references
