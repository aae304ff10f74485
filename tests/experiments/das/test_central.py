"""Figures 4 and 7: what is counted is what happens."""

from __future__ import annotations

import pytest

from fyke.experiments.das.central import evaluate, intersect


def test_pointers_count_members_and_bits_count_words():
    rows = intersect({"total": 6_400, "size": 1_000, "at_a_time": 2, "repeats": 2}, 0)
    assert {row["form"]: row["touched"] for row in rows} == {"pointers": 2_000, "bits": 200}


def test_half_of_the_attributes_are_evaluated_for_events_that_match_nothing():
    rows = evaluate({"attributes": 5, "profiles": 7, "events": 100, "repeats": 2}, 0)
    evenly = [row for row in rows if row["failing"] == "evenly"]
    assert {row["p_e"]: row["evaluations"] for row in evenly} == {
        0.0: 3.0, 0.25: 3.5, 0.5: 4.0, 0.75: 4.5, 1.0: 5.0,
    }  # fmt: skip
    for row in rows:
        assert row["matched"] == pytest.approx(row["p_e"] * row["events"])
        assert (
            0
            < row["seconds_per_100k_low"]
            <= row["seconds_per_100k"]
            <= row["seconds_per_100k_high"]
        )


def test_another_order_refuses_sooner_what_fails_late():
    rows = evaluate({"attributes": 4, "profiles": 30, "events": 200, "repeats": 1}, 0)
    late = {row["failing"]: row["evaluations"] for row in rows if row["failing"] != "evenly"}
    assert late["late"] > 3.5
    assert late["late, reordered"] < 1.5
