"""Probe: from the codes of events to the clusters where their subscriptions are filed.

For every event, each symbol on a keyed axis, and each pair on two axes that make pairs, is looked
up in the segment's hash table, the patterns that accept its strings likewise; the cluster without a
symbol is always due. A list is looked up element by element, which may find a cluster twice. The
result is a list of *visits*, each an event's number and a cluster's place: sorted by place, visits
of one cluster stand together, so that a batch brings a cluster into the cache once.
"""

from __future__ import annotations

from typing import Any, Final

from fyke.matching.compiled.codes import OTHER
from fyke.matching.compiled.kernel import inlined, kernel
from fyke.matching.compiled.lanes import put, word
from fyke.matching.compiled.layout import place_of

VISIT: Final = 2
"""Words of a visit: the event, then the cluster."""


@inlined
def cluster_of(table: Any, size: int, clusters: Any, symbol: int, second: int) -> int:
    """The place of the cluster of a symbol or a pair, or 0."""
    at = place_of(symbol, second, size)
    while True:
        cluster = word(table, at)
        if cluster == 0 or (
            word(clusters, cluster) == symbol and word(clusters, cluster + 1) == second
        ):
            return cluster
        at = (at + 1) & (size - 1)


@inlined
def visit(visits: Any, capacity: int, count: int, event: int, cluster: int) -> int:
    """One visit more; without room for it, it is only counted."""
    if count < capacity:
        put(visits, count * VISIT, event)
        put(visits, count * VISIT + 1, cluster)
    return count + 1


@inlined
def look_up(
    table: Any,
    size: int,
    clusters: Any,
    symbol: int,
    second: int,
    event: int,
    visits: Any,
    room: int,
    count: int,
) -> int:
    cluster = cluster_of(table, size, clusters, symbol, second)
    return visit(visits, room, count, event, cluster) if cluster != 0 else count


@kernel
def look_up_axis(
    table: Any,
    size: int,
    clusters: Any,
    lists: Any,
    axis: int,
    place: int,
    accepted_at: Any,
    accepted: Any,
    is_text: bool,
    event: int,
    visits: Any,
    room: int,
    count: int,
) -> int:
    """Looks up the elements of a list on one axis; `place` is where the event's lists start."""
    while word(lists, place) >= 0:
        elements = word(lists, place + 1)
        if word(lists, place) == axis:
            for element in range(place + 2, place + 2 + elements):
                code = word(lists, element)
                if is_text:
                    for at in range(word(accepted_at, code), word(accepted_at, code + 1)):
                        symbol = word(accepted, at)
                        count = look_up(
                            table, size, clusters, symbol, 0, event, visits, room, count
                        )
                elif code > OTHER:
                    count = look_up(table, size, clusters, code, 0, event, visits, room, count)
        place += 2 + elements
    return count


@inlined
def list_of(lists: Any, place: int, axis: int) -> int:
    """Where the run of an axis stands among an event's lists, or -1."""
    if place >= 0:
        while word(lists, place) >= 0:
            if word(lists, place) == axis:
                return place
            place += 2 + word(lists, place + 1)
    return -1


@kernel
def look_up_pairs(
    table: Any,
    size: int,
    clusters: Any,
    codes: Any,
    at: int,
    lists: Any,
    place: int,
    one: int,
    other: int,
    event: int,
    visits: Any,
    room: int,
    count: int,
) -> int:
    """Looks up all pairs of elements on two axes, of an event with lists."""
    ones, others = list_of(lists, place, one), list_of(lists, place, other)
    one_count = word(lists, ones + 1) if ones >= 0 else 1
    other_count = word(lists, others + 1) if others >= 0 else 1
    for i in range(one_count):
        symbol = word(lists, ones + 2 + i) if ones >= 0 else word(codes, at + one)
        for j in range(other_count):
            second = word(lists, others + 2 + j) if others >= 0 else word(codes, at + other)
            if symbol > OTHER and second > OTHER:
                count = look_up(table, size, clusters, symbol, second, event, visits, room, count)
    return count


@kernel
def probe(
    table: Any,
    size: int,
    clusters: Any,
    root: int,
    keyed: Any,
    keyed_count: int,
    pairs: Any,
    pair_count: int,
    texts: Any,
    text_count: int,
    codes: Any,
    axes: int,
    wide: Any,
    lists: Any,
    accepted_at: Any,
    accepted: Any,
    start: int,
    end: int,
    visits: Any,
    room: int,
) -> tuple[int, int]:
    """The visits of events from `start` on, and the event before which the room ended."""
    count = 0
    for event in range(start, end):
        before = count
        at = event * axes
        place = word(wide, event)
        for number in range(keyed_count):
            axis = word(keyed, number)
            symbol = word(codes, at + axis)
            if symbol > OTHER:
                count = look_up(table, size, clusters, symbol, 0, event, visits, room, count)
            if place >= 0:
                count = look_up_axis(
                    table, size, clusters, lists, axis, place, accepted_at, accepted, False,
                    event, visits, room, count,
                )  # fmt: skip
        for number in range(pair_count):
            one, other = word(pairs, 2 * number), word(pairs, 2 * number + 1)
            if place >= 0:
                count = look_up_pairs(
                    table, size, clusters, codes, at, lists, place, one, other, event, visits,
                    room, count,
                )  # fmt: skip
                continue
            symbol, second = word(codes, at + one), word(codes, at + other)
            if symbol > OTHER and second > OTHER:
                count = look_up(table, size, clusters, symbol, second, event, visits, room, count)
        for number in range(text_count):
            axis = word(texts, number)
            row = word(codes, at + axis)
            if row >= 0:
                for place_in_row in range(word(accepted_at, row), word(accepted_at, row + 1)):
                    symbol = word(accepted, place_in_row)
                    count = look_up(table, size, clusters, symbol, 0, event, visits, room, count)
            if place >= 0:
                count = look_up_axis(
                    table, size, clusters, lists, axis, place, accepted_at, accepted, True,
                    event, visits, room, count,
                )  # fmt: skip
        if root != 0:
            count = visit(visits, room, count, event, root)
        if count > room:
            return before, event
    return count, end


@kernel
def sort_visits(visits: Any, aside: Any, count: int, half: int, places: Any) -> None:
    """Sorts by cluster what is in the order of events, and leaves it in that order otherwise.

    In two passes, by the lower and the upper `half` bits of a cluster's place: the first writes to
    `aside`, the second back. `places` has a word for each value of so many bits, and one more.
    """
    distribute(visits, aside, count, 0, half, places)
    distribute(aside, visits, count, half, half, places)


@inlined
def distribute(visits: Any, out: Any, count: int, shift: int, bits: int, places: Any) -> None:
    """Puts visits where the bits of their cluster from `shift` on say, in the order they had."""
    size = 1 << bits
    for value in range(size + 1):
        put(places, value, 0)
    for number in range(count):
        value = (word(visits, number * VISIT + 1) >> shift) & (size - 1)
        put(places, value + 1, word(places, value + 1) + 1)
    for value in range(size):
        put(places, value + 1, word(places, value + 1) + word(places, value))
    for number in range(count):
        cluster = word(visits, number * VISIT + 1)
        value = (cluster >> shift) & (size - 1)
        place = word(places, value)
        put(places, value, place + 1)
        put(out, place * VISIT, word(visits, number * VISIT))
        put(out, place * VISIT + 1, cluster)
