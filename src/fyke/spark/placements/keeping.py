"""Keeping: the layout of a placement as a part of a version, made before it is published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fyke.errors import FykeError, shown
from fyke.spark.placements.choice import PLACEMENTS, check_choice, plan_as_asked
from fyke.spark.placements.layout import filing_for, lay_out
from fyke.spark.sessions.sizes import tasks
from fyke.spark.versions.versions import LAYOUT, Version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_placement(placement: object, on: object, parts: object) -> None:
    """Raise FykeError unless a version can be compiled for the placement."""
    if placement not in PLACEMENTS:
        known = ", ".join(PLACEMENTS)
        raise FykeError(f"placement={shown(placement)}; expected one of {known}")
    check_choice(placement, on, parts)


def add_layout(
    made: Version, placement: str, on: str | None, parts: int | None, session: SparkSession
) -> Version:
    """Return the version with a layout; replicating and splitting need none but the shards."""
    if placement == "replicate":
        return made
    if placement == "split":
        return replace(made, placement=placement)
    pin = made.pin()
    chosen = plan_as_asked(pin, placement, on, parts, tasks(session))
    wanted = filing_for(placement, chosen.on, chosen.parts)
    lay_out(pin, wanted, made.folder / LAYOUT, session)
    return replace(made, placement=placement, on=chosen.on, parts=wanted.parts)
