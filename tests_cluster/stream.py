"""stream.py ADDRESS SHARED FOLDER: a stream over Spark Connect; prints what it found, as JSON.

Events lie in SHARED/events-4; the checkpoint is a path of the client's, FOLDER/checkpoint.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import DataFrame

import fyke.spark
from tests_cluster.test_streams import matcher


def keep(rows: DataFrame, batch: int) -> None:
    rows.write.parquet(f"{shared}/kept-4/{batch}")


if __name__ == "__main__":
    address, shared, folder = sys.argv[1:]
    session = fyke.spark.session(remote=address)
    rows = session.readStream.schema("n long").option("maxFilesPerTrigger", 2)
    stream = fyke.spark.match_stream(
        rows.json(f"{shared}/events-4"),
        matcher(),
        keep,
        checkpoint=f"{folder}/checkpoint",
        trigger="available",
    )
    stream.await_end()
    found = session.read.parquet(f"{shared}/kept-4/*").collect()
    print(json.dumps([(row.n, row.subscription) for row in found]))
    session.stop()
