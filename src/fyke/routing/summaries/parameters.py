"""Parameters: how an overlay of summaries works, all brokers alike.

In a file of an overlay they are the table `[summaries]`; `fyke simulate --summaries` says them one
by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fyke.errors import FykeError, shown
from fyke.section import Section
from fyke.summaries.summary import COARSE, MODES

HIGHEST_DEGREE: Final = "highest_degree"
NEAREST: Final = "nearest"
LEAST_LOADED: Final = "least_loaded"
CHOICES: Final = (HIGHEST_DEGREE, NEAREST, LEAST_LOADED)


@dataclass(frozen=True, slots=True)
class SummaryParameters:
    """The parameters of brokers that send summaries."""

    mode: str | None = None
    """Mode of summaries, coarse or exact; None: exact if there is a budget, or else coarse."""
    budget: int | str | None = None
    """Bytes of all that a broker holds; if even the least does not fit, it is the least."""
    period_s: float = 1.0
    """Time between two phases of propagation; one begins if anything changed."""
    choice: str = HIGHEST_DEGREE
    """The rule by which the next broker to search is chosen (SUM-24)."""
    degree_max: int | None = None
    """Highest degree that a broker shows: virtual degrees (SUM-F1)."""
    neighbours: int = 1
    """Number of greater neighbours that summaries are sent to."""
    subsumes: bool = False
    """True if a broker leaves out those of its subscriptions that others of them cover (SUM-F3)."""

    def __post_init__(self) -> None:
        if not self.period_s > 0:
            raise FykeError(f"period_s is {shown(self.period_s)}; expected more than 0")
        if self.choice not in CHOICES:
            raise FykeError(f"unknown choice {shown(self.choice)}; expected {', '.join(CHOICES)}")
        if self.degree_max is not None and self.degree_max < 1:
            raise FykeError(f"degree_max is {shown(self.degree_max)}; expected 1 or more")
        if self.neighbours < 1:
            raise FykeError(f"neighbours is {shown(self.neighbours)}; expected 1 or more")

    @classmethod
    def read(cls, section: Section) -> SummaryParameters:
        """Return what a table of a file says; FykeError names what is wrong in it."""
        usual = cls()
        found = cls(
            mode=section.choice("mode", MODES, COARSE) if section.offers("mode") else None,
            budget=section.size("budget"),
            period_s=section.seconds("period_s", usual.period_s),
            choice=section.choice("choice", CHOICES, usual.choice),
            degree_max=section.whole("degree_max", 1, 1) if section.offers("degree_max") else None,
            neighbours=section.whole("neighbours", usual.neighbours, 1),
            subsumes=section.flag("subsumes", usual.subsumes),
        )
        section.end()
        return found
