"""A worker that has no Fyke: it is said at once what to do; sent along, the package is enough.

The last of all tests: other sessions would get such a worker, too.
"""

from __future__ import annotations

from tests_cluster.calls import expected
from tests_cluster.cluster import Cluster, program, told


def test_a_worker_without_the_package(cluster: Cluster) -> None:
    """It takes the driver's kernels, too: what a zip holds is the same as what a folder holds."""
    bare = cluster.add_worker(package=None, warm=False)
    settings = [f"{key}={value}" for key, value in cluster.conf.items()]
    found = told(program("bare", cluster.master, *settings))
    sentence = f"worker {bare.name} has no Fyke for"
    (advice,) = (each for each in found["advice"] if each.startswith(sentence))
    assert "ship=True" in advice
    assert found["refused"].startswith(sentence) and "ship=True" in found["refused"]
    assert found["matcher"] == list(expected())
    assert not any(bare.name in each for each in found["advice shipped"])
    assert not any("compiling" in each.read_text("utf-8", "replace") for each in bare.outputs())
