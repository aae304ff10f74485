"""Events whose tasks take a while, so that every worker gets some, and leave a mark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame


def spread(events: DataFrame, shared: Path, name: str) -> DataFrame:
    """The same events in six tasks; each marks in a shared folder that its worker has begun."""

    def slowly(batches: Iterable[Any]) -> Iterator[Any]:
        import socket
        import time

        (shared / f"{name}-{socket.gethostname()}").touch()
        time.sleep(1.5)
        yield from batches

    return events.repartition(6).mapInArrow(slowly, events.schema)
