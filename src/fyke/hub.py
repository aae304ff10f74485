"""Hub: an embedded broker. Callbacks wait in this process; published events reach those that match.

    hub = Hub()

    @hub.subscribe("type is Stock and price < 10")
    def on_stock(event): ...

    hub.publish({"type": "Stock", "price": 8.4})

Objects in, objects out: who subscribes to an event class (`fyke.event`) gets objects of it. `where`
is a closure that has the last word; a filter that covers it is read from its source.

    @hub.subscribe(Stock, where=lambda stock: stock.price < 10)
    def on_cheap_stock(stock: Stock): ...

    hub.publish(Stock("Foo", 8.4))

Subscriptions have names. Those of a matcher that a hub is given are matched and reported like all
others; `hub.on("alice", callback)` lets somebody hear of them. A callback is a function or a
coroutine function. One that raises never stops the others: its error is reported to `on_error` and
in the Delivery that `publish` returns. Who is called is settled when the event is published;
callbacks may subscribe, unsubscribe and publish themselves. `hub.stream(filter)` is for coroutines
that read: an asynchronous iterator with a bounded queue.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import logging
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from operator import itemgetter
from types import TracebackType
from typing import Any, TypeAlias, TypeVar, overload

from fyke.errors import FykeError, shown
from fyke.events.event import Event, as_event
from fyke.events.json import decode_event
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.hub_stream import SIZE, Stream, WhenFull
from fyke.matching.matcher import Matcher
from fyke.typed.packing import is_object, pack
from fyke.typed.subscriptions import TypedSubscriptions, typed_subscription

Callback: TypeAlias = Callable[[Any], Any]
_Function = TypeVar("_Function", bound=Callback)

_log = logging.getLogger("fyke")


@dataclass(frozen=True, slots=True)
class Failure:
    """A callback that raised."""

    subscription: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class Delivery:
    """Which subscriptions accept an event, and what came of it.

    `pending` are coroutines that run on in the caller's event loop.
    """

    subscriptions: tuple[str, ...]
    failures: tuple[Failure, ...] = ()
    pending: tuple[asyncio.Task[None], ...] = field(default=(), compare=False)


class Handle:
    """A callback that waits, until it is ended, once or as a context manager."""

    __slots__ = ("_hub", "_number", "id")

    def __init__(self, hub: Hub, id: str, number: int) -> None:
        self._hub = hub
        self._number = number
        self.id = id

    def unsubscribe(self) -> None:
        """End it; ending it twice does nothing. A subscription that the hub made ends as well."""
        self._hub._end(self.id, self._number)

    def __enter__(self) -> Handle:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.unsubscribe()


class Hub:
    """Subscriptions with callbacks, and a `publish` that calls those whose filter accepts."""

    def __init__(
        self,
        matcher: Matcher | None = None,
        *,
        schema: Schema | None = None,
        on_error: Callable[[Failure, Event], None] | None = None,
    ) -> None:
        """Make a hub; with a `schema`, every event that is published is checked against it."""
        if schema is not None and matcher is not None:
            raise FykeError("schema= is for a hub that makes its matcher; give it to the Matcher")
        self._matcher = Matcher(schema=schema) if matcher is None else matcher
        self._schema = schema
        self._typed = TypedSubscriptions()
        self._had_typed = False
        """True if there ever was a typed subscription, which judges whole events."""
        self._on_error = on_error or _log_failure
        self._callbacks: dict[str, dict[int, Callback]] = {}
        """By the id of a subscription; numbers say who came first."""
        self._made: set[str] = set()
        """The subscriptions that end with their last callback."""
        self._numbers = itertools.count()
        self._lock = threading.RLock()

    @overload
    def subscribe(
        self,
        filter: Filter | object,
        callback: Callback,
        *,
        where: object = None,
        id: str | None = None,
        dialect: str = "fyke",
    ) -> Handle: ...

    @overload
    def subscribe(
        self,
        filter: Filter | object,
        callback: None = None,
        *,
        where: object = None,
        id: str | None = None,
        dialect: str = "fyke",
    ) -> Callable[[_Function], _Function]: ...

    def subscribe(
        self,
        filter: Filter | object,
        callback: Callback | None = None,
        *,
        where: object = None,
        id: str | None = None,
        dialect: str = "fyke",
    ) -> Handle | Callable[[_Function], _Function]:
        """Call `callback` with every matching event from now on; without one, return a decorator.

        `filter` is a text, a Filter, an event class or a condition on its fields (`fyke.fields`);
        with one of the last two, `callback` gets objects. `where` goes with a class: a function of
        the object, or a filter object with `match(object)`; it runs in this process only.

        `id` names the subscription, in what `publish` returns and where an error is reported.
        """
        if callback is not None:
            return self._subscribe(filter, callback, where, id, dialect)

        def decorate(function: _Function) -> _Function:
            self._subscribe(filter, function, where, id, dialect)
            return function

        return decorate

    def _subscribe(
        self,
        filter: Filter | object,
        callback: Callback,
        where: object,
        id: str | None,
        dialect: str,
    ) -> Handle:
        _check(callback)
        typed = typed_subscription(filter, where)
        with self._lock:
            name = self._unused() if id is None else id
            if name in self._matcher:
                raise FykeError(
                    f"there is a subscription {shown(name)} already; "
                    f"hub.on({name!r}, callback) adds a callback to it"
                )
            if typed is None:
                self._matcher.add(name, filter, dialect=dialect)
            else:
                self._matcher.add(name, typed.filter)
                self._typed.add(name, typed)
                self._had_typed = True
            self._made.add(name)
            return self._attach(name, callback)

    def _unused(self) -> str:
        names = (f"callback-{number}" for number in self._numbers)
        return next(name for name in names if name not in self._matcher)

    @overload
    def on(self, id: str, callback: Callback) -> Handle: ...

    @overload
    def on(self, id: str, callback: None = None) -> Callable[[_Function], _Function]: ...

    def on(
        self, id: str, callback: Callback | None = None
    ) -> Handle | Callable[[_Function], _Function]:
        """Call `callback` too when a known subscription matches; without one, return a decorator.

        A subscription that the hub did not make stays when its callbacks go.
        """
        if callback is not None:
            return self._listen(id, callback)

        def decorate(function: _Function) -> _Function:
            self._listen(id, function)
            return function

        return decorate

    def _listen(self, id: str, callback: Callback) -> Handle:
        _check(callback)
        with self._lock:
            if id not in self._matcher:
                raise FykeError(
                    f"there is no subscription {shown(id)}; hub.subscribe(filter, callback, id=...)"
                    " makes one"
                )
            return self._attach(id, callback)

    def _attach(self, id: str, callback: Callback) -> Handle:
        number = next(self._numbers)
        self._callbacks.setdefault(id, {})[number] = callback
        return Handle(self, id, number)

    def stream(
        self,
        filter: Filter | object,
        *,
        where: object = None,
        id: str | None = None,
        dialect: str = "fyke",
        size: int = SIZE,
        when_full: WhenFull = "end",
    ) -> Stream:
        """Return the matching events from now on, for `async for`; see `hub_stream`.

        At most `size` events wait for the reader. When there are more, the stream ends with a
        StreamOverflow after those that wait, or with `when_full="drop"` the oldest is dropped.
        """
        stream = Stream(size, when_full)
        stream.attach(lambda put: self._subscribe(filter, put, where, id, dialect).unsubscribe)
        return stream

    def unsubscribe(self, callback: Callback) -> int:
        """End all waits of a callback; return how many there were."""
        with self._lock:
            ended = [
                (id, number)
                for id, waiting in self._callbacks.items()
                for number, known in waiting.items()
                if known == callback
            ]
            for id, number in ended:
                self._end(id, number)
        return len(ended)

    def _end(self, id: str, number: int) -> None:
        with self._lock:
            waiting = self._callbacks.get(id, {})
            if waiting.pop(number, None) is None or waiting:
                return
            del self._callbacks[id]
            if id in self._made:
                self._made.remove(id)
                self._typed.remove(id)
                if id in self._matcher:
                    self._matcher.remove(id)

    def publish(self, event: object) -> Delivery:
        """Call the matching callbacks in the order of subscription.

        The event is an Event, a mapping, an object of an event class, or JSON as bytes. Of JSON, as
        of `Matcher.match_json`, what subscriptions read is read first; the whole only, and
        strictly, if there is somebody to get it.

        Coroutines are started in the running event loop, where there is one (see `pending`);
        otherwise they run to their end before this returns.
        """
        event = self._read(event)
        if event is None:
            return Delivery(())
        ids, failures, coroutines = self._call(event)
        if not coroutines:
            return Delivery(ids, tuple(failures))
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            failures += asyncio.run(self._all(coroutines, event))
            return Delivery(ids, tuple(failures))
        tasks = tuple(
            loop.create_task(self._watched(id, coroutine, event)) for id, coroutine in coroutines
        )
        return Delivery(ids, tuple(failures), tasks)

    async def publish_async(self, event: object) -> Delivery:
        """Call the matching callbacks and wait for the coroutines, which run side by side."""
        event = self._read(event)
        if event is None:
            return Delivery(())
        ids, failures, coroutines = self._call(event)
        failures += await self._all(coroutines, event)
        return Delivery(ids, tuple(failures))

    def _read(self, event: Any) -> Event | None:
        """Return the event; None for JSON that nobody wants."""
        if type(event) is not dict and is_object(event):
            return pack(event)
        if isinstance(event, bytes | bytearray | memoryview):
            event = bytes(event)
            may_skip = self._schema is None and not self._had_typed
            if may_skip and not self._matcher.match_json(event):
                return None
            schema = self._matcher.schema
            event = decode_event(event, decimals=() if schema is None else schema.decimals)
        read = as_event(event)
        return read if self._schema is None else self._schema.validate(read)

    def _call(
        self, event: Event
    ) -> tuple[tuple[str, ...], list[Failure], list[tuple[str, Coroutine[Any, Any, Any]]]]:
        """Run the functions; the coroutines are made, not started."""
        with self._lock:
            ids = self._typed.candidates(event, self._matcher)
            called = [
                (number, id, callback)
                for id in ids
                for number, callback in self._callbacks.get(id, {}).items()
            ]
            judgement = self._typed.begin(ids, event)
        called.sort(key=itemgetter(0))
        refused, errors = judgement.run()
        typed = judgement.typed
        failures = [self._report(id, error, event) for id, error in errors]
        coroutines: list[tuple[str, Coroutine[Any, Any, Any]]] = []
        for _, id, callback in called:
            if id in refused:
                continue
            try:
                result = callback(judgement.object if id in typed else event)
            except Exception as error:
                failures.append(self._report(id, error, event))
            else:
                if inspect.iscoroutine(result):
                    coroutines.append((id, result))
        reached = dict.fromkeys([*[id for _, id, _ in called], *ids])
        for id in refused:
            del reached[id]
        return tuple(reached), failures, coroutines

    async def _all(
        self, coroutines: list[tuple[str, Coroutine[Any, Any, Any]]], event: Event
    ) -> list[Failure]:
        results = await asyncio.gather(
            *(coroutine for _, coroutine in coroutines), return_exceptions=True
        )
        return [
            self._report(id, result, event)
            for (id, _), result in zip(coroutines, results, strict=True)
            if isinstance(result, BaseException)
        ]

    async def _watched(self, id: str, coroutine: Coroutine[Any, Any, Any], event: Event) -> None:
        try:
            await coroutine
        except Exception as error:
            self._report(id, error, event)

    def _report(self, id: str, error: BaseException, event: Event) -> Failure:
        failure = Failure(id, error)
        try:
            self._on_error(failure, event)
        except Exception:
            _log.exception("on_error itself raised")
        return failure

    def __len__(self) -> int:
        """Return how many callbacks wait."""
        return sum(map(len, self._callbacks.values()))


def _check(callback: object) -> None:
    if not callable(callback):
        raise FykeError(f"a callback is a function, not {shown(callback)}")


def _log_failure(failure: Failure, event: Event) -> None:
    """Log a failure without the event, which may hold what no log should."""
    _log.error(
        "a callback of the subscription %r raised",
        failure.subscription,
        exc_info=failure.error,
        extra={"id": failure.subscription},
    )
