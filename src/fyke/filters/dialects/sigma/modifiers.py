"""Field modifiers: `CommandLine|contains|all: [...]` to an Item, whose criteria say what each value
demands.

The modifiers are of three sorts. One may say what kind of demand it is (`re`, `cidr`, `exists`,
`fieldref`, `gt`, `hour`, ...), text being the default; some refine that kind, in the order given;
`all`, `neq` and `expand` go with any kind. A combination that means nothing is refused by name.

A number or a boolean is its value where it is compared as such, the text that the rule shows where
text is looked for, and either for plain equality: `a|contains: 0x17` looks for "0x17", `a: 0x17`
accepts 23, "23" and "0x17".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, TypeAlias

from fyke.errors import EventError, FilterError, shown
from fyke.events.value import admit, canonical
from fyke.filters.dialects.sigma import pattern as patterns
from fyke.filters.dialects.sigma.criteria import (
    PARTS,
    SHAPES,
    Absent,
    Compared,
    Criterion,
    Dated,
    Finds,
    Fits,
    Present,
    Refers,
    Within,
)
from fyke.filters.dialects.sigma.expression import in_re2
from fyke.filters.dialects.sigma.pattern import ANY
from fyke.filters.dialects.sigma.plain import Value, Written
from fyke.filters.text_predicate import in_network
from fyke.limits import Limits

Placeholders: TypeAlias = Mapping[str, Sequence[str]]

_COMPARISONS: Final = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_FLAGS: Final = {"i": "i", "ignorecase": "i", "m": "m", "multiline": "m", "s": "s", "dotall": "s"}
_SHAPES: Final = frozenset(SHAPES)
_ENCODERS: Final = frozenset({*patterns.ENCODINGS, "base64", "base64offset"})

_REFINEMENTS: Final[dict[str, frozenset[str]]] = {
    "": frozenset({"cased", "windash", *_SHAPES, *_ENCODERS}),
    "re": frozenset({"cased", *_SHAPES, *_FLAGS}),
    "fieldref": frozenset({"cased", *_SHAPES}),
    "cidr": frozenset(),
    "exists": frozenset(),
    **dict.fromkeys(_COMPARISONS, frozenset()),
    **dict.fromkeys(PARTS, frozenset(_COMPARISONS)),
}
"""Each kind of demand, and the modifiers that may refine it; "" is text."""

_GENERAL: Final = frozenset({"all", "neq", "expand"})
_VALUED: Final = frozenset({"exists", *_COMPARISONS, *PARTS})
"""The kinds of demand that compare values; the others compare text."""

_KNOWN: Final = _GENERAL.union(_REFINEMENTS, *_REFINEMENTS.values()) - {""}


# --- keys ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Key:
    """A field's name with its modifiers; the name is empty for keywords."""

    field: str
    kind: str
    refinements: tuple[str, ...]
    every: bool
    negated: bool
    expands: bool

    @property
    def is_equality(self) -> bool:
        """True if whole values are compared."""
        return bool(self.field) and not self.kind and {*self.refinements} <= {"cased"}

    @property
    def text(self) -> str:
        """The key as it is written for a single value."""
        return "|".join([self.field, *filter(None, [self.kind]), *self.refinements])


def read_key(text: str) -> Key:
    """Read `field|modifier|modifier`; FilterError names the modifier at fault."""
    field, *modifiers = text.split("|")
    for modifier in modifiers:
        if modifier not in _KNOWN:
            raise FilterError(
                f"unknown modifier {shown(modifier)}",
                expected=f"one of {', '.join(sorted(_KNOWN))}",
            )
    if len(set(modifiers)) < len(modifiers):
        twice = next(modifier for modifier in modifiers if modifiers.count(modifier) > 1)
        raise FilterError(f"the modifier {twice} is given twice")
    specific = [modifier for modifier in modifiers if modifier not in _GENERAL]
    kind = _kind(specific)
    refinements = tuple(modifier for modifier in specific if modifier != kind)
    for modifier in refinements:
        if modifier not in _REFINEMENTS[kind]:
            place = f"beside {kind}" if kind else "by itself" if modifier in _FLAGS else "here"
            raise FilterError(f"the modifier {modifier} means nothing {place}")
    if not field and kind not in ("", "re", "cidr"):
        raise FilterError(f"the modifier {kind} needs a field")
    return Key(
        field, kind, refinements, "all" in modifiers, "neq" in modifiers, "expand" in modifiers
    )


def _kind(modifiers: Sequence[str]) -> str:
    """Return the modifier that names the comparison; a part of a date goes before it."""
    kinds = [modifier for modifier in modifiers if modifier in _REFINEMENTS]
    return next((kind for kind in kinds if kind in PARTS), kinds[0] if kinds else "")


# --- values -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    """A key and its values: some value must hold, or every one."""

    key: Key
    values: tuple[Value, ...]

    def criteria(self) -> list[tuple[Criterion, ...]]:
        """Return, for each value, the criteria of which one must hold."""
        return [_criteria(self.key, value) for value in self.values]


def read_item(
    text: str, values: Sequence[Value], limits: Limits, placeholders: Placeholders | None = None
) -> Item:
    """Read the item that a key and its values make, with its placeholders filled in."""
    key = read_key(text)
    if not values:
        if not key.is_equality:
            raise FilterError("an empty list of values", expected="at least one value")
        values = [None]
    if key.expands:
        values = [filled for value in values for filled in _expand(value, placeholders, limits)]
    if len(values) > limits.list_size_max:
        raise FilterError(f"the list is longer than {limits.list_size_max} values")
    return Item(key, tuple(_as_compared(key, value) for value in values))


def _as_compared(key: Key, value: Value) -> Value:
    """Return the value or its text, as the key asks; both only if it means equality."""
    if key.is_equality:
        return value
    if key.kind in _VALUED:
        return value.value if isinstance(value, Written) else value
    match value:
        case Written():
            return value.text
        case bool() | float():
            raise FilterError(
                f"the rule came parsed, so how it wrote {shown(value)} is lost", expected="text"
            )
        case int():
            return str(value)
    return value


def _criteria(key: Key, value: Value) -> tuple[Criterion, ...]:
    if key.kind == "exists":
        if not isinstance(value, bool):
            raise FilterError(f"exists: {shown(value)}", expected="true or false")
        return (Present(value),)
    if key.kind in PARTS:
        comparison = _COMPARISONS[key.refinements[-1]] if key.refinements else "="
        return (Dated(key.kind, Compared(comparison, _number(key.kind, value))),)
    if key.kind in _COMPARISONS:
        return (Compared(_COMPARISONS[key.kind], _number(key.kind, value)),)
    if value is None:
        return _nothing(key)
    texts = patterns.spellings(value)
    match key.kind:
        case "re":
            return tuple(Finds(_expression(text, key.refinements)) for text in texts)
        case "cidr":
            return tuple(Within(in_network(key.field, text)) for text in texts)
        case "fieldref":
            return tuple(_reference(text, key.refinements) for text in texts)
    return tuple(found for text in texts for found in _texts(patterns.wildcards(text), key))


def _nothing(key: Key) -> tuple[Criterion, ...]:
    named = [modifier for modifier in (key.kind, *key.refinements) if modifier not in ("", "cased")]
    if named:
        raise FilterError(f"the modifier {named[0]} cannot be applied to null")
    if not key.field:
        raise FilterError("null as a keyword", expected="text to look for")
    return (Absent(),)


def _number(modifier: str, value: Value) -> int | float:
    number = patterns.decimal(value) if isinstance(value, str) else value
    if number is None or isinstance(number, (bool, str)):
        raise FilterError(f"{modifier}: {shown(value)}", expected="a number")
    try:
        return canonical(admit(number))  # type: ignore[return-value]
    except EventError as error:
        raise FilterError(f"{modifier}: {error.problem}") from None


def _expression(text: str, refinements: Sequence[str]) -> str:
    text = in_re2(text)
    flags = "".join(sorted({_FLAGS[flag] for flag in refinements if flag in _FLAGS}))
    if "startswith" in refinements:
        text = rf"\A(?:{text})"
    if "endswith" in refinements:
        text = rf"(?:{text})\z"
    return f"(?{flags}){text}" if flags else text


def _reference(text: str, refinements: Sequence[str]) -> Criterion:
    if patterns.has_wildcards(patterns.wildcards(text)):
        raise FilterError(f"fieldref: {shown(text)}", expected="the name of a field, no wildcards")
    shapes = [modifier for modifier in refinements if modifier in _SHAPES]
    if len(shapes) > 1:
        raise FilterError(f"the modifiers {' and '.join(shapes)} exclude each other")
    return Refers(text, shapes[0] if shapes else "", "cased" in refinements)


def _texts(pattern: str, key: Key) -> list[Criterion]:
    """Apply the modifiers of text one after the other."""
    found, encoding = [pattern], "utf-8"
    for modifier in key.refinements:
        match modifier:
            case "contains" | "startswith" | "endswith":
                found = [_place_wildcards(text, modifier) for text in found]
            case "windash":
                found = list(map(patterns.vary_dashes, found))
            case "base64":
                found = [patterns.base64(_bytes(text, encoding, modifier)) for text in found]
                encoding = "utf-8"
            case "base64offset":
                data = [_bytes(text, encoding, modifier) for text in found]
                found = [
                    _place_wildcards(text, "contains")
                    for piece in data
                    for text in patterns.base64_offsets(piece)
                ]
                encoding = "utf-8"
            case "cased":
                pass
            case _:
                encoding = patterns.ENCODINGS[modifier]
    if encoding != "utf-8":
        found = [patterns.spell(text, encoding) for text in found]
    if not key.field and not _SHAPES.intersection(key.refinements):
        found = [_place_wildcards(text, "contains") for text in found]
    return [Fits(text, "cased" in key.refinements) for text in found]


def _place_wildcards(pattern: str, shape: str) -> str:
    before = ANY if shape in ("contains", "endswith") else ""
    after = ANY if shape in ("contains", "startswith") else ""
    return before + pattern + after


def _bytes(pattern: str, encoding: str, modifier: str) -> bytes:
    if patterns.has_wildcards(pattern):
        raise FilterError(f"{modifier} cannot encode wildcards", expected="text without * and ?")
    return patterns.encode(pattern, encoding)


# --- placeholders -------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(r"(?<!\\)%(\w+)%")


def _expand(value: Value, placeholders: Placeholders | None, limits: Limits) -> list[Value]:
    """Replace each placeholder in a value by each of its values."""
    if not isinstance(value, str):
        return [value]
    *texts, last = _PLACEHOLDER.split(value)
    names = texts[1::2]
    for name in names:
        if name not in (placeholders or {}):
            raise FilterError(f"the placeholder %{name}% has no values")
    choices = [[text] for text in texts]
    choices[1::2] = [list((placeholders or {})[name]) for name in names]
    count = 1
    for choice in choices:
        count *= len(choice)
        if count > limits.list_size_max:
            raise FilterError(f"the placeholders make more than {limits.list_size_max} values")
    choices[::2] = [[text.replace(r"\%", "%")] for (text,) in choices[::2]]
    end = last.replace(r"\%", "%")
    return ["".join(chosen) + end for chosen in product(*choices)]
