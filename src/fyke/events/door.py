"""Door: from JSON bytes to events, of which only what is asked for is read.

Idea. Most of an event's text is read by no subscription, and making Python objects of it is what
costs. The paths that are asked for are known; so a msgspec Struct is made that has a field for each
of them, and the decoder passes over the rest.

    asked for "a.b" and "c":    Struct {"a": Struct {"b"}, "a.b", "c"}

A key may hold dots, so that a path has several spellings: each prefix of it is a field, at each
level. `UNSET` keeps a missing value apart from null. At one path may stand a scalar, an object, or
an array of both, four arrays deep; a field is a union of these. Many events are read field by
field: all values at a path, over all events, become a part of `Columns` at once.

Law. `Projection` is the definition, the *slow door*: an event, or its refusal. The fast door has
the same answer, or asks the slow one. Asked are, and counted in `slow`:

    what msgspec refuses                only the slow door says no, and why
    arrays five deep                    no Struct takes them
    integers beyond 64 bits             so that there is one place that refuses them
    texts longer than `_long`           shorter ones cannot hold more values than the limits allow

In the parts that it passes over msgspec checks the grammar, and no more. So UTF-8 is checked beside
it, and the depth; for most texts it is proof enough that they have few brackets.
Cost. 1 to 2 µs for an event of 600 bytes and a few fields. A field that an event does not have
costs some nanoseconds; beyond `FIELDS_MAX` whole texts are decoded, as where everything is asked.
"""

from __future__ import annotations

import gc
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, compress
from typing import Any, Final, TypeAlias, Union

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import astuple
from numpy.typing import NDArray

from fyke.errors import EventError
from fyke.events.arrow.parts import Column, ColumnKind
from fyke.events.columns import Columns
from fyke.events.documents import in_columns
from fyke.events.event import Document, Event
from fyke.events.number import INT_MAX, INT_MIN
from fyke.events.projection import Projection
from fyke.events.schema import Schema
from fyke.events.value import Value
from fyke.limits import DEFAULT_LIMITS, Limits

Rows: TypeAlias = NDArray[np.int64]

FIELDS_MAX: Final = 1_000
"""Fields of all Structs together."""
ARRAYS_MAX: Final = 4
"""Arrays within arrays that a field takes."""
_BLANK: Final = b" \t\r\n"
_REFUSED: Final = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""What decoding raises."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that were read: those that are events, in one part or two, and those that are not."""

    parts: tuple[tuple[Rows, Columns], ...]
    """Events in columns, with the place of each in the lines."""
    refused: dict[int, str]
    """By place, why a line is no event; one that is blank is none, and not refused."""
    slow: int
    """How many lines went by the slow door."""

    @property
    def events(self) -> int:
        return sum(len(places) for places, _ in self.parts)


class Door:
    """Reads JSON by the paths that are asked for; all of it where `paths` is None.

    The schema says what text is read as a timestamp, and which numbers are decimals: these only
    the slow door knows.
    """

    def __init__(
        self,
        paths: Collection[str] | None,
        schema: Schema | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.slow = 0
        """How many texts went by the slow door."""
        self._schema = schema
        self._is_exact = schema is not None and bool(schema.decimals)
        self._projection = Projection(paths, schema, limits)
        self._limits = limits
        self._long = 2 * min(limits.attributes_max, limits.list_size_max)
        self._root = None if paths is None or self._is_exact else _tree(paths)
        struct: Any = dict if self._root is None else self._root.struct
        self._decode = msgspec.json.Decoder(struct).decode

    # --- one event

    def event(self, text: bytes | bytearray | memoryview | str) -> Event:
        """The event of a JSON object; EventError where it is none."""
        text = _as_bytes(text)
        read = self._read(text)
        if read is None:
            self.slow += 1
            return self._projection.event(text)
        return read if self._schema is None else self._schema.read(read)

    def _read(self, text: bytes) -> Event | None:
        """The event; None where the slow door is to be asked."""
        if self._is_exact or len(text) > self._long:
            return None
        try:
            found = self._decode(text)
            if not text.isascii():
                str(text, "utf-8")
        except _REFUSED:
            return None
        if self._is_deep(text):
            return None
        if self._root is None:
            return self._event(found)
        flat: dict[str, Any] = {}
        if not _spread(self._root, found, False, flat):
            return None
        for path, value in flat.items():
            if value.__class__ is list:
                flat[path] = tuple(value)
        return _PartlyRead(flat, text, self._projection)

    def _event(self, document: Document) -> Event | None:
        try:
            return Event(self._projection.projected(document), limits=self._limits)
        except EventError:
            return None

    def _is_deep(self, text: bytes) -> bool:
        """Whether well-formed JSON is nested deeper than the limit."""
        most = self._limits.depth_max
        if text.count(b"[") + text.count(b"{") <= most:
            return False
        return _is_deeper(text, most)

    # --- many

    def block(self, lines: Sequence[bytes]) -> Block:
        """Events of JSON, one a line."""
        with _uncollected():
            if self._root is None or self._schema is not None:
                return self._by_events(lines)
            return self._by_structs(lines, self._root)

    def _by_structs(self, lines: Sequence[bytes], root: _Node) -> Block:
        refused: dict[int, str] = {}
        structs, places, slow = self._decoded(lines)
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
            parts.append((np.array(places, np.int64), dealt.columns(self._maker(lines, places))))
        read = self._by_the_slow(lines, sorted(slow), refused)
        if read:
            parts.append((np.fromiter(read, np.int64, len(read)), in_columns(list(read.values()))))
        self.slow += len(slow)
        return Block(tuple(parts), refused, len(slow))

    def _decoded(self, lines: Sequence[bytes]) -> tuple[list[Any], list[int], list[int]]:
        """Structs, with the places of their lines, and the places of those for the slow door."""
        structs: list[Any] = []
        doubtful = {place for place, size in enumerate(map(len, lines)) if size > self._long}
        left = iter(lines)
        failed: list[int] = []
        while True:
            try:
                structs.extend(map(self._decode, left))  # what came before a failure stays
                break
            except _REFUSED:
                failed.append(len(structs) + len(failed))
        text = b"\n".join(lines)
        if not text.isascii():
            doubtful.update(place for place, line in enumerate(lines) if not _is_utf8(line))
        for place in np.flatnonzero(_opened(text, lines) > self._limits.depth_max).tolist():
            if place not in failed and self._is_deep(lines[place]):
                doubtful.add(place)
        places = list(range(len(lines)))
        for place in reversed(failed):
            del places[place]
        if doubtful:
            kept = [at for at, place in enumerate(places) if place not in doubtful]
            structs, places = [structs[at] for at in kept], [places[at] for at in kept]
        doubtful.update(failed)
        return structs, places, [place for place in doubtful if lines[place].strip(_BLANK)]

    def _maker(self, lines: Sequence[bytes], places: list[int]) -> Callable[[int], Event]:
        """What makes the event of a row."""

        def make(row: int) -> Event:
            line = lines[places[row]]
            return self._read(line) or self._projection.event(line)

        return make

    def _by_the_slow(
        self, lines: Sequence[bytes], places: Iterable[int], refused: dict[int, str]
    ) -> dict[int, Event]:
        read = {}
        for place in places:
            try:
                read[place] = self._projection.event(lines[place])
            except EventError as problem:
                refused[place] = str(problem)
        return read

    def _by_events(self, lines: Sequence[bytes]) -> Block:
        """The lines one by one."""
        refused: dict[int, str] = {}
        before = self.slow
        read: dict[int, Event] = {}
        for place, line in enumerate(lines):
            try:
                if line.strip(_BLANK):
                    read[place] = self.event(line)
            except EventError as problem:
                refused[place] = str(problem)
        places = np.fromiter(read, np.int64, len(read))
        parts = ((places, in_columns(list(read.values()))),) if read else ()
        return Block(parts, refused, self.slow - before)


class _PartlyRead(Event):
    """An event that keeps its text; the document is made of it when somebody asks."""

    __slots__ = ("_document", "_json", "_projection")

    def __init__(self, attributes: dict[str, Value], text: bytes, projection: Projection) -> None:
        self.attributes = attributes
        self.supertypes = ()
        self.payload = None
        self.encoded = None
        self._document: Document | None = None
        self._json, self._projection = text, projection

    @property
    def document(self) -> Document:  # type: ignore[override]
        if self._document is None:
            self._document = self._projection.event(self._json).document
        return self._document


def _opened(text: bytes, lines: Sequence[bytes]) -> Rows:
    """How many brackets open in each line of a text."""
    places = np.flatnonzero(np.frombuffer(text, np.uint8) & 0xDF == ord("["))  # and "{"
    ends = np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines)) + 1)
    return np.diff(np.searchsorted(places, ends), prepend=0)


def _is_utf8(line: bytes) -> bool:
    try:
        return line.isascii() or bool(str(line, "utf-8"))
    except UnicodeDecodeError:
        return False


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keeps the garbage collector from many objects that live for a moment, without cycles.

    It would look at all of them again and again, which takes longer than making them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _as_bytes(text: object) -> bytes:
    if type(text) is bytes:
        return text
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise EventError("the text holds a lone surrogate") from None
    if isinstance(text, bytes | bytearray | memoryview):
        return bytes(text)
    raise EventError(f"expected JSON text, not {type(text).__name__}")


# --- Structs -------------------------------------------------------------------------------------


class _Nothing(Struct, gc=False):
    """An object of which nothing is read."""


class _Node:
    """A place in documents: a path that is asked for, or the way to some."""

    __slots__ = ("fields", "is_read", "keys", "path", "struct", "type")

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_read = False
        self.keys: dict[str, _Node] = {}
        self.fields: tuple[_Node, ...] = ()
        self.struct: type[Struct] = _Nothing
        self.type: Any = None

    def build(self) -> None:
        """Make the types; those of what lies below are made already."""
        if self.keys:
            self.fields = tuple(self.keys.values())
            members = [(f"f{at}", each.type, UNSET) for at, each in enumerate(self.fields)]
            names = {f"f{at}": key for at, key in enumerate(self.keys)}
            self.struct = msgspec.defstruct("_Read", members, rename=names, gc=False)
        single: Any = Union[self.struct, int, float, str, bool, None]  # noqa: UP007
        several: Any = single
        for _ in range(ARRAYS_MAX):
            several = Union[single, list[several]]  # noqa: UP007
        self.type = Union[several, UnsetType]  # noqa: UP007


def _tree(paths: Iterable[str]) -> _Node | None:
    """The root of the Structs; None where they would be too large, or cannot be named in UTF-8."""
    nodes = {"": _Node("")}
    left = FIELDS_MAX
    for path in sorted(paths):
        parts = path.split(".")
        left -= len(parts) * (len(parts) + 1) // 2
        if left < 0 or path.encode(errors="replace").decode() != path:
            return None
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + len(part) + 1)
        whole = path + "."
        for at in range(len(parts)):
            holder = nodes[whole[: starts[at]]]
            for end in starts[at + 1 :]:
                below = nodes.setdefault(whole[:end], _Node(whole[: end - 1]))
                holder.keys[whole[starts[at] : end - 1]] = below
        nodes[whole].is_read = True
    for prefix in sorted(nodes, key=len, reverse=True):
        nodes[prefix].build()
    return nodes[""]


def _spread(node: _Node, found: Any, is_listed: bool, flat: dict[str, Any]) -> bool:
    """Put what a Struct holds at its paths; False if there is something for the slow door."""
    for below, value in zip(node.fields, astuple(found), strict=True):
        if value is not UNSET and not _put(below, value, is_listed, flat):
            return False
    return True


def _put(node: _Node, value: Any, is_listed: bool, flat: dict[str, Any]) -> bool:
    cls = value.__class__
    if cls is list:
        if not value and node.is_read:
            _list_at(node.path, flat)
        return all(_put(node, each, True, flat) for each in value)
    if cls is node.struct:
        return not node.fields or _spread(node, value, is_listed, flat)
    if cls is int and not INT_MIN <= value <= INT_MAX:
        return False
    if node.is_read:
        if is_listed or node.path in flat:
            _list_at(node.path, flat).append(value)
        else:
            flat[node.path] = value
    return True


def _list_at(path: str, flat: dict[str, Any]) -> list[Any]:
    """The list at a path, made of the value that stands there if need be."""
    met = flat.get(path, [])
    if met.__class__ is not list:
        met = [met]
    flat[path] = met
    return met


# --- columns -------------------------------------------------------------------------------------

_KINDS: Final[dict[type, tuple[ColumnKind, Any]]] = {
    type(None): ("null", pa.null()),
    bool: ("bool", pa.bool_()),
    int: ("number", pa.int64()),
    float: ("number", pa.float64()),
    str: ("string", pa.large_string()),
}


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

    def object(self, node: _Node, structs: Sequence[Any], rows: Rows, is_listed: bool) -> None:
        """Deal out what stands in objects; `rows` are theirs."""
        for below, values in zip(
            node.fields, zip(*map(astuple, structs), strict=True), strict=False
        ):
            self._values(below, values, rows, is_listed)

    def _values(self, node: _Node, values: Sequence[Any], rows: Rows, is_listed: bool) -> None:
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
        self, node: _Node, cls: type, values: Sequence[Any], rows: Rows, is_listed: bool
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
            kind, type_ = _KINDS[cls]
            self._add(node, kind, pa.array(values, type_), rows, is_listed)

    def _integers(self, node: _Node, values: Sequence[int], rows: Rows, is_listed: bool) -> None:
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

    def _add(self, node: _Node, kind: ColumnKind, values: Any, rows: Rows, is_list: bool) -> None:
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


# --- depth ---------------------------------------------------------------------------------------

_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)
_OTHERS: Final = bytes(each for each in range(256) if each not in b'[]{}"')
_SQUARE: Final = bytes.maketrans(b"{}", b"[]")


def _is_deeper(text: bytes, most: int) -> bool:
    """Whether well-formed JSON is nested deeper: innermost brackets go, so many times."""
    marks = _ESCAPE.sub(b"", text) if b"\\" in text else text
    marks = b"".join(marks.translate(None, _OTHERS).split(b'"')[::2]).translate(_SQUARE)
    for _ in range(most):
        if not marks:
            return False
        marks = marks.replace(b"[]", b"")
    return bool(marks)
