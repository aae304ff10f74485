"""Snapshots whose checksums are right and whose contents are not: refused, or harmless."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fyke
from fyke.matching import snapshot
from fyke.matching.compiled import engine as compiled
from fyke.matching.compiled.boxes.box_tree import AXES_AT, GROUP, LEVELS_AT, SLOTS_MAX
from fyke.matching.compiled.boxes.program import ACCEPTED, INSIDE, OPAQUE, STEP
from fyke.matching.compiled.coding.axes import AxisKind
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.compiled.kernels.lanes import LANES
from fyke.matching.compiled.segment.layout import CLUSTER, RUN
from fyke.matching.compiled.segment.segment import GONE, NO_PROGRAM, Segment
from fyke.matching.compiled.segment.validation import validate
from fyke.matching.matcher import Matcher

FLIPS = """
import copy
import json
import random
import sys

import numpy as np
import pyarrow as pa

import fyke
from fyke.events.columns import read
from fyke.matching.compiled import engine as compiled
from fyke.matching.compiled.kernels import kernel
from fyke.matching.compiled.engine import CompiledEngine

assert kernel.MODE == "checked"
rounds = int(sys.argv[1])
compiled.UNBOXED_MAX = compiled.MEMTABLE_SIZE_MAX = 0
draw = random.Random(7)
texts = [f"a = {n % 5} and b between {n} and {n + 9} and c < {n % 7}" for n in range(400)]
texts += [f"b between {n} and {n + 9}" for n in range(40)]
texts += [f"(a = {n} or s = 'x{n}') and not (c > 3 and b < {n})" for n in range(20)]
texts += [f"a in (1,2,3,4,5,6,7,8,9,{n}) and s like '%x{n}%'" for n in range(10, 30)]
texts += [f"s ends with 'y{n}' and (t matches 'q+{n}' or c = {n})" for n in range(20)]
texts += [f"t contains 'long enough for a window {n}' or t starts with 'qq{n}'" for n in range(20)]
texts += ["not a = 1", "type is T", "exists s", "a not in (1,2,3,4,5)", "s > 'm'"]
filters = [fyke.parse(text) for text in texts]


def filter_of(slot):
    return filters[slot] if 0 <= slot < len(filters) else fyke.parse("false")


engine = CompiledEngine(filter_of, tree_from=12)
for slot, each in enumerate(filters):
    engine.add(slot, each)
    if slot == 470:
        engine.match(fyke.Event({"a": 1}))
for slot in range(0, 100, 9):
    engine.remove(slot)
slots = np.array([slot for slot in range(len(filters)) if slot not in range(0, 100, 9)])
long = "is long enough for a window"
documents = [
    {"a": n % 6, "b": n, "c": n % 5, "s": f"x{n} y{n}", "t": f"qq{n} {long} {n}", "type": "T"}
    for n in range(0, 60, 4)
]
documents += [{"a": [1, 2, 3], "b": [5, 50], "s": ["x11", "y5"]}, {}]
events = [fyke.Event(document) for document in documents]
columns = read(pa.Table.from_pylist(documents[:-2]))
lists = read(pa.Table.from_pylist(documents[-2:]))
arrays, details = engine.save()
details = json.loads(json.dumps(details))
for part in arrays.values():
    part.setflags(write=False)  # as they are when mapped
assert len(details["segments"]) > 1
right = [engine.match(event) for event in events]


def used(arrays, details):
    opened = CompiledEngine(filter_of, tree_from=12)
    opened.load(arrays, details, slots)
    found = [opened.match(event) for event in events]
    for each in (columns, lists):
        opened.match_columns(each)
    opened.nearest(events[0], 3)
    opened.remove(101)
    opened.add(101, filters[101])
    opened.match(events[0])
    return found


def another(word, words):
    return draw.choice(
        [word + 1, word - 1, -1, 0, 1, -1 - word, 2**31 - 1, -(2**31), draw.choice(words),
         draw.randrange(-(2**31), 2**31), draw.randrange(len(words) + 2), word * 2, word + 16]
    )


assert used(arrays, details) == right
refused = accepted = 0
for name, part in arrays.items():
    if not part.size or name in ("index.vocabulary", "index.given"):
        continue
    least, most = (0, 255) if part.dtype == np.uint8 else (-(2**31), 2**31 - 1)
    for _ in range(rounds):
        wrong = part.ravel().copy()
        words = wrong.tolist()
        for at in {draw.randrange(len(wrong)) for _ in range(draw.choice([1, 1, 1, 4]))}:
            new = another(words[at], words)
            wrong[at] = min(max(new, least), most)
        if part.ndim > 1:
            wrong = wrong.reshape(part.shape)
        elif draw.random() < 0.1:
            wrong = wrong[: draw.randrange(len(wrong))]
        wrong.setflags(write=False)
        try:
            used(arrays | {name: wrong}, details)
            accepted += 1
        except fyke.FykeError:
            refused += 1
        except BaseException:
            print(name, np.flatnonzero(wrong != part[: len(wrong)]), part.shape, wrong.shape)
            raise
for number in range(len(details["segments"])):
    for key in details["segments"][number]:
        for value in (-1, 0, 1, 2, 7, 10**6, 2**40, None, "x"):
            wrong = copy.deepcopy(details)
            wrong["segments"][number][key] = value
            try:
                used(arrays, wrong)
            except fyke.FykeError:
                refused += 1
print("refused", refused, "accepted", accepted)
assert refused > accepted > 10
"""


@pytest.mark.long
def test_flipped_words_are_refused_or_harmless() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FLIPS, "25"],
        env={**os.environ, "FYKE_KERNELS": "checked"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"a = {n} and b < {n} and t like '%x{n}'") for n in range(100))
    matcher.add("opaque", "a = 1 or t matches 'z+'")
    matcher.save(tmp_path / "snapshot")
    return tmp_path / "snapshot"


def changed(path: Path, name: str, part: Any) -> None:
    """Writes the snapshot again with another array, checksums and all."""
    facts, arrays = snapshot.load(path)
    snapshot.save(path, facts, {**arrays, name: np.asarray(part)})


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("segment0.clusters", lambda words: words + 1, "clusters of a segment is wrong at word 1"),
        ("segment0.clusters", lambda words: words[:40], "clusters"),
        ("segment0.clusters", lambda words: words.astype(np.int64), "no list of 32-bit integers"),
        ("segment0.table", lambda words: words[:-1], "impossible size"),
        ("segment0.table", lambda words: np.roll(words, 7), "table of a segment is wrong"),
        ("segment0.table", np.ones_like, "table of a segment is wrong"),
        ("segment0.programs", lambda words: words + 1, "programs of a segment is wrong"),
        ("segment0.program_at", lambda words: words + 9, "programs of a segment is wrong"),
        ("segment0.program_at", lambda words: words[:-1], "subscriptions that it should"),
        ("segment0.slots", lambda words: words + 1, "not one of the subscriptions"),
        ("segment0.keyed", lambda words: words + 99, "keyed of a segment is wrong at word 0"),
        ("symbol_axes", lambda words: words + 1, "vocabulary cannot be read"),
        ("symbol_axes", lambda words: words[:-1], "vocabulary cannot be read"),
        ("expected", lambda words: words[:-1], "vocabulary cannot be read"),
        ("counts", lambda words: np.zeros(5), "counts of events"),
        ("given", lambda words: words[:-1], "index cannot be read"),
        ("vocabulary", lambda words: words[:-1], "vocabulary cannot be read"),
    ],
)
def test_what_is_wrong_is_named(saved: Path, name: str, change: Any, problem: str) -> None:
    assert Matcher.open(saved).match({"a": 7, "b": 1, "t": "x7"}) == ["s7"]
    _, arrays = snapshot.load(saved)
    changed(saved, f"index.{name}", change(arrays[f"index.{name}"]))
    with pytest.raises(fyke.FykeError, match=f"is corrupt: .*{problem}"):
        Matcher.open(saved)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("texts0", lambda words: words[:-4], "not the symbols that it should"),
        ("texts0", lambda words: words[:7], "not the symbols that it should"),
        ("texts0", lambda words: words + 1, "not the symbols that it should"),
        ("texts0", np.zeros_like, "not the symbols that it should"),
        ("texts0", lambda words: words.astype(np.int32), "of another type"),
        ("texts0.held", lambda words: words.astype(np.int32), "of another type"),
    ],
)
def test_a_table_of_texts_that_is_wrong(
    tmp_path: Path, name: str, change: Any, problem: str
) -> None:
    matcher = Matcher()
    matcher.add_many((f"s{n}", f"a = '{'x' * n}'") for n in range(20))
    matcher.save(tmp_path)
    found = Matcher.open(tmp_path).match_batch(pa.table({"a": ["", "x" * 19, "x" * 20]}))
    assert found["subscription"].to_pylist() == ["s0", "s19"]
    _, arrays = snapshot.load(tmp_path)
    changed(tmp_path, f"index.{name}", change(arrays[f"index.{name}"]))
    with pytest.raises(fyke.FykeError, match=f"is corrupt: .*{problem}"):
        Matcher.open(tmp_path)


def test_an_index_of_other_subscriptions_is_refused(saved: Path) -> None:
    other = Matcher()
    other.add_many((f"s{n}", "a = 1") for n in range(50))
    assert isinstance(other.engine, CompiledEngine)
    facts, arrays = snapshot.load(saved)
    index, facts["index"] = other.engine.save()
    kept = {name: part for name, part in arrays.items() if not name.startswith("index.")}
    snapshot.save(saved, facts, kept | index)
    with pytest.raises(fyke.FykeError, match="not one of the subscriptions"):
        Matcher.open(saved)


# --- every word that leads somewhere --------------------------------------------------------------

Wrong = Iterator[tuple[str, int, Iterable[int]]]
"""The name of an array, a place in it, and values that are out of bounds there."""
FAR = (2**31 - 1, -(2**31))


@pytest.fixture(scope="module")
def engine() -> CompiledEngine:
    """Clusters of symbols, of pairs and without; runs and trees; several boxes; programs."""
    texts = [f"a = {n % 5} and b between {n} and {n + 9} and c < {n % 7}" for n in range(300)]
    texts += [f"b between {n} and {n + 9}" for n in range(40)]
    texts += [f"d = {n} and b < {n} and c > {n} and e < {n}" for n in range(6)]
    texts += [f"(a = {n} or s = 'x{n}') and not (c > 3 and b < {n})" for n in range(20)]
    texts += [f"a in (1,2,3,4,5,6,7,8,9,{n}) and s like '%x{n}%'" for n in range(10, 30)]
    texts += [f"s ends with 'y{n}' and (t matches 'q+{n}' or c = {n})" for n in range(20)]
    texts += [f"(s like '%p{n}%' or c = {n}) and (b = 1 or c = 2 or e = {n})" for n in range(5)]
    texts += [f"t matches 'z+{n}'" for n in range(5)]
    texts += ["not a = 1", "type is T", "exists s", "true", "a not in (1,2,3,4,5)", "s > 'm'"]
    filters = [fyke.parse(text) for text in texts]
    made = CompiledEngine(filters.__getitem__, tree_from=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "UNBOXED_MAX", 0)
        patch.setattr(compiled, "MEMTABLE_SIZE_MAX", 0)
        for slot, each in enumerate(filters):
            made.add(slot, each)
        made.match(fyke.Event({"a": 1}))
    return made


def clusters(segment: Segment) -> Iterator[tuple[int, list[tuple[int, list[int]]]]]:
    """The place of each cluster, and of its runs with those of their boxes."""
    words, at = segment.layout.clusters, 1
    while at < len(words) - LANES:
        head, runs = at, []
        at += CLUSTER
        for _ in range(words[head + 2]):
            axis, count = words[at], words[at + 1]
            marks = at + RUN + (2 * count if axis >= 0 else 0)
            runs.append((at, [at + (int(words[marks + box]) >> 1) for box in range(count)]))
            at += int(words[at + 2])
        yield head, runs


def wrong_clusters(segment: Segment, vocabulary: Vocabulary) -> Wrong:
    axes, symbols = len(vocabulary.axes), vocabulary.next_symbol
    words, trees = segment.layout.clusters, len(segment.layout.groups) // GROUP
    for head, runs in clusters(segment):
        yield "clusters", head, (-1, symbols, words[head] + 1, *FAR)
        yield "clusters", head + 1, (-1, symbols, words[head + 1] + 1, *FAR)
        yield "clusters", head + 2, (words[head + 2] + 1, words[head + 2] - 1, *FAR)
        yield "clusters", head + 3, (words[head + 3] + 1, words[head + 3] - 1, trees + 1, *FAR)
        yield "clusters", head + 4, (words[head + 4] + 1, words[head + 3] - 1, trees + 1, *FAR)
        for run, boxes in runs:
            axis, count, end = words[run : run + 3].tolist()
            yield "clusters", run, (-2, axes, *FAR)
            yield "clusters", run + 1, (count + 1, 0, -1, *FAR)
            yield "clusters", run + 2, (end + 1, end - 1, 0, RUN - 1, *FAR)
            marks = run + RUN + (2 * count if axis >= 0 else 0)
            for mark in range(marks, marks + count):
                yield "clusters", mark, (words[mark] + 2, words[mark] - 2, *FAR)
            for box, stop in pairwise([*boxes, run + end]):
                yield from wrong_box(box, stop, len(segment.slots), axes)


def wrong_box(box: int, stop: int, owners: int, axes: int) -> Wrong:
    yield "clusters", box, (owners, -owners - 1, *FAR)
    for constraint in range(box + 1, stop, 3):
        yield "clusters", constraint, (-1, axes, *FAR)


def no_texts(vocabulary: Vocabulary) -> list[int]:
    """The axes that have no patterns."""
    return [at for at, (kind, _) in enumerate(vocabulary.axes) if kind is not AxisKind.TEXT]


def wrong_programs(segment: Segment, vocabulary: Vocabulary) -> Wrong:
    axes = len(vocabulary.axes)
    programs, at = segment.programs, segment.program_at
    starts = sorted(at[at != NO_PROGRAM].tolist())
    for start, end in pairwise([*starts, len(programs) - 1]):
        step = last = 0
        while step <= last:
            here = start + step * STEP
            kind, _, one, other, *successors = programs[here : here + STEP].tolist()
            for place in (here + 4, here + 5):  # to itself, back, and out
                back = () if step == 0 else (step - 1, 0)
                yield "programs", place, (step, *back, -3, (end - start) // STEP, *FAR)
            yield "programs", here, (-1, OPAQUE + 1, *FAR)
            if kind != OPAQUE and other:
                yield "programs", here + 1, (-1, axes, *FAR)
            if kind == ACCEPTED:
                yield "programs", here + 1, no_texts(vocabulary)
            if kind not in (INSIDE, OPAQUE):
                yield "programs", here + 2, (-1, end - start - other + 1, *FAR)
                yield "programs", here + 3, (-1, end - start - one + 1, *FAR)
            last = max(last, *successors)
            step += 1
    for owner in np.flatnonzero(at != NO_PROGRAM).tolist():
        yield "program_at", owner, (-2, len(programs), *starts[:2], *FAR)


def wrong_trees(segment: Segment, vocabulary: Vocabulary) -> Wrong:
    axes = len(vocabulary.axes)
    index, owners = segment.layout, len(segment.slots)
    for place in range(len(index.owners)):
        yield "owners", place, (owners, -owners - 1, *FAR)
    for head in range(0, len(index.groups), GROUP):
        width, levels, count = index.groups[head : head + 3].tolist()
        yield "groups", head, (0, -1, SLOTS_MAX + 1, *FAR)
        yield "groups", head + 1, (levels + 1, levels - 1, *FAR)
        yield "groups", head + 2, (0, -1, count + LANES ** (levels + 1), *FAR)
        rounded = -(-count // LANES) * LANES
        yield "groups", head + 4, (-1, len(index.owners) - rounded + 1, *FAR)
        for level in range(levels + 1):
            yield "groups", head + LEVELS_AT + level, (-1, len(index.nodes), *FAR)
            place = int(index.groups[head + LEVELS_AT + level])
            for lane in range(-count % LANES):  # without a child
                last = place + (-(-count // LANES) - 1) * width * 2 * LANES + LANES - 1 - lane
                for bound in range(0, width * 2 * LANES, LANES):
                    yield "nodes", last + bound, (0, 1)
            count = -(-count // LANES)
        for slot in range(width):
            yield "groups", head + AXES_AT + slot, (-1, axes, *FAR)


def wrong_lists(segment: Segment, vocabulary: Vocabulary) -> Wrong:
    axes, owners, table = len(vocabulary.axes), len(segment.slots), segment.layout.table
    for name, end in (("keyed", axes), ("pairs", axes), ("texts", axes), ("roots", owners)):
        for place in range(len(getattr(segment, name))):
            yield name, place, (-1, end, *FAR)
    for place in range(len(segment.texts)):
        yield "texts", place, no_texts(vocabulary)
    for place, head in enumerate(table.tolist()):
        yield "table", place, ((head + 1, -1, 0, *FAR) if head else (1, 2, -1, *FAR))
    yield "slots", 0, (-2, GONE)


@pytest.mark.parametrize("wrong", [wrong_clusters, wrong_programs, wrong_trees, wrong_lists])
def test_no_word_leads_out_of_bounds_or_back(
    engine: CompiledEngine, wrong: Callable[[Segment, Vocabulary], Wrong]
) -> None:
    """Kernels go where a word says: whichever it is, one that leads elsewhere is refused."""
    vocabulary = engine._vocabulary
    tried: Counter[str] = Counter()
    for segment in engine._segments:
        validate(segment, vocabulary)
        arrays = {name: part.copy() for name, part in segment.arrays().items()}
        for name, place, values in wrong(segment, vocabulary):
            right = arrays[name][place]
            for value in {int(each) for each in values} - {int(right)}:
                arrays[name][place] = value
                with pytest.raises(fyke.FykeError):
                    validate(Segment.of(arrays, segment.details()), vocabulary)
                    pytest.fail(f"{name}[{place}] may be {value} instead of {right}")
                tried[name] += 1
            arrays[name][place] = right
    assert tried.total() > 200, tried


def test_what_is_said_beside_the_arrays(engine: CompiledEngine) -> None:
    several = 0
    for segment in engine._segments:
        said = segment.details()
        several += said["has_several"]
        changes = [{"root": said["root"] + 1}, {"removed": said["removed"] + 1}]
        changes += [{"root": 0}] if said["root"] else []
        changes += [{"has_several": 0}] if said["has_several"] else []
        for change in changes:
            with pytest.raises(fyke.FykeError):
                validate(Segment.of(segment.arrays(), {**said, **change}), engine._vocabulary)
    assert several
