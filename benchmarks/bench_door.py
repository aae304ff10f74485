"""The door: JSON text to ids, on lots (GeoJSON as cities publish it) and on W1, and who goes by it.

A lot is some 600 bytes, most of which no pattern reads. The reference decodes the same lines, one
by one, into the same Struct, and drops what it made: what reading costs at least.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from random import Random

import pyarrow as pa

from benchmarks import bench_sigma, processes
from benchmarks.bench import SEED, Bench, short
from benchmarks.line import Line, at_least, at_most, micros
from benchmarks.pairs import Disagreement
from benchmarks.timing import Competitor, best
from fyke.cli.main import main
from fyke.events.json import decode_event
from fyke.matching.matcher import Matcher
from fyke.spark.reading import Reading

LOTS = 20_000
SINGLES = 2_000
WORKER_ROWS = 10_000
UNREAD = 20
FILE_LINES = 100_000
FILE_PATTERNS = 1_000
SINGLE_EVENTS = 600
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
    yield _worker(bench)
    bench.say("a file of lots")
    yield _file(bench)
    yield from _slow(bench)
    yield from _sigma(bench)


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
    decode = matcher._subscriptions.door().decode
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


def _worker(bench: Bench) -> Line:
    """What a worker of Spark's does with a column of JSON, against reading the whole of each."""
    subject = bench.w1(bench.ten_thousand)
    count = bench.events(WORKER_ROWS)
    rows = subject.workload.columns(count).to_pylist()
    wide = {f"unread{number}": [number, f"text {number}"] for number in range(UNREAD)}
    texts = [
        json.dumps({k: v for k, v in row.items() if v is not None} | wide).encode() for row in rows
    ]
    batch = pa.record_batch({"value": pa.array(texts, pa.binary())})
    reading, matchers = Reading("json", ("value",)), [subject.matcher]
    found, right = reading.match(matchers, batch), reading.match(matchers, batch, strict=True)
    if sorted(zip(found.rows.to_pylist(), found.ids.to_pylist(), strict=True)) != sorted(
        zip(right.rows.to_pylist(), right.ids.to_pylist(), strict=True)
    ):
        raise Disagreement("a column of JSON has other matches by the door")
    ours, old = best(
        Competitor("door", lambda: reading.match(matchers, batch), count),
        Competitor("whole", lambda: reading.match(matchers, batch, strict=True), count),
    )
    return Line(
        f"Spark's worker, W1 {short(subject.count)}, a JSON column: by the door / whole",
        micros(ours), micros(old), old / ours, bar=at_least(5),
        note=f"CPU, no JVM; {UNREAD} attributes of an event are read by nobody",
    )  # fmt: skip


def _file(bench: Bench) -> Line:
    """`fyke match --count` on a file, against a loop that reads each event whole and matches it."""
    texts = lots(bench.events(FILE_LINES))
    patterns = [
        {"properties": {"STREET": [draw], "FROM_ST": [str(number)]}}
        for number, draw in zip(range(FILE_PATTERNS), cycle(STREETS))
    ]
    matcher = Matcher()
    for number, pattern in enumerate(patterns):
        matcher.add(str(number), pattern, dialect="eventbridge")
    with tempfile.TemporaryDirectory(prefix="fyke-bench-") as folder:
        events, rules = Path(folder) / "lots.jsonl", Path(folder) / "rules.jsonl"
        events.write_bytes(b"\n".join(texts) + b"\n")
        described = ({"id": str(at), "filter": each} for at, each in enumerate(patterns))
        rules.write_text("".join(json.dumps(each) + "\n" for each in described))
        arguments = ["match", "-s", str(rules), "--dialect", "eventbridge", "--count", str(events)]

        def command() -> None:
            with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
                if main(arguments) == 2:
                    raise Disagreement("fyke match could not read its input")

        def loop() -> None:
            with events.open("rb") as lines:
                for line in lines:
                    matcher.match(decode_event(line))

        ours, old = best(
            Competitor("fyke match", command, len(texts)), Competitor("loop", loop, len(texts))
        )
    return Line(
        f"fyke match, {short(len(texts))} lots x {short(FILE_PATTERNS)} patterns / Event by Event",
        micros(ours), micros(old), old / ours, bar=at_least(5), note="CPU, reading rules included",
    )  # fmt: skip


def _sigma(bench: Bench) -> Iterator[Line]:
    """Sigma rules and Windows events, from text to ids; the first part of a lane warms up."""
    folder = _conformance() / "sigma"
    if not folder.is_dir():
        return
    bench.say("Sigma rules, from text")
    rules = bench_sigma.read_rules(folder / "rules_994da166", 50 if bench.is_quick else 1)
    for lane in (bench_sigma.LANE, *bench_sigma.OTHERS):
        matcher = bench_sigma.matcher_of(rules)
        texts = (folder / "events" / f"{lane}.ndjson").read_bytes().splitlines()
        parts = bench_sigma.cut(texts[: 200 if bench.is_quick else None])
        rate = bench_sigma.rate_of(matcher.match_ndjson, [[b"\n".join(part)] for part in parts])
        yield Line(
            f"Sigma, {len(rules):,} rules, {lane}: NDJSON to ids", "match_ndjson",
            value=rate * len(parts[0]), unit="/s", note="CPU, decoding included",
        )  # fmt: skip
        few = [part[:SINGLE_EVENTS] for part in parts[:3]]
        yield Line(
            f"Sigma, {len(rules):,} rules, {lane}: text to ids, one by one", "match_json",
            value=bench_sigma.rate_of(matcher.match_json, few), unit="/s",
            note="CPU, decoding included",
        )  # fmt: skip
        yield _routed(bench, folder, lane, rate * len(parts[0]), parts)


def _routed(bench: Bench, folder: Path, lane: str, plain: float, parts: list[list[bytes]]) -> Line:
    """The same rules, each for its own log source only, which must not make them slower."""
    rules = bench_sigma.read_rules(
        folder / "rules_994da166", 50 if bench.is_quick else 1, is_routed=True
    )
    matcher = bench_sigma.matcher_of(rules)
    rate = bench_sigma.rate_of(matcher.match_ndjson, [[b"\n".join(part)] for part in parts])
    routed = rate * len(parts[0])
    return Line(
        f"Sigma, {len(rules):,} rules, {lane}: routed by log source / not", f"{routed:,.0f}/s",
        f"{plain:,.0f}/s", routed / plain, bar=at_least(1), note="CPU, NDJSON to ids",
    )  # fmt: skip


def _conformance() -> Path:
    default = processes.ROOT.parent / "shared" / "conformance"
    return Path(os.environ.get("FYKE_CONFORMANCE", default))


def _slow(bench: Bench) -> Iterator[Line]:
    folder = _conformance() / "sigma" / "events"
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
