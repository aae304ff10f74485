"""Frames: what a kernel is handed by name is what it reads by that name."""

from __future__ import annotations

from typing import Any

import numpy as np

from fyke.matching.compiled.kernels.frames import Frame, ProgramBases, WorkspaceBases
from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.kernels.lanes import base, frame_at, put, word


@kernel
def copy_word(programs_frame: Any, workspace: Any) -> int:
    """Copy the word that the second array has where the first one says."""
    programs: ProgramBases = frame_at(ProgramBases, programs_frame)
    out: WorkspaceBases = frame_at(WorkspaceBases, workspace)
    put(out.doubts, out.doubt_room - 1, word(programs.at, word(programs.words, 0)))
    return out.visit_room


def test_a_kernel_reads_by_name() -> None:
    words, at = np.array([2], np.int32), np.arange(70, 75, dtype=np.int32)
    doubts = np.zeros(3, np.int32)
    programs = Frame(ProgramBases(at=base(at), words=base(words)))
    nothing = base(np.zeros(1, np.int32))
    group = WorkspaceBases(
        doubt_room=3,
        doubts=base(doubts),
        state=nothing,
        scratch=nothing,
        visits=nothing,
        visit_room=11,
        found=nothing,
        found_room=12,
        stretches=nothing,
        stretch_room=13,
    )
    assert copy_word(programs.handle, Frame(group).handle) == 11
    assert doubts.tolist() == [0, 0, 72]
