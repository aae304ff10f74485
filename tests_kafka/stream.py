"""Matches a topic of events and sends what it finds to another; dies where it is told to.

stream.py SERVERS FOLDER EACH               a batch of EACH messages after the other, to the end
stream.py SERVERS FOLDER EACH before 1      kill -9 in batch 1, before anything was sent
stream.py SERVERS FOLDER EACH amid 1        kill -9 in batch 1, when a part was sent
stream.py SERVERS FOLDER EACH after 1       kill -9 in batch 1, all sent, not yet Spark's to forget
stream.py SERVERS FOLDER EACH never 0       goes on until it is killed

The topics are `events`, `found` and `refused`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from pyspark.sql import DataFrame

import fyke.spark
from fyke.spark.streams.kafka import KafkaSink
from tests_kafka.jars import jars


class Deadly(KafkaSink):
    """Ends the driver in the midst of a batch."""

    def _send(self, messages: DataFrame, batch: int) -> bool:
        moment = sys.argv[4] if sys.argv[5:] == [str(batch)] else None
        if moment == "before":
            die()
        if moment == "amid":
            super()._send(messages.where("id < '8'"), batch)
            die()
        sent = super()._send(messages, batch)
        if moment == "after":
            die()
        return sent


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    servers, folder, each = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    connector = ",".join(map(str, jars("connector")))
    session = fyke.spark.session(master="local[2]", conf={"spark.jars": connector})
    source = session.readStream.format("kafka").option("subscribe", "events")
    source = source.option("kafka.bootstrap.servers", servers)
    source = source.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", each)
    stream = fyke.spark.match_stream(
        source.load().selectExpr("cast(value as string) as event"),
        folder / "subscriptions",
        Deadly("found", servers, settle_s=1),
        errors=KafkaSink("refused", servers, settle_s=1),
        checkpoint=folder / "checkpoint",
        json="event",
        trigger=None if sys.argv[4:5] == ["never"] else "available",
        sweep=True,
    )
    stream.await_end()
    print(stream.progress())
    session.stop()
