"""Streams of events, as streaming DataFrames.

workload at a rate    made in the workers, event i when its time has come
files in a folder     those that are there, oldest first, then those that appear
fyke                  the records of a log, documents
kafka                 the messages of a topic, documents; needs Spark's connector
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError
from fyke.pipeline.sources.origins import Files, Log, Origin, Paced, Topic
from fyke.pipeline.sources.sources import (
    DOCUMENT,
    Events,
    documents,
    generated,
    in_columns,
    lines,
    read,
)
from fyke.spark.connector import advice
from fyke.spark.sessions.starting import reason_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NOT_CONNECTED: Final = ("find data source", "ClassNotFound", "NoClassDefFound", "NoSuchMethod")
"""Signs in Spark's errors of a connector that is missing, incomplete or of another version."""


def stream(session: SparkSession, origin: Origin) -> Events:
    """Return the events of an origin that is a stream; nothing runs yet."""
    match origin:
        case Paced():
            return _paced(session, origin)
        case Files():
            return _arriving(session, origin)
        case Log():
            found = session.readStream.format("fyke").options(**origin.options)
            return documents(found.load(origin.path).select(DOCUMENT), origin)
        case Topic():
            return _sent(session, origin)
    raise FykeError(f"{origin} is no stream")


def _paced(session: SparkSession, origin: Paced) -> Events:
    from fyke.spark.streams.paced_source import NAME, PacedSource

    session.dataSource.register(PacedSource)
    description = json.dumps(origin.workload.description())
    found = session.readStream.format(NAME).option("workload", description)
    return generated(found.option("rate", origin.rate).load())


def _arriving(session: SparkSession, origin: Files) -> Events:
    if origin.format == "json":
        return documents(lines(session.readStream, origin), origin)
    schema = origin.schema
    if schema is None:
        schema = _seen_schema(session, origin)
    return in_columns(read(session.readStream, origin, schema), origin)


def _seen_schema(session: SparkSession, origin: Files) -> str:
    """Return the columns of the files that are there."""
    try:
        seen = read(session.read, replace(origin, options={}), None)
    except FykeError as refused:
        raise FykeError(
            f"{refused}; a stream takes its columns from the first files, or from events.schema"
        ) from None
    return ", ".join(
        f"`{column.name.replace('`', '``')}` {column.dataType.simpleString()}"
        for column in seen.schema.fields
    )


def _sent(session: SparkSession, origin: Topic) -> Events:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as f

    options = {"startingOffsets": "earliest", **origin.options}
    found = session.readStream.format("kafka").options(**options)
    found = found.option("kafka.bootstrap.servers", origin.servers)
    try:
        frame = found.option("subscribe", origin.topic).load().select(f.col(DOCUMENT))
        frame.schema  # noqa: B018 - over Spark Connect the connector is looked for only now
    except (PySparkException, Py4JJavaError) as refused:
        reason = f"{origin} cannot be read: {reason_of(refused)}"
        if any(sign in str(refused) for sign in _NOT_CONNECTED):
            reason += f"; {advice()}"
        raise FykeError(reason) from None
    return documents(frame, origin)
