"""The door: what is asked for of JSON, quickly, is what the slow door says."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from fyke import Event, EventError
from fyke.events import door_columns
from fyke.events.door import FIELDS_MAX, Door
from fyke.events.json import decode_event
from fyke.events.projection import Projection
from fyke.events.schema import Schema
from fyke.events.value import sort_key
from fyke.limits import Limits
from fyke.testing.texts import PATHS, damaged, json_text
from tests.events.test_documents import NASTY, REFUSED
from tests.parts import check_parts

EVERYTHING = None


def asked(draw: Random) -> list[str] | None:
    return draw.sample(PATHS, draw.randrange(10)) if draw.random() < 0.9 else EVERYTHING


def text_of(draw: Random) -> bytes:
    text = json_text(draw)
    return damaged(draw, text) if draw.random() < 0.3 else text


def part_of(event: Event, paths: list[str] | None) -> Event:
    """Of a projection, those attributes that were asked for."""
    names = event.attributes if paths is EVERYTHING else paths
    return Event.flat({name: event[name] for name in names if name in event})


def outcome(read, text: bytes, paths: list[str] | None) -> object:
    """What a reader says of a text: attributes, whose lists have no order, or the refusal."""
    try:
        event = part_of(read(text), paths)
    except EventError as refused:
        return str(refused)
    return {
        name: (type(value) is tuple, Counter(map(key, value if type(value) is tuple else (value,))))
        for name, value in event.attributes.items()
    }


def key(scalar: object) -> object:
    return type(scalar), sort_key(scalar), str(scalar)


def check_both_doors(texts: list[bytes], paths: list[str] | None) -> Counter[str]:
    """One by one and as a block, what the fast door says is what the slow one says."""
    door, slow = Door(paths), Projection(paths)
    right = [outcome(slow.event, text, paths) for text in texts]
    for text, said in zip(texts, right, strict=True):
        assert outcome(door.event, text, paths) == said, text
    asked_slowly = door.slow
    block = door.block(texts)
    assert block.slow <= asked_slowly
    rows = {}
    for places, columns in block.parts:
        for row, place in enumerate(places.tolist()):
            assert place not in rows
            rows[place] = columns, row
    for place, (text, said) in enumerate(zip(texts, right, strict=True)):
        if place in rows:
            columns, row = rows[place]
            event = slow.event(text)
            if block.parts[0][1] is columns and paths is not EVERYTHING and len(columns.paths):
                check_parts(only(columns, paths), row, part_of(event, paths))
            made = columns.event(row)
            assert made.document == event.document
            assert outcome(lambda _, made=made: made, text, paths) == said
        elif text.strip(b" \t\r\n"):
            assert block.refused[place] == said, text
    return Counter(
        read=sum(type(each) is dict for each in right),
        refused=sum(type(each) is str for each in right),
        attributes=sum(len(each) for each in right if type(each) is dict),
        slow=asked_slowly,
    )


def only(columns, paths):
    kept = {path: parts for path, parts in columns.paths.items() if path in paths}
    return type(columns)(columns.rows, kept, {}, columns.make)


def test_both_doors_agree_on_drawn_and_damaged_texts(seeds):
    came_to: Counter[str] = Counter()
    for seed in seeds(400):
        draw = Random(seed)
        came_to += check_both_doors([text_of(draw) for _ in range(8)], asked(draw))
    texts = came_to["read"] + came_to["refused"]
    assert came_to["read"] > 0.4 * texts
    assert came_to["refused"] > 0.2 * texts
    assert came_to["attributes"] > 0.4 * texts
    assert came_to["slow"] < came_to["refused"] + 0.15 * texts


@pytest.mark.long
def test_both_doors_agree_on_very_many(seeds):
    """Counts what is compared: a million damaged documents in `make test-long`, two minutes."""
    came_to: Counter[str] = Counter()
    for seed in seeds(3_400):
        draw = Random(seed)
        came_to += check_both_doors(
            [damaged(draw, json_text(draw)) for _ in range(100)], asked(draw)
        )
    print(f"{came_to['read'] + came_to['refused']:,} damaged documents: {dict(came_to)}")
    assert came_to["read"] > 0.05 * came_to["refused"]


def test_no_line_of_many_brackets_is_missed(seeds, monkeypatch):
    found = many = 0
    for seed in seeds(60):
        draw = Random(seed)
        most = draw.choice([1, 2, 3, 7, 100])
        chunk = draw.choice([1, 5, 64, 1 << 15])
        monkeypatch.setattr(door_columns, "_CHUNK", chunk)
        lines = [
            bytes(draw.choices(b"[{]x", k=draw.choice([0, most, 2 * most, 3 * most])))
            for _ in range(draw.randrange(40))
        ]
        opens = [line.count(b"[") + line.count(b"{") for line in lines]
        places = door_columns._bracketed(b"\n".join(lines), lines, most)
        expected = {place for place, count in enumerate(opens) if count > most}
        assert expected <= set(places), lines
        if chunk > 1 << 14:  # of a line that lies in one chunk, no others are named
            assert all(opens[place] > most // 2 for place in places)
            found += len(places)
        many += len(expected)
    assert many > 100
    assert found > 50


def test_nasty_documents():
    texts = [text if type(text) is bytes else text.encode() for text in [*NASTY, *REFUSED]]
    for paths in (["a"], ["a.b"], ["a", "a.b", "a.c", "type"], [], EVERYTHING, ["", "é", "日本"]):
        check_both_doors(texts, paths)


def test_an_event_that_is_admitted_whole_is_the_same_part_by_part(seeds):
    """The slow door itself: where the strict reader takes a text, it finds the same."""
    taken = 0
    for seed in seeds(800):
        draw = Random(seed)
        text, paths = json_text(draw, odd=0), asked(draw)
        try:
            whole = decode_event(text)
        except EventError:
            continue
        taken += 1
        expected = outcome(lambda _, whole=whole: whole, text, paths)
        assert outcome(Projection(paths).event, text, paths) == expected, text
    assert taken > 200


# --- strictness, by example -----------------------------------------------------------------------

SKIPPED = [
    *(b"1e400", b"-1e400", b"9" * 30, b"1" * 5000, b'"\\ud800"', b'"\\udc00"', b'{"q": 1, "q": 2}'),
    *(b"[" * 99 + b"]" * 99, b'{"\\ud800": 1}', b"[" + b"0," * 60_000 + b"0]"),
]
NEVER = [
    *(b"NaN", b"Infinity", b"01", b"1.", b".5", b"+1", b"tru", b'"\t"', b'"\x00"', b'"\\x"'),
    *(
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"[1,]",
        b"{,}",
        b"{1:2}",
        b'"',
        b"[",
        b"1 2",
        b"'x'",
        b"\x0c1",
    ),
    *(b"[" * 100 + b"]" * 100, b"[" * 5000 + b"]" * 5000, b'{"\xff": 1}', b'["\\u12"]'),
]
READ = [b"1e400", b"9223372036854775808", b'"\\ud800"', b"[" + b"0," * 60_000 + b"0]"]


@pytest.mark.parametrize("value", SKIPPED, ids=lambda each: each[:20].decode())
def test_what_nobody_asked_for_need_only_be_well_formed(value):
    for text in (b'{"a": 1, "z": %s}' % value, b'{"z": %s, "a": 1}' % value):
        assert Door(["a"]).event(text).attributes == {"a": 1}
        (_, columns), *_ = Door(["a"]).block([text]).parts
        assert columns.event(0)["a"] == 1


@pytest.mark.parametrize("value", NEVER, ids=lambda each: repr(each[:20]))
def test_what_is_not_well_formed_is_refused_wherever_it_stands(value):
    door = Door(["a"])
    for text in (b'{"a": 1, "z": %s}' % value, b'{"a": %s}' % value):
        with pytest.raises(EventError):
            door.event(text)
        block = door.block([b'{"a": 1}', text, b'{"a": 2}'])
        assert list(block.refused) == [1]
        assert block.events == 2


@pytest.mark.parametrize("value", READ, ids=lambda each: each[:20].decode())
def test_what_is_asked_for_is_checked(value):
    for text in (b'{"a": %s}' % value, b'{"a": {"b": %s}}' % value, b'{"a.b": [%s]}' % value):
        door = Door(["a", "a.b"])
        with pytest.raises(EventError, match="attribute 'a"):
            door.event(text)
        assert list(door.block([text]).refused) == [0]


def test_of_equal_keys_the_last_one_counts():
    for text in (b'{"a": 1, "a": 2}', b'{"a": 1e400, "a": 2}', b'{"a": {"b": 1}, "a": 2}'):
        assert Door(["a", "a.b"]).event(text).attributes == {"a": 2}


def test_sizes_are_those_of_the_limits():
    limits = Limits(list_size_max=5, attributes_max=8)
    door = Door(["a", "b"], limits=limits)
    assert door.event(b'{"a":[1,2,3,4,5]}')["a"] == (1, 2, 3, 4, 5)
    with pytest.raises(EventError, match="longer than 5"):
        door.event(b'{"a":[1,2,3,4,5,6]}')
    with pytest.raises(EventError, match="more than 8"):
        door.event(b'{"a":[1,2,3,4,5],"b":[1,2,3,4]}')
    assert door.event(b'{"a":1,"z":[1,2,3,4,5,6,7,8,9]}')["a"] == 1
    assert set(door.block([b'{"a":[1,2,3,4,5,6]}', b'{"a":[1]}']).refused) == {0}


def test_the_document_keeps_together_what_sat_together():
    event = Door(["a.b", "c"]).event(
        b'{"a": [{"b": 1, "x": 2}, 5, {"x": 1}, []], "c": {"d": 1e400}}'
    )
    assert event.document == {"a": [{"b": 1}, None, {}, []], "c": {}}
    assert event.attributes == {"a.b": (1,)}


def test_the_envelope_is_there_if_it_was_asked_for():
    event = Door(["id", "type"]).event(b'{"id": "7", "type": "T", "source": "s"}')
    assert (event.id, event.type, event.source, event.time) == ("7", "T", None, None)


def test_few_texts_go_by_the_slow_door():
    door = Door(["a", "a.b", "x.y.z"])
    texts = [
        *('{"a": 1}', '{"a": {"b": [1, {"c": 2}]}}', '{"a.b": null, "a": [[[[1]]]]}', "{}"),
        *('{"x.y": {"z": "é"}}', '{"q": [' + "[1]," * 200 + "[1]]}", '{"a": [{"b": "}"}, {}]}'),
    ]
    for text in texts:
        door.event(text.encode())
    assert door.slow == 0
    door.event(b'{"a": [[[[[1]]]]]}')
    assert door.slow == 1


def test_texts_of_other_kinds():
    door = Door(["a"])
    for text in ('{"a": "é"}', '{"a": "é"}'.encode(), bytearray('{"a": "é"}'.encode())):
        assert door.event(text)["a"] == "é"
    for text in ('{"a": "\ud800"}', None, 5, {"a": 1}):
        with pytest.raises(EventError):
            door.event(text)


def test_more_paths_than_a_struct_should_have_are_read_all_the_same():
    names = [f"p{number}.q" for number in range(FIELDS_MAX)]
    door = Door(names)
    text = json.dumps({"p5": {"q": 1}, "p7.q": [2, 3], "r": 4}).encode()
    assert door.event(text).attributes == {"p5.q": 1, "p7.q": (2, 3)}
    assert door.slow == 0
    with pytest.raises(EventError):
        door.event(b'{"r": "\xff"}')
    assert door.event(b'{"r": 1e400}').attributes == {}
    deep = ".".join("a" * 500)
    assert Door([deep]).event(json.dumps({deep: 1})).attributes == {deep: 1}


def test_a_schema_says_what_is_a_timestamp_and_what_a_decimal():
    schema = Schema.from_document(
        {
            "attributes": {
                "at": {"domain": "timestamp"},
                "price": {"domain": "decimal"},
            }
        }
    )
    text = b'{"at": "2026-01-31", "price": 0.10000000000000001, "z": 1e400}'
    whole = schema.read(decode_event(text.replace(b"1e400", b"1"), decimals=schema.decimals))
    door = Door(["at", "price"], schema)
    assert part_of(door.event(text), ["at", "price"]) == part_of(whole, ["at", "price"])
    with pytest.raises(EventError, match="no timestamp"):
        door.event(b'{"at": "soon"}')
    assert Door(["price"], schema).event(b'{"at": "soon", "price": 1}')["price"] == 1
