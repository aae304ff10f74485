"""Twenty predicates as people write them, with the filter that is read from each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from random import Random
from typing import Any

import fyke


class Status(Enum):
    OPEN = "open"
    PAID = "paid"
    LATE = "late"


@dataclass
class Customer:
    country: str
    name: str
    vip: bool = False


@fyke.event
class Invoice:
    number: str
    total: float
    status: Status
    customer: Customer
    at: datetime
    lines: int = 1
    discount: float | None = None
    tags: list[str] = field(default_factory=list)

    def get_currency(self) -> str:
        return self.number[:3]


@fyke.event
class CreditNote(Invoice):
    pass


EU = {"NL", "BE", "DE", "FR"}
LARGE = 900
START = datetime(2026, 6, 1, tzinfo=UTC)


def is_large(invoice: Invoice) -> bool:
    return invoice.total >= LARGE


def unpaid(invoice: Invoice) -> bool:
    if invoice.status == Status.PAID:
        return False
    if invoice.customer.vip:
        return False
    return invoice.total > 500


def by_match(invoice: Invoice) -> bool:
    match invoice:
        case CreditNote(total=total) if total > 500:
            return True
        case Invoice(status=Status.LATE):
            return True
    return False


def with_locals(invoice: Invoice) -> bool:
    country, total = invoice.customer.country, invoice.total
    limit = 200 if country == "NL" else 800
    return total > limit and country in EU


class Watchlist:
    def __init__(self, *names: str) -> None:
        self.names = frozenset(names)

    def __call__(self, invoice: Invoice) -> bool:
        return invoice.customer.name in self.names


TWENTY: list[Any] = [
    lambda i: i.total > 900,
    lambda i: 100 < i.total <= 200,
    lambda i: i.status == Status.LATE and i.total > 500,
    lambda i: i.status in (Status.OPEN, Status.LATE) and not i.total < 700,
    lambda i: i.customer.country == "NL" or i.customer.country == "BE",
    lambda i: i.customer.country in EU and i.lines >= 8,
    lambda i: i.customer.name.lower() == "eva",
    lambda i: i.customer.name.startswith(("E", "Z")),
    lambda i: i.number.endswith("7"),
    lambda i: "urgent" in i.tags,
    lambda i: i.discount is not None and i.discount > 0.1,
    lambda i: i.discount is None and i.total > 800,
    lambda i: i.customer.vip and is_large(i),
    lambda i: any(i.number.startswith(p) for p in ("EUR1", "USD2")),
    lambda i: i.at >= START and i.customer.country != "NL",
    lambda i: bool(re.match(r"EUR4\d+", i.number)),
    lambda i: i.get_currency() == "USD" and i.total * 1.21 > 300,
    lambda i: isinstance(i, CreditNote) and (t := i.total) > 300 and t < 800,
    unpaid,
    with_locals,
    by_match,
    Watchlist("Eva", "Bo"),
]


def invoices(count: int, seed: int = 1) -> list[Invoice]:
    draw = Random(seed)
    return [
        draw.choice([Invoice, Invoice, Invoice, CreditNote])(
            draw.choice(["EUR", "USD", "GBP"]) + str(draw.randrange(10_000)),
            round(draw.random() * 1_000, 2),
            draw.choice(list(Status)),
            Customer(
                draw.choice(["NL", "BE", "DE", "FR", "US", "UK", "JP"]),
                draw.choice(["Eva", "eva", "Bo", "Zed", "Ann", "Max", "Kim", "Joe"]),
                draw.random() < 0.2,
            ),
            datetime(2026, draw.randrange(1, 13), 5, tzinfo=UTC),
            draw.randrange(1, 11),
            draw.choice([None, 0.05, 0.15, 0.3]),
            draw.choices(["urgent", "new", "web", "shop"], k=draw.randrange(3)),
        )
        for _ in range(count)
    ]
