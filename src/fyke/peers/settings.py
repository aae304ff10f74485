"""Settings: the numbers that the paper leaves open, with the choices of this implementation.

View sizes and shuffle lengths are those that Cyclon and Vicinity are usually run with (S2S-Q6);
`fyke reproduce sub2sub` shows their influence.
"""

from __future__ import annotations

from dataclasses import dataclass

from fyke.errors import FykeError, shown


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of peers, the same in all of an overlay."""

    random_view: int = 20
    shuffle: int = 8
    """Profiles in an exchange of layer 1, one's own among them."""
    near_view: int = 20
    near_exchange: int = 10
    shortcuts: int = 1
    """Random peers that want an event, to which it goes as well: r (S2S-15)."""
    age_max: int = 20
    """Cycles after which a peer that has not been heard of is forgotten.

    Ring links to live peers are up to 11 cycles old (600 peers, measured).
    """
    contacts_max: int = 20_000
    """Others that a peer knows at a time; more newcomers are turned away."""
    introduction_cycles: int = 50
    """Cycles after which a member goes back to its introducer, on average."""
    history: int = 1_000
    """Events that a member remembers."""
    rounds_max: int = 15
    """Rounds after which a publisher that has found nobody gives up."""
    answers_from_rings: bool = True
    """A peer that a publisher asks looks at all its views, not at those of layers 1 and 2 only."""
    repairs: bool = True
    """Ring neighbours tell each other of recent events; what failed to be sent is sent again."""
    asks_at_once: bool = True
    """A peer that lost a ring neighbour asks another one, and does not wait for the next cycle."""
    period_s: float | None = None
    """Seconds between two cycles; None if the caller starts them."""

    def __post_init__(self) -> None:
        for name in ("random_view", "shuffle", "near_view", "near_exchange", "age_max", "history",
                     "introduction_cycles", "contacts_max"):  # fmt: skip
            if getattr(self, name) < 1:
                raise FykeError(f"{name} is {shown(getattr(self, name))}; expected 1 or more")
        if self.shortcuts < 0:
            raise FykeError(f"shortcuts is {shown(self.shortcuts)}; expected 0 or more")
        if self.period_s is not None and not self.period_s > 0:
            raise FykeError(f"period_s is {shown(self.period_s)}; expected more than 0")


PAPER = Settings(repairs=False, asks_at_once=False, answers_from_rings=False)
"""The paper's protocol, without what this implementation adds."""
