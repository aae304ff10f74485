"""JSON bytes to ids: the verdicts of the events that the slow door reads, in every engine."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

import fyke
from fyke import Event, EventError, Hub
from fyke.events import cloudevents, cloudevents_door
from fyke.events.door import Door
from fyke.events.json import decode_event
from fyke.events.projection import Projection
from fyke.filters.dialects import parse
from fyke.filters.filter import Filter
from fyke.filters.reads import reads
from fyke.matching import lines
from fyke.matching.engines.registry import ENGINES
from fyke.matching.matcher import Matcher
from fyke.testing.texts import damaged, json_text
from tests.events.test_documents import NASTY, REFUSED
from tests.matching.test_document_batches import KNOWN, matcher_of

PARTS = {id: filter for id, filter in KNOWN.items() if reads(filter) is not None}
"""Those that say what they read."""


def paths_of(filters: dict[str, Filter]) -> set[str] | None:
    found = [reads(filter) for filter in filters.values()]
    return None if None in found else set().union(*found)


def right(filters: dict[str, Filter], text: bytes) -> list[str] | None:
    """What the slow door and the filters themselves say; None where there is no event."""
    try:
        event = Projection(paths_of(filters)).event(text)
    except EventError:
        return None
    return sorted(id for id, filter in filters.items() if filter.matches(event))


def single(matcher: Matcher, text: bytes) -> list[str] | None:
    try:
        return sorted(matcher.match_json(text))
    except EventError:
        return None


def by_lines(found: lines.LineMatches, count: int) -> list[list[str] | None]:
    answers: list[list[str] | None] = [[] for _ in range(count)]
    for number, _ in found.refused:
        answers[number] = None
    numbers = found.table["event"].to_pylist()
    assert numbers == sorted(numbers)
    for number, id in zip(numbers, found.table["subscription"].to_pylist(), strict=True):
        answers[number].append(id)
    return [each if each is None else sorted(each) for each in answers]


def check(matcher: Matcher, filters: dict[str, Filter], texts: list[bytes]) -> tuple[int, int]:
    """How many were refused, and how many matches there are."""
    expected = [right(filters, text) for text in texts]
    assert [single(matcher, text) for text in texts] == expected
    found = matcher.match_ndjson(b"\n".join(texts))
    blank = [place for place, text in enumerate(texts) if not text.strip(b" \t\r")]
    for place in blank:
        expected[place] = []
    assert by_lines(found, len(texts)) == expected
    assert found.events + len(found.refused) + len(blank) == len(texts)
    return expected.count(None), sum(len(each or ()) for each in expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_says_of_bytes_what_the_filters_say(engine, seeds):
    some, everything = matcher_of(engine, PARTS), matcher_of(engine, KNOWN)
    refused = matched = 0
    for seed in seeds(6):
        draw = Random(seed)
        texts = [json_text(draw) for _ in range(25)]
        texts += [damaged(draw, draw.choice(texts)) for _ in range(10)]
        for matcher, filters in ((some, PARTS), (everything, KNOWN)):
            one, other = check(matcher, filters, texts)
            refused, matched = refused + one, matched + other
    assert refused > 50
    assert matched > 500


@pytest.mark.parametrize("engine", ["compiled", "scan"])
def test_nasty_documents(engine):
    texts = [text if type(text) is bytes else text.encode() for text in [*NASTY, *REFUSED]]
    check(matcher_of(engine, PARTS), PARTS, texts)
    check(matcher_of(engine, KNOWN), KNOWN, texts)


def test_what_is_admitted_whole_has_the_verdicts_of_match(seeds):
    matcher = matcher_of("compiled", PARTS)
    compared = 0
    for seed in seeds(150):
        text = json_text(Random(seed), odd=0)
        try:
            event = decode_event(text)
        except EventError:
            with pytest.raises(EventError):
                matcher.match_json(text, strict=True)
            continue
        compared += 1
        assert (
            matcher.match_json(text)
            == matcher.match(event)
            == matcher.match_json(text, strict=True)
        )
    assert compared > 40


@pytest.mark.parametrize("engine", ["compiled", "scan"])
def test_an_event_that_keeps_its_json_is_matched_by_the_door(engine, seeds):
    matcher, hub, got = matcher_of(engine, PARTS), Hub(), []
    for id, filter in PARTS.items():
        hub.subscribe(filter, got.append, id=id)
    kept = refused = 0
    for seed in seeds(60):
        draw = Random(seed)
        text = damaged(draw, json_text(draw)) if seed % 4 == 0 else json_text(draw)
        event = Event.from_json(text)
        got.clear()
        expected = single(matcher, text)
        if expected is None:
            refused += 1
            for use in (matcher.match, hub.publish):
                with pytest.raises(EventError):
                    use(event)
            continue
        assert sorted(matcher.match(event)) == expected
        assert event.unread == text
        assert sorted(hub.publish(event).subscriptions) == expected
        assert got == [event] * len(got)
        kept += 1
    assert kept > 20
    assert refused > 5


def test_an_event_that_was_read_whole_is_not_read_again():
    matcher = Matcher("scan", timestamps=["t"])
    matcher.add("x", "a = 1 and t > timestamp '2026-01-01'")
    event = Event.from_json(b'{"a": 1, "t": "2026-01-31"}')
    assert matcher.match(event) == ["x"]
    assert event.attributes["a"] == 1
    assert event.unread is None
    assert matcher.match(event) == ["x"]
    assert matcher.explain(event, "x").holds


def test_strict_refuses_what_the_slow_door_lets_pass():
    matcher = matcher_of("scan", {"x": parse("a = 2")})
    for text in (b'{"a": 1, "a": 2}', b'{"a": 2, "z": 1e400}', b'{"a": 2, "z": {"q": 1, "q": 2}}'):
        assert matcher.match_json(text) == ["x"]
        with pytest.raises(EventError):
            matcher.match_json(text, strict=True)


# --- which paths are read ------------------------------------------------------------------------


def test_what_filters_read():
    read = {text: reads(parse(text)) for text in ("a = b.c", "type is T", "not exists x", "true")}
    assert list(read.values()) == [{"a", "b.c"}, {"type"}, {"x"}, set()]
    pattern = {"a": {"b": [1], "c": [{"anything-but": 2}]}}
    assert reads(parse(pattern, dialect="eventbridge")) == {"a.b", "a.c"}
    assert reads(parse("EXISTS a AND (b = 1 OR c LIKE 'x%')", dialect="cesql")) == {"a", "b", "c"}
    matcher = matcher_of("scan", {"x": parse("a = b")})
    assert matcher.match_json(b'{"a": 1, "b": 1}') == ["x"]


def test_who_comes_and_goes_changes_what_is_read():
    matcher = Matcher("scan")
    bad = b'{"a": 1, "b": 1e400}'
    matcher.add("a", "a = 1")
    assert matcher.match_json(bad) == ["a"]
    matcher.add("b", "b = 2 or a = 7")
    with pytest.raises(EventError, match="attribute 'b'"):
        matcher.match_json(bad)
    assert matcher.match_json(b'{"b": 2}') == ["b"]
    matcher.replace("b", "c = 3")
    assert matcher.match_json(bad) == ["a"]
    assert matcher.match_json(b'{"c": 3}') == ["b"]
    matcher.add("any", "detection:\n  words: ['x']\n  condition: words", dialect="sigma")
    with pytest.raises(EventError, match="attribute 'b'"):
        matcher.match_json(bad)
    assert matcher.match_json(b'{"q": "x"}') == ["any"]
    matcher.remove("any")
    matcher.remove("a")
    assert matcher.match_json(bad) == []
    assert matcher.match_ndjson(bad).refused == ()


def test_a_refused_subscription_leaves_what_is_read_as_it_was():
    matcher = Matcher("scan")
    matcher.add("a", "a = 1")
    assert matcher.match_json(b'{"b": 1e400}') == []
    with pytest.raises(fyke.FykeError):
        matcher.add("a", "b = 1")
    assert matcher.match_json(b'{"b": 1e400}') == []


def test_a_snapshot_reads_what_its_subscriptions_read(tmp_path):
    matcher = matcher_of("compiled", PARTS)
    matcher.save(tmp_path / "snapshot")
    check(Matcher.open(tmp_path / "snapshot"), PARTS, [text.encode() for text in NASTY])


class Turning(Door):
    """A door beside which somebody subscribes to a new path before the search begins."""

    def __init__(self, matcher: Matcher, then) -> None:
        super().__init__(["a"])
        self.then = then

    def event(self, text):
        read = super().event(text)
        self.then()
        return read

    def block(self, texts):
        read = super().block(texts)
        self.then()
        return read


@pytest.mark.parametrize("engine", ["compiled", "scan"])
@pytest.mark.parametrize("form", ["single", "lines"])
def test_who_reads_a_new_path_sees_it_or_does_not_see_the_event(engine, form):
    matcher = matcher_of(engine, {"a": parse("a = 1")})
    matcher.match_json(b"{}")
    added = []

    def subscribe() -> None:
        if not added:
            added.append(matcher.add("b", "b = 2"))
            matcher.add("no b", "not exists b")

    matcher._subscriptions._asked.known = Turning(matcher, subscribe)
    text = b'{"a": 1, "b": 2}'
    found = matcher.match_json(text) if form == "single" else ids(matcher.match_ndjson(text))
    assert sorted(found) == ["a", "b"]


def ids(found: lines.LineMatches) -> list[str]:
    return found.table["subscription"].to_pylist()


def test_threads_that_add_paths_while_others_match():
    matcher = matcher_of("compiled", {"s": parse("a = 1")})
    text = b'{"a": 1, ' + b", ".join(b'"p%d": 1' % n for n in range(200)) + b"}"
    problems = []

    def match() -> None:
        before = 1
        while before < 200:
            for found in (matcher.match_json(text), ids(matcher.match_ndjson(text))):
                if len(found) < before or any(id.startswith("no") for id in found):
                    problems.append(found)
                before = max(before, len(found))

    readers = [threading.Thread(target=match) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(200):
        matcher.add(f"s{number}", f"p{number} = 1")
        matcher.add(f"no{number}", f"not exists p{number}")
    for reader in readers:
        reader.join()
    assert not problems


def test_a_schema_reads_timestamps():
    matcher = Matcher("scan", timestamps=["at"])
    matcher.add("late", "at > timestamp '2026-01-01T00:00:00Z'")
    assert matcher.match_json(b'{"at": "2026-02-01"}') == ["late"]
    found = matcher.match_ndjson(b'{"at": "2026-02-01"}\n{"at": "soon"}\n{"at": "2025-02-01"}')
    assert by_lines(found, 3) == [["late"], None, []]


def test_a_share_of_what_is_matched_is_watched_and_checked():
    matcher = Matcher("compiled", self_check=1.0)
    matcher.add("x", "a = 1 and not exists b")
    seen = []
    matcher.watch(seen.append, 1.0)
    matcher.match_json(b'{"a": 1}')
    matcher.match_ndjson(b'{"a": 1}\n{"a": 1, "b": 2}')
    assert [event.attributes.get("b") for event in seen] == [None, None, 2]
    assert matcher.stats().self_checks == 3
    assert matcher.stats().self_check_failures == 0


# --- lines ---------------------------------------------------------------------------------------

TEXT = b'\xef\xbb\xbf{"a": 1}\r\n\r\n \t\n{"a": 2}\n{"a": 1} {"a": 1}\n{"a": \x00}\n{"a": 1}'


@pytest.mark.parametrize("form", ["bytes", "text", "path", "stream", "trickle"])
def test_lines_come_as_bytes_text_path_or_stream(form, tmp_path, monkeypatch):
    (tmp_path / "lines").write_bytes(TEXT)
    source = {
        "bytes": TEXT,
        "text": TEXT.decode(),
        "path": tmp_path / "lines",
        "stream": io.BytesIO(TEXT),
        "trickle": io.BytesIO(TEXT),
    }[form]
    if form == "trickle":
        monkeypatch.setattr(lines, "BLOCK_BYTES", 3)
    found = matcher_of("scan", {"x": parse("a = 1")}).match_ndjson(source)
    assert found.table.to_pydict() == {"event": [0, 6], "subscription": ["x", "x"]}
    assert found.table.schema.types == [pa.int64(), pa.string()]
    assert [number for number, _ in found.refused] == [4, 5]
    assert found.events == 3


def test_what_is_no_source_of_lines_is_refused():
    matcher = matcher_of("scan", {"x": parse("a = 1")})
    for source in (None, 5, {"a": 1}, [b"{}"], io.StringIO('{"a": 1}')):
        with pytest.raises(EventError):
            matcher.match_ndjson(source)
    with pytest.raises(FileNotFoundError):
        matcher.match_ndjson(Path("/no/such/file"))


@pytest.mark.parametrize("size", [1, 4, 10, 1000])
def test_a_line_that_is_too_long_is_refused_and_never_held(size, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK_BYTES", size)
    long = b"x" * 21
    text = b"\n".join([b"a", long, b"", b"b" * 20, long, long, b"c", long])
    found = [
        (block.first + at, line)
        for block in lines.blocks(io.BytesIO(text).read, 20)
        for at, line in enumerate([None] if block.lines is None else block.lines)
    ]
    assert found == list(enumerate([b"a", None, b"", b"b" * 20, None, None, b"c", None]))


def test_blocks_are_bounded_by_lines_too(monkeypatch):
    monkeypatch.setattr(lines, "BLOCK_LINES", 3)
    found = list(lines.blocks(io.BytesIO(b"{}\n" * 7).read))
    assert [(block.first, len(block.lines)) for block in found] == [(0, 3), (3, 3), (6, 1)]


def test_a_line_of_many_megabytes():
    matcher = matcher_of("scan", {"x": parse("a = 1")})
    inside = b'{"z": "' + b"y" * (lines.LENGTH_MAX - 20) + b'", "a": 1}'
    assert len(inside) <= lines.LENGTH_MAX
    found = matcher.match_ndjson(b'{"a": 1}\n' + inside + b"\n" + inside + b"zzzz\n" + b'{"a": 1}')
    assert found.table["event"].to_pylist() == [0, 1, 3]
    assert [number for number, _ in found.refused] == [2]
    assert "longer than" in found.refused[0].reason


def test_lines_that_go_by_the_slow_door_are_counted():
    matcher = matcher_of("scan", {"x": parse("a = 1")})
    found = matcher.match_ndjson(b'{"a": [[[[[1]]]]]}\n{"a": 1}\n{"a": tru}\n{"a": [[[[[2]]]]]}\n')
    assert found.table["event"].to_pylist() == [0, 1]
    assert (found.events, found.slow, len(found.refused)) == (3, 3, 1)
    assert matcher.stats().read_slowly == 3
    matcher.add("y", "b = 1")
    matcher.match_json(b'{"b": [[[[[1]]]]]}')
    assert matcher.stats().read_slowly == 4


CLOUD = b'{"specversion": "1.0", "id": "1", "source": "/s", "type": "T", "data": {"price": %d}}'


def test_cloud_events_structured_and_in_batches():
    matcher = matcher_of("scan", {"cheap": parse("data.price < 10"), "typed": parse("type is T")})
    assert matcher.match_cloudevents(CLOUD % 5) == [["cheap", "typed"]]
    batch = b"[" + CLOUD % 5 + b"," + CLOUD % 20 + b"]"
    assert matcher.match_cloudevents(batch) == [["cheap", "typed"], ["typed"]]
    assert matcher.match_cloudevents(b" []") == []
    timed = CLOUD.replace(b'"data"', b'"time": "2026-01-31T14:00:00+02:00", "data"') % 20
    matcher.add("late", "time > timestamp '2026-01-01'")
    assert matcher.match_cloudevents(timed.decode()) == [["typed", "late"]]
    for refused in (b"{}", b"[5]", b"5", CLOUD.replace(b"1.0", b"0.3") % 5, b"[" + CLOUD % 5):
        with pytest.raises(EventError):
            matcher.match_cloudevents(refused)


def right_of_cloud(matcher: Matcher, text: bytes, strict: bool) -> list[list[str]] | str:
    """What the slow door and the filters say, or the strict reader; or why there is no event."""
    door = matcher._subscriptions.door()
    try:
        events = cloudevents.decode_all(text) if strict else cloudevents_door.slowly(text, door)
    except EventError as refused:
        return str(refused)
    return [[id for id, filter in matcher.items() if filter.matches(event)] for event in events]


def below_data(text: bytes, draw: Random) -> bytes:
    """A CloudEvent around some JSON; now and then its context is odd."""
    context = {"specversion": "1.0", "id": "1", "source": "/s", "type": draw.choice(["T", "a"])}
    if draw.random() < 0.2:
        context |= draw.choice(
            [
                {"a": 1},
                {"a": None},
                {"a": True},
                {"A": 1},
                {"time": "x"},
                {"datacontenttype": "t/p"},
            ]
        )
    head = json.dumps(context).encode()[:-1]
    return head + b', "data": ' + text + b"}"


@pytest.mark.parametrize("engine", ["compiled", "scan"])
def answer_to_cloud(matcher: Matcher, text: bytes, strict: bool = False) -> list[list[str]] | str:
    try:
        return [sorted(ids) for ids in matcher.match_cloudevents(text, strict=strict)]
    except EventError as refused:
        return str(refused)


@pytest.mark.parametrize("engine", ["compiled", "scan"])
def test_cloud_events_by_the_door_are_those_of_the_slow_door(engine, seeds):
    filters = {f"in {id}": parse(text) for id, text in CLOUD_FILTERS.items()}
    pattern = {"data": {"a": {"b": [1], "c": [{"anything-but": 2}]}}}
    filters["residual"] = parse(pattern, dialect="eventbridge")
    matcher = matcher_of(engine, dict(sorted(filters.items())))
    taken = refused = lenient = matched = 0
    for seed in seeds(150):
        draw = Random(seed)
        texts = [below_data(json_text(draw), draw) for _ in range(draw.choice([1, 1, 3]))]
        text = b"[" + b", ".join(texts) + b"]" if len(texts) > 1 else texts[0]
        if draw.random() < 0.2:
            text = damaged(draw, text)
        expected = right_of_cloud(matcher, text, strict=False)
        assert answer_to_cloud(matcher, text) == expected, text
        strictly = right_of_cloud(matcher, text, strict=True)
        assert answer_to_cloud(matcher, text, strict=True) == strictly
        if isinstance(expected, str):
            refused += 1
            assert isinstance(strictly, str)
        elif isinstance(strictly, str):
            lenient += 1
        else:
            taken += 1
            matched += sum(map(len, expected))
            assert expected == strictly
    assert taken > 30
    assert refused > 10
    assert lenient > 5
    assert matched > 30


CLOUD_FILTERS = {
    "a": "data.a = 1 or not exists data.a",
    "ab": "data.a.b > 0 or data.a.b is null",
    "x": "data.x.y is not null",
    "b": "data.b in ('x', 1, true)",
    "context": "a = 1 or type = 'a' or exists time",
}


def test_of_data_what_nobody_reads_need_only_be_well_formed():
    matcher = matcher_of("scan", {"cheap": parse("data.price < 10")})
    for noise in (b"1e400", b'{"q": 1, "q": 2}', b'"\\ud800"', b"9" * 30):
        text = (CLOUD % 5).replace(b'"data": {', b'"data": {"noise": %s, ' % noise)
        assert matcher.match_cloudevents(text) == [["cheap"]]
        assert matcher.match_cloudevents(b"[%s, %s]" % (text, text)) == [["cheap"]] * 2
        with pytest.raises(EventError):
            matcher.match_cloudevents(text, strict=True)
    for wrong in (b'{"noise": tru, ', b'{"noise": "\xff", ', b'{"price": 1e400, "x": {'):
        with pytest.raises(EventError):
            matcher.match_cloudevents((CLOUD % 5).replace(b'"data": {', b'"data": ' + wrong))
    for name in (b'"id": "1"', b'"specversion": "1.0"'):
        with pytest.raises(EventError):
            matcher.match_cloudevents((CLOUD % 5).replace(name, b'"odd": "1"'))


def test_a_residual_sees_the_context_and_the_data_of_a_cloud_event():
    pattern = {"source": ["/s"], "data": {"legs": {"price": [5], "venue": ["X"]}}}
    matcher = matcher_of("compiled", {"leg": parse(pattern, dialect="eventbridge")})
    legs = b'{"legs": [{"price": %d, "venue": "%s"}, {"price": 5, "venue": "Y"}], "n": 1e400}'
    for price, venue, expected in ((5, b"X", ["leg"]), (6, b"X", []), (5, b"Z", [])):
        text = (CLOUD % 5).replace(b'{"price": 5}', legs % (price, venue))
        assert matcher.match_cloudevents(text) == [expected]
