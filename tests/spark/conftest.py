"""One Spark session for all tests of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import fyke.spark
from tests.bucket import serving


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session on two cores of this machine."""
    session = fyke.spark.session(master="local[2]")
    yield session
    session.stop()


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`program(file, *arguments, NAME=value)` runs a Python file in an empty folder.

    A variable that is None is taken away.
    """
    folder = tmp_path / "program"
    folder.mkdir()

    def run(
        file: Path, *arguments: str, **variables: str | None
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **variables}
        return subprocess.run(
            [sys.executable, str(file), *arguments],
            cwd=folder,
            env={name: value for name, value in environment.items() if value is not None},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def bucket() -> Iterator[str]:
    """The URI of a bucket of an object store on this machine."""
    with serving() as uri:
        yield uri
