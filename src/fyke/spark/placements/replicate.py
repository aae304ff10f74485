"""Replicate: every task has all subscriptions, events stay where they are.

Nothing is shuffled. Workers of a host map the same files, so that one copy serves all of them.
Source. Subscription forwarding: each broker knows what all subscribers want.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fyke.spark.columns import map_batches
from fyke.spark.shipping.shipping import ship
from fyke.spark.task import Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Replicate:
    """All to all."""

    def matches(self, events: DataFrame, needed: list[str], task: Task) -> DataFrame:
        ship(task.pin, events.sparkSession)
        return map_batches(events, needed, task.matches, task.output.schema(events))
