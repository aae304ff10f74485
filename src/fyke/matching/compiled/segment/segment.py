"""Segment: an immutable index over some subscriptions.

Inside a segment a subscription has a number of its own, its *owner* number. `slots` translates it
to the matcher's slot; a subscription that was removed has GONE there, which is the only thing about
a segment that ever changes.
Programs of all subscriptions that have one follow each other in `programs`.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from fyke.matching.compiled.boxes.access import AxisFacts, file_boxes
from fyke.matching.compiled.boxes.box_table import BoxTable, Words
from fyke.matching.compiled.coding.axes import AxisKind
from fyke.matching.compiled.coding.frequencies import Shares
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.kernels.frames import Frame, IndexBases, ProgramBases
from fyke.matching.compiled.kernels.lanes import base
from fyke.matching.compiled.segment.layout import TREE_FROM, Layout, layout

GONE: Final = -1
NO_PROGRAM: Final = -1
_ARRAYS: Final = ("slots", "programs", "program_at", "keyed", "pairs", "texts", "roots")


@dataclass(slots=True, eq=False)
class Segment:
    layout: Layout
    slots: Words
    programs: Words
    program_at: Words
    keyed: Words
    """The axes under whose symbols subscriptions are filed."""
    pairs: Words
    """Pairs of axes, one after the other, under whose pairs of symbols some are filed."""
    texts: Words
    """The TEXT axes under whose patterns some are filed."""
    roots: Words
    """The owners that have a box without a symbol."""
    has_several: bool
    """True if an owner has several boxes."""
    tombstones: int = 0
    is_dense: bool = field(init=False)
    """True if owners and slots were the same numbers in the beginning."""
    index_frame: Frame = field(init=False)
    program_frame: Frame = field(init=False)

    def __post_init__(self) -> None:
        self.is_dense = bool(np.array_equal(self.slots, np.arange(len(self.slots))))
        index = self.layout
        self.program_frame = Frame(
            ProgramBases(words=base(self.programs), at=base(self.program_at))
        )
        group = IndexBases(
            table=base(index.table),
            size=len(index.table),
            clusters=base(index.clusters),
            root=index.root,
            keyed=base(self.keyed),
            keyed_count=len(self.keyed),
            pairs=base(self.pairs),
            pair_count=len(self.pairs) // 2,
            texts=base(self.texts),
            text_count=len(self.texts),
            groups=base(index.groups),
            nodes=base(index.nodes),
            owners=base(index.owners),
        )
        self.index_frame = Frame(group)

    @property
    def live(self) -> int:
        return len(self.slots) - self.tombstones

    @property
    def unguarded(self) -> int:
        """The number of subscriptions that are looked at for every event."""
        return int((self.slots[self.roots] != GONE).sum())

    def remove(self, owner: int) -> None:
        """Put a tombstone in the place of an owner; it is counted first, for searches meanwhile."""
        self.tombstones += 1
        if not self.slots.flags.writeable:
            self.slots = self.slots.copy()
        self.slots[owner] = GONE

    # --- snapshots

    def arrays(self) -> dict[str, Words]:
        return self.layout.arrays() | {name: getattr(self, name) for name in _ARRAYS}

    def details(self) -> dict[str, int]:
        return {
            "root": self.layout.root,
            "has_several": int(self.has_several),
            "removed": self.tombstones,
        }

    @classmethod
    def of(cls, arrays: Mapping[str, Words], details: Mapping[str, int]) -> Segment:
        return cls(
            layout=Layout.of(arrays, int(details["root"])),
            **{name: arrays[name] for name in _ARRAYS},
            has_several=bool(details["has_several"]),
            tombstones=int(details["removed"]),
        )


def build(
    boxes: BoxTable,
    programs: Programs,
    slots: Words,
    vocabulary: Vocabulary,
    shares: Shares,
    *,
    tree_from: int = TREE_FROM,
) -> Segment:
    """Return the segment of some boxes, whose owners are the places in `slots`."""
    chosen = file_boxes(boxes, AxisFacts.of(vocabulary), shares)
    is_paired = chosen.second_axis >= 0
    axes = np.unique(chosen.axis[(chosen.axis >= 0) & ~is_paired])
    is_text = np.array([vocabulary.axes[axis][0] is AxisKind.TEXT for axis in axes], np.bool_)
    pairs = chosen.axis[is_paired].astype(np.int64) << 32 | chosen.second_axis[is_paired]
    pairs = np.unique(pairs)
    without = chosen.residues.owner[chosen.axis < 0]
    return Segment(
        layout=layout(chosen, tree_from=tree_from),
        slots=slots,
        programs=programs.words,
        program_at=programs.at,
        keyed=axes[~is_text].astype(np.int32),
        pairs=np.stack([pairs >> 32, pairs & 0xFFFFFFFF], axis=1).astype(np.int32).ravel(),
        texts=axes[is_text].astype(np.int32),
        roots=np.unique(without),
        has_several=bool((np.bincount(boxes.owner, minlength=1) > 1).any()),
    )


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs one after the other, and where each owner's starts."""

    words: Words
    at: Words


class ProgramWriter:
    """Collects the programs of one subscription after the other."""

    def __init__(self) -> None:
        self._words = array("i")
        self._at = array("i")

    def add(self, program: list[int] | None) -> None:
        """Add the program of a subscription; None if it needs no program."""
        self._at.append(NO_PROGRAM if program is None else len(self._words))
        self._words.extend(program or ())

    def programs(self) -> Programs:
        words = np.append(np.array(self._words, np.int32), np.int32(0))
        return Programs(words, np.array(self._at, np.int32))
