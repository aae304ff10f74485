"""The benchmarks run, and their references agree with us; figures are for `make bench`."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import given

import fyke
from fyke.filters.filter import Filter
from fyke.testing.generators import filters

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import bench_filters
from benchmarks.lark_native import lark_parser

parse = lark_parser()


def test_a_tiny_run() -> None:
    ratios = list(bench_filters.ratios(scale=0.001))
    assert [ratio.bar for ratio in ratios] == [3, 10]
    assert all(ratio.value > 0 for ratio in ratios)


@given(filters(max_leaves=4))
def test_an_independent_grammar_reads_the_same_trees(filter: Filter) -> None:
    text = str(filter)
    assert parse(text) == fyke.parse(text)
