"""The ledger of a stream, and what it adds up to, without Spark."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.cli.stages import facts, fitting
from fyke.errors import FykeError
from fyke.pipeline.ledger import Entry, Ledger, Place
from fyke.pipeline.reckoning import RATES_MAX, Now, reckoned

ENTRY = Entry(
    batch=0,
    start=1,
    version=1,
    began=1_700_000_000.0,
    duration_s=0.5,
    events=100,
    refused=1,
    matches=40,
    notifications=30,
)


def entry(batch: int, at: float, start: int = 1) -> Entry:
    return replace(ENTRY, batch=batch, start=start, began=ENTRY.began + at)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(str(tmp_path / "batches.ndjson"))


def test_entries_are_added_once(ledger):
    assert ledger.last() is None and list(ledger.entries()) == []
    first, second = entry(0, 0), entry(1, 1)
    ledger.add(first)
    ledger.add(replace(first, events=999))
    ledger.add(second)
    ledger.add(first)
    assert list(ledger.entries()) == [first, second]
    assert ledger.last() == second


def test_what_was_half_written_is_cut_off(ledger):
    first, second = entry(0, 0), entry(1, 1)
    ledger.add(first)
    whole = Path(ledger.path).read_bytes()
    for length in range(len(whole)):
        Path(ledger.path).write_bytes(whole + whole[:length])
        assert ledger.last() == first
        assert list(ledger.entries()) == [first]
        ledger.add(second)
        assert list(ledger.entries()) == [first, second]


def test_what_was_added_is_there_for_good(synced):
    ledger = Ledger(str(synced.folder / "batches.ndjson"))
    for batch in range(4):

        def check(batch=batch):
            for copy in synced.possible():
                found = list(Ledger(str(copy / "batches.ndjson")).entries())
                assert [each.batch for each in found] in (
                    list(range(batch)),
                    list(range(batch + 1)),
                )

        synced.before_each = check
        ledger.add(entry(batch, batch))
        check(batch + 1)


def test_a_reader_that_stops_goes_on_with_the_next(ledger):
    for batch in range(4):
        ledger.add(entry(batch, batch))
    place = Place()
    assert [next(ledger.read(place)).batch for _ in range(4)] == [0, 1, 2, 3]


def test_readers_go_on_where_they_were(ledger):
    place = Place()
    assert list(ledger.read(place)) == []
    for batch in range(3):
        ledger.add(entry(batch, batch))
        assert [each.batch for each in ledger.read(place)] == [batch]
    with open(ledger.path, "ab") as file:
        file.write(b'{"batch":')
    assert list(ledger.read(place)) == []


@pytest.mark.parametrize("line", ["{}", "[]", "x", '{"batch": 1'])
def test_other_lines_are_refused(ledger, line):
    Path(ledger.path).write_text(line + "\n")
    with pytest.raises(FykeError, match="is no entry of a batch"):
        ledger.last()
    with pytest.raises(FykeError, match=r"batches\.ndjson"):
        list(ledger.entries())


def test_rates_now_are_those_of_this_start(ledger):
    for batch in range(5):
        ledger.add(entry(batch, batch))
    now = Now(ledger)
    assert now.look().batch == -1 and now.totals.events == 500
    assert facts(now.look()) == ["no batch yet"]
    ledger.add(entry(5, 100, start=2))
    pulse = now.look()
    assert (pulse.batch, pulse.events, pulse.refused, pulse.matches) == (5, 600, 6, 240)
    assert pulse.arriving_per_s == pytest.approx(200)
    for batch in range(6, 60):
        ledger.add(entry(batch, 95 + batch, start=2))
    pulse = now.look()
    assert pulse.arriving_per_s == pytest.approx(100)
    assert pulse.processed_per_s == pytest.approx(200)
    assert pulse.matches_per_s == pytest.approx(40, rel=0.1)
    assert pulse.latency_s == 0.5
    line = facts(pulse)
    assert line[0] == "100 events/s"
    assert fitting(line, 1_000) == "  ".join(line)
    assert fitting(line, 0) == line[0]
    assert all(len(fitting(line, width)) <= width for width in range(20, 120))


def test_nothing_to_reckon(ledger):
    totals, found = reckoned(ledger)
    assert totals.batches == 0 and found is None


@given(
    st.lists(
        st.tuples(st.floats(0.5, 500), st.integers(0, 10**6), st.booleans()),
        min_size=1,
        max_size=60,
    )
)
def test_stretches_hold_everything(tmp_path_factory, batches):
    """However batches lie in time, no event and no match is lost in the rates."""
    ledger = Ledger(str(tmp_path_factory.mktemp("ledger") / "batches.ndjson"))
    at, start, entries = 0.0, 1, []
    for number, (pause, events, again) in enumerate(batches):
        at, start = at + pause, start + (again and number > 0)
        entries.append(replace(entry(number, at, start), events=events, matches=2 * events))
    text = "".join(json.dumps(asdict(each)) + "\n" for each in entries)
    Path(ledger.path).write_text(text)
    totals, found = reckoned(ledger)
    assert totals.events == sum(each.events for each in entries)
    assert sum(rate.events for rate in found.rates) == pytest.approx(totals.events)
    assert sum(rate.matches for rate in found.rates) == pytest.approx(totals.matches)
    assert all(rate.events >= 0 for rate in found.rates)
    assert 1 <= len(found.rates) <= RATES_MAX + 1
    assert found.starts == start == len(found.restarts_s) + 1
    assert (found.batches, found.latency_s) == (len(entries), 0.5)
    assert 0 < found.running_s <= entries[-1].ended - entries[0].began + 1e-3
