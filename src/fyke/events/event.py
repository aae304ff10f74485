"""Event: what happened, as a flat set of attributes.

An event arrives as a mapping, often nested. It is flattened once, here: `{"a": {"b": 1}}` has the
attribute `a.b`; an array of objects becomes a list per path; whatever meets at one path is a list,
so that `{"a.b": 1, "a": {"b": 2}}` holds `[1, 2]` at `a.b`. The nested original stays available as
`document`, because some dialects must tell which values sat together in one object.

Four attributes are the envelope and have a property each: `id`, `source`, `type`, `time`. They are
attributes like any other, so `source = 'x'` filters on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias

from fyke.errors import EventError, shown
from fyke.events.number import INT_MAX, INT_MIN
from fyke.events.value import Scalar, Value, admit, canonical, equal
from fyke.limits import DEFAULT_LIMITS, Limits

Document: TypeAlias = Mapping[str, object]

PLAIN = frozenset({str, int, float, bool, type(None)})
_SCALARS = PLAIN | {datetime, Decimal}
"""Types of values that are no containers; what is of another type is looked at more closely."""


class Event:
    """An immutable set of attributes, with the names of its type's supertypes and a payload.

    `attributes` is a plain dictionary for speed; treat it as read-only. `document` is the nested
    original, or the attributes themselves where nothing was nested. `supertypes` travels with the
    event, so that `type is T` has one verdict wherever it is evaluated.
    """

    __slots__ = ("attributes", "document", "encoded", "payload", "supertypes")

    attributes: dict[str, Value]
    document: Document
    supertypes: tuple[str, ...]
    payload: object
    encoded: bytes | None
    """Its canonical bytes, once somebody has asked for them (`binary`)."""

    def __init__(
        self,
        document: Document,
        *,
        id: str | None = None,
        source: str | None = None,
        type: str | None = None,
        time: datetime | None = None,
        supertypes: Iterable[str] = (),
        payload: object = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        if document.__class__ is not dict and not isinstance(document, Mapping):
            raise EventError(f"an event is a mapping, not {document.__class__.__name__}")
        whole = document
        if id is not None or source is not None or type is not None or time is not None:
            envelope = {"id": id, "source": source, "type": type, "time": time}
            whole = _with_envelope(document, envelope)
        self.attributes = flatten(whole, limits)
        self.document = whole
        self.supertypes = _type_names(supertypes) if supertypes else ()
        self.payload = payload
        self.encoded = None

    @classmethod
    def from_json(cls, text: bytes | str) -> Event:
        """Return the event of a JSON object, which is read when somebody looks into it.

        It keeps the text, and a matcher reads no more of that than its subscriptions ask for. A
        text that is no event is refused when it is read.
        """
        from fyke.events.unread import UnreadEvent

        return UnreadEvent(text)

    @classmethod
    def flat(cls, attributes: dict[str, Value], supertypes: tuple[str, ...] = ()) -> Event:
        """Return an event of attributes that are flat and admitted; they are not checked."""
        event = cls.__new__(cls)
        event.attributes = attributes
        event.document = attributes
        event.supertypes = supertypes
        event.payload = None
        event.encoded = None
        return event

    def copied(
        self, attributes: dict[str, Value], document: Document, supertypes: tuple[str, ...]
    ) -> Event:
        """Return the event with other parts that are admitted already, and the same payload."""
        event = Event.flat(attributes, supertypes)
        event.document = document
        event.payload = self.payload
        return event

    @property
    def unread(self) -> bytes | None:
        """The JSON of an event that nobody has looked into; None for others."""
        return None

    @property
    def id(self) -> str | None:
        return self._text("id")

    @property
    def source(self) -> str | None:
        return self._text("source")

    @property
    def type(self) -> str | None:
        return self._text("type")

    @property
    def time(self) -> datetime | None:
        value = self.attributes.get("time")
        return value if isinstance(value, datetime) else None

    def _text(self, name: str) -> str | None:
        value = self.attributes.get(name)
        return value if isinstance(value, str) else None

    def __getitem__(self, attribute: str) -> Value:
        return self.attributes[attribute]

    def get(self, attribute: str, default: Value = None) -> Value:
        """Return the value of an attribute, or the default where it is missing."""
        return self.attributes.get(attribute, default)

    def __contains__(self, attribute: object) -> bool:
        return attribute in self.attributes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return (
            self.supertypes == other.supertypes
            and _same(self.attributes, other.attributes)
            and _same(self.document, other.document)
            and _same(self.payload, other.payload)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Event({dict(self.document)!r})"


def _with_envelope(document: Document, envelope: Document) -> Document:
    given = {name: value for name, value in envelope.items() if value is not None}
    for name, value in given.items():
        if name in document and not equal(admit(document[name], name), admit(value, name)):
            raise EventError("the envelope and the document disagree", attribute=name)
    return {**document, **given}


def _same(a: object, b: object) -> bool:
    """Return True if two nested values are equal; True is not 1, and a list may be a tuple."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and (a == b or _same_number(a, b))


def _same_number(a: object, b: object) -> bool:
    """Return True if one value is a Decimal, admitted or not, and both mean the same number."""
    if not isinstance(a, Decimal) and not isinstance(b, Decimal):
        return False
    return canonical(a) == canonical(b)  # type: ignore[arg-type]


def _type_names(names: object) -> tuple[str, ...]:
    if not isinstance(names, Iterable) or isinstance(names, str):
        raise EventError(f"supertypes are a list of names, not {shown(names)}")
    found = tuple(names)
    for name in found:
        if type(name) is not str:
            raise EventError(f"the supertype {shown(name)} is not a string")
        admit(name)
    return found


def as_event(event: Event | Document) -> Event:
    """Return the event itself, or the event that a mapping describes."""
    if isinstance(event, Event):
        return event
    if event.__class__ is dict or isinstance(event, Mapping):
        return Event(event)
    raise EventError(f"expected an Event or a mapping, not {type(event).__name__}")


def flatten(document: Document, limits: Limits = DEFAULT_LIMITS) -> dict[str, Value]:
    """Return the attributes of a nested document, by dotted path."""
    flat: dict[str, Value] = {}
    if len(document) > limits.attributes_max:
        raise EventError(f"more than {limits.attributes_max} attribute values")
    value: Any
    for name, value in document.items():
        cls = type(value)
        if type(name) is not str or not name.isascii() or cls not in _SCALARS:
            return _Flattening(limits).run(document)
        if (cls is str and value.isascii()) or (cls is int and INT_MIN <= value <= INT_MAX):
            flat[name] = value
        else:
            flat[name] = admit(value, name)
    return flat


class _Flattening:
    """One walk over a nested document, with a budget of attribute values.

    Lists grow in place until the end.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.attributes_max
        self.flat: dict[str, Scalar | list[Scalar]] = {}

    def run(self, document: Document) -> dict[str, Value]:
        self._object(document, "", 1, listed=False)
        return {
            path: tuple(value) if isinstance(value, list) else value
            for path, value in self.flat.items()
        }

    def _object(self, document: Document, prefix: str, depth: int, listed: bool) -> None:
        self._check_depth(prefix[:-1], depth)
        if len(prefix) > self.limits.path_length_max:
            problem = f"the path is longer than {self.limits.path_length_max} characters"
            raise EventError(problem, attribute=prefix[:-1])
        for name, value in document.items():
            if type(name) is not str:
                raise EventError("the name is not a string", attribute=f"{prefix}{name!r}")
            if not name.isascii():
                admit(name, prefix[:-1])
            path = prefix + name
            if type(value) in _SCALARS:
                self._add(path, admit(value, path), listed)
            elif isinstance(value, Mapping):
                self._object(value, path + ".", depth + 1, listed)
            elif isinstance(value, (list, tuple)):
                self._list(value, path, depth + 1)
            else:
                self._add(path, admit(value, path), listed)

    def _list(self, elements: Sequence[object], path: str, depth: int) -> None:
        self._check_depth(path, depth)
        if len(elements) > self.limits.list_size_max:
            raise EventError(
                f"a list of {len(elements)} elements is longer than {self.limits.list_size_max}",
                attribute=path,
            )
        if not elements:
            self._spend(path)
            self._as_list(path)
        for element in elements:
            if type(element) in _SCALARS:
                self._add(path, admit(element, path), listed=True)
            elif isinstance(element, Mapping):
                self._object(element, path + ".", depth + 1, listed=True)
            elif isinstance(element, (list, tuple)):
                self._list(element, path, depth + 1)
            else:
                self._add(path, admit(element, path), listed=True)

    def _add(self, path: str, value: Scalar, listed: bool) -> None:
        self._spend(path)
        if listed or path in self.flat:
            self._as_list(path).append(value)
        else:
            self.flat[path] = value

    def _as_list(self, path: str) -> list[Scalar]:
        """Return the list at a path; a value that stands there alone becomes a list."""
        met = self.flat.get(path, [])
        if not isinstance(met, list):
            met = [met]
        self.flat[path] = met
        return met

    def _spend(self, path: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise EventError(
                f"more than {self.limits.attributes_max} attribute values", attribute=path
            )

    def _check_depth(self, path: str, depth: int) -> None:
        if depth > self.limits.depth_max:
            raise EventError(f"nested deeper than {self.limits.depth_max} levels", attribute=path)
