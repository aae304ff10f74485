"""Matching: a row per event and subscription that accepts it.

match(events, subscriptions)                       the event's columns and `subscription`
match(events, subscriptions, key="id")             only the key and `subscription`
match(events, subscriptions, arrays=True)          a row per event, `subscriptions` an array
match(events, subscriptions, errors=True)          (matches, rows that cannot be read)
match(events, subscriptions, placement="split")    the same rows in another way; `planning` chooses
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from fyke.events.schema import Schema
from fyke.spark.columns import map_batches, need_frame
from fyke.spark.placements.planning import prepare_placement
from fyke.spark.reading import Reading
from fyke.spark.sessions.workers import check_workers
from fyke.spark.task import REASON, Output, Task
from fyke.spark.versions.pinning import Subscriptions, pin_subscriptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.spark.placements.choice import Plan


@overload
def match(
    events: DataFrame,
    subscriptions: Subscriptions,
    *,
    key: str | Sequence[str] | None = ...,
    arrays: bool = ...,
    attributes: Sequence[str] | None = ...,
    json: str | None = ...,
    cloudevents: str | None = ...,
    errors: Literal[False] = ...,
    placement: str | Plan = ...,
    on: str | None = ...,
    parts: int | None = ...,
    folder: str | Path | None = ...,
    memory: int | str | None = ...,
    schema: Schema | None = ...,
    timestamps: Sequence[str] = ...,
) -> DataFrame: ...


@overload
def match(
    events: DataFrame,
    subscriptions: Subscriptions,
    *,
    key: str | Sequence[str] | None = ...,
    arrays: bool = ...,
    attributes: Sequence[str] | None = ...,
    json: str | None = ...,
    cloudevents: str | None = ...,
    errors: Literal[True],
    placement: str | Plan = ...,
    on: str | None = ...,
    parts: int | None = ...,
    folder: str | Path | None = ...,
    memory: int | str | None = ...,
    schema: Schema | None = ...,
    timestamps: Sequence[str] = ...,
) -> tuple[DataFrame, DataFrame]: ...


def match(
    events: DataFrame,
    subscriptions: Subscriptions,
    *,
    key: str | Sequence[str] | None = None,
    arrays: bool = False,
    attributes: Sequence[str] | None = None,
    json: str | None = None,
    cloudevents: str | None = None,
    errors: bool = False,
    placement: str | Plan = "auto",
    on: str | None = None,
    parts: int | None = None,
    folder: str | Path | None = None,
    memory: int | str | None = None,
    schema: Schema | None = None,
    timestamps: Sequence[str] = (),
) -> DataFrame | tuple[DataFrame, DataFrame]:
    """Return the matches of a DataFrame of events; its rows are made when they are asked for.

    `subscriptions` is a DataFrame (id, filter[, dialect]), a Matcher, a mapping from ids to
    filters, event classes and conditions on their fields, what `compile` gave, or the path of a
    snapshot; its state is that of the moment of this call. A row that cannot be read as
    an event stops the job, unless `errors` asks for a second DataFrame with these rows and the
    reason. Of JSON only what subscriptions read is read, as by `Matcher.match_json`; with `errors`
    the whole is, and strictly, so that the rows put aside do not depend on the placement.

    `placement` says how events and subscriptions come together: replicate, split, rendezvous (on
    the values of the attribute `on`), multistage, what `plan` gave, or auto, which asks `plan`. The
    rows are the same. `parts` is the number of shards or buckets. With `memory`, as in "64 MB", the
    first stage of multistage is the subscriptions pruned until they fit, and no worker maps all of
    the originals.

    On a cluster, subscriptions are sent to the workers; `folder` names a place that the driver and
    all workers see, where they are put instead.

    `schema` and `timestamps` are those of `compile`, for a DataFrame of subscriptions; a Matcher
    and what was compiled have their own.
    """
    need_frame(events, "events")
    reading = Reading.of(events, attributes, json, cloudevents)
    output = Output.of(events, key, arrays)
    check_workers(events.sparkSession)
    pin = pin_subscriptions(subscriptions, schema, timestamps, folder)
    reading = reading.under(pin.schema())
    needed = [name for name in events.columns if name in {*reading.names, *output.columns}]
    task = Task(pin, reading, output, errors, is_strict=errors)
    chosen = prepare_placement(events, task, placement, on, parts, memory)
    matches = chosen.matches(events, needed, task)
    if not errors:
        return matches
    refused = map_batches(events, needed, task.refusals, output.schema(events, REASON))
    return matches, refused
