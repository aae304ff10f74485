"""Traces as files: written piece by piece, whole or not there, read line by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.errors import FykeError
from fyke.nodes.node import Stats
from fyke.testing.generators import strings
from fyke.traces import trace_file
from fyke.traces.trace import (
    Delivered,
    Happened,
    Held,
    Lost,
    Record,
    Rejected,
    Sent,
    Told,
    lines,
    read,
)
from fyke.traces.trace_file import TraceFile

names = strings()
times = st.floats(0, 1e6)
counts = st.integers(0, 2**40)
records = st.one_of(
    st.builds(Told, times, names, names, names, names),
    st.builds(Sent, times, names, names, names, names, counts, counts, counts),
    st.builds(Delivered, times, names, names, names, st.lists(names, max_size=3).map(tuple)),
    st.builds(Rejected, times, names, names, names, names),
    st.builds(Lost, times, names, names, names, names),
    st.builds(Happened, times, names, names, names),
    st.builds(Held, times, names, st.builds(Stats, counts, rows=counts)),
)


@given(st.lists(records, max_size=9))
def test_records_come_back_equal(tmp_path_factory, every: list[Record]):
    path = tmp_path_factory.getbasetemp() / "trace.jsonl"
    path.write_bytes(lines(every))
    assert list(read(path)) == every


def test_frames_stand_in_the_trace_only_where_there_was_trouble():
    fine, poor = Sent(0.0, "a", "b", "Publish", "e", 5), Sent(0.0, "a", "b", "Publish", "e", 5, 2)
    assert b"resent" not in lines([fine])
    assert b'"resent":2}' in lines([poor])


def test_a_file_appears_whole(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(trace_file, "PIECE", 3)
    path = tmp_path / "trace.jsonl"
    every = [Lost(float(at), "a", "b", "Publish", f"é{at}") for at in range(10)]
    with TraceFile(path) as trace:
        for record in every:
            trace.write(record)
        assert not path.exists()
        (staging,) = tmp_path.iterdir()
        trace._open().flush()
        assert len(list(read(staging))) == 9, "all but the last are written already"
    assert [path] == list(tmp_path.iterdir())
    assert list(read(path)) == every
    assert trace.records == 10


def test_a_failed_run_leaves_an_older_trace_alone(tmp_path: Path):
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), TraceFile(path) as trace:
        trace.write(Told(0.0, "a", "b", "Connect"))
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert [path] == list(tmp_path.iterdir())


def test_where_nothing_can_be_written(tmp_path: Path):
    with (
        pytest.raises(FykeError, match="No such file"),
        TraceFile(tmp_path / "nowhere" / "trace.jsonl"),
    ):
        pass
    with pytest.raises(FykeError, match="Is a directory"), TraceFile(tmp_path):
        pass
    assert not [each for each in tmp_path.parent.iterdir() if each.name.endswith(".new")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_full_disk_is_told(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(trace_file, "PIECE", 1)
    trace = TraceFile(tmp_path / "trace.jsonl")
    trace._staging.symlink_to("/dev/full")
    trace._stream = open("/dev/full", "wb", buffering=0)  # noqa: SIM115
    with pytest.raises(FykeError, match="No space left"):
        trace.write(Told(0.0, "a", "b", "Connect"))
    trace._stream.close()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"is":"lost"}\n', "line 2: .*missing required field"),
        (b'{"is":"found","t":1.0}\n', "line 2: Invalid value 'found'"),
        (b'{"is":"lost","t":1.0,"at":"a"', "line 2: .*truncated"),
        (b"\n", "line 2: "),
        (b"[" * 10_000, "line 2: "),
        (b"\xff\xfe\n", "line 2: "),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, text: bytes, problem: str):
    path = tmp_path / "trace.jsonl"
    path.write_bytes(lines([Told(0.0, "a", "b", "Connect")]) + text)
    with pytest.raises(FykeError, match=problem):
        list(read(path))


def test_a_trace_that_is_not_there(tmp_path: Path):
    with pytest.raises(FykeError, match="No such file"):
        list(read(tmp_path / "nothing"))
