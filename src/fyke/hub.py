"""Hub: an embedded broker. Callbacks wait in this process; published events reach those that match.

    hub = Hub()

    @hub.subscribe("type is Stock and price < 10")
    def on_stock(event): ...

    hub.publish({"type": "Stock", "price": 8.4})

A callback is a function or a coroutine function. One that raises never stops the others: its error
is reported to `on_error` and in the Delivery that `publish` returns. Who is called is settled when
the event is published; callbacks may subscribe, unsubscribe and publish themselves.
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
from fyke.events.event import Document, Event, as_event
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher

Callback: TypeAlias = Callable[[Event], Any]
_Function = TypeVar("_Function", bound=Callback)

_log = logging.getLogger("fyke")


@dataclass(frozen=True, slots=True)
class Failure:
    """A callback that raised."""

    subscription: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class Delivery:
    """Who got an event. `pending` are coroutines that run on in the caller's event loop."""

    subscriptions: tuple[str, ...]
    failures: tuple[Failure, ...] = ()
    pending: tuple[asyncio.Task[None], ...] = field(default=(), compare=False)


class Handle:
    """A subscription that can be ended, once or as a context manager."""

    __slots__ = ("_hub", "id")

    def __init__(self, hub: Hub, id: str) -> None:
        self._hub = hub
        self.id = id

    def unsubscribe(self) -> None:
        """Ends the subscription; ending it twice does nothing."""
        self._hub._end(self.id)

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
        on_error: Callable[[Failure, Event], None] | None = None,
    ) -> None:
        self._matcher = Matcher() if matcher is None else matcher
        self._on_error = on_error or _log_failure
        self._callbacks: dict[str, tuple[int, Callback]] = {}
        """By id, with a number that says who came first."""
        self._numbers = itertools.count()
        self._lock = threading.RLock()

    @overload
    def subscribe(
        self, filter: Filter | object, callback: Callback, *, dialect: str = "fyke"
    ) -> Handle: ...

    @overload
    def subscribe(
        self, filter: Filter | object, callback: None = None, *, dialect: str = "fyke"
    ) -> Callable[[_Function], _Function]: ...

    def subscribe(
        self, filter: Filter | object, callback: Callback | None = None, *, dialect: str = "fyke"
    ) -> Handle | Callable[[_Function], _Function]:
        """Calls `callback` with every matching event from now on; without one, a decorator."""
        if callback is not None:
            return self._subscribed(filter, callback, dialect)

        def decorate(function: _Function) -> _Function:
            self._subscribed(filter, function, dialect)
            return function

        return decorate

    def _subscribed(self, filter: Filter | object, callback: Callback, dialect: str) -> Handle:
        if not callable(callback):
            raise FykeError(f"a callback is a function, not {shown(callback)}")
        with self._lock:
            number = next(self._numbers)
            id = f"callback-{number}"
            self._matcher.add(id, filter, dialect=dialect)
            self._callbacks[id] = number, callback
        return Handle(self, id)

    def unsubscribe(self, callback: Callback) -> int:
        """Ends all subscriptions of a callback; says how many there were."""
        with self._lock:
            ended = [id for id, (_, known) in self._callbacks.items() if known == callback]
            for id in ended:
                self._end(id)
        return len(ended)

    def _end(self, id: str) -> None:
        with self._lock:
            if self._callbacks.pop(id, None) is not None:
                self._matcher.remove(id)

    def publish(self, event: Event | Document) -> Delivery:
        """Calls the matching callbacks in the order of subscription.

        Coroutines are started in the running event loop, where there is one (see `pending`);
        otherwise they run to their end before this returns.
        """
        event = as_event(event)
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

    async def publish_async(self, event: Event | Document) -> Delivery:
        """Calls the matching callbacks and waits for the coroutines, which run side by side."""
        event = as_event(event)
        ids, failures, coroutines = self._call(event)
        failures += await self._all(coroutines, event)
        return Delivery(ids, tuple(failures))

    def _call(
        self, event: Event
    ) -> tuple[tuple[str, ...], list[Failure], list[tuple[str, Coroutine[Any, Any, Any]]]]:
        """Runs the functions; the coroutines are made, not started."""
        with self._lock:
            found = [(id, *self._callbacks[id]) for id in self._matcher.match(event)]
        found.sort(key=itemgetter(1))
        called = [(id, callback) for id, _, callback in found]
        failures: list[Failure] = []
        coroutines: list[tuple[str, Coroutine[Any, Any, Any]]] = []
        for id, callback in called:
            try:
                result = callback(event)
            except Exception as error:
                failures.append(self._failed(id, error, event))
            else:
                if inspect.iscoroutine(result):
                    coroutines.append((id, result))
        return tuple(id for id, _ in called), failures, coroutines

    async def _all(
        self, coroutines: list[tuple[str, Coroutine[Any, Any, Any]]], event: Event
    ) -> list[Failure]:
        results = await asyncio.gather(
            *(coroutine for _, coroutine in coroutines), return_exceptions=True
        )
        return [
            self._failed(id, result, event)
            for (id, _), result in zip(coroutines, results, strict=True)
            if isinstance(result, BaseException)
        ]

    async def _watched(self, id: str, coroutine: Coroutine[Any, Any, Any], event: Event) -> None:
        try:
            await coroutine
        except Exception as error:
            self._failed(id, error, event)

    def _failed(self, id: str, error: BaseException, event: Event) -> Failure:
        failure = Failure(id, error)
        try:
            self._on_error(failure, event)
        except Exception:
            _log.exception("on_error itself raised")
        return failure

    def __len__(self) -> int:
        return len(self._callbacks)


def _log_failure(failure: Failure, event: Event) -> None:
    _log.error(
        "a callback raised on %r", event, exc_info=failure.error, extra={"id": failure.subscription}
    )
