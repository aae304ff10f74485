"""`fyke demo peers` and `fyke simulate --strategy sub2sub`: rings form, an event travels."""

from __future__ import annotations

import json
import re

import pytest

SIZES = ("simulate", "--subscriptions=60", "--events=30", "--strategy=sub2sub")


def test_a_ring_forms_and_its_event_travels(fyke):
    run = fyke("demo", "peers", "--peers=80", "--cycles=16", "--seed=1")
    assert run.code == 0
    assert run.err == ""
    rings = re.findall(r"^ +\d+ +[\d.]+% +[\d.]+%  (.+)$", run.out, re.MULTILINE)
    peers = {re.sub("[^o●]", "", ring) for ring in rings}
    assert len(rings) == 8
    assert len(peers) == 1, "a ring has the same peers in every cycle"
    count = len(peers.pop())
    assert len(re.findall("[-─]", rings[0])) < count == len(re.findall("[-─]", rings[-1]))
    assert f"{count} of the {count} peers that want it got it; 0 others did." in run.out
    hops = re.findall(r"^  hop \d+ +(\d+)  (.+)$", run.out, re.MULTILINE)
    assert sum(int(number) for number, _ in hops) == count
    assert all(len(names.split(", ")) == int(number) for number, names in hops)


def test_simulated_peers_keep_their_promise(fyke):
    run = fyke(*SIZES, "--cycles=14", "--json")
    assert run.code == 0
    found = json.loads(run.out)
    assert found["rings_complete"] == found["hit_ratio"] == found["complete_disseminations"] == 1
    assert found["unwanted_deliveries"] == 0
    assert found["broken_promises"] == []
    early = json.loads(fyke(*SIZES, "--cycles=2", "--json").out)
    assert early["rings_complete"] < 1
    table = fyke(*SIZES, "--cycles=14").out
    assert re.search(r"^unwanted +0 ", table, re.MULTILINE)
    assert re.search(r"^ *14 +100.0% +100.0%", table, re.MULTILINE)


@pytest.mark.parametrize(
    "option",
    [
        "--brokers=3",
        "--workload=stock_and_auction",
        "--latency=1",
        "--strategy=pf8",
        "--memory=1MB",
    ],
)
def test_peers_have_no_brokers(fyke, option):
    run = fyke(*SIZES, option)
    assert run.code != 0
    assert run.out == ""
    assert "sub2sub has" in run.err
    assert "Traceback" not in run.err
