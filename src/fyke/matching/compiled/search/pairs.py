"""Pairs: what the stages of the traversal hand on to each other, and the streams they end in.

A stage reads a list of pairs (event, node or lane) and writes another. The event's word says, in
its lowest bit, whether the event is *plain* for the unit at hand: it has no list on the unit's axes
and no code in doubt, so that what holds it is sure.
"""

from __future__ import annotations

from typing import Final

from fyke.matching.compiled.kernels.frames import WorkspaceBases
from fyke.matching.compiled.kernels.kernel import inlined
from fyke.matching.compiled.kernels.lanes import LANES, put

BLOCK: Final = 32
"""Events that are held against a part at once."""
PAIRS: Final = BLOCK * LANES**2 + LANES
"""Workspace for the pairs of a block: a part has at most LANES**2 leaves, or boxes of a run."""
HERE: Final = 0
THERE: Final = 2 * PAIRS
SCRATCH: Final = 4 * PAIRS
"""Words of scratch: two lists of pairs, the events of each before the others."""

STRETCH: Final = 2
DOUBT: Final = 2


@inlined
def has_room(out: WorkspaceBases, ends: tuple[int, int, int], more: int) -> bool:
    """Return True if `more` can be found or be in doubt."""
    return (
        ends[0] + more + LANES <= out.found_room
        and ends[1] + more + 1 <= out.stretch_room
        and ends[2] + more <= out.doubt_room
    )


@inlined
def open_stretch(
    out: WorkspaceBases, stretch: int, since: int, end: int, last: int, event: int
) -> tuple[int, int]:
    """Return the stretch for what is found next, and where it starts.

    A stretch to which nothing was added is taken over by the next event.
    """
    is_new = event != last
    stretch += int(is_new and end > since)
    since = end if is_new else since
    put(out.stretches, stretch * STRETCH, event)
    put(out.stretches, stretch * STRETCH + 1, since)
    return stretch, since


@inlined
def doubt_owner(out: WorkspaceBases, doubt: int, event: int, owner: int) -> int:
    put(out.doubts, doubt * DOUBT, event)
    put(out.doubts, doubt * DOUBT + 1, owner)
    return doubt + 1
