"""The counts of a stream, and what it adds up to, without Spark."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.cli.stages import facts, fitting
from fyke.errors import FykeError
from fyke.pipeline.live.batch_counts import BatchCounts, CountsLog, Position
from fyke.pipeline.live.rates import RATES_MAX, Now, summarize

ENTRY = BatchCounts(
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


def entry(batch: int, at: float, start: int = 1) -> BatchCounts:
    return replace(ENTRY, batch=batch, start=start, began=ENTRY.began + at)


@pytest.fixture
def counts_log(tmp_path: Path) -> CountsLog:
    return CountsLog(str(tmp_path / "batches.ndjson"))


def test_entries_are_added_once(counts_log):
    assert counts_log.last() is None and list(counts_log.entries()) == []
    first, second = entry(0, 0), entry(1, 1)
    counts_log.add(first)
    counts_log.add(replace(first, events=999))
    counts_log.add(second)
    counts_log.add(first)
    assert list(counts_log.entries()) == [first, second]
    assert counts_log.last() == second


def test_what_was_half_written_is_cut_off(counts_log):
    first, second = entry(0, 0), entry(1, 1)
    counts_log.add(first)
    whole = Path(counts_log.path).read_bytes()
    for length in range(len(whole)):
        Path(counts_log.path).write_bytes(whole + whole[:length])
        assert counts_log.last() == first
        assert list(counts_log.entries()) == [first]
        counts_log.add(second)
        assert list(counts_log.entries()) == [first, second]


def test_what_was_added_is_there_for_good(synced):
    counts_log = CountsLog(str(synced.folder / "batches.ndjson"))
    for batch in range(4):

        def check(batch=batch):
            for copy in synced.possible():
                found = list(CountsLog(str(copy / "batches.ndjson")).entries())
                assert [each.batch for each in found] in (
                    list(range(batch)),
                    list(range(batch + 1)),
                )

        synced.before_each = check
        counts_log.add(entry(batch, batch))
        check(batch + 1)


def test_a_reader_that_stops_goes_on_with_the_next(counts_log):
    for batch in range(4):
        counts_log.add(entry(batch, batch))
    place = Position()
    assert [next(counts_log.read(place)).batch for _ in range(4)] == [0, 1, 2, 3]


def test_readers_go_on_where_they_were(counts_log):
    place = Position()
    assert list(counts_log.read(place)) == []
    for batch in range(3):
        counts_log.add(entry(batch, batch))
        assert [each.batch for each in counts_log.read(place)] == [batch]
    with open(counts_log.path, "ab") as file:
        file.write(b'{"batch":')
    assert list(counts_log.read(place)) == []


@pytest.mark.parametrize("line", ["{}", "[]", "x", '{"batch": 1'])
def test_other_lines_are_refused(counts_log, line):
    Path(counts_log.path).write_text(line + "\n")
    with pytest.raises(FykeError, match="is no entry of a batch"):
        counts_log.last()
    with pytest.raises(FykeError, match=r"batches\.ndjson"):
        list(counts_log.entries())


def test_rates_now_are_those_of_this_start(counts_log):
    for batch in range(5):
        counts_log.add(entry(batch, batch))
    now = Now(counts_log)
    assert now.look().batch == -1 and now.totals.events == 500
    assert facts(now.look()) == ["no batch yet"]
    counts_log.add(entry(5, 100, start=2))
    pulse = now.look()
    assert (pulse.batch, pulse.events, pulse.refused, pulse.matches) == (5, 600, 6, 240)
    assert pulse.arriving_per_s == pytest.approx(200)
    for batch in range(6, 60):
        counts_log.add(entry(batch, 95 + batch, start=2))
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


def test_nothing_to_sum_up(counts_log):
    totals, found = summarize(counts_log)
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
    counts_log = CountsLog(str(tmp_path_factory.mktemp("counts_log") / "batches.ndjson"))
    at, start, entries = 0.0, 1, []
    for number, (pause, events, again) in enumerate(batches):
        at, start = at + pause, start + (again and number > 0)
        entries.append(replace(entry(number, at, start), events=events, matches=2 * events))
    text = "".join(json.dumps(asdict(each)) + "\n" for each in entries)
    Path(counts_log.path).write_text(text)
    totals, found = summarize(counts_log)
    assert totals.events == sum(each.events for each in entries)
    assert sum(rate.events for rate in found.rates) == pytest.approx(totals.events)
    assert sum(rate.matches for rate in found.rates) == pytest.approx(totals.matches)
    assert all(rate.events >= 0 for rate in found.rates)
    assert 1 <= len(found.rates) <= RATES_MAX + 1
    assert found.starts == start == len(found.restarts_s) + 1
    assert (found.batches, found.latency_s) == (len(entries), 0.5)
    assert 0 < found.running_s <= entries[-1].ended - entries[0].began + 1e-3
