"""Written: a scalar as JSON, one text for each value.

    "OTE"   8.4   5   true   null   {"timestamp": "2024-01-01T00:00:00Z"}
    {"decimal": "0.10000000000000001"}

The forms are those of the statistics that a matcher reads. 5.0 is 5; a decimal is written as one
only where no int64 and no float64 stands for it.
"""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Final

from fyke.events.value import Kind, Scalar, format_timestamp, kind

_KINDS: Final = {kind: kind.name.lower() for kind in Kind}


def kind_name(value: Scalar) -> str:
    return _KINDS[kind(value)]


def written(value: Scalar) -> str:
    """Write a canonical scalar as JSON."""
    match value:
        case str():
            return encode_basestring(value)
        case datetime():
            return json.dumps({"timestamp": format_timestamp(value)})
        case Decimal():
            return json.dumps({"decimal": str(value)})
        case None | bool():
            return json.dumps(value)
    return repr(value)
