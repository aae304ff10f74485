"""Pruning on Spark: smaller subscriptions that cover the given ones, for millions.

prune(subscriptions, events, budget="bend")     a row per subscription:
    id, filter                                  the pruned filter, in the native language
    dropped                                     how many of its predicates are gone

Predicates are counted over all events, as a job (`statistics.selectivities`). A plan of a sample of
the subscriptions says how dear a step may be for the budget to be met; workers then prune each
subscription alone (`fyke.pruning.cutting`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Unpack

import pyarrow as pa

from fyke.errors import FykeError
from fyke.events.columns import Columns
from fyke.events.documents import in_columns
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher
from fyke.pruning import BudgetWarning, PredicateStatistics
from fyke.pruning import prune as plan_pruning
from fyke.pruning.cutting import Cut
from fyke.pruning.shape import read
from fyke.spark.statistics.filters import read_filters
from fyke.spark.statistics.selecting import selectivities
from fyke.spark.statistics.source import Options, Rows, Source
from fyke.spark.versions.compiling import subscription_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.spark.columns import Batches

SUBSCRIPTIONS_SAMPLED: Final = 10_000
EVENTS_SAMPLED: Final = 10_000
_PRUNED: Final = pa.schema([("id", pa.string()), ("filter", pa.string()), ("dropped", pa.int64())])
_PRUNED_DDL: Final = "id string, filter string, dropped long"


def prune(
    subscriptions: DataFrame,
    events: DataFrame,
    *,
    budget: str | float = "bend",
    dialect: str = "fyke",
    allow_all: bool = False,
    **options: Unpack[Options],
) -> DataFrame:
    """Return pruned subscriptions, a table (id, filter, dropped); each covers its original.

    `subscriptions` is a table (id, filter[, dialect]); `options` say how events are read. Budgets
    are those of `fyke prune`: bend, 40%, +10%, or a number of bytes such as 64MB. Events are
    counted at once, subscriptions are pruned when the table is asked for.
    """
    from fyke.pruning.steps import Rules

    source = Source.of(events, options)
    table = subscription_rows(subscriptions, dialect)
    statistics = counted(events, subscriptions, dialect, options)
    matcher = Matcher()
    some = table.limit(SUBSCRIPTIONS_SAMPLED).toArrow()
    matcher.add_many(read_filters(some.to_batches()))
    if not len(matcher):
        raise FykeError("there are no subscriptions to prune")
    plan = plan_pruning(
        *(matcher, sampled_events(source)), statistics=statistics, allow_all=allow_all
    )
    with warnings.catch_warnings():
        warnings.simplefilter("always", BudgetWarning)
        steps = plan.steps_for(_scaled(budget, len(matcher), table))
    cut = Cut(plan.cut(steps), statistics, Rules(allow_all=allow_all))
    return table.mapInArrow(_Pruning(cut).pruned, _PRUNED_DDL)


def _scaled(budget: str | float, sampled: int, table: DataFrame) -> str | float:
    """Return the budget of the sample: bytes are dealt out, shares stay what they are."""
    from fyke.sizes import read_size

    if not isinstance(budget, str) or budget == "bend" or budget.endswith("%"):
        return budget
    whole = sampled if sampled < SUBSCRIPTIONS_SAMPLED else table.count()
    return f"{read_size(budget, needs_unit=True) * sampled // max(whole, 1)}B"


def counted(
    events: DataFrame, subscriptions: DataFrame, dialect: str, options: Options
) -> PredicateStatistics:
    """Return how often each predicate of the subscriptions holds, over all events."""
    found = selectivities(events, subscriptions, dialect=dialect, **options)
    rows = found.select("predicate", "satisfied", "events").toArrow().to_pylist()
    pairs = [[row["predicate"], row["satisfied"]] for row in rows]
    total = max((row["events"] for row in rows), default=0)
    return PredicateStatistics.read({"events": total, "predicates": pairs})


def sampled_events(source: Source, most: int = EVENTS_SAMPLED) -> Columns:
    """Return some events, read as the job reads them."""
    rows = Rows(source.rows.reading, skips=True)
    names = list(rows.reading.names)
    batches = source.frame.select(*names).limit(most).toArrow().combine_chunks().to_batches()
    found = []
    for batch in batches:
        columns = rows.columns(batch)
        if isinstance(columns, Columns):
            found += [columns.event(row) for row in range(columns.rows)]
        else:
            found += columns
    return in_columns(found)


@dataclass(frozen=True)
class _Pruning:
    """In a worker: subscriptions, each pruned alone."""

    cut: Cut

    def pruned(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [self._row(id, filter) for id, filter in read_filters([batch])]
            yield pa.RecordBatch.from_pylist(rows, _PRUNED)

    def _row(self, id: str, filter: Filter) -> dict[str, object]:
        left = self.cut.prune(filter)
        dropped = len(read(filter)[1]) - len(read(left)[1])
        return {"id": id, "filter": str(left), "dropped": dropped}
