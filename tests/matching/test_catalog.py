"""The catalog: ids and filters by slot, against a dictionary; opened, changed, measured."""

from __future__ import annotations

import multiprocessing
import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.filters import predicate as p
from fyke.filters.filter import Filter, conjunction
from fyke.matching import catalog as catalog_module
from fyke.matching import snapshot
from fyke.matching.catalog import Catalog
from fyke.testing.generators import filters


def typical(draw: random.Random) -> Filter:
    """One or two equalities, one to three intervals of integers."""
    equal = draw.sample(range(5), draw.randint(1, 2))
    between = draw.sample(range(5), draw.randint(1, 3))
    lows = [draw.randrange(850_000) for _ in between]
    return conjunction(
        [p.equals(f"s{at}", f"v{draw.randrange(10_000)}") for at in equal]
        + [
            p.Range(f"n{at}", low, low + draw.randrange(10_000, 150_000))
            for at, low in zip(between, lows, strict=True)
        ]
    )


def filled(count: int) -> Catalog:
    draw, catalog = random.Random(1), Catalog()
    for _ in catalog.add_many((f"sub-{number:08}", typical(draw)) for number in range(count)):
        pass
    return catalog


def check(catalog: Catalog, expected: dict[str, Filter]) -> None:
    assert len(catalog) == len(expected)
    assert sorted(catalog) == sorted(expected)
    slots = catalog.slots().tolist()
    assert catalog.names(slots) == list(catalog) == [catalog.id(slot) for slot in slots]
    assert {catalog.id(slot): filter for slot, filter in catalog.filters()} == expected
    for id, filter in expected.items():
        assert catalog.filter(catalog.known(id)) == filter


@settings(max_examples=60)
@given(
    taken=st.lists(filters(max_leaves=4), min_size=1, max_size=6),
    seed=st.integers(0, 10**6),
    kept=st.sampled_from([1, 4096]),
)
def test_histories(taken: list[Filter], seed: int, kept: int) -> None:
    draw, catalog, expected = random.Random(seed), Catalog(), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog_module, "KEPT_MAX", kept)
        for step in range(40):
            filter, action = draw.choice(taken), draw.random()
            if not expected or action < 0.5:
                slot = catalog.add(f"s{step}", filter)
                expected[f"s{step}"] = filter
                assert catalog.id(slot) == f"s{step}"
            elif action < 0.7:
                id = draw.choice(list(expected))
                slot = catalog.known(id)
                assert catalog.replace(id, filter) == slot
                expected[id] = filter
            elif action < 0.9:
                id = draw.choice(list(expected))
                slot = catalog.known(id)
                assert catalog.remove(id) == slot
                del expected[id]
            else:
                catalog = Catalog.of(read_only(catalog.arrays()))
            if expected:
                id = draw.choice(list(expected))
                assert catalog.filter(catalog.known(id)) == expected[id]
        check(catalog, expected)


def read_only(arrays: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    copies = {name: array.copy() for name, array in arrays.items()}
    for each in copies.values():
        each.flags.writeable = False
    return copies


def test_what_is_refused_changes_nothing() -> None:
    catalog = filled(3)
    for refused in (
        lambda: catalog.add("sub-00000001", fyke.parse("true")),
        lambda: catalog.add("new", Filter()),
        lambda: catalog.add("new", p.equals("a", "x" * 2**24)),
        lambda: catalog.replace("sub-00000001", Filter()),
        lambda: catalog.replace("new", fyke.parse("true")),
        lambda: catalog.remove("new"),
        lambda: catalog.known(7),
    ):
        with pytest.raises(fyke.FykeError):
            refused()
    assert list(catalog) == list(filled(3))
    assert [str(f) for _, f in catalog.filters()] == [str(f) for _, f in filled(3).filters()]


def test_filters_that_were_asked_for_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_module, "KEPT_MAX", 3)
    catalog = Catalog()
    for number in range(10):
        catalog.add(f"s{number}", fyke.parse(f"a = {number}"))
    for slot in range(10):
        asked = catalog.filter(slot)
        others = [catalog.filter(other) for other in range(max(slot - 2, 0), slot)]
        assert catalog.filter(slot) is asked  # not made again
        assert [str(each) for each in others] == [f"a = {n}" for n in range(max(slot - 2, 0), slot)]
        assert len(catalog._kept) <= 3


def test_a_removal_while_iterating_loses_nobody_else() -> None:
    catalog = filled(3000)
    seen = []
    for number, id in enumerate(catalog):
        seen.append(id)
        if number == 10:
            catalog.remove("sub-00000003")
            catalog.remove("sub-00002999")
    assert len(seen) == 2999


@pytest.mark.parametrize("name", list(Catalog().arrays()))
def test_missing_and_foreign_arrays(name: str) -> None:
    arrays = filled(5).arrays()
    with pytest.raises(fyke.FykeError):
        Catalog.of({each: array for each, array in arrays.items() if each != name})
    for foreign in (np.zeros(3, np.float64), np.zeros(3, np.uint8), np.full(3, -9, np.int64)):
        with pytest.raises(fyke.FykeError):
            other = Catalog.of({**arrays, name: foreign})
            for _ in other.filters():
                pass


def test_ids_and_filters_of_different_subscriptions() -> None:
    more, fewer = filled(5).arrays(), filled(4).arrays()
    mixed = {name: (more if name.startswith("ids") else fewer)[name] for name in more}
    with pytest.raises(fyke.FykeError, match="without"):
        Catalog.of(mixed)


# --- figures -------------------------------------------------------------------------------------


def test_bytes_a_subscription() -> None:
    count = 20_000
    catalog = filled(count)
    stored = {name: array.nbytes / count for name, array in catalog.arrays().items()}
    ids = sum(size for name, size in stored.items() if name.startswith("ids."))
    assert stored["filters.bytes"] <= 45
    assert stored["filters.bytes"] + stored["filters.places"] + stored["names"] <= 50
    assert ids <= 40
    assert catalog.nbytes / count <= 95


def test_a_history_does_not_pile_up() -> None:
    catalog, draw = filled(2000), random.Random(2)
    for step in range(20_000):
        catalog.remove(f"sub-{step:08}" if step < 2000 else f"new-{step - 2000}")
        catalog.add(f"new-{step}", typical(draw))
    assert len(catalog) == 2000
    assert catalog.nbytes / 2000 < 250


# --- processes -----------------------------------------------------------------------------------


def _changed_elsewhere(path: Path, answers: Any) -> None:
    catalog = Catalog.of(snapshot.load(path)[1])
    catalog.remove("sub-00000003")
    catalog.add("elsewhere", fyke.parse("true"))
    answers.put((len(catalog), catalog.slot("elsewhere"), list(catalog)[:3]))


def test_two_processes_over_one_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "snapshot"
    snapshot.save(path, {}, filled(500).arrays())
    here = Catalog.of(snapshot.load(path)[1])
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    other = context.Process(target=_changed_elsewhere, args=(path, answers))
    other.start()
    assert answers.get(timeout=30) == (500, 3, list(here)[:3])
    other.join()
    assert "elsewhere" not in list(here)
    assert here.slot("sub-00000003") == 3
    here.add("here", fyke.parse("a = 1"))
    again = Catalog.of(snapshot.load(path)[1])
    assert list(again) == list(filled(500))
    assert here.filter(here.known("sub-00000003")) == again.filter(3)
