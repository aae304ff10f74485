"""The wording of an event: all its values as text, folded, one after the other.

Some residuals look for a word anywhere in an event (Sigma's keywords). Each names *needles*: texts
of which one is in the wording of every event that it accepts. So an index can find such residuals
by their needles, and the residual decides.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from fyke.events.event import Event
from fyke.events.value import Scalar, canonical, format_timestamp
from fyke.filters.texts.glob import fold

_BETWEEN: Final = "\n"


def text_of(value: Scalar) -> str | None:
    """Return the text of a value; None for null."""
    match value:
        case None:
            return None
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case datetime():
            return format_timestamp(value)
    return str(canonical(value))


def wording(event: Event) -> str:
    """Return all values of an event as one folded text."""
    texts: list[str] = []
    for value in event.attributes.values():
        if value.__class__ is str:
            texts.append(value)
            continue
        for scalar in value if isinstance(value, tuple) else (value,):
            text = text_of(scalar)
            if text is not None:
                texts.append(text)
    return fold(_BETWEEN.join(texts))
