"""The Spark session of the tests, for those that sweep."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import fyke.spark


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session that runs in this process, or one on two cores of this machine."""
    session = fyke.spark.session(master="local[2]")
    yield session
    session.stop()
