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
