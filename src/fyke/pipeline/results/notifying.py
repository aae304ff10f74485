"""Notifications: the journal of matching, subscriber by subscriber."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def notifications(found: DataFrame, standing: DataFrame, form: str) -> DataFrame:
    """Return digests with their subscribers; or, event by event, who gets it and why."""
    from pyspark.sql import functions as f

    holders = standing.select(f.col("id").alias("subscription"), "subscriber")
    digests = found.where("subscription is not null").select("subscription", "events")
    held = digests.join(f.broadcast(holders), "subscription")
    if form == "digest":
        return held.select("subscriber", "subscription", "events")
    each = held.select("subscriber", f.explode("events").alias("event"), "subscription")
    ids = f.array_sort(f.collect_list("subscription"))
    return each.groupBy("subscriber", "event").agg(ids.alias("subscriptions"))
