"""SlotTable: growth by a few cells a change, with every slot found throughout."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fyke.matching import slot_table
from fyke.matching.id_table import IdTable
from fyke.matching.slot_table import EMPTY, MOVED_AT_ONCE, SlotTable


class Moves:
    """Counts the slots that are put into cells."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._put = slot_table._put
        self.count = 0
        monkeypatch.setattr(slot_table, "_put", self)

    def __call__(self, cells: memoryview, hash: int, slot: int) -> None:
        self.count += 1
        self._put(cells, hash, slot)


def test_no_change_moves_more_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = Moves(monkeypatch)
    table = IdTable()
    most = 0
    for number in range(50_000):
        before = moves.count
        table.add(f"s{number}")
        if number % 3 == 0:
            table.remove(f"s{number // 2}")
            table.add(f"s{number // 2}")
        most = max(most, moves.count - before)
    assert most <= 3 * MOVED_AT_ONCE + 2
    assert moves.count < 4 * 50_000  # a slot moves once or twice, whatever the size
    assert all(table.slot(f"s{number}") is not None for number in range(50_000))


@pytest.mark.parametrize("at_once", [1, MOVED_AT_ONCE])
@pytest.mark.parametrize("bits", [0, 3, 32])
def test_every_slot_is_found_while_the_table_grows(
    monkeypatch: pytest.MonkeyPatch, at_once: int, bits: int
) -> None:
    """Moving one cell at a time makes growth last; few bits make long runs of cells."""
    monkeypatch.setattr(slot_table, "MOVED_AT_ONCE", at_once)
    draw = random.Random(bits)
    hashes = np.array([draw.getrandbits(32) >> (32 - bits) for _ in range(500)], np.uint32)
    at, table, held, growing = hashes.data, SlotTable(), set(), 0

    def data_at(slot: int) -> bytes:
        assert slot in held, "it is not in the table"
        return b"%d" % slot

    def found(slot: int) -> int:
        return table.find(at[slot], b"%d" % slot, at, data_at)

    for step in range(1_500):
        slot = draw.randrange(500 if step > 300 else 5 + step)
        if slot in held:
            assert found(slot) == slot
            table.remove(slot, at)
            held.discard(slot)
        else:
            assert found(slot) == EMPTY
            table.add(slot, at)
            held.add(slot)
        growing += table._old is not None
        assert table.count == len(held)
        if step % 50 == 0:
            assert all(found(slot) == (slot if slot in held else EMPTY) for slot in range(500))
            check_whole(table, hashes, held)
    assert growing > (5 if at_once > 1 else 100)


def check_whole(table: SlotTable, hashes: np.ndarray, held: set[int]) -> None:
    """One table, in which a fresh one finds what is held."""
    cells = table.whole(hashes)
    assert sorted(cells[cells != 0].tolist()) == sorted(slot + 1 for slot in held)
    opened = SlotTable(cells, len(held))
    for slot in held:
        data = b"%d" % slot
        found = opened.find(int(hashes[slot]), data, hashes.data, lambda other: b"%d" % other)
        assert found == slot


def test_a_snapshot_in_the_middle_of_growth() -> None:
    table = IdTable()
    number = 0
    while table._table._old is None or number < 2_000:
        table.add(f"s{number}")
        number += 1
    assert table._table._old is not None
    opened = IdTable.of(table.arrays())
    assert [opened.slot(f"s{each}") for each in range(number)] == list(range(number))
    opened.remove("s0")
    assert opened.slot("s0") is None
    assert opened.add("s0") == 0
    assert table.slot("s0") == 0
