"""Claims: every verdict is computed.

Rows are planted in which a claim is false, and where the world on paper does not show what the
paper says, rows in which it is true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from fyke.experiments.experiment import Claim, Results
from fyke.experiments.outcome import Judged
from fyke.experiments.papers import paper
from fyke.experiments.table import Row, Table
from tests.experiments.das.model import evaluated, graded, ranged, timed
from tests.experiments.das.model import world as made_world

Plant = Callable[[Results], Results]
CLAIMS = {claim.id: claim for claim in paper("das").claims}
FIRST = {"PF": 3.0, "EF": 2.0, "RN": 1.0}


@cache
def world() -> Results:
    return made_world()


def plant(study: str, change: Callable[[Row], Row], **where: Any) -> Plant:
    """Changes the rows that have these values."""

    def planted(results: Results) -> Results:
        chosen = results[study].where(**where).rows
        assert chosen
        ids = set(map(id, chosen))
        rows = Table.of(change(row) if id(row) in ids else row for row in results[study])
        return {**results, study: rows}

    return planted


def rate(study: str, value: Callable[[Row], float], **where: Any) -> Plant:
    """Plants an efficiency, by steps and by time."""
    return plant(study, lambda row: timed(row, 100 * value(row)), **where)


def put(study: str, column: str, value: Any, **where: Any) -> Plant:
    return plant(study, lambda row: {**row, column: value}, **where)


def scaled(study: str, column: str, factor: Callable[[Row], float], **where: Any) -> Plant:
    return plant(study, lambda row: {**row, column: row[column] * factor(row)}, **where)


def all_studies(value: Callable[[Row], float]) -> Plant:
    def planted(results: Results) -> Results:
        for study in ("bus", "brokers", "types", "locality", "amounts"):
            results = rate(study, value)(results)
        return results

    return planted


def order(**values: float) -> Callable[[Row], float]:
    return lambda row: values[row["strategy"]]


def cost(change: Callable[[Row], float], **where: Any) -> Plant:
    """Plants what an intersection costs."""
    return plant("sets", lambda row: row | ranged("touched", "microseconds", change(row)), **where)


def filtering(change: Callable[[Row], float], **where: Any) -> Plant:
    return plant("attributes", lambda row: row | evaluated(change(row)), **where)


FALSE: dict[str, Plant] = {
    "DAS-E0": plant("stability", lambda row: timed(row, 300.0 * (1 + row["repetition"]))),
    "DAS-E1.1": cost(lambda row: 1e6 / row["size"], form="pointers"),
    "DAS-E1.2": cost(lambda row: row["total"] * row["size"], form="bits"),
    "DAS-E1.3": cost(lambda row: 1.0, form="bits"),
    "DAS-E2.1": filtering(lambda row: row["attributes"], p_e=0.0, failing="evenly"),
    "DAS-E2.2": filtering(lambda row: row["attributes"] ** 3, failing="evenly"),
    "DAS-E2.3": filtering(lambda row: 9.0, failing="late, reordered"),
    "DAS-E3.1": rate("bus", lambda row: 1 + row["p_e"], strategy="EF"),
    "DAS-E3.2": rate("bus", order(PF=1, EF=2, RN=1), varies="p_e", p_e=0.1),
    "DAS-E3.3": rate("bus", lambda row: 2 - row["p_e"], strategy="EF"),
    "DAS-E3.4": rate("bus", lambda row: 3 - row["p_e"] ** 0.2, strategy="EF"),
    "DAS-E4.1": rate("bus", order(PF=1, EF=2, RN=1), varies="p_p", p_p=1.0, sigma=5),
    "DAS-E4.2": rate("bus", lambda row: 1 / row["sigma"], varies="p_p", strategy="PF", p_p=0.5),
    "DAS-E4.3": rate("bus", lambda row: 1 / row["sigma"] ** 3, varies="p_p", strategy="EF"),
    "DAS-E4.4": rate("bus", order(PF=3, EF=2, RN=1), varies="p_p", p_p=0.1),
    "DAS-E4.5": rate("bus", lambda row: 1 / row["sigma"], varies="p_p", strategy="EF"),
    "DAS-E5.1": scaled("bus", "load", lambda row: 1.01, strategy="PF"),
    "DAS-E5.2": scaled("bus", "load", lambda row: 1.01, strategy="EF"),
    "DAS-E5.3": scaled("bus", "load", lambda row: 1.01, strategy="RN"),
    "DAS-E5.4": scaled("bus", "load", lambda row: row["sigma"], strategy="RN"),
    "DAS-E5.5": put("bus", "load", 1.0, strategy="RN", varies="p_p"),
    "DAS-E6.1": rate("brokers", lambda row: 1.0, strategy="PF"),
    "DAS-E6.2": rate("brokers", lambda row: row["brokers"], strategy="EF"),
    "DAS-E6.3": rate("brokers", lambda row: 1 / row["p_p"], strategy="EF", brokers=9),
    "DAS-E6.4": rate("brokers", lambda row: row["brokers"], strategy="RN"),
    "DAS-E6.5": rate("brokers", lambda row: 100.0, strategy="RN", brokers=9),
    "DAS-E6.6": rate("brokers", lambda row: 1 / row["brokers"], strategy="PF"),
    "DAS-E6.7": rate("brokers", lambda row: 0.01, strategy="EF", brokers=8),
    "DAS-E6.8": rate("brokers", lambda row: row["brokers"], strategy="RN"),
    "DAS-E6.9": put("brokers", "busiest", "B1", strategy="RN", brokers=3),
    "DAS-E7.1": put("brokers", "duplication", 8.9, strategy="PF", brokers=9),
    "DAS-E7.2": put("brokers", "duplication", 1.1, strategy="EF", brokers=9),
    "DAS-E7.3": put("brokers", "duplication", 2.6, strategy="RN", brokers=9),
    "DAS-E7.4": put("brokers", "load", 7.9, strategy="EF", brokers=9),
    "DAS-E7.5": put("brokers", "load", 0.01, strategy="RN", brokers=4),
    "DAS-E7.6": scaled("brokers", "load", lambda row: 2.0, strategy="RN", brokers=9, p_p=1.0),
    "DAS-E8.1": rate("bus", lambda row: row["sigma"], varies="p_e", strategy="RN"),
    "DAS-E8.2": rate("bus", order(PF=3, EF=2, RN=1), varies="p_e", p_e=0.1, sigma=5),
    "DAS-E8.3": rate("bus", order(PF=3, EF=2, RN=1), varies="p_e", p_e=1.0),
    "DAS-E8.4": rate("bus", lambda row: 10 - row["p_e"] * row["sigma"], strategy="PF"),
    "DAS-E9.1": rate("bus", lambda row: row["sigma"] ** 2, varies="p_p", strategy="RN"),
    "DAS-E9.2": rate("bus", lambda row: FIRST[row["strategy"]] ** (1 / row["sigma"]), varies="p_p"),
    "DAS-E9.3": rate("bus", lambda row: row["sigma"], varies="p_p", strategy="EF"),
    "DAS-E10.1": scaled("bus", "load", lambda row: row["sigma"], varies="p_e"),
    "DAS-E10.2": put("bus", "load", 1.0, varies="p_p", strategy="PF"),
    "DAS-E10.3": put("bus", "duplication", 2.0, strategy="RN"),
    "DAS-E11.1": rate("types", lambda row: row["types"], strategy=("PF", "EF")),
    "DAS-E11.2": rate("types", lambda row: 1 / row["types"], strategy="RN"),
    "DAS-E11.3": rate("types", lambda row: 1 / row["types"], strategy=("PF", "EF")),
    "DAS-E11.4": rate("types", lambda row: 1 / row["p_p"], strategy="EF"),
    "DAS-E11.5": rate("types", lambda row: row["p_p"], strategy="PF"),
    "DAS-E11.6": rate("types", lambda row: row["types"], strategy="RN"),
    "DAS-E12.1": put("types", "duplication", 8.0, strategy="PF", types=3),
    "DAS-E12.2": put("types", "duplication", 2.5, strategy="RN", types=7),
    "DAS-E12.3": put("types", "load", 3.0, strategy="RN"),
    "DAS-E12.4": put("types", "load", 3.0, strategy="RN"),
    "DAS-E13.1": rate("locality", lambda row: 1 + 9 * row["locality"], strategy="RN"),
    "DAS-E13.2": rate("locality", lambda row: 1 + 3 * row["locality"], strategy="PF"),
    "DAS-E13.3": rate("locality", lambda row: 1 + row["locality"], strategy="RN"),
    "DAS-E13.4": rate("locality", lambda row: 1 + row["locality"], strategy="EF"),
    "DAS-E14.1": put("locality", "load", 2.0, strategy="RN"),
    "DAS-E15.1": rate("amounts", order(PF=3, EF=1, RN=2)),
    "DAS-E15.2": rate("amounts", order(**FIRST)),
    "DAS-E15.3": put("amounts", "largest_table", 50_000, strategy="RN"),
    "DAS-E15.4": put("bus", "largest_table", 3_600, strategy="RN"),
    "DAS-E16.1": put("types", "load", 0.01, strategy="RN"),
    "DAS-E16.2": put("types", "duplication", 9.5, strategy="RN"),
    "DAS-E16.3": rate("locality", order(PF=1, EF=2, RN=3), p_p=1.0),
    "DAS-E16.4": all_studies(order(PF=1, EF=2, RN=1)),
    "DAS-E16.5": all_studies(order(PF=1, EF=2, RN=1.5)),
    "DAS-E16.6": all_studies(order(**FIRST)),
    "DAS-E16.7": all_studies(lambda row: 1 + row["p_p"] * FIRST[row["strategy"]]),
    **{
        f"DAS-T1.{at}": lambda results: {**results, "variants": Table.of(graded(-1))}
        for at in range(1, 5)
    },
    "DAS-W1": scaled("work", "count", lambda row: row["p_e"], strategy="EF", counter="sent"),
    "DAS-W2": put("work", "count", 1.0, strategy="PF", counter="notified"),
    "DAS-W3": put("work", "held", 0.5, strategy="PF", broker=1),
}
"""Where a claim differs."""

TRUE: dict[str, Plant] = {
    "DAS-E3.4": rate("bus", lambda row: 3 - row["p_e"], strategy="EF"),
    "DAS-E4.5": rate("bus", lambda row: row["sigma"], varies="p_p", strategy="EF"),
    "DAS-E6.4": rate("brokers", lambda row: 1.0, strategy="RN"),
    "DAS-E6.6": rate("brokers", lambda row: row["brokers"] / row["p_p"] ** (row["brokers"] / 9),
                     strategy="PF"),
    "DAS-E8.3": rate("bus", order(PF=1.2, EF=1.1, RN=1), varies="p_e", p_e=1.0),
    "DAS-E11.2": rate("types", lambda row: row["types"], strategy="RN"),
    "DAS-E11.3": rate("types", lambda row: 1 + row["types"] / 50, strategy=("PF", "EF")),
    "DAS-E11.6": rate("types", lambda row: 1 / row["types"], strategy="RN"),
    "DAS-E13.2": rate("locality", lambda row: 1 + 2 * row["locality"], strategy="PF"),
    "DAS-E15.1": rate("amounts", order(**FIRST)),
    "DAS-E15.2": rate(
        "amounts",
        lambda row: 0.1 if row["profiles"] > (350_000 if row["strategy"] == "EF" else 100_000)
        else 1.0,
    ),
    "DAS-E16.4": rate("locality", order(PF=1, EF=2, RN=1), p_p=1.0),
}  # fmt: skip
"""Where it is reproduced, of those that are not in the world on paper."""


def test_every_claim_has_rows_in_which_it_differs():
    assert FALSE.keys() == CLAIMS.keys()


@pytest.mark.parametrize("id", CLAIMS)
def test_planted_rows_decide(id):
    claim = CLAIMS[id]
    before = TRUE.get(id, lambda results: results)(world())
    held = claim.judge(before)
    assert held.verdict == "reproduced", (held.ours, held.why)
    assert False not in held.by.values()
    found = claim.judge(FALSE[id](world()))
    assert found.verdict == "differs", found.ours
    assert True not in found.by.values()
    assert found.why


TIMED = [claim for claim in CLAIMS.values() if claim.judge(world()).by.keys() == {"steps", "time"}]


def contrary(results: Results, other: Results) -> Results:
    """The times of other results."""
    names = ("events_per_s", "microseconds", "seconds_per_100k")
    columns = {f"{name}{end}" for name in names for end in ("", "_low", "_high")}
    return {
        study: Table.of(
            {**row, **{name: value for name, value in its.items() if name in columns}}
            for row, its in zip(results[study], other[study], strict=True)
        )
        for study in results
    }


@pytest.mark.parametrize("claim", TIMED, ids=lambda claim: claim.id)
def test_time_decides_and_both_verdicts_are_shown(claim: Claim):
    true = TRUE.get(claim.id, lambda results: results)(world())
    false = FALSE[claim.id](world())
    found = claim.judge(contrary(true, false))
    steps = claim.judge(true).by["steps"]
    assert found.by == {"steps": steps, "time": False}
    assert found.verdict == "differs"
    shown = Judged(claim, found).document()
    assert shown["by"]["time"] == "differs"
    if steps is not None:
        assert shown["by"]["steps"] == "reproduced" and "Steps and time disagree" in found.why


def test_what_repeats_do_not_tell_is_left_to_steps():
    def blurred(row: Row) -> Row:
        return {**row, "events_per_s_low": 1.0, "events_per_s_high": 1e9}

    found = CLAIMS["DAS-E4.1"].judge(plant("bus", blurred)(world()))
    assert found.by == {"steps": True, "time": None}
    assert found.verdict == "reproduced" and "Time does not tell" in found.why


def test_a_collapse_needs_more_profiles_than_the_paper_could_hold():
    few = {**world(), "amounts": world()["amounts"].keep(lambda row: row["profiles"] < 200_000)}
    assert CLAIMS["DAS-E15.2"].judge(few).verdict == "not comparable"


def test_steps_that_cannot_differ_say_nothing():
    assert CLAIMS["DAS-E11.1"].judge(world()).by["steps"] is None


# --- words ----------------------------------------------------------------------------------------


def test_the_paper_speaks_for_itself():
    """No numbers of ours, and no sentence twice but that of the table."""
    words = [claim.paper for claim in CLAIMS.values()]
    assert all(len(each.split()) > 3 for each in words)
    assert not any("1.25 p_e" in each or "in words" in each for each in words)
    repeated = {each for each, count in Counter(words).items() if count > 1}
    assert len(repeated) == 1 and "poor to excellent" in repeated.pop()


def test_choices_are_said_to_be_ours():
    assert all(claim.rule for claim in CLAIMS.values())
    circular = {claim.id for claim in CLAIMS.values() if claim.circular}
    assert circular == {"DAS-E2.1", "DAS-E6.7", "DAS-E7.3", "DAS-E12.2", "DAS-E12.3"}
