"""A Spark Connect server in this process, on a port of its own.

PySpark starts one for `remote("local[2]")`, too, but always on port 15002, so that a second program
on the machine fails. Here the classic session is started with the server's plugin on a free port,
and the client is told. `stop()` of the client's session also stops the server.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Final, cast
from uuid import uuid4

from fyke.spark.sessions.settings import is_one_process

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PORT: Final = "spark.connect.grpc.binding.port"
_TOKEN: Final = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
HERE: Final = "FYKE_SPARK_HERE"
"""A variable that only processes have which Spark has started on this machine, for us."""
_served: set[str] = set()
_PLUGIN: Final = "org.apache.spark.sql.connect.SparkConnectPlugin"


def server_settings(options: dict[str, str]) -> dict[str, str]:
    """Return the settings of a session that also serves Spark Connect, to this user only."""
    token = os.environ.setdefault(_TOKEN, str(uuid4()))  # where the client looks for it
    plugins = [plugin for plugin in options.get("spark.plugins", "").split(",") if plugin]
    return {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        _PORT: str(_free_port()),
        "spark.connect.authenticate.token": token,
        "spark.sql.artifact.isolation.enabled": "true",
        "spark.sql.artifact.isolation.alwaysApplyClassloader": "true",
        **options,
        "spark.plugins": ",".join([*plugins, _PLUGIN]),
    }


def client(server: dict[str, str]) -> SparkSession:
    """Return a session over Spark Connect; PySpark's functions make its columns from now on."""
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    session = RemoteSession.builder.remote(f"sc://localhost:{server[_PORT]}").create()
    _served.add(session.session_id)
    os.environ["SPARK_LOCAL_REMOTE"] = "1"
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    return cast("SparkSession", session)


def is_remote(session: SparkSession) -> bool:
    """Return True for a session over Spark Connect."""
    return ".connect." in type(session).__module__


def is_served_here(session: SparkSession) -> bool:
    """Return True if the server of a session over Spark Connect runs on this machine, as ours.

    This process has started it, or was started by it, to work on a batch of a stream.
    """
    return session_id(session) in _served or HERE in os.environ


def shares_disk(session: SparkSession) -> bool:
    """Return True if workers are sure to see what this process writes."""
    if is_remote(session) and not is_served_here(session):
        return False
    return is_one_process(session.conf.get("spark.master", None))


def session_id(session: SparkSession) -> str:
    """Return the name of a session over Spark Connect; another session has none."""
    return str(session.session_id) if is_remote(session) else ""  # type: ignore[attr-defined]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
