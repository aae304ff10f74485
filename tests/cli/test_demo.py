"""`fyke demo` counts what a direct computation counts."""

from __future__ import annotations

import re

import pytest

from fyke.workloads.named import workload


def number(out: str, what: str) -> int:
    found = re.search(rf"^{what} +([\d,]+)", out, re.MULTILINE)
    assert found, f"{what!r} is not in\n{out}"
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize(("events", "subscriptions", "seed"), [(120, 150, 0), (60, 200, 7)])
def test_counts_are_those_of_a_direct_computation(fyke, events, subscriptions, seed):
    work = workload("stock_and_auction", seed)
    filters = {each.id: each.filter for each in work.subscriptions(subscriptions)}
    matches = [
        (row, id)
        for row, event in enumerate(work.events(events))
        for id, filter in filters.items()
        if filter.matches(event)
    ]
    assert matches

    run = fyke("demo", f"--events={events}", f"--subscriptions={subscriptions}", f"--seed={seed}")
    assert run.code == 0
    assert run.err == ""
    assert f"seed {seed}" in run.out
    assert number(run.out, "events") == events
    assert number(run.out, "subscriptions") == subscriptions
    assert number(run.out, "filters tried") == events * subscriptions
    assert number(run.out, "matches") == len(matches)
    silent = subscriptions - len({id for _, id in matches})
    assert f"{silent:,} matched nothing" in run.out
    first_event, first_id = matches[0]
    assert f"event {first_event} " in run.out
    shown = re.sub(r"\s+", " ", run.out)
    assert str(filters[first_id]) in shown


def test_distribution_counts_every_event(fyke):
    run = fyke("demo", "--events=80", "--subscriptions=200")
    labels = ["0", "1", "2 to 3", "4 to 7", "8 to 15", "16 or more"]
    assert sum(number(run.out, label) for label in labels) == 80


def test_nothing_matched_is_fine(fyke):
    run = fyke("demo", "--events=1", "--subscriptions=1")
    assert run.code == 0
    assert number(run.out, "matches") == 0


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_fits_the_terminal(fyke, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    run = fyke("demo", "--events=60", "--subscriptions=200")
    assert max(map(len, run.out.splitlines())) <= columns


@pytest.mark.parametrize(
    "arguments", [["--events=0"], ["--events=x"], ["--subscriptions=-1"], ["y"]]
)
def test_sizes_that_make_no_sense(fyke, arguments):
    run = fyke("demo", *arguments)
    assert run.code == 2
    assert run.err.startswith("fyke: ")
    assert run.out == ""
