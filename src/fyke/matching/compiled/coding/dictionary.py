"""A vocabulary as data, for snapshots: names and values as MessagePack, patterns as their arrays.

Values are those of MessagePack; a timestamp or a decimal is written as text behind a tag. Beside
the texts stands the table by which kernels find them, so that processes which map it share it.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec
import numpy as np

from fyke.errors import FykeError, shown
from fyke.events.value import canonical, parse_timestamp
from fyke.filters.texts.glob import Glob, from_like, to_like
from fyke.matching.arrays import Arrays, grouped, members
from fyke.matching.compiled.coding.axes import SYMBOL_STEP, AttributeAxes, AxisKind
from fyke.matching.compiled.coding.codes import key_document, scalar_key
from fyke.matching.compiled.coding.column_symbols import column_symbols
from fyke.matching.compiled.coding.symbol_tables import TextTable
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.patterns.pattern_set import PatternSet

_WORDS: Final = "vocabulary"
_AXES: Final = ("value", "number", "timestamp", "string", "presence", "text", "presence_symbol")


def arrays_of(vocabulary: Vocabulary) -> Arrays:
    """Return the vocabulary as arrays."""
    attributes = [*vocabulary.attributes.values()]
    if vocabulary.wording is not None:
        attributes.append(vocabulary.wording)
    document = {
        "has_wording": vocabulary.wording is not None,
        "axes": [[int(kind), name] for kind, name in vocabulary.axes],
        "next_symbol": vocabulary.next_symbol,
        "types": {name: list(pair) for name, pair in vocabulary.types.items()},
        "attributes": [_attribute(axes) for axes in attributes],
    }
    packed = np.frombuffer(msgspec.msgpack.encode(document), np.uint8)
    arrays: Arrays = {
        _WORDS: packed,
        "symbol_axes": np.array(vocabulary.symbol_axes, np.int32),
    }
    size = len(vocabulary.symbol_axes)
    arrays["expected"], arrays["expected_weight"] = vocabulary.frequencies.prior_arrays(size)
    for number, axes in enumerate(attributes):
        texts = {key: symbol for key, symbol in axes.symbols.items() if isinstance(key, str)}
        if texts:
            table = TextTable()
            table.add(texts)
            arrays[f"texts{number}"], arrays[f"texts{number}.held"] = table.arrays()
        if axes.patterns is not None:
            arrays |= grouped(f"patterns{number}", axes.patterns.arrays())
    return arrays


def _attribute(axes: AttributeAxes) -> dict[str, object]:
    return {
        "name": axes.name,
        "axes": [getattr(axes, name) for name in _AXES],
        "values": [key_document(key) for key in axes.symbols],
        "symbols": list(axes.symbols.values()),
        "patterns": [
            [to_like(pattern), ignore_case, symbol]
            for (pattern, ignore_case), symbol in axes.pattern_symbols.items()
        ],
    }


def vocabulary_of(arrays: Mapping[str, np.ndarray[Any, Any]]) -> Vocabulary:
    """Return the vocabulary that some arrays hold."""
    try:
        document = msgspec.msgpack.decode(arrays[_WORDS].tobytes())
        vocabulary = Vocabulary()
        for kind, name in document["axes"]:
            vocabulary.add_axis(AxisKind(kind), name)
        vocabulary.next_symbol = int(document["next_symbol"])
        vocabulary.symbol_axes = array("i", arrays["symbol_axes"].tolist())
        vocabulary.frequencies.restore_priors(arrays["expected"], arrays["expected_weight"])
        vocabulary.types = {name: tuple(pair) for name, pair in document["types"].items()}
        for number, attribute in enumerate(document["attributes"]):
            axes = _read_attribute(attribute)
            if document["has_wording"] and number == len(document["attributes"]) - 1:
                vocabulary.wording = axes
            else:
                vocabulary.attributes[axes.name] = axes
            if symbols := [axes.symbols[key] for key in axes.symbols if isinstance(key, str)]:
                table = arrays[f"texts{number}"], arrays[f"texts{number}.held"]
                column_symbols(vocabulary).load(axes, TextTable.of(*table, symbols))
            if axes.text >= 0:
                axes.patterns = PatternSet.of(members(f"patterns{number}", arrays))
        _check(vocabulary)
        return vocabulary
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError, IndexError) as broken:
        raise FykeError(f"the snapshot's vocabulary cannot be read: {broken}") from None


def _check(vocabulary: Vocabulary) -> None:
    """Raise ValueError unless axes and symbols are as they should be: kernels rely on them."""
    size = len(vocabulary.symbol_axes)
    if vocabulary.next_symbol != SYMBOL_STEP * size or len(vocabulary.frequencies) != size:
        raise ValueError("it does not have the symbols that it should")
    attributes = [*vocabulary.attributes.values()]
    if vocabulary.wording is not None:
        attributes.append(vocabulary.wording)
    for axes in attributes:
        for kind in AxisKind:
            axis = -1 if kind is AxisKind.TYPE else getattr(axes, kind.name.lower())
            if axis != -1 and not _is_axis(vocabulary, axis, kind, axes.name):
                raise ValueError(f"{shown(axes.name)} has no axis {axis}")
        _check_symbols(vocabulary, axes.value, axes.symbols.values())
        _check_symbols(vocabulary, axes.text, axes.pattern_symbols.values())
        if axes.presence >= 0:
            _check_symbols(vocabulary, axes.presence, [axes.presence_symbol])
    for name, (axis, symbol) in vocabulary.types.items():
        if not _is_axis(vocabulary, axis, AxisKind.TYPE, name):
            raise ValueError(f"the type {shown(name)} has no axis {axis}")
        _check_symbols(vocabulary, axis, [symbol])


def _is_axis(vocabulary: Vocabulary, axis: Any, kind: AxisKind, name: str) -> bool:
    known = vocabulary.axes
    return type(axis) is int and 0 <= axis < len(known) and known[axis] == (kind, name)


def _check_symbols(vocabulary: Vocabulary, axis: int, symbols: Collection[int]) -> None:
    found = np.fromiter(symbols, np.int64, len(symbols))
    places = found // SYMBOL_STEP
    axis_of = np.array(vocabulary.symbol_axes, np.int32)
    is_known = (found % SYMBOL_STEP == 0) & (places > 0) & (places < len(axis_of))
    if not is_known.all() or (axis_of[places] != axis).any():
        raise ValueError(f"axis {axis} has symbols that are not its own")


def _read_attribute(attribute: dict[str, Any]) -> AttributeAxes:
    axes = AttributeAxes(attribute["name"], *attribute["axes"][:6])
    axes.presence_symbol = attribute["axes"][6]
    keys = map(_read_value, attribute["values"])
    axes.symbols = dict(zip(keys, attribute["symbols"], strict=True))
    axes.pattern_symbols = {
        _pattern(text, ignore_case): symbol for text, ignore_case, symbol in attribute["patterns"]
    }
    return axes


def _pattern(text: str, ignore_case: bool) -> tuple[Glob, bool]:
    return from_like(text), ignore_case


def _read_value(written: Any) -> object:
    match written:
        case {"timestamp": text}:
            return parse_timestamp(text)
        case {"decimal": text}:
            return canonical(Decimal(text))
    return scalar_key(written)
