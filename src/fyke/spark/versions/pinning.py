"""Pinning: the snapshots of subscriptions as users give them, made where there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fyke.errors import FykeError, shown
from fyke.events.schema import Schema
from fyke.matching.matcher import Matcher
from fyke.spark.columns import need_frame
from fyke.spark.typed_frames import typed_matcher
from fyke.spark.versions import versions
from fyke.spark.versions.compiling import compile
from fyke.spark.versions.snapshots import Pin
from fyke.spark.versions.temporary import temporary_folder
from fyke.spark.versions.versions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Subscriptions: TypeAlias = "DataFrame | Matcher | Mapping[str, object] | Version | str | Path"


def pin_subscriptions(
    subscriptions: Subscriptions,
    schema: Schema | None = None,
    timestamps: Sequence[str] = (),
    folder: str | Path | None = None,
) -> Pin:
    """Pin the snapshots of some subscriptions; make them where there are none."""
    place = None if folder is None else _place(folder)
    if isinstance(subscriptions, Mapping):
        subscriptions = typed_matcher(subscriptions)
    if isinstance(subscriptions, Version | Matcher | str | Path) and (schema or timestamps):
        raise FykeError(
            "schema= and timestamps= belong to a DataFrame of subscriptions; give them to the "
            "Matcher, or to fyke.spark.compile"
        )
    if isinstance(subscriptions, Version):
        return replace(subscriptions.pin(), place=place)
    if isinstance(subscriptions, str | Path):
        return replace(versions.pin(str(subscriptions)), place=place)
    made_in = temporary_folder(place)
    if isinstance(subscriptions, Matcher):
        subscriptions.save(f"{made_in}/matcher")
        return Pin.of([f"{made_in}/matcher"], place)
    need_frame(subscriptions, "subscriptions")
    made = compile(subscriptions, f"{made_in}/compiled", schema=schema, timestamps=timestamps)
    if made.refused:
        first = made.errors(subscriptions.sparkSession).first()
        assert first is not None
        raise FykeError(
            f"{made.refused} of the subscriptions cannot be read, among them {shown(first['id'])}: "
            f"{first['reason']}; fyke.spark.compile puts them aside and goes on with the others"
        )
    return replace(made.pin(), place=place)


def _place(folder: str | Path) -> str:
    path = Path(folder).absolute()
    if "://" in str(folder) or not path.is_dir():
        raise FykeError(
            f"folder={shown(str(folder))}; expected a folder that is there, and that the driver "
            "and all workers see"
        )
    return str(path)
