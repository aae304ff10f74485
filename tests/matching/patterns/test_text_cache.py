from __future__ import annotations

import numpy as np

from fyke.matching.compiled.patterns.text_cache import TextCache

NONE = np.empty(0, np.int32)


def found(cache: TextCache, text: str) -> bool:
    return cache.get(text) is not None or cache.get_old(text) is not None


def test_what_was_put_in_last_is_found() -> None:
    cache = TextCache(entries_max=8)
    for number in range(100):
        cache.put(str(number), NONE, cache.epoch)
        assert len(cache) <= 8
    assert all(found(cache, str(number)) for number in range(96, 100))
    assert not found(cache, "0")


def test_bytes_are_bounded_too() -> None:
    cache = TextCache(bytes_max=40_000)
    for number in range(100):
        cache.put(str(number), np.empty(1_000, np.int32), cache.epoch)
        assert len(cache) <= 8
    assert found(cache, "99")
    cache.put("x" * 10_000, NONE, cache.epoch)
    cache.put("large", np.empty(10_000, np.int32), cache.epoch)
    assert not found(cache, "x" * 10_000) and not found(cache, "large")


def test_an_answer_of_an_earlier_epoch_is_not_taken_in() -> None:
    cache = TextCache()
    epoch = cache.epoch
    cache.put("a", NONE, epoch)
    cache.clear()
    assert not found(cache, "a")
    cache.put("a", NONE, epoch)
    assert not found(cache, "a")
    cache.put("a", NONE, cache.epoch)
    assert found(cache, "a")
