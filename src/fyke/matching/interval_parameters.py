"""What can be configured in the interval and tree engines. No choice changes a match."""

from __future__ import annotations

from dataclasses import dataclass

from fyke.errors import FykeError
from fyke.matching.profile import BOXES_MAX, SPANS_MAX


@dataclass(frozen=True, slots=True)
class Parameters:
    """The options of DAS, and two of ours."""

    bit_list_from: float = 1 / 32
    """The fill ratio from which an edge holds a bit list. The paper's default is 3.125 %."""
    growth: int = 4
    """Entries by which a pointer list grows and shrinks. An option in the paper, without value."""
    empty_max: int = 8
    """Empty entries that a pointer list may keep. An option in the paper, without value."""
    boxes_max: int = BOXES_MAX
    """Profiles that one filter may become. The paper's filters are one profile each."""
    spans_max: int = SPANS_MAX
    """Spans on one attribute of a profile; of more, the hull is indexed and the filter checked."""

    def __post_init__(self) -> None:
        if not 0 <= self.bit_list_from <= 1:
            raise FykeError(f"bit_list_from is {self.bit_list_from}; expected a share from 0 to 1")
        for name in ("growth", "empty_max", "boxes_max", "spans_max"):
            if getattr(self, name) < 1:
                raise FykeError(f"{name} is {getattr(self, name)}; expected at least 1")


DEFAULT: Parameters = Parameters()
