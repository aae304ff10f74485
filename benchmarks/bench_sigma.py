"""W6: Sigma rules on Windows events; decoding is measured apart.

The rules and the events are those of the conformance folder; without it nothing is measured. Parts
of a lane are matched one after the other and each once, so that no string was seen in a round
before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from benchmarks import processes
from benchmarks.bench import Bench
from benchmarks.line import Line, at_least, at_most
from benchmarks.pairs import Disagreement
from benchmarks.timing import percentile, wait_until_quiet
from fyke.errors import FilterError
from fyke.events.event import Event
from fyke.events.json import decode_event
from fyke.filters.dialects.sigma import rule
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher

T = TypeVar("T")

PARTS = 5
CHECKED = 40
LANE = "structured_windows"
OTHERS = ("low_match", "mixed_schema", "no_match")


def lines(bench: Bench) -> Iterator[Line]:
    default = processes.ROOT.parent / "shared" / "conformance"
    folder = Path(os.environ.get("FYKE_CONFORMANCE", default)) / "sigma"
    if not folder.is_dir():
        yield Line("W6", note="skipped: no conformance cases (FYKE_CONFORMANCE names the folder)")
        return
    bench.say("W6: reading rules")
    rules = read_rules(folder / "rules_994da166", 50 if bench.is_quick else 1)
    yield from _lane(bench, folder, rules)
    for name in OTHERS:
        bench.say(f"W6: {name}")
        events, _ = _decoded(bench, folder, name)
        rate = rate_of(matcher_of(rules).match, cut(events))
        yield Line(f"W6, {name}", "match", value=rate, unit="/s")


def _lane(bench: Bench, folder: Path, rules: dict[str, Filter]) -> Iterator[Line]:
    bench.say(f"W6: {LANE}")
    events, decoding = _decoded(bench, folder, LANE)
    matcher = matcher_of(rules)
    rate = rate_of(matcher.match, cut(events))
    yield Line(
        f"W6, {LANE}, {len(rules):,} rules, single events", "match", value=rate, unit="/s",
        bar=at_least(8_000, aim=20_000),
        note=f"CPU, one core, decoding apart: {decoding:,.0f}/s; {_check(rules, matcher, events)}",
    )  # fmt: skip
    yield _batches(rules, matcher, events)
    candidates = [_candidates(matcher, event) for event in events]
    share = 100 * percentile(candidates, 95) / len(rules)
    stats = matcher.stats()
    yield Line(
        f"W6, {LANE}, p95 of candidate rules", f"{percentile(candidates, 95):.0f} rules",
        value=share, unit="%", bar=at_most(5),
        note=(
            f"mean {sum(candidates) / len(candidates):.1f}, most {max(candidates)}; "
            f"{stats.unguarded} rules without a guard; "
            f"{stats.work.checks / stats.events:.1f} filters evaluated an event"
        ),
    )  # fmt: skip


def _batches(rules: dict[str, Filter], matcher: Matcher, events: list[Event]) -> Line:
    name = f"W6, {LANE}, {len(rules):,} rules, batches"
    try:
        table = pa.Table.from_pylist([event.document for event in events])
    except (pa.ArrowInvalid, pa.ArrowTypeError) as refused:
        return Line(name, note=f"skipped: the events are no columns: {refused}")
    size = max(1, len(events) // PARTS)
    tables = [table.slice(part * size, size) for part in range(PARTS)]
    whole = matcher_of(rules)
    rate = rate_of(whole.match_batch, [[each] for each in tables]) * size
    _same(whole.match_batch(tables[0]), [matcher.match(event) for event in events[:size]])
    return Line(name, "match_batch", value=rate, unit="/s", note=f"{size:,} events a batch")


def read_rules(folder: Path, step: int, *, is_routed: bool = False) -> dict[str, Filter]:
    rules = {}
    for path in sorted(folder.rglob("*.yml"))[::step]:
        try:
            read = rule(path.read_text(encoding="utf-8"))
        except FilterError:
            continue
        name = str(path.relative_to(folder))
        rules[name] = read.routed_filter() if is_routed else read.filter
    return rules


def _decoded(bench: Bench, folder: Path, lane: str) -> tuple[list[Event], float]:
    """The events of a lane, and how many were decoded a second."""
    texts = (folder / "events" / f"{lane}.ndjson").read_bytes().splitlines()
    texts = texts[: 200 if bench.is_quick else None]
    started = time.process_time()
    events = [decode_event(text) for text in texts]
    return events, len(events) / (time.process_time() - started)


def matcher_of(rules: dict[str, Filter]) -> Matcher:
    matcher = Matcher("compiled")
    matcher.add_many(rules.items())
    return matcher


def cut(events: list[T]) -> list[list[T]]:
    size = max(1, len(events) // PARTS)
    return [events[part * size : (part + 1) * size] for part in range(PARTS)]


def rate_of(match: Callable[[Any], object], parts: Sequence[Sequence[Any]]) -> float:
    """Calls a second of CPU time, of the best part; the first one warms up."""
    best = 0.0
    for number, part in enumerate(parts):
        wait_until_quiet()
        started = time.process_time()
        for each in part:
            match(each)
        taken = time.process_time() - started
        best = max(best, len(part) / taken) if number else 0.0
    return best


def _candidates(matcher: Matcher, event: Event) -> int:
    before = matcher.stats().work.candidates
    matcher.match(event)
    return matcher.stats().work.candidates - before


def _check(rules: dict[str, Filter], matcher: Matcher, events: list[Event]) -> str:
    found = 0
    for event in events[:: max(1, len(events) // CHECKED)]:
        right = [id for id, filter in rules.items() if filter.matches(event)]
        if matcher.match(event) != right:
            raise Disagreement(f"the scan finds {right} for {event}")
        found += len(right)
    return f"{found} matches in some {CHECKED} events are the scan's"


def _same(table: pa.Table, found: list[list[str]]) -> None:
    batch: list[list[str]] = [[] for _ in found]
    for event, id in zip(*(table[name].to_pylist() for name in table.column_names), strict=True):
        batch[event].append(id)
    if [sorted(each) for each in batch] != [sorted(each) for each in found]:
        raise Disagreement("match_batch and match differ")
