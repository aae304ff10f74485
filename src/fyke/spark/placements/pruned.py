"""Pruned: all subscriptions, pruned until a worker can map them, say which parts an event is for.

For subscriptions beyond a worker's memory, where `split` would copy every event to every shard. The
first stage maps all of them, pruned to the memory that there is; whatever a subscription accepts,
its pruned form accepts. An event goes to the parts that hold a subscription which the first stage
found, and meets the originals there. No worker maps the whole set.
Cost. A search of the pruned set for every event; a copy for each part that holds a candidate, where
`split` makes one for each part.
Source. Pruning (PRU) as the first stage of multistage filtering (MSF-12b).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from fyke.errors import FykeError
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher
from fyke.matching.statistics import Statistics
from fyke.pruning import PredicateStatistics
from fyke.pruning import prune as plan_pruning
from fyke.pruning.cutting import Cut
from fyke.sizes import written_size
from fyke.spark.columns import map_batches
from fyke.spark.placements.layout import ById, lay_out, part_of
from fyke.spark.placements.placing import Batches, columns, free_name, gathered, numbering
from fyke.spark.placements.profiles import profile, size_of
from fyke.spark.placements.split import Split
from fyke.spark.pruning import sampled_events
from fyke.spark.statistics.source import Rows, Source
from fyke.spark.task import Task, with_column
from fyke.spark.versions.snapshots import Pin, catalog, opened_only
from fyke.spark.versions.temporary import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SUBSCRIPTIONS_SAMPLED: Final = 2_000
EVENTS_SAMPLED: Final = 2_000
TRIES: Final = 4
"""At most this many first stages are built until one fits."""


@dataclass(frozen=True, slots=True)
class ByCut:
    """All subscriptions in one part, pruned as far as a cut says, under their own ids."""

    cut: Cut

    @property
    def parts(self) -> int:
        return 1

    def place(self, id: str, filter: Filter) -> tuple[int, str, Filter]:
        return 0, id, self.cut.prune(filter)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The pruned set, and the shards that hold the originals."""

    first: Pin
    shards: Pin

    def matches(self, events: DataFrame, needed: list[str], task: Task) -> DataFrame:
        from pyspark.sql import functions as f

        place, number = free_name("place", events), free_name("number", events)
        names = [*needed, number] if task.output.arrays else needed
        numbered = events.select(*columns(needed), f.monotonically_increasing_id().alias(number))
        placed = self._sifted(numbered.select(*columns(names)), names, place, task)
        met = placed.repartitionById(len(self.shards.parts), place)
        split = Split(self.shards, 1)
        if not task.output.arrays:
            return split.searched(met, [*needed, place], place, task)
        return gathered(split.searched(met, met.columns, place, numbering(task, number)), number)

    def _sifted(self, events: DataFrame, names: list[str], place: str, task: Task) -> DataFrame:
        """Return each event once for every part that holds a candidate."""
        from pyspark.sql.types import IntegerType, StructField, StructType

        first, parts, is_whole = self.first, len(self.shards.parts), task.output.arrays

        def sift(batches: Batches) -> Iterator[pa.RecordBatch]:
            matchers = opened_only(*first.parts)
            for batch in batches:
                found = task.found(matchers, batch)
                rows = found.rows.to_numpy(zero_copy_only=False)
                pairs = np.unique(rows * parts + _parts_of(found.ids, parts))
                if is_whole:  # an event that nobody wants has an array as well
                    wanted = set((pairs // parts).tolist()) | found.bad.keys()
                    rest = [row for row in range(batch.num_rows) if row not in wanted]
                    lone = np.array(rest, np.int64) * parts + np.array(rest, np.int64) % parts
                    pairs = np.concatenate([pairs, lone])
                kept = batch.take(pa.array(pairs // parts, pa.int64()))
                yield with_column(kept, place, pa.array((pairs % parts).astype(np.int32)))

        fields = [events.schema[name] for name in names]
        schema = StructType([*fields, StructField(place, IntegerType())])
        return map_batches(events, names, sift, schema)


def _parts_of(ids: pa.Array, parts: int) -> Any:
    """Return the part of each id, as `ById` files it."""
    encoded = ids.dictionary_encode()
    found = [part_of(id, parts) for id in encoded.dictionary.to_pylist()]
    return np.array(found, np.int64)[encoded.indices.to_numpy(zero_copy_only=False)]


_prepared: dict[tuple[Pin, int, int], Pruned] = {}


def prepare_pruned(events: DataFrame, task: Task, memory: int, parts: int) -> Pruned:
    """Prune the subscriptions of a task until they fit in `memory` bytes; shard the originals.

    FykeError where even the smallest set does not fit.
    """
    pin = Pin(task.pin.parts)
    key = pin, memory, parts
    if key not in _prepared:
        session = events.sparkSession
        first = _fitting(events, task, pin, memory)
        shards = lay_out(pin, ById(parts), Path(temporary_folder(pin.place)), session)
        _prepared[key] = Pruned(first, shards)
        while len(_prepared) > 16:
            del _prepared[next(iter(_prepared))]
    return _prepared[key]


def _fitting(events: DataFrame, task: Task, pin: Pin, memory: int) -> Pin:
    """Build first stages, each pruned further than the one before, until one fits."""
    sample = sampled_events(Source(events, Rows(task.reading, skips=True)), EVENTS_SAMPLED)
    rows = [sample.event(row) for row in range(sample.rows)]
    statistics = PredicateStatistics(values=Statistics.of(rows))
    plan = plan_pruning(_some(pin), sample, statistics=statistics)
    sizes = plan.curve.size
    share, size = memory / max(profile(pin).size, 1), 0
    for _ in range(TRIES):
        enough = np.flatnonzero(sizes <= share * sizes[0])
        steps = int(enough[0]) if len(enough) else len(plan)
        filing = ByCut(Cut(plan.cut(steps), statistics))
        made = lay_out(pin, filing, Path(temporary_folder(pin.place)), events.sparkSession)
        size = sum(size_of(part.path) for part in made.parts)
        if size <= memory:
            return made
        if steps == len(plan):
            break
        share *= 0.9 * memory / size
    raise FykeError(
        f"memory={written_size(memory)}: pruned as far as they can be, the subscriptions take "
        f"{written_size(size)}; give that much, or let placement='split' deal them out"
    )


def _some(pin: Pin) -> Matcher:
    """Return a matcher of some subscriptions, from all parts."""
    matcher = Matcher(schema=pin.schema())
    each = max(1, SUBSCRIPTIONS_SAMPLED // max(len(pin.parts), 1))
    for part in pin.parts:
        held = catalog(part)
        step = max(1, len(held) // each)
        slots = held.slots()[::step].tolist()
        matcher.add_many((held.id(slot), held.filter(slot)) for slot in slots)
    return matcher
