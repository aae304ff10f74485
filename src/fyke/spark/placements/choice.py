"""Choice: the names of placements, what a user may ask for, and the plan that follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fyke.errors import FykeError, shown
from fyke.spark.placements.layout import ByType, FirstStage
from fyke.spark.placements.profiles import Meeting, profile
from fyke.spark.versions.snapshots import Pin

PLACEMENTS: Final = ("replicate", "split", "rendezvous", "multistage")
PARTS_MAX: Final = 10_000
BUCKETS_PER_TASK: Final = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """A placement and why it was chosen."""

    placement: str
    why: str
    on: str | None = None
    parts: int = 1
    kept: tuple[str, ...] = ()
    """The attributes of the first stage of multistage; none where it keeps all that is cheap."""
    by_type: ByType = ()
    """The same, of types of events that have attributes of their own."""
    is_carried: bool = False
    """The shards of a split come as rows, beside the events."""

    @property
    def first_stage(self) -> FirstStage | None:
        """The first stage of multistage, where it has one of its own."""
        return FirstStage(self.kept, self.by_type) if self.kept or self.by_type else None

    def __str__(self) -> str:
        kept = [", ".join(self.kept)] if self.kept else []
        kept += [f"{', '.join(names) or 'nothing'} of {name}" for name, names in self.by_type]
        on = self.on if self.on is not None else "; ".join(kept)
        where = f" on {on}" if on else ""
        parts = f" in {self.parts} parts" if self.parts > 1 else ""
        return f"{self.placement}{where}{parts}: {self.why}"


def check_choice(placement: object, on: object, parts: object) -> None:
    """Raise FykeError where users ask for a placement that cannot be; nothing has run yet."""
    if placement not in ("auto", *PLACEMENTS):
        known = ", ".join(("auto", *PLACEMENTS))
        raise FykeError(f"placement={shown(placement)}; expected one of {known}, or a plan")
    if on is not None and (not isinstance(on, str) or placement not in ("auto", "rendezvous")):
        raise FykeError(f"on={shown(on)}; expected the attribute of a rendezvous")
    if parts is not None and (type(parts) is not int or not 1 <= parts <= PARTS_MAX):
        raise FykeError(f"parts={shown(parts)}; expected a whole number from 1 to {PARTS_MAX:,}")


def plan_as_asked(pin: Pin, placement: str, on: str | None, parts: int | None, tasks: int) -> Plan:
    """Return the placement that the user names, with what was left open."""
    why = "as was asked for"
    if placement == "split":
        return Plan(placement, why, parts=parts or max(len(pin.parts), tasks))
    if placement != "rendezvous":
        return Plan(placement, why)
    layout = pin.layout
    if layout is not None and layout.placement == placement and on in (None, layout.on):
        return Plan(placement, why, layout.on, parts or len(layout.parts) - 1)
    if on is None:
        meetings = profile(pin).meetings
        if not meetings:
            raise FykeError(
                "no subscription needs one value of an attribute; name the attribute with on="
            )
        on = max(meetings, key=usefulness).on
    return Plan(placement, why, on, parts or buckets(tasks))


def usefulness(meeting: Meeting) -> tuple[float, int]:
    """Return what says which of two attributes is better to meet on."""
    return round(meeting.share, 2), meeting.values


def buckets(tasks: int) -> int:
    """Return several buckets for each task at a time, so that uneven ones even out."""
    return BUCKETS_PER_TASK * tasks
