"""Snapshots whose checksums are right and whose contents are not: refused, or harmless."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fyke
from fyke.matching import snapshot
from fyke.matching.compiled.engine import CompiledEngine
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
from fyke.matching.compiled import kernel
from fyke.matching.compiled.engine import CompiledEngine

assert kernel.MODE == "checked"
rounds = int(sys.argv[1])
compiled.WAITING_MAX = compiled.YOUNG_MAX = 0
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


engine = CompiledEngine(filter_of, tree_from=12, is_warm=True)
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
arrays, details = engine.kept()
details = json.loads(json.dumps(details))
for part in arrays.values():
    part.setflags(write=False)  # as they are when mapped
assert len(details["segments"]) > 1
right = [engine.match(event) for event in events]


def used(arrays, details):
    opened = CompiledEngine(filter_of, tree_from=12, is_warm=True)
    opened.take_up(arrays, details, slots)
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
    index, facts["index"] = other.engine.kept()
    kept = {name: part for name, part in arrays.items() if not name.startswith("index.")}
    snapshot.save(saved, facts, kept | index)
    with pytest.raises(fyke.FykeError, match="not one of the subscriptions"):
        Matcher.open(saved)
