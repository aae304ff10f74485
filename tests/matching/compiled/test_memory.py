"""Memory that a build leaves behind is given back."""

from __future__ import annotations

import platform
import time
from pathlib import Path

import numpy as np
import pytest

import fyke
from fyke.matching.compiled import engine as compiled
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.compiled.memory import give_back

STATM = Path("/proc/self/statm")


def resident_pages() -> int:
    return int(STATM.read_text().split()[1])


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not STATM.exists(), reason="glibc on Linux alone does it"
)
def test_free_memory_between_arrays_that_live_is_given_back() -> None:
    made = [np.ones(2_500) for _ in range(3_000)]
    kept = made[::50]
    before = resident_pages()
    made.clear()
    give_back()
    assert before - resident_pages() > 3_000 * 2_500 * 8 // 4096 // 2
    assert sum(each.sum() for each in kept) == 2_500 * len(kept)


@pytest.mark.parametrize(("count", "times"), [(99, 0), (100, 1)])
def test_a_large_build_gives_back(monkeypatch: pytest.MonkeyPatch, count: int, times: int) -> None:
    given = []
    monkeypatch.setattr(compiled, "RELEASE_SIZE_MIN", 100)
    monkeypatch.setattr(compiled, "give_back", lambda: given.append(give_back()))
    filters = [fyke.parse(f"a = {slot}") for slot in range(count)]
    engine = CompiledEngine(filters.__getitem__)
    for slot, filter in enumerate(filters):
        engine.add(slot, filter)
    assert engine.match(fyke.Event({"a": 7})) == [7]
    assert len(given) == times


def test_a_large_merge_in_the_background_gives_back(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr(compiled, "RELEASE_SIZE_MIN", 100)
    monkeypatch.setattr(compiled, "FOREGROUND_SIZE_MAX", 10)
    monkeypatch.setattr(compiled, "SMALL_SEGMENT_MAX", 0)
    monkeypatch.setattr(compiled, "give_back", lambda: given.append(give_back()))
    filters = [fyke.parse(f"a = {slot}") for slot in range(160)]
    engine = CompiledEngine(filters.__getitem__)
    for slot, filter in enumerate(filters):
        engine.add(slot, filter)
        if slot % 80 == 79:
            assert engine.match(fyke.Event({"a": slot})) == [slot]
    end = time.monotonic() + 30
    while not given and time.monotonic() < end:
        time.sleep(0.01)
    assert given == [None]
