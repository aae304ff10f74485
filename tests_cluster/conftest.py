"""A cluster, and a session on it, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke.matching.compiled.compiling import warm
from tests.bucket import serving
from tests_cluster.cluster import Cluster, missing


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one folder that all members see."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Cluster]:
    """A master and two workers."""
    reason = missing()
    if reason is not None:
        pytest.exit(f"test-cluster: {reason}", returncode=0)
    warm()
    with Cluster(tmp_path_factory.mktemp("cluster"), (shared,)) as made:
        made.add_worker()
        made.add_worker(package="elsewhere")
        yield made


@pytest.fixture(scope="session")
def spark(cluster: Cluster) -> Iterator[SparkSession]:
    session = fyke.spark.session(master=cluster.master, conf=cluster.conf, logs="off")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def bucket() -> Iterator[str]:
    """The URI of a bucket of an object store on this machine."""
    with serving() as uri:
        yield uri
