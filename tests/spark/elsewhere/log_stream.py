"""Copies a log to another, a few records a batch; dies where it is told to.

log_stream.py FOLDER                to the end of what there is
log_stream.py FOLDER appended 1     kill -9 of the driver once batch 1 is in the log, while
                                    Spark does not know it yet
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import fyke.spark
from fyke.logs.partitions import Partitions


def kill_after(folder: Path, records: int) -> None:
    """Ends this process the moment the log has so many records."""
    while True:
        time.sleep(0.001)
        if (folder / "to" / "log.json").exists():
            logs = Partitions.open(folder / "to").logs()
            if sum(log.end() for log in logs) >= records:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    session = fyke.spark.session(master="local[2]")
    records = session.readStream.format("fyke").option("maxRecordsPerTrigger", 10)
    if sys.argv[2:]:
        threading.Thread(target=kill_after, args=[folder, 20], daemon=True).start()
    query = (
        records.load(str(folder / "from"))
        .select("value")
        .writeStream.format("fyke")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .option("partitions", 2)
        .trigger(availableNow=True)
        .start(str(folder / "to"))
    )
    query.awaitTermination()
    session.stop()
