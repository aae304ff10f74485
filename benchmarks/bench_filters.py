"""Reading and evaluating native filters, against a lark LALR parser and the rule-engine library."""

from __future__ import annotations

import random
from collections.abc import Iterator

import rule_engine

import fyke
from benchmarks.bench import Bench
from benchmarks.line import Bar, Line, at_least, micros
from benchmarks.references.lark_native import lark_parser
from benchmarks.timing import Competitor, best

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


def lines(bench: Bench) -> Iterator[Line]:
    bench.say("reading filters")
    yield parsing(500 if bench.is_quick else 100_000)
    bench.say("evaluating a filter")
    yield evaluating(2_000 if bench.is_quick else 500_000)


def parsing(count: int) -> Line:
    """Native filters into trees, which are kept: the garbage collector's share is part of it."""
    written = texts(count)
    reference = lark_parser()
    for text in written[:200]:
        assert reference(text) == fyke.parse(text), text
    return _line(
        f"parse {count:,} filters of 4-6 predicates / lark LALR",
        Competitor("fyke.parse", lambda: [fyke.parse(text) for text in written], count),
        Competitor("lark", lambda: [reference(text) for text in written], count),
        at_least(3),
    )


def evaluating(count: int) -> Line:
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
    return _line(
        "filter.matches, 4 predicates, parsed event / rule-engine",
        Competitor(
            "Filter.matches",
            lambda: [matches(event) for _ in range(repeats) for event in events],
            repeats * len(events),
        ),
        Competitor(
            "Rule.matches",
            lambda: [reference(document) for _ in range(fewer) for document in documents],
            fewer * len(documents),
        ),
        at_least(10),
    )


def _line(name: str, ours: Competitor, reference: Competitor, bar: Bar) -> Line:
    taken, theirs = best(ours, reference)
    return Line(name, micros(taken), micros(theirs), theirs / taken, bar=bar)


def _documents() -> Iterator[dict[str, object]]:
    accepted = {"symbol": "OTE", "price": 8.4, "volume": 132_700, "exchange": "NYSE", "low": 8.22}
    yield from (accepted, accepted, accepted)
    for change in ({"symbol": "INT"}, {"price": 8.2}, {"volume": 5}, {"exchange": "ASE"}):
        yield {**accepted, **change}
