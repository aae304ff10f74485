"""Split: a task has one shard of the subscriptions, every event visits all shards.

For subscriptions beyond a worker's memory: it keeps one shard open at a time. Events are copied
once per shard and shuffled to its tasks; where there are fewer shards than tasks at a time, a shard
has several tasks, each for a share of the events.
Source. Event forwarding: subscriptions stay where they are, events go everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from fyke.spark.columns import map_batches
from fyke.spark.placements.placing import (
    Batches,
    by_value,
    columns,
    free_name,
    gathered,
    numbering,
)
from fyke.spark.shipping.shipping import ship
from fyke.spark.task import Task
from fyke.spark.versions.snapshots import Pin, opened_only

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class Split:
    """Shards, and how many tasks each of them has."""

    shards: Pin
    slices: int

    def matches(self, events: DataFrame, needed: list[str], task: Task) -> DataFrame:
        from pyspark.sql import functions as f

        ship(self.shards, events.sparkSession)
        copied, place, number = self.copied(events, needed)
        at = self.task(f.col(place), f.col(number))
        placed = copied.repartitionById(len(self.shards.parts) * self.slices, at)
        if not task.output.arrays:
            return self.searched(placed, [*needed, place], place, task)
        apart = self.searched(placed, placed.columns, place, numbering(task, number))
        return gathered(apart, number)

    def copied(self, events: DataFrame, needed: list[str]) -> tuple[DataFrame, str, str]:
        """Copy each event once per shard; also the names of the columns of shard and number."""
        from pyspark.sql import functions as f

        place, number = free_name("place", events), free_name("number", events)
        numbered = events.select(*columns(needed), f.monotonically_increasing_id().alias(number))
        every = f.explode(f.sequence(f.lit(0), f.lit(len(self.shards.parts) - 1)))
        return numbered.select(*columns([*needed, number]), every.alias(place)), place, number

    def task(self, shard: Column, number: Column) -> Column:
        """Return the task that an event visits in a shard."""
        from pyspark.sql import functions as f

        return shard * self.slices + f.pmod(number, f.lit(self.slices)).cast("int")

    def searched(self, placed: DataFrame, names: list[str], place: str, task: Task) -> DataFrame:
        """Match the rows of a table in the shard that each names."""
        shards = self.shards.parts

        def search(batches: Batches) -> Iterator[pa.RecordBatch]:
            return task.search(
                (opened_only(shards[shard]), rows)
                for batch in batches
                for shard, rows in by_value(batch, place)
            )

        return map_batches(placed, names, search, task.output.schema(placed))
