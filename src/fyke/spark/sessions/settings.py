"""Settings that a Spark session gets before it starts.

    where                  everywhere  started by us  on this machine
    local[..]                  x             x               x
    local-cluster[..]          x             x               x
    spark://, yarn, k8s        x             x
    sc:// (Spark Connect)      x

A setting of the user's wins; options for Java are joined, the user's last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from fyke.errors import FykeError, shown

LOG_LEVELS: Final = ("off", "error", "warn", "info", "debug")
JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
_EVERYWHERE: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
}
_STARTED: Final = {
    "spark.ui.showConsoleProgress": "false",
    "spark.python.worker.reuse": "true",
}
_HERE: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.python.daemon.module": "fyke.spark.daemon",
}
_LOCAL: Final = re.compile(r"local(?:\[(?P<cores>\d+|\*)(?:\s*,\s*\d+)?\])?")
_CLUSTER: Final = re.compile(
    r"local-cluster\[\s*(?P<workers>\d+)\s*,\s*(?P<cores>\d+)\s*,\s*\d+\s*\]"
)


def remote_settings(conf: Mapping[str, object] | None = None) -> dict[str, str]:
    """Return the settings for a session on a Spark Connect server that runs already."""
    return {**_EVERYWHERE, **texts(conf)}


def settings(
    master: str | None, conf: Mapping[str, object] | None = None, logs: str = "error"
) -> dict[str, str]:
    """Return the settings for a session started here; without a master, spark-submit names it."""
    merged = {**_EVERYWHERE, **_STARTED}
    if is_here(master):
        merged |= {**_HERE, "spark.sql.shuffle.partitions": str(cores(master))}
    given = texts(conf)
    options = f"{_log_options(logs)} {given.get(JAVA_OPTIONS, '')}".rstrip()
    merged |= {**given, JAVA_OPTIONS: options}
    return merged


def is_here(master: str | None) -> bool:
    """Return True if all of Spark's processes run on this machine."""
    return master is not None and master.startswith("local")


def is_one_process(master: str | None) -> bool:
    """Return True if driver and executors are threads of one process, with one disk."""
    return _LOCAL.fullmatch(master or "") is not None


def cores(master: str | None) -> int:
    """Return how many tasks a master on this machine runs at a time."""
    if match := _CLUSTER.fullmatch(master or ""):
        return int(match["workers"]) * int(match["cores"])
    match = _LOCAL.fullmatch(master or "")
    if match is None:
        raise FykeError(
            f"{shown(master)} is not a master; expected local, local[2], local[*], "
            "local-cluster[2,1,2048] or the address of a cluster"
        )
    if match["cores"] == "*":
        return _cores_of_machine()
    return int(match["cores"] or 1)


def _cores_of_machine() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _log_options(logs: str) -> str:
    if logs not in LOG_LEVELS:
        raise FykeError(f"logs={shown(logs)}; expected one of {', '.join(LOG_LEVELS)}")
    file = Path(str(files("fyke.spark") / "log4j2.properties"))
    answered = "off" if logs == "error" else logs
    return (
        f"-Dlog4j2.configurationFile={file.as_uri()} -Dfyke.logs={logs} "
        f"-Dfyke.logs.answered={answered}"
    )


def texts(conf: Mapping[str, object] | None) -> dict[str, str]:
    """Return the user's settings as Spark writes them."""
    if conf is not None and not isinstance(conf, Mapping):
        raise FykeError(f"conf={shown(conf)}; expected a dictionary of Spark's settings")
    texts: dict[str, str] = {}
    for key, value in (conf or {}).items():
        if not isinstance(key, str) or not key.startswith("spark."):
            raise FykeError(
                f"{shown(key)} is not a setting of Spark; their names begin with spark."
            )
        if key in ("spark.master", "spark.remote", "spark.app.name"):
            raise FykeError(f"{key} has a keyword of its own: master=, remote= or name=")
        if not isinstance(value, str | bool | int | float):
            raise FykeError(f"{key}={shown(value)}; expected text, a number or a Boolean")
        texts[key] = str(value).lower() if isinstance(value, bool) else str(value)
    return texts
