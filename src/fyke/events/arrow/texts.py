"""Strings, plain or coded by a dictionary. What is not UTF-8 is refused.

Arrow promises UTF-8 but not everyone who writes it keeps the promise: Spark lets any bytes be cast
to a string. Text that is all ASCII is found to be so at the speed of memory.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fyke.events.arrow.scalars import Mask, Scalars, validity, without

TEXTS: Final = frozenset({pa.string(), pa.large_string(), pa.string_view()})

_NONE: Final = np.zeros(0, np.int64)


def read_texts(array: Any) -> Scalars:
    """Return the strings of an array of one of the types in TEXTS."""
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    valid = validity(array)
    places = _unreadable(array, valid)
    if not len(places):
        return Scalars("string", array, valid, lambda place: array[place].as_py())
    refused = np.zeros(len(array), bool)
    refused[places] = True
    return Scalars(
        "string",
        array,
        without(valid, refused),
        lambda place: array[place].as_py(),
        ((places, "the string is not UTF-8"),),
    )


def read_coded_texts(array: Any) -> Scalars:
    """Read coded text; it stays coded, unless its dictionary holds nulls or what is not UTF-8."""
    dictionary = array.dictionary
    if pa.types.is_string_view(dictionary.type):
        dictionary = dictionary.cast(pa.large_string())
        array = pa.DictionaryArray.from_arrays(array.indices, dictionary)
    if dictionary.null_count or len(_unreadable(dictionary, None)):
        return read_texts(array.dictionary_decode())
    return Scalars("string", array, validity(array), lambda place: array[place].as_py())


def _unreadable(array: Any, valid: Mask | None) -> NDArray[np.int64]:
    """Return the places of the strings that are not UTF-8."""
    if _is_ascii(array):
        return _NONE
    try:
        array.validate(full=True)
        return _NONE
    except pa.ArrowInvalid:
        array.validate()  # a broken array is not looked into
    there = range(len(array)) if valid is None else np.flatnonzero(valid).tolist()
    return np.array([place for place in there if not _is_utf8(array[place])], np.int64)


def _is_ascii(array: Any) -> bool:
    _, offsets, characters = array.buffers()
    if characters is None or not len(array):
        return True
    width = np.int64 if pa.types.is_large_string(array.type) else np.int32
    ends = np.frombuffer(offsets, width)[array.offset :: len(array)]
    held = np.frombuffer(characters, np.int8)[ends[0] : ends[1]]
    return bool(held.min(initial=0) >= 0)


def _is_utf8(scalar: Any) -> bool:
    try:
        scalar.as_py()
    except UnicodeDecodeError:
        return False
    return True
