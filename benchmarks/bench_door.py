"""The door: JSON text to ids, on lots (GeoJSON as cities publish it) and on W1.

A lot is some 600 bytes, most of which no pattern reads. The reference decodes the same lines, one
by one, into the same Struct, and drops what it made: what reading costs at least.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks import processes
from benchmarks.bench import SEED, Bench, short
from benchmarks.line import Line, at_least, at_most, micros
from benchmarks.pairs import Disagreement
from benchmarks.timing import Competitor, best
from fyke.events.json import decode_event
from fyke.matching.matcher import Matcher

LOTS = 20_000
SINGLES = 2_000
PATTERNS: dict[str, object] = {
    "street": {"properties": {"STREET": ["CRANLEIGH"]}},
    "lot": {"properties": {"MAPBLKLOT": ["0001234"], "ST_TYPE": ["ST"]}},
    "numbers": {"properties": {"FROM_ST": [{"prefix": "12"}], "ODD_EVEN": ["E"]}},
    "nameless": {"properties": {"ST_TYPE": [None]}},
    "north": {"geometry": {"coordinates": [{"numeric": [">", 37.7999]}]}},
}
ON_COORDINATES = "north"
STREETS = ("MISSION", "GUERRERO", "VALENCIA", "MARKET", "CRANLEIGH", "FOLSOM")


def lines(bench: Bench) -> Iterator[Line]:
    bench.say("lots")
    texts = lots(bench.events(LOTS))
    yield _blocks(texts, PATTERNS, "five patterns, one on coordinates")
    flat = {name: each for name, each in PATTERNS.items() if name != ON_COORDINATES}
    yield _blocks(texts, flat, "four patterns")
    yield _singles(texts[: bench.events(SINGLES)])
    yield _columns(bench)
    yield from _slow(bench)


def lots(count: int) -> list[bytes]:
    """Lots of a city, as JSON lines."""
    draw = Random(SEED)
    return [json.dumps(_lot(draw, number)).encode() for number in range(count)]


def _lot(draw: Random, number: int) -> dict[str, object]:
    corners = [
        [-122.4 + draw.random() / 10, 37.7 + draw.random() / 10, 0.0]
        for _ in range(draw.randint(4, 9))
    ]
    properties = {
        "MAPBLKLOT": f"{number:07d}",
        "BLKLOT": f"{number:07d}",
        "BLOCK_NUM": f"{number % 9_999:04d}",
        "LOT_NUM": f"{number % 300:03d}",
        "FROM_ST": str(draw.randint(1, 3_000)),
        "TO_ST": str(draw.randint(1, 3_000)),
        "STREET": draw.choice(STREETS),
        "ST_TYPE": draw.choice(["ST", "AVE", None]),
        "ODD_EVEN": draw.choice("EO"),
    }
    geometry = {"type": "Polygon", "coordinates": [corners]}
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def _matcher(patterns: dict[str, object]) -> Matcher:
    matcher = Matcher()
    for name, pattern in patterns.items():
        matcher.add(name, pattern, dialect="eventbridge")
    return matcher


def _blocks(texts: list[bytes], patterns: dict[str, object], what: str) -> Line:
    matcher, buffer = _matcher(patterns), b"\n".join(texts)
    decode = matcher._door().decode
    _same(matcher, texts[:200])

    def decoded() -> None:
        for text in texts:
            decode(text)

    ours, reference = best(
        Competitor("match_ndjson", lambda: matcher.match_ndjson(buffer), len(texts)),
        Competitor("msgspec", decoded, len(texts)),
    )
    return Line(
        f"lots, {what}: NDJSON to ids / decoding alone", micros(ours), micros(reference),
        ours / reference, bar=at_most(2.5), note="CPU; into the same Struct, line by line",
    )  # fmt: skip


def _same(matcher: Matcher, texts: list[bytes]) -> None:
    found: list[list[str]] = [[] for _ in texts]
    table = matcher.match_ndjson(b"\n".join(texts)).table.to_pydict()
    for event, id in zip(table["event"], table["subscription"], strict=True):
        found[event].append(id)
    for text, ids in zip(texts, found, strict=True):
        right = matcher.match(decode_event(text))
        if sorted(ids) != sorted(right) or matcher.match_json(text) != right:
            raise Disagreement(f"match finds {right} for {text!r}")


def _singles(texts: list[bytes]) -> Line:
    matcher = _matcher(PATTERNS)
    ours, old = best(
        Competitor("match_json", lambda: [matcher.match_json(text) for text in texts], len(texts)),
        Competitor("match", lambda: [matcher.match(decode_event(t)) for t in texts], len(texts)),
    )
    return Line(
        "lots, five patterns: match_json / text, Event, match", micros(ours), micros(old),
        old / ours, bar=at_least(12), note="CPU",
    )  # fmt: skip


def _columns(bench: Bench) -> Line:
    subject = bench.w1(bench.hundred_thousand)
    count = bench.events(8_192)
    table = subject.workload.columns(count)
    buffer = b"\n".join(
        json.dumps({name: value for name, value in row.items() if value is not None}).encode()
        for row in table.to_pylist()
    )
    matcher = subject.matcher
    if matcher.match_ndjson(buffer).table.num_rows != matcher.match_batch(table).num_rows:
        raise Disagreement("match_ndjson and match_batch differ")
    ours, ready = best(
        Competitor("match_ndjson", lambda: matcher.match_ndjson(buffer), count),
        Competitor("match_batch", lambda: matcher.match_batch(table), count),
    )
    return Line(
        f"W1 {short(subject.count)}: NDJSON / match_batch on ready columns", micros(ours),
        micros(ready), ready / ours, bar=at_least(0.4), note="CPU; every attribute is read",
    )  # fmt: skip


def _slow(bench: Bench) -> Iterator[Line]:
    default = processes.ROOT.parent / "shared" / "conformance"
    folder = Path(os.environ.get("FYKE_CONFORMANCE", default)) / "sigma" / "events"
    if not folder.is_dir():
        yield Line("slow door", note="skipped: no conformance cases (FYKE_CONFORMANCE)")
        return
    matcher = Matcher()
    matcher.add_many(
        (f"s{number}", f"{name} = 'x' or exists {name}")
        for number, name in enumerate(("Image", "EventID", "CommandLine", "a.b", "User"))
    )
    events = slow = 0
    for path in sorted(folder.glob("*.ndjson")):
        found = matcher.match_ndjson(path)
        events, slow = events + found.events, slow + found.slow
    yield Line(
        "conformance events by the slow door", f"{slow:,} of {events:,}",
        value=100 * slow / max(events, 1), unit="%", bar=at_most(2),
    )  # fmt: skip
