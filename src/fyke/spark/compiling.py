"""Compiling: a table of subscriptions becomes a version that workers can map.

Rows are dealt out to shards by their id; a task per shard reads its filters, builds a matcher and
saves it. A subscription that cannot be read is reported with the reason, the others compile.
Shards. A worker searches all shards one after the other, so that few are better for matching and
many for building: one up to a million subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from fyke.errors import FykeError, shown
from fyke.filters.dialects import parse
from fyke.matching.matcher import Matcher
from fyke.spark import versions
from fyke.spark.columns import need_columns
from fyke.spark.versions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHARD_MAX: Final = 1_000_000
_REPORT: Final = pa.schema(
    [
        ("shard", pa.string()),
        ("subscriptions", pa.int64()),
        ("id", pa.string()),
        ("filter", pa.string()),
        ("dialect", pa.string()),
        ("reason", pa.string()),
    ]
)
_REPORT_DDL: Final = (
    "shard string, subscriptions long, id string, filter string, dialect string, reason string"
)
_REFUSALS_MAX: Final = 10_000
"""So many refusals are handed on at once."""

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
) -> Version:
    """Compiles a table (id, filter[, dialect]) to a new version in the folder `path`.

    The folder has to be visible under the same path to the driver and to all workers. With a
    `placement` the version is also laid out as `match` wants it for that, on `on`, in `parts`.
    """
    from fyke.spark.placements.keeping import check_placement, laid_out

    check_placement(placement, on, parts)
    table = subscription_rows(subscriptions, dialect)
    if shards is None and placement == "split":
        shards = parts
    if shards is None:
        shards = max(1, -(-table.count() // SHARD_MAX))
    if not isinstance(shards, int) or shards < 1:
        raise FykeError(f"shards={shown(shards)}; expected a whole number from 1 on")
    number, folder = versions.begin(path)
    report = versions.report_folder(folder)
    dealt = table.repartition(shards, "id")
    dealt.mapInArrow(_building(str(folder)), _REPORT_DDL).write.parquet(str(report))
    found = subscriptions.sparkSession.read.parquet(str(report))
    built = found.where("shard is not null").select("shard", "subscriptions").collect()
    made = Version(
        path=str(path),
        number=number,
        shards=tuple(sorted(row["shard"] for row in built)),
        subscriptions=sum(row["subscriptions"] for row in built),
        refused=found.where("reason is not null").count(),
    )
    made = laid_out(made, placement, on, parts, subscriptions.sparkSession)
    versions.publish(made)
    return made


def subscription_rows(subscriptions: DataFrame, dialect: str) -> DataFrame:
    """id, filter and dialect of each subscription, where it names none the given one."""
    from pyspark.sql import functions as f

    need_columns(subscriptions, {"id": "string", "filter": "string"}, "subscriptions")
    columns = [f.col("id"), f.col("filter")]
    if "dialect" in subscriptions.columns:
        need_columns(subscriptions, {"dialect": "string"}, "subscriptions")
        return subscriptions.select(
            *columns, f.coalesce("dialect", f.lit(dialect)).alias("dialect")
        )
    return subscriptions.select(*columns, f.lit(dialect).alias("dialect"))


def _building(folder: str) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def build(batches: Batches) -> Iterator[pa.RecordBatch]:
        yield from build_shard(folder, batches)

    return build


def build_shard(folder: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """In a worker: builds and saves the shard of one task; what was refused, and a last line."""
    from pyspark import TaskContext

    task = TaskContext.get()
    name = f"shard-{task.partitionId() if task else 0:05}"
    matcher = Matcher()
    refused: list[dict[str, Any]] = []
    for batch in batches:
        for row in batch.to_pylist():
            reason = _added(matcher, row)
            if reason is not None:
                refused.append({**row, "reason": reason})
        if len(refused) >= _REFUSALS_MAX:
            yield _reported(refused)
            refused = []
    matcher.save(Path(folder) / name)
    yield _reported([*refused, {"shard": name, "subscriptions": len(matcher)}])


def _added(matcher: Matcher, row: dict[str, Any]) -> str | None:
    """Adds a subscription; why it cannot be added."""
    if row["id"] is None or row["filter"] is None:
        return f"the {'id' if row['id'] is None else 'filter'} is null"
    try:
        matcher.add(row["id"], parse(row["filter"], row["dialect"]))
    except FykeError as refused:
        return str(refused)
    return None


def _reported(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, _REPORT)
