"""Preparing: a placement over the subscriptions of a pin, laid out once and remembered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from fyke.spark.placements.layout import (
    ByFirstStage,
    Filing,
    FirstStage,
    filing_for,
    filing_of,
    lay_out,
)
from fyke.spark.placements.multistage import Multistage, Staged
from fyke.spark.placements.placing import Placement
from fyke.spark.placements.rendezvous import Rendezvous
from fyke.spark.placements.replicate import Replicate
from fyke.spark.placements.split import Split
from fyke.spark.sessions.sizes import tasks
from fyke.spark.versions.snapshots import Pin
from fyke.spark.versions.temporary import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMEMBERED_MAX: Final = 64
_laid_out: dict[tuple[Pin, Filing], Pin] = {}


def prepare(
    name: str,
    on: str | None,
    parts: int,
    pin: Pin,
    session: SparkSession,
    first: FirstStage | None = None,
) -> Placement:
    """Prepare a placement by its name; multistage may have a first stage of some attributes."""
    if first is not None:
        sifting = _parts(pin, first, session)
        return Staged(sifting, _parts(pin, ByFirstStage(first, parts), session))
    if name == "replicate":
        return Replicate()
    if name == "split" and len(pin.parts) >= parts:
        shards = pin
    else:
        shards = _parts(pin, filing_for(name, on, parts), session)
    match name:
        case "split":
            return Split(shards, -(-tasks(session) // len(shards.parts)))
        case "rendezvous":
            return Rendezvous(on or "", shards)
        case _:
            return Multistage(shards, tasks(session))


def _parts(pin: Pin, wanted: Filing, session: SparkSession) -> Pin:
    kept = pin.layout
    if kept is not None and filing_of(kept) == wanted:
        return Pin(kept.parts, place=pin.place)
    key = Pin(pin.parts), wanted
    found = _laid_out.get(key)
    if found is None:
        found = lay_out(pin, wanted, Path(temporary_folder(pin.place)), session)
        while len(_laid_out) >= REMEMBERED_MAX:
            del _laid_out[next(iter(_laid_out))]
        _laid_out[key] = found
    return found
