"""Probe: from the codes of events to the clusters where their subscriptions are filed.

For every event, each symbol on a keyed axis, and each pair on two axes that make pairs, is looked
up in the segment's hash table, the patterns that accept its strings likewise; the cluster without a
symbol is always due. A list is looked up element by element, which may find a cluster twice. The
result is a list of *visits*, each an event's number and a cluster's place: sorted by place, visits
of one cluster stand together, so that a batch brings a cluster into the cache once.
"""

from __future__ import annotations

from typing import Any, Final

from fyke.matching.compiled.coding.codes import OTHER
from fyke.matching.compiled.kernels.frames import EventBases, IndexBases, WorkspaceBases
from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.kernels.lanes import frame_at, put, word
from fyke.matching.compiled.segment.layout import place_of

VISIT: Final = 2
"""Words of a visit: the event, then the cluster."""


@inlined
def cluster_of(index: IndexBases, symbol: int, second: int) -> int:
    """Return the place of the cluster of a symbol or a pair, or 0."""
    clusters = index.clusters
    at = place_of(symbol, second, index.size)
    while True:
        cluster = word(index.table, at)
        if cluster == 0 or (
            word(clusters, cluster) == symbol and word(clusters, cluster + 1) == second
        ):
            return cluster
        at = (at + 1) & (index.size - 1)


@inlined
def visit(out: WorkspaceBases, count: int, event: int, cluster: int) -> int:
    """Add a visit; without room for it, it is only counted. Return the new count."""
    if count < out.visit_room:
        put(out.visits, count * VISIT, event)
        put(out.visits, count * VISIT + 1, cluster)
    return count + 1


@inlined
def look_up(
    index: IndexBases, symbol: int, second: int, event: int, out: WorkspaceBases, count: int
) -> int:
    cluster = cluster_of(index, symbol, second)
    return visit(out, count, event, cluster) if cluster != 0 else count


@inlined
def look_up_accepted(
    index: IndexBases, events: EventBases, row: int, event: int, out: WorkspaceBases, count: int
) -> int:
    """Look up the patterns that accept one string."""
    for at in range(word(events.accepted_at, row), word(events.accepted_at, row + 1)):
        count = look_up(index, word(events.accepted, at), 0, event, out, count)
    return count


@kernel
def look_up_axis(
    index_frame: Any,
    events_frame: Any,
    workspace: Any,
    axis: int,
    is_text: bool,
    event: int,
    count: int,
) -> int:
    """Look up the elements of an event's list on one axis."""
    index: IndexBases = frame_at(IndexBases, index_frame)
    events: EventBases = frame_at(EventBases, events_frame)
    out: WorkspaceBases = frame_at(WorkspaceBases, workspace)
    lists = events.lists
    place = word(events.wide, event)
    while word(lists, place) >= 0:
        elements = word(lists, place + 1)
        if word(lists, place) == axis:
            for element in range(place + 2, place + 2 + elements):
                code = word(lists, element)
                if is_text:
                    count = look_up_accepted(index, events, code, event, out, count)
                elif code > OTHER:
                    count = look_up(index, code, 0, event, out, count)
        place += 2 + elements
    return count


@inlined
def list_of(lists: Any, place: int, axis: int) -> int:
    """Return where the run of an axis stands among an event's lists, or -1."""
    if place >= 0:
        while word(lists, place) >= 0:
            if word(lists, place) == axis:
                return place
            place += 2 + word(lists, place + 1)
    return -1


@kernel
def look_up_pairs(
    index_frame: Any,
    events_frame: Any,
    workspace: Any,
    one: int,
    other: int,
    event: int,
    count: int,
) -> int:
    """Look up all pairs of elements on two axes, of an event with lists."""
    index: IndexBases = frame_at(IndexBases, index_frame)
    events: EventBases = frame_at(EventBases, events_frame)
    out: WorkspaceBases = frame_at(WorkspaceBases, workspace)
    lists, codes, at = events.lists, events.lows, event * events.axes
    place = word(events.wide, event)
    ones, others = list_of(lists, place, one), list_of(lists, place, other)
    one_count = word(lists, ones + 1) if ones >= 0 else 1
    other_count = word(lists, others + 1) if others >= 0 else 1
    for i in range(one_count):
        symbol = word(lists, ones + 2 + i) if ones >= 0 else word(codes, at + one)
        for j in range(other_count):
            second = word(lists, others + 2 + j) if others >= 0 else word(codes, at + other)
            if symbol > OTHER and second > OTHER:
                count = look_up(index, symbol, second, event, out, count)
    return count


@kernel
def probe(
    index_frame: Any, events_frame: Any, workspace: Any, start: int, end: int
) -> tuple[int, int]:
    """Return the visits of events from `start` on, and the event before which the room ended."""
    index: IndexBases = frame_at(IndexBases, index_frame)
    events: EventBases = frame_at(EventBases, events_frame)
    out: WorkspaceBases = frame_at(WorkspaceBases, workspace)
    codes = events.lows
    count = 0
    for event in range(start, end):
        before = count
        at = event * events.axes
        has_list = word(events.wide, event) >= 0
        for number in range(index.keyed_count):
            axis = word(index.keyed, number)
            symbol = word(codes, at + axis)
            if symbol > OTHER:
                count = look_up(index, symbol, 0, event, out, count)
            if has_list:
                count = look_up_axis(
                    index_frame, events_frame, workspace, axis, False, event, count
                )
        for number in range(index.pair_count):
            one, other = word(index.pairs, 2 * number), word(index.pairs, 2 * number + 1)
            if has_list:
                count = look_up_pairs(
                    index_frame, events_frame, workspace, one, other, event, count
                )
                continue
            symbol, second = word(codes, at + one), word(codes, at + other)
            if symbol > OTHER and second > OTHER:
                count = look_up(index, symbol, second, event, out, count)
        for number in range(index.text_count):
            axis = word(index.texts, number)
            row = word(codes, at + axis)
            if row >= 0:
                count = look_up_accepted(index, events, row, event, out, count)
            if has_list:
                count = look_up_axis(index_frame, events_frame, workspace, axis, True, event, count)
        if index.root != 0:
            count = visit(out, count, event, index.root)
        if count > out.visit_room:
            return before, event
    return count, end


@kernel
def sort_visits(visits: Any, aside: Any, count: int, half: int, places: Any) -> None:
    """Sort by cluster what is in the order of events, and leave it in that order otherwise.

    In two passes, by the lower and the upper `half` bits of a cluster's place: the first writes to
    `aside`, the second back. `places` has a word for each value of `half` bits, and one more.
    """
    distribute(visits, aside, count, 0, half, places)
    distribute(aside, visits, count, half, half, places)


@inlined
def distribute(visits: Any, out: Any, count: int, shift: int, bits: int, places: Any) -> None:
    """Put visits where the bits of their cluster from `shift` on say, in the order they had."""
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
