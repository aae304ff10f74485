"""Objects in, objects out: classes of all families through a hub, through bytes, and half known."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import pydantic
import pytest

import fyke
from fyke.events import binary
from fyke.typed import DOUBTS, described, pack, sealed, unpack
from tests.typed.stocks import PaperStock, Share, Stock


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Side(StrEnum):
    BUY = "buy"


class Level(IntEnum):
    LOW = 1
    HIGH = 9


@dataclass(frozen=True, slots=True)
class Address:
    city: str
    zip: int | None = None


@fyke.event
@dataclass(frozen=True, slots=True)
class Order:
    id: UUID
    type: str
    time: datetime
    total: Decimal
    color: Color = Color.RED
    level: Level = Level.LOW
    to: Address = field(default_factory=lambda: Address("Delft"))
    stops: list[Address] = field(default_factory=list)
    tags: frozenset[str] = frozenset()
    day: date | None = None
    wait: timedelta = timedelta(0)
    raw: bytes = b""

    @property
    def is_large(self) -> bool:
        return self.total > 100

    def get_size(self) -> int:
        return len(self.tags)


@fyke.event
class Reading(msgspec.Struct):
    sensor: str
    value: float


@fyke.event
class Signup(pydantic.BaseModel):
    user: str
    age: int = pydantic.Field(ge=0)


def order() -> Order:
    return Order(
        UUID(int=7), "web", datetime(2026, 1, 2, tzinfo=UTC), Decimal("120.50"), Color.BLUE,
        Level.HIGH, Address("Ghent", 9000), [Address("Lille"), Address("Mons", 7000)],
        frozenset({"new"}), date(2026, 1, 3), timedelta(minutes=2), b"\x00",
    )  # fmt: skip


OBJECTS = [
    Share("Foo", 9.0, 300), order(), Reading("a", 1.5), Signup(user="eva", age=30),
]  # fmt: skip


@pytest.mark.parametrize("given", OBJECTS, ids=lambda each: type(each).__name__)
def test_an_object_comes_back_from_bytes_as_it_was(given: Any) -> None:
    event = binary.decode(binary.encode(pack(given)))
    assert type(event) is fyke.Event and isinstance(event.payload, bytes)
    back = unpack(event)
    assert type(back) is type(given) and back == given
    assert event.attributes == pack(given).attributes


def test_what_an_event_shows() -> None:
    assert pack(order()).attributes == {
        "type": "Order",
        "data.id": "00000000-0000-0000-0000-000000000007",
        "data.type": "web",
        "data.time": datetime(2026, 1, 2, tzinfo=UTC),
        "total": 120.5,
        "color": "blue",
        "level": 9,
        "to.city": "Ghent",
        "to.zip": 9000,
        "stops.city": ("Lille", "Mons"),
        "stops.zip": (7000,),
        "tags": ("new",),
        "day": datetime(2026, 1, 3, tzinfo=UTC),
        "wait": 120,
        "is_large": True,
        "size": 1,
    }


def test_accessors_without_a_field(seen: list[Any]) -> None:
    given = PaperStock("Foo", 9.0)
    assert pack(given).attributes == {"type": "PaperStock", "symbol": "Foo", "price": 9.0}
    back = unpack(binary.decode(binary.encode(pack(given))))
    assert (back.getSymbol(), back.getPrice()) == ("Foo", 9.0)


@pytest.fixture
def seen() -> list[Any]:
    return []


def test_a_share_is_a_stock(seen: list[Any]) -> None:
    hub = fyke.Hub()
    hub.subscribe(Stock, seen.append, id="all")
    hub.subscribe(Share, seen.append, id="shares")
    S = fyke.fields(Stock)
    hub.subscribe((S.price < 10) & (S.symbol == "Foo"), seen.append, id="cheap")
    texts: list[Any] = []
    hub.subscribe("type is Stock and price < 10", texts.append, id="text")
    share, stock = Share("Foo", 9.0, 300), Stock("Foo", 11.0)
    assert hub.publish(share).subscriptions == ("all", "shares", "cheap", "text")
    assert hub.publish(stock).subscriptions == ("all",)
    assert seen == [share, share, share, stock] and seen[0] is share
    assert texts[0]["price"] == 9.0 and texts[0].supertypes == ("Stock",)


def test_a_subtype_that_is_defined_later_and_not_decorated(seen: list[Any]) -> None:
    hub = fyke.Hub()
    hub.subscribe(Stock, seen.append)

    class Option(Stock):
        pass

    option = Option("Foo", 1.0)
    hub.publish(option)
    assert seen == [option]
    assert pack(option).supertypes == ("Stock",)


def test_documents_and_bytes_become_objects_too(seen: list[Any]) -> None:
    hub = fyke.Hub()
    hub.subscribe(Stock, seen.append)
    hub.publish({"type": "Stock", "symbol": "Foo", "price": 3})
    hub.publish(binary.decode(binary.encode(pack(Share("Bar", 2.0, 1)))))
    assert seen == [Stock("Foo", 3), Share("Bar", 2.0, 1)]


def test_a_payload_that_does_not_fit_is_reported_and_others_are_served(seen: list[Any]) -> None:
    failures: list[Any] = []
    hub = fyke.Hub(on_error=lambda failure, event: failures.append(failure))
    hub.subscribe(Stock, seen.append, id="typed")
    hub.subscribe("type is Stock", seen.append, id="plain")
    for payload in (b"\x81", b"\xa1x", msgspec.msgpack.encode({"symbol": 3, "price": 1.0})):
        event = fyke.Event({"type": "Stock"}, payload=payload)
        assert hub.publish(event).subscriptions == ("plain",)
    assert [failure.subscription for failure in failures] == ["typed"] * 3
    assert "the payload is no Stock" in str(failures[0].error)
    assert len(seen) == 3


# --- in between -----------------------------------------------------------------------------------

MIDDLE = """
import json, sys
import fyke
from fyke.events import binary
from fyke.typed import unpack

assert not any("stocks" in name for name in sys.modules)
matcher = fyke.Matcher("scan")
matcher.add("cheap", "type is Stock and price < 10")
matcher.add("shares", "type is Share")
data = sys.stdin.buffer.read()
event = binary.decode(data)
assert unpack(event) is event                     # without the class it stays an event
assert binary.encode(event) == data               # and passes on as it came
print(json.dumps([matcher.match(event), event.attributes["symbol"], fyke.typed.__name__]))
"""


def test_the_middle_never_sees_the_class() -> None:
    data = binary.encode(pack(Share("Foo", 9.0, 300)))
    done = subprocess.run(
        [sys.executable, "-c", MIDDLE], input=data, capture_output=True, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == [["cheap", "shares"], "Foo", "fyke.typed"]


HALF = """
import sys
import fyke
from fyke.events import binary

@fyke.event
class Stock: symbol: str; price: float

hub = fyke.Hub()
hub.subscribe(Stock, lambda stock: print(type(stock).__name__, stock.price))
hub.publish(binary.decode(sys.stdin.buffer.read()))
"""


def test_who_knows_the_supertype_only_gets_one(tmp_path: Path) -> None:
    script = tmp_path / "half.py"
    script.write_text(HALF)
    data = binary.encode(pack(Share("Foo", 9.0, 300)))
    done = subprocess.run([sys.executable, script], input=data, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["Stock", "9.0"]


def test_only_event_classes_are_built_from_bytes() -> None:
    class Danger:
        pass

    for name in ("Danger", "builtins.list", "subprocess.Popen", "Address"):
        event = fyke.Event({"type": name}, payload=msgspec.msgpack.encode({"args": "ls"}))
        assert unpack(event) is event
    with pytest.raises(fyke.FykeError, match="not an event class"):
        fyke.Hub().subscribe(Danger, print)
    with pytest.raises(fyke.EventError, match="Danger"):
        fyke.Hub().publish(Danger())


# --- payloads of one's own ------------------------------------------------------------------------


def _crypt(data: bytes) -> bytes:
    return bytes(each ^ 0x5A for each in data)


@fyke.event(
    encode=lambda bid: _crypt(f"{bid.who} {bid.amount}".encode()),
    decode=lambda data: Bid(*_crypt(data).decode().split()),
    show=["item"],
)
class Bid:
    def __init__(self, who: str, amount: str) -> None:
        self.who, self.amount = who, int(amount)

    @property
    def item(self) -> str:
        return "lot 7"


def test_encode_and_decode_and_what_is_shown() -> None:
    event = pack(Bid("eva", "500"))
    assert event.attributes == {"type": "Bid", "item": "lot 7"}
    assert b"eva" not in binary.encode(event)
    back = unpack(binary.decode(binary.encode(event)))
    assert (back.who, back.amount) == ("eva", 500)


def test_what_a_class_hides_its_subclasses_hide() -> None:
    class Offer(Bid):
        @property
        def amount_text(self) -> str:
            return str(self.amount)

    assert pack(Offer("eva", "500")).attributes == {
        "type": "Offer", "item": "lot 7", "amount_text": "500"
    }  # fmt: skip


def test_a_sealed_payload_shows_what_the_publisher_chooses(seen: list[Any]) -> None:
    event = sealed(Stock, pack(Stock("Foo", 9.0)).payload, symbol="Foo")  # type: ignore[arg-type]
    assert event.attributes == {"type": "Stock", "symbol": "Foo", DOUBTS: ("price",)}
    hub = fyke.Hub()
    hub.subscribe(Stock, seen.append)
    hub.publish(event)
    assert seen == [Stock("Foo", 9.0)]
    with pytest.raises(fyke.EventError, match="no such attribute"):
        sealed(Stock, b"", colour="red")
    with pytest.raises(fyke.EventError, match="bytes"):
        sealed(Stock, "text")  # type: ignore[arg-type]


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("price", "problem"),
    [
        (True, "a bool; expected float or int"),
        ("9", "a str; expected float or int"),
        (None, "a NoneType; expected float or int"),
        (Decimal(9), "a Decimal; expected float or int"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (2**63, "64 bits"),
        ([1.0], "a list; expected float or int"),
    ],
)
def test_values_are_checked_against_annotations(price: Any, problem: str) -> None:
    with pytest.raises(fyke.EventError, match=problem) as refused:
        fyke.Hub().publish(Stock("Foo", price))
    assert refused.value.attribute == "price"


def test_a_naive_time_is_refused() -> None:
    given = order()
    naive = Order(given.id, "web", datetime(2026, 1, 2), given.total)
    with pytest.raises(fyke.EventError, match="no time zone"):
        pack(naive)


class Shouting(str):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()

    __hash__ = str.__hash__


@fyke.event
class When:
    at: datetime


@pytest.mark.parametrize(
    ("given", "doubts"),
    [
        (Stock(Shouting("foo"), 1.0), ("symbol",)),
        (Stock("Foo", 2**53 + 1), ("price",)),
        (Stock("Foo", Level.HIGH), ("price",)),
        (When(datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))), ("at",)),
        (When(datetime(2026, 7, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))), None),
        (Stock("Foo", 3), None),
        (PaperStock("Foo", Decimal("0.1")), ("price",)),
        (PaperStock("Foo", Level.LOW), ("price",)),
        (PaperStock(["a"], 3), None),
    ],
)
def test_what_may_compare_in_its_own_way_is_in_doubt(given: Any, doubts: Any) -> None:
    assert pack(given).attributes.get(DOUBTS) == doubts


@fyke.event
class Fragile:
    name: str

    @property
    def length(self) -> int:
        return 10 // len(self.name)


def test_an_accessor_that_raises_is_unknown_and_counted() -> None:
    before = described(Fragile).unknown["length"]
    event = pack(Fragile(""))
    assert event.attributes == {"type": "Fragile", "name": "", DOUBTS: ("length",)}
    assert described(Fragile).unknown["length"] == before + 1


# --- bad classes ----------------------------------------------------------------------------------


def test_a_class_without_attributes_is_an_event_of_its_type(seen: list[Any]) -> None:
    @fyke.event
    class Started:
        pass

    hub = fyke.Hub()
    hub.subscribe(Started, seen.append)
    hub.publish(Started())
    assert len(seen) == 1
    assert isinstance(unpack(binary.decode(binary.encode(pack(Started())))), Started)


def test_a_field_of_a_type_that_has_no_values_here() -> None:
    with pytest.raises(fyke.SchemaError, match="'Socketed': attribute 'file': a Path has no"):

        @fyke.event
        class Socketed:
            file: Path


def test_two_classes_of_one_name() -> None:
    def other() -> type:
        @fyke.event
        class Stock:
            pass

        return Stock

    with pytest.raises(fyke.FykeError, match=r"two classes are called 'Stock'.*name="):
        other()


def test_a_subtype_that_redefines_a_field() -> None:
    with pytest.raises(fyke.SchemaError, match="a subtype may only narrow"):

        @fyke.event
        class Odd(Stock):
            price: str  # type: ignore[assignment]

    @fyke.event
    class Whole(Stock):
        price: int

    assert pack(Whole("a", 3)).attributes["price"] == 3


def test_a_constructor_that_nobody_can_call() -> None:
    @fyke.event
    class Closed:
        def __init__(self, secret: str) -> None:
            self.hash = len(secret)

    event = pack(Closed("abc"))
    assert event.attributes == {"type": "Closed"}
    with pytest.raises(fyke.FykeError, match=r"'secret', which is no attribute.*encode="):
        binary.encode(event)


def test_options_that_cannot_be() -> None:
    with pytest.raises(fyke.FykeError, match="go together"):
        fyke.event(encode=lambda each: b"")
    with pytest.raises(fyke.FykeError, match="a list of names"):
        fyke.event(show="symbol")
    with pytest.raises(fyke.FykeError, match="is a class"):
        fyke.event(3)  # type: ignore[call-overload]
    with pytest.raises(fyke.SchemaError, match="there is no attribute 'colour'"):

        @fyke.event(show=["colour"])
        class Painted:
            color: str


def test_members_and_text_are_enumerations() -> None:
    @fyke.event
    class Trade:
        side: Side

    assert unpack(binary.decode(binary.encode(pack(Trade(Side.BUY))))) == Trade(Side.BUY)
    with pytest.raises(fyke.EventError, match="expected Side"):
        pack(Trade("buy"))  # type: ignore[arg-type]
