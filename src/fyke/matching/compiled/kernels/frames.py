"""Frames: the arrays and numbers that kernels are handed, in groups, by name.

Idea. The search needs some thirty arrays and numbers. They belong together in a few groups, each a
named tuple that is filled by name, so that no two of them can change places unseen. In `fast` mode
the addresses and numbers of a group stand in an array of their own, and a kernel is handed the
address of that array: one argument is quicker than ten (0.2 against 0.5 microseconds for thirty).
In the other modes a kernel is handed the named tuple itself.

    frame = Frame(ProgramBases(words=base(words), at=base(at)))      once
    decide(frame.handle, ...)                                    each call
    programs = frame_at(ProgramBases, handle)                        in the kernel

Invariant. A frame is as old as the arrays that it names: code that replaces an array makes a new
frame. The caller keeps the frame and the arrays alive during the call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fyke.matching.compiled.kernels.kernel import MODE
from fyke.matching.compiled.kernels.lanes import base


class Frame:
    """A group of arrays and numbers, as kernels are handed it (`handle`)."""

    __slots__ = ("_words", "group", "handle")

    def __init__(self, group: Any) -> None:
        self.group = group
        self.handle = group
        if MODE == "fast":
            self._words = np.array(group, np.int64)
            self.handle = base(self._words)


class IndexBases(NamedTuple):
    """The index of a segment (`segment.layout`), from symbols to owners."""

    table: Any
    size: int
    """Places of the hash table."""
    clusters: Any
    root: int
    keyed: Any
    keyed_count: int
    pairs: Any
    pair_count: int
    texts: Any
    text_count: int
    groups: Any
    nodes: Any
    owners: Any


class BoxBases(NamedTuple):
    """The boxes of a memtable, one after the other (`segment.memtable`)."""

    starts: Any
    constraints: Any
    owners: Any
    exact: Any
    boxes: int


class ProgramBases(NamedTuple):
    """The programs of subscriptions (`boxes.program`), and where each owner's starts."""

    words: Any
    at: Any


class EventBases(NamedTuple):
    """Coded events (`coding.event_coding.Codes`)."""

    lows: Any
    highs: Any
    axes: int
    wide: Any
    lists: Any
    accepted_at: Any
    accepted: Any
    is_wide: int
    """1 if some event holds a list."""


class WorkspaceBases(NamedTuple):
    """The arrays that a search writes to (`search.workspace`), and how much each has room for."""

    state: Any
    scratch: Any
    visits: Any
    visit_room: int
    found: Any
    found_room: int
    stretches: Any
    stretch_room: int
    doubts: Any
    doubt_room: int


class PairBases(NamedTuple):
    """Events and owners that a program decides about: from which step on, and the verdict."""

    events: Any
    owners: Any
    steps: Any
    verdicts: Any
