"""Typed events and closures: what objects cost beside dictionaries, and closures beside filters."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fyke
from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_least, at_most, micros
from benchmarks.timing import Competitor, best

EVENTS = 2_000
FEW = 20
"""Events for the reference that calls every closure."""


@fyke.event(name="benchmarks.Quote")
class Quote:
    symbol: str
    price: float
    volume: int


def lines(bench: Bench) -> Iterator[Line]:
    yield _one_subscriber(bench)
    yield _deriving(bench)
    yield from _many(bench, bench.ten_thousand, 1.5, 20)
    yield from _many(bench, bench.hundred_thousand, None, 100)


def _nothing(event: object) -> None:
    pass


def _quotes(count: int, symbols: int) -> list[Quote]:
    return [Quote(f"S{at * 7 % symbols}", float(at % 100), at) for at in range(count)]


def _document(quote: Quote) -> dict[str, object]:
    return {"type": "benchmarks.Quote", **vars(quote)}


def _one_subscriber(bench: Bench) -> Line:
    """Publish and deliver in one process: objects, and the same as dictionaries."""
    bench.say("objects beside dictionaries")
    quotes = _quotes(bench.events(EVENTS), 100)
    typed, plain = fyke.Hub(), fyke.Hub()
    typed.subscribe(Quote, _nothing)
    plain.subscribe('type is "benchmarks.Quote"', _nothing)
    documents = [_document(quote) for quote in quotes]
    ours, theirs = best(
        Competitor("objects", lambda: _publish(typed, quotes), len(quotes)),
        Competitor("dictionaries", lambda: _publish(plain, documents), len(quotes)),
        rounds=7,
    )
    return Line(
        "publish and deliver an object, times a dictionary",
        micros(ours), micros(theirs), ours / theirs, "x", at_most(1.25),
    )  # fmt: skip


def _publish(hub: fyke.Hub, events: list[Any]) -> None:
    for event in events:
        hub.publish(event)


def _deriving(bench: Bench) -> Line:
    """Closures of one module, each on a line of its own."""
    count = bench.ten_thousand
    bench.say(f"deriving {count:,} closures")
    text = "".join(
        f"f{at} = lambda q: q.symbol == 'S{at}' and q.price < {at % 90} and not q.volume > 9\n"
        for at in range(count)
    )
    with tempfile.TemporaryDirectory() as folder:
        module = _imported(Path(folder) / "many_closures.py", text)
        closures = [getattr(module, f"f{at}") for at in range(count)]

        def derive() -> None:
            for closure in closures:
                fyke.derived(closure, Quote)

        (taken,) = best(Competitor("derive", derive, 1), rounds=1)
    return Line(
        f"deriving {short(count)} closures of one module", micros(taken / count), "", taken, "s",
        at_most(5),
    )  # fmt: skip


def _imported(path: Path, text: str) -> Any:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _closure(symbol: str, limit: float) -> Callable[[Quote], bool]:
    return lambda q: q.symbol == symbol and q.price < limit


def _many(bench: Bench, count: int, at_most_: float | None, at_least_: float) -> Iterator[Line]:
    """At most ten of them accept an event."""
    bench.say(f"{count:,} closures")
    symbols = max(1, count // 10)
    typed, plain = fyke.Hub(), fyke.Hub()
    closures = [_closure(f"S{at % symbols}", at % 90 + 10) for at in range(count)]
    for at, closure in enumerate(closures):
        typed.subscribe(Quote, _nothing, where=closure)
        text = f"symbol = 'S{at % symbols}' and price < {at % 90 + 10}"
        plain.subscribe(f'type is "benchmarks.Quote" and {text}', _nothing)
    quotes = _quotes(bench.events(EVENTS), symbols)
    documents = [_document(quote) for quote in quotes]
    for quote, document in zip(quotes[:40], documents[:40], strict=True):
        found = typed.publish(quote).subscriptions
        assert found == plain.publish(document).subscriptions
        assert len(found) == sum(closure(quote) for closure in closures) <= 10

    def call_all() -> None:
        for quote in quotes[:FEW]:
            for closure in closures:
                closure(quote)

    ours, filters, calls = best(
        Competitor("closures", lambda: _publish(typed, quotes), len(quotes)),
        Competitor("filters", lambda: _publish(plain, documents), len(quotes)),
        Competitor("every closure", call_all, FEW),
    )
    if at_most_ is not None:
        yield Line(
            f"{short(count)} closures, times equal text filters", micros(ours), micros(filters),
            ours / filters, "x", at_most(at_most_),
        )  # fmt: skip
    yield Line(
        f"{short(count)} closures against calling every one", micros(ours), micros(calls),
        calls / ours, "x", at_least(at_least_),
    )  # fmt: skip
