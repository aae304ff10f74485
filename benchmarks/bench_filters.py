"""Reading and evaluating native filters, against a lark LALR parser and the rule-engine library."""

from __future__ import annotations

import random
from collections.abc import Iterator

import rule_engine

import fyke
from benchmarks.lark_native import lark_parser
from benchmarks.ratio import Ratio, measure

SYMBOLS = ["OTE", "INTRAKAT", "ALPHA", "DEF", "GHI"]


def texts(count: int, seed: int = 1) -> list[str]:
    """Native filters of 4 to 6 predicates, some with alternatives in parentheses."""
    draw = random.Random(seed)
    return [_text(draw) for _ in range(count)]


def _text(draw: random.Random) -> str:
    predicates = [_predicate(draw) for _ in range(draw.randint(4, 6))]
    if draw.random() < 0.3:
        predicates[:2] = [f"({predicates[0]} or {predicates[1]})"]
    return " and ".join(predicates)


def _predicate(draw: random.Random) -> str:
    number = round(draw.uniform(0, 1000), 2)
    symbol = draw.choice(SYMBOLS)
    return draw.choice(
        [
            f"symbol = '{symbol}'",
            f"price < {number}",
            f"volume >= {int(number)}",
            f"high between {number} and {number + 5}",
            f"exchange in ('{symbol}', 'NYSE')",
            f"sector != '{symbol.lower()}'",
            f"title like '{symbol[0]}%{symbol[-1]}'",
            f"title starts with '{symbol[:2]}'",
            f"not exists region.{symbol.lower()}",
        ]
    )


def parsing(count: int) -> Ratio:
    """Native filters into trees, which are kept: the garbage collector's share is part of it."""
    written = texts(count)
    reference = lark_parser()
    for text in written[:200]:
        assert reference(text) == fyke.parse(text), text
    return measure(
        f"parse {count:,} filters of 4-6 predicates",
        ours=("fyke.parse", lambda: [fyke.parse(text) for text in written], count),
        reference=("lark LALR + transformer", lambda: [reference(text) for text in written], count),
        bar=3,
    )


def evaluating(count: int) -> Ratio:
    """One filter of 4 predicates on parsed events; the events fail at each predicate in turn."""
    filter = fyke.parse("symbol = 'OTE' and price > 8.3 and volume != 5 and exchange = 'NYSE'")
    rule = rule_engine.Rule(
        "symbol == 'OTE' and price > 8.3 and volume != 5 and exchange == 'NYSE'"
    )
    documents = list(_documents())
    events = [fyke.Event(document) for document in documents]
    assert [filter.matches(event) for event in events] == [
        rule.matches(document) for document in documents
    ]
    matches, reference = filter.matches, rule.matches
    repeats, fewer = max(1, count // len(events)), max(1, count // len(events) // 10)
    return measure(
        "filter.matches, 4 predicates, parsed event",
        ours=(
            "Filter.matches",
            lambda: [matches(event) for _ in range(repeats) for event in events],
            repeats * len(events),
        ),
        reference=(
            "rule-engine Rule.matches",
            lambda: [reference(document) for _ in range(fewer) for document in documents],
            fewer * len(documents),
        ),
        bar=10,
    )


def _documents() -> Iterator[dict[str, object]]:
    accepted = {"symbol": "OTE", "price": 8.4, "volume": 132_700, "exchange": "NYSE", "low": 8.22}
    yield from (accepted, accepted, accepted)
    for change in ({"symbol": "INT"}, {"price": 8.2}, {"volume": 5}, {"exchange": "ASE"}):
        yield {**accepted, **change}


def ratios(scale: float = 1.0) -> Iterator[Ratio]:
    """All ratios of this module; a scale below 1 makes a quick run."""
    yield parsing(max(10, int(100_000 * scale)))
    yield evaluating(max(70, int(500_000 * scale)))
