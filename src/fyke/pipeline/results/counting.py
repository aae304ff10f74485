"""Statistics of a run, from its journal; Spark does the counting, a few rows come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError
from fyke.events.columns import read
from fyke.events.event import Event
from fyke.events.json import decode_event
from fyke.filters.dialects import parse
from fyke.filters.filter import Filter
from fyke.filters.predicate import Predicate
from fyke.pipeline.results.outcome import Busy, Class, RunStatistics
from fyke.pipeline.sources.sources import Events

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STEP_S: Final = 0.5
SAMPLE_EVENTS: Final = 500
SAMPLE_FILTERS: Final = 500
SAMPLE_PREDICATES: Final = 100
"""Of each attribute."""


def matches_by_subscription(journal: DataFrame, subscriptions: DataFrame, events: int) -> DataFrame:
    """Return every subscription with its matches and their share of the events."""
    from pyspark.sql import functions as f

    digests = journal.where("subscription is not null")
    found = digests.groupBy("subscription").agg(f.sum("rows").alias("matches"))
    kept = [name for name in ("subscriber", "class", "filter") if name in subscriptions.columns]
    known = subscriptions.select(f.col("id").alias("subscription"), *kept)
    matches = f.coalesce("matches", f.lit(0))
    return known.join(found, "subscription", "left").select(
        "subscription", *kept, matches.alias("matches"), (matches / f.lit(events)).alias("share")
    )


def statistics(
    journal: DataFrame,
    counts: DataFrame,
    events: Events | None,
    subscriptions: DataFrame,
    busiest: int,
) -> RunStatistics:
    """Return all statistics but those in time; `counts` is what `matches_by_subscription` gave."""
    sample = [] if events is None else _sample(events)
    return RunStatistics(
        events_by_size=events_by_size(journal),
        subscriptions_by_matches=_by_matches(counts),
        busiest=_busiest(counts, busiest),
        busiest_subscribers=_busiest_subscribers(counts, busiest),
        classes=_classes(counts),
        selectivities=_selectivities(sample, _filters(subscriptions)),
    )


def events_by_size(journal: DataFrame) -> tuple[tuple[int, int], ...]:
    """Count the events by number of matches."""
    sizes = journal.where("size is not null").groupBy("size").sum("rows")
    return tuple(sorted((row[0], row[1]) for row in sizes.collect()))


def _by_matches(counts: DataFrame) -> tuple[tuple[int, int], ...]:
    scale = "case when matches = 0 then -1 else cast(floor(log2(matches)) as int) end as scale"
    found = counts.selectExpr(scale).groupBy("scale").count()
    return tuple(sorted((row[0], row[1]) for row in found.collect()))


def by_step(journal: DataFrame) -> tuple[tuple[float, int], ...]:
    """Count the events that were done in each step of time."""
    done = journal.where("at is not null").selectExpr(f"floor(at / {STEP_S}) as step", "rows")
    by_step = {row[0]: row[1] for row in done.groupBy("step").sum("rows").collect()}
    if not by_step:
        return ()
    first, last = min(by_step), max(by_step)
    return tuple(((at - first) * STEP_S, by_step.get(at, 0)) for at in range(first, last + 1))


def _busiest(counts: DataFrame, many: int) -> tuple[Busy, ...]:
    from pyspark.sql import functions as f

    rows = counts.where("matches > 0").orderBy(f.desc("matches"), "subscription").limit(many)
    return tuple(
        Busy(row["subscription"], row["matches"], row["filter"], row["subscriber"])
        for row in rows.collect()
    )


def _busiest_subscribers(counts: DataFrame, many: int) -> tuple[Busy, ...]:
    from pyspark.sql import functions as f

    found = counts.where("matches > 0").groupBy("subscriber").agg(f.sum("matches").alias("all"))
    rows = found.orderBy(f.desc("all"), "subscriber").limit(many)
    return tuple(Busy(row["subscriber"], row["all"]) for row in rows.collect())


def _classes(counts: DataFrame) -> tuple[Class, ...]:
    if "class" not in counts.columns:
        return ()
    rows = counts.groupBy("class").agg({"*": "count", "matches": "sum"}).collect()
    return tuple(sorted((Class(str(row[0]), row[1], row[2]) for row in rows), key=lambda c: c.name))


# --- selectivities, from a sample ----------------------------------------------------------------


def _sample(events: Events) -> list[Event]:
    """Return a few events that can be read."""
    frame, shape = events.frame, events.shape
    if shape.json is not None:
        rows = frame.select(shape.json).limit(SAMPLE_EVENTS).collect()
        return list(_decoded(row[0] for row in rows))
    assert shape.attributes is not None
    whole = frame if shape.broken is None else frame.where(f"{shape.broken} is null")
    table = whole.limit(SAMPLE_EVENTS).toArrow().select(list(shape.attributes))
    columns = read(table.combine_chunks(), errors="collect")
    return [columns.event(row) for row in range(table.num_rows) if row not in columns.bad]


def _decoded(texts: Iterable[bytes | None]) -> Iterator[Event]:
    for text in texts:
        try:
            yield decode_event(bytes(text or b""))
        except FykeError:
            continue


def _filters(subscriptions: DataFrame) -> list[Filter]:
    rows = subscriptions.select("filter", "dialect").limit(SAMPLE_FILTERS).collect()
    return [parse(row["filter"], row["dialect"]) for row in rows]


def _selectivities(events: list[Event], filters: list[Filter]) -> dict[str, tuple[float, ...]]:
    if not events:
        return {}
    by_attribute: dict[str, dict[Predicate, None]] = {}
    for filter in filters:
        for predicate in _predicates(filter):
            by_attribute.setdefault(predicate.attribute, {})[predicate] = None
    return {
        attribute: tuple(
            sum(map(predicate.matches, events)) / len(events)
            for predicate in list(predicates)[:SAMPLE_PREDICATES]
        )
        for attribute, predicates in sorted(by_attribute.items())
    }


def _predicates(filter: Filter) -> Iterator[Predicate]:
    todo = [filter]
    while todo:
        node = todo.pop()
        if isinstance(node, Predicate):
            yield node
        todo.extend(node.children)
