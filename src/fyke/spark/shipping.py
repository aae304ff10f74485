"""Shipping: workers get the snapshots that the driver has, also where they share no disk with it.

Idea. A snapshot travels as an artifact of the session: a zip that Spark brings to every executor,
once, and opens there, whoever joins late included. Its name is the identity of the snapshot, so
that equal ones are sent once. A worker maps the path that the driver named if it finds the very
snapshot there, and what arrived otherwise.
Invariant. A worker uses a snapshot only in the state that the driver pinned: its manifest has the
pinned checksum, and all arrays have those that the manifest says.
Cost. Every executor fetches every artifact, and none is removed before the session ends. So this is
for sets up to SHIP_MAX; of larger ones it is asked at once whether all workers see them.
Where Spark runs in threads beside the driver, nothing is sent.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError
from fyke.matching.snapshot import identity
from fyke.spark.archives import pack
from fyke.spark.connect import is_remote, is_served_here, session_id
from fyke.spark.places import is_address
from fyke.spark.settings import is_one_process
from fyke.spark.temporary import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fyke.spark.snapshots import Pin

SHIP_MAX: Final = 2**30
"""So many bytes of subscriptions are sent to every executor; more need a shared place."""
_sent: set[tuple[str, str]] = set()


def ship(pin: Pin, session: SparkSession) -> None:
    """Send the snapshots of a pin to the workers of a session, unless they have them."""
    if pin.place is not None or shares_disk(session):
        return
    key = _key(session)
    wanted = [part for part in pin.parts if (key, part.identity) not in _sent]
    folders = [Path(part.path) for part in wanted if not is_address(part.path)]
    size = sum(file.stat().st_size for each in folders for file in each.rglob("*.bin"))
    if size > SHIP_MAX:
        _need_seen(folders, size, session)
        return
    for part in wanted:
        if not is_address(part.path):
            _send(Path(part.path), part.identity, session)
            _sent.add((key, part.identity))


def _need_seen(folders: list[Path], size: int, session: SparkSession) -> None:
    """Raise FykeError where a worker does not see what is too large to be sent."""
    from fyke.spark.workers import blind_worker

    for folder in folders:
        host = blind_worker(session, folder / "manifest.json")
        if host is not None:
            raise FykeError(
                f"worker {host} does not see {folder}: {size / 1e6:,.0f} MB of subscriptions are "
                f"more than are sent to every worker ({SHIP_MAX / 1e6:,.0f} MB); name a place that "
                "the driver and all workers see, with folder= or fyke.spark.compile"
            )


def _send(folder: Path, state: str, session: SparkSession) -> None:
    name = artifact_name(state)
    archive = Path(temporary_folder()) / f"{name}.zip"
    pack(folder, archive)
    session.addArtifacts(f"{archive}#{name}", archive=True)


def artifact_name(state: str) -> str:
    return f"fyke-{state[:32]}"


def shares_disk(session: SparkSession) -> bool:
    """Whether workers are sure to see what this process writes."""
    if is_remote(session) and not is_served_here(session):
        return False
    return is_one_process(session.conf.get("spark.master", None))


def _key(session: SparkSession) -> str:
    """What artifacts belong to: an application, and over Spark Connect a session of it."""
    name = session.conf.get("spark.app.id", None)
    return f"{name} {session_id(session)}"


# --- in the workers ------------------------------------------------------------------------------


def seen(path: str, state: str) -> Path:
    """Where this machine has a snapshot in a state: under its path, or as it was sent."""
    folder = Path(path)
    if _has(folder, state):
        return folder
    sent = _arrived(state)
    if sent is not None and _has(sent, state):
        return sent
    if sent is None or folder.exists():  # who opens it says what is wrong
        return folder
    raise FykeError(
        f"worker {socket.gethostname()} does not see {path}: name a place that the driver and all "
        "workers see, with folder= or fyke.spark.compile"
    )


def _has(folder: Path, state: str) -> bool:
    try:
        return identity(folder) == state
    except FykeError:
        return False


def _arrived(state: str) -> Path | None:
    """The folder that Spark has opened an artifact in; none outside of a worker's task."""
    from pyspark import SparkFiles, TaskContext

    if TaskContext.get() is None:
        return None
    return Path(SparkFiles.get(artifact_name(state)))
