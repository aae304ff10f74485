"""Conditions on fields, schemas of classes, and Propositions 1 and 2 (MSF-5 to MSF-7)."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.domain import Decimals, Enumeration, Integer, Real, String, Timestamp
from fyke.events.schema import Schema
from fyke.filters.algebra.weakening import weaken
from fyke.filters.filter import FALSE, TRUE
from fyke.testing.covering import check_covers
from fyke.testing.generators import events, filters
from fyke.testing.stories.reaching import examples
from fyke.typed import check_evolution, contains, exists, forget, like, one_of, pack
from tests.typed.stocks import Share, Stock

S = fyke.fields(Stock)
H = fyke.fields(Share)


class Severity(Enum):
    LOW = "low"
    HIGH = "high"
    FATAL = "fatal"


@fyke.event
class Alert:
    severity: Severity
    side: Literal["buy", "sell"]
    share: Annotated[float, msgspec.Meta(ge=0, le=1)]
    count: Annotated[int, msgspec.Meta(gt=-1)]
    price: Decimal
    at: datetime
    type: str = "x"
    note: str | None = None


A = fyke.fields(Alert)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (S.price < 10, "type is Stock and price < 10"),
        ((S.price < 10) & (S.symbol == "Foo"), "type is Stock and price < 10 and symbol = 'Foo'"),
        (~(S.price < 10), "type is Stock and not price < 10"),
        (~((S.price < 10) | (S.symbol != "A")), "type is Stock and not (price < 10 or symbol != 'A')"),  # noqa: E501
        ((S.price < 10) & (H.volume > 3), "type is Share and price < 10 and volume > 3"),
        ((S.price < 1) | (H.volume > 3), "type is Stock and (price < 1 or type is Share and volume > 3)"),  # noqa: E501
        (S.symbol.startswith("F"), "type is Stock and symbol starts with 'F'"),
        (one_of(S.symbol, ["B", "A"]), "type is Stock and symbol in ('A', 'B')"),
        (like(S.symbol, "F%o"), "type is Stock and symbol like 'F%o'"),
        (contains(S.symbol, "oo"), "type is Stock and symbol contains 'oo'"),
        (exists(A.note), "type is Alert and exists note"),
        (A.severity == Severity.HIGH, "type is Alert and severity = 'high'"),
        (A.severity > Severity.LOW, "type is Alert and severity in ('fatal', 'high')"),
        (A.type == "x", "type is Alert and data.type = 'x'"),
        (A.note == None, "type is Alert and not note is not null"),  # noqa: E711
    ],
)  # fmt: skip
def test_conditions(condition: Any, text: str) -> None:
    assert str(condition) == str(fyke.parse(text)) or str(condition) == text
    matcher = fyke.Matcher("scan")
    matcher.add("it", condition)
    assert matcher.filter("it") == condition.filter


def test_conditions_say_what_is_wrong() -> None:
    with pytest.raises(AttributeError, match="did you mean 'price'"):
        S.prise  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(fyke.FilterError, match="in place of and"):
        S.price < 10 and S.symbol == "Foo"  # noqa: B018
    with pytest.raises(fyke.FilterError, match="in place of and"):
        1 < S.price < 10  # noqa: B015
    with pytest.raises(fyke.FilterError, match="never equal"):
        S.price < "10"  # type: ignore[operator]  # noqa: B015
    with pytest.raises(fyke.FilterError, match="cannot be joined"):
        (S.price < 10) & (A.share < 1)
    with pytest.raises(fyke.FilterError, match="nan"):
        S.price < float("nan")  # noqa: B015, PLW0177
    with pytest.raises(fyke.FykeError, match="where= goes with a class"):
        fyke.Hub().subscribe(S.price < 10, print, where=print)
    with pytest.raises(fyke.FykeError, match="where= goes with an event class"):
        fyke.Hub().subscribe("price < 10", print, where=print)


def test_the_schema_of_a_class() -> None:
    schema = fyke.schema_of(Alert, Share)
    domains = {each.name: each.domain for each in schema.attributes_of("Alert")}
    assert domains == {
        "severity": Enumeration(("low", "high", "fatal")),
        "side": Enumeration(("buy", "sell")),
        "share": Real(0, 1),
        "count": Integer(-1),
        "at": Timestamp(),
        "data.type": String(),
        "note": String(),
    }  # price is a Decimal here and a float in a Stock, so it is not known at all
    assert schema.attribute("price") is None and not schema.is_single("price")
    assert schema.conforms("Share", "Stock") and schema.is_single("volume")
    assert fyke.schema_of(Alert).attribute("price").domain == Decimals()  # type: ignore[union-attr]
    assert set(schema.required_of("Share")) == {"symbol", "volume"}
    assert Schema.from_document(schema.to_document()) == schema


def test_the_schema_reaches_covers_lint_and_the_index() -> None:
    schema = fyke.schema_of(Stock)
    wide, narrow = fyke.parse("price < 10"), fyke.parse("price < 12 and price > 1 and price < 9")
    assert fyke.covers(fyke.parse("price between 1 and 9"), narrow, schema=schema)
    assert not fyke.covers(fyke.parse("price between 1 and 9"), narrow)
    assert fyke.covers(wide, narrow, schema=schema)
    never = fyke.Subscription("a", fyke.parse("price < 5 and price > 9"))
    assert fyke.lint([never], schema=schema).findings
    matcher = fyke.Matcher(schema=fyke.schema_of(Alert))
    matcher.add("worse", "severity > 'low'")
    assert matcher.match(pack(_alert(Severity.FATAL))) == ["worse"]
    assert matcher.match(pack(_alert(Severity.LOW))) == []


def _alert(severity: Severity) -> Alert:
    return Alert(severity, "buy", 0.5, 0, Decimal("1.5"), datetime(2026, 1, 1, tzinfo=UTC))


def test_a_hub_folds_only_what_it_checks() -> None:
    text, listed = "price > 5 and price < 10", {"type": "Stock", "symbol": "a", "price": [1, 20]}
    free = fyke.Hub()
    free.subscribe(text, lambda event: None, id="text")
    assert free.publish(listed).subscriptions == ("text",)
    checked = fyke.Hub(schema=fyke.schema_of(Stock))
    checked.subscribe(text, lambda event: None, id="text")
    with pytest.raises(fyke.SchemaError, match="single value"):
        checked.publish(listed)
    assert checked.publish(Stock("a", 7.0)).subscriptions == ("text",)


def test_values_outside_their_domain_are_refused() -> None:
    bad = _alert(Severity.LOW)
    bad.share = 1.5
    with pytest.raises(fyke.EventError, match="not in the domain Real"):
        pack(bad)
    bad.share, bad.side = 1, "hold"  # type: ignore[assignment]
    with pytest.raises(fyke.EventError, match="not in the domain Enumeration"):
        pack(bad)


def _version(**fields: Any) -> type:
    fields = {"__annotations__": fields} | {n: None for n in fields if n == "extra"}
    cls = type("Versioned", (), {**fields, "__module__": __name__, "__qualname__": "Versioned"})
    return fyke.event(cls)


def test_evolution() -> None:
    first = _version(price=float)
    _version(price=float, extra=str | None)
    with pytest.raises(fyke.SchemaError, match=r"was String.*now Real.*before \(.*now \("):
        check_evolution(
            Schema.from_document({"types": {"T": {"attributes": {"a": {"domain": "string"}}}}}),
            Schema.from_document({"types": {"T": {"attributes": {"a": {"domain": "real"}}}}}),
        )
    with pytest.raises(fyke.SchemaError, match=r"was Real.*and is now String"):
        _version(price=str)
    with pytest.raises(fyke.SchemaError, match="no default"):
        _version(price=float, name=str, extra=str | None)
    with pytest.raises(fyke.SchemaError, match="is gone"):
        _version(extra=str | None)
    newest = _version(price=float, extra=str | None)
    forget(newest)
    assert _version(price=str) is not first


# --- Propositions 1 and 2 -------------------------------------------------------------------------


def test_events_cover_events_relative_to_a_filter() -> None:
    """MSF-X3: a weakened event may stand for the whole one, unless somebody asks what is gone."""
    whole = {"symbol": "Foo", "price": 10.0, "volume": 32300}
    weak = {"symbol": "Foo", "price": 10.0}
    asked, gone = fyke.parse("symbol = 'Foo' and price > 5"), fyke.parse("exists volume")
    assert not asked.matches(whole) or asked.matches(weak)
    assert gone.matches(whole) and not gone.matches(weak)


@examples(0.25)
@given(filters(max_leaves=4), filters(max_leaves=4), st.lists(events(), max_size=4))
def test_a_filter_that_covers_may_stand_before(f: Any, g: Any, seen: list[Any]) -> None:
    """Proposition 1: prefiltering by g loses nothing that f wants exactly if g covers f (MSF-6)."""
    assert fyke.covers(TRUE, f) and fyke.covers(f, FALSE)
    if fyke.covers(g, f):
        kept = [event for event in seen if g.matches(event)]
        assert [e for e in kept if f.matches(e)] == [e for e in seen if f.matches(e)]
    lost = [event for event in seen if f.matches(event) and not g.matches(event)]
    assert not (lost and fyke.covers(g, f))


@examples(0.25)
@given(filters(max_leaves=4), events(), st.sets(st.sampled_from("abcde")))
def test_events_and_filters_weaken_together(f: Any, event: Any, kept: set[str]) -> None:
    """Proposition 2: filters that ask only for what a weakened event still has (MSF-7)."""
    weakened = weaken(f, kept)
    smaller = {n: v for n, v in event.attributes.items() if n in kept or n == "type"}
    shown = fyke.Event.flat(smaller, event.supertypes)
    assert weakened.matches(event) == weakened.matches(shown)
    check_covers(lambda e: weakened.matches(shown), f, [event])
