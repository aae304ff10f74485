"""Profile sets: the form never changes the members, and the forms meet in every combination."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.errors import FykeError
from fyke.matching.engines.contract import Work
from fyke.matching.engines.dynamic_array import DynamicArray
from fyke.matching.engines.indices import Indices
from fyke.matching.engines.interval_parameters import Parameters
from fyke.matching.engines.profile_set import (
    WORD,
    ProfileSet,
    as_bits,
    count,
    indices,
    intersection,
    union,
)

sets = st.frozensets(st.integers(0, 300), max_size=60)


def profile_set(size: int, total: int, parameters: Parameters | None = None) -> ProfileSet:
    made = ProfileSet(parameters or Parameters())
    for index in range(size):
        made.add(index, total)
    return made


def test_threshold() -> None:
    """DAS-X4."""
    assert not profile_set(312, 10_000).is_bit_list
    assert profile_set(313, 10_000).is_bit_list


def test_threshold_is_configurable() -> None:
    half = Parameters(bit_list_from=0.5)
    assert not profile_set(49, 100, half).is_bit_list
    assert profile_set(50, 100, half).is_bit_list
    with pytest.raises(FykeError, match="bit_list_from"):
        Parameters(bit_list_from=2)
    with pytest.raises(FykeError, match="growth"):
        Parameters(growth=0)


def test_form_follows_the_fill_ratio() -> None:
    made = profile_set(313, 10_000)
    made.remove(5, 10_000)
    forms = [made.is_bit_list]
    made.fit(9_000)
    forms.append(made.is_bit_list)
    assert forms == [False, True]
    assert indices(made.members) == [index for index in range(313) if index != 5]
    for index in indices(made.members):
        made.remove(index, 9_000)
    assert made.size == 0 and not made.members and not made.is_bit_list


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 400))))
def test_changes(changes: list[tuple[int, int]]) -> None:
    made, expected = ProfileSet(Parameters(growth=1, empty_max=1)), set[int]()
    for index, total in changes:
        if index in expected:
            made.remove(index, total)
        else:
            made.add(index, total)
        expected ^= {index}
        twin = made.copy()
        assert list(indices(made.members)) == sorted(expected)
        assert made.is_bit_list == (0 < len(expected) >= total / 32)
        twin.fit(1 if total > 100 else 10_000)
        assert twin.same(made) and made.same(twin)
        twin.add(50, total)
        assert not twin.same(made) and 50 not in indices(made.members)


@given(sets, sets, st.booleans(), st.booleans())
def test_intersection_and_union(
    one: frozenset[int], other: frozenset[int], one_dense: bool, other_dense: bool
) -> None:
    """DAS-12: pointers with pointers, bits with bits, mixed."""
    left = as_bits(sorted(one)) if one_dense else sorted(one)
    right = as_bits(sorted(other)) if other_dense else sorted(other)
    met, joined = intersection(left, right, Work()), union([left, right])
    assert list(indices(met)) == sorted(one & other)
    assert isinstance(met, int) == (one_dense and other_dense)
    assert list(indices(joined)) == sorted(one | other)
    assert isinstance(joined, int) == bool((one_dense and one) or (other_dense and other))
    assert count(met) == len(one & other)
    assert bool(met) == bool(one & other)


def test_dynamic_array() -> None:
    """DAS-13: grows when full, shrinks when more entries are empty than permitted."""
    made = DynamicArray(growth=4, empty_max=5)
    sizes = []
    for number in (7, 3, 9, 1, 5):
        made.add(number)
        sizes.append(made.capacity)
    assert list(made.numbers()) == [1, 3, 5, 7, 9]
    assert sizes == [4, 4, 4, 4, 8]
    for number in (3, 9):
        made.remove(number)
        sizes.append(made.capacity)
    for number in (1, 7, 5):
        made.remove(number)
        assert made.capacity - made.size <= 5
    assert sizes[-2:] == [8, 8]
    assert made.size == 0 and list(made.numbers()) == []


class Read(list[int]):
    """A pointer list that notes how many of its entries are read."""

    entries = 0

    def __iter__(self) -> Iterator[int]:
        for each in super().__iter__():
            self.entries += 1
            yield each


@given(sets, sets)
def test_what_is_counted_is_what_an_intersection_reads(
    one: frozenset[int], other: frozenset[int]
) -> None:
    work = Work()
    first, second = Read(sorted(one)), Read(sorted(other))
    met = intersection(first, second, work)
    assert list(met) == sorted(one & other)
    assert work.touched == first.entries + second.entries

    work, pointers, bits = Work(), Read(sorted(one)), as_bits(sorted(other))
    for sides in ((pointers, bits), (bits, pointers)):
        intersection(*sides, work)
    words = -(-bits.bit_length() // WORD)
    assert work.touched == pointers.entries + 2 * words


def test_two_bit_lists_share_the_words_of_the_shorter_one() -> None:
    work = Work()
    few, many = as_bits([0, 40, 99]), as_bits(range(0, 1_000, 2))
    intersection(few, many, work)
    assert work.touched == 4
    intersection(many, few, work)
    assert work.touched == 8
    intersection(0, many, work)
    assert work.touched == 8


def test_indices_are_reused() -> None:
    made = Indices()
    assert [made.take() for _ in range(3)] == [0, 1, 2]
    made.release(1)
    made.release(0)
    assert (made.take(), made.take(), made.take()) == (0, 1, 3)
    for index in range(4):
        made.release(index)
    assert len(made) == 0 and made.take() == 0
