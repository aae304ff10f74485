"""Matches the files of a folder, one a batch, until there are no more; dies where it is told to.

stream.py FOLDER                    to the end
stream.py FOLDER staged 1           kill -9 in batch 1, its rows written but not published
stream.py FOLDER published 2        kill -9 in batch 2, published but not yet Spark's to forget
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from pyspark.sql import DataFrame

import fyke.spark
from fyke.spark.sinks import FolderSink


class Deadly(FolderSink):
    """Ends the driver in the midst of a batch."""

    def write(self, rows: DataFrame, batch: int) -> None:
        moment = sys.argv[2] if sys.argv[3:] == [str(batch)] else None
        if moment == "staged":
            rows.write.parquet(f"{self.path}/_staging-{batch}-left")
            os.kill(os.getpid(), signal.SIGKILL)
        super().write(rows, batch)
        if moment == "published":
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    session = fyke.spark.session(master="local[2]")
    events = session.readStream.option("maxFilesPerTrigger", 1).text(str(folder / "events"))
    stream = fyke.spark.match_stream(
        events,
        folder / "subscriptions",
        Deadly(str(folder / "out")),
        checkpoint=folder / "checkpoint",
        json="value",
        trigger="available",
    )
    stream.await_end()
    print(stream.progress())
    session.stop()
