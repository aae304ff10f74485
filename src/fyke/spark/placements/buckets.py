"""Buckets: which values meet where.

Idea. A subscription that needs `attribute = value` is filed under the bucket of the value, an event
goes to the buckets of the values that it holds there: one, or several for a list. What needs no
value, null, or values of several buckets lies in the common part, which every task has.
Example. With 4 buckets, "type = 'order' and total > 5" lies under bucket("order", 4) = 2.
Invariant. Equal values have equal buckets, whatever type holds them: 1, 1.0, Decimal("1.00"). So an
event reaches the bucket of every subscription that could accept it. Unequal values may share one.
A subscription lies in one place only: what is found needs no merging.
Cost. A CRC-32 of a short text, which Spark computes as well (`column_bucket`), so that events with
a plain column for the attribute need not pass through Python to be sent on their way.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from fyke.events.value import Scalar, Value, canonical
from fyke.filters.algebra.necessary import Necessary, necessary
from fyke.filters.filter import Filter
from fyke.filters.predicate import In

if TYPE_CHECKING:
    from pyspark.sql import Column

PLAIN_TYPES: Final = ("string", "boolean", "tinyint", "smallint", "int", "bigint")
"""Columns whose text in Spark is ours (`_text`)."""


def bucket(value: Scalar, count: int) -> int | None:
    """Return the bucket of a value; None for null, which has none."""
    return None if value is None else crc32(_text(value).encode()) % count


def buckets_of(value: Value, count: int) -> list[int]:
    """Return the buckets of all elements."""
    elements = value if isinstance(value, tuple) else (value,)
    found = {bucket(each, count) for each in elements}
    return sorted(each for each in found if each is not None)


def column_bucket(column: Column, count: int) -> Column:
    """Return the same as a column of Spark's, for one of a plain type; null where the cell is."""
    from pyspark.sql import functions as f

    return f.crc32(column.cast("string").cast("binary")) % count


def filed_under(filter: Filter, attribute: str, count: int) -> int | None:
    """Return the only bucket whose events a filter can accept; None if there is no such bucket."""
    for values in needed_values(filter, attribute):
        found = {bucket(value, count) for value in values}
        if len(found) == 1:
            return found.pop()
    return None


def needed_values(filter: Filter, attribute: str) -> Iterable[tuple[Scalar, ...]]:
    """Yield sets of values of which every accepted event holds one at the attribute."""
    for need in necessary(filter):
        if need.attribute == attribute and (values := values_of(need)):
            yield values


def values_of(need: Necessary) -> tuple[Scalar, ...]:
    """Return the values that a need comes down to; none where it is not about equality."""
    if not all(isinstance(each, In) for each in need.alternatives):
        return ()
    return tuple(value for each in need.alternatives for value in each.values)  # type: ignore[attr-defined]


def _text(value: Scalar) -> str:
    """Return a text that is equal for equal values, as Spark makes it of a plain column."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    plain: Any = canonical(value)
    return str(plain) if isinstance(plain, int) else repr(float(plain))
