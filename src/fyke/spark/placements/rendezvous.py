"""Rendezvous: subscriptions and events are dealt out by the values of one attribute.

A task has the subscriptions of one bucket and the common part (`buckets`), and gets the events of
that bucket. Pays where there are many types or keys and nearly every subscription names one: a task
works on a small index that stays in the processor's caches.

Events. A plain column is dealt out by Spark alone. Anything else (a list, a decimal, a path into a
struct, a document) is read by Python first. An event with a list goes to every bucket of an
element; only in the first of them it also meets the common part. An event without a value has no
bucket: it meets the common part anywhere.
Source. Rendezvous nodes: those who share a type meet at the broker that the type hashes to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from fyke.errors import EventError
from fyke.spark.columns import map_batches
from fyke.spark.placements.buckets import PLAIN_TYPES, buckets_of, column_bucket
from fyke.spark.placements.placing import (
    Batches,
    by_value,
    columns,
    free_name,
    gathered,
    numbering,
)
from fyke.spark.reading import Reading
from fyke.spark.shipping.shipping import ship
from fyke.spark.task import Task, with_column
from fyke.spark.versions.snapshots import Part, Pin, opened_only

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NOWHERE: Final = ()


@dataclass(frozen=True, slots=True)
class Rendezvous:
    """The attribute, and the parts: a bucket each, and the common part as the last."""

    attribute: str
    parts: Pin

    @property
    def buckets(self) -> int:
        return len(self.parts.parts) - 1

    def matches(self, events: DataFrame, needed: list[str], task: Task) -> DataFrame:
        from pyspark.sql import functions as f

        ship(self.parts, events.sparkSession)
        place = free_name("place", events)
        if is_plain(events, task.reading, self.attribute):
            return self._met(self._dealt_by_column(events, needed, place), place, task)
        number = free_name("number", events)
        numbered = events.select(*columns(needed), f.monotonically_increasing_id().alias(number))
        if not task.output.arrays:
            dealt = self._dealt_by_reading(numbered, needed, place, task.reading)
            return self._met(dealt, place, task)
        dealt = self._dealt_by_reading(numbered, numbered.columns, place, task.reading)
        return gathered(self._met(dealt, place, numbering(task, number)), number)

    def _dealt_by_column(self, events: DataFrame, needed: list[str], place: str) -> DataFrame:
        from pyspark.sql import functions as f

        found = column_bucket(columns([self.attribute])[0], self.buckets)
        anywhere = f.pmod(f.monotonically_increasing_id(), f.lit(self.buckets))
        bucket = f.coalesce(found, anywhere).cast("int").alias(place)
        return events.select(*columns(needed), bucket)

    def _dealt_by_reading(
        self, events: DataFrame, names: list[str], place: str, reading: Reading
    ) -> DataFrame:
        from pyspark.sql.types import IntegerType, StructField, StructType

        attribute, buckets = self.attribute, self.buckets

        def deal(batches: Batches) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield _with_places(batch, place, reading, attribute, buckets)

        fields = [events.schema[name] for name in names]
        schema = StructType([*fields, StructField(place, IntegerType())])
        return map_batches(events, names, deal, schema)

    def _met(self, dealt: DataFrame, place: str, task: Task) -> DataFrame:
        from pyspark.sql import functions as f

        *buckets, common = self.parts.parts
        at = columns([place])[0]
        met = dealt.repartitionById(len(buckets), f.when(at < 0, -1 - at).otherwise(at))

        def meets(bucket: int) -> list[Part]:
            return [buckets[bucket], common] if bucket >= 0 else [buckets[-1 - bucket]]

        def search(batches: Batches) -> Iterator[pa.RecordBatch]:
            return task.search(
                (opened_only(*meets(bucket)), rows)
                for batch in batches
                for bucket, rows in by_value(batch, place)
            )

        return map_batches(met, met.columns, search, task.output.schema(met))


def is_plain(events: DataFrame, reading: Reading, attribute: str) -> bool:
    """Return True if the attribute is the text of one column: Spark deals out events alone."""
    if reading.form != "columns" or attribute not in reading.names or "." in attribute:
        return False
    if attribute in reading.timestamps:
        return False
    return events.schema[attribute].dataType.simpleString() in PLAIN_TYPES


def _with_places(
    batch: pa.RecordBatch, place: str, reading: Reading, attribute: str, buckets: int
) -> pa.RecordBatch:
    """Return rows with buckets: the first of an event as it is, the others as -1 - bucket."""
    event = reading.events_at(batch, attribute)
    rows: list[int] = []
    places: list[int] = []
    for row in range(batch.num_rows):
        try:
            value = event(row).attributes.get(attribute, _NOWHERE)
            first, *others = buckets_of(value, buckets) or [row % buckets]
        except EventError:  # who matches the row will say so
            first, others = row % buckets, []
        rows += [row] * (1 + len(others))
        places += [first, *(-1 - other for other in others)]
    kept = batch.take(pa.array(rows, pa.int64()))
    return with_column(kept, place, pa.array(places, pa.int32()))
