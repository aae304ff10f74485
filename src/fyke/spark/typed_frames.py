"""Objects as DataFrames: a column per attribute, and rows back as objects.

    events = spark.frame(stocks, Stock)
    rows = spark.match(events, {"cheap": fyke.fields(Stock).price < 10, "all": Share})
    list(spark.objects(rows, Stock))

The column `type` lists the type of a row and its supertypes, so that `type is Stock` accepts a
Share there too. A row becomes an object of its own class, made by its constructor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa

from fyke.errors import FykeError, SchemaError, shown
from fyke.matching.matcher import Matcher
from fyke.typed.description import Description, TypedAttribute
from fyke.typed.packing import is_object, pack
from fyke.typed.payloads import make
from fyke.typed.registry import described, known_class, nested_description
from fyke.typed.shapes import NOTHING, Shape, shown_value
from fyke.typed.subscriptions import typed_subscription

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DECIMAL = pa.decimal128(38, 18)
_TYPES = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    timedelta: pa.float64(),
    Decimal: _DECIMAL,
    str: pa.string(),
    UUID: pa.string(),
    datetime: pa.timestamp("us", "UTC"),
    date: pa.date32(),
}


def frame(objects: Iterable[Any], cls: type, session: SparkSession | None = None) -> DataFrame:
    """Return a DataFrame of objects of an event class and its subtypes."""
    rows, found = [], {described(cls).name: described(cls)}
    for each in objects:
        if not isinstance(each, cls) or not is_object(each):
            raise FykeError(f"{shown(each)} is no {cls.__name__}")
        pack(each)  # refuses what does not fit
        description = described(type(each))
        found.setdefault(description.name, description)
        rows.append((each, description))
    columns: dict[str, TypedAttribute] = {}
    for description in found.values():
        for attribute in description.attributes:
            if attribute.is_shown:
                columns.setdefault(attribute.name, attribute)
    fields = [pa.field("type", pa.list_(pa.string()))]
    fields += [pa.field(name, _type(name, each.shape, 1)) for name, each in columns.items()]
    table = pa.Table.from_pylist([_row(*row) for row in rows], schema=pa.schema(fields))
    return _session(session).createDataFrame(table)


def _session(session: SparkSession | None) -> SparkSession:
    from pyspark.sql import SparkSession

    from fyke.spark.sessions.starting import session as start

    return session or SparkSession.getActiveSession() or start()


def _type(name: str, shape: Shape, depth: int) -> pa.DataType:
    if shape.nested is not None and depth < 8:
        inner = [each for each in nested_description(shape.nested).attributes if each.is_shown]
        return pa.struct([
            (_inner(each), _type(f"{name}.{_inner(each)}", each.shape, depth + 1))
            for each in inner
        ])  # fmt: skip
    if shape.elements is not None:
        return pa.list_(_type(name, shape.elements, depth + 1))
    classes = shape.classes - {NOTHING}
    if shape.members is not None and classes == {shape.members}:
        classes = frozenset(type(shown_value(member)) for member in shape.members)
    if classes == {int, float}:
        return pa.float64()
    if len(classes) == 1 and (only := next(iter(classes))) in _TYPES and not shape.is_tree:
        return _TYPES[only]
    raise SchemaError("a column has values of one type; annotate it, or leave it out with show=",
                      attribute=name)  # fmt: skip


def _inner(attribute: TypedAttribute) -> str:
    return attribute.name.removeprefix("data.")


def _row(object: Any, description: Description) -> dict[str, Any]:
    found: dict[str, Any] = {"type": [description.name, *description.supertypes]}
    for each in description.attributes:
        if each.is_shown:
            value = getattr(object, each.member)
            found[each.name] = _cell(value() if each.is_call else value, each.shape)
    return found


def _cell(value: Any, shape: Shape) -> Any:
    if value is None:
        return None
    if shape.nested is not None:
        inner = nested_description(type(value))
        return {_inner(e): _cell(getattr(value, e.member), e.shape)
                for e in inner.attributes if e.is_shown and not e.is_call}  # fmt: skip
    if shape.elements is not None:
        return [_cell(each, shape.elements) for each in value]
    if isinstance(value, Enum):
        return shown_value(value)
    if isinstance(value, UUID):
        return str(value)
    return value.total_seconds() if isinstance(value, timedelta) else value


def objects(rows: DataFrame, cls: type) -> Iterator[Any]:
    """Yield the rows of a DataFrame as objects; each is of its own class, or of `cls`."""
    fallback = described(cls)
    for row in rows.toArrow().to_pylist():
        names = row.get("type") or ()
        names = [names] if isinstance(names, str) else names
        description = known_class(names) or fallback
        yield make(description, dict(_arguments(row, description)))


def _arguments(row: Mapping[str, Any], description: Description) -> Iterator[tuple[str, Any]]:
    """Yield what the constructor wants, from the columns; a null cell is left to its default."""
    for given, source in description.construction.sources.items():
        found = description.members.get(source)
        name = given if found is None else found.name
        if row.get(name) is not None:
            yield given, row[name]


def typed_matcher(subscriptions: Mapping[str, object]) -> Matcher:
    """Return a matcher of classes, conditions on their fields, filters and texts, by id."""
    matcher = Matcher()
    for id, each in subscriptions.items():
        typed = typed_subscription(each, None)
        if typed is None and callable(each):
            raise FykeError(
                f"{shown(id)} is a closure, which runs in its subscriber's process only; "
                "fyke.derived(closure, cls).filter covers it and runs anywhere"
            )
        matcher.add(id, each if typed is None else typed.filter)
    return matcher
