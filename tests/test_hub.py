"""The Hub: who is called, with what, and what happens when a callback raises."""

from __future__ import annotations

import asyncio

import pytest

import fyke
from fyke.events.event import Event
from fyke.hub import Failure, Hub


def test_the_line_of_the_design() -> None:
    hub = Hub()
    seen: list[object] = []

    @hub.subscribe("type is Stock and price < 10")
    def on_stock(event: Event) -> None:
        seen.append(event["price"])

    delivery = hub.publish({"type": "Stock", "price": 8.4})
    hub.publish({"type": "Stock", "price": 12})
    assert seen == [8.4]
    assert len(delivery.subscriptions) == 1
    assert hub.unsubscribe(on_stock) == 1
    hub.publish({"type": "Stock", "price": 1})
    assert seen == [8.4]
    assert len(hub) == 0


def test_handles_end_a_subscription_once() -> None:
    hub = Hub()
    seen: list[Event] = []
    with hub.subscribe("a = 1", seen.append) as handle:
        hub.publish({"a": 1})
    handle.unsubscribe()
    hub.publish({"a": 1})
    assert len(seen) == 1


def test_callbacks_are_called_in_the_order_of_subscription() -> None:
    hub = Hub()
    seen: list[str] = []
    handles = [hub.subscribe("true", lambda event, name=name: seen.append(name)) for name in "abc"]
    handles[0].unsubscribe()
    hub.subscribe("true", lambda event: seen.append("d"))
    delivery = hub.publish({})
    assert seen == ["b", "c", "d"]
    assert delivery.subscriptions[:2] == (handles[1].id, handles[2].id)


def test_a_callback_that_raises_stops_nobody_and_is_reported() -> None:
    reported: list[Failure] = []
    hub = Hub(on_error=lambda failure, event: reported.append(failure))
    seen: list[Event] = []

    def broken(event: Event) -> None:
        raise ValueError("broken")

    hub.subscribe("true", seen.append)
    hub.subscribe("true", broken)
    hub.subscribe("true", seen.append)
    delivery = hub.publish({})
    assert len(seen) == 2
    assert len(delivery.subscriptions) == 3
    assert [str(failure.error) for failure in delivery.failures] == ["broken"]
    assert reported == list(delivery.failures)


def test_failures_are_logged_by_default(caplog: pytest.LogCaptureFixture) -> None:
    hub = Hub()
    hub.subscribe("true", lambda event: 1 / 0)
    hub.publish({"a": 1})
    assert "ZeroDivisionError" in caplog.text


def test_an_on_error_that_raises_stops_nobody() -> None:
    def worse(failure: Failure, event: Event) -> None:
        raise RuntimeError

    hub = Hub(on_error=worse)
    seen: list[Event] = []
    hub.subscribe("true", lambda event: 1 / 0)
    hub.subscribe("true", seen.append)
    assert len(hub.publish({}).failures) == 1
    assert len(seen) == 1


def test_coroutines_without_a_loop_run_to_their_end() -> None:
    hub = Hub()
    seen: list[object] = []

    @hub.subscribe("a > 0")
    async def slow(event: Event) -> None:
        await asyncio.sleep(0)
        seen.append(event["a"])

    @hub.subscribe("a > 1")
    async def broken(event: Event) -> None:
        raise ValueError

    assert hub.publish({"a": 1}).failures == ()
    assert len(hub.publish({"a": 2}).failures) == 1
    assert seen == [1, 2]


def test_coroutines_in_a_loop() -> None:
    reported: list[Failure] = []
    hub = Hub(on_error=lambda failure, event: reported.append(failure))
    seen: list[str] = []

    async def main() -> None:
        met = asyncio.Event()

        async def first(event: Event) -> None:
            await met.wait()
            seen.append("first")

        async def second(event: Event) -> None:
            met.set()
            seen.append("second")
            raise ValueError

        hub.subscribe("true", first)
        hub.subscribe("true", second)
        delivery = await hub.publish_async({})
        assert len(delivery.failures) == 1
        met.clear()
        started = hub.publish({})
        assert len(started.pending) == 2
        await asyncio.gather(*started.pending)

    asyncio.run(main())
    assert seen == ["second", "first", "second", "first"]
    assert len(reported) == 2


def test_callbacks_may_change_the_hub_and_publish() -> None:
    hub = Hub()
    seen: list[object] = []

    def once(event: Event) -> None:
        hub.unsubscribe(once)
        hub.subscribe("b = 2", lambda event: seen.append("later"))
        seen.append("once")
        hub.publish({"b": 2})

    hub.subscribe("true", once)
    hub.subscribe("a = 1", lambda event: seen.append("other"))
    hub.publish({"a": 1})
    assert seen == ["once", "later", "other"]


def test_what_is_refused() -> None:
    hub = Hub()
    with pytest.raises(fyke.FilterError):
        hub.subscribe("a <", print)
    with pytest.raises(fyke.FykeError):
        hub.subscribe("true", "no function")  # type: ignore[call-overload]
    with pytest.raises(fyke.EventError):
        hub.publish({"a": float("nan")})
    assert len(hub) == 0
