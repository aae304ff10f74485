"""A cluster, and a session on it, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke.matching.compiled.kernels.compiling import warm
from tests.bucket import serving
from tests.webhdfs import serving_files
from tests_cluster.cluster import Cluster, missing
from tests_cluster.pythons import another_python


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one folder that all members see."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Cluster]:
    """A master and two workers, which have no kernels: those of the driver have to arrive."""
    reason = missing()
    if reason is not None:
        pytest.exit(f"test-cluster: not run, {reason}", returncode=0)
    warm()
    other = another_python()
    seen = (shared, *([other.parents[1]] if other else []))
    with Cluster(tmp_path_factory.mktemp("cluster"), seen, brief=True) as made:
        made.add_worker(warm=False)
        made.add_worker(warm=False, package="elsewhere")
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


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that is served as `place`; members of the cluster do not see it."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="session")
def place(files: Path) -> Iterator[str]:
    """The address of a file system that Spark reads and writes."""
    with serving_files(files) as address:
        yield address
