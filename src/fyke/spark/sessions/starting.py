"""A Spark session that just starts: `fyke.spark.session()`.

What has to be right before the first JVM of a process starts, and is easily forgotten: a Java that
Spark can run on (`java`), the workers' Python, an address that resolves, settings that suit one
machine and keep the terminal quiet (`settings`), and kernels that are compiled before many workers
want them at once. What lies in variables of the environment is set while Spark starts, and then put
back; Spark's processes keep it.

Sessions that others made need none of this: all of fyke.spark works on any session.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fyke.errors import FykeError, shown
from fyke.spark.connector import PACKAGES
from fyke.spark.sessions.connect import HERE
from fyke.spark.sessions.java import java_home
from fyke.spark.sessions.settings import is_here, remote_settings, settings, texts
from fyke.spark.shipping.package import ship_package

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session(
    *,
    master: str | None = None,
    remote: str | None = None,
    name: str = "fyke",
    conf: Mapping[str, object] | None = None,
    logs: str = "error",
    ship: bool = False,
) -> SparkSession:
    """Return the Spark session of this process: the one that runs, or a new one.

    `master` says where Spark runs: on this machine with all cores (`local[*]`, the default), or on
    a cluster. `remote` is the address of a Spark Connect server, or `local[..]` to start one here.
    `conf` holds more of Spark's settings, `logs` the least serious messages of Spark that reach the
    terminal: off, error, warn, info or debug. With `ship`, workers get this very package, as a zip;
    what it needs (numpy, pyarrow, numba and the like) has to be there.
    """
    _require_pyspark()
    if master is not None and remote is not None:
        raise FykeError("a session has a master or a remote address, not both")
    if master is None and remote is None:
        remote = os.environ.get("SPARK_REMOTE") or None
    running = _running()
    if running is not None:
        made = _adapt(running, master or remote, conf)
    elif remote is not None and not is_here(remote):
        made = _connect(remote, remote_settings(conf))
    elif remote is not None:
        made = _serve(remote, name, settings(remote, conf, logs))
    else:
        if master is None and not _is_submitted():
            master = "local[*]"
        made = _start(master, name, settings(master, conf, logs))
    if ship:
        ship_package(made)
    _register(made)
    return made


def _register(made: SparkSession) -> None:
    from fyke.spark.log_source import register

    register(made)


def _require_pyspark() -> None:
    try:
        import pyspark.sql  # noqa: F401
    except ImportError as error:
        raise FykeError(f"fyke.spark needs PySpark ({error}): pip install 'fyke[spark]'") from error


def _is_submitted() -> bool:
    """Return True if spark-submit runs this program: there is a JVM that knows the master."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _running() -> SparkSession | None:
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _adapt(
    running: SparkSession, place: str | None, conf: Mapping[str, object] | None
) -> SparkSession:
    """Return the running session with the settings that can still be changed."""
    there = running.conf.get("spark.master", None)
    if place is not None and is_here(place) and there != place:
        raise FykeError(
            f"Spark runs in this process already, on {shown(there)}: stop() that session before "
            f"starting one on {shown(place)}"
        )
    for key, value in texts(conf).items():
        if running.conf.get(key, None) == value:
            continue
        if not running.conf.isModifiable(key):
            raise FykeError(f"{key} can be set only before Spark starts; stop() the session first")
        running.conf.set(key, value)
    return running


def _start(master: str | None, name: str, options: dict[str, str]) -> SparkSession:
    """Return a session with a driver in a JVM beside this process."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name).config(map={**options})
    if master is not None:
        builder = builder.master(master)
    packages = f" with the packages {options[PACKAGES]}" if PACKAGES in options else ""
    if is_here(master):
        _compile_kernels()
    with _environment(master), _failures(f"Spark did not start on {shown(master)}{packages}"):
        return builder.getOrCreate()


def _serve(master: str, name: str, options: dict[str, str]) -> SparkSession:
    """Return a session over Spark Connect, with a server of its own."""
    from fyke.spark.sessions.connect import client, server_settings

    options = server_settings(options)
    server = _start(master, name, options)
    with _failures("Spark Connect did not start"):
        try:
            return client(options)
        except BaseException:
            server.stop()
            raise


def _connect(address: str, options: dict[str, str]) -> SparkSession:
    """Return a session over Spark Connect, with a server that others run."""
    from pyspark.sql import SparkSession

    with _failures(f"there is no session at {shown(address)}"):
        return SparkSession.builder.remote(address).config(map={**options}).getOrCreate()


def _compile_kernels() -> None:
    from fyke.matching.compiled.kernels.compiling import compile_all

    compile_all()


@contextmanager
def _environment(master: str | None) -> Iterator[None]:
    """Set what Spark's processes inherit; keep the variables that the user has set."""
    variables: dict[str, str] = {}
    if not _is_submitted():
        variables["JAVA_HOME"] = str(java_home())
        variables["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", sys.executable)
    if is_here(master):
        variables["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
        variables["PYTHONPATH"] = _python_path()
        variables[HERE] = "1"
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _python_path() -> str:
    """Return a path on which workers find this very package."""
    root = str(Path(__file__).parents[3])
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(dict.fromkeys([*filter(None, given), root]))


@contextmanager
def _failures(what: str) -> Iterator[None]:
    """Raise Spark's own errors as one sentence."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, OSError) as error:
        raise FykeError(f"{what}: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """Return the line that says what went wrong; Py4J hides it below a line of its own."""
    if "JAVA_GATEWAY_EXITED" in str(error):
        return "its JVM ended at once, saying why on the error stream"
    if "on a stopped SparkContext" in str(error):
        return "the master did not answer for a minute, or refused the application"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    hidden = len(lines) > 1 and lines[0].startswith("An error occurred while calling")
    return lines[hidden].lstrip(": ") if lines else type(error).__name__
