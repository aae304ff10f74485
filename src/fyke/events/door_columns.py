"""Many lines by the door (`door`): all values at a path become a part of `Columns` at once.

Idea. Lines are decoded to Structs in one go. Field by field, what stands there in all of them is
sorted by class: scalars are a part of the path, objects are walked into, arrays are joined end to
end while the rows are repeated by their lengths. No event is made, unless somebody asks for one.

    {"a": 1}  {"a": [2, "x"]}  {}      "a"   number [1]  rows [0]
                                             number [2]  rows [1], a list
                                             string ["x"]  rows [1], a list

Law. That of the door: row i is the event that the slow door reads, or there is no such row.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, compress
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from msgspec import UNSET, UnsetType
from msgspec.structs import astuple
from numpy.typing import NDArray

from fyke.errors import EventError
from fyke.events.arrow.parts import Column, ColumnKind
from fyke.events.columns import Columns
from fyke.events.documents import KINDS_OF_CLASSES, in_columns
from fyke.events.door import REFUSED, Door, Node
from fyke.events.event import Event
from fyke.events.number import INT_MAX, INT_MIN

Rows: TypeAlias = NDArray[np.int64]

_BLANK: Final = b" \t\r\n"
_BRACKET, _BRACE = b"[{"  # they differ by one bit, and no other byte has both without it
_CHUNK: Final = 1 << 15
"""Bytes that are looked at together, so that what is made of them stays in the cache."""
_NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that were read: those that are events, in one part or two, and those that are not."""

    parts: tuple[tuple[Rows, Columns], ...]
    """Events in columns, with the place of each in the lines."""
    refused: dict[int, str]
    """By place, why a line is not an event. A blank line is not one, and is not refused."""
    slow: int
    """The number of lines that went by the slow door."""

    @property
    def events(self) -> int:
        return sum(len(places) for places, _ in self.parts)


def read_block(door: Door, lines: Sequence[bytes]) -> Block:
    """Read events of JSON, one a line."""
    with _uncollected():
        if door.root is None or door.schema is not None:
            return _by_events(door, lines)
        return _by_structs(door, lines, door.root)


def _by_structs(door: Door, lines: Sequence[bytes], root: Node) -> Block:
    refused: dict[int, str] = {}
    structs, places, slow = _decoded(door, lines)
    while True:
        dealt = _Dealt(len(structs))
        dealt.object(root, structs, dealt.all, False)
        if not dealt.suspects:
            break
        slow += [places[row] for row in dealt.suspects]
        kept = [row for row in range(len(structs)) if row not in dealt.suspects]
        structs, places = [structs[row] for row in kept], [places[row] for row in kept]
    parts = []
    if places:
        parts.append((np.array(places, np.int64), dealt.columns(_maker(door, lines, places))))
    read = _by_the_slow(door, lines, sorted(slow), refused)
    if read:
        parts.append((np.fromiter(read, np.int64, len(read)), in_columns(list(read.values()))))
    door.slow += len(slow)
    return Block(tuple(parts), refused, len(slow))


def _decoded(door: Door, lines: Sequence[bytes]) -> tuple[list[Any], list[int], list[int]]:
    """Return Structs, the places of their lines, and the places of lines for the slow door."""
    structs: list[Any] = []
    doubtful = {place for place, size in enumerate(map(len, lines)) if size > door.length_max}
    left = iter(lines)
    failed: list[int] = []
    while True:
        try:
            structs.extend(map(door.decode, left))  # what came before a failure stays
            break
        except REFUSED:
            failed.append(len(structs) + len(failed))
    text = b"\n".join(lines)
    if not text.isascii():
        doubtful.update(place for place, line in enumerate(lines) if not _is_utf8(line))
    left_out = {*failed, *doubtful}
    doubtful.update(
        place
        for place in _bracketed(text, lines, door.limits.depth_max)
        if place not in left_out and door.is_deep(lines[place])
    )
    places = list(range(len(lines)))
    for place in reversed(failed):
        del places[place]
    if doubtful:
        kept = [at for at, place in enumerate(places) if place not in doubtful]
        structs, places = [structs[at] for at in kept], [places[at] for at in kept]
    doubtful.update(failed)
    return structs, places, [place for place in doubtful if lines[place].strip(_BLANK)]


def _bracketed(text: bytes, lines: Sequence[bytes], most: int) -> list[int]:
    """Return the places of lines with more than `most` opening brackets, and maybe of some more.

    Every so many brackets of the whole text one is looked at: such a line holds two of these.
    """
    step = max(1, most // 2)
    all_bytes = np.frombuffer(text, np.uint8)
    same, is_open = np.empty(_CHUNK, np.uint8), np.empty(_CHUNK, np.bool_)
    looked_at = [_NONE]
    for start in range(0, len(text), _CHUNK):
        part = all_bytes[start : start + _CHUNK]
        size = len(part)
        np.bitwise_or(part, _BRACE ^ _BRACKET, out=same[:size])
        np.equal(same[:size], _BRACE, out=is_open[:size])
        looked_at.append(np.flatnonzero(is_open[:size])[::step] + start)
    ends = np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines)) + 1)
    places = np.searchsorted(ends, np.concatenate(looked_at), side="right")
    return np.unique(places[1:][places[1:] == places[:-1]]).tolist()  # type: ignore[no-any-return]


def _maker(door: Door, lines: Sequence[bytes], places: list[int]) -> Callable[[int], Event]:
    """Return a function that makes the event of a row."""

    def make(row: int) -> Event:
        line = lines[places[row]]
        return door.read(line) or door.projection.event(line)

    return make


def _by_the_slow(
    door: Door, lines: Sequence[bytes], places: Iterable[int], refused: dict[int, str]
) -> dict[int, Event]:
    read = {}
    for place in places:
        try:
            read[place] = door.projection.event(lines[place])
        except EventError as problem:
            refused[place] = str(problem)
    return read


def _by_events(door: Door, lines: Sequence[bytes]) -> Block:
    """Read the lines one by one."""
    refused: dict[int, str] = {}
    before = door.slow
    read: dict[int, Event] = {}
    for place, line in enumerate(lines):
        try:
            if line.strip(_BLANK):
                read[place] = door.event(line)
        except EventError as problem:
            refused[place] = str(problem)
    places = np.fromiter(read, np.int64, len(read))
    parts = ((places, in_columns(list(read.values()))),) if read else ()
    return Block(parts, refused, door.slow - before)


def _is_utf8(line: bytes) -> bool:
    try:
        return line.isascii() or bool(str(line, "utf-8"))
    except UnicodeDecodeError:
        return False


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from many objects that live for a moment, without cycles.

    It would look at all of them again and again, which takes longer than making them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# --- columns -------------------------------------------------------------------------------------


class _Dealt:
    """The values of many Structs, dealt out to the parts of columns."""

    def __init__(self, count: int) -> None:
        self.all: Rows = np.arange(count)
        self.suspects: set[int] = set()
        """Rows for the slow door."""
        self._paths: defaultdict[str, list[Column]] = defaultdict(list)

    def columns(self, make: Callable[[int], Event]) -> Columns:
        paths = {path: tuple(parts) for path, parts in self._paths.items()}
        return Columns(len(self.all), paths, {}, make)

    def object(self, node: Node, structs: Sequence[Any], rows: Rows, is_listed: bool) -> None:
        """Deal out what stands in objects; `rows` are theirs."""
        for below, values in zip(
            node.fields, zip(*map(astuple, structs), strict=True), strict=False
        ):
            self._values(below, values, rows, is_listed)

    def _values(self, node: Node, values: Sequence[Any], rows: Rows, is_listed: bool) -> None:
        if values[0] is UNSET and values.count(UNSET) == len(values):
            return
        classes = set(map(type, values))
        if len(classes) == 1:
            self._class(node, classes.pop(), values, rows, is_listed)
            return
        for cls in classes - {UnsetType}:
            is_cls = [value.__class__ is cls for value in values]
            held = list(compress(values, is_cls))
            self._class(node, cls, held, rows[np.array(is_cls)], is_listed)

    def _class(
        self, node: Node, cls: type, values: Sequence[Any], rows: Rows, is_listed: bool
    ) -> None:
        """Deal out values of one class."""
        if cls is list:
            lengths = np.fromiter(map(len, values), np.int64, len(values))
            if node.is_read and not lengths.all():
                self._add(node, "empty", pa.nulls(0), rows[lengths == 0], True)
            below = list(chain.from_iterable(values))
            if below:
                self._values(node, below, np.repeat(rows, lengths), True)
        elif cls is node.struct:
            if node.fields:
                self.object(node, values, rows, is_listed)
        elif cls is int:
            self._integers(node, values, rows, is_listed)
        elif node.is_read and cls is not UnsetType:
            kind, type_ = KINDS_OF_CLASSES[cls]
            self._add(node, kind, pa.array(values, type_), rows, is_listed)

    def _integers(self, node: Node, values: Sequence[int], rows: Rows, is_listed: bool) -> None:
        try:
            array = pa.array(values, pa.int64())
        except (OverflowError, pa.ArrowInvalid):
            self.suspects.update(
                row
                for row, value in zip(rows.tolist(), values, strict=True)
                if not INT_MIN <= value <= INT_MAX
            )
        else:
            if node.is_read:
                self._add(node, "number", array, rows, is_listed)

    def _add(self, node: Node, kind: ColumnKind, values: Any, rows: Rows, is_list: bool) -> None:
        if rows is self.all:
            self._paths[node.path].append(Column(kind, values, None, None, None))
            return
        mask = np.zeros(len(self.all), np.bool_)
        mask[rows] = True
        held = rows if len(values) else rows[:0]
        present = None if mask.all() else mask
        self._paths[node.path].append(
            Column(kind, values, held, present, mask if is_list else None)
        )
