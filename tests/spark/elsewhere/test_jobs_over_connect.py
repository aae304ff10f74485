"""The jobs over Spark Connect, where no SparkContext is at hand."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fyke import Matcher, parse
from fyke.spark.statistics.filters import leaves
from fyke.workloads.named import workload

PROGRAM = Path(__file__).parent / "jobs_over_connect.py"


@pytest.mark.long
def test_jobs_over_connect(program: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = program(PROGRAM)
    assert done.returncode == 0, done.stderr[-3000:]
    assert " ERROR ErrorUtils:" not in done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    auctions = workload("auction")
    texts = list(auctions.texts(100))
    matcher = Matcher("scan")
    matcher.add_many((str(number), text) for number, text in enumerate(texts))
    assert found == {
        "events": 500,
        "attributes": sorted(auctions.columns(0).column_names),
        "stages": [11, 6],
        "predicates": len({leaf for text in texts for leaf in leaves(parse(text))}),
        "fractions": 100,
        "matches": matcher.match_batch(auctions.columns(500)).num_rows,
        "coverings": True,
        "duplicates": 0,
        "sweep": [9, None, 16, None],
    }
