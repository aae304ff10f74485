"""`hub.stream`: events for a coroutine, a bounded queue, and what happens when it is full."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest

import fyke
from fyke.hub import Hub
from fyke.hub_stream import Stream, StreamOverflow


def run(story: Callable[[Hub], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        return await asyncio.wait_for(story(Hub()), 20)

    return asyncio.run(bounded())


async def taken(stream: Stream, most: int) -> list[object]:
    found: list[object] = []
    async for event in stream:
        found.append(event["a"])
        if len(found) == most:
            break
    return found


def test_events_come_in_order_from_the_moment_the_stream_is_made() -> None:
    async def story(hub: Hub) -> None:
        hub.publish({"a": 0})
        stream = hub.stream("exists a", id="mine")
        assert hub.publish({"a": 1}).subscriptions == ("mine",)
        hub.publish({"b": 1})
        hub.publish(b'{"a": 2}')
        assert len(stream) == 2
        reader = asyncio.create_task(taken(stream, 4))
        await asyncio.sleep(0)
        await hub.publish_async({"a": 3})
        hub.publish({"a": 4})
        assert await reader == [1, 2, 3, 4]
        stream.close()
        stream.close()
        assert len(hub) == 0
        assert hub.publish({"a": 5}).subscriptions == ()
        assert await taken(stream, 1) == []

    run(story)


def test_what_waits_is_read_after_the_end() -> None:
    async def story(hub: Hub) -> None:
        async with hub.stream("exists a") as stream:
            hub.publish({"a": 1})
        hub.publish({"a": 2})
        assert await taken(stream, 5) == [1]
        async with aclosing(hub.stream("exists a")) as stream:
            pass
        assert len(hub) == 0

    run(story)


def test_a_full_stream_ends_and_says_so_once() -> None:
    async def story(hub: Hub) -> None:
        stream = hub.stream("exists a", size=2)
        for number in range(5):
            assert hub.publish({"a": number}).failures == ()
        assert len(hub) == 0
        assert [(await anext(stream))["a"] for _ in range(2)] == [0, 1]
        with pytest.raises(StreamOverflow, match="2 events waited and one more came"):
            await anext(stream)
        assert await taken(stream, 1) == []

    run(story)


def test_a_waiting_reader_hears_of_the_end() -> None:
    async def story(hub: Hub) -> None:
        stream = hub.stream("exists a", size=1)
        reader = asyncio.create_task(taken(stream, 9))
        await asyncio.sleep(0)
        hub.publish({"a": 1})
        hub.publish({"a": 2})
        with pytest.raises(StreamOverflow):
            await reader
        other = hub.stream("exists a")
        reader = asyncio.create_task(taken(other, 9))
        await asyncio.sleep(0)
        other.close()
        assert await reader == []

    run(story)


def test_the_oldest_make_room() -> None:
    async def story(hub: Hub) -> None:
        stream = hub.stream("exists a", size=3, when_full="drop")
        for number in range(10):
            hub.publish({"a": number})
        assert (len(stream), stream.dropped) == (3, 7)
        assert await taken(stream, 3) == [7, 8, 9]
        hub.publish({"a": 10})
        assert await taken(stream, 1) == [10]
        assert repr(stream) == "<Stream, open, 0 of 3 waiting, 7 dropped>"

    run(story)


def test_readers_share_the_events() -> None:
    async def story(hub: Hub) -> None:
        stream = hub.stream("exists a")
        readers = [asyncio.create_task(taken(stream, 10)) for _ in range(3)]
        await asyncio.sleep(0)
        for number in range(30):
            hub.publish({"a": number})
            await asyncio.sleep(0)
        found = await asyncio.gather(*readers)
        assert sorted(each for part in found for each in part) == list(range(30))

    run(story)


def test_a_reader_that_gives_up_loses_nothing() -> None:
    async def story(hub: Hub) -> None:
        stream = hub.stream("exists a")
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(stream), 0.001)
        hub.publish({"a": 1})
        assert await taken(stream, 1) == [1]
        assert not stream._readers

    run(story)


def test_events_come_from_other_threads() -> None:
    async def story(hub: Hub) -> list[object]:
        stream = hub.stream("exists a", size=5_000)

        def publish(first: int) -> None:
            for number in range(first, first + 500):
                hub.publish({"a": number})

        threads = [threading.Thread(target=publish, args=(n * 500,)) for n in range(4)]
        for thread in threads:
            thread.start()
        found = await taken(stream, 2_000)
        for thread in threads:
            thread.join()
        return found

    assert sorted(run(story)) == list(range(2_000))


def test_a_stream_that_nobody_holds_ends_with_the_next_event() -> None:
    hub = Hub()
    hub.stream("exists a")
    gc.collect()
    assert len(hub) == 1
    hub.publish({"a": 1})
    assert len(hub) == 0


def test_a_loop_that_was_closed_stops_no_publisher() -> None:
    hub = Hub()
    stream = hub.stream("exists a")

    async def wait() -> None:
        reader = asyncio.create_task(anext(stream))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        reader._log_destroy_pending = False  # type: ignore[attr-defined]
        kept.append(reader)

    kept: list[object] = []
    loop = asyncio.new_event_loop()
    loop.run_until_complete(wait())
    loop.close()
    assert hub.publish({"a": 1}).failures == ()
    assert asyncio.run(taken(stream, 1)) == [1]


@fyke.event
class Streamed:
    a: int


def test_objects_and_where() -> None:
    async def story(hub: Hub) -> None:
        stream = hub.stream(Streamed, where=lambda reading: reading.a > 1)
        for number in range(4):
            hub.publish(Streamed(number))
        assert [await anext(stream) for _ in range(2)] == [Streamed(2), Streamed(3)]

    run(story)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": 0}, "size is 0; expected 1 or more"),
        ({"size": True}, "size is True"),
        ({"when_full": "wait"}, "when_full is 'wait'; expected 'end' or 'drop'"),
    ],
)
def test_options_that_mean_nothing(options: dict[str, Any], sentence: str) -> None:
    hub = Hub()
    with pytest.raises(fyke.FykeError, match=sentence):
        hub.stream("a = 1", **options)
    assert len(hub) == 0


def test_a_filter_that_cannot_be_read() -> None:
    with pytest.raises(fyke.FilterError):
        Hub().stream("a =")
