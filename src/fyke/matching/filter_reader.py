"""FilterReader: filters as users give them, read in any dialect, with a warning where one is odd.

reader.read("price < 10")                             a Filter
reader.read('symbol = "A"')                           the same, and a FilterWarning
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from fyke.errors import FilterWarning, FykeError, shown, warn_outside
from fyke.filters.dialects import parse
from fyke.filters.filter import Filter
from fyke.filters.remarks import may_be_quoted, remarks
from fyke.filters.resolution import resolve_strictly
from fyke.limits import Limits

if TYPE_CHECKING:
    from fyke.events.schema import Schema

REMARKED_MAX: Final = 100
"""Texts of filters that one reader warns of; a file in a wrong dialect would fill the screen."""


class FilterReader:
    """Reads filters by one schema.

    `declared` is the schema that the user gave, by which remarks are made; None where timestamps
    were named alone.
    """

    def __init__(self, schema: Schema | None, declared: Schema | None, limits: Limits) -> None:
        self._schema = schema
        self._declared = declared
        self._limits = limits
        self._remarked: set[str] = set()

    def read(self, filter: Filter | object, dialect: str = "fyke") -> Filter:
        """Return the filter of a text, a document, a Filter, or of what has a `filter`."""
        filter = getattr(filter, "filter", filter)  # a condition on the fields of a class has one
        if isinstance(filter, Filter):
            return filter if self._schema is None else resolve_strictly(filter, self._schema)
        read = parse(filter, dialect, schema=self._schema, limits=self._limits)
        if self._declared is not None or (type(filter) is str and may_be_quoted(filter)):
            self._remark(str(filter), read)
        return read

    def read_pairs(
        self, pairs: Iterable[Sequence[Any]], dialect: str
    ) -> Iterator[tuple[str, Filter]]:
        """Yield ids and filters; a pair may name the dialect of its filter as a third."""
        for pair in pairs:
            try:
                id, filter, *named = pair
                (spoken,) = named or [dialect]
            except (TypeError, ValueError):
                raise FykeError(f"{shown(pair)} is no pair of an id and a filter") from None
            yield id, self.read(filter, spoken)

    def _remark(self, text: str, read: Filter) -> None:
        """Warn of what was probably not meant: once for each text, of a limited number of them."""
        if text in self._remarked or len(self._remarked) >= REMARKED_MAX:
            return
        if found := remarks(read, self._declared):
            sentences = " ".join(map(str, found))
            warn_outside(f"the filter {shown(text)}: {sentences}", FilterWarning)
            self._remarked.add(text)
