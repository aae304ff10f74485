"""Over Spark Connect: the server is a third machine, the client is a fourth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests_cluster.calls import NAMES, expected
from tests_cluster.cluster import Cluster, program, told
from tests_cluster.test_streams import expected as expected_rows
from tests_cluster.test_streams import written


@pytest.fixture(scope="module")
def address(cluster: Cluster) -> Iterator[str]:
    server, address = cluster.add_server()
    yield address
    server.kill()


def test_all_calls(address: str) -> None:
    assert told(program("calls", address)) == {key: list(expected()) for key in NAMES}


def test_a_stream(address: str, shared: Path, tmp_path: Path) -> None:
    """Batches are worked on by the server, which sees nothing of the client's."""
    written(shared / "events-4")
    found = told(program("stream", address, str(shared), str(tmp_path)))
    assert sorted(map(tuple, found)) == expected_rows()
