"""The same seed, the same trace, byte for byte: also in processes that hash differently."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys

import pytest

from fyke.assembly import STRATEGIES, assemble
from fyke.overlay.generators import random_tree
from fyke.simulation.faults import Fault
from fyke.simulation.network import Network
from fyke.simulation.scenario import Scenario
from fyke.traces.trace import Record, lines
from fyke.workloads.named import workload

SOME = ("event_forwarding", "subscription_forwarding", "rendezvous", "pf4", "pf6", "rn2", "rn7")
NAMES = [name for name in SOME if name in STRATEGIES]
PROGRAM = """
import sys
from tests_of_determinism import digest
for name in sys.argv[1:]:
    print(name, digest(name, 5))
"""


def traced(strategy: str, seed: int) -> bytes:
    topology = random_tree(9, seed)
    a, b = topology.links[0]
    scenario = Scenario(
        topology,
        workload("auction", seed),
        subscriptions=40,
        events=60,
        seed=seed,
        network=Network(bandwidth=1e5, loss=0.2, duplication=0.2, store_s=0.01),
        faults=(
            Fault(0.005, "cut", (a, b)),
            Fault(0.010, "crash", (topology.brokers[4],)),
            Fault(0.030, "restart", (topology.brokers[4],)),
            Fault(0.040, "heal", (a, b)),
        ),
    )
    system = assemble(strategy, topology, engine="scan")
    trace: list[Record] = []
    scenario.play(system.make, system.codec, trace.append)
    return lines(trace)


def digest(strategy: str, seed: int) -> str:
    return hashlib.sha256(traced(strategy, seed)).hexdigest()


def test_another_seed_is_another_trace():
    assert traced("event_forwarding", 1) == traced("event_forwarding", 1)
    assert traced("event_forwarding", 1) != traced("event_forwarding", 2)


@pytest.mark.timeout(120)
def test_processes_that_hash_differently_write_the_same_bytes(tmp_path):
    shutil.copy(__file__, tmp_path / "tests_of_determinism.py")
    here = "".join(f"{name} {digest(name, 5)}\n" for name in NAMES)
    for hash_seed in ("0", "12345"):
        path = os.pathsep.join([str(tmp_path), *sys.path])
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *NAMES],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert done.stdout == here, done.stderr
