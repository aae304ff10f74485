"""Multistage: weakened subscriptions sift the events, what is left is matched exactly elsewhere.

Where the last word is costly (a dialect's own interpreter, thousands of times an index's price) and
the events that need it come in lumps, a few tasks would work long after the others are done. Here
the first stage only looks up: subscriptions without their costly leaves, which cover what they
were. The events that are left are spread evenly over all tasks, which match them exactly.
Cost. One shuffle of the events that are left; an index is searched twice. Where an array per event
is wanted, nothing may be left out, and all events are spread.

With stages (G), for subscriptions beyond a worker's memory: the first stage keeps what filters say
of some attributes, equal ones once, so that it is small enough for every worker. All subscriptions
of one weakened filter lie in one part, by its hash; an event goes to the parts that the weakened
filters name which accept it, and is matched exactly there. No worker maps the whole set.

    kept: symbol, sector            symbol = 'DEF' and price < 10  }
    first stage: symbol = 'DEF'     symbol = 'DEF' and volume > 5  }  part crc32(hash) % parts

Invariant. A weakened filter covers the filter, so an event reaches the part of every subscription
that accepts it; a subscription lies in one part, so no match is found twice.
Cost. A search of the small set for every event, a copy for each part that it names.
Source. Multistage filtering (MSF-12b, MSF-17, MSF-20), with two stages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from fyke.spark.columns import map_batches
from fyke.spark.placements.placing import Batches, columns
from fyke.spark.placements.pruned import Pruned
from fyke.spark.shipping.shipping import ship
from fyke.spark.task import Task
from fyke.spark.versions.snapshots import Pin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.spark.columns import Work


@dataclass(frozen=True, slots=True)
class Staged:
    """The weakened filters, and the parts that they name."""

    first: Pin
    shards: Pin

    def matches(self, events: DataFrame, needed: list[str], task: Task) -> DataFrame:
        ship(self.first, events.sparkSession)
        ship(self.shards, events.sparkSession)
        return Pruned(self.first, self.shards).matches(events, needed, task)


@dataclass(frozen=True, slots=True)
class Multistage:
    """The weakened subscriptions, and how many tasks match what they let through."""

    weakened: Pin
    tasks: int

    def matches(self, events: DataFrame, needed: list[str], task: Task) -> DataFrame:
        ship(self.weakened, events.sparkSession)
        ship(task.pin, events.sparkSession)
        left = events.select(*columns(needed))
        if not task.output.arrays:
            left = map_batches(left, needed, self._sifting(task), left.schema)
        spread = left.repartition(self.tasks)
        return map_batches(spread, needed, task.matches, task.output.schema(events))

    def _sifting(self, task: Task) -> Work:
        weakened = self.weakened

        def sift(batches: Batches) -> Iterator[pa.RecordBatch]:
            matchers = weakened.matchers()
            for batch in batches:
                found = task.found(matchers, batch)
                yield batch.take(pc.unique(found.rows))

        return sift
