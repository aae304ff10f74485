"""The filter dialects of the CloudEvents Subscriptions API.

    {"exact":  {"type": "com.github.push", "subject": "main"}}      each attribute is that text
    {"prefix": {"type": "com.github."}}, {"suffix": ...}            ... starts, ends with it
    {"all": [filter, ...]}, {"any": [filter, ...]}, {"not": filter}
    {"sql": "source LIKE '%cloudevents%'"}                          CESQL: an error does not match

An array of filters accepts what all of them accept, the empty one everything. Attributes are
compared by their text, as CESQL reads it: 5 is '5', true is 'true', a timestamp is RFC 3339 in
UTC. A missing attribute matches nothing, so `not` of that matches. Nothing is guessed: an unknown
dialect, an empty name or value, an object with two dialects are refused by name.
Source. CloudEvents Subscriptions API 0.1, section 3.2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from fyke.errors import EventError, FilterError, shown
from fyke.events.event import Event
from fyke.events.json import decode, encode
from fyke.events.value import Scalar, admit
from fyke.filters.dialects import cesql
from fyke.filters.dialects.cesql.text_forms import text_fits, text_is
from fyke.filters.dialects.cesql.values import primitive, to_string
from fyke.filters.filter import DEPTH_MAX, Filter, conjunction, disjunction, negation
from fyke.filters.residual import Residual
from fyke.filters.texts.glob import Glob
from fyke.limits import DEFAULT_LIMITS, Limits

_RESIDUAL_LIMITS: Final = Limits(text_length_max=2**31)
DIALECTS: Final = ("exact", "prefix", "suffix", "all", "any", "not", "sql")


def parse(source: object, limits: Limits = DEFAULT_LIMITS) -> Filter:
    """Read the filter that a JSON text, an object or an array describes."""
    if isinstance(source, str):
        source = _decode(source, limits)
    reader = _Reader(limits)
    if isinstance(source, (list, tuple)):
        return conjunction([reader.filter(each, f"[{at}]") for at, each in enumerate(source)])
    return reader.filter(source, "")


def _decode(text: str, limits: Limits) -> object:
    if len(text) > limits.text_length_max:
        raise FilterError(
            f"the filter is {len(text)} characters long; the limit is {limits.text_length_max}"
        )
    try:
        return decode(text, limits)
    except EventError as error:
        raise FilterError(f"the filter is no JSON that can be read: {error}") from None


class _Reader:
    """One walk over the filters; `path` is where a filter stands, for messages."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.depth_max = min(limits.depth_max, DEPTH_MAX)
        self.nodes = 0

    def filter(self, source: object, path: str, depth: int = 1) -> Filter:
        dialect, operand = self.only_pair(source, path)
        path = f"{path}.{dialect}".removeprefix(".")
        if depth > self.depth_max:
            raise FilterError(f"the filter is nested deeper than {self.depth_max} levels")
        match dialect:
            case "exact" | "prefix" | "suffix":
                return self.attributes(dialect, operand, path)
            case "all":
                return conjunction(self.several(operand, path, depth))
            case "any":
                return disjunction(self.several(operand, path, depth))
            case "not":
                return negation(self.filter(operand, path, depth + 1))
        if not isinstance(operand, str):
            raise _unexpected(operand, path, "a CESQL expression in a string")
        return cesql.parse(operand, self.limits)

    def only_pair(self, source: object, path: str) -> tuple[str, object]:
        self.count()
        if not isinstance(source, Mapping):
            raise _unexpected(source, path, 'a filter, such as {"exact": {"type": "x"}}')
        if len(source) != 1:
            raise FilterError(
                f"{_place(path)} names {len(source)} dialects",
                expected='exactly one; write {"all": [...]} to combine several',
            )
        ((dialect, operand),) = source.items()
        if dialect not in DIALECTS:
            raise FilterError(
                f"{_place(path)} names the unknown dialect {_describe(dialect)}",
                expected=f"one of {', '.join(DIALECTS)}",
            )
        return dialect, operand

    def several(self, operand: object, path: str, depth: int) -> list[Filter]:
        if not isinstance(operand, (list, tuple)) or not operand:
            raise _unexpected(operand, path, "an array of at least one filter")
        return [self.filter(each, f"{path}[{at}]", depth + 1) for at, each in enumerate(operand)]

    def attributes(self, dialect: str, operand: object, path: str) -> Filter:
        if not isinstance(operand, Mapping) or not operand:
            raise _unexpected(operand, path, "an object of attribute names and strings")
        return conjunction(
            [self.attribute(dialect, name, text, path) for name, text in operand.items()]
        )

    def attribute(self, dialect: str, name: object, text: object, path: str) -> Filter:
        self.count()
        if not isinstance(name, str) or not name:
            raise _unexpected(name, path, "the name of an attribute, which is not empty")
        if not isinstance(text, str) or not text:
            raise _unexpected(text, f"{path}.{name}", "a string that is not empty")
        for part in (name, text):
            try:
                admit(part)
            except EventError as error:
                raise FilterError(f"{_place(path)}: {error.problem}") from None
        return _text_filter(dialect, name, text)

    def count(self) -> None:
        self.nodes += 1
        if self.nodes > self.limits.nodes_max:
            raise FilterError(f"the filter has more than {self.limits.nodes_max} parts")


def _unexpected(found: object, path: str, expected: str) -> FilterError:
    return FilterError(f"{_place(path)} is {_describe(found)}", expected=expected)


def _describe(found: object) -> str:
    """Describe what was found in a few words, however large it is."""
    if isinstance(found, (str, bool)) or found is None:
        return shown(found)
    if isinstance(found, (Mapping, list, tuple)):
        kind = "object" if isinstance(found, Mapping) else "array"
        return f"an {kind}" if found else f"an empty {kind}"
    return f"of type {type(found).__name__}"


def _place(path: str) -> str:
    return shown(path) if path else "the filter"


# --- the text of an attribute ---------------------------------------------------------------------


def _text_filter(dialect: str, name: str, text: str) -> Filter:
    if dialect == "exact":
        return text_is(name, text)
    pattern = Glob((text, "")) if dialect == "prefix" else Glob(("", text))
    leaf = encode({dialect: {name: text}})
    return text_fits(name, pattern, Residual("cloudevents", leaf))


@dataclass(frozen=True, slots=True)
class _Check:
    """Some element's text starts, or ends, with `text`."""

    name: str
    text: str
    fits: Callable[[str, str], bool]

    @property
    def attributes(self) -> frozenset[str]:
        return frozenset({self.name})

    def __call__(self, event: Event) -> bool:
        value = event.attributes.get(self.name)
        elements: tuple[Scalar, ...] = value if isinstance(value, tuple) else (value,)
        return any(
            self.fits(to_string(primitive(element)), self.text)
            for element in elements
            if element is not None
        )


def check(text: str) -> _Check:
    """Return the exact check of one attribute's prefix or suffix."""
    leaf = _decode(text, _RESIDUAL_LIMITS)
    for dialect, fits in (("prefix", str.startswith), ("suffix", str.endswith)):
        pairs = leaf.get(dialect) if isinstance(leaf, dict) and len(leaf) == 1 else None
        if isinstance(pairs, dict) and len(pairs) == 1:
            ((name, part),) = pairs.items()
            if isinstance(part, str):
                return _Check(name, part, fits)
    raise FilterError(
        f"{shown(text)} is no residual of this dialect",
        expected='one attribute, as in {"prefix": {"time": "2024-"}}',
    )
