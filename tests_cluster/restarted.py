"""restarted.py ADDRESS BUCKET SHARED NAME=SETTING ...: a stream whose driver is killed once.

Versions and the checkpoint lie in the bucket, Spark's own part and the rows in the shared folder.
Prints what was found, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from pyspark.sql import DataFrame

import fyke.spark
from fyke.spark.sinks import FolderSink
from fyke.spark.versions.places import joined


class Dying(FolderSink):
    """A folder; who writes batch 1 to it for the first time is killed before."""

    def write(self, rows: DataFrame, batch: int) -> None:
        died = Path(f"{self.path}-died")
        if batch == 1 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        super().write(rows, batch)


if __name__ == "__main__":
    address, bucket, shared, *settings = sys.argv[1:]
    conf = dict(each.split("=", 1) for each in settings)
    session = fyke.spark.session(master=address, conf=conf, logs="off")
    rows = session.readStream.schema("n long").option("maxFilesPerTrigger", 2)
    stream = fyke.spark.match_stream(
        rows.json(f"{shared}/events-5"),
        joined(bucket, "restarted"),
        Dying(f"{shared}/out-5"),
        errors=f"{shared}/errors-5",
        checkpoint=joined(bucket, "checkpoint"),
        journal=f"{shared}/journal-5",
        trigger="available",
    )
    stream.await_end()
    now = stream.progress()
    found = session.read.parquet(f"{shared}/out-5").collect()
    told = {
        "rows": [(row.batch, row.n, row.subscription) for row in found],
        "progress": [now.batch, now.version, now.matches, now.errors],
    }
    print(json.dumps(told))
    session.stop()
