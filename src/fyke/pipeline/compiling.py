"""The subscriptions of a pipeline, compiled: those that can be used, and why others cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fyke import spark
from fyke.errors import FykeError
from fyke.pipeline.configuration import Pipeline
from fyke.pipeline.results.refusals import commonest, listed
from fyke.pipeline.sources import sources
from fyke.spark.versions.versions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TAKEN: Final = "the id is taken by another subscription"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A version, its subscriptions as a table (id, filter, dialect, subscriber), and refusals."""

    version: Version
    standing: DataFrame
    refused: int


def compile_subscriptions(
    session: SparkSession, pipeline: Pipeline, table: str, versions: str, refusals: str
) -> Compiled:
    """Compile the subscriptions: all of them to `table`, a version to `versions`.

    Those that cannot be used go to `refusals`, a folder that is made only if there are any.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    rows = sources.subscriptions(session, pipeline.subscriptions, pipeline.dialect)
    same_id = Window.partitionBy("id").orderBy("filter", "dialect", "subscriber")
    broken = f.when(f.col("broken").isNotNull(), "the row cannot be read")
    again = f.when(f.col("id").isNotNull() & (f.row_number().over(same_id) > 1), _TAKEN)
    rows.withColumn("reason", f.coalesce(broken, again)).write.parquet(table)
    rows = session.read.parquet(table)
    good = rows.where("reason is null").drop("reason", "broken")
    version = spark.compile(good, versions, shards=pipeline.shards, schema=pipeline.schema)
    bad = rows.where("reason is not null").drop("class")
    refused = version.refused + bad.count()
    if refused:
        errors = version.errors(session)
        bad = bad.unionByName(errors, allowMissingColumns=True)
        if not version.subscriptions:
            why = listed(commonest(bad))
            raise FykeError(
                f"{pipeline.subscriptions}: no subscription that can be used; most often:{why}"
            )
        bad.write.json(refusals, ignoreNullFields=True)
        good = good.join(errors.select("id"), "id", "left_anti")
    if not version.subscriptions:
        raise FykeError(f"{pipeline.subscriptions}: no subscription is there")
    return Compiled(version, good, refused)
