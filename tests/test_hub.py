"""The Hub: who is called, with what, and what happens when a callback raises."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events import json
from fyke.events.event import Event
from fyke.hub import Failure, Handle, Hub
from fyke.typed.packing import pack


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


class Listener:
    """An object whose methods are callbacks: each look at one makes another bound method."""

    def __init__(self, name: str, heard: list[str]) -> None:
        self.name = name
        self.heard = heard

    def one(self, event: Event) -> None:
        self.heard.append(f"{self.name}.one")

    def other(self, event: Event) -> None:
        self.heard.append(f"{self.name}.other")


NAMES = ["x.one", "x.other", "y.one", "y.other"]
FILTERS = ["a = 1", "a = 2", "true", "a > 0 and b = 1"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["subscribe", "subscribe", "unsubscribe", "end", "end twice"]),
            st.sampled_from(NAMES),
            st.sampled_from(FILTERS),
        ),
        max_size=20,
    )
)
def test_who_is_called_after_any_history(steps: list[tuple[str, str, str]]) -> None:
    """Against a list of (callback, filter); callbacks are methods, looked up anew each time."""
    heard: list[str] = []
    listeners = {name: Listener(name, heard) for name in "xy"}
    hub = Hub()
    expected: list[tuple[str, str, Handle]] = []

    def callback(name: str) -> Callable[[Event], None]:
        listener, method = name.split(".")
        found: Callable[[Event], None] = getattr(listeners[listener], method)
        return found

    for step, name, filter in steps:
        if step == "subscribe":
            expected.append((name, filter, hub.subscribe(filter, callback(name))))
        elif step == "unsubscribe":
            gone = [each for each in expected if each[0] == name]
            assert hub.unsubscribe(callback(name)) == len(gone)
            expected = [each for each in expected if each[0] != name]
        elif expected:
            at = len(name + filter) % len(expected)
            for _ in range(1 + (step == "end twice")):
                expected[at][2].unsubscribe()
            del expected[at]
        assert len(hub) == len(expected)
        event = {"a": 1 + len(expected) % 2, "b": 1}
        heard.clear()
        delivery = hub.publish(event)
        right = [each for each in expected if fyke.parse(each[1]).matches(event)]
        assert heard == [name for name, *_ in right]
        assert delivery.subscriptions == tuple(handle.id for *_, handle in right)


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
    """With the name of the subscription, and without the event, which may hold a secret."""
    hub = Hub()
    hub.subscribe("true", lambda event: 1 / 0, id="alice")
    hub.publish({"password": "hunter2"})
    assert "ZeroDivisionError" in caplog.text
    assert "'alice'" in caplog.text
    assert "hunter2" not in caplog.text and "password" not in caplog.text


# --- names ----------------------------------------------------------------------------------------


def known() -> fyke.Matcher:
    matcher = fyke.Matcher()
    matcher.add_many([("alice", "a = 1"), ("bob", "a > 0"), ("callback-0", "a = 2")])
    return matcher


def test_subscriptions_that_were_there_are_matched_and_reported() -> None:
    hub = Hub(known())
    heard: list[str] = []
    hub.subscribe("a = 1", lambda event: heard.append("new"))
    assert set(hub.publish({"a": 1}).subscriptions) == {"alice", "bob", "callback-1"}
    assert hub.publish({"a": 2}).subscriptions == ("bob", "callback-0")
    assert heard == ["new"], "a name that is taken is not given again"


def test_a_subscription_that_was_there_gets_callbacks() -> None:
    matcher = known()
    hub = Hub(matcher)
    heard: list[str] = []

    @hub.on("alice")
    def first(event: Event) -> None:
        heard.append("first")

    handle = hub.on("alice", lambda event: heard.append("second"))
    hub.on("bob", lambda event: heard.append("bob"))
    assert hub.publish({"a": 1}).subscriptions == ("alice", "bob")
    assert heard == ["first", "second", "bob"]
    handle.unsubscribe()
    handle.unsubscribe()
    assert hub.unsubscribe(first) == 1
    heard.clear()
    assert set(hub.publish({"a": 1}).subscriptions) == {"alice", "bob"}, "it was not the hub's"
    assert heard == ["bob"]
    assert len(hub) == 1


def test_a_subscription_of_the_hub_ends_with_its_last_callback() -> None:
    matcher = fyke.Matcher()
    hub = Hub(matcher)
    one = hub.subscribe("a = 1", print, id="alice")
    other = hub.on("alice", repr)
    one.unsubscribe()
    assert "alice" in matcher
    other.unsubscribe()
    assert "alice" not in matcher
    again = hub.subscribe("a = 2", print, id="alice")
    one.unsubscribe()
    assert hub.publish({"a": 2}).subscriptions == ("alice",), "an old handle ends nothing new"
    matcher.remove("alice")
    again.unsubscribe()
    assert len(hub) == 0


def test_failures_name_the_subscription() -> None:
    reported: list[str] = []
    hub = Hub(known(), on_error=lambda failure, event: reported.append(failure.subscription))
    hub.on("bob", lambda event: 1 / 0)
    hub.publish({"a": 1})
    assert reported == ["bob"]


def test_names_that_are_taken_or_unknown_are_refused() -> None:
    hub = Hub(known())
    with pytest.raises(fyke.FykeError, match="'alice' already"):
        hub.subscribe("a = 3", print, id="alice")
    with pytest.raises(fyke.FykeError, match="no subscription 'carl'"):
        hub.on("carl", print)
    with pytest.raises(fyke.FykeError, match="a callback is a function"):
        hub.on("alice", "no function")  # type: ignore[call-overload]
    assert len(hub) == 0
    assert hub.publish({"a": 3}).subscriptions == ("bob",)


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


def test_json_is_published_as_bytes():
    hub, seen = fyke.Hub(), []
    hub.subscribe("price < 10", lambda event: seen.append(dict(event.document)), id="cheap")
    assert hub.publish(b'{"price": 8, "more": [1]}').subscriptions == ("cheap",)
    assert hub.publish(bytearray(b'{"price": 12, "more": 1e400}')).subscriptions == ()
    assert seen == [{"price": 8, "more": [1]}]
    with pytest.raises(fyke.EventError, match="more"):
        hub.publish(b'{"price": 8, "more": 1e400}')
    with pytest.raises(fyke.EventError):
        hub.publish(b'{"price": 8')
    assert len(seen) == 1


def test_bytes_reach_those_who_wait_for_objects_too():
    @fyke.event
    class Quote:
        price: float

    hub, seen = fyke.Hub(), []
    hub.subscribe(Quote, seen.append, where=lambda quote: quote.price < 10)
    hub.publish(Quote(8.5))
    hub.publish(json.encode(pack(Quote(9.5)).document).encode())
    assert seen == [Quote(8.5), Quote(9.5)]


def test_bytes_are_awaited_too():
    hub, seen = fyke.Hub(), []

    async def wait(event):
        seen.append(event["price"])

    hub.subscribe("price < 10", wait)
    assert asyncio.run(hub.publish_async(b'{"price": 8}')).failures == ()
    assert asyncio.run(hub.publish_async(b'{"price": 18}')).subscriptions == ()
    assert seen == [8]
