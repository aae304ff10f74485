"""Compiling: a table of subscriptions becomes a version that workers can map.

Rows are dealt out to shards by their id; a task per shard reads its filters, builds a matcher and
saves it. A subscription that cannot be read is reported with the reason, the others compile.
Shards. A worker searches all shards one after the other, so that few are better for matching and
many for building: one up to a million subscriptions. A cluster builds a shard on each core, from
SHARD_MIN subscriptions a shard on: two shards are built in half the time, and searched in some 6 %
more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from fyke.errors import FykeError, shown
from fyke.events.schema import Schema
from fyke.matching.matcher import Matcher
from fyke.spark.columns import need_columns
from fyke.spark.placements.keeping import add_layout, check_placement
from fyke.spark.placements.memory import enough_memory
from fyke.spark.sessions.connect import shares_disk
from fyke.spark.sessions.sizes import tasks
from fyke.spark.sessions.workers import check_workers
from fyke.spark.shipping.delivering import DDL, FIELDS, SnapshotDelivery
from fyke.spark.shipping.kernels import take_kernels
from fyke.spark.shipping.refusals import REFUSAL, Report
from fyke.spark.versions import versions
from fyke.spark.versions.places import absolute, is_address
from fyke.spark.versions.temporary import temporary_folder
from fyke.spark.versions.versions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHARD_MAX: Final = 1_000_000
SHARD_MIN: Final = 50_000
SHARDS_MAX: Final = 8
"""More are not made only to build faster."""
_BUILT: Final = pa.schema([*REFUSAL, *FIELDS])
_BUILT_DDL: Final = f"id string, filter string, dialect string, reason string, {DDL}"
_REFUSALS_MAX: Final = 10_000
"""Refusals are handed on together as soon as there are this many."""

Batches = Iterable[pa.RecordBatch]


def compile(
    subscriptions: DataFrame,
    path: str | Path,
    *,
    shards: int | None = None,
    dialect: str = "fyke",
    placement: str = "replicate",
    on: str | None = None,
    parts: int | None = None,
    schema: Schema | None = None,
    timestamps: Iterable[str] = (),
) -> Version:
    """Compile a table (id, filter[, dialect]) to a new version in the folder or URI `path`.

    A folder is one of the driver's; workers that do not see it send what they make. With a
    `placement` the version is also laid out as `match` wants it for that, on `on`, in `parts`.
    A `schema` gives enumerations their order; its timestamps, and those named in `timestamps`, may
    be text in the events. Both stay with the version.
    """
    check_placement(placement, on, parts)
    if shards is not None and (not isinstance(shards, int) or shards < 1):
        raise FykeError(f"shards={shown(shards)}; expected a whole number from 1 on")
    path = absolute(path)
    make = partial(Matcher, schema=Matcher(schema=schema, timestamps=timestamps).schema)
    table = subscription_rows(subscriptions, dialect)
    check_workers(subscriptions.sparkSession)
    if shards is None and placement == "split":
        shards = parts

    def make_version(here: Path) -> Version:
        count = shards or _shards(table.count(), subscriptions.sparkSession)
        made = _compile(table, here, count, make)
        made = add_layout(made, placement, on, parts, subscriptions.sparkSession)
        versions.publish(made)
        return made

    if not is_address(path):
        return make_version(Path(path))
    with versions.claimed(path) as claim:
        made = make_version(Path(temporary_folder()) / "versions")
        return versions.send(made, path, claim)


def _compile(table: DataFrame, path: Path, shards: int, make: Callable[[], Matcher]) -> Version:
    """Return a version in a folder of the driver's, which is not published yet."""
    number, folder = versions.begin(path)
    delivery = SnapshotDelivery.begin(folder)
    built = table.repartition(shards, "id").mapInArrow(_building(delivery, make), _BUILT_DDL)
    counts: dict[str, int] = {}
    with Report(versions.report_folder(folder)) as report:
        for row in delivery.receive(built):
            if row["name"] is None:
                report.add(row)
            else:
                counts[row["name"]] = row["count"]
    return Version(
        path=str(path),
        number=number,
        shards=tuple(sorted(counts)),
        subscriptions=sum(counts.values()),
        refused=report.rows,
    )


def _shards(count: int, session: SparkSession) -> int:
    """Return the number of shards for a number of subscriptions."""
    few = max(1, -(-count // SHARD_MAX))
    if shares_disk(session):
        return few
    return max(few, min(tasks(session), count // SHARD_MIN, SHARDS_MAX))


def subscription_rows(subscriptions: DataFrame, dialect: str) -> DataFrame:
    """Return id, filter and dialect of each subscription; `dialect` where it names none."""
    from pyspark.sql import functions as f

    need_columns(subscriptions, {"id": "string", "filter": "string"}, "subscriptions")
    columns = [f.col("id"), f.col("filter")]
    if "dialect" in subscriptions.columns:
        need_columns(subscriptions, {"dialect": "string"}, "subscriptions")
        return subscriptions.select(
            *columns, f.coalesce("dialect", f.lit(dialect)).alias("dialect")
        )
    return subscriptions.select(*columns, f.lit(dialect).alias("dialect"))


def _building(
    delivery: SnapshotDelivery, make: Callable[[], Matcher]
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def build(batches: Batches) -> Iterator[pa.RecordBatch]:
        with enough_memory("to build a shard"):
            yield from build_shard(delivery, batches, make)

    return build


def build_shard(
    delivery: SnapshotDelivery, batches: Batches, make: Callable[[], Matcher] = Matcher
) -> Iterator[pa.RecordBatch]:
    """In a worker: build and deliver the shard of one task, after what was refused."""
    from pyspark import TaskContext

    task = TaskContext.get()
    name = f"shard-{task.partitionId() if task else 0:05}"
    take_kernels()
    matcher = make()
    refused: list[dict[str, Any]] = []
    for batch in batches:
        for row in batch.to_pylist():
            reason = _add(matcher, row)
            if reason is not None:
                refused.append({**row, "reason": reason})
        if len(refused) >= _REFUSALS_MAX:
            yield _report(refused)
            refused = []
    yield _report(refused)
    for row in delivery.deliver(name, matcher):
        yield _report([row])


def _add(matcher: Matcher, row: dict[str, Any]) -> str | None:
    """Add a subscription; return why it cannot be added."""
    if row["id"] is None or row["filter"] is None:
        return f"the {'id' if row['id'] is None else 'filter'} is null"
    try:
        matcher.add(row["id"], row["filter"], dialect=row["dialect"])
    except FykeError as refused:
        return str(refused)
    return None


def _report(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, _BUILT)
