"""Door: from JSON bytes to events, of which only what is asked for is read.

Idea. Most of an event's text is read by no subscription, and making Python objects of it is what
costs. The paths that are asked for are known; so a msgspec Struct is made that has a field for each
of them, and the decoder passes over the rest.

    asked for "a.b" and "c":    Struct {"a": Struct {"b"}, "a.b", "c"}

A key may hold dots, so that a path has several spellings: each prefix of it is a field, at each
level. `UNSET` keeps a missing value apart from null. At one path may stand a scalar, an object, or
an array of both, four arrays deep; a field is a union of these. `door_columns` reads many events.

Law. `Projection` is the definition, the *slow door*: an event, or its refusal. The fast door has
the same answer, or asks the slow one. Asked are, and counted in `slow`:

    what msgspec refuses                only the slow door says no, and why
    arrays five deep                    no Struct takes them
    integers beyond 64 bits             so that there is one place that refuses them
    texts longer than `length_max`      shorter ones hold no more values than the limits allow

In the parts that it passes over msgspec checks the grammar, and no more. So UTF-8 is checked beside
it, and the depth; for most texts it is proof enough that they have few brackets.
Cost. 1 to 2 µs for an event of 600 bytes and a few fields. A field that an event does not have
costs some nanoseconds; beyond `FIELDS_MAX` whole texts are decoded, as where everything is asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Union

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import astuple

from fyke.errors import EventError
from fyke.events.event import Document, Event
from fyke.events.number import INT_MAX, INT_MIN
from fyke.events.projection import Projection
from fyke.events.schema import Schema
from fyke.events.value import Value
from fyke.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from fyke.events.door_columns import Block

FIELDS_MAX: Final = 1_000
"""Fields of all Structs together."""
ARRAYS_MAX: Final = 4
"""Arrays within arrays that a field takes."""
REFUSED: Final = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""The errors that decoding raises."""


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
        """The number of texts that went by the slow door."""
        self.schema = schema
        self._is_exact = schema is not None and bool(schema.decimals)
        self.projection = Projection(paths, schema, limits)
        self.limits = limits
        self.length_max = 2 * min(limits.attributes_max, limits.list_size_max)
        self.root = None if paths is None or self._is_exact else _tree(paths)
        struct: Any = dict if self.root is None else self.root.struct
        self.decode = msgspec.json.Decoder(struct).decode

    # --- one event

    def event(self, text: bytes | bytearray | memoryview | str) -> Event:
        """Return the event of a JSON object; EventError if the text is not one."""
        if text.__class__ is not bytes:
            text = as_bytes(text)
        read = self.read(text)
        if read is None:
            self.slow += 1
            return self.projection.event(text)
        return read if self.schema is None else self.schema.read(read)

    def read(self, text: bytes) -> Event | None:
        """Return the event; None where the slow door has to read the text."""
        if self._is_exact or len(text) > self.length_max:
            return None
        try:
            found = self.decode(text)
            if not text.isascii():
                str(text, "utf-8")
        except REFUSED:
            return None
        if self.is_deep(text):
            return None
        if self.root is None:
            return self._event(found)
        flat: dict[str, Any] = {}
        if not _spread(self.root, found, False, flat):
            return None
        for path, value in flat.items():
            if value.__class__ is list:
                flat[path] = tuple(value)
        return PartlyRead(flat, text, self.projection)

    def _event(self, document: Document) -> Event | None:
        try:
            return Event(self.projection.projected(document), limits=self.limits)
        except EventError:
            return None

    def is_deep(self, text: bytes) -> bool:
        """Return True if well-formed JSON is nested deeper than the limit."""
        most = self.limits.depth_max
        if text.count(b"[") + text.count(b"{") <= most:
            return False
        return _is_deeper(text, most)

    def block(self, lines: Sequence[bytes]) -> Block:
        """Return the events of JSON lines, in columns."""
        from fyke.events.door_columns import read_block

        return read_block(self, lines)


class PartlyRead(Event):
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


def as_bytes(text: object) -> bytes:
    """Return a JSON text as bytes; EventError where it is none."""
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


class Node:
    """A place in documents: a path that is asked for, or the way to some."""

    __slots__ = ("fields", "is_read", "keys", "path", "struct", "type")

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_read = False
        self.keys: dict[str, Node] = {}
        self.fields: tuple[Node, ...] = ()
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


def _tree(paths: Iterable[str]) -> Node | None:
    """Return the root of the Structs.

    None where they would be too large, or cannot be named in UTF-8.
    """
    nodes = {"": Node("")}
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
                below = nodes.setdefault(whole[:end], Node(whole[: end - 1]))
                holder.keys[whole[starts[at] : end - 1]] = below
        nodes[whole].is_read = True
    for prefix in sorted(nodes, key=len, reverse=True):
        nodes[prefix].build()
    return nodes[""]


_PLAIN: Final = frozenset((str, float, bool, type(None)))
"""Classes of scalars that need not be looked at: msgspec has checked them."""
_LISTS: Final = {list}


def _spread(node: Node, found: Any, is_listed: bool, flat: dict[str, Any]) -> bool:
    """Put what a Struct holds at its paths; False if there is something for the slow door."""
    for below, value in zip(node.fields, astuple(found), strict=True):
        if value is UNSET:
            continue
        if value.__class__ is str and below.is_read and not is_listed and below.path not in flat:
            flat[below.path] = value  # the most common case, at once
        elif not _put(below, value, is_listed, flat):
            return False
    return True


def _put(node: Node, value: Any, is_listed: bool, flat: dict[str, Any]) -> bool:
    cls = value.__class__
    if cls is list:
        while len(value) == 1 and value[0].__class__ is list:
            value = value[0]
        classes = set(map(type, value))
        while classes == _LISTS:  # arrays of arrays, as of coordinates
            if node.is_read and not all(value):
                _list_at(node.path, flat)  # an empty one makes a list, whatever is beside it
            value = list(chain.from_iterable(value))
            classes = set(map(type, value))
        if _PLAIN.issuperset(classes):
            if not node.is_read:
                return True
            if node.path in flat:
                _list_at(node.path, flat).extend(value)
            else:
                flat[node.path] = value  # nobody else holds it
            return True
        for each in value:
            if not _put(node, each, True, flat):
                return False
        return True
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
    """Return the list at a path; a value that stands there alone becomes a list."""
    met = flat.get(path, [])
    if met.__class__ is not list:
        met = [met]
    flat[path] = met
    return met


# --- depth ---------------------------------------------------------------------------------------

_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)
_OTHERS: Final = bytes(each for each in range(256) if each not in b'[]{}"')
_SQUARE: Final = bytes.maketrans(b"{}", b"[]")


def _is_deeper(text: bytes, most: int) -> bool:
    """Return True if well-formed JSON is nested deeper than `most` levels.

    The innermost brackets are removed `most` times: deeper text has some left.
    """
    marks = _ESCAPE.sub(b"", text) if b"\\" in text else text
    marks = b"".join(marks.translate(None, _OTHERS).split(b'"')[::2]).translate(_SQUARE)
    for _ in range(most):
        if not marks:
            return False
        marks = marks.replace(b"[]", b"")
    return bool(marks)
