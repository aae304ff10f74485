"""Shipping: workers get the snapshots that the driver has, also where they share no disk with it.

Idea. A snapshot travels as an artifact of the session: a zip that Spark brings to every executor,
once, and opens there, whoever joins late included. Its name is the identity of the snapshot, so
that equal ones are sent once. A worker maps the path that the driver named if it finds the very
snapshot there, and what arrived otherwise.
Invariant. A worker uses a snapshot only in the state that the driver pinned: its manifest has the
pinned checksum, and all arrays have those that the manifest says.
Cost. Every executor fetches every artifact, and none is removed before the session ends. So this is
for sets up to SHIP_MAX; of larger ones it is asked at once whether all workers see them, and if not
they come as rows (`placements.carried`).
Where Spark runs in threads beside the driver, nothing is sent.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError
from fyke.folders import writable_folder
from fyke.matching.snapshot import identity
from fyke.spark.sessions.connect import session_id, shares_disk
from fyke.spark.sessions.workers import blind_worker
from fyke.spark.shipping.archives import pack
from fyke.spark.versions.places import is_address
from fyke.spark.versions.temporary import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fyke.spark.versions.snapshots import Part, Pin

SHIP_MAX: Final = 2**30
"""At most this many bytes of subscriptions are sent to every executor; more need a shared place."""
_sent: set[tuple[str, str]] = set()


def ship(pin: Pin, session: SparkSession) -> None:
    """Send the snapshots of a pin to the workers of a session, unless they have them."""
    key = _key(session)
    wanted = {part for part in _to_be_sent(pin, session) if (key, part.identity) not in _sent}
    if _size(wanted) > SHIP_MAX:
        host = _blind_worker(wanted, session)
        if host is not None:
            raise FykeError(
                f"worker {host} does not see {min(part.path for part in wanted)}: "
                f"{too_large(pin)}; let placement='split' send each task its share, or name a "
                "place that the driver and all workers see, with folder= or fyke.spark.compile"
            )
        return
    for part in wanted:
        _send(Path(part.path), part.identity, session)
        _sent.add((key, part.identity))


def is_too_large(pin: Pin, session: SparkSession) -> bool:
    """Say whether a pin is more than is sent to every worker, and there is one that needs it."""
    parts = _to_be_sent(pin, session)
    return _size(parts) > SHIP_MAX and _blind_worker(parts, session) is not None


def too_large(pin: Pin) -> str:
    size = _size(set(pin.parts))
    return (
        f"{size / 1e6:,.0f} MB of subscriptions are more than are sent to every worker "
        f"({SHIP_MAX / 1e6:,.0f} MB)"
    )


def _to_be_sent(pin: Pin, session: SparkSession) -> set[Part]:
    """Return the snapshots that lie on the driver's disk, which workers may not see."""
    if pin.place is not None or shares_disk(session):
        return set()
    return {part for part in pin.parts if not is_address(part.path)}


def _size(parts: Iterable[Part]) -> int:
    return sum(file.stat().st_size for each in parts for file in Path(each.path).rglob("*.bin"))


def _blind_worker(parts: Iterable[Part], session: SparkSession) -> str | None:
    """Return the name of a worker that does not see one of the snapshots, if there is one."""
    files = (Path(part.path) / "manifest.json" for part in parts)
    return next(filter(None, (blind_worker(session, file) for file in files)), None)


def _send(folder: Path, state: str, session: SparkSession) -> None:
    name = artifact_name(state)
    archive = Path(temporary_folder()) / f"{name}.zip"
    pack(folder, archive)
    session.addArtifacts(f"{archive}#{name}", archive=True)


def artifact_name(state: str) -> str:
    return f"fyke-{state[:32]}"


def _key(session: SparkSession) -> str:
    """Return what artifacts belong to: an application, over Spark Connect a session of it."""
    name = session.conf.get("spark.app.id", None)
    return f"{name} {session_id(session)}"


# --- in the workers ------------------------------------------------------------------------------


def seen(path: str, state: str) -> Path:
    """Return where this machine has a snapshot in a state: under its path, or as it arrived."""
    folder = Path(path)
    if _has(folder, state):
        return folder
    sent = _arrived(state)
    if sent is None:
        return folder  # who opens it says what is wrong
    for each in (sent, copies_folder() / state):
        if _has(each, state):
            return each
    if folder.exists():
        return folder
    raise FykeError(
        f"worker {socket.gethostname()} does not see {path}: name a place that the driver and all "
        "workers see, with folder= or fyke.spark.compile"
    )


def copies_folder() -> Path:
    """Return the folder of this host for copies of snapshots, each under its identity."""
    root = writable_folder("snapshots")
    if root is None:
        raise FykeError(
            f"there is no folder on {socket.gethostname()} to copy subscriptions to; let "
            "XDG_CACHE_HOME or TMPDIR name one that can be written"
        )
    return root


def _has(folder: Path, state: str) -> bool:
    try:
        return identity(folder) == state
    except FykeError:
        return False


def _arrived(state: str) -> Path | None:
    """Return the folder that Spark has opened an artifact in; none outside of a worker's task."""
    from pyspark import SparkFiles, TaskContext

    if TaskContext.get() is None:
        return None
    return Path(SparkFiles.get(artifact_name(state)))
