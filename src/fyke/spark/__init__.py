"""Fyke on Spark: `from fyke import spark`, with `pip install fyke[spark]`.

    session         a Spark session that just starts, on this machine or elsewhere
    match           a DataFrame of events against subscriptions: a row per match
    match_stream    a streaming DataFrame against subscriptions that may change meanwhile
    compile         a DataFrame of subscriptions to a folder that workers map
    frame, objects  objects of event classes as a DataFrame, and rows as objects
    prune           smaller subscriptions that cover the given ones
    plan            how events and subscriptions will come together, and why
    events, subscriptions   those of a workload, made by the workers
    sweep           a function for many parameters and seeds: a row per run
    statistics      what events and subscriptions are like, as tables
    register        makes the format `fyke` known to a session of your own

The names load when they are first used, PySpark when a session is wanted. Everything here works on
any session, over Spark Connect too.

Inside:

    sessions/               sessions that just start; are workers fit, and what does each have
    matching, task          `match`; what workers do with batches, and the rows that come out
    reading, columns        rows as events; columns in and out
    placements/             where events meet subscriptions: replicate, split, rendezvous,
                            multistage; which one, and why
    versions/               `compile`: versions of subscriptions, found, opened and pinned
    shipping/               what travels between a driver and workers that share no disk with it
    streams/                `match_stream`, and what happens with one micro-batch
    sinks, uri_sink         where rows go: a folder per batch, functions; any place that Spark
                            writes
    connector               what Spark's connector to Kafka is called, by the Spark that is
                            installed
    log_source, log_writer  the format `fyke`: logs as tables and streams
    generating              workloads as jobs: a range of numbers, from which workers make the rows
    sweeps/                 runs dealt out to jobs
    statistics/             what events and subscriptions are like, as tables
    pruning, typed_frames   smaller sets for millions; objects as DataFrames
    daemon                  workers are forked with everything loaded
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fyke.spark import statistics
    from fyke.spark.generating import events, subscriptions
    from fyke.spark.log_source import register
    from fyke.spark.matching import match
    from fyke.spark.placements.planning import plan
    from fyke.spark.pruning import prune
    from fyke.spark.sessions.starting import session
    from fyke.spark.streams.kafka import KafkaSink
    from fyke.spark.streams.streaming import match_stream
    from fyke.spark.sweeps.sweeping import sweep
    from fyke.spark.typed_frames import frame, objects
    from fyke.spark.versions.compiling import compile

__all__ = [
    "KafkaSink",
    "compile",
    "events",
    "frame",
    "match",
    "match_stream",
    "objects",
    "plan",
    "prune",
    "register",
    "session",
    "statistics",
    "subscriptions",
    "sweep",
]

# A module is never named after what it offers: Python would put the module in the name's place.
_MODULES: Final = {
    "KafkaSink": "fyke.spark.streams.kafka",
    "compile": "fyke.spark.versions.compiling",
    "events": "fyke.spark.generating",
    "frame": "fyke.spark.typed_frames",
    "match": "fyke.spark.matching",
    "match_stream": "fyke.spark.streams.streaming",
    "objects": "fyke.spark.typed_frames",
    "register": "fyke.spark.log_source",
    "plan": "fyke.spark.placements.planning",
    "prune": "fyke.spark.pruning",
    "session": "fyke.spark.sessions.starting",
    "subscriptions": "fyke.spark.generating",
    "sweep": "fyke.spark.sweeps.sweeping",
}


def __getattr__(name: str) -> Any:
    if name == "statistics":
        return import_module("fyke.spark.statistics")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
