"""Text that is read as timestamps, where somebody says that it is.

Each different text is parsed once, by the one parser of timestamps. Other text is
refused.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fyke.events.arrow.cells import Cells, Lists, Objects
from fyke.events.arrow.moments import TIMESTAMP, read_moments
from fyke.events.arrow.scalars import Scalars, refusal, without
from fyke.events.value import parse_timestamp

_NONE = "the text is no timestamp; expected a timestamp such as 2026-01-31T12:00:00Z"


def timed(cells: Objects, paths: Collection[str]) -> Objects:
    """Return the same objects, with timestamps in place of text at some paths."""
    return _objects(cells, "", paths)


def _objects(cells: Objects, prefix: str, paths: Collection[str]) -> Objects:
    fields = tuple((name, _timed(each, prefix + name, paths)) for name, each in cells.fields)
    return replace(cells, fields=fields)


def _timed(cells: Cells, path: str, paths: Collection[str]) -> Cells:
    match cells:
        case Objects():
            return _objects(cells, path + ".", paths)
        case Lists():
            return replace(cells, elements=_timed(cells.elements, path, paths))
        case Scalars(kind="string") if path in paths:
            return _moments(cells)
    return cells


def _moments(cells: Scalars) -> Scalars:
    texts = cells.array
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    if cells.valid is not None:
        texts = pc.if_else(pa.array(cells.valid), texts, pa.scalar(None, texts.type))
    coded = texts.dictionary_encode()
    found = pa.array([_moment(text) for text in coded.dictionary], TIMESTAMP)
    moments = read_moments(found.take(coded.indices))
    is_moment = np.ones(len(texts), bool) if moments.valid is None else moments.valid
    refused = refusal(cells.valid, is_moment)
    if refused is None:
        return replace(moments, refused=cells.refused)
    places = np.flatnonzero(refused)
    valid = without(cells.valid, refused)
    return replace(moments, valid=valid, refused=(*cells.refused, (places, _NONE)))


def _moment(text: Any) -> datetime | None:
    try:
        return parse_timestamp(text.as_py())
    except ValueError:
        return None
