"""Association: counts of distinct predicates, exact under updates."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fyke.matching.engines.association import Association

needs = st.lists(st.sets(st.integers(0, 8), min_size=1), max_size=80)


@given(needs, st.sets(st.integers(0, 79)), st.sets(st.integers(0, 9)), st.integers(1, 3))
def test_agrees_with_counting_each(
    needs: list[set[int]], removed: set[int], satisfied: set[int], needed: int
) -> None:
    table: Association[int] = Association()
    places = {owner: table.add(owner, numbers, needed) for owner, numbers in enumerate(needs)}
    for owner in removed & places.keys():
        table.remove(places.pop(owner), needs[owner])
    enough = [owner for owner in places if len(needs[owner] & satisfied) >= needed]
    assert sorted(table.reached(satisfied)) == enough
    assert Counter(table.reached(satisfied)) == Counter(enough)
    for owner, place in places.items():
        table.remove(place, needs[owner])
    assert len(table) == 0 == len(table._users) == len(table._free) == table._needed.size


def test_places_are_given_out_again() -> None:
    table: Association[str] = Association()
    first = table.add("first", [1, 2], 2)
    table.add("second", [1], 1)
    table.remove(first, [1, 2])
    assert table.reached([1, 2]) == ["second"]
    assert table.add("third", [2], 1) == first
    assert sorted(table.reached([1, 2])) == ["second", "third"]


def test_few_among_many() -> None:
    """Where little is met, counters are visited one by one."""
    table: Association[int] = Association()
    for owner in range(1000):
        table.add(owner, [owner, 5000], 2)
    table.add(1000, [7], 1)
    assert sorted(table.reached([7, 9])) == [1000]
    assert sorted(table.reached([7, 9, 5000])) == [7, 9, 1000]
    assert table.reached([]) == []
    assert table.reached([12345]) == []
