"""Reading ahead: the bytes of the stream, its errors, and an end whenever it is wanted."""

from __future__ import annotations

import io
import threading

import pytest

from fyke.cli.reading.read_ahead import PIECE, WAITING_MAX, read_ahead


def test_the_bytes_are_those_of_the_stream() -> None:
    text = bytes(range(256)) * (PIECE // 64)
    with read_ahead(io.BytesIO(text).read) as ahead:
        parts = iter(lambda: ahead.read1(100_001), b"")
        assert b"".join(parts) == text
        assert ahead.read1() == b""


def test_what_reading_raises_is_raised_after_what_came_before() -> None:
    pieces = [b"first"]

    def read(size: int) -> bytes:
        if pieces:
            return pieces.pop()
        raise OSError("torn")

    with read_ahead(read) as ahead:
        assert ahead.read1(3) + ahead.read1(9) == b"first"
        for _ in range(2):
            with pytest.raises(OSError, match="torn"):
                ahead.read1()


def test_it_reads_a_few_pieces_ahead_and_ends_with_the_block() -> None:
    asked = 0
    enough = threading.Event()

    def read(size: int) -> bytes:
        nonlocal asked
        asked += 1
        if asked == WAITING_MAX + 1:
            enough.set()
        return b"x" * size

    with read_ahead(read) as ahead:
        assert enough.wait(20)
        assert ahead.read1(7) == b"x" * 7
    assert not ahead._thread.is_alive()
    assert asked <= WAITING_MAX + 2
