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

    starting                `session`: what has to be right before the first JVM starts
    java, settings, connect
                            which Java; what Spark is told, by where it runs; a Connect server on a
                            free port
    shipping, archives, kernels, package
                            what the driver has reaches workers that share no disk with it:
                            snapshots, compiled kernels, the package
    delivering, refusals    what workers compile reaches a folder of the driver's, whole; what they
                            refused
    workers, doctor, sizes, reasons
                            are workers fit, what does each have, how many cores are there; the
                            sentence in what Spark says
    places, temporary       places by URI; folders that live as long as the process
    daemon                  workers are forked with everything loaded
    matching, reading, columns
                            `match`: rows as events, in workers; columns in and out
    compiling, versions, snapshots
                            `compile`: versions of subscriptions, and how workers open them
    pace                    how many events a worker matches at once: by the matches of the last
    placements/             where events meet subscriptions: replicate, split, rendezvous,
                            multistage; layouts of subscriptions for them
    planning, profiles, memory
                            which placement, and why, from sizes and a sample
    streaming, step         `match_stream`; what happens with one micro-batch, in an order that a
                            crash cannot spoil
    pins, batch_counts      which version a batch sees, decided once; what came of it
    sinks, uri_sink, kafka  where rows go: a folder per batch, functions; any place that Spark
                            writes; a topic, of which only what it lacks is sent
    connector               what Spark's connector to Kafka is called, by the Spark that is
                            installed
    log_source, log_writer  the format `fyke`: logs as tables and streams
    generating, paced_source
                            workloads as jobs: a range of numbers, from which workers make the rows;
                            as streams, so many a second
    sweeping, sweep_table   runs dealt out to jobs; what they returned, as columns
    statistics/             what events and subscriptions are like, as tables: below
    pruning, typed_frames   smaller sets for millions; objects as DataFrames
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fyke.spark import statistics
    from fyke.spark.compiling import compile
    from fyke.spark.generating import events, subscriptions
    from fyke.spark.kafka import KafkaSink
    from fyke.spark.log_source import register
    from fyke.spark.matching import match
    from fyke.spark.planning import plan
    from fyke.spark.pruning import prune
    from fyke.spark.starting import session
    from fyke.spark.streaming import match_stream
    from fyke.spark.sweeping import sweep
    from fyke.spark.typed_frames import frame, objects

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
    "KafkaSink": "fyke.spark.kafka",
    "compile": "fyke.spark.compiling",
    "events": "fyke.spark.generating",
    "frame": "fyke.spark.typed_frames",
    "match": "fyke.spark.matching",
    "match_stream": "fyke.spark.streaming",
    "objects": "fyke.spark.typed_frames",
    "register": "fyke.spark.log_source",
    "plan": "fyke.spark.planning",
    "prune": "fyke.spark.pruning",
    "session": "fyke.spark.starting",
    "subscriptions": "fyke.spark.generating",
    "sweep": "fyke.spark.sweeping",
}


def __getattr__(name: str) -> Any:
    if name == "statistics":
        return import_module("fyke.spark.statistics")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
