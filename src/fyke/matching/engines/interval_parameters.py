"""Parameters of the interval and tree engines. No choice changes a match.

An engine is named together with its parameters, so they go wherever an engine's name goes, into a
snapshot as well:

    Matcher("interval:bit_list_from=0.25,reorder_every=1000")
    assemble("rendezvous", topology, engine="interval:growth=16,empty_max=32")
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from fyke.errors import FykeError, shown
from fyke.matching.engines.profile import BOXES_MAX, SPANS_MAX


@dataclass(frozen=True, slots=True)
class Parameters:
    """The options of DAS, and three of ours."""

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

    reorder_every: int = 0
    """Events after which, time and again, the interval engine puts those attributes first that
    refused most; 0 for only when it is asked. In the paper, at any time.
    """

    def __post_init__(self) -> None:
        if not 0 <= self.bit_list_from <= 1:
            raise FykeError(f"bit_list_from is {self.bit_list_from}; expected a share from 0 to 1")
        for name in ("growth", "empty_max", "boxes_max", "spans_max"):
            if getattr(self, name) < 1:
                raise FykeError(f"{name} is {getattr(self, name)}; expected at least 1")
        if self.reorder_every < 0:
            raise FykeError(f"reorder_every is {self.reorder_every}; expected 0 or more")

    @classmethod
    def read(cls, text: str) -> Parameters:
        """Read parameters as they stand behind an engine's name: `growth=16,empty_max=32`."""
        kinds: dict[str, Any] = {each.name: type(each.default) for each in fields(cls)}
        chosen: dict[str, Any] = {}
        for part in text.split(","):
            name, _, value = part.partition("=")
            if name not in kinds or name in chosen:
                raise FykeError(f"{shown(part)}; expected each once of {', '.join(kinds)}")
            try:
                chosen[name] = kinds[name](value)
            except ValueError:
                raise FykeError(f"{name} is {shown(value)}; expected a number") from None
        return cls(**chosen)


DEFAULT: Parameters = Parameters()
