"""The native language; `docs/filter-language.md` is its reference."""

from __future__ import annotations

from fyke.errors import FilterError
from fyke.filters.filter import Filter
from fyke.filters.language.parser import parse_text
from fyke.limits import Limits


def parse(source: object, limits: Limits) -> Filter:
    if isinstance(source, Filter):
        return source
    if not isinstance(source, str):
        raise FilterError(f"a native filter is text, not {type(source).__name__}")
    return parse_text(source, limits)
