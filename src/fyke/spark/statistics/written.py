"""Written: a scalar as JSON, one text for each value.

    "OTE"   8.4   5   true   null   {"timestamp": "2024-01-01T00:00:00Z"}   {"decimal": "0.1"}

The forms are those of the statistics that a matcher reads. 5.0 is 5; a decimal is written as one
only where it is neither an int64 nor a float64.
"""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Context, Decimal
from json.encoder import encode_basestring
from typing import Any, Final

from fyke.events.value import Kind, Scalar, canonical, format_timestamp, kind

_KINDS: Final = {kind: kind.name.lower() for kind in Kind}
_EXACT: Final = Context(prec=1_000)


def scalar(key: object) -> Scalar:
    """The scalar behind a `scalar_key`, in canonical form."""
    value: Any = key[1] if type(key) is tuple else key
    return canonical(value)


def kind_name(value: Scalar) -> str:
    return _KINDS[kind(value)]


def written(value: Scalar) -> str:
    """A canonical scalar as JSON."""
    match value:
        case str():
            return encode_basestring(value)
        case datetime():
            return json.dumps({"timestamp": format_timestamp(value)})
        case Decimal():
            return json.dumps({"decimal": str(value.normalize(_EXACT))})
        case None | bool():
            return json.dumps(value)
    return repr(value)
