"""Closures in a hub: what is read from them, what changes later, what raises."""

from __future__ import annotations

import functools
import operator
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import fyke
from fyke.events import binary
from fyke.typed import pack, sealed
from tests.typed.predicates import TWENTY, Invoice, invoices
from tests.typed.stocks import BuyFilter, PaperStock, Share, Stock

LIMIT = 10.0
WATCHED = {"Foo"}


def text(where: Any, cls: type = Stock) -> str:
    return str(fyke.derived(where, cls).filter).removeprefix(f"type is {cls.__name__} and ")


# --- the paper's example --------------------------------------------------------------------------


class PaperFilter(BuyFilter):
    def match(self, stock: Any) -> bool:
        price = stock.getPrice()
        if stock.getSymbol() != self.symbol or price >= self.max:
            return False
        result = price <= self.last * self.threshold
        self.last = price
        return bool(result)


def test_the_papers_example() -> None:
    """MSF-X4, with MSF-Q1 and Q2: the covering chain, and the sequence of prices."""
    f, g = BuyFilter("Foo", 10.0, 0.95), BuyFilter("Foo", 11.0, 0.97)
    f1, g1 = fyke.derived(f, Stock).filter, fyke.derived(g, Stock).filter
    assert str(f1) == "type is Stock and symbol = 'Foo' and not price >= 10"
    assert str(g1) == "type is Stock and symbol = 'Foo' and not price >= 11"
    schema = fyke.schema_of(Stock)
    assert fyke.covers(g1, f1, schema=schema) and not fyke.covers(f1, g1, schema=schema)
    g2, g3 = fyke.parse("type is Stock and symbol = 'Foo'"), fyke.parse("type is Stock")
    assert fyke.covers(g2, g1) and fyke.covers(g3, g2)
    d1 = pack(Stock("Foo", 9.0))
    assert f1.matches(d1) and g1.matches(d1)
    paper = fyke.derived(PaperFilter("Foo", 10.0, 0.95), PaperStock).filter
    assert str(paper) == "type is PaperStock and symbol = 'Foo' and not price >= 10"


def test_a_stateful_filter_sees_every_event_that_changes_it() -> None:
    hub, seen = fyke.Hub(), []
    buy = BuyFilter("Foo", 10.0, 0.95)
    hub.subscribe(Stock, seen.append, where=buy)
    for price in (9.0, 8.6, 8.5, 8.0):
        hub.publish(Stock("Bar", 1.0))
        hub.publish(Stock("Foo", price))
    assert seen == [Stock("Foo", 8.0)] and buy.last == 8.0
    hub.publish(Stock("Foo", 10.0))
    assert buy.last == 8.0
    d = fyke.derived(buy, Stock)
    assert any("self.last = price" in each.text and each.line == 50 for each in d.unread)


# --- twenty predicates ----------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(TWENTY)))
def test_a_closure_is_called_at_most_twice_as_often_as_it_accepts(number: int) -> None:
    where = TWENTY[number]
    given = invoices(600)
    accepted = sum(bool(where(each)) for each in given)
    found = fyke.derived(where, Invoice)
    called = [each for each in given if found.filter.matches(pack(each))]
    assert accepted == sum(bool(where(each)) for each in called)
    assert 0 < accepted < len(given)
    assert len(called) <= 2 * accepted, f"{len(called)} calls, {accepted} accepted: {found}"


def test_many_closures_are_one_index() -> None:
    hub, calls = fyke.Hub(), []

    for number in range(200):
        hub.subscribe(Stock, calls.append, where=_priced(number))
    assert len(hub.publish(Stock("a", 7.0)).subscriptions) == 1
    assert not hub._typed._watches


def _priced(limit: int) -> Any:
    return lambda s: s.price == limit


# --- what is read ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (lambda s: s.price < 10 and s.symbol == "Foo", "price < 10 and symbol = 'Foo'"),
        (lambda s: not (s.price < 10), "not price < 10"),
        (lambda s: 1 < s.price <= 5, "price > 1 and price <= 5"),
        (lambda s: s.symbol in ("A", "B"), "symbol in ('A', 'B')"),
        (lambda s: "oo" in s.symbol, "symbol contains 'oo'"),
        (lambda s: s.symbol.startswith(("A", "B")), "symbol starts with 'A' or symbol starts with 'B'"),  # noqa: E501
        (lambda s: s.symbol.lower() == "foo", "symbol ilike 'foo'"),
        (lambda s: (p := s.price) > 1 and p < 5, "price > 1 and price < 5"),
        (lambda s: isinstance(s, Share), "type is Share"),
        (lambda s: all(s.symbol != x for x in ("A", "B")), "not symbol = 'A' and not symbol = 'B'"),
        (lambda s: s.price in range(3), "price in (0, 1, 2)"),
        (lambda s: s.price * 2 < 9, "type is Stock"),
        (lambda s: s is not None, "type is Stock"),
        (lambda s: s.price < -LIMIT / 2, "price < -5"),
    ],
)  # fmt: skip
def test_what_is_read(where: Any, expected: str) -> None:
    found = text(where)
    assert found in (expected, f"({expected})")


def test_two_lambdas_on_one_line() -> None:
    a, b = (lambda s: s.price < 1), (lambda s: s.price < 2)
    assert (text(a), text(b)) == ("price < 1", "price < 2")


def test_unread_says_where_and_why() -> None:
    (unread,) = fyke.derived(lambda s: s.price < 5 and print(s), Stock).unread
    assert unread.text == "print(s)" and unread.reason == "the call is not proven pure"
    assert unread.line == test_unread_says_where_and_why.__code__.co_firstlineno + 1


def test_calls_that_are_not_proven_pure_reach_the_closure() -> None:
    seen: set[str] = set()
    hub = fyke.Hub()
    hub.subscribe(Stock, print, where=lambda s: bool(seen.add(s.symbol)) and s.price < 0)
    hub.subscribe(Stock, print, where=lambda s: s.price < 5 and bool(seen.add("cheap")))
    hub.publish(Stock("Foo", 9.0))
    assert seen == {"Foo"}
    hub.publish(Stock("Bar", 3.0))
    assert seen == {"Foo", "Bar", "cheap"}


# --- what changes later ---------------------------------------------------------------------------


def test_globals_that_change_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    hub, seen = fyke.Hub(), []
    hub.subscribe(Stock, seen.append, where=lambda s: s.price < LIMIT and s.symbol in WATCHED)
    hub.publish(Stock("Foo", 15.0))
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 20.0)
    hub.publish(Stock("Foo", 15.0))
    hub.publish(Stock("Bar", 15.0))
    WATCHED.add("Bar")
    try:
        hub.publish(Stock("Bar", 15.0))
    finally:
        WATCHED.remove("Bar")
    assert seen == [Stock("Foo", 15.0), Stock("Bar", 15.0)]


def test_variables_and_attributes_that_change_are_noticed() -> None:
    hub, seen = fyke.Hub(), []
    buy, limit, settings = BuyFilter("Foo", 10.0, 2.0), 1, SimpleNamespace(limit=1)
    buy.last = 100.0
    hub.subscribe(Stock, seen.append, where=buy, id="object")
    hub.subscribe(Stock, seen.append, where=lambda s: s.price == limit, id="cell")
    hub.subscribe(Stock, seen.append, where=lambda s: s.price == settings.limit, id="setting")
    assert hub.publish(Stock("Foo", 12.0)).subscriptions == ()
    buy.max = 20.0
    assert hub.publish(Stock("Foo", 12.0)).subscriptions == ("object",)
    limit = 30
    assert hub.publish(Stock("Foo", 30.0)).subscriptions == ("cell",)
    settings.limit = 40
    assert hub.publish(Stock("Foo", 40.0)).subscriptions == ("setting",)
    for number in range(3):
        late = lambda s: s.price == -number  # noqa: B023, E731
        hub.subscribe(Stock, seen.append, where=late, id=f"loop-{number}")
    assert hub.publish(Stock("Foo", -2.0)).subscriptions[-3:] == ("loop-0", "loop-1", "loop-2")
    assert limit == 30
    hub.unsubscribe(seen.append)
    assert not hub._typed._watches and len(hub) == 0


@dataclass(frozen=True)
class Below:
    limit: float

    def match(self, stock: Stock) -> bool:
        return stock.price < self.limit


def test_what_cannot_change_is_not_watched() -> None:
    assert fyke.derived(Below(3), Stock).watches == ()
    assert fyke.derived(_priced(3), Stock).watches == ()
    assert len(fyke.derived(BuyFilter("Foo", 1, 1), Stock).watches) == 3


# --- doubts ---------------------------------------------------------------------------------------


class Loud(str):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.lower(self) == other.lower()

    __hash__ = str.__hash__


def test_an_event_in_doubt_reaches_the_closures_that_look_at_it() -> None:
    hub = fyke.Hub()
    hub.subscribe(Stock, print, where=lambda s: s.symbol == "Foo", id="symbol")
    hub.subscribe(Stock, print, where=lambda s: s.price < 5, id="price")
    hub.subscribe("symbol = 'Foo'", print, id="text")
    assert hub.publish(Stock(Loud("FOO"), 9.0)).subscriptions == ("symbol",)
    payload: Any = pack(Stock("Foo", 3.0)).payload
    shown = sealed(Stock, payload, symbol="Foo")
    assert set(hub.publish(shown).subscriptions) == {"symbol", "text", "price"}


_clock = iter(range(1000))


@fyke.event
class Ticking(Stock):
    @property
    def age(self) -> int:
        return next(_clock)


@fyke.event
class Measured:
    size: int

    def area(self) -> int:
        return self.size * self.size

    @property
    def is_big(self) -> bool:
        return self.size > 10


@fyke.event
class Odd(Measured):
    @property
    def is_big(self) -> bool:
        return next(_clock) >= 0

    def area(self) -> int:
        return -1


def test_a_property_that_is_another_value_elsewhere_is_not_asked_for() -> None:
    assert text(lambda t: t.age == 3, Ticking) == "type is Ticking"
    assert text(lambda m: m.is_big, Measured) == "is_big = true"
    hub = fyke.Hub()
    hub.subscribe(Measured, print, where=lambda m: m.is_big and m.size == 99, id="big")
    hub.subscribe(Measured, print, where=lambda m: m.size < 5 and m.area() < 0, id="area")
    assert hub.publish(Odd(99)).subscriptions == ("big",)
    assert hub.publish(Odd(3)).subscriptions == ("area",)


@fyke.event
class Rounded:
    def __init__(self, price: float) -> None:
        self.price = round(price) + 1

    def get_note(self) -> str:
        return "x"


def test_a_constructor_that_changes_a_value_makes_it_unstable() -> None:
    assert text(lambda r: r.price == 3, Rounded) == "type is Rounded"


@fyke.event
class Extended:
    name: str
    extra: str = "x"


def test_an_event_of_an_older_version_has_defaults() -> None:
    hub = fyke.Hub()
    hub.subscribe(Extended, print, where=lambda v: v.extra == "x", id="new")
    assert hub.publish({"type": "Extended", "name": "old"}).subscriptions == ("new",)


def test_a_decoded_object_is_judged_by_its_closure() -> None:
    hub, seen = fyke.Hub(), []
    hub.subscribe(Stock, seen.append, where=lambda s: s.price < 5 and s.symbol.isupper())
    for symbol in ("FOO", "foo"):
        hub.publish(binary.decode(binary.encode(pack(Share(symbol, 3.0, 1)))))
    assert seen == [Share("FOO", 3.0, 1)]


# --- bad input ------------------------------------------------------------------------------------


def test_a_closure_that_raises_is_reported_and_others_are_served() -> None:
    failures: list[Any] = []
    hub = fyke.Hub(on_error=lambda failure, event: failures.append(failure))
    hub.subscribe(Stock, print, where=lambda s: s.symbol == "Foo" and 1 / 0, id="bad")
    hub.subscribe(Stock, lambda s: None, where=lambda s: s.price < 10, id="good")
    delivery = hub.publish(Stock("Foo", 3.0))
    assert delivery.subscriptions == ("good",)
    assert [f.subscription for f in delivery.failures] == ["bad"]
    assert isinstance(failures[0].error, ZeroDivisionError)


def test_what_is_no_closure() -> None:
    hub = fyke.Hub()
    for where, problem in (
        (lambda a, b: True, "object alone"),
        (lambda: True, "object alone"),
        (3, "a function of the object"),
        (Stock, "a function of the object"),
        (_coroutine, "decides at once"),
    ):
        with pytest.raises(fyke.FykeError, match=problem):
            hub.subscribe(Stock, print, where=where)
    assert len(hub) == 0


async def _coroutine(stock: Stock) -> bool:
    return True


def test_no_source_works_unfiltered_with_a_warning() -> None:
    hub = fyke.Hub()
    for where in (operator.attrgetter("price"), functools.partial(operator.eq, Stock("a", 0.0))):
        with pytest.warns(fyke.FilterWarning, match="called with every Stock"):
            hub.subscribe(Stock, lambda s: None, where=where)
    assert len(hub.publish(Stock("a", 0.0)).subscriptions) == 1


def test_a_file_that_was_edited_after_its_import_is_not_read(tmp_path: Path) -> None:
    script = tmp_path / "edited.py"
    script.write_text(
        "import warnings, pathlib, fyke\nwarnings.simplefilter('ignore')\n"
        "@fyke.event\nclass Stock: price: float\n"
        "f = lambda s: s.price < 10\n"
        "path = pathlib.Path(__file__)\n"
        "path.write_text(path.read_text().replace('< 10\\n', '< 1 \\n'))\n"
        "print(fyke.derived(f, Stock).filter)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "type is Stock"


def test_a_closure_that_is_too_large_is_true() -> None:
    found = fyke.derived(_many_paths, Stock)
    assert str(found.filter) == "type is Stock" and "too many paths" in str(found)


def _many_paths(s: Any) -> bool:
    a = 1 if s.price == 1 else 2
    b = 1 if s.price == 2 else 2
    c = 1 if s.price == 3 else 2
    d = 1 if s.price == 4 else 2
    e = 1 if s.price == 5 else 2
    f = 1 if s.price == 6 else 2
    g = 1 if s.price == 7 else 2
    return a + b + c + d + e + f + g > 3


def test_a_hub_without_types_is_as_it_was() -> None:
    hub = fyke.Hub()
    hub.subscribe("price < 10", lambda event: None, id="text")
    assert hub.publish({"price": 3}).subscriptions == ("text",)
