"""Byte strings and ids by slot, against dictionaries."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.matching import byte_store, id_table
from fyke.matching.byte_store import ByteStore
from fyke.matching.id_table import IdTable

NASTY = ["", "a", "a\0", "\0", "é", "日本", "\U0010ffff", "x" * 300, "callback-1", "A"]
names = st.one_of(st.sampled_from(NASTY), st.text(max_size=5).filter(str.isprintable))


def frozen(arrays: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """As arrays come from a snapshot: not to be written."""
    copies = {name: array.copy() for name, array in arrays.items()}
    for each in copies.values():
        each.flags.writeable = False
    return copies


def check(table: IdTable, expected: dict[str, int]) -> None:
    assert len(table) == len(expected)
    slots = sorted(expected.values())
    by_slot = {slot: id for id, slot in expected.items()}
    assert len(by_slot) == len(expected)
    assert table.slots().tolist() == slots
    assert table.names(slots) == [by_slot[slot] for slot in slots]
    for id, slot in expected.items():
        assert table.slot(id) == slot
        assert table.id(slot) == id
    asked = np.array(slots[::-1] * 2, np.int32)
    assert table.ids(asked).to_pylist() == [by_slot[slot] for slot in asked.tolist()]
    assert table.slot("never added") is None
    kept = table.arrays()
    assert not kept["hashes"][kept["places"] < 0].any()  # nothing of what is gone is kept


# --- ids -----------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(steps=st.lists(st.tuples(st.integers(0, 3), names), max_size=60))
def test_histories(steps: list[tuple[int, str]]) -> None:
    table, expected = IdTable(), {}
    for action, id in steps:
        if action == 0 and expected:
            id = random.Random(len(expected)).choice(list(expected))
        if id in expected:
            with pytest.raises(fyke.FykeError, match="taken"):
                table.add(id)
            assert table.remove(id) == expected.pop(id)
        else:
            with pytest.raises(fyke.FykeError, match="no subscription"):
                table.remove(id)
            expected[id] = table.add(id)
        if action == 3:
            table = IdTable.of(frozen(table.arrays()))
        assert table.slot(id) == expected.get(id)
    check(table, expected)


def test_a_long_history_with_few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes of three bits make long runs of cells, which wrap around the end."""
    monkeypatch.setattr(id_table, "_hash", lambda data: (data[-1] * 7 & 7) | 0xFFFFFFF8)
    draw, table, expected = random.Random(4), IdTable(), {}
    for step in range(3000):
        if expected and draw.random() < (0.3 if step < 600 else 0.5):
            id = draw.choice(list(expected))
            assert table.remove(id) == expected.pop(id)
        else:
            expected[f"s{step}"] = table.add(f"s{step}")
        if step % 300 == 0:
            check(table, expected)
    check(table, expected)


def test_slots_are_used_again() -> None:
    table = IdTable()
    for number in range(1000):
        table.add(f"s{number}")
    for number in range(0, 1000, 2):
        table.remove(f"s{number}")
    assert {table.add(f"t{number}") for number in range(500)} == set(range(0, 1000, 2))
    assert table.add("one more") == 1000


def test_there_are_no_tombstones() -> None:
    table = IdTable()
    for number in range(100_000):
        table.remove(f"s{number - 5}") if number >= 5 else None
        table.add(f"s{number}")
    assert table.nbytes < 600_000  # a history of a hundred thousand, of which five remain
    assert (table.arrays()["table"] != 0).sum() == 5


@pytest.mark.parametrize("id", [None, 7, b"a", ["a"], "\ud800", "x" * 2**24], ids=range(6))
def test_what_is_no_id(id: Any) -> None:
    table = IdTable()
    with pytest.raises(fyke.FykeError):
        table.add(id)
    with pytest.raises(fyke.FykeError):
        table.remove(id)
    assert table.slot(id) is None
    assert len(table) == 0


def test_arrow_strings() -> None:
    table = IdTable()
    expected = {f"sub-{number}": table.add(f"sub-{number}") for number in range(1000)}
    for old, new in (("sub-7", "später"), ("später", "")):
        few, many = np.array([7, 7, 999], np.int64), np.arange(999, -1, -1, dtype=np.int32)
        by_slot = {slot: id for id, slot in expected.items()}
        for slots in (few, many, few, np.empty(0, np.int32)):
            found = table.ids(slots)
            assert str(found.type) == "string"
            found.validate(full=True)
            assert found.to_pylist() == [by_slot[slot] for slot in slots.tolist()]
        held = table.ids(many)
        del expected[old]
        table.remove(old)
        expected[new] = table.add(new)
        assert expected[new] == 7
        assert held.to_pylist()[-8] == old


def test_arrow_strings_beyond_two_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(id_table, "_STRING_BYTES_MAX", 100)
    for count in (40, 20):  # more than there is room for; or only what is asked for is
        table = IdTable()
        for number in range(count):
            table.add(f"s{number}")
        for slots in (np.arange(count), np.array([3] * 60)):
            found = table.ids(slots)
            assert str(found.type) == "large_string" or slots.size * 2.5 < 100
            assert found.to_pylist() == [f"s{slot}" for slot in slots.tolist()]


def test_the_hash_is_the_same_in_every_process() -> None:
    code = "from fyke.matching.id_table import _hash; print(_hash('é'.encode()))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{id_table._hash('é'.encode())}\n"}


def test_bytes_an_id() -> None:
    table, count = IdTable(), 100_000
    for number in range(count):
        table.add(f"sub-{number:08}")
    assert table.nbytes / count <= 40
    assert sum(array.nbytes for array in table.arrays().values()) / count <= 40


def test_opened_arrays_are_not_copied_before_a_change() -> None:
    table = IdTable()
    for number in range(100):
        table.add(f"s{number}")
    arrays = frozen(table.arrays())
    opened = IdTable.of(arrays)
    assert opened.slot("s7") == 7
    assert opened.names([7]) == ["s7"]
    held = opened.ids(np.arange(100))
    assert held.to_pylist() == [f"s{number}" for number in range(100)]
    assert opened._strings.buffers()[1].address == arrays["offsets"].ctypes.data
    for name, array in opened.arrays().items():
        if name in ("bytes", "table"):
            assert np.shares_memory(array, arrays[name])
    opened.remove("s7")
    opened.add("new")
    assert np.shares_memory(np.frombuffer(opened._ids._base, np.uint8), arrays["bytes"])
    assert opened.slot("new") == 7
    assert IdTable.of(arrays).slot("s7") == 7  # nobody else sees it


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("places", np.array([2, 99 << 25 | 1], np.int64)),
        ("places", np.array([2, -2], np.int64)),
        ("places", np.array([2, 2 << 25 | 1 << 24 | 2], np.int64)),
        ("places", np.array([2], np.int64)),
        ("places", np.array([2, 2 << 25 | 2], np.int32)),
        ("places", np.array([1, 1 << 25 | 2], np.int64)),
        ("places", np.zeros((2, 1), np.int64)),
        ("bytes", np.frombuffer(b"\xff\xffcd", np.uint8)),
        ("bytes", np.frombuffer(b"abc", np.uint8)),
        ("bytes", np.frombuffer(b"abcd", np.int8)),
        ("places", np.array([2 << 25 | 2, 2], np.int64)),
        ("offsets", np.array([0, 2], np.int32)),
        ("offsets", np.array([0, 1, 4], np.int32)),
        ("offsets", np.array([0, 2, 2**31 - 1], np.int32)),
        ("offsets", np.array([0, 2, 4], np.uint8)),
        ("hashes", np.zeros(1, np.uint32)),
        ("hashes", np.zeros(2, np.int64)),
        ("table", np.full(16, -1, np.int32)),
        ("table", np.zeros(16, np.int32)),
        ("table", np.array([1, 2], np.int32)),
        ("table", np.array([1, 2, 0], np.int32)),
        ("table", np.array([1, 2, 0, 8], np.int32)),
        ("table", np.array([1, 8, 0, 0], np.int32)),
        ("table", np.array([1, 2, 0, -1], np.int32)),
        ("table", np.array([1, 2, 0, -(2**31)], np.int32)),
        ("table", np.array([1, 2**31 - 1, 0, 0], np.int32)),
        ("table", np.array([1, 2, 0, 1], np.int32)),
        ("table", np.array([1, 1, 0, 0], np.int32)),
        ("table", np.array([1, 2, 0, 0], np.int64)),
        ("table", np.empty(0, np.int32)),
    ],
)
def test_arrays_that_do_not_fit(name: str, broken: npt.NDArray[Any]) -> None:
    table = IdTable()
    table.add("é")
    table.add("cd")
    with pytest.raises(fyke.FykeError):
        IdTable.of({**table.arrays(), name: broken})


def test_ids_that_are_cut_within_a_character() -> None:
    table = IdTable()
    table.add("é")
    table.add("cd")
    whole = "écd".encode()
    for cut in range(5):
        places = np.array([cut, cut << 25 | 4 - cut], np.int64)
        offsets = np.array([0, cut, 4], np.int32)
        cut_there = {**table.arrays(), "places": places, "offsets": offsets}
        if cut == 1:
            with pytest.raises(fyke.FykeError, match="not UTF-8"):
                IdTable.of(cut_there)
        else:
            found = IdTable.of(cut_there).names([0, 1])
            assert found == [whole[:cut].decode(), whole[cut:].decode()]


# --- byte strings --------------------------------------------------------------------------------


@given(
    steps=st.lists(st.tuples(st.integers(0, 12), st.binary(max_size=9)), max_size=80),
    opened=st.integers(0, 80),
    dead=st.sampled_from([3, 2**16]),
    moved=st.integers(1, 4),
)
def test_strings_come_back_whatever_happened(
    steps: list[tuple[int, bytes]], opened: int, dead: int, moved: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_store, "_DEAD_MIN", dead)
        patch.setattr(byte_store, "_MOVED", moved)
        check_strings(steps, opened)


def check_strings(steps: list[tuple[int, bytes]], opened: int) -> None:
    store, expected = ByteStore(), {}
    for step, (slot, data) in enumerate(steps):
        slot = min(slot, len(store.places))
        if slot in expected and data < b"\x50":
            store.drop(slot)
            del expected[slot]
        else:
            store.put(slot, data)
            expected[slot] = data
        if step == opened:
            store = ByteStore.of(frozen(store.arrays()))
        assert {slot: store.get(slot) for slot in expected} == expected
        lives = sum(map(len, expected.values()))
        assert store._dead == len(store._base) + len(store._tail) - lives
    assert np.flatnonzero(store.places >= 0).tolist() == sorted(expected)
    packed = store.arrays()
    assert packed["bytes"].tobytes() == b"".join(expected[slot] for slot in sorted(expected))
    slots = np.array([*expected, *expected], np.int64)
    offsets, data = store.gathered(slots)
    pieces = np.split(data, offsets[1:-1]) if slots.size else []
    assert [piece.tobytes() for piece in pieces] == [expected[slot] for slot in slots.tolist()]


@pytest.mark.parametrize("opened", [False, True])
def test_dead_bytes_go_away(opened: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_store, "_GATHERED", 7)
    store = ByteStore()
    for slot in range(300):
        store.put(slot, bytes([slot % 251]) * 1000)
    if opened:
        store = ByteStore.of(frozen(store.arrays()))
    for slot in range(0, 300, 3):
        store.drop(slot)
    for turn in range(10):
        for slot in range(1, 300, 3):
            store.put(slot, bytes([turn]) * 1000)
        assert store.nbytes < 720_000
        for slot in range(300):
            if slot % 3:
                assert store.get(slot) == bytes([turn if slot % 3 == 1 else slot % 251]) * 1000
        assert store.arrays()["bytes"].nbytes == 200_000


def test_a_first_change_in_the_middle_of_an_opened_store() -> None:
    store = ByteStore()
    for slot in range(100):
        store.put(slot, b"%d" % slot)
    for change in (ByteStore.drop, lambda opened, slot: opened.put(slot, b"new")):
        opened = ByteStore.of(frozen(store.arrays()))
        change(opened, 3)
        assert [opened.get(slot) for slot in (2, 4, 99)] == [b"2", b"4", b"99"]
        assert len(opened.places) == 100
    assert opened.get(3) == b"new"


def test_strings_that_only_seem_to_lie_end_to_end() -> None:
    """One is in the base and the next in the tail, each where it would be if all were in one."""
    store = ByteStore()
    store.put(0, b"ab")
    opened = ByteStore.of(frozen(store.arrays()))
    opened.put(1, b"xy")
    opened.put(1, b"cd")
    assert opened.arrays()["bytes"].tobytes() == b"abcd"
    assert ByteStore.of(opened.arrays()).get(1) == b"cd"


def test_who_looks_at_the_bytes_keeps_them() -> None:
    store = ByteStore()
    store.put(0, b"abc")
    seen = store.arrays()["bytes"]
    store.put(1, b"def")
    assert seen.tobytes() == b"abc"
    assert (store.get(0), store.get(1)) == (b"abc", b"def")
